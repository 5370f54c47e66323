"""What people are asked: the file, schema and tasks of each form (`tasks.yaml`).

Tasks are a table with one row for each thing to judge. Its column `shown` has what people see, as
pairs of a heading and a text. A column `choices`, if there is one, has the answers allowed.
"""

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

# The most matching rows that a person can enter, since a number is one key to press. People never
# needed more than three (App. B.4).
MOST_MATCHES = 9
FORMS: dict[str, dict[str, Any]] = files.yaml_beside(__file__)


def open_sheet(name: str, who: str, results: Path | str) -> Sheet:
    """The sheet of a person's answers to a form. name: the form's, in `tasks.yaml`; who: the
    person's name; results: the folder that the stages wrote. Errors: `InputError` if the stages
    have not written the form's source, or if it holds nothing to judge.
    """
    form = FORMS[name]
    source = Path(results) / form["from"]
    path = paths.there(source)
    if path is None:
        raise InputError(f"{source}: not there yet; `make figures` writes it")
    tasks = globals()[form["tasks"]](path, form)
    if tasks.empty:
        raise InputError(f"{source}: found nothing in this run that a person has to judge")
    return Sheet(*place(form), tasks, who, form)


def place(form: dict[str, Any]) -> tuple[Path, pa.DataFrameSchema]:
    """The path of a form's file, which params.yaml names, and the schema of that file."""
    path: Any = params.load()
    try:
        for key in form["file"].split("."):
            path = path[key]
    except (KeyError, TypeError):
        raise InputError(f"params.yaml: {form['file']} is missing") from None
    schema = resolve_name(f"tomlab.{form['schema']}")
    if not isinstance(schema, pa.DataFrameSchema):
        schema = schema()
    return paths.user_path(path), schema


def table(path: Path, form: dict[str, Any]) -> pd.DataFrame:
    """Tasks from a table that a stage wrote: its rows, with the columns that the form shows under
    the form's headings. If the form names a status, only rows with this status.
    """
    is_csv = path.suffix == ".csv"
    rows = files.read_form(path, pa.DataFrameSchema()) if is_csv else pd.read_parquet(path)
    if "status" in form:
        if "status" not in rows:
            raise InputError(f"{path}: found released items, expected a {form['status']} a row")
        rows = rows[rows["status"] == form["status"]]
    texts = []
    for row in rows.to_dict("records"):
        texts.append([(heading, row[name]) for name, heading in form["shows"].items()])
    return rows.assign(shown=texts)


def sets(path: Path, _: dict[str, Any]) -> pd.DataFrame:
    """Tasks from FANToM's question sets: each conversation with its questions and right answers."""
    rows = []
    for record in read_sets(path):
        questions = [record["factQA"], *record["beliefQAs"]]
        questions += [record["answerabilityQA_list"], record["infoAccessibilityQA_list"]]
        texts = [("Conversation", record["full_context"])]
        for question in questions:
            answer = question["correct_answer"]
            if not isinstance(answer, str):
                answer = ", ".join(answer)
            texts.append((question["question"], answer))
        rows.append({"set_id": record["set_id"], "shown": texts})
    return pd.DataFrame(rows)


def beliefs(path: Path, _: dict[str, Any]) -> pd.DataFrame:
    """Tasks from OmniToM's records: one for each belief, with its story."""
    rows = []
    for record in read_records(path):
        story = {"story_id": str(record["story_id"])}
        for number, belief in enumerate(record["beliefs"], start=1):
            heading = f"{belief['actor']} believes"
            if belief["actor"] == WORLD:
                heading = "A fact of the world"
            texts = [("Story", record["story"]), (heading, belief["belief"])]
            rows.append({**story, "belief": str(number), "shown": texts})
    return pd.DataFrame(rows)


def matches(path: Path, form: dict[str, Any]) -> pd.DataFrame:
    """Tasks from OmniToM's belief tables (gold and predicted): each row of one table, beside the
    other table for the same story and system. People answer how many rows of it match.
    """
    rows = table(path, form)
    columns = ["story_id", "system", "table"]
    tables = {key: part.to_dict("records") for key, part in rows.groupby(columns)}
    texts = []
    choices = []
    for row in rows.to_dict("records"):
        other_table = "prediction" if row["table"] == "gold" else "gold"
        candidates = tables.get((row["story_id"], row["system"], other_table), [])
        # The beliefs of the row's actor come first.
        candidates = sorted(candidates, key=lambda candidate: candidate["actor"] != row["actor"])
        lines = [f"{candidate['actor']}: {candidate['belief']}" for candidate in candidates]
        heading = f"Row of the {row['table']} table"
        belief = f"{row['actor']}: {row['belief']}"
        texts.append([(heading, belief), (f"The {other_table} table", "\n".join(lines))])
        limit = min(len(candidates), MOST_MATCHES)
        choices.append([str(number) for number in range(limit + 1)])
    return rows.assign(shown=texts, choices=choices)
