"""What people are asked: for each form its file, schema and tasks (`tasks.yaml`).

The column `shown` of the tasks has what people see, pairs of a heading and a text.
"""

from importlib import import_module
from pathlib import Path
from typing import Any

import pandas as pd
import pandera.pandas as pa

from tomlab import params, paths
from tomlab.benchmarks.bigtom.items import templates as bigtom
from tomlab.benchmarks.bigtom.items.writing import templates_of
from tomlab.benchmarks.fantom.items.sets import read_sets
from tomlab.benchmarks.omnitom.items.records import WORLD, read_records
from tomlab.benchmarks.simpletom.items.stories import story_text
from tomlab.benchmarks.simpletom.items.writing import stories_of
from tomlab.errors import InputError
from tomlab.forms.sheet import Sheet
from tomlab.records import files

MOST = 9  # rows that one may match: a key each; people never needed more than three (App. B.4)
FORMS: dict[str, dict[str, Any]] = files.yaml_beside(__file__)


def sheet(name: str, who: str, results: Path | str) -> Sheet:
    """The answers of `who` to a form. results: the folder that the stages wrote."""
    form = FORMS[name]
    tasks = globals()[form["tasks"]](paths.user_path(Path(results) / form["from"]))
    path = paths.user_file(file(name, params.load()))
    return Sheet(path, schema(name), tasks, who, form.get("whole", ()))


def file(name: str, content: dict[str, Any]) -> str:
    """The file of a form by what `params.load` gave."""
    section, _, option = FORMS[name]["file"].rpartition(".")
    return params.section(content, section)[option]


def schema(name: str) -> pa.DataFrameSchema:
    """The schema of a form's file, of whatever is judged."""
    module, found = FORMS[name]["schema"].split(":")
    found = getattr(import_module(f"tomlab.{module}"), found)
    return found if isinstance(found, pa.DataFrameSchema) else found()


def templates(path: Path) -> pd.DataFrame:
    """BigToM's templates, as filtering reads them."""
    table = templates_of(pd.read_parquet(path))
    shown = [
        [(bigtom.label(name), one[name]) for name in bigtom.FIELDS]
        for one in table.to_dict("records")
    ]
    return table[["template_id"]].assign(shown=shown)


def sets(path: Path) -> pd.DataFrame:
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


def stories(path: Path) -> pd.DataFrame:
    """SimpleToM's stories with what the person may do next."""
    raw = pd.read_parquet(path)
    if "status" not in raw:
        raise InputError(f"{path}: found released questions, expected stories")
    heads = {"person_x": "Person X", "key_information": "Key information"}
    heads |= {"question": "What happens next", "unaware_action": "A", "aware_action": "B"}
    table = stories_of(raw)
    shown = [
        [("Story", story_text(one)), *((heads[name], one[name]) for name in heads)]
        for one in table.to_dict("records")
    ]
    return table[["story_id"]].assign(shown=shown)


def beliefs(path: Path) -> pd.DataFrame:
    """OmniToM's beliefs, each with its story."""
    rows = []
    for one in read_records(path):
        for number, said in enumerate(one["beliefs"], start=1):
            who = "A fact of the world" if said["actor"] == WORLD else f"{said['actor']} believes"
            shown = [("Story", one["story"]), (who, said["belief"])]
            rows.append({"story_id": str(one["story_id"]), "belief": str(number), "shown": shown})
    return pd.DataFrame(rows)


def answers(path: Path) -> pd.DataFrame:
    """The answers that name no option, of a form that calibration wrote."""
    table = pd.read_csv(path, dtype=str, keep_default_na=False)
    heads = {"question": "Question", "option_a": "a", "option_b": "b", "answer": "Answer"}
    shown = [[(heads[n], row[n]) for n in heads] for row in table.to_dict("records")]
    return table.drop(columns=["meaning", "annotator"]).assign(shown=shown)


def matches(path: Path) -> pd.DataFrame:
    """OmniToM's belief tables, of a form that calibration wrote: each row beside the other table of
    its story, the beliefs of its actor first.
    """
    table = pd.read_csv(path, dtype=str, keep_default_na=False)
    tables = dict(list(table.groupby(["story_id", "system", "table"])))
    shown, allowed = [], []
    for row in table.itertuples():
        side = {"gold": "prediction", "prediction": "gold"}[row.table]
        others = tables.get((row.story_id, row.system, side), table[:0])
        own_first = sorted(others.itertuples(), key=lambda one: one.actor != row.actor)
        lines = "\n".join(f"{one.actor}: {one.belief}" for one in own_first)
        own = f"Row of the {row.table} table", f"{row.actor}: {row.belief}"
        shown.append([own, (f"The {side} table", lines)])
        allowed.append([str(n) for n in range(min(len(others), MOST) + 1)])
    return table.drop(columns="annotator").assign(shown=shown, match_count=allowed)
