"""What people are asked: for each form its file, schema and tasks (`tasks.yaml`).

Tasks are a table with a row for each thing to judge. Its column `shown` has what people see, pairs
of a heading and a text; `choices`, where it is there, what they may answer.
"""

from functools import reduce
from operator import getitem
from pathlib import Path
from pkgutil import resolve_name
from typing import Any

import pandas as pd
import pandera.pandas as pa

from tomlab import params, paths
from tomlab.benchmarks.fantom.items.sets import read_sets
from tomlab.benchmarks.omnitom.items.records import WORLD, read_records
from tomlab.errors import InputError
from tomlab.forms.sheet import Sheet
from tomlab.records import files

MOST = 9  # rows that one may match: a key each; people never needed more than three (App. B.4)
FORMS: dict[str, dict[str, Any]] = files.yaml_beside(__file__)


def open_sheet(name: str, who: str, results: Path | str) -> Sheet:
    """The answers of `who` to a form. results: the folder that the stages wrote."""
    form = FORMS[name]
    source = Path(results) / form["from"]
    if (found := paths.there(source)) is None:
        raise InputError(f"{source}: not there yet; `make figures` writes it")
    tasks = globals()[form["tasks"]](found, form)
    if tasks.empty:
        raise InputError(f"{source}: found nothing in this run that a person has to judge")
    return Sheet(*place(form), tasks, who, form)


def place(form: dict[str, Any]) -> tuple[Path, pa.DataFrameSchema]:
    """The file of a form, which params.yaml names, and its schema."""
    try:
        named = reduce(getitem, form["file"].split("."), params.load())
    except (KeyError, TypeError):
        raise InputError(f"params.yaml: {form['file']} is missing") from None
    schema = resolve_name(f"tomlab.{form['schema']}")
    schema = schema if isinstance(schema, pa.DataFrameSchema) else schema()
    return paths.user_path(named), schema


def table(path: Path, form: dict[str, Any]) -> pd.DataFrame:
    """The rows of a table that a stage wrote, under the headings that the form gives columns."""
    is_csv = path.suffix == ".csv"
    rows = files.read_form(path, pa.DataFrameSchema()) if is_csv else pd.read_parquet(path)
    if "status" in form:
        if "status" not in rows:
            raise InputError(f"{path}: found released items, expected a {form['status']} a row")
        rows = rows[rows["status"] == form["status"]]
    heads = form["shows"]
    shown = [[(heads[name], row[name]) for name in heads] for row in rows.to_dict("records")]
    return rows.assign(shown=shown)


def sets(path: Path, _: dict[str, Any]) -> pd.DataFrame:
    """FANToM's question sets with their conversations."""
    rows = []
    for one in read_sets(path):
        asked = [one["factQA"], *one["beliefQAs"]]
        asked += [one["answerabilityQA_list"], one["infoAccessibilityQA_list"]]
        shown = [("Conversation", one["full_context"])]
        for question, answer in ((qa["question"], qa["correct_answer"]) for qa in asked):
            shown.append((question, answer if isinstance(answer, str) else ", ".join(answer)))
        rows.append({"set_id": one["set_id"], "shown": shown})
    return pd.DataFrame(rows)


def beliefs(path: Path, _: dict[str, Any]) -> pd.DataFrame:
    """OmniToM's beliefs, each with its story."""
    rows = []
    for one in read_records(path):
        for number, said in enumerate(one["beliefs"], start=1):
            who = "A fact of the world" if said["actor"] == WORLD else f"{said['actor']} believes"
            shown = [("Story", one["story"]), (who, said["belief"])]
            rows.append({"story_id": str(one["story_id"]), "belief": str(number), "shown": shown})
    return pd.DataFrame(rows)


def matches(path: Path, form: dict[str, Any]) -> pd.DataFrame:
    """OmniToM's belief tables, each row beside the other table of its story, own actor first."""
    rows, shown, choices = table(path, form), [], []
    for row in rows.itertuples():
        others = rows[rows["story_id"].eq(row.story_id) & rows["system"].eq(row.system)]
        others = others[others["table"].ne(row.table)]
        own_first = sorted(others.itertuples(), key=lambda one: one.actor != row.actor)
        lines = "\n".join(f"{one.actor}: {one.belief}" for one in own_first)
        own = f"Row of the {row.table} table", f"{row.actor}: {row.belief}"
        side = {"gold": "prediction", "prediction": "gold"}[row.table]
        shown.append([own, (f"The {side} table", lines)])
        choices.append([str(n) for n in range(min(len(others), MOST) + 1)])
    return rows.assign(shown=shown, choices=choices)
