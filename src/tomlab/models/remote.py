"""What the adapters of remote providers share: the key, the check before anything is spent."""

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
SHORTEST_KEY = 8  # a shorter one is no secret: servers without one are given any word
NO_KEY = "none"  # for a server that wants none: the clients insist on one


class Remote(ABC):
    """Each adapter adds its client and protocol. Stored answers need neither key nor client."""

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
        """What the protocol says for a request; None: not sent."""

    @abstractmethod
    def read(self, answer: Any) -> Reply:
        """The reply in what `replies.from_json` made of an answer."""

    def payload(self, request: Request) -> Payload:
        where = {"provider": self.spec.provider, "base_url": self.spec.base_url or self.url}
        return where | {"sample": request.sample, **self.sent(request)}

    def sent(self, request: Request) -> Payload:
        """What of the request decides its answer, in the words of the client's arguments."""
        body = {"model": self.spec.model, **self.body(request)}
        return {name: value for name, value in body.items() if value is not None}

    def wire(self, request: Request) -> Payload:
        """The JSON that the endpoint is sent."""
        sent = self.sent(request)
        return sent | sent.pop("extra_body")

    async def send(self, request: Request) -> Reply:
        """One answer. Errors: those of `reply` and of the client."""
        # The clients' own time-outs are for a pause in a reply, which may drip for ever.
        longest = (self.spec.timeout + LONGEST_PAUSE) * (self.spec.max_retries + 1)
        try:
            async with asyncio.timeout(longest):
                # The client's typed methods would take as long again to check all types.
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
        """The reply in what came. Errors: those of `read`."""
        try:
            return self.read(answer)
        except NoAnswerError as error:
            has_text = error.reply is not None and bool(error.reply.text)
            if has_text or not server_errors.is_filtered(answer):
                raise
            message = f"in place of an answer: {server_errors.words(answer)}"
            raise FilteredError(message, error.reply) from None

    def limit(self, request: Request) -> int | None:
        """The limit to send, with room for thinking."""
        if request.max_tokens is None:
            return None
        return request.max_tokens + self.spec.thinking_tokens

    def temperature(self, request: Request) -> float | None:
        """The temperature to send; None for a model that takes none."""
        declared = self.spec.temperature
        return request.temperature if declared == PROTOCOL else declared

    async def check(self) -> None:
        """By the list of models, which costs nothing: is the server there, the key good, the model
        known, if only as an alias? A server without a list is taken on trust.
        """
        spec = self.spec
        sdk = self.sdk
        self.secret = api_key(spec, self.key_env)
        # Faster than the default HTTP client.
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
        except Exception:  # noqa: BLE001 - whatever comes instead of a list, it is none
            return
        if not is_known:
            message = f"{entry}: no model {spec.model!r} at {address}"
            raise InputError(f"{message}; it has: {', '.join(names[:20])}")

    async def _knows_alias(self) -> bool:
        """Whether the server knows the model, which its list does not name."""
        try:
            await self.client.models.retrieve(self.spec.model)
        except self.sdk.APIStatusError:
            return False
        return True

    async def close(self) -> None:
        if self.client is not None:
            await self.client.close()


def api_key(spec: OpenAIModel | AnthropicModel, default_env: str) -> str | None:
    """The key from the environment. A user's own server gets the vendor's key only if told so.
    Errors: `InputError` where there is none, or where it stands in the entry, which is published.
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
    """A vendor's client of some kind, for an entry, over its own kind of HTTP client."""
    return kind(
        base_url=spec.base_url or url,
        api_key=key or NO_KEY,
        max_retries=spec.max_retries,
        timeout=spec.timeout,
        # No other server gets the texts or the key.
        http_client=http(follow_redirects=False),
    )


def demand_limit(spec: ModelSpec, request: Request) -> None:
    """InputError for a request without a limit to a provider that can't do without one."""
    if request.max_tokens is None:
        raise InputError(
            f"models.{spec.name}: found no limit of answers in tokens, which {spec.provider} "
            "demands; set one in its `answer_tokens`"
        )
