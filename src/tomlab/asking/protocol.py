"""What every benchmark is to those who ask and score by it: the face of its package.

`tomlab.benchmarks.<name>` has all members of `Benchmark`; nothing else lists benchmarks by name.
"""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Protocol

import pandas as pd

from tomlab.records.published import Wording


class Method(Protocol):
    """How a question is put. One of two calls names as `first` the method of the first call."""

    max_tokens: int  # the protocol's limit for the visible answer
    prompts: tuple[str, ...]  # the names of the prompt files that go into a request


class Benchmark(Protocol):
    """The members of a benchmark's package; tables are those of `records.tidy`. Where something
    does not fit, they raise an `InputError`.

    Some have more: `reasoning_of(response, method)`, the `reasoning` for a second call;
    `remind(items, responses)`, the items of methods that show earlier answers; `KEYS`, under which
    options are shown, and `in_words(item)`, texts that no column has; `WITHOUT_ITEMS`, why items
    may lack what a method asks about, and what to do then.
    """

    NAME: str  # of the package, of its section in `params.yaml`, of its results
    UNIT: str  # the column of items whose groups are asked whole: templates, question sets, stories
    STRATA: tuple[str, ...]  # the columns whose levels give groups in turn, the first before all
    METHODS: Mapping[str, Method]
    WORDING: Wording  # what pages call the benchmark, its methods and its units

    def read_released(self, path: Path | str, /) -> pd.DataFrame:
        """The items of a file or folder in the released format, as by `compose`."""

    def compose(self, records: Any, /, seed: int = 0) -> pd.DataFrame:
        """The items of records, one row a question; `seed` draws orders of options, examples."""

    def asked(self, items: pd.DataFrame, method: str) -> pd.DataFrame:
        """The rows of `items` that a method is asked."""

    def messages(
        self, item: Mapping, method: str, replaced: Mapping[str, str] | None = None
    ) -> list[dict[str, str]]:
        """The chat messages for one item, the user's last; options in the order of `choices`."""

    def shared_prefix(self, item: Mapping, method: str) -> str:
        """The beginning of the last message that the item shares with its siblings."""

    def reference(self, item: Mapping, method: str, seed: int) -> dict[str, str]:
        """The baselines' answers by name: `gold`, `random`, `omniscient` where there is one."""

    def schema(self, method: str) -> dict | None:
        """The JSON schema of a method's answers; None where they are text, see `no_schema`."""

    def score(self, items: pd.DataFrame, responses: pd.DataFrame) -> pd.DataFrame:
        """The scores table: a row a response, in their order. See `scoring.answers.pairs`.

        Where there are options, `by_text=True` also reads an option's text without its letter.
        """

    def rule(self, item: Mapping, scored: Mapping, /) -> str:
        """The rule that decided a verdict, in words. scored: a response with its row of `score`."""

    def metrics(self, scores: pd.DataFrame, /) -> pd.DataFrame:
        """The metrics table by model and method, each number with its 95 % interval."""


def in_words_of_a_model(benchmark: Benchmark, item: Mapping, answer: str, method: str) -> str:
    """An answer to an item as a model would write it: that of the gold baseline, were it right."""
    return benchmark.reference({**item, "answer": answer}, method, 0)["gold"]


def strange_methods(
    benchmark: Benchmark, methods_of_options: Mapping[str, Iterable[str]]
) -> list[str]:
    """Methods that a benchmark does not have, in words, by the options that name them."""
    problems = []
    for option, methods in methods_of_options.items():
        for method in methods:
            if method not in benchmark.METHODS:
                names = ", ".join(benchmark.METHODS)
                problems.append(f"{option}: no method {method!r}; there are: {names}")
    return problems


def no_schema(method: str) -> None:
    """The `schema` of a benchmark whose answers are text."""
