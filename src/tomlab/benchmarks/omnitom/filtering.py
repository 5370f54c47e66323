"""OmniToM's quality control: the rules of a gold belief table (Sec. 4, App. A.2, C.2, C.3).

Rules read records and report; none changes one. What people find in a table is read in
`annotation`.
"""

import itertools
import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd

from tomlab.benchmarks.omnitom.records import RELEASED, WORLD
from tomlab.scoring.embeddings import near_duplicates
from tomlab.scoring.kept import share_kept, survives
from tomlab.scoring.similarity import plain

FAULT_COLUMNS = ("story_id", "source", "filter", "reason", "dropped")


class Rule(NamedTuple):
    """Whether a fault drops a record that is not released, and why."""

    fatal: bool
    why: str


RULES = {
    "empty story": Rule(True, "there is nothing that a belief could rest on"),
    "order and actor": Rule(True, "order 0 is the world's facts and nothing else (A.2)"),
    "order and source": Rule(True, "order 0 is narrated, and nothing else is (A.2, C.3)"),
    "no other actor": Rule(False, "a role in lower case cannot be told from a thing by rule"),
    "duplicate belief": Rule(True, "matches are one to one, so that one of the two is never found"),
    "unknown actor": Rule(True, "no actor may be made up (C.2)"),
    "bare pronoun": Rule(True, "pronouns are to be replaced by names (C.2); nobody can tell whose"),
    "cut off": Rule(True, "a right extraction of what the table lacks would count as wrong"),
    "rows lost": Rule(True, "a right extraction of what the table lacks would count as wrong"),
    "near-duplicate": Rule(True, "one story told twice would count twice"),
}
DUPLICATE_COSINE = 0.95
# Who may hold beliefs without being named in the story, without plural s.
GROUPS = frozenset(
    (
        *("all", "everyone", "everybody", "other", "people", "person", "group", "crowd"),
        *("family", "parent", "child", "children", "friend", "guest", "neighbour", "neighbor"),
        *("classmate", "student", "pupil", "schoolmate", "roommate", "teammate", "colleague"),
    )
)
# Words of an actor's name that tell nobody apart.
_GLUE = frozenset(
    ("the", "a", "an", "of", "and", "or", "with", "his", "her", "their", "two", "three", "both")
)
# Not "it", as in "it is raining".
_PRONOUN = re.compile(r"\s*(he|she|they|we|you|i)\b", re.IGNORECASE)


def faults(
    records: Sequence[Mapping],
    vectors: np.ndarray | None = None,
    duplicate_cosine: float = DUPLICATE_COSINE,
) -> pd.DataFrame:
    """Every fault of every gold record: `story_id, source, filter, reason, dropped`.

    filter: a key of `RULES`, which says whether the fault drops the record. Released records are
    reported and never dropped: without some of them it would be another benchmark.
    vectors: sentence embeddings of the stories, shape (records, dimensions), length 1. If given, a
    story whose cosine to an earlier one is `duplicate_cosine` or more is one told twice; stories
    that another rule drops are left out of that.
    """
    found = [
        (place, rule, reason)
        for place, record in enumerate(records)
        for rule, reason in _faults(record)
    ]
    if vectors is not None:
        found += _duplicates(records, vectors, duplicate_cosine, found)
    rows = [
        {"story_id": records[place]["story_id"], "source": _source(records[place])}
        | {"filter": rule, "reason": reason, "dropped": _drops(rule, records[place])}
        for place, rule, reason in found
    ]
    return pd.DataFrame(rows, columns=list(FAULT_COLUMNS)).astype({"dropped": bool})


def _source(record: Mapping) -> str:
    return record.get("source", RELEASED)


def _drops(rule: str, record: Mapping) -> bool:
    return RULES[rule].fatal and not _source(record).startswith("released:")


def _faults(record: Mapping) -> Iterator[tuple[str, str]]:
    if record["story"].strip():
        yield from _unknown_actors(record)
    else:
        yield "empty story", "found no text"
    if record.get("cut_off"):
        yield "cut off", "an answer that it was made of ended at the token limit"
    if lost := record.get("rows_lost"):
        yield "rows lost", f"{lost} rows of the answers could not be used"
    first: dict[tuple[str, str], int] = {}
    for number, belief in enumerate(record["beliefs"], start=1):
        for rule, reason in _label_faults(belief):
            yield rule, f"belief {number}: {reason}"
        for rule, reason in _text_faults(belief, record):
            yield rule, f"belief {number}: {reason}"
        key = (plain(belief["actor"]), plain(belief["belief"]))
        earlier = first.setdefault(key, number)
        if earlier != number:
            said = f"{belief['actor']}: {belief['belief']!r}"
            yield "duplicate belief", f"belief {number}: {said} stands as belief {earlier} too"


# Labels and texts of one belief


def _label_faults(belief: Mapping) -> Iterator[tuple[str, str]]:
    order, source = belief["labels"]["order"], belief["labels"]["mental_source"]
    if (belief["actor"] == WORLD) != (order == "0"):
        yield "order and actor", f"actor {belief['actor']!r}, order {order}"
    if (source == "Narration") != (order == "0"):
        yield "order and source", f"order {order}, Mental-Source {source}"


def _text_faults(belief: Mapping, record: Mapping) -> Iterator[tuple[str, str]]:
    text = belief["belief"]
    actors = {plain(other["actor"]) for other in record["beliefs"]}
    subject = _PRONOUN.match(text)
    # Stories of somebody who "tells you" have an actor of that name.
    if subject and plain(subject[1]) not in actors:
        yield "bare pronoun", f"{subject[1]!r} in {text!r}"
    if belief["labels"]["order"] in ("2", "3") and not _names_another(belief, record):
        yield "no other actor", f"order {belief['labels']['order']}, {text!r}"


def _names_another(belief: Mapping, record: Mapping) -> bool:
    """Whether a belief names an actor of the table, a group or a name, its holder's left out."""
    holder = " ".join(_words(belief["actor"]))
    left = set(f" {' '.join(_words(belief['belief']))} ".replace(f" {holder} ", " ").split())
    others = {b["actor"] for b in record["beliefs"]} - {belief["actor"], WORLD}
    named = {word for other in others for word in _words(other)} - _GLUE
    return bool(left & (named | GROUPS | _names(record["story"])))


def _names(story: str) -> set[str]:
    """Words of a story that never stand in lower case there."""
    found = re.findall(r"[^\W\d_]+", story)
    small = {word for word in found if word[0].islower()}
    large = " ".join(word for word in found if word.lower() not in small)
    return set(_words(large)) - _GLUE


# Actors


def _unknown_actors(record: Mapping) -> Iterator[tuple[str, str]]:
    told = set(_words(record["story"])) | GROUPS
    for actor in dict.fromkeys(belief["actor"] for belief in record["beliefs"]):
        own = set(_words(actor)) - _GLUE
        if actor != WORLD and (not own or own - told):
            strange = ", ".join(sorted(own - told)) or "no name"
            yield "unknown actor", f"{actor!r}: the story has no {strange!r}"


def _words(text: str) -> list[str]:
    """Words without case, possessive and plural s: "Rebecca's friends" is "rebecca friend"."""
    folded = unicodedata.normalize("NFKC", text).casefold()
    words = re.findall(r"[^\W_]+", re.sub(r"['’‘]s?\b", " ", folded))
    return [word[:-1] if len(word) > 3 and word.endswith("s") else word for word in words]


# Stories told twice


def _duplicates(
    records: Sequence[Mapping],
    vectors: np.ndarray,
    threshold: float,
    found: Sequence[tuple[int, str, str]],
) -> list[tuple[int, str, str]]:
    if len(vectors) != len(records):
        raise ValueError(f"found {len(vectors)} vectors, expected one for each of {len(records)}")
    gone = {place for place, rule, _ in found if _drops(rule, records[place])}
    left = [place for place in range(len(records)) if place not in gone]
    return [
        (left[row], "near-duplicate", f"cosine {cosine:.3f} to {_name(records[left[earlier]])}")
        for row, earlier, cosine in near_duplicates(vectors[left], threshold)
    ]


def _name(record: Mapping) -> str:
    return f"story {record['story_id']} ({_source(record)})"


# What is kept


# A story's number and source: two writers may have gold for one story.
_KEY = ["story_id", "source"]


def kept(records: Sequence[dict], faults: pd.DataFrame) -> list[dict]:
    """The records that no fault of the table drops."""
    return list(itertools.compress(records, survives(_units(records), faults, _KEY)))


def kept_share(
    records: Sequence[Mapping], faults: pd.DataFrame, resamples: int = 2000, seed: int = 0
) -> pd.DataFrame:
    """The share of records that no fault drops, by source, the sources in the order of the records.

    Columns: source, stories, kept, share, ci_low, ci_high, ci_method. Intervals resample stories.
    """
    units, options = _units(records), {"resamples": resamples, "seed": seed}
    left = survives(units, faults, _KEY)
    return share_kept(units, left, by="source", group="story_id", names=("stories",), **options)


def _units(records: Sequence[Mapping]) -> pd.DataFrame:
    rows = [(str(record["story_id"]), _source(record)) for record in records]
    return pd.DataFrame(rows, columns=_KEY)
