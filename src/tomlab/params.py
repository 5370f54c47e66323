"""Reads and checks `params.yaml`, the file with every option that a user can change."""

import re
from collections.abc import Callable, Mapping, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar

import pydantic
from pydantic import AfterValidator, Field
from ruamel.yaml import YAML
from ruamel.yaml.error import MarkedYAMLError, YAMLError

from tomlab.errors import InputError, refuse
from tomlab.paths import PARAMS, there

# Names that other evaluation tools give to the number of items to ask. tomlab has no such option.
_NUMBERS_OF_ITEMS = {
    *("items", "item", "limit", "n", "n_items", "num_items", "max_items"),
    *("limit_items", "max_samples", "n_samples", "num_samples", "subset"),
}
_WHOLE_GROUPS = (
    "to ask about fewer items, `groups` in a model's entry says how many whole templates, question "
    "sets or stories are asked, each with all its items (docs/parameters.md)"
)


class Section(pydantic.BaseModel):
    """A section of `params.yaml`. It rejects unknown options and values of the wrong type."""

    model_config = pydantic.ConfigDict(
        extra="forbid", strict=True, protected_namespaces=(), allow_inf_nan=False
    )

    @pydantic.model_validator(mode="before")
    @classmethod
    def _suggest(cls, content: Any) -> Any:
        """Reject an unknown option with a message that suggests which option was meant."""
        if not isinstance(content, Mapping):
            return content
        for name in map(str, content):
            if name in cls.model_fields:
                continue
            advice = f"known: {[*cls.model_fields]}"
            if name in _NUMBERS_OF_ITEMS:
                advice = _WHOLE_GROUPS
            elif similar := get_close_matches(name, cls.model_fields, 1):
                advice = f"did you mean {similar[0]!r}?"
            raise ValueError(f"{name}: no such option; {advice}")
        return content


def fits(test: Callable[[Any], bool], expected: str) -> AfterValidator:
    """A validator that accepts values for which `test` holds. `expected` describes them in words,
    for the message about any other value.
    """

    def check(value: Any) -> Any:
        if not test(value):
            raise ValueError(f"expected {expected}")
        return value

    return AfterValidator(check)


def matches(pattern: str, expected: str) -> AfterValidator:
    """A validator that accepts texts which match the regular expression `pattern` as a whole."""
    return fits(lambda text: re.fullmatch(pattern, text) is not None, expected)


def _registered(name: str, info: pydantic.ValidationInfo) -> str:
    """Return `name`. Errors: `ValueError` unless it is an entry under `models`, which pydantic
    passes as the context of the validation; without a context, any name is accepted.
    """
    if info.context is not None and name not in info.context:
        raise ValueError(f"expected a name under `models`: {', '.join(map(str, info.context))}")
    return name


def _holds_answers(text: str) -> bool:
    """Whether `text` names a folder that exists and whose answer files all lie where they are
    looked up, at <benchmark>/<model>.parquet. The default folder, `ANSWERS`, need not exist.
    """
    folder = there(text) if text else None  # an empty text would mean the whole project
    if folder is None:
        return Path(text) == Path(ANSWERS)
    return folder.is_dir() and {*folder.rglob("*.parquet")} == {*folder.glob("*/*.parquet")}


# Names of models and benchmarks become part of shell commands, file names and DVC's stage names.
_NAME = "at most 100 letters, digits, - and _ alone: a name is part of commands and file names"
_THERE = "a file or folder that is there, as seen from the repository's root"
# As a source: what `make released` fetched.
RELEASED = "released"
_KEPT = "a folder that is there, its files of answers at <benchmark>/<model>.parquet in it"
_ONCE = "at least one name, none of them twice"
# The default folder for kept answers. It does not exist until the first answers are kept.
ANSWERS = "data/answers"
# Baselines that models are compared with. Every run evaluates them, in the filtering stage.
BASELINES = ("random", "omniscient")
_Item = TypeVar("_Item")
Name = Annotated[str, matches(r"[A-Za-z0-9_-]{1,100}", _NAME)]
ModelName = Annotated[Name, AfterValidator(_registered)]
_is_distinct = fits(lambda names: 0 < len(names) == len(set(map(str, names))), _ONCE)
Distinct = Annotated[list[_Item], _is_distinct]
GivenPath = Annotated[str, fits(lambda path: path and there(path), _THERE)]
OptionalPath = Annotated[str, fits(lambda path: not path or there(path), f'"" or {_THERE}')]
_is_source = fits(
    lambda path: path == RELEASED or bool(path and there(path)), f"{_THERE}, or {RELEASED}"
)
Answers = Annotated[str, fits(_holds_answers, _KEPT)]
# Upper limits. A larger number is probably a typing error; it would run for days or fill memory.
# Things to write, draw, ask about or read. A notebook can hold about this many answers
# (docs/scale.md).
MOST_THINGS = 100_000
MOST_TOKENS = 1_000_000  # in one text that a model reads or writes
MOST_REPEATS = 1_000  # repetitions of one thing: samples, rounds, tries, folds
MOST_WORKERS = 1_000  # things at work at once: engines, threads, requests, batches
LARGEST_SEED = 2**31 - 1
Count = Annotated[int, Field(ge=0, le=MOST_THINGS)]
Size = Annotated[int, Field(ge=1, le=MOST_THINGS)]
Tokens = Annotated[int, Field(ge=1, le=MOST_TOKENS)]
Repeats = Annotated[int, Field(ge=1, le=MOST_REPEATS)]
Folds = Annotated[int, Field(ge=2, le=MOST_REPEATS)]
Workers = Annotated[int, Field(ge=1, le=MOST_WORKERS)]
Seed = Annotated[int, Field(ge=0, le=LARGEST_SEED)]
Share = Annotated[float, Field(gt=0, le=1)]


class Evaluation(Section):
    """The section `<benchmark>.evaluation`, which has the same options for every benchmark."""

    methods: Distinct[str]
    # The greatest length of an answer in tokens, by method; None: no limit.
    max_tokens: dict[str, Tokens | None]


class Settings(Section):
    """The section of a benchmark without a `settings.py` of its own in its folder."""

    generation: Section
    filtering: Section
    evaluation: Evaluation
    judges: Section


class LabelledAnswers(Section):
    """Options for the labels that people give to answers which a judge scores."""

    labels: GivenPath
    # How many groups (templates, conversations, entity sets) people are given to label.
    groups_to_label: Size


class GradedAnswers(LabelledAnswers):
    """Options for testing judges of free-form answers on answers that are made for this test."""

    answers_made: Size
    folds: Folds
    # How many of the made answers the language model judges.
    llm_answers: Count


class AnswersByPeople(Section):
    """Options for the answers that people give to the items which models are asked about."""

    # A CSV form, or a folder with one for each participant.
    answers_by_people: GivenPath


class Source(Section):
    """The files that a benchmark's items are made from, people's judgments of the items, and the
    models that write and read them.

    All but `source` may be left out unless a notebook takes them, see `pipeline.settings`.
    """

    source: Annotated[str, _is_source]
    judgments: GivenPath | None = None
    writer: ModelName | None = None
    reader: ModelName | None = None


class Seeds(Section):
    """One seed for each random step, so that each step can be varied alone."""

    writing_seed: Seed
    option_seed: Seed
    draw_seed: Seed
    sampling_seed: Seed
    made_seed: Seed


class Run(Section):
    """The section `run`."""

    benchmarks: Annotated[dict[Name, Source], Field(min_length=1)]
    models: Distinct[ModelName]
    embedder: ModelName
    judge: ModelName
    seeds: Seeds
    samples: Repeats
    prompts: dict[str, GivenPath]
    # 2: a question with two options is also asked with the options swapped.
    orders: Annotated[int, Field(ge=1, le=2)]
    # Which random numbers put two options in order: those of our seed ("ours"), or those of the
    # code that BigToM's and FANToM's authors released ("release").
    orders_as: Literal["ours", "release"]
    # Folders with other wordings of prompts, in files `<folder>/<benchmark>/<prompt>.txt`.
    wordings: list[GivenPath]
    # Folders of kept answers, which are searched before a model is asked.
    answers: list[Answers]


class Fresh(Section):
    """The section `fresh`: options for asking models about newly drawn items."""

    models: Distinct[ModelName]
    # A file written by `python -m tomlab.fresh draw`; "": items are drawn from an open seed.
    source: OptionalPath
    questions: Size
    budget: Annotated[int, Field(ge=500, le=MOST_THINGS)]


def with_baselines(models: Sequence[str]) -> list[str]:
    """The names of a run's models, then the baselines, each baseline once."""
    return [name for name in models if name not in BASELINES] + [*BASELINES]


def load(path: Path | str = PARAMS) -> dict[str, Any]:
    """The content of the whole file, by section. Errors: `InputError` if the file cannot be read,
    is not UTF-8 or YAML, or has no sections.
    """
    try:
        content = parsed(Path(path).read_text(encoding="utf-8"), path)
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: cannot be read as UTF-8 ({error})") from None
    if not isinstance(content, Mapping):
        raise InputError(f"{path}: found {type(content).__name__}, expected sections")
    return dict(content)


def parsed(text: str, path: Path | str) -> Any:
    """The value of a text in YAML 1.2, the version that DVC reads. path: the file, for messages.
    Errors: `InputError` with the number of the faulty line, but not its text, which may hold an API
    key.
    """
    try:
        return YAML(typ="safe").load(text)
    except MarkedYAMLError as error:
        mark = error.problem_mark
        where = f"line {mark.line + 1}, column {mark.column + 1}"
        problem = error.problem.partition(" with value ")[0]  # a repeated key's value is cut
        raise InputError(f"{path}: not YAML: {problem} in {where}") from None
    except (YAMLError, ValueError, RecursionError) as error:
        raise InputError(f"{path}: not YAML: {error}") from None


def checked(validate: Callable[[Any], Any], content: Any, where: str) -> Any:
    """What pydantic's `validate` returns for `content`. Errors: an `InputError` that lists
    pydantic's complaints in words, after `where`.
    """
    try:
        return validate(content)
    except pydantic.ValidationError as error:
        cases = error.errors()
    # Raised outside the `except` clause, or else the traceback would add pydantic's own message,
    # which quotes all values.
    return refuse([complaint(case) for case in cases], where)


def shown(value: Any) -> str:
    """The text of a value for a message, or a substitute if the value may be an API key that
    somebody pasted in the wrong place.
    """
    text = repr(value)
    if re.search(r"(?=[\w-]*\d)[\w-]{16}|[@?#]", text):
        return "what may be a key"
    return text


# Our descriptions of what was expected, by pydantic's types of errors.
_EXPECTED = {
    "missing": "a value",
    "extra_forbidden": "no such field",
    "model_type": "an object",
    "string_pattern_mismatch": "some text",
}


def complaint(case: Mapping[str, Any], show: Callable[[Any], str] = shown) -> str:
    """One of pydantic's errors in words: the field, what was found there, and what was expected.
    show: makes the text of a found value.
    """
    message = case["msg"].removeprefix("Value error, ").replace("Input should be", "expected", 1)
    if case["type"] in _EXPECTED:
        message = f"expected {_EXPECTED[case['type']]}"
    if case["type"] == "union_tag_invalid":
        message = f"expected one of {case['ctx']['expected_tags']}"
    message = _found(case, show) + message
    field = ".".join(map(str, case["loc"]))
    return f"field {field}: {message}" if field else message


def _found(case: Mapping[str, Any], show: Callable[[Any], str]) -> str:
    """The beginning of a complaint, which says what was found; "" where that is a whole section or
    may be an API key.
    """
    is_section = case["type"] == "value_error" and isinstance(case["input"], dict)
    if is_section or "key" in str(case["loc"][-1:]):
        return ""
    if case["type"] == "missing":
        return "found nothing, "
    if case["type"] == "union_tag_invalid":
        return f"found {show(case['ctx']['tag'])} as {case['ctx']['discriminator']}, "
    return f"found {show(case['input'])}, "
