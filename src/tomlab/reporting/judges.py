"""How well judges agree with decisions known by construction, as a table (after OmniToM, App. B.4),
and the files that a calibration leaves.
"""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path

import pandas as pd

from tomlab.reporting import printed

QUALITIES = {
    "agreement": "Agreement",
    "precision": "Precision",
    "recall": "Recall",
    "kappa": "Kappa",
    "agreement_all": "Agreement, undefined as wrong",
}
_HOW = (
    "Agreement is per group, over the decisions that are defined on both sides, averaged over "
    "groups; precision, recall and kappa (Cohen's) are over all decisions. In brackets 95 % "
    "intervals that resample groups."
)
_TRUTH = (
    "Known by construction: texts were made by listed operations, and the operation is the label. "
    "Nobody judged them."
)


def agreement(name: str, found: pd.DataFrame, title: str) -> printed.Table:
    """One row a judge, its qualities with their intervals.

    name: of the table's files; found: of `judging.agreement_by_judge`; title: the task, for the caption.
    """
    cells = pd.concat(_cells(found), ignore_index=True)
    columns = {"judge": found["judge"]}
    for quality, head in QUALITIES.items():
        own = cells[cells["quality"] == quality].set_index("judge").loc[found["judge"]]
        form = printed.signed if quality == "kappa" else printed.share
        columns[head] = [
            printed.cell(row.value, row.ci_low, row.ci_high, form=form) for row in own.itertuples()
        ]
    counts = found[["n", "undefined", "n_groups"]].astype(int).astype(str)
    shown = pd.DataFrame(columns).rename(columns={"judge": "Judge"}).join(counts)
    caption = f"{title}: agreement of judges with decisions known by construction."
    notes = [
        _HOW,
        "n: decisions with a truth; undefined: those that the judge left open.",
        _TRUTH,
    ]
    return printed.Table(name, cells, shown, caption, notes)


def _cells(found: pd.DataFrame) -> Iterator[pd.DataFrame]:
    for quality in QUALITIES:
        ends = "ci" if quality == "agreement" else quality
        numbers = {"value": quality, "ci_low": f"{ends}_low", "ci_high": f"{ends}_high"}
        kept = found[["judge", "n", "n_groups"]]
        values = {to: found[of] for to, of in numbers.items()}
        yield kept.assign(quality=quality, **values, source=printed.RUN, mark="")


def save(folder: Path, winner: Mapping, **tables: pd.DataFrame) -> str:
    """Write what a calibration found: `winner.json`, and each table as `<name>.csv`.

    winner: the judge in use and what it was chosen by. Returns the text of `winner.json`.
    """
    for name, table in tables.items():
        table.to_csv(folder / f"{name}.csv", index=False)
    text = json.dumps(winner, indent=1) + "\n"
    (folder / "winner.json").write_text(text, encoding="utf-8")
    return text
