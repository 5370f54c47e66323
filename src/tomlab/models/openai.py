"""Models asked through the `openai` client: OpenAI's, those of compatible servers, the embedded."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import openai

from tomlab.models import likelihood
from tomlab.models.content import has_refusal, text_of
from tomlab.models.embedded import digest, gguf_path, origin, start_server
from tomlab.models.remote import NO_KEY, Payload, Remote, demand_limit
from tomlab.models.replies import form_of, from_json, refuse_error, reply
from tomlab.models.specs import PROTOCOL, EmbeddedModel, OpenAIModel, Reply, Request
from tomlab.models.usage import usage_of

URL = "https://api.openai.com/v1"
Messages = Sequence[Mapping[str, str]]


class OpenAI(Remote):
    """Any server that speaks OpenAI's chat protocol."""

    spec: OpenAIModel
    sdk = openai
    client_class = openai.AsyncOpenAI
    url = URL
    key_env = "OPENAI_API_KEY"
    path = "/chat/completions"

    async def send(self, request: Request) -> Reply:
        spec = self.spec
        if not request.weighed:
            return await super().send(request)
        if spec.likelihood == "grammar":
            return await likelihood.by_grammar(self.client, spec.model, request)
        return await likelihood.by_echo(self.client, spec.model, request, spec.extra_body)

    def body(self, request: Request) -> Payload:
        spec = self.spec
        if request.weighed:
            return {
                "weighed": request.weighed,
                "likelihood": spec.likelihood,
                "extra_body": spec.extra_body,
            }
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


class Responses(OpenAI):
    """Any server that speaks OpenAI's responses protocol."""

    path = "/responses"

    def body(self, request: Request) -> Payload:
        spec = self.spec
        messages = _with_system(request.messages, spec.system_role)
        instructions = [m["content"] for m in messages if m["role"] == "system"]
        text = None
        if request.schema is not None:
            text = {"format": {"type": "json_schema", **_schema(request.schema)}}
        return {
            "instructions": "\n\n".join(instructions) or None,
            "input": [m for m in messages if m["role"] != "system"],
            "max_output_tokens": self.limit(request),
            "temperature": self.temperature(request),
            "reasoning": spec.reasoning_effort and {"effort": spec.reasoning_effort},
            "text": text,
            "store": False,  # by default the vendor keeps responses for weeks
            "extra_body": spec.extra_body,
        }

    def read(self, answer: Any) -> Reply:
        with form_of(answer):
            usage = usage_of(answer.usage)
            refuse_error(answer, *(answer.output or []), usage=usage)
            finish = answer.status
            if finish == "incomplete":
                finish = answer.incomplete_details.reason
            if has_refusal(answer.output):
                finish = "refusal"
            return reply(text_of(answer.output), finish, usage, model=answer.model)


class Embedded:
    """A GGUF file that runs in this process, in several engines side by side. An engine computes a
    shared prefix once, with the prompt cache off, and returns to that state before each question.
    So an answer depends neither on earlier questions nor on which engine gives it.
    """

    secret = None

    def __init__(self, spec: EmbeddedModel):
        self.spec = spec
        self._path = gguf_path(spec.model)
        self._free: list[_Engine] = []

    def payload(self, request: Request) -> Payload:
        model = {
            "provider": "embedded",
            "weights": digest(self._path),
            "context": self.spec.context,
        }
        if request.weighed:
            return {**model, "weighed": request.weighed}
        demand_limit(self.spec, request)
        arguments = _arguments(request, self.spec)
        return {**model, "shared_prefix": request.shared_prefix, **arguments}

    async def check(self) -> None:
        self._free = [_Engine(self.spec) for _ in range(self.spec.engines)]

    async def send(self, request: Request) -> Reply:
        """Ask a free engine, if possible one that has already computed the request's prefix."""
        prefix = None
        if request.shared_prefix:
            *earlier, last = request.messages
            prefix = [*earlier, {**last, "content": request.shared_prefix}]
        warm = [engine for engine in self._free if prefix and engine.warm == prefix]
        engine = (warm or self._free)[0]
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
    """One server with one slot. warm: the messages whose prefix the slot holds, None for none."""

    def __init__(self, spec: EmbeddedModel):
        self.spec = spec
        self._server = start_server(spec.model, context=spec.context, threads=spec.threads)
        url = f"{self._server.listening_address}/v1"
        self.client = openai.AsyncOpenAI(base_url=url, api_key=NO_KEY, max_retries=0)
        self.warm: Messages | None = None

    async def answer(self, request: Request, prefix: Messages | None) -> Reply:
        if prefix:
            # This only makes the engine read the prefix. The server has to generate at least one
            # token, which is thrown away.
            shortest = {"messages": prefix, "max_tokens": 1, "temperature": 0, "seed": 0}
            await self._ask(shortest, cached=prefix == self.warm)
        self.warm = prefix
        if request.weighed:
            answer = await likelihood.by_grammar(self.client, "embedded", request)
        else:
            arguments = _arguments(request, self.spec)
            answer = _completion(await self._ask(arguments, cached=prefix is not None))
        return replace(answer, origin=origin())

    async def _ask(self, arguments: Payload, cached: bool) -> Any:
        body = {"model": "embedded", "cache_prompt": cached, **arguments}
        return from_json(await self.client.post("/chat/completions", body=body, cast_to=str))


def _arguments(request: Request, spec: EmbeddedModel) -> Payload:
    return {
        "messages": list(request.messages),
        "max_tokens": request.max_tokens,
        "temperature": request.temperature if spec.temperature == PROTOCOL else spec.temperature,
        "seed": request.seed + request.sample,
        **_response_format(request),
    }


def _completion(answer: Any) -> Reply:
    """The reply in a chat completion."""
    with form_of(answer):
        usage = usage_of(answer.usage)
        refuse_error(answer, usage=usage)
        choice = answer.choices[0]
        message = choice.message
        refuse_error(choice, message, usage=usage)
        text = text_of(message.content)
        finish = choice.finish_reason
        if message.refusal or has_refusal(message.content):
            finish = "refusal"
            text = text or message.refusal
        if text is None and (message.reasoning_content or message.reasoning):
            text = ""  # the model thought and then gave an empty answer
        fingerprint = answer.system_fingerprint
        return reply(text, finish, usage, model=answer.model, fingerprint=fingerprint)


def _with_system(messages: Messages, role: str) -> Messages:
    """The messages with system texts given the role `role`, or put before the first user text."""
    if role != "joined":
        return [{**m, "role": role} if m["role"] == "system" else {**m} for m in messages]
    texts = [m["content"] for m in messages if m["role"] == "system"]
    joined = [{**m} for m in messages if m["role"] != "system"]
    first = [m["role"] for m in joined].index("user")
    joined[first]["content"] = "\n\n".join([*texts, joined[first]["content"]])
    return joined


def _response_format(request: Request) -> dict[str, Any]:
    """The field that makes a model keep to the request's JSON schema; {} if it has none."""
    if request.schema is None:
        return {}
    return {"response_format": {"type": "json_schema", "json_schema": _schema(request.schema)}}


def _schema(schema: Mapping[str, Any]) -> dict[str, Any]:
    return {"name": "answer", "schema": dict(schema), "strict": True}
