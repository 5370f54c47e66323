"""The interface that every benchmark's package offers to the code that asks and scores.

`tomlab.benchmarks.<name>` has all members of `Benchmark`; nothing else lists benchmarks by name.
"""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Protocol

import pandas as pd

from tomlab.records.published import Wording


class Method(Protocol):
    """How a question is asked. A method of two calls has `first`, the name of its first call."""

    max_tokens: int  # the protocol's limit for the visible answer
    prompts: tuple[str, ...]  # the names of the prompt files that go into a request


class Benchmark(Protocol):
    """The members of a benchmark's package. Tables have the schemas of `records.tidy`. Functions
    raise an `InputError` for input that does not fit.

    Some packages have more: `reasoning_of(response, method)`, the `reasoning` for a second call;
    `remind(items, responses)`, the items of methods that show earlier answers; `KEYS`, the labels
    of options in prompts; `in_words(item)`, texts that no column has; `WITHOUT_ITEMS`, why items
    may lack what a method asks about, and what to do then; `WITHOUT_STORY`, the methods that can
    ask without the story (`no_story` in a model's entry).
    """

    NAME: str  # names the package, its section in `params.yaml` and its results
    UNIT: str  # the column of groups that are asked whole: templates, question sets, stories
    STRATA: tuple[str, ...]  # the columns of `evaluation.drawn`, the most important first
    METHODS: Mapping[str, Method]
    WORDING: Wording  # what pages call the benchmark, its methods and its units

    def read_released(self, path: Path | str, /) -> pd.DataFrame:
        """The items of a file or folder in the released format, with the columns of `compose`."""

    def compose(self, records: Any, /, seed: int = 0) -> pd.DataFrame:
        """The items of records, one row for each question. `seed` draws option orders, examples."""

    def asked(self, items: pd.DataFrame, method: str) -> pd.DataFrame:
        """The rows of `items` about which the method asks."""

    def messages(
        self, item: Mapping, method: str, replaced: Mapping[str, str] | None = None
    ) -> list[dict[str, str]]:
        """The chat messages for one item, the user's last; options in the order of `choices`."""

    def shared_prefix(self, item: Mapping, method: str) -> str:
        """The beginning of the last message, as far as siblings (as of one story) share it."""

    def reference(self, item: Mapping, method: str, seed: int) -> dict[str, str]:
        """The baselines' answers by name: `gold`, `random`, `omniscient` where there is one."""

    def schema(self, method: str) -> dict | None:
        """The JSON schema of a method's answers; None if answers are plain text (`no_schema`)."""

    def score(self, items: pd.DataFrame, responses: pd.DataFrame) -> pd.DataFrame:
        """The scores table: one row for each response, in order. See `scoring.answers.pairs`.

        Questions with options take `by_text=True`: an option's text counts without its letter.
        """

    def rule(self, item: Mapping, scored: Mapping, /) -> str:
        """The rule that decided a verdict, in words. scored: a response and its scores row."""

    def metrics(self, scores: pd.DataFrame, /) -> pd.DataFrame:
        """The metrics table by model and method, each number with its 95 % interval."""


def in_words_of_a_model(benchmark: Benchmark, item: Mapping, answer: str, method: str) -> str:
    """An answer as a model would write it: the gold baseline's text if `answer` were right."""
    return benchmark.reference({**item, "answer": answer}, method, 0)["gold"]


def strange_methods(
    benchmark: Benchmark, methods_of_options: Mapping[str, Iterable[str]]
) -> list[str]:
    """A message for each method that the benchmark lacks. methods_of_options: the methods that
    each option names; the option's name begins the message.
    """
    problems = []
    for option, methods in methods_of_options.items():
        for method in methods:
            if method not in benchmark.METHODS:
                names = ", ".join(benchmark.METHODS)
                problems.append(f"{option}: no method {method!r}; there are: {names}")
    return problems


def no_schema(method: str) -> None:
    """The member `schema` of a benchmark whose answers are plain text: always None."""
