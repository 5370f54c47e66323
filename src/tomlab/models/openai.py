"""Models asked through the `openai` client: the vendor's, any server of its kind, the embedded."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from typing import Any

import openai

from tomlab.models import likelihood
from tomlab.models.embedded import digest, gguf_path, origin, start_server
from tomlab.models.remote import NO_KEY, Payload, Remote, demand_limit
from tomlab.models.replies import MalformedReplyError, form_of, from_json, reply
from tomlab.models.specs import FILTERED, PROTOCOL, EmbeddedModel, Reply, Request

URL = "https://api.openai.com/v1"
_FINISH = {"stop": "stop", "length": "length", "content_filter": FILTERED, "refusal": "refusal"}
# The status of a response or, of an incomplete one, its reason.
_FINISH |= {"completed": "stop", "max_output_tokens": "length"}


class Embedded:
    """A GGUF file in process, in engines side by side. Each works a shared prefix out once, with
    the prompt cache off, and is set back to just that before each of its questions: every answer is
    computed from the same state, whatever was asked before it and of whichever engine.
    """

    secret = None

    def __init__(self, spec: EmbeddedModel):
        self.spec = spec
        self._path = gguf_path(spec.model)
        self._free: list[_Engine] = []

    def payload(self, request: Request) -> Payload:
        own = {"provider": "embedded", "weights": digest(self._path), "context": self.spec.context}
        if request.weighed:
            return own | {"weighed": request.weighed}
        demand_limit(self.spec, request)
        return own | {"shared_prefix": request.shared_prefix} | _arguments(request, self.spec)

    async def check(self) -> None:
        self._free = [_Engine(self.spec) for _ in range(self.spec.engines)]

    async def send(self, request: Request) -> Reply:
        """Ask the engine that has just worked out the prefix, or any that is free."""
        *earlier, last = request.messages
        shared = {**last, "content": request.shared_prefix}
        prefix = [*earlier, shared] if request.shared_prefix else None
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
        if request.weighed:
            told = await likelihood.by_grammar(self.client, "embedded", request)
            return replace(told, origin=origin())
        return await self._ask(_arguments(request, self.spec), cached=prefix is not None)

    async def _ask(self, arguments: Payload, cached: bool) -> Reply:
        body = {"model": "embedded", "cache_prompt": cached, **arguments}
        text = await self.client.post("/chat/completions", body=body, cast_to=str)
        return replace(_completion(from_json(text)), origin=origin())


def _arguments(request: Request, spec: EmbeddedModel) -> Payload:
    return {
        "messages": list(request.messages),
        "max_tokens": request.max_tokens,
        "temperature": request.temperature if spec.temperature == PROTOCOL else spec.temperature,
        "seed": request.seed + request.sample,
        **_response_format(request),
    }


def _completion(completion: Any) -> Reply:
    with form_of(completion):
        choice, usage = completion.choices[0], completion.usage
        content, refused = choice.message.content, choice.message.refusal
        finish = "refusal" if refused else choice.finish_reason
    text = refused if refused and not content else "" if content is None else content
    told = {"model": completion.model, "fingerprint": completion.system_fingerprint}
    return reply(text, finish, _FINISH, _counts(usage, "prompt", "completion"), told)


def _counts(usage: Any, prompt: str, answer: str) -> Iterator[Any]:
    """What `reply` takes as counts of tokens."""
    details = getattr(usage, f"{prompt}_tokens_details", None)
    yield from (getattr(usage, f"{what}_tokens", 0) for what in (prompt, answer))
    yield from (getattr(details, f"{what}_tokens", 0) for what in ("cached", "cache_write"))


class OpenAI(Remote):
    """Any server that speaks OpenAI's chat protocol."""

    sdk, client_class = openai, openai.AsyncOpenAI
    url, key_env, path = URL, "OPENAI_API_KEY", "/chat/completions"
    read = staticmethod(_completion)

    async def answer(self, request: Request) -> Reply:
        if not request.weighed:
            return await super().answer(request)
        spec = self.spec
        if spec.likelihood == "grammar":
            return await likelihood.by_grammar(self.client, spec.model, request)
        return await likelihood.by_echo(self.client, spec.model, request, spec.extra_body)

    def body(self, request: Request) -> Payload:
        spec = self.spec
        if request.weighed:
            own = {"weighed": request.weighed, "likelihood": spec.likelihood}
            return own | {"extra_body": spec.extra_body}
        return {
            "messages": _with_system(request.messages, spec.system_role),
            spec.max_tokens_field: self.limit(request),
            "temperature": self.temperature(request),
            "reasoning_effort": spec.reasoning_effort,
            "extra_body": spec.extra_body,
            **_response_format(request),
        }


class Responses(OpenAI):
    """Any server that speaks OpenAI's protocol of responses."""

    path = "/responses"

    def body(self, request: Request) -> Payload:
        spec = self.spec
        messages = _with_system(request.messages, spec.system_role)
        told = [message["content"] for message in messages if message["role"] == "system"]
        effort, form = spec.reasoning_effort, _response_format(request).get("response_format")
        return {
            "instructions": "\n\n".join(told) or None,
            "input": [message for message in messages if message["role"] != "system"],
            "max_output_tokens": self.limit(request),
            "temperature": self.temperature(request),
            "reasoning": effort and {"effort": effort},
            "text": form and {"format": {"type": form["type"], **form["json_schema"]}},
            "store": False,  # by default the vendor keeps responses for weeks
            "extra_body": spec.extra_body,
        }

    def read(self, answer: Any) -> Reply:
        with form_of(answer):
            finish = answer.status
            if finish == "failed":
                raise MalformedReplyError(f"the response failed: {answer.error!r}")
            if finish == "incomplete":
                finish = answer.incomplete_details.reason
            messages = [item.content for item in answer.output if item.type == "message"]
            parts = [*chain.from_iterable(messages)]
            texts = [part.text for part in parts if part.type == "output_text"]
            refused = [part.refusal for part in parts if part.type == "refusal"]
            said = "".join(texts) or "".join(refused)
        finish = "refusal" if refused else finish
        counts = _counts(answer.usage, "input", "output")
        return reply(said, finish, _FINISH, counts, {"model": answer.model})


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
