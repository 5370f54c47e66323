"""OmniToM's quality control: rules that gold belief tables must keep (Sec. 4, App. A.2, C.2, C.3),
and annotations by people or models. The rules report faults and change no record.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np
import pandas as pd
import pandera.pandas as pa

from tomlab.benchmarks.omnitom.items.records import DIMENSIONS, WORLD
from tomlab.records import files
from tomlab.scoring.embeddings import near_duplicates
from tomlab.scoring.kept import is_released
from tomlab.scoring.similarity import plain


def _stems(text: str) -> set[str]:
    """The words of a text, without case and final s: rebecca, friend of "Rebecca's friends"."""
    return {word.rstrip("s") for word in plain(text).split()}


_NAMES = files.yaml_beside(__file__)
_GROUPS = set(_NAMES["groups"])
_GLUE = _stems(" ".join(_NAMES["glue"]))
# "it" is allowed, as in "it is raining".
_PRONOUN = re.compile(r"\s*(he|she|they|we|you|i)\b", re.IGNORECASE)


def faults(
    records: Sequence[Mapping], vectors: np.ndarray, duplicate_cosine: float
) -> pd.DataFrame:
    """One row per fault of the gold records: `story_id, source, filter` (the rule), `reason,
    dropped` (whether the fault drops its record; released records are never dropped).

    vectors: sentence embeddings of the stories, shape (records, dimensions), length 1. A story is a
    near-duplicate if its cosine to an earlier story that is kept is `duplicate_cosine` or more.
    """
    table = pd.DataFrame(records, columns=["story_id", "source"])
    released = is_released(table["source"])
    faults = pd.Series([list(_faults(record)) for record in records])
    sound = np.flatnonzero(released | (faults.str.len() == 0))
    for later, earlier, cosine in near_duplicates(vectors[sound], duplicate_cosine):
        original = records[sound[earlier]]
        reason = f"cosine {cosine:.3f} to story {original['story_id']} ({original['source']})"
        faults[sound[later]].append(("near-duplicate", reason))
    table = table.assign(fault=faults, dropped=~released).explode("fault").dropna()
    table["filter"] = table["fault"].str[0]
    table["reason"] = table["fault"].str[1]
    columns = ["story_id", "source", "filter", "reason", "dropped"]
    return table[columns].reset_index(drop=True)


def _faults(record: Mapping) -> Iterator[tuple[str, str]]:
    yield from _unknown_actors(record)
    numbers: dict[tuple[str, str], int] = {}
    for number, belief in enumerate(record["beliefs"], start=1):
        for rule, reason in belief_faults(belief, record):
            yield rule, f"belief {number}: {reason}"
        earlier = numbers.setdefault((plain(belief["actor"]), plain(belief["belief"])), number)
        # Matches are one to one, so one of two equal beliefs could never be matched.
        if earlier != number:
            row = f"{belief['actor']}: {belief['belief']!r}"
            yield "duplicate belief", f"belief {number}: {row} stands as belief {earlier} too"


def belief_faults(belief: Mapping, record: Mapping) -> Iterator[tuple[str, str]]:
    """Yields (rule, reason) for each rule that a belief of the record breaks."""
    text = belief["belief"]
    order = belief["labels"]["order"]
    source = belief["labels"]["mental_source"]
    # Order 0, the actor "world" and the source "Narration" must go together (A.2, C.3).
    if (belief["actor"] == WORLD) != (order == "0"):
        yield "order and actor", f"actor {belief['actor']!r}, order {order}"
    if (source == "Narration") != (order == "0"):
        yield "order and source", f"order {order}, Mental-Source {source}"
    # Beliefs use names, not pronouns (C.2), unless an actor is called so, such as "you".
    subject = _PRONOUN.match(text)
    if subject and plain(subject[1]) not in {plain(b["actor"]) for b in record["beliefs"]}:
        yield "bare pronoun", f"{subject[1]!r} in {text!r}"


def _unknown_actors(record: Mapping) -> Iterator[tuple[str, str]]:
    """Yields (rule, reason) for each actor whose name the story does not have (C.2)."""
    allowed = _stems(record["story"]) | _GROUPS
    for actor in dict.fromkeys(belief["actor"] for belief in record["beliefs"]):
        name = _stems(actor) - _GLUE
        strange = ", ".join(sorted(name - allowed))
        if actor != WORLD and (strange or not name):
            yield "unknown actor", f"{actor!r}: the story has no {strange or 'no name'!r}"


def annotations_form(records: Sequence[Mapping] = ()) -> pa.DataFrameSchema:
    """The schema of a file of labels. records: the records it may label; by default any."""
    numbers = {str(record["story_id"]): range(1, len(record["beliefs"]) + 1) for record in records}
    columns = {
        "story_id": files.known(numbers or None, "story"),
        "belief": files.one_of_each("story_id", numbers),
        "annotator": files.person("annotator_type"),
        "annotator_type": files.person_kind(),
        "dimension": files.one_of(DIMENSIONS),
        "label": files.one_of_each("dimension", DIMENSIONS),
    }
    key = ["annotator", "story_id", "belief", "dimension"]
    return pa.DataFrameSchema(columns, unique=key, strict="filter")


def read_annotations(path: Path | str, records: Sequence[Mapping]) -> pd.DataFrame:
    """Labels by annotators (App. B.2): a CSV with the columns of `annotations_form` and
    one row per label.

    belief: its number in the table of a story of `records`, from 1; annotator_type: `human` or
    `llm:<model>`; dimension: a key of `DIMENSIONS`; label: one of its labels, in the same spelling.
    Errors: `InputError` with all bad rows at once.
    """
    table = files.read_form(path, annotations_form(records))
    return table.astype({"story_id": "int64", "belief": "int64"})
