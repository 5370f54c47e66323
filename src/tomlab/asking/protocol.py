"""What every benchmark is to those who ask and score by it: the face of its package.

`tomlab.benchmarks.<name>` has all members of `Benchmark`; nothing else lists benchmarks by name.
"""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Protocol

import pandas as pd


class Method(Protocol):
    """How a question is put."""

    max_tokens: int  # the protocol's limit for the visible answer

    @property
    def prompts(self) -> tuple[str, ...]:
        """The names of the prompt files that go into a request, see `asking.prompts`."""


class Benchmark(Protocol):
    """The members of a benchmark's package. All tables are those of `records.tidy`.

    For `reporting.readings` it may also have `KEYS`, under which options are shown, and
    `in_words(item)`, the texts among `item, story, question, options, gold` that no column says.
    """

    NAME: str  # of the package, of its section in `params.yaml`, of its results
    UNIT: str  # the column of items whose groups are asked whole: templates, question sets, stories
    STRATA: tuple[str, ...]  # the columns whose levels give groups in turn, the first before all
    METHODS: Mapping[str, Method]

    def read_released(self, path: Path | str, /) -> pd.DataFrame:
        """The items of a file or folder in the released format, as by `compose`. Errors:
        `InputError` that names file, row and field of everything at fault.
        """

    def compose(self, records: Any, /, seed: int = 0) -> pd.DataFrame:
        """The items of records, one row a question; by `seed` options have their order and
        OmniToM's prompts their example. Errors: `InputError` where there are no records.
        """

    def asked(self, items: pd.DataFrame, method: str) -> pd.DataFrame:
        """The rows of `items` that a method is asked. Errors: `InputError` for another method."""

    def messages(
        self, item: Mapping, method: str, replaced: Mapping[str, str] | None = None
    ) -> list[dict[str, str]]:
        """The chat messages `{"role", "content"}` for one item, the last one the user's.

        Options are shown in the order of `choices`. replaced: as in `prompts.load`. Errors:
        `InputError` where an earlier answer, on which the method builds, is not in the item.
        """

    def shared_prefix(self, item: Mapping, method: str) -> str:
        """The beginning of the last message that the item shares with its siblings."""

    def reference(self, item: Mapping, method: str, seed: int) -> dict[str, str]:
        """The baselines' answers by name: `gold`, `random`, `omniscient` where there is one."""

    def schema(self, method: str) -> dict | None:
        """The JSON schema of a method's answers; None where they are text, see `no_schema`."""

    def score(self, items: pd.DataFrame, responses: pd.DataFrame) -> pd.DataFrame:
        """The scores table: one row a response, in their order, failed requests too. responses,
        errors: as in `scoring.answers.pairs`.
        """

    def rule(self, item: Mapping, scored: Mapping, /) -> str:
        """The rule that decided a verdict, in words. scored: a response with its row of `score`."""

    def metrics(self, scores: pd.DataFrame, /) -> pd.DataFrame:
        """The metrics table by model and method, each number with its 95 % interval."""


class TwoCallMethod(Method, Protocol):
    """A method that asks for something before the question."""

    first: str | None  # the method that does; None where there is one call


class TwoCalls(Benchmark, Protocol):
    """A benchmark with methods of two calls: see `evaluation.second_calls`."""

    METHODS: Mapping[str, TwoCallMethod]

    def reasoning_of(self, response: str, method: str, /) -> str:
        """What the second call's `messages` find in the item's `reasoning` of the first answer."""


class Reminding(Benchmark, Protocol):
    """A benchmark with methods that show a model its own answers to other items."""

    def remind(self, items: pd.DataFrame, responses: pd.DataFrame) -> pd.DataFrame:
        """Such methods' items whose earlier question was answered, with what `messages` needs."""


def strange_methods(benchmark: Benchmark, named: Mapping[str, Iterable[str]]) -> list[str]:
    """Methods that a benchmark does not have, in words. named: methods by where they are named."""
    return [
        f"{where}: no method {method!r}; there are: {', '.join(benchmark.METHODS)}"
        for where, methods in named.items()
        for method in methods
        if method not in benchmark.METHODS
    ]


def no_schema(method: str) -> None:
    """The `schema` of a benchmark whose answers are text."""
