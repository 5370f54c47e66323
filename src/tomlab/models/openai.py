"""Models asked through the `openai` client: the vendor's, any server of its kind, the embedded."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import openai

from tomlab.models.embedded import digest, gguf_path, origin, start_server
from tomlab.models.remote import NO_KEY, Payload, Remote, demand_limit, fatal
from tomlab.models.replies import FILTERED, MalformedReplyError, reply, thinking
from tomlab.models.specs import PROTOCOL, EmbeddedModel, OpenAIModel, Reply, Request

URL = "https://api.openai.com/v1"
_FINISH = {"stop": "stop", "length": "length", "content_filter": FILTERED, "refusal": "refusal"}
# By the status of a response or, of an incomplete one, its reason.
_STATUS = {"completed": "stop", "max_output_tokens": "length", "content_filter": FILTERED}
_STATUS |= {"refusal": "refusal"}


class Embedded:
    """SmolLM2 or any GGUF file, in process, asked through the OpenAI client.

    Several engines answer side by side, one question each. With a shared prefix: an engine works
    the prefix out once with the prompt cache off, and before each of its questions it is set back
    to just that prefix. So every answer is computed from the same state, whatever was asked before
    it and whichever engine was asked.
    """

    fatal, secret = fatal(openai), None

    def __init__(self, spec: EmbeddedModel):
        self.spec = spec
        self._path = gguf_path(spec.model)
        self._free: list[_Engine] = []

    def payload(self, request: Request) -> Payload:
        demand_limit(self.spec, request)
        return {
            "weights": digest(self._path),
            "context": self.spec.context,
            "shared_prefix": request.shared_prefix,
            **_arguments(request, self.spec),
        }

    async def check(self) -> None:
        self._free = [_Engine(self.spec) for _ in range(self.spec.engines)]

    async def send(self, request: Request) -> Reply:
        """Asks the engine that has just worked out the prefix, or any that is free."""
        *earlier, last = request.messages
        shared = request.shared_prefix
        prefix = [*earlier, {**last, "content": shared}] if shared else None
        engine = next((e for e in self._free if prefix and e.warm == prefix), self._free[0])
        self._free.remove(engine)
        try:
            return await engine.answer(request, prefix)
        finally:
            self._free.append(engine)

    async def close(self) -> None:
        for engine in self._free:
            await engine.client.close()
        self._free = []


class _Engine:
    """One server with one slot, and the prefix that stands in it."""

    def __init__(self, spec: EmbeddedModel):
        self.spec = spec
        self._server = start_server(spec.model, context=spec.context, threads=spec.threads)
        url = f"{self._server.listening_address}/v1"
        self.client = openai.AsyncOpenAI(base_url=url, api_key=NO_KEY, max_retries=0)
        self.warm: list[Mapping[str, str]] | None = None

    async def answer(self, request: Request, prefix: list[Mapping[str, str]] | None) -> Reply:
        if prefix:
            # One token is the least that can be asked for; it is thrown away.
            one = {"messages": prefix, "max_tokens": 1, "temperature": 0, "seed": 0}
            await self._ask(one, cached=prefix == self.warm)
        self.warm = prefix
        return await self._ask(_arguments(request, self.spec), cached=prefix is not None)

    async def _ask(self, arguments: Payload, cached: bool) -> Reply:
        body = {"cache_prompt": cached}
        create = self.client.chat.completions.create
        answered = _completion(await create(model="embedded", extra_body=body, **arguments))
        return replace(answered, origin=origin() | thinking(answered.origin.get("thinking")))


def _arguments(request: Request, spec: EmbeddedModel) -> Payload:
    """What an engine is asked."""
    declared = spec.temperature
    return {
        "messages": list(request.messages),
        "max_tokens": request.max_tokens,
        "temperature": request.temperature if declared == PROTOCOL else declared,
        "seed": request.seed + request.sample,
        **_response_format(request),
    }


class OpenAI(Remote):
    """Any server that speaks OpenAI's chat protocol."""

    sdk, client_class = openai, openai.AsyncOpenAI
    url, key_env, path = URL, "OPENAI_API_KEY", "/chat/completions"
    spec: OpenAIModel

    def body(self, request: Request) -> Payload:
        spec = self.spec
        return {
            "messages": _with_system(request.messages, spec.system_role),
            spec.max_tokens_field: self.limit(request),
            "temperature": self.temperature(request),
            "reasoning_effort": spec.reasoning_effort,
            "extra_body": spec.extra_body,
            **_response_format(request),
        }

    def read(self, answer: Any) -> Reply:
        return _completion(answer)


class Responses(Remote):
    """Any server that speaks OpenAI's protocol of responses."""

    sdk, client_class = openai, openai.AsyncOpenAI
    url, key_env, path = URL, "OPENAI_API_KEY", "/responses"
    spec: OpenAIModel

    def body(self, request: Request) -> Payload:
        spec = self.spec
        messages, told = _with_system(request.messages, spec.system_role), None
        if spec.system_role == "system":
            told = "\n\n".join(m["content"] for m in messages if m["role"] == "system") or None
            messages = [message for message in messages if message["role"] != "system"]
        effort, form = spec.reasoning_effort, _response_format(request).get("response_format")
        return {
            "instructions": told,
            "input": messages,
            "max_output_tokens": self.limit(request),
            "temperature": self.temperature(request),
            "reasoning": None if effort is None else {"effort": effort},
            "text": form and {"format": {"type": form["type"], **form["json_schema"]}},
            "store": False,  # by default the vendor keeps responses for weeks
            "extra_body": spec.extra_body,
        }

    def read(self, answer: Any) -> Reply:
        try:
            output, usage, finish = answer.output, answer.usage, answer.status
            if finish == "failed":
                raise MalformedReplyError(f"the response failed: {answer.error!r}")
            if finish == "incomplete":
                finish = answer.incomplete_details.reason
            parts = [part for item in output if item.type == "message" for part in item.content]
            texts = [part.text for part in parts if part.type == "output_text"]
            refused = [part.refusal for part in parts if part.type == "refusal"]
            thoughts = [item for item in output if item.type == "reasoning"]
            # In full, as servers of open models tell it, or else the vendor's summary.
            thought = [
                part.text for item in thoughts for part in item.content or item.summary or ()
            ]
        except (AttributeError, TypeError):
            raise MalformedReplyError(f"no output in the reply: {str(answer)!r}") from None
        if not all(isinstance(part, str) for part in [*texts, *refused]):
            raise MalformedReplyError(f"expected texts in the reply, found {str(answer)!r}")
        finish = "refusal" if refused else finish
        counts = (getattr(usage, f"{what}_tokens", 0) for what in ("input", "output"))
        origin = {"model": getattr(answer, "model", None)} | thinking(*thought)
        said = "".join(texts) or "".join(refused)
        return reply(said, finish, _STATUS, *counts, origin, *_cache(usage, "input"))


def _with_system(messages: Sequence[Mapping[str, str]], role: str) -> list[Mapping[str, str]]:
    """The messages with the system's in another role, or `joined` to the user's first."""
    if role != "joined":
        return [{**m, "role": role} if m["role"] == "system" else {**m} for m in messages]
    told = [m["content"] for m in messages if m["role"] == "system"]
    others = [{**m} for m in messages if m["role"] != "system"]
    first = next(m for m in others if m["role"] == "user")
    first["content"] = "\n\n".join([*told, first["content"]])
    return others


def _response_format(request: Request) -> dict[str, Any]:
    """The field that holds a model to a JSON schema, if the request has one."""
    if request.schema is None:
        return {}
    form = {"name": "answer", "schema": dict(request.schema), "strict": True}
    return {"response_format": {"type": "json_schema", "json_schema": form}}


def _completion(completion: Any) -> Reply:
    try:
        choice, usage = completion.choices[0], completion.usage
        content, refused = choice.message.content, getattr(choice.message, "refusal", None)
    except (AttributeError, LookupError, TypeError):
        raise MalformedReplyError(f"no choices in the reply: {str(completion)!r}") from None
    finish = "refusal" if refused else choice.finish_reason
    text = refused if refused and not content else "" if content is None else content
    counts = (getattr(usage, f"{what}_tokens", 0) for what in ("prompt", "completion"))
    named = {"model": "model", "fingerprint": "system_fingerprint"}
    told = {name: getattr(completion, field, None) for name, field in named.items()}
    # Not the vendor's fields: servers name them so, one or both with the same text.
    fields = ("reasoning_content", "reasoning")
    told |= thinking(*(getattr(choice.message, field, None) for field in fields))
    return reply(text, finish, _FINISH, *counts, told, *_cache(usage, "prompt"))


def _cache(usage: Any, what: str) -> tuple[Any, Any]:
    """How many tokens of the prompt were read from and written to the vendor's cache."""
    details = getattr(usage, f"{what}_tokens_details", None)
    return tuple(getattr(details, f"{name}_tokens", 0) for name in ("cached", "cache_write"))
