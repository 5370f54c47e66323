"""BigToM's causal templates: reading, parsing and checking them (Sec. 3.1, 3.2, 3.4, App. A, C, G).

A template table has one row per template: `template_id, source, agent`, the variables in
`FIELDS`, one sentence each, and the labels `state, mechanism, medium` ("" where nobody gave one).
"""

import re
from collections.abc import Mapping
from pathlib import Path

import pandas as pd
import pandera.pandas as pa

from tomlab.asking.attempts import Unparsed, label_fault
from tomlab.errors import InputError, refuse
from tomlab.records import files

_VARIABLES = files.yaml_beside(__file__)
STORY, AFTER_STORY = _VARIABLES["story"], _VARIABLES["after_story"]
FIELDS = (*STORY, *AFTER_STORY)
LABELS = ("state", "mechanism", "medium")
QUESTIONS = ("belief_question", "desire_question", "action_question")
COLUMNS = ("template_id", "source", "agent", *FIELDS, *LABELS)
RELEASED_FIELDS = 1 + len(AFTER_STORY) + 2  # the story, the variables, two bookkeeping fields
HEADER = ("template_id", "agent", *FIELDS, "author")
_SOURCES = files.text(
    r"authored|(llm|edited):\S+", "authored, llm:<model> or edited:<model>", required=False
)
FORM = pa.DataFrameSchema(
    {name: files.text() for name in HEADER}
    | {name: files.text(required=False) for name in LABELS}
    | {"source": _SOURCES},
    unique=["template_id"],
    strict="filter",
)


def read_templates(path: Path | str, *, may_be_empty: bool = False) -> pd.DataFrame:
    """Read a template file: of `FORM` (comma-separated, with a header) or a released `bigtom.csv`.

    The layout tells which. Returns a template table; `source` is `released:<file name>`, else what
    the file says, by default `authored`. Errors: `InputError` with every row and field at fault.
    """
    path, first = Path(path), files.read_text(path).partition("\n")[0]
    if re.match(r'"?template_id\b', first):
        written = files.read_form(path, FORM).to_dict("records")
        rows = [{"source": "authored", **row} for row in written]
    elif first.count(";") >= RELEASED_FIELDS // 2:
        rows = _released_rows(path)
    else:
        known = f"the header {','.join(HEADER[:4])},… or {RELEASED_FIELDS} fields by ';'"
        raise InputError(f"{path}: row 1: found {first[:60]!r}, expected {known}")
    if not rows and not may_be_empty:
        raise InputError(f"{path}: no template in it")
    return template_table(rows)


def _released_rows(path: Path) -> list[dict]:
    rows, problems, first = [], [], {}
    for number, (story, *cells) in files.csv_rows(path, ";"):
        told = [part.strip() + "." for part in story.split(".") if part.strip()]
        if (earlier := first.setdefault((story, *cells), number)) != number:
            problems.append(f"row {number}: stands in row {earlier} too, expected once")
        elif (found := 1 + len(cells)) != RELEASED_FIELDS:
            problems.append(f"row {number}: found {found} fields, expected {RELEASED_FIELDS}")
        elif (found := len(told)) != len(STORY):
            what = f"found {found} sentences, expected {len(STORY)}"
            problems.append(f"row {number}, field story: {what}")
        else:
            row = dict(zip(FIELDS, [*told, *cells[:-2]], strict=True))
            problems += [f"row {number}, field {f}: found nothing" for f in FIELDS if not row[f]]
            ids = {"template_id": f"{path.stem}-{number:03d}", "source": f"released:{path.stem}"}
            rows.append({**ids, "agent": agent_name(row), **row})
    refuse(problems, str(path))
    return rows


def template_table(rows: list[dict]) -> pd.DataFrame:
    """Rows as a template table, labels that nobody gave as ""."""
    table = pd.DataFrame(rows, columns=list(COLUMNS), dtype=str)
    return table.fillna(dict.fromkeys(LABELS, ""))


def stories(templates: pd.DataFrame) -> list[str]:
    """The five sentences of each story, the belief included, one after the other."""
    return [" ".join(row) for row in templates[list(STORY)].to_numpy()]


def agent_name(template: Mapping[str, str]) -> str:
    """The agent's name: the word with which the initial-belief answer begins, if it is one."""
    first = re.match(r"[^\W\d_][\w-]*", template["belief_answer_not_aware"].strip())
    is_name = first and first[0][0].isupper() and first[0] not in ("The", "A", "An", "He", "She")
    return first[0] if is_name else ""


def label(name: str) -> str:
    """The label of a variable in a written-out template: "causal_event" -> "Causal event"."""
    return name.replace("_", " ").capitalize()


def written_out(template: Mapping[str, str]) -> str:
    """A template as labelled lines, the form in which the prompt shows and asks for them."""
    return "\n".join(f"{label(name)}: {template[name]}" for name in FIELDS)


def parse_generation(text: str) -> dict[str, str] | Unparsed:
    """One written-out template from a model's answer, or the reason why there is none.

    Strict: every label of `FIELDS` once, in order, each with text on its own line. The case of
    labels does not matter, nor do numbers before them and text before the first or after the last.
    """
    labels = [label(name) for name in FIELDS]
    line = r"(?m)^[\W\d]*([A-Za-z][A-Za-z ]+?)\W*?:[ \t*]*(.*?)[ \t\r*]*$"
    found = [(head.capitalize(), value) for head, value in re.findall(line, text)]
    found = [(head, value) for head, value in found if head in labels]
    if fault := label_fault(found, labels, "variables"):
        return Unparsed(fault)
    return {name: value for name, (_, value) in zip(FIELDS, found, strict=True)}


def sentences(text: str) -> int:
    """How many end marks before a capital or the end `text` has, those of abbreviations aside."""
    plain = re.sub(r"\b(Dr|Mr|Mrs|Ms|St|Prof)\.", r"\1", text)
    return len(re.findall(r"[.!?]+[\"'”’)]*(?=\s+[\"'“‘(]?[A-Z]|\s*\Z)", plain))


def structure_problems(template: Mapping[str, str]) -> list[str]:
    """What keeps a template from the assigned structure (Sec. 3.2, 3.4), one phrase a fault."""
    texts = {name: template[name].strip() for name in FIELDS}
    problems = [f"{name}: empty" for name, text in texts.items() if not text]
    counts = {name: sentences(text) for name, text in texts.items() if text}
    problems += [f"{name}: {n} sentences instead of one" for name, n in counts.items() if n != 1]
    problems += [f"{name}: not a question" for name in QUESTIONS if not texts[name].endswith("?")]
    agent = template["agent"]
    if agent and re.search(rf"\b{re.escape(agent)}\b", template["causal_event"]):
        problems.append("causal_event: mentions the agent")
    for kind in ("belief", "action"):
        options = [template[f"{kind}_answer_{who}"] for who in ("aware", "not_aware")]
        if len({" ".join(text.lower().strip(" .!?").split()) for text in options}) == 1:
            problems.append(f"{kind}_answer: both options are the same")
    return problems


def medium(template: Mapping[str, str]) -> str:
    """The medium of perception by the verb of `aware_of_event`, "" if it is in no list.

    "sees on the label" is seeing: the earliest verb of the sentence counts.
    """
    text = template["aware_of_event"].lower()
    media = _VARIABLES["media"].items()
    hits = {name: re.search(rf"\b({'|'.join(verbs)})\b", text) for name, verbs in media}
    starts = {name: hit.start() for name, hit in hits.items() if hit}
    return min(starts, key=starts.get, default="")
