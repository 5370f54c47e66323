"""Models asked through the `openai` client: the vendor's, any server of its kind, the embedded."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import openai

from tomlab.models import likelihood
from tomlab.models.content import has_refusal, text_of
from tomlab.models.embedded import digest, gguf_path, origin, start_server
from tomlab.models.remote import NO_KEY, Payload, Remote, demand_limit
from tomlab.models.replies import body_of, form_of, refuse_error, reply
from tomlab.models.specs import PROTOCOL, EmbeddedModel, Reply, Request
from tomlab.models.usage import usage_of

URL = "https://api.openai.com/v1"
_THOUGHTS = ("reasoning_content", "reasoning")  # fields of a message in which servers show thinking


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
        return replace(_completion(body_of(text)), origin=origin())


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
        usage = usage_of(completion.usage)
        refuse_error(completion, usage=usage)
        choice = completion.choices[0]
        message = choice.message
        refuse_error(choice, message, usage=usage)
        text = text_of(message.content)
        finish = choice.finish_reason
        if message.refusal or has_refusal(message.content):
            finish = "refusal"
            text = text or message.refusal
        thoughts = [getattr(message, name) for name in _THOUGHTS]
        thinking = next(filter(None, [*thoughts, _thoughts_in(message.content)]), None)
    names = {"model": completion.model, "fingerprint": completion.system_fingerprint}
    return reply(text, finish, usage, thinking=thinking, **names)


def _thoughts_in(content: Any) -> str:
    """The thinking among the parts of a message, to tell how long it is."""
    parts = content if isinstance(content, list) else []
    kinds = ("thinking", "reasoning", "redacted_thinking")
    return "".join(str(part) for part in parts if getattr(part, "type", None) in kinds)


class OpenAI(Remote):
    """Any server that speaks OpenAI's chat protocol."""

    sdk, client_class, sdk_error = openai, openai.AsyncOpenAI, openai.OpenAIError
    url, key_env, path = URL, "OPENAI_API_KEY", "/chat/completions"
    read = staticmethod(_completion)

    async def answer(self, request: Request) -> Reply:
        if not request.weighed:
            return await super().answer(request)
        spec = self.spec
        if spec.likelihood == "grammar":
            return await likelihood.by_grammar(self.client, spec.model, request)
        weights = await likelihood.by_echo(
            self.client, spec.model, request, spec.extra_body, is_known=self.answered
        )
        self.answered = True
        return weights

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
            usage = usage_of(answer.usage)
            refuse_error(answer, usage=usage)
            finish = answer.status
            if finish == "incomplete":
                finish = answer.incomplete_details.reason
            refuse_error(*answer.output, usage=usage)
            text = text_of(answer.output)
            if has_refusal(answer.output):
                finish = "refusal"
            thinking = _thoughts_in(answer.output)
        return reply(text, finish, usage, thinking=thinking, model=answer.model)


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
