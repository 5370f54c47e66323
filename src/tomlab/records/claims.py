"""What a paper says it found, each sentence as a test: `data/published/<benchmark>/claims.yaml`.

A number has the address that it has in a run's metrics: method, metric, condition, as in "0-shot
accuracy forward_belief/true_belief/1", of each model unless one stands before, "gpt-4: 0-shot …".
"""

import re
from itertools import product
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple

from pydantic import BeforeValidator, Field, model_validator

from tomlab import params
from tomlab.errors import refuse
from tomlab.params import Section, checked
from tomlab.paths import PUBLISHED
from tomlab.records import files

PEOPLE = "Human"  # among the models of a table; "all models" does not mean people
_ADDRESS = re.compile(r"(?:(.+?): )?(\S+) (\S+) (.+)")
_Text = Annotated[str, Field(min_length=1)]


def read(benchmark: str, folder: Path = PUBLISHED) -> "Registry":
    """A benchmark's claims. Errors: `InputError` with file, claim and field."""
    path = Path(folder) / benchmark / "claims.yaml"
    content = params.parsed(files.read_text(path), path)
    if isinstance(content, dict) and isinstance(content.get("claims"), list):
        numbered_claims = enumerate(content["claims"], 1)
        refuse([*files.unfit(numbered_claims, Claim, "id", "claim")], str(path))
    return checked(Registry.model_validate, content, str(path))


class Address(NamedTuple):
    model: str
    method: str
    metric: str
    condition: str


class Comparison(NamedTuple):
    """combination: the names that fill the braces, as in "initial belief 1"."""

    combination: str
    a: Address
    b: Address | float


def address(text: str, model: str, names: dict[str, Any]) -> Address:
    """The parts of an address, its `{names}` filled, of `model` unless it names one itself."""
    match = _ADDRESS.fullmatch(text.format(**names))
    if match is None:
        raise ValueError(f"{text!r}: expected a method, a metric and a condition")
    named_model, method, metric, condition = match.groups()
    return Address(named_model or model, method, metric, condition)


class Printed(Section):
    """The address of the rows of a table, filled by row.

    n: independent answers behind each number, if known. interval: the columns of a printed one.
    """

    table: _Text
    value: _Text
    at: _Text
    where: str = "index >= 0"  # which rows, as in `DataFrame.query`
    n: int | None = None
    interval: Annotated[list[str], Field(min_length=2, max_length=2)] | None = None


class Test(Section):
    """a beside b, which may be a number, for each model and combination of `each` (`{names}`).

    direction: above (a - b > by), below (b - a > by), or none: the paper's word has no number
    ("good", "close"), so that the numbers are shown without a verdict. by: a distance that the
    paper prints. over: whether all, most or any of the comparisons have to hold, or, for each
    combination, the average over models; the claim's `scope` is the reason. models: which, if not
    all.
    """

    a: str
    b: str | float
    each: dict[str, list[str]] = Field(default_factory=dict)
    direction: Literal["above", "below", "none"]
    by: float = 0.0
    over: Literal["all", "most", "any", "average"]
    models: list[str] = Field(default_factory=list)

    @model_validator(mode="after")
    def _can_be_filled(self) -> "Test":
        try:
            self.comparisons("any")
        except (KeyError, IndexError) as error:
            raise ValueError(f"{error} in braces: expected a name in `each`") from None
        return self

    def comparisons(self, model: str) -> list[Comparison]:
        """What is compared for a model, by combination of `each`."""
        comparisons = []
        for values in product(*self.each.values()):
            names = dict(zip(self.each, values, strict=True))
            parts = [f"{key} {value}".replace("_", " ") for key, value in names.items()]
            a = address(self.a, model, names)
            b = address(self.b, model, names) if isinstance(self.b, str) else self.b
            comparisons.append(Comparison(", ".join(parts), a, b))
        return comparisons


class Claim(Section):
    """A sentence in our words.

    scope: whom and what the sentence is about, by the paper's words; the reason for `over`.
    reason: what limits the evidence: why there is no test or no verdict, why no published table
    decides, what the numbers can bear.
    """

    id: _Text
    claim: _Text
    place: _Text
    scope: _Text
    test: Annotated[Test | None, BeforeValidator(lambda given: None if given == "none" else given)]
    reason: str = ""

    @model_validator(mode="after")
    def _has_a_reason(self) -> "Claim":
        has_verdict = self.test is not None and self.test.direction != "none"
        if not has_verdict and not self.reason:
            raise ValueError("reason: found nothing, expected why there is no test or no verdict")
        return self


class Registry(Section):
    """A file. groups: the column that intervals cluster on; names: of metrics, by the tables'."""

    groups: _Text
    names: dict[str, str] = Field(default_factory=dict)
    printed: list[Printed]
    claims: list[Claim]
