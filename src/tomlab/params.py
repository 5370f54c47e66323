"""`params.yaml`: everything a user swaps, read and checked."""

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

# What other harnesses call the number of items that are asked.
_NUMBERS_OF_ITEMS = {
    *("items", "item", "limit", "n", "n_items", "num_items", "max_items"),
    *("limit_items", "max_samples", "n_samples", "num_samples", "subset"),
}
_WHOLE_GROUPS = (
    "to ask about fewer items, `groups` in a model's entry says how many whole templates, question "
    "sets or stories are asked, each with all its items (docs/parameters.md)"
)


class Section(pydantic.BaseModel):
    """A section of the file: no other options than these, no text where a number belongs."""

    model_config = pydantic.ConfigDict(
        extra="forbid", strict=True, protected_namespaces=(), allow_inf_nan=False
    )

    @pydantic.model_validator(mode="before")
    @classmethod
    def _suggest(cls, content: Any) -> Any:
        """A misspelt option is told with the one that was meant."""
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
    """A value for which `test` holds; `expected` says so in words."""

    def check(value: Any) -> Any:
        if not test(value):
            raise ValueError(f"expected {expected}")
        return value

    return AfterValidator(check)


def matches(pattern: str, expected: str) -> AfterValidator:
    """A text that fits `pattern` as a whole."""
    return fits(lambda text: re.fullmatch(pattern, text) is not None, expected)


def _registered(name: str, info: pydantic.ValidationInfo) -> str:
    """A name under `models`, which is the context of the validation where that is known."""
    if info.context is not None and name not in info.context:
        raise ValueError(f"expected a name under `models`: {', '.join(map(str, info.context))}")
    return name


def _holds_answers(text: str) -> bool:
    """Whether a folder is there and no file of answers lies in it where nobody looks."""
    folder = there(text) if text else None  # an empty one would be the whole project
    if folder is None:
        return Path(text) == Path(ANSWERS)
    return folder.is_dir() and {*folder.rglob("*.parquet")} == {*folder.glob("*/*.parquet")}


# Names go into shell commands, file names and DVC's own names of stages.
_NAME = "at most 100 letters, digits, - and _ alone: a name is part of commands and file names"
_THERE = "a file or folder that is there, as seen from the repository's root"
_KEPT = "a folder that is there, its files of answers at <benchmark>/<model>.parquet in it"
_ONCE = "at least one name, none of them twice"
# Where answers are kept unless told otherwise; before the first of them there is no such folder.
ANSWERS = "data/answers"
# Models are compared with these. They are evaluated in every run, wherever items are made.
BASELINES = ("random", "omniscient")
_Item = TypeVar("_Item")
Name = Annotated[str, matches(r"[A-Za-z0-9_-]{1,100}", _NAME)]
ModelName = Annotated[Name, AfterValidator(_registered)]
_is_distinct = fits(lambda names: 0 < len(names) == len(set(map(str, names))), _ONCE)
Distinct = Annotated[list[_Item], _is_distinct]
GivenPath = Annotated[str, fits(lambda path: path and there(path), _THERE)]
OptionalPath = Annotated[str, fits(lambda path: not path or there(path), f'"" or {_THERE}')]
Answers = Annotated[str, fits(_holds_answers, _KEPT)]
# The largest number of each kind: what is beyond is a slip, and would run for days or fill memory.
# Things to write, draw, ask about or read; a notebook holds about so many answers (docs/scale.md).
MOST_THINGS = 100_000
MOST_TOKENS = 1_000_000  # of a text that a model reads or writes
MOST_REPEATS = 1_000  # of the same thing: samples, rounds, tries, folds
MOST_WORKERS = 1_000  # at once: engines, threads, requests, batches
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
    """What is asked: the same options for every benchmark."""

    methods: Distinct[str]
    # Limits of answers in tokens by method; None: no limit.
    max_tokens: dict[str, Tokens | None]


class Settings(Section):
    """The section of a benchmark that declares none of its own (`settings.py` in its folder)."""

    generation: Section
    filtering: Section
    evaluation: Evaluation
    judges: Section


class LabelledAnswers(Section):
    """What people say of answers that a judge decides."""

    labels: GivenPath
    # How many groups (templates, conversations, entity sets) people are given to label.
    groups_to_label: Size


class GradedAnswers(LabelledAnswers):
    """How judges of free-form answers are held against answers made for it."""

    answers_made: Size
    folds: Folds
    # How many of them are put to the language model.
    llm_answers: Count


class AnswersByPeople(Section):
    """What people answer to the items that models are asked about."""

    # A CSV form, or a folder with one for each participant.
    answers_by_people: GivenPath


class Source(Section):
    """What a benchmark starts from, what people said of it, and who writes and reads for it.

    Whatever its notebooks take must be there, see `pipeline.settings`.
    """

    source: GivenPath
    judgments: GivenPath | None = None
    writer: ModelName | None = None
    reader: ModelName | None = None


class Seeds(Section):
    """One seed for each thing that is left to chance, so that one can be varied alone."""

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
    # 2: what shows two options is asked with these exchanged, too.
    orders: Annotated[int, Field(ge=1, le=2)]
    # Whose random numbers order two options: our seed's, or those of BigToM's and FANToM's release.
    orders_as: Literal["ours", "release"]
    # Folders of other wordings of prompts, `<folder>/<benchmark>/<prompt>.txt`.
    wordings: list[GivenPath]
    # Folders of kept answers, in which is looked before a model is asked.
    answers: list[Answers]


class Fresh(Section):
    """The section `fresh`: what is asked about items that are drawn anew."""

    models: Distinct[ModelName]
    # A file of `python -m tomlab.fresh draw`; "": a set is drawn from an open seed.
    source: OptionalPath
    questions: Size
    budget: Annotated[int, Field(ge=500, le=MOST_THINGS)]


def with_baselines(models: Sequence[str]) -> list[str]:
    """The models of a run, followed by the baselines."""
    return [name for name in models if name not in BASELINES] + [*BASELINES]


def load(path: Path | str = PARAMS) -> dict[str, Any]:
    """The whole file. Errors: `InputError` where it is no UTF-8, no YAML or has no sections."""
    try:
        content = parsed(Path(path).read_text(encoding="utf-8"), path)
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: cannot be read as UTF-8 ({error})") from None
    if not isinstance(content, Mapping):
        raise InputError(f"{path}: found {type(content).__name__}, expected sections")
    return dict(content)


def parsed(text: str, path: Path | str) -> Any:
    """What a text says in YAML 1.2, which DVC reads too. Errors: `InputError` with the line, which
    is not quoted: it may hold a key.
    """
    try:
        return YAML(typ="safe").load(text)
    except MarkedYAMLError as error:
        mark = error.problem_mark
        where = f"line {mark.line + 1}, column {mark.column + 1}"
        problem = error.problem.partition(" with value ")[0]  # of a key that stands twice
        raise InputError(f"{path}: not YAML: {problem} in {where}") from None
    except (YAMLError, ValueError, RecursionError) as error:
        raise InputError(f"{path}: not YAML: {error}") from None


def checked(validate: Callable[[Any], Any], content: Any, where: str) -> Any:
    """What pydantic makes of `content`; an `InputError` has its complaints as sentences."""
    try:
        return validate(content)
    except pydantic.ValidationError as error:
        cases = error.errors()
    # Outside of the clause: pydantic's own text, which a traceback would add, quotes all values.
    return refuse([complaint(case) for case in cases], where)


def shown(value: Any) -> str:
    """A value for a message, unless it may be a key that somebody pasted in the wrong place."""
    text = repr(value)
    if re.search(r"(?=[\w-]*\d)[\w-]{16}|[@?#]", text):
        return "what may be a key"
    return text


# In other words than pydantic's.
_EXPECTED = {
    "missing": "a value",
    "extra_forbidden": "no such field",
    "model_type": "an object",
    "string_pattern_mismatch": "some text",
}


def complaint(case: Mapping[str, Any], show: Callable[[Any], str] = shown) -> str:
    """One error of pydantic's in words: the field, what was found, as by `show`, and expected."""
    message = case["msg"].removeprefix("Value error, ").replace("Input should be", "expected", 1)
    if case["type"] in _EXPECTED:
        message = f"expected {_EXPECTED[case['type']]}"
    if case["type"] == "union_tag_invalid":
        message = f"expected one of {case['ctx']['expected_tags']}"
    message = _found(case, show) + message
    field = ".".join(map(str, case["loc"]))
    return f"field {field}: {message}" if field else message


def _found(case: Mapping[str, Any], show: Callable[[Any], str]) -> str:
    """The beginning of a complaint, with what was found, unless it is a section or may be a key."""
    is_section = case["type"] == "value_error" and isinstance(case["input"], dict)
    if is_section or "key" in str(case["loc"][-1:]):
        return ""
    if case["type"] == "missing":
        return "found nothing, "
    if case["type"] == "union_tag_invalid":
        return f"found {show(case['ctx']['tag'])} as {case['ctx']['discriminator']}, "
    return f"found {show(case['input'])}, "
