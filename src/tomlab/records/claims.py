"""What a paper says it found, each sentence as a test: `data/published/<benchmark>/claims.yaml`.

A number has the address that it has in a run's metrics: method, metric, condition, as in "0-shot
accuracy forward_belief/true_belief/1", of each model unless one stands before, "gpt-4: 0-shot …".
"""

import re
from itertools import product
from pathlib import Path
from typing import Annotated, Any, Literal

import yaml
from pydantic import BeforeValidator, Field, model_validator

from tomlab.errors import InputError, refuse
from tomlab.params import Section, checked
from tomlab.paths import PUBLISHED
from tomlab.records import files

PEOPLE = "Human"  # among the models of a table; "all models" does not mean people
_ADDRESS = re.compile(r"(?:(.+?): )?(\S+) (\S+) (.+)")
Address = tuple[str, str, str, str]  # model, method, metric, condition
_Text = Annotated[str, Field(min_length=1)]


def address(text: str, model: str, named: dict[str, Any]) -> Address:
    """The parts of an address, its `{names}` filled, of `model` unless it names one itself."""
    if not (found := _ADDRESS.fullmatch(text.format(**named))):
        raise ValueError(f"{text!r}: expected a method, a metric and a condition")
    own, *parts = found.groups()
    return (own or model, *parts)


class Printed(Section):
    """The address of the rows of a table, filled by row. n: answers behind each, if printed."""

    table: _Text
    value: _Text
    at: _Text
    where: str = "index >= 0"  # which rows, as in `DataFrame.query`
    n: int | None = None


class Test(Section):
    """a beside b, which may be a number, for each model and combination of `each` (`{names}`).

    direction: above (a - b > by), below (b - a > by), near (|a - b| < by). over: whether all of the
    comparisons, most or any have to hold. models: which, if not all.
    """

    a: str
    b: str | float
    each: dict[str, list[str]] = Field(default_factory=dict)
    direction: Literal["above", "below", "near"]
    by: float = 0.0
    over: Literal["all", "most", "any"] = "all"
    models: list[str] = Field(default_factory=list)

    @model_validator(mode="after")
    def _can_be_filled(self) -> "Test":
        try:
            self.sides("any")
        except (KeyError, IndexError) as error:
            raise ValueError(f"{error} in braces: expected a name in `each`") from None
        if self.direction == "near" and self.by <= 0:
            raise ValueError("by: expected how near is near, above 0")
        return self

    def sides(self, model: str) -> list[tuple[str, Address, Address | float]]:
        """By combination of `each` its name, and where a and b of a model stand."""
        found = []
        for values in product(*self.each.values()):
            named = dict(zip(self.each, values, strict=True))
            b = self.b if isinstance(self.b, float) else address(self.b, model, named)
            name = ", ".join(f"{key} {value}" for key, value in named.items()).replace("_", " ")
            found.append((name, address(self.a, model, named), b))
        return found


class Claim(Section):
    """A sentence in our words. reason: why there is no test, or why no published table decides."""

    id: _Text
    claim: _Text
    place: _Text
    test: Annotated[Test | None, BeforeValidator(lambda given: None if given == "none" else given)]
    reason: str = ""

    @model_validator(mode="after")
    def _has_a_reason(self) -> "Claim":
        if not (self.test or self.reason):
            raise ValueError("reason: found nothing, expected why there is no test")
        return self


class Registry(Section):
    """A file. groups: the column that intervals cluster on; names: of metrics, by the tables'."""

    groups: _Text
    names: dict[str, str] = Field(default_factory=dict)
    printed: list[Printed]
    claims: list[Claim]


def read(benchmark: str, folder: Path = PUBLISHED) -> Registry:
    """A benchmark's claims. Errors: `InputError` with file, claim and field."""
    path = Path(folder) / benchmark / "claims.yaml"
    try:
        content = yaml.safe_load(files.read_text(path))
    except yaml.YAMLError as error:
        raise InputError(f"{path}: cannot be read as YAML ({error})") from None
    if isinstance(content, dict) and isinstance(content.get("claims"), list):
        refuse([*files.unfit(enumerate(content["claims"], 1), Claim, "id", "claim")], str(path))
    return checked(Registry.model_validate, content, str(path))
