"""FANToM's quality control: rule filters, the mentalizing criterion, flags (Sec. 2.2, 3.4, 3.5).

Rules read records (`sets`) and report; none changes one. In the paper three people looked at each
conversation and one at the answers; what people say of these sets is read from a file of flags.
"""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import chain, pairwise

import pandas as pd
import pandera.pandas as pa

from tomlab.benchmarks.fantom.items.contexts import folded, speakers, turns
from tomlab.benchmarks.fantom.items.sets import source_of
from tomlab.records import files
from tomlab.scoring.kept import is_released

COLUMNS = ("set_id", "source", "rule", "found", "dropped")
LISTS = ("answerabilityQA_list", "infoAccessibilityQA_list")
_WORDS = files.yaml_beside(__file__)
RULES, KINDS, STOP_WORDS = _WORDS["rules"], _WORDS["kinds"], set(_WORDS["stop_words"].split())
Found = Iterator[tuple[str, str]]  # a rule and what is at fault


def faults(sets: Sequence[Mapping]) -> pd.DataFrame:
    """Every fault of every set (`COLUMNS`): one of `RULES`, and what was found. A fault drops its
    set, unless that is released: without some of those it would be another benchmark.
    """
    rows = [
        (record["set_id"], source_of(record), rule, what)
        for record in sets
        for find in (symbolic_faults, _text_faults, _question_faults, contradictions)
        for rule, what in find(record)
    ]
    table = pd.DataFrame(rows, columns=list(COLUMNS[:-1]))
    return table.assign(dropped=~is_released(table["source"]))


def symbolic_faults(record: Mapping) -> Found:
    """Who speaks while away, and who comes or goes without a line of their own that says so."""
    utterances = (record.get("record") or {}).get("utterances", [])
    there = set(utterances[0]["present"]) if utterances else set()
    for number, said in enumerate(utterances, start=1):
        speaker, present = said["speaker"], set(said["present"])
        if speaker not in present:
            yield "absent speaker", f"{speaker} speaks in line {number}"
        arriving = {speaker} if said["event"] in ("return", "join") else set()
        for name in sorted(present - there - arriving):
            yield "unannounced", f"{name} is there from line {number} on"
        for name in sorted(there - present):
            yield "unannounced", f"{name} is gone from line {number} on"
        there = present - {speaker} if said["event"] == "leave" else present


def _text_faults(record: Mapping) -> Found:
    contexts = (record[field].splitlines() for field in ("short_context", "full_context"))
    short, full = ([" ".join(x.split()) for x in lines if x.strip()] for lines in contexts)
    for line in dict.fromkeys(full + short):
        if not turns(line):
            yield "no turn", f"found {files.shown(line)}, expected 'Name: text'"
    if not any(full[i : i + len(short)] == short for i in range(len(full) - len(short) + 1)):
        yield "not in full", "the short context is no part of the full one"
    for number, (line, following) in enumerate(pairwise(full), start=1):
        if line == following:
            yield "repeated line", f"lines {number} and {number + 1} are both {files.shown(line)}"


def _question_faults(record: Mapping) -> Found:
    contexts = record["short_context"], record["full_context"]
    in_short, in_full = ({*map(folded, speakers(context))} for context in contexts)
    for belief in record["beliefQAs"]:
        if folded(belief["correct_answer"]) == folded(belief["wrong_answer"]):
            yield "equal answers", repr(belief["question"])
        asked = folded(belief["question"]).partition("does ")[2]
        named = [who for who in in_full if re.match(rf"{re.escape(who)}(?!\w)", asked)]
        if asked and max(named, key=len, default="") not in in_short:
            yield "silent person", repr(belief["question"])
    lists, keys = [record[field] for field in LISTS], ("correct_answer", "wrong_answer")
    aware, unaware = (dict.fromkeys(chain(*(one[key] for one in lists))) for key in keys)
    for name in aware | unaware:
        if folded(name) not in in_full:
            yield "silent name", f"{name} speaks nowhere in the full context"
    for name in aware:
        if folded(name) in in_full and folded(name) not in in_short:
            yield "silent aware", f"{name} speaks nowhere in the short context"


def contradictions(record: Mapping) -> Found:
    for family in ("answerability", "infoAccessibility"):
        listed = record[f"{family}QA_list"]
        aware, unaware = (set(map(folded, listed[f"{key}_answer"])) for key in ("correct", "wrong"))
        for name in sorted(aware & unaware):
            yield "contradiction", f"{family}: {name} listed as aware and as unaware"
        for asked in record[f"{family}QAs_binary"]:
            name = folded(asked["question"].removeprefix("Does ").split(" know")[0])
            if (asked["correct_answer"] == "yes") != (name in aware):
                answer = f"{asked['correct_answer']!r} to {asked['question']!r}"
                listed_as = "aware" if name in aware else "unaware"
                yield "contradiction", f"{family}: {answer}, listed as {listed_as}"


def overlap(sets: Sequence[Mapping]) -> pd.DataFrame:
    """The mentalizing criterion of Sec. 2.2, one row a belief question.

    An overlap is the share of an answer's content words (no `STOP_WORDS`, no names) that stand in
    the short context, 0 for an answer without any. meets: whether the wrong answer's is the
    greater, so that matching words would mislead; missing in the accessible scenario.
    """
    rows = []
    for record in sets:
        lists = (record[field][f"{key}_answer"] for field in LISTS for key in ("correct", "wrong"))
        named = set(speakers(record["full_context"])).union(*lists)
        empty = STOP_WORDS.union(*map(_words, named))
        told = {word for _, text in turns(record["short_context"]) for word in _words(text)}
        for belief in record["beliefQAs"]:
            answers = (_words(belief[f"{key}_answer"]) for key in ("correct", "wrong"))
            said = ([word for word in words if word not in empty] for words in answers)
            right, wrong = (sum(w in told for w in words) / max(len(words), 1) for words in said)
            scenario = belief["missed_info_accessibility"]
            meets = wrong > right if scenario == "inaccessible" else None
            asked = belief["question"], scenario, belief["tom_type"]
            rows.append((record["set_id"], *asked, right, wrong, meets))
    kinds = {"right_overlap": float, "wrong_overlap": float, "meets": "boolean"}
    names = ["set_id", "question", "scenario", "tom_type", *kinds]
    return pd.DataFrame(rows, columns=names).astype(kinds)


def _words(text: str) -> list[str]:
    """Lower-case words without punctuation; "Linda's" is "linda"."""
    found = re.findall(r"[^\W_]+(?:['’][^\W_]+)*", text.lower())
    return [re.sub(r"['’]s$", "", word) for word in found]


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
