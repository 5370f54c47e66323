"""What the adapters of remote providers share: the API key, sending, the check before a run."""

import asyncio
import os
from abc import ABC, abstractmethod
from typing import Any

from tomlab.errors import InputError
from tomlab.models import server_errors
from tomlab.models.replies import FilteredError, NoAnswerError, from_json
from tomlab.models.specs import PROTOCOL, AnthropicModel, ModelSpec, OpenAIModel, Reply, Request

Payload = dict[str, Any]
LONGEST_PAUSE = 60.0  # seconds for which clients wait, at most, before they ask again
SHORTEST_KEY = 8  # characters; a shorter key is only a placeholder for a server that needs none
NO_KEY = "none"  # sent to a server that needs no key, because the clients insist on one


class Remote(ABC):
    """The base of adapters, which add client and protocol. Only `check` reads the key and makes the
    client: a run whose answers are all stored needs neither.
    """

    sdk: Any
    client_class: type
    url: str
    key_env: str
    path: str
    secret: str | None = None

    def __init__(self, spec: OpenAIModel | AnthropicModel):
        self.spec = spec
        self.client: Any = None

    @abstractmethod
    def body(self, request: Request) -> Payload:
        """The protocol's fields for a request, without the model; None values are not sent."""

    @abstractmethod
    def read(self, answer: Any) -> Reply:
        """The reply in a server's answer. answer: the parsed JSON from `replies.from_json`."""

    def payload(self, request: Request) -> Payload:
        where = {"provider": self.spec.provider, "base_url": self.spec.base_url or self.url}
        return where | {"sample": request.sample, **self.sent(request)}

    def sent(self, request: Request) -> Payload:
        """All fields that are sent for a request; `extra_body` is still a dict of its own."""
        body = {"model": self.spec.model, **self.body(request)}
        return {name: value for name, value in body.items() if value is not None}

    def wire(self, request: Request) -> Payload:
        """The JSON body sent to the endpoint: `sent`, with the fields of `extra_body` merged in."""
        sent = self.sent(request)
        return sent | sent.pop("extra_body")

    async def send(self, request: Request) -> Reply:
        """Ask for one answer. Errors: `NoAnswerError` on a timeout; those of `reply`."""
        # The clients' own timeouts limit only the pauses in a reply, which may trickle in for ever.
        longest = (self.spec.timeout + LONGEST_PAUSE) * (self.spec.max_retries + 1)
        try:
            async with asyncio.timeout(longest):
                # The client's typed methods would take twice as long, as they check all types.
                text = await self.client.post(self.path, body=self.wire(request), cast_to=str)
        except TimeoutError:
            raise NoAnswerError(f"no whole reply in {longest:g} seconds") from None
        except self.sdk.APIStatusError as error:
            if server_errors.is_filtered(error.response.text, error.status_code):
                message = server_errors.described(error)
                raise FilteredError(f"in place of an answer: {message}") from None
            raise
        return self.reply(from_json(text))

    def reply(self, answer: Any) -> Reply:
        """As `read`, but with `FilteredError` if a filter stopped the answer before any text."""
        try:
            return self.read(answer)
        except NoAnswerError as error:
            has_text = error.reply is not None and bool(error.reply.text)
            if has_text or not server_errors.is_filtered(answer):
                raise
            message = f"in place of an answer: {server_errors.words(answer)}"
            raise FilteredError(message, error.reply) from None

    def limit(self, request: Request) -> int | None:
        """The token limit to send: the request's plus `thinking_tokens`; None for no limit."""
        if request.max_tokens is None:
            return None
        return request.max_tokens + self.spec.thinking_tokens

    def temperature(self, request: Request) -> float | None:
        """The temperature to send: the entry's, or else the request's; None to send none."""
        declared = self.spec.temperature
        return request.temperature if declared == PROTOCOL else declared

    async def check(self) -> None:
        """Make the client and ask for the server's list of models, which costs nothing. Errors:
        `InputError` if the server can't be reached, refuses the key, or knows the model neither
        by its list nor as an alias. A server without a list is not checked.
        """
        spec = self.spec
        sdk = self.sdk
        self.secret = api_key(spec, self.key_env)
        # aiohttp is faster than the default HTTP client.
        http = sdk.DefaultAioHttpClient
        self.client = client(self.client_class, http, spec, self.secret, self.url)
        if not spec.listed:
            return
        entry = f"models.{spec.name}"
        address = self.client.base_url
        try:
            names = sorted([model.id async for model in self.client.models.list()])
            is_known = not names or spec.model in names or await self._knows_alias()
        except sdk.APIConnectionError as error:
            cause = error.__cause__ or error
            raise InputError(f"{entry}: cannot reach base_url {address} ({cause})") from None
        except (sdk.AuthenticationError, sdk.PermissionDeniedError):
            raise InputError(f"{entry}: {address} does not accept the key") from None
        except Exception:  # noqa: BLE001 - any other fault means that there is no list
            return
        if not is_known:
            message = f"{entry}: no model {spec.model!r} at {address}"
            raise InputError(f"{message}; it has: {', '.join(names[:20])}")

    async def _knows_alias(self) -> bool:
        """Whether the server knows the model although its list does not name it."""
        try:
            await self.client.models.retrieve(self.spec.model)
        except self.sdk.APIStatusError:
            return False
        return True

    async def close(self) -> None:
        if self.client is not None:
            await self.client.close()


def api_key(spec: OpenAIModel | AnthropicModel, default_env: str) -> str | None:
    """The API key from the environment; None for a server with a `base_url` whose entry does not
    set `api_key_env`. Errors: `InputError` if the variable is not set, or if the entry,
    which is published, contains the key.
    """
    name = spec.api_key_env or (None if spec.base_url else default_env)
    if name is None:
        return None
    key = os.environ.get(name, "").strip()
    if not key:
        raise InputError(
            f"models.{spec.name}: the environment variable {name} is not set; it must hold the key "
            f"for {spec.base_url or spec.provider}"
        )
    entry = spec.model_dump_json(include={"base_url", "extra_body"})
    if len(key) >= SHORTEST_KEY and key in entry:
        raise InputError(f"models.{spec.name}: found the key in it, expected it in {name} alone")
    return key


def client(kind: type, http: type, spec: OpenAIModel | AnthropicModel, key: str | None, url: str):
    """A new client. kind, http: the classes of client and HTTP client; url: the default address."""
    return kind(
        base_url=spec.base_url or url,
        api_key=key or NO_KEY,
        max_retries=spec.max_retries,
        timeout=spec.timeout,
        # Without redirects, no other server gets the texts or the key.
        http_client=http(follow_redirects=False),
    )


def demand_limit(spec: ModelSpec, request: Request) -> None:
    """Raise `InputError` if a request has no token limit; for providers that demand one."""
    if request.max_tokens is None:
        raise InputError(
            f"models.{spec.name}: found no limit of answers in tokens, which {spec.provider} "
            "demands; set one in its `answer_tokens`"
        )
