"""Reads each paper's claims, each with a test, from `data/published/<benchmark>/claims.yaml`.

A claim addresses a number as a run's metrics do, by method, metric and condition: "0-shot accuracy
forward_belief/true_belief/1". This means every model; "gpt-4: 0-shot …" means one model.
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

PEOPLE = "Human"  # a row beside the models in a table; "all models" excludes it
_ADDRESS = re.compile(r"(?:(.+?): )?(\S+) (\S+) (.+)")
_Text = Annotated[str, Field(min_length=1)]


def read(benchmark: str, folder: Path = PUBLISHED) -> "Registry":
    """A benchmark's claims. Errors: `InputError` names the file, the claim and the field."""
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
    """Two numbers to compare. combination: what fills the braces, such as "initial belief 1"."""

    combination: str
    a: Address
    b: Address | float


def address(text: str, model: str, names: dict[str, Any]) -> Address:
    """Fills the `{names}` in an address and splits it. model: used if the address names none.

    Errors: `ValueError` if the address lacks a method, a metric or a condition.
    """
    match = _ADDRESS.fullmatch(text.format(**names))
    if match is None:
        raise ValueError(f"{text!r}: expected a method, a metric and a condition")
    named_model, method, metric, condition = match.groups()
    return Address(named_model or model, method, metric, condition)


class Printed(Section):
    """The addresses of the numbers in a published table; each row fills the braces in `at`.

    n: the number of independent answers behind each number, if known. interval: the two columns
    that hold a printed interval.
    """

    table: _Text
    value: _Text
    at: _Text
    where: str = "index >= 0"  # the rows to use, in the syntax of `DataFrame.query`
    n: int | None = None
    interval: Annotated[list[str], Field(min_length=2, max_length=2)] | None = None


class Test(Section):
    """Compares a with b, for each model and each combination of values in `each`.

    a, b: addresses, with names of `each` in braces; b may be a number. direction: above means
    a - b > by, below means b - a > by; none means that the paper's word has no number ("good",
    "close"), so the numbers are shown without a verdict. by: a distance that the paper prints.
    over: whether all, most or any comparisons must hold, or the average over models for each
    combination; the claim's `scope` says why. models: those compared, if not all.
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
        """The comparisons for one model, one for each combination of values in `each`."""
        comparisons = []
        for values in product(*self.each.values()):
            names = dict(zip(self.each, values, strict=True))
            parts = [f"{key} {value}".replace("_", " ") for key, value in names.items()]
            a = address(self.a, model, names)
            b = address(self.b, model, names) if isinstance(self.b, str) else self.b
            comparisons.append(Comparison(", ".join(parts), a, b))
        return comparisons


class Claim(Section):
    """One claim of a paper, in our words. place: where the paper makes it.

    scope: the models and conditions that the paper's words cover; it justifies the test's `over`.
    reason: what limits the evidence, such as why there is no test or no verdict, or why no
    published table decides the claim.
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
    """A claims file. groups: the column that intervals cluster on; names: a metric's name for each
    name that the tables use.
    """

    groups: _Text
    names: dict[str, str] = Field(default_factory=dict)
    printed: list[Printed]
    claims: list[Claim]
