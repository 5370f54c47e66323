"""What a paper says it found, each sentence as a test: `data/published/<benchmark>/claims.yaml`.

A number has the address that it has in a run's metrics, whoever reports it: a method, a metric and
a condition, "0-shot accuracy forward_belief/true_belief/1". It is of each model in turn, unless the
model stands before it, "gpt-4: 0-shot …". So one test reads a paper's tables, a run, and verdicts
of others.
"""

import re
from itertools import product
from pathlib import Path
from typing import Annotated, Any, Literal

import yaml
from pydantic import Field, model_validator

from tomlab.errors import InputError, refuse
from tomlab.params import Section, checked
from tomlab.paths import PUBLISHED
from tomlab.records import files

PEOPLE = "Human"  # among the models of a table; "all models" does not mean people
_ADDRESS = r"^(?:(?P<model>.+?): )?(?P<method>\S+) (?P<metric>\S+) (?P<condition>.+)$"
Address = tuple[str, str, str, str]  # model, method, metric, condition
_Text = Annotated[str, Field(min_length=1)]
_At = Annotated[str, Field(pattern=_ADDRESS)]


def address(text: str, model: str, named: dict[str, Any]) -> Address:
    """The parts of an address, its `{names}` filled, of `model` unless it names one itself."""
    own, *parts = re.match(_ADDRESS, text.format(**named)).groups()
    return (own or model, *parts)


class Printed(Section):
    """Where rows of a published table stand: `{column}` is filled by row. where: which rows, as in
    `DataFrame.query`; n: the answers behind each share, where the paper says so.
    """

    table: _Text
    value: _Text
    at: _At
    where: str = "index >= 0"
    n: int | None = None


class Test(Section):
    """a beside b, which may be a number, for each model and combination of `each` (`{names}`).

    direction: above (a - b > by), below (b - a > by), near (|a - b| < by). over: whether all of the
    comparisons, most or any have to hold. models: which, if not all.
    """

    a: _At
    b: _At | float
    each: dict[str, list[str]] = Field(default_factory=dict)
    direction: Literal["above", "below", "near"]
    by: float = 0.0
    over: Literal["all", "most", "any"] = "all"
    models: list[str] = Field(default_factory=list)

    @model_validator(mode="after")
    def _can_be_filled(self) -> "Test":
        try:
            self.sides("any")
        except (KeyError, IndexError, ValueError) as error:
            raise ValueError(f"braces: found {error}, expected a name in `each`") from None
        if self.direction == "near" and self.by <= 0:
            raise ValueError("by: expected a number above 0, how near is near")
        return self

    def sides(self, model: str) -> list[tuple[str, Address, Address | float]]:
        """By combination of `each` its name, and where a and b of a model stand."""
        found = []
        for values in product(*self.each.values()):
            named = dict(zip(self.each, values, strict=True))
            b = self.b if isinstance(self.b, float) else address(self.b, model, named)
            found.append((", ".join(values), address(self.a, model, named), b))
        return found


class Claim(Section):
    """A sentence in our words. test: or "none: why"; unprinted: why the paper's tables can't decide
    what other numbers can.
    """

    id: _Text
    claim: _Text
    place: _Text
    test: Test | Annotated[str, Field(pattern="^none: .+")]
    unprinted: str = ""


class Registry(Section):
    """A file. groups: the column of scores that intervals cluster on; names: what the tables call
    otherwise than a run's metrics.
    """

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
        claims = enumerate(content["claims"], 1)
        refuse([*files.unfit(claims, Claim, "id", "claim")], str(path))
    return checked(Registry.model_validate, content, str(path))
