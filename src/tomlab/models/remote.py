"""What the adapters of remote providers share: the key, the check before anything is spent."""

import asyncio
import os
from typing import Any

import httpx2

from tomlab.errors import InputError
from tomlab.models import server_errors
from tomlab.models.replies import (
    FilteredError,
    MalformedReplyError,
    NoAnswerError,
    body_of,
    redacted,
    without_key,
)
from tomlab.models.specs import PROTOCOL, AnthropicModel, ModelSpec, OpenAIModel, Reply, Request

Payload = dict[str, Any]
# Bytes of one reply, unpacked, after which no more of it is read: the longest answers that models
# give, and the likelihoods of the longest prompts, have a tenth of it.
MOST_REPLY = 8_000_000
FIRST_PAUSE, LONGEST_PAUSE = 0.5, 8.0  # seconds before a reply without an answer is asked again
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


def bounded(http: type, timeout: float, too_long: type[Exception]) -> type:
    """A kind of HTTP client whose time-out is for a whole request, not for a pause in its reply,
    and that reads no more than `MOST_REPLY` of it. too_long: the error then; the client must be
    one that does not ask again for it. What is streamed has bounds of its own.
    """

    class Bounded(http):
        async def send(
            self, request: httpx2.Request, *, stream: bool = False, **options: Any
        ) -> httpx2.Response:
            most = timeout + int(request.headers.get("content-length", 0)) / SLOWEST
            try:
                async with asyncio.timeout(most):
                    response = await super().send(request, stream=True, **options)
                    return response if stream else await _read(response, too_long)
            except TimeoutError:  # of this kind the client asks again
                raise httpx2.ReadTimeout(f"Timeout: no whole reply in {most:.3g} s") from None

    return Bounded


async def _read(response: httpx2.Response, too_long: type[Exception]) -> httpx2.Response:
    """A response with its content. Errors: `too_long`."""
    content = bytearray()
    try:
        async for chunk in response.aiter_bytes():  # a megabyte at most, also of what is packed
            content += chunk
            if len(content) > MOST_REPLY:
                raise too_long(f"the reply is longer than {MOST_REPLY:,} bytes; it was not read on")
    finally:
        await response.aclose()
    packing = {"content-encoding", "content-length", "transfer-encoding"}
    headers = response.headers.multi_items()
    return httpx2.Response(
        response.status_code,
        headers=[(name, value) for name, value in headers if name.lower() not in packing],
        content=bytes(content),
        request=response.request,
    )


class Remote:
    """Each adapter adds its client (`sdk`, `client_class`, `sdk_error`), `url`, `key_env` and
    protocol: `path`, `body` (None: not sent), `read` of `body_of`. Stored answers need neither key
    nor client.
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
            return await self._answer_or_retry(request)
        except sdk.APIStatusError as error:
            said = server_errors.said(error.response.text)
            if server_errors.is_filtered(error.response.text, error.status_code):
                raise FilteredError(f"in place of an answer: {said}") from None
            said = said.replace("`", "'").replace('"', "'")
            cures = [cure for words, cure in _CURES.items() if words in said]
            if self.answered or not cures or error.status_code != 400:
                raise
            shown = redacted(said, self.secret)[:300]
            message = f"the server refuses an option; try `{cures[0]}` ({shown})"
            raise InputError(message) from None
        except sdk.APITimeoutError as error:
            # With aiohttp any broken connection is reported as one; the cause tells what happened.
            message = f"Connection lost: {error.__cause__ or error}"
            raise sdk.APIConnectionError(message=message, request=error.request) from None

    async def _answer_or_retry(self, request: Request) -> Reply:
        """The reply to one request. Where a reply has an error in it that names a passing status of
        HTTP, it is asked again as often and after such pauses as the client asks after the status.
        """
        pause = FIRST_PAUSE
        for left in reversed(range(self.spec.max_retries + 1)):
            try:
                return await self.answer(request)
            except NoAnswerError as error:
                is_passing = error.status is not None and server_errors.passes(error.status)
                if not left or not is_passing:
                    raise
            await asyncio.sleep(pause)
            pause = min(2 * pause, LONGEST_PAUSE)
        raise AssertionError("the last try returns or raises")

    async def answer(self, request: Request) -> Reply:
        """The reply to one request. Errors: those of `read` and of the client."""
        # The client's typed methods would take as long again to check all types.
        text = await self.client.post(self.path, body=self.wire(request), cast_to=str)
        reply = self.reply(body_of(text))
        self.answered = True
        return reply

    def reply(self, told: Any) -> Reply:
        """The reply in what came, without the key. Errors: those of `read`."""
        try:
            return without_key(self.read(told), self.secret)
        except MalformedReplyError as error:
            answer = getattr(error, "reply", None)
            has_text = answer is not None and bool(answer.text)
            if server_errors.is_filtered(told) and not has_text:
                message = f"in place of an answer: {server_errors.said(told)}"
                raise FilteredError(message, answer) from None
            raise

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
        http = bounded(sdk.DefaultAioHttpClient, spec.timeout, self.sdk_error)
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
