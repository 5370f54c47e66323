"""FANToM's quality control: rule filters, the mentalizing criterion, flags (Sec. 2.2, 3.4, 3.5).

Rules read records (see `sets`) and report faults; they change nothing. In the paper, three people
looked at each conversation and one at the answers. Here people's verdicts come from a flags file.
"""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import chain, pairwise

import pandas as pd
import pandera.pandas as pa

from tomlab.benchmarks.fantom.items.attendance import WORDINGS
from tomlab.benchmarks.fantom.items.contexts import folded, speakers, turns
from tomlab.benchmarks.fantom.items.sets import scenario_of, source_of
from tomlab.records import files
from tomlab.scoring.kept import is_released

COLUMNS = ["set_id", "source", "rule", "found", "dropped"]
_WORDS = files.yaml_beside(__file__)
RULES = _WORDS["rules"]
KINDS = _WORDS["kinds"]
STOP_WORDS = set(_WORDS["stop_words"].split())
ANSWERS = {"right_overlap": "correct_answer", "wrong_overlap": "wrong_answer"}
Faults = Iterator[tuple[str, str]]  # the name of a rule, and what breaks it


def faults(sets: Sequence[Mapping]) -> pd.DataFrame:
    """Every fault of every set, with `COLUMNS`: `rule` is one of `RULES`, and `found` says what
    breaks it. A fault drops its set unless the set is released: without some of the released sets
    it would be another benchmark.
    """
    rows = []
    for record in sets:
        for rule, fault in chain(text_faults(record), contradictions(record)):
            rows.append((record["set_id"], source_of(record), rule, fault))
    table = pd.DataFrame(rows, columns=COLUMNS[:-1])
    return table.assign(dropped=~is_released(table["source"]))


def text_faults(record: Mapping) -> Faults:
    """Faults of the text: lines that are no turn or repeat the line before, and a short context
    that is no part of the full one.
    """
    full = _lines(record["full_context"])
    for line in full:
        if not turns(line):
            yield "no turn", f"found {files.shown(line)}, expected 'Name: text'"
    short = "\n".join(_lines(record["short_context"]))
    if f"\n{short}\n" not in "\n".join(["", *full, ""]):
        yield "not in full", "the short context is no part of the full one"
    for line, following in pairwise(full):
        if line == following:
            yield "repeated line", f"two lines in a row are {files.shown(line)}"


def _lines(context: str) -> list[str]:
    return [" ".join(line.split()) for line in context.splitlines() if line.strip()]


def contradictions(record: Mapping) -> Faults:
    """Faults of the answers: beliefs whose two answers are the same, and lists of who knows that
    contradict themselves or the yes/no questions.
    """
    for belief in record["beliefQAs"]:
        if folded(belief["correct_answer"]) == folded(belief["wrong_answer"]):
            yield "equal answers", repr(belief["question"])
    for family in WORDINGS:
        listed = record[f"{family}QA_list"]
        aware = set(map(folded, listed["correct_answer"]))
        for name in sorted(aware.intersection(map(folded, listed["wrong_answer"]))):
            yield "contradiction", f"{family}: {name} listed as aware and as unaware"
        for question in record[f"{family}QAs_binary"]:
            key = question["correct_answer"]
            text = question["question"]
            name = folded(text.removeprefix("Does ").partition(" know")[0])
            if (key == "yes") != (name in aware):
                yield "contradiction", f"{family}: {key!r} to {text!r}, unlike the list"


def overlap(sets: Sequence[Mapping]) -> pd.DataFrame:
    """The mentalizing criterion of Sec. 2.2: one row per belief question, with `set_id`, the
    question's own fields, `scenario`, `right_overlap`, `wrong_overlap` and `meets`.

    An overlap is the share of an answer's content words (no `STOP_WORDS`, no names) that the short
    context contains, or 0 for an answer without content words. meets: whether the wrong answer has
    the greater overlap, so that matching words misleads; missing in the accessible scenario.
    """
    rows = []
    for record in sets:
        context = _words(record["short_context"])
        empty = STOP_WORDS.union(_words(" ".join(speakers(record["full_context"]))))
        for belief in record["beliefQAs"]:
            row = {"set_id": record["set_id"], **belief, "scenario": scenario_of(belief)}
            for name, answer in ANSWERS.items():
                words = [word for word in _words(belief[answer]) if word not in empty]
                row[name] = sum(word in context for word in words) / max(len(words), 1)
            rows.append(row)
    table = pd.DataFrame(rows)
    meets = table["wrong_overlap"] > table["right_overlap"]
    return table.assign(meets=meets.astype("boolean").where(table["scenario"] == "inaccessible"))


def _words(text: str) -> list[str]:
    """The words of a text in lower case, without punctuation; "Linda's" becomes "linda"."""
    return re.findall(r"[^\W_]+(?:['’][^\W_]+)*", re.sub(r"['’]s\b", "", text.lower()))


def flags_form(known_set_ids: Collection[str] | None = None) -> pa.DataFrameSchema:
    """The schema of a file of flags, one row per verdict: "yes" says that the set has a fault of
    that kind (`KINDS`). known_set_ids: the ids that the file may contain; None allows any.
    """
    return pa.DataFrameSchema(
        {
            "set_id": files.known(known_set_ids, "set"),
            "annotator": files.person("annotator_type"),
            "kind": files.one_of(KINDS),
            "verdict": files.one_of(("yes", "no")),
            "annotator_type": files.person_kind(),
        },
        unique=["annotator", "kind", "set_id"],
        strict="filter",
    )


def flagged(sets: Sequence[Mapping], flags: pd.DataFrame) -> pd.DataFrame:
    """People's votes on each set and kind of fault that was judged: the columns of `faults`, `yes`
    (how many see the fault) and `people` (how many judged). A set is dropped if more than half of
    them see the fault, unless it is released. Verdicts by models do not count.
    """
    sources = {record["set_id"]: source_of(record) for record in sets}
    by_people = flags[flags["annotator_type"] == "human"].rename(columns={"kind": "rule"})
    votes = by_people.assign(yes=by_people["verdict"] == "yes")
    votes = votes.groupby(["set_id", "rule"], sort=False)["yes"]
    table = votes.agg(yes="sum", people="size").reset_index()
    table["source"] = table["set_id"].map(sources)
    table["found"] = table["rule"].map(KINDS)
    table["dropped"] = (2 * table["yes"] > table["people"]) & ~is_released(table["source"])
    return table[[*COLUMNS, "yes", "people"]]
