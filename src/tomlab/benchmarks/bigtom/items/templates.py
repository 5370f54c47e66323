"""BigToM's causal templates: reading and checking them (Sec. 3.1, 3.2, 3.4, App. A, C, G).

A template table has one row per template: `template_id, source, agent`, the variables in
`FIELDS`, one sentence each, and the labels `state, mechanism, medium` ("" if nobody gave one).
"""

import re
from collections.abc import Mapping
from pathlib import Path

import pandas as pd
import pandera.pandas as pa

from tomlab.errors import InputError, refuse
from tomlab.records import files
from tomlab.scoring.same_keys import likeness_of

_VARIABLES = files.yaml_beside(__file__)
STORY = _VARIABLES["story"]
AFTER_STORY = _VARIABLES["after_story"]
FIELDS = (*STORY, *AFTER_STORY)
LABELS = ("state", "mechanism", "medium")
COLUMNS = ("template_id", "source", "agent", *FIELDS, *LABELS)
LAYOUT = ("story", *AFTER_STORY, "writer", "template_id")  # the release's 19 fields


def read_templates(path: Path | str, *, may_be_empty: bool = False) -> pd.DataFrame:
    """The templates of a file in the layout of the released `bigtom.csv`, as a template table.

    The file has no header; semicolons separate the fields of `LAYOUT`. In the release, the last two
    fields are bookkeeping: "auto" or "user", and a 0. For these rows, `source` is `released:<file
    name>` and the id is made from the file's name and the row's number. In other files, the writer
    (`authored`, `llm:<model>` or `edited:<model>`) becomes the `source`, and the last field is the
    template's id. Labels come from `<file name>.labels.csv` in the same folder, if there is one.
    may_be_empty: whether a file without templates is allowed. Errors: `InputError` with every row
    and field at fault.
    """
    path = Path(path)
    table = files.read_form(path, FORM, header=LAYOUT, delimiter=";")
    if table.empty and not may_be_empty:
        raise InputError(f"{path}: no template in it")
    is_released = table["writer"].isin(["auto", "user"])
    numbers = [f"{path.stem}-{row:03d}" for row in table.index]
    table["template_id"] = table["template_id"].mask(is_released, numbers)
    table["source"] = table["writer"].mask(is_released, f"released:{path.stem}")
    is_repeated = table.duplicated("template_id") | table.duplicated([*LAYOUT[:-2]])
    rows = table.index[is_repeated]
    refuse([f"row {row}: its texts or its template_id stand above" for row in rows], str(path))
    table[[*STORY]] = table["story"].str.extract(SENTENCES) + "."
    table["agent"] = table["belief_answer_not_aware"].map(agent_name)
    label_path = path.with_suffix(".labels.csv")
    if label_path.is_file():
        labels = files.read_form(label_path, LABEL_FORM)
        table = table.merge(labels, how="left", on="template_id")
    return template_table(table.to_dict("records"))


# Matches a story's five sentences: the released code splits a story at every full stop.
SENTENCES = "".join(rf"\s*(?P<{name}>[^.\s][^.]*?)\s*\." for name in STORY)
FORM = pa.DataFrameSchema(
    {name: files.text() for name in LAYOUT}
    | {
        "story": files.text(SENTENCES, "five sentences, each ended by the only full stop in it"),
        "writer": files.text(
            r"auto|user|authored|(llm|edited):\S+",
            "authored, llm:<model>, edited:<model> or, in the release, auto or user",
        ),
    },
)
LABEL_FORM = pa.DataFrameSchema(
    {"template_id": files.text()} | {name: files.text(".*", required=False) for name in LABELS},
    unique=["template_id"],
    strict="filter",
)


def template_table(rows: list[dict]) -> pd.DataFrame:
    """Rows as a template table, in which labels that nobody gave are ""."""
    return pd.DataFrame(rows, columns=[*COLUMNS], dtype=str).fillna("")


def stories(templates: pd.DataFrame) -> list[str]:
    """Each template's story: its five sentences, including the belief, joined by spaces."""
    return [" ".join(row) for row in templates[list(STORY)].to_numpy()]


def agent_name(answer: str) -> str:
    """The agent's name: the first word of the initial-belief answer, or "" if it is no name."""
    name = re.match(r"(?!(?:The|An?|He|She)\b)[^\W\d_a-z][\w-]*", answer)
    return name[0] if name else ""


def label(name: str) -> str:
    """The label of a variable in a written-out template: "causal_event" -> "Causal event"."""
    return name.replace("_", " ").capitalize()


def written_out(template: Mapping[str, str]) -> str:
    """A template as labelled lines, the form in which the prompt shows and asks for them."""
    return "\n".join(f"{label(name)}: {template[name]}" for name in FIELDS)


def sentences(text: str) -> int:
    """How many sentences `text` has: end marks before a capital or the end, except in "Dr." etc."""
    plain = re.sub(r"\b(Dr|Mr|Mrs|Ms|St|Prof)\.", r"\1", text)
    return len(re.findall(r"[.!?]+[\"'”’)]*(?=\s+[\"'“‘(]?[A-Z]|\s*\Z)", plain))


def structure_problems(template: Mapping[str, str]) -> list[str]:
    """How a template departs from the required structure (Sec. 3.2, 3.4), one phrase per fault."""
    problems = []
    for name in FIELDS:
        count = sentences(template[name])
        if count != 1:
            problems.append(f"{name}: {count} sentences instead of one")
        if name.endswith("question") and not template[name].endswith("?"):
            problems.append(f"{name}: not a question")
    agent = template["agent"]
    if agent and re.search(rf"\b{re.escape(agent)}\b", template["causal_event"]):
        problems.append("causal_event: mentions the agent")
    for kind in ("belief", "action"):
        if likeness_of(template[f"{kind}_answer_aware"], template[f"{kind}_answer_not_aware"]):
            problems.append(f"{kind}_answer: both options are the same")
    return problems


def medium(template: Mapping[str, str]) -> str:
    """The medium of perception that the first listed verb of `aware_of_event` shows, as in "sees on
    the label" (sees); "" if the sentence has no listed verb.
    """
    verb = MEDIA.search(template["aware_of_event"].lower())
    return str(verb.lastgroup) if verb else ""


_VERBS = [rf"\b(?P<{name}>{verbs})\b" for name, verbs in _VARIABLES["media"].items()]
MEDIA = re.compile("|".join(_VERBS))
