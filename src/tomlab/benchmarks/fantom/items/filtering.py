"""FANToM's quality control: rule filters, the mentalizing criterion, flags (Sec. 2.2, 3.4, 3.5).

Rules read records (`sets`) and report; none changes one. The paper's own validation was by
people: three a conversation for coherence and safety, and one check of the answers. What they would
vote is read from a file of flags.
"""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import compress, pairwise
from pathlib import Path

import pandas as pd
import pandera.pandas as pa

from tomlab.benchmarks.fantom.items.sets import folded, source_of, speakers, turns
from tomlab.records import files
from tomlab.scoring.kept import is_released, share_kept, survives

FAULT_COLUMNS = ("set_id", "source", "filter", "reason", "dropped")
VOTE_COLUMNS = ("kind", "people_yes", "people", "models_yes", "models", "majority")
LISTS = ("answerabilityQA_list", "infoAccessibilityQA_list")
_WORDS = files.yaml_beside(__file__)
RULES, KINDS, STOP_WORDS = _WORDS["rules"], _WORDS["kinds"], set(_WORDS["stop_words"].split())
Found = Iterator[tuple[str, str]]  # a rule and what is at fault


def faults(sets: Sequence[Mapping]) -> pd.DataFrame:
    """Every fault of every set: `set_id, source, filter, reason, dropped`; a reason names its rule.

    `RULES` says which faults drop a set. Released sets are reported and never dropped: without
    some of them it would be another benchmark.
    """
    rows = [
        {"set_id": record["set_id"], "source": source_of(record), "filter": RULES[rule]["filter"]}
        | {"reason": f"{rule}: {what}", "dropped": RULES[rule]["fatal"]}
        for record in sets
        for rule, what in _faults(record)
    ]
    table = pd.DataFrame(rows, columns=list(FAULT_COLUMNS))
    return table.assign(dropped=table["dropped"].astype(bool) & ~is_released(table["source"]))


def _faults(record: Mapping) -> Found:
    yield from symbolic_faults(record)
    yield from _text_faults(record)
    yield from _question_faults(record)
    yield from contradictions(record)
    fact = record["factQA"]
    if folded(fact["correct_answer"]) == folded(fact["wrong_answer"]):
        yield "one fact answer", f"right and wrong are {fact['correct_answer']!r}"
    for row in _overlaps(record):
        if row["meets"] is False:
            shares = f"right {row['right_overlap']:.2f}, wrong {row['wrong_overlap']:.2f}"
            yield "overlap", f"{row['question']!r}: {shares}"


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
    short, full = (
        [" ".join(line.split()) for line in record[field].splitlines() if line.strip()]
        for field in ("short_context", "full_context")
    )
    for line in dict.fromkeys(full + short):
        if not turns(line):
            yield "no turn", f"found {files.shown(line)}, expected 'Name: text'"
    if not any(full[i : i + len(short)] == short for i in range(len(full) - len(short) + 1)):
        yield "not in full", "the short context is no part of the full one"
    for number, (line, following) in enumerate(pairwise(full), start=1):
        if line == following:
            yield "repeated line", f"lines {number} and {number + 1} are both {files.shown(line)}"


def _question_faults(record: Mapping) -> Found:
    in_short, in_full = (
        {folded(speaker): speaker for speaker in speakers(record[field])}
        for field in ("short_context", "full_context")
    )
    for belief in record["beliefQAs"]:
        if folded(belief["correct_answer"]) == folded(belief["wrong_answer"]):
            yield "equal answers", repr(belief["question"])
        name = _asked_about(belief["question"], in_full)
        if name and folded(name) not in in_short:
            yield "silent person", f"{name} of {belief['question']!r}"
    aware, unaware = (
        dict.fromkeys(name for field in LISTS for name in record[field][key])
        for key in ("correct_answer", "wrong_answer")
    )
    for name in aware | unaware:
        if folded(name) not in in_full:
            yield "silent name", f"{name} speaks nowhere in the full context"
    for name in aware:
        if folded(name) in in_full and folded(name) not in in_short:
            yield "silent aware", f"{name} speaks nowhere in the short context"


def _asked_about(question: str, speakers: Mapping[str, str]) -> str:
    """Whose belief is asked for: the word after "does", or the speaker's name that begins there."""
    after = re.search(r"\bdoes\s+(.*)", question, re.IGNORECASE | re.DOTALL)
    told = after[1] if after else ""
    for known in sorted(speakers, key=len, reverse=True):
        if re.match(rf"{re.escape(known)}(?!\w)", folded(told)):
            return speakers[known]
    return re.match(r"(\w[\w.'’-]*)?", told)[0]


def contradictions(record: Mapping) -> Found:
    for family in ("answerability", "infoAccessibility"):
        aware = {folded(name) for name in record[f"{family}QA_list"]["correct_answer"]}
        for asked in record[f"{family}QAs_binary"]:
            name = asked["question"].removeprefix("Does ").split(" know")[0]
            listed = "aware" if folded(name) in aware else "unaware"
            if (asked["correct_answer"] == "yes") != (listed == "aware"):
                answer = f"{asked['correct_answer']!r} to {asked['question']!r}"
                yield "contradiction", f"{family}: {answer}, listed as {listed}"


def overlap(sets: Sequence[Mapping]) -> pd.DataFrame:
    """The mentalizing criterion of Sec. 2.2, one row a belief question.

    Columns: set_id, question, scenario, tom_type, right_overlap, wrong_overlap, meets. An overlap
    is the share of an answer's content words (no `STOP_WORDS`, no names) that stand in the short
    context, 0 for an answer without any. meets: whether the wrong answer's is the greater, so that
    matching words would mislead; missing in the accessible scenario, of which that is not asked.
    """
    dtypes = dict.fromkeys(("set_id", "question", "scenario", "tom_type"), str)
    dtypes |= {"right_overlap": float, "wrong_overlap": float, "meets": "boolean"}
    rows = [{"set_id": record["set_id"], **row} for record in sets for row in _overlaps(record)]
    return pd.DataFrame(rows, columns=list(dtypes)).astype(dtypes)


def _overlaps(record: Mapping) -> Iterator[dict]:
    named = set(speakers(record["full_context"]))
    for field in LISTS:
        named |= {*record[field]["correct_answer"], *record[field]["wrong_answer"]}
    empty = STOP_WORDS.union(*map(_words, named))
    told = {word for _, text in turns(record["short_context"]) for word in _words(text)}
    for belief in record["beliefQAs"]:
        said = [
            [word for word in _words(belief[key]) if word not in empty]
            for key in ("correct_answer", "wrong_answer")
        ]
        right, wrong = (sum(w in told for w in words) / max(len(words), 1) for words in said)
        scenario = belief["missed_info_accessibility"]
        yield {
            "question": belief["question"],
            "scenario": scenario,
            "tom_type": belief["tom_type"],
            "right_overlap": right,
            "wrong_overlap": wrong,
            "meets": wrong > right if scenario == "inaccessible" else None,
        }


def _words(text: str) -> list[str]:
    """Lower-case words without punctuation; "Linda's" is "linda"."""
    found = re.findall(r"[^\W_]+(?:['’][^\W_]+)*", text.lower())
    return [re.sub(r"['’]s$", "", word) for word in found]


def flags_form(known_set_ids: Collection[str] | None = None) -> pa.DataFrameSchema:
    """The schema of a file of flags. known_set_ids: ids that may stand in it; any without."""
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


def read_flags(path: Path | str, known_set_ids: Collection[str]) -> pd.DataFrame:
    """A CSV of flags: set_id, annotator, kind, verdict, annotator_type; a row a verdict, or none.

    kind: one of `KINDS`; verdict: `yes` says that there is such a fault; annotator_type: `human` or
    `llm:<model>`, never assumed. Errors: `InputError` with all bad rows at once, by line number.
    """
    return files.read_form(path, flags_form(known_set_ids))


def flagged(sets: Sequence[Mapping], flags: pd.DataFrame) -> pd.DataFrame:
    """The votes on every set and kind that has any: `FAULT_COLUMNS` and `VOTE_COLUMNS`.

    majority: more than half of the people who judged it say yes; it drops the set, unless that is
    released. Models' votes stand beside and never count. Rows with a majority can be put below
    those of `faults`.
    """
    source = {record["set_id"]: source_of(record) for record in sets}
    known = flags[flags["set_id"].isin(source)]
    human, yes = known["annotator_type"] == "human", known["verdict"] == "yes"
    votes = {"people_yes": human & yes, "people": human, "models_yes": ~human & yes}
    table = known.assign(**votes, models=~human)
    table = table.groupby(["set_id", "kind"], sort=False)[[*votes, "models"]].sum().reset_index()
    told = "{}: {people_yes} of {people} people, {models_yes} of {models} models"
    reasons = [told.format(KINDS[row["kind"]], **row) for row in table.to_dict("records")]
    table = table.assign(source=table["set_id"].map(source), filter="annotators", reason=reasons)
    majority = 2 * table["people_yes"] > table["people"]
    table = table.assign(dropped=majority & ~is_released(table["source"]), majority=majority)
    return table[[*FAULT_COLUMNS, *VOTE_COLUMNS]]


def kept(sets: Sequence[dict], faults: pd.DataFrame) -> list[dict]:
    """The sets that no fault of the table drops."""
    return list(compress(sets, survives(_units(sets), faults, ["set_id"])))


def kept_share(sets: Sequence[Mapping], faults: pd.DataFrame) -> pd.DataFrame:
    """The share of sets that no fault drops, by source, the sources in the order of the sets.

    Columns: source, sets, conversations, kept, share, ci_low, ci_high, ci_method. Sets of one
    conversation share its text, on which intervals cluster.
    """
    units, names = _units(sets), ("sets", "conversations")
    left = survives(units, faults, ["set_id"])
    return share_kept(units, left, by="source", group="conversation", names=names)


def _units(sets: Sequence[Mapping]) -> pd.DataFrame:
    rows = [(r["set_id"], source_of(r), r["set_id"].split("-")[0]) for r in sets]
    return pd.DataFrame(rows, columns=["set_id", "source", "conversation"])
