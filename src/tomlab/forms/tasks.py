"""What people are asked: for each form its file, schema and tasks (`tasks.yaml`), whose column
`shown` has what they see of each, pairs of a heading and a text.
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
    return pd.DataFrame(
        {"template_id": one["template_id"]}
        | {"shown": [(bigtom.label(name), one[name]) for name in bigtom.FIELDS]}
        for one in templates_of(pd.read_parquet(path)).to_dict("records")
    )


def sets(path: Path) -> pd.DataFrame:
    """FANToM's question sets with their conversations."""
    rows = []
    for one in read_sets(path):
        asked = [one["factQA"], *one["beliefQAs"]]
        asked += [one["answerabilityQA_list"], one["infoAccessibilityQA_list"]]
        answers = [(qa["question"], _text(qa["correct_answer"])) for qa in asked]
        shown = [("Conversation", one["full_context"]), *answers]
        rows.append({"set_id": one["set_id"], "shown": shown})
    return pd.DataFrame(rows)


def _text(answer: str | list[str]) -> str:
    return answer if isinstance(answer, str) else ", ".join(answer)


def stories(path: Path) -> pd.DataFrame:
    """SimpleToM's stories with what the person may do next."""
    raw = pd.read_parquet(path)
    if "status" not in raw:
        raise InputError(f"{path}: found released questions, expected stories")
    heads = {"person_x": "Person X", "key_information": "Key information"}
    heads |= {"question": "What happens next", "unaware_action": "A", "aware_action": "B"}
    return pd.DataFrame(
        {"story_id": one["story_id"]}
        | {"shown": [("Story", story_text(one)), *((heads[n], one[n]) for n in heads)]}
        for one in stories_of(raw).to_dict("records")
    )


def beliefs(path: Path) -> pd.DataFrame:
    """OmniToM's beliefs, each with its story."""
    rows = []
    for one in read_records(path):
        for number, said in enumerate(one["beliefs"], start=1):
            who = "A fact of the world" if said["actor"] == WORLD else f"{said['actor']} believes"
            shown = [("Story", one["story"]), (who, said["belief"])]
            rows.append({"story_id": str(one["story_id"]), "belief": str(number), "shown": shown})
    return pd.DataFrame(rows)


def _to_label(path: Path, *open_: str) -> pd.DataFrame:
    """A form that calibration wrote, without what people are to fill in."""
    (_, header), *rows = files.csv_rows(path)
    table = pd.DataFrame([cells for _, cells in rows], columns=header, dtype=str)
    return table.drop(columns=[*open_, "annotator"])


def answers(path: Path) -> pd.DataFrame:
    """Answers that name no option."""
    table = _to_label(path, "meaning")
    heads = {"question": "Question", "option_a": "a", "option_b": "b", "answer": "Answer"}
    rows = table.to_dict("records")
    return table.assign(shown=[[(heads[name], row[name]) for name in heads] for row in rows])


def matches(path: Path) -> pd.DataFrame:
    """OmniToM's belief tables, each row beside the other table of its story, its actor's first."""
    table, shown, allowed = _to_label(path, "match_count"), [], []
    sides: dict[tuple, list] = {}
    for row in table.itertuples():
        sides.setdefault((row.story_id, row.system, row.table), []).append((row.actor, row.belief))
    for row in table.itertuples():
        side = {"gold": "prediction", "prediction": "gold"}[row.table]
        others = sides.get((row.story_id, row.system, side), [])
        lines = map(": ".join, sorted(others, key=lambda said, own=row.actor: said[0] != own))
        own = f"{row.actor}: {row.belief}"
        shown.append(
            [(f"Row of the {row.table} table", own), (f"The {side} table", "\n".join(lines))]
        )
        allowed.append([str(n) for n in range(min(len(others), MOST) + 1)])
    return table.assign(shown=shown, match_count=allowed)
