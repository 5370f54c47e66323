"""Reads where the project departs from a paper or its release: `data/published/deviations.yaml`.

docs/fidelity.md is generated from that file, and each evaluation page shows rows of it.
"""

from pathlib import Path
from typing import Annotated, Literal

import pandas as pd
from pydantic import Field

from tomlab import params
from tomlab.errors import refuse
from tomlab.params import Section, checked
from tomlab.paths import PUBLISHED
from tomlab.records import files

ALL = "all"  # in the field `benchmark`: the deviation concerns every benchmark

_Text = Annotated[str, Field(min_length=1)]
_Stage = Literal["generation", "filtering", "evaluation", "scoring", "judging", "figures"]


class Deviation(Section):
    """One deviation. The comment at the head of the YAML file explains each field."""

    id: Annotated[str, Field(pattern=r"^[A-Z]{3}-[1-9][0-9]*$")]
    benchmark: _Text
    stage: _Stage
    title: _Text
    paper: _Text
    release: str
    ours: _Text
    why: _Text
    by_parameter: str
    effect: _Text


class Register(Section):
    """The content of the file."""

    deviations: list[Deviation]


def read(folder: Path = PUBLISHED) -> list[Deviation]:
    """All deviations in file order. Errors: `InputError` names each wrong row and field."""
    path = Path(folder) / "deviations.yaml"
    content = params.parsed(files.read_text(path), path)
    if isinstance(content, dict) and isinstance(content.get("deviations"), list):
        rows = enumerate(content["deviations"], 1)
        refuse([*files.unfit(rows, Deviation, "id", "deviation")], str(path))
    return checked(Register.model_validate, content, str(path)).deviations


def table(benchmark: str, *stages: str, folder: Path = PUBLISHED) -> pd.DataFrame:
    """One row for each deviation of `stages` that concerns the benchmark, in the order of the file.

    Columns: No., What, Paper or release, Here, Effect.
    """
    rows = []
    for deviation in read(folder):
        if deviation.benchmark not in (ALL, benchmark) or deviation.stage not in stages:
            continue
        printed = f"Paper: {deviation.paper}"
        if deviation.release:
            printed += f"\nRelease: {deviation.release}"
        row = {
            "No.": deviation.id,
            "What": deviation.title,
            "Paper or release": printed,
            "Here": deviation.ours,
            "Effect": deviation.effect,
        }
        rows.append(row)
    return pd.DataFrame(rows)
