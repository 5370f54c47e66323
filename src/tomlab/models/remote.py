"""What the adapters of remote providers share: the key, the check before anything is spent."""

import asyncio
import os
from typing import Any

import httpx2

from tomlab.errors import InputError
from tomlab.models.replies import FilteredError, from_json, redacted, without_key
from tomlab.models.specs import PROTOCOL, AnthropicModel, ModelSpec, OpenAIModel, Reply, Request

Payload = dict[str, Any]
_FILTERED = "blocked by content filtering policy"  # Anthropic's words, in an error without a code
SLOWEST = 20_000  # bytes a second at which a request, such as a batch of 200 MB, may go out
# What of an entry cures a refusal of all that we send, by the words that servers use.
_CURES = {
    "'temperature'": "temperature: null",
    "'max_completion_tokens' instead": "max_tokens_field: max_completion_tokens",
    "'reasoning_effort'": "reasoning_effort: null",
}
NO_KEY = "none"  # for a server that wants none: the clients insist on one


def api_key(spec: OpenAIModel | AnthropicModel, default_env: str) -> str | None:
    """The key from the environment. A user's own server gets the vendor's key only if told so."""
    name = spec.api_key_env or (None if spec.base_url else default_env)
    if name is None:
        return None
    key = os.environ.get(name, "").strip()
    where, whose = f"models.{spec.name}", spec.base_url or spec.provider
    if not key:
        unset = f"the environment variable {name} is not set; it must hold the key for {whose}"
        raise InputError(f"{where}: {unset}")
    if key in (spec.base_url or ""):
        raise InputError(f"{where}: found the key in base_url, expected it in {name}")
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
        found = f"found no limit of answers in tokens, which {spec.provider} demands"
        raise InputError(f"models.{spec.name}: {found}; set one in its `answer_tokens`")


def bounded(http: type, timeout: float) -> type:
    """A kind of HTTP client whose time-out is for a whole request, not for a pause in its reply."""

    class Bounded(http):
        async def send(self, request: httpx2.Request, **options: Any) -> httpx2.Response:
            most = timeout + int(request.headers.get("content-length", 0)) / SLOWEST
            try:
                async with asyncio.timeout(most):
                    return await super().send(request, **options)
            except TimeoutError:  # of this kind the client asks again
                raise httpx2.ReadTimeout(f"Timeout: no whole reply in {most:.3g} s") from None

    return Bounded


class Remote:
    """Each adapter adds its client (`sdk`, `client_class`), `url`, `key_env` and protocol: `path`,
    `body` (None: not sent), `read` of `from_json`. Stored answers need neither key nor client.
    """

    secret: str | None = None
    answered = False

    def __init__(self, spec: OpenAIModel | AnthropicModel):
        self.spec, self.client = spec, None

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
        """One answer. Errors: those of `read` and of the client; `InputError` where the server
        refuses, before any answer, an option that all requests have.
        """
        sdk = self.sdk
        try:
            return await self.answer(request)
        except sdk.BadRequestError as error:
            if getattr(error, "code", None) == "content_filter" or _FILTERED in str(error):
                raise FilteredError(f"in place of an answer: {error}") from None
            said = str(error).replace("`", "'").replace('"', "'")
            cure = next((_CURES[words] for words in _CURES if words in said), None)
            if self.answered or cure is None:
                raise
            said = f"try `{cure}` ({redacted(said[:300], self.secret)})"
            raise InputError(f"the server refuses an option; {said}") from None
        except sdk.APITimeoutError as error:
            # With aiohttp any broken connection is reported as one; the cause tells what happened.
            said = f"Connection lost: {error.__cause__ or error}"
            raise sdk.APIConnectionError(message=said, request=error.request) from None

    async def answer(self, request: Request) -> Reply:
        """The reply to one request. Errors: those of `read` and of the client."""
        # The client's typed methods would take as long again to check all types.
        text = await self.client.post(self.path, body=self.wire(request), cast_to=str)
        self.answered = True
        return self.reply(from_json(text))

    def reply(self, told: Any) -> Reply:
        """The reply in what came, without the key. Errors: those of `read`."""
        return without_key(self.read(told), self.secret)

    def limit(self, request: Request) -> int | None:
        """The limit to send, with room for thinking."""
        most = request.max_tokens
        return None if most is None else most + self.spec.thinking_tokens

    def temperature(self, request: Request) -> float | None:
        """The temperature to send; None for a model that takes none."""
        declared = self.spec.temperature
        return request.temperature if declared == PROTOCOL else declared

    async def check(self) -> None:
        """By the list of models, which costs nothing: is the server there, the key good, the model
        known, if only as an alias? A server without a list is taken on trust.
        """
        spec, sdk = self.spec, self.sdk
        self.secret = api_key(spec, self.key_env)
        # Faster than the default HTTP client.
        http = bounded(sdk.DefaultAioHttpClient, spec.timeout)
        self.client = client(self.client_class, http, spec, self.secret, self.url)
        if not spec.listed:
            return
        where, known, address = f"models.{spec.name}", [], self.client.base_url
        try:
            known = sorted([m.id async for m in self.client.models.list() if isinstance(m.id, str)])
            if known and spec.model not in known:
                await self.client.models.retrieve(spec.model)
        except sdk.APIConnectionError as error:
            said = redacted(str(error.__cause__ or error), self.secret)
            raise InputError(f"{where}: cannot reach base_url {address} ({said})") from None
        except (sdk.AuthenticationError, sdk.PermissionDeniedError):
            raise InputError(f"{where}: {address} does not accept the key") from None
        except Exception:  # noqa: BLE001 - whatever comes instead of a list, it is none
            if some := redacted(", ".join(known[:20])[:1000], self.secret):
                said = f"no model {spec.model!r} at {address}; it has: {some}"
                raise InputError(f"{where}: {said}") from None

    async def close(self) -> None:
        if self.client is not None:
            await self.client.close()
