"""FANToM's quality control: rule filters, the mentalizing criterion, flags (Sec. 2.2, 3.4, 3.5).

Rules read records (`sets`) and report; none changes one. In the paper three people looked at each
conversation and one at the answers; what people say of these sets is read from a file of flags.
"""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import pairwise

import pandas as pd
import pandera.pandas as pa

from tomlab.benchmarks.fantom.items.contexts import folded, speakers, turns
from tomlab.benchmarks.fantom.items.sets import source_of
from tomlab.records import files
from tomlab.scoring.kept import is_released

COLUMNS = ("set_id", "source", "rule", "found", "dropped")
FAMILIES = ("answerability", "infoAccessibility")
_WORDS = files.yaml_beside(__file__)
RULES, KINDS = _WORDS["rules"], _WORDS["kinds"]
STOP_WORDS = set(_WORDS["stop_words"].split())
Faults = Iterator[tuple[str, str]]  # a rule and what is at fault


def faults(sets: Sequence[Mapping]) -> pd.DataFrame:
    """Every fault of every set (`COLUMNS`): one of `RULES`, and what was found. A fault drops its
    set, unless that is released: without some of those it would be another benchmark.
    """
    rows = []
    for record in sets:
        for find in (text_faults, belief_faults, contradictions):
            for rule, fault in find(record):
                rows.append((record["set_id"], source_of(record), rule, fault))
    table = pd.DataFrame(rows, columns=list(COLUMNS[:-1]))
    return table.assign(dropped=~is_released(table["source"]))


def text_faults(record: Mapping) -> Faults:
    """Lines that are no turns or stand twice, and a short context that is no part of the full."""
    short = _lines(record["short_context"])
    full = _lines(record["full_context"])
    for line in dict.fromkeys(full + short):
        if not turns(line):
            yield "no turn", f"found {files.shown(line)}, expected 'Name: text'"
    if not any(full[start : start + len(short)] == short for start in range(len(full))):
        yield "not in full", "the short context is no part of the full one"
    for number, (line, following) in enumerate(pairwise(full), start=1):
        if line == following:
            yield "repeated line", f"lines {number} and {number + 1} are both {files.shown(line)}"


def _lines(context: str) -> list[str]:
    return [" ".join(line.split()) for line in context.splitlines() if line.strip()]


def belief_faults(record: Mapping) -> Faults:
    """Two answers that are one, and a person asked about whom the short context does not show."""
    in_short = [re.escape(folded(name)) for name in speakers(record["short_context"])]
    for belief in record["beliefQAs"]:
        if folded(belief["correct_answer"]) == folded(belief["wrong_answer"]):
            yield "equal answers", repr(belief["question"])
        asked = folded(belief["question"]).partition("does ")[2]
        if asked and not re.match(rf"({'|'.join(in_short)})(?!\w)", asked):
            yield "silent person", repr(belief["question"])


def contradictions(record: Mapping) -> Faults:
    """Lists of who knows that contradict the texts, themselves or the yes/no questions."""
    in_short = set(map(folded, speakers(record["short_context"])))
    in_full = set(map(folded, speakers(record["full_context"])))
    silent = {}
    for family in FAMILIES:
        listed = record[f"{family}QA_list"]
        aware = set(map(folded, listed["correct_answer"]))
        unaware = set(map(folded, listed["wrong_answer"]))
        for name in listed["correct_answer"] + listed["wrong_answer"]:
            if folded(name) not in in_full:
                silent[name] = "silent name", f"{name} speaks nowhere in the full context"
            elif folded(name) in aware - in_short:
                silent[name] = "silent aware", f"{name} speaks nowhere in the short context"
        for name in sorted(aware & unaware):
            yield "contradiction", f"{family}: {name} listed as aware and as unaware"
        for question in record[f"{family}QAs_binary"]:
            key, text = question["correct_answer"], question["question"]
            name = folded(text.removeprefix("Does ").partition(" know")[0])
            if (key == "yes") != (name in aware):
                listed_as = "aware" if name in aware else "unaware"
                yield "contradiction", f"{family}: {key!r} to {text!r}, listed as {listed_as}"
    yield from silent.values()


def overlap(sets: Sequence[Mapping]) -> pd.DataFrame:
    """The mentalizing criterion of Sec. 2.2, one row a belief question.

    An overlap is the share of an answer's content words (no `STOP_WORDS`, no names) that stand in
    the short context, 0 for an answer without any. meets: whether the wrong answer's is the
    greater, so that matching words would mislead; missing in the accessible scenario.
    """
    rows = []
    for record in sets:
        names = speakers(record["full_context"])
        for family in FAMILIES:
            listed = record[f"{family}QA_list"]
            names = [*names, *listed["correct_answer"], *listed["wrong_answer"]]
        context = " ".join(text for _, text in turns(record["short_context"]))
        empty = STOP_WORDS | set(_words(" ".join(names)))
        for belief in record["beliefQAs"]:
            right = _overlap(belief["correct_answer"], context, empty)
            wrong = _overlap(belief["wrong_answer"], context, empty)
            scenario = belief["missed_info_accessibility"]
            rows.append(
                {
                    "set_id": record["set_id"],
                    "question": belief["question"],
                    "scenario": scenario,
                    "tom_type": belief["tom_type"],
                    "right_overlap": right,
                    "wrong_overlap": wrong,
                    "meets": wrong > right if scenario == "inaccessible" else None,
                }
            )
    columns = ["set_id", "question", "scenario", "tom_type"]
    kinds = {"right_overlap": float, "wrong_overlap": float, "meets": "boolean"}
    return pd.DataFrame(rows, columns=[*columns, *kinds]).astype(kinds)


def _overlap(answer: str, context: str, empty: Collection[str]) -> float:
    words = [word for word in _words(answer) if word not in empty]
    shared = set(words) & set(_words(context))
    return sum(word in shared for word in words) / max(len(words), 1)


def _words(text: str) -> list[str]:
    """Lower-case words without punctuation; "Linda's" is "linda"."""
    words = re.findall(r"[^\W_]+(?:['’][^\W_]+)*", text.lower())
    return [re.sub(r"['’]s$", "", word) for word in words]


def flags_form(known_set_ids: Collection[str] | None = None) -> pa.DataFrameSchema:
    """The schema of a file of flags, a row a verdict: `yes` says that there is such a fault
    (`KINDS`). known_set_ids: ids that may stand in it; any without.
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
    """People's votes on every set and kind that has any: columns of `faults`, `yes` and `people`.
    More than half of those who judged it drop a set, unless it is released; models never count.
    """
    sources = {record["set_id"]: source_of(record) for record in sets}
    human = flags["annotator_type"].eq("human") & flags["set_id"].isin(list(sources))
    votes = flags[human].assign(yes=flags["verdict"].eq("yes"), people=1)
    table = votes.groupby(["set_id", "kind"], sort=False)[["yes", "people"]].sum().reset_index()
    table["source"], table["found"] = table["set_id"].map(sources), table["kind"].map(KINDS)
    table["dropped"] = (2 * table["yes"] > table["people"]) & ~is_released(table["source"])
    return table.rename(columns={"kind": "rule"})[[*COLUMNS, "yes", "people"]]
