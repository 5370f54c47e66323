"""Labelled alignments that OmniToM's judges are calibrated on (App. B.4): known by construction,
or read from a file of human annotations.

Known by construction: a gold belief table is edited by listed operations, and the operation is the
label (`calibration.yaml`). Nobody judged these tables; `LabelledTable.truth` says so in each.
"""

import random
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest
from pathlib import Path

import pandas as pd
import pandera.pandas as pa

from tomlab.benchmarks.omnitom import rewordings as edits
from tomlab.benchmarks.omnitom.alignment import Alignment, Vectors, compound_parts
from tomlab.benchmarks.omnitom.items.records import WORLD, Row, rows
from tomlab.records import files
from tomlab.records.tidy import KNOWN
from tomlab.scoring import similarity

_DATA = files.yaml_beside(__file__)
OPERATIONS, PROFILES, _INSTEAD = (_DATA[name] for name in ("operations", "profiles", "instead"))
THRESHOLDS = tuple(n / 100 for n in range(10, 101, 2))  # to choose a similarity from
# A belief under another actor is none of theirs if it shares less than this with each of them.
UNLIKE = 0.5
SIDES = ("predicted", "gold")  # of a table
_Counted = list[tuple[Row, int]]  # rows with their MatchCounts


@dataclass(frozen=True)
class LabelledTable:
    """A predicted and a gold table, and the true MatchCounts of their rows (None: not known)."""

    table_id: str
    group: str  # the story, which several tables may share
    story: str
    predicted: tuple[Row, ...]
    gold: tuple[Row, ...]
    known: Alignment
    truth: str  # where the counts come from, `KNOWN` or "human:<annotator>"
    made_by: tuple[Sequence[str], Sequence[str]] = ((), ())  # the operation behind each row, if any

    @property
    def content(self) -> tuple[str, ...]:
        """The story and what is predicted of it, by which a table is known again."""
        said = (" ".join(f"{row.actor}: {row.belief}".split()) for row in self.predicted)
        return self.group, *sorted(said)


def calibration_set(
    records: Sequence[Mapping], tables: int, seed: int, vectors: Vectors = None
) -> list[LabelledTable]:
    """So many edited tables, the records taken in turn, and the profiles with each turn.

    vectors: of the gold beliefs, to find the nearest siblings; without them the nearest by words.
    """
    names, made = list(PROFILES), []
    for number in range(tables):
        turn, place = divmod(number, len(records))
        again, profile = turn // len(names), names[(place + turn) % len(names)]
        lot = f"{seed}/{again}" if again else str(seed)
        table = edited(records[place], profile, lot, records, vectors)
        made.append(replace(table, table_id=f"{table.table_id}/{again}") if again else table)
    return made


def edited(
    record: Mapping, profile: str, seed: str, others: Sequence[Mapping], vectors: Vectors = None
) -> LabelledTable:
    """A record's table edited in the manner of a profile.

    others: records that foreign beliefs are taken from. A paraphrase is one of the belief's own, or
    made by rule. Near misses, misplaced and foreign beliefs are held against all beliefs of the
    actor, so that none states one of them, as far as words tell.
    """
    draw = random.Random(f"{seed}/{record['story_id']}/{profile}")
    story = _Story(record, others, draw, vectors)
    left = list(range(len(record["beliefs"])))
    weights = {name: n for name, n in PROFILES[profile].items() if name != "foreign"}
    predicted, gold = [], []
    while left:
        first = left.pop(0)
        operation = draw.choices(list(weights), list(weights.values()))[0]
        while (made := story.edit(operation, first, left)) is None:
            operation = _INSTEAD[operation]
        for side, counted in zip((predicted, gold), made, strict=True):
            side += [(*row, operation) for row in counted]
        if 100 * draw.random() < PROFILES[profile]["foreign"]:
            predicted += [(row, 0, "foreign") for row in story.foreign()]
    predicted.sort(key=lambda made: story.actors.index(made[0].actor))
    sides = (tuple(zip(*side, strict=True)) or ((), (), ()) for side in (predicted, gold))
    beliefs, counts, made_by = zip(*sides, strict=True)
    about = f"{record['story_id']}/{profile}", str(record["story_id"]), record["story"]
    return LabelledTable(*about, *beliefs, Alignment(*map(list, counts), []), KNOWN, made_by)


class _Story:
    """A record, and what its beliefs can be turned into."""

    def __init__(
        self, record: Mapping, others: Sequence[Mapping], draw: random.Random, vectors: Vectors
    ) -> None:
        self.rows, self.draw, self.vectors = rows(record), draw, vectors
        self.wordings = [[b["belief"], *b.get("paraphrases", [])] for b in record["beliefs"]]
        self.actors = list(dict.fromkeys(row.actor for row in self.rows))
        self.people = [actor for actor in self.actors if actor != WORLD]
        self.others = [other for other in others if other["story_id"] != record["story_id"]]
        self.places = edits.places([row.belief for row in self.rows])

    def edit(self, operation: str, first: int, left: list[int]) -> tuple[_Counted, _Counted] | None:
        """What the operation predicts and what gold then has, from one belief or from two of one
        actor, the other being taken out of `left`; None where there is no way.
        """
        row, second = self.rows[first], None
        if operation in ("split", "merge", "sibling"):
            same = [i for i in left if self.rows[i].actor == row.actor]
            second = self._sibling(row, same) if operation == "sibling" else next(iter(same), None)
            if second is None:
                return None
            left.remove(second)
        match operation:
            case "keep":
                return [(row, 1)], [(row, 1)]
            case "paraphrase":
                return [(self._other_words(first), 1)], [(row, 1)]
            case "duplicate":
                return [(row, 1), (self._other_words(first), 0)], [(row, 1)]
            case "drop":
                return [], [(row, 0)]
            case "sibling":
                return [(self.rows[second], 0)], [(row, 0)]
            case "split" | "merge":
                return self._of_two(operation, (first, second))
        missed = self._misses(operation, first)
        return ([(self.draw.choice(missed), 0)], [(row, 0)]) if missed else None

    def _sibling(self, row: Row, same: Sequence[int]) -> int | None:
        """The nearest of these beliefs, None where there is none."""
        # A row of several clauses may hold its sibling, and then does match it.
        if compound_parts(row.belief):
            return None
        texts = {i: self.rows[i].belief for i in same if not compound_parts(self.rows[i].belief)}
        kind = "token_f1" if self.vectors is None else "embedding"
        alike = similarity.similarity(kind, [row.belief], list(texts.values()), self.vectors)[0]
        return list(texts)[int(alike.argmax())] if texts else None

    def _of_two(self, operation: str, numbers: tuple[int, int]) -> tuple[_Counted, _Counted]:
        """Two beliefs joined, by the prediction (merge) or by gold (split)."""
        as_they_stand = [self.rows[i] for i in numbers]
        # Both ways of saying a belief, or the joined one would always be told by its words alone.
        said = [self.draw.choice([self.rows[i], self._other_words(i)]) for i in numbers]
        joined, single = (said, as_they_stand) if operation == "merge" else (as_they_stand, said)
        first, second = joined
        order = first.order if first.order == second.order else ""
        text = edits.joined(first.belief, second.belief, self.draw)
        both, one_by_one = [(Row(first.actor, text, order), 2)], [(row, 1) for row in single]
        return (both, one_by_one) if operation == "merge" else (one_by_one, both)

    def _misses(self, operation: str, number: int) -> list[Row]:
        """The ways to miss the belief by this operation that state no other belief either."""
        row, misses = self.rows[number], []
        if operation == "wrong actor":
            others = [actor for actor in self.actors if actor != row.actor]
            able = [a for a in others if self._nearest(row.belief, a) < UNLIKE]
            return [replace(row, actor=actor) for actor in able]
        # "Ana thinks p" under Ana would come to p, which may be another of her beliefs.
        strangers = [name for name in self.people if name != row.actor]
        texts = {
            "other place": edits.other_places(row.belief, self.places),
            "other person": edits.other_people(row.belief, self.people, strangers),
            "other time": edits.other_times(row.belief),
            "negation": edits.negations(row.belief),
        }[operation]
        for text in texts:
            # Closer to the belief than to the actor's others, and no other way to say it.
            own = max(similarity.shared(text, wording) for wording in self.wordings[number])
            nearest = self._nearest(text, row.actor, but=number)
            # "In the attic" misses "in the box" and "in the bag" alike.
            as_near = operation == "other place" and nearest == own
            if own < 1 and (nearest < own or as_near):
                misses.append(replace(row, belief=text))
        return misses

    def foreign(self) -> list[Row]:
        """A belief of another story under an actor of this one, if a few draws find one."""
        for other in self.draw.sample(self.others, min(5, len(self.others))):
            row, actor = self.draw.choice(rows(other)), self.draw.choice(self.actors)
            names = dict.fromkeys(b["actor"] for b in other["beliefs"] if b["actor"] != WORLD)
            fitted = edits.renamed(row.belief, list(names), self.people)
            if self._nearest(fitted, actor) < UNLIKE:
                return [replace(row, actor=actor, belief=fitted)]
        return []

    def _other_words(self, number: int) -> Row:
        row, own = self.rows[number], self.wordings[number][1:]
        text = self.draw.choice(own) if own else edits.reworded(row.belief, self.draw)
        return replace(row, belief=text)

    def _nearest(self, text: str, actor: str, but: int | None = None) -> float:
        others = [i for i, row in enumerate(self.rows) if row.actor == actor and i != but]
        said = [wording for i in others for wording in self.wordings[i]]
        return max((similarity.shared(text, wording) for wording in said), default=0.0)


_IN_FILE = ("prediction", "gold")  # the sides, as the form calls them
_TABLE = ["story_id", "annotator", "system"]
ALIGNMENTS_FORM = pa.DataFrameSchema(
    {
        "story_id": files.text(),
        "table": files.one_of(_IN_FILE),
        "actor": files.text(),
        "belief": files.text(),
        "match_count": files.text("[0-9]{0,9}", "a whole number or nothing"),
        "annotator": files.person(),
        "system": files.text(".*", required=False),
    },
    strict="filter",
)


def read_human(path: Path | str) -> list[LabelledTable]:
    """The tables of a CSV of human MatchCounts (`ALIGNMENTS_FORM`), one a story and annotator.
    match_count may be empty: undecided; `system` tells several predictions for one story apart.
    Errors: `InputError` that names every row and field at fault.
    """
    tables = []
    for part in _parts(files.read_form(path, ALIGNMENTS_FORM, _above_the_other_table)):
        story_id, annotator, system = part.iloc[0][_TABLE]
        table_id = "/".join(filter(None, (story_id, system, annotator)))
        sides = [part[part["table"] == side] for side in _IN_FILE]
        beliefs = [tuple(map(Row, side["actor"], side["belief"])) for side in sides]
        counts = [[int(n) if n else None for n in side["match_count"]] for side in sides]
        about = table_id, story_id, "", *beliefs, Alignment(*counts, [])
        tables.append(LabelledTable(*about, f"human:{annotator}"))
    return tables


def _parts(counted: pd.DataFrame) -> list[pd.DataFrame]:
    filled = counted if "system" in counted else counted.assign(system="")
    return [part for _, part in filled.groupby(_TABLE, sort=False)]


def _above_the_other_table(counted: pd.DataFrame) -> Iterator[tuple[int, str, str]]:
    for part in _parts(counted):
        for own, other in (_IN_FILE, reversed(_IN_FILE)):
            most = (part["table"] == other).sum()
            for row, found in part.loc[part["table"] == own, "match_count"].items():
                if re.fullmatch("[0-9]{1,9}", found) and int(found) > most:
                    expected = f"at most {most}, the {other} rows of that story and annotator"
                    yield row, "match_count", expected


def labelled_rows(tables: Sequence[LabelledTable]) -> pd.DataFrame:
    """One row a belief of a table, predicted rows first: `group, unit, table_id, side, match_count,
    operation, truth` (whether it is matched; missing where not known).
    """
    lines = [
        (table.group, f"{table.table_id}/{side}/{i}", table.table_id, side, n, operation)
        for table in tables
        for side, made_by in zip(SIDES, table.made_by, strict=True)
        for i, (n, operation) in enumerate(
            zip_longest(getattr(table.known, f"mc_{side}"), made_by, fillvalue="")
        )
    ]
    columns = ["group", "unit", "table_id", "side", "match_count", "operation"]
    found = pd.DataFrame(lines, columns=columns).astype({"match_count": "Int64"})
    return found.assign(truth=found["match_count"] > 0)


def undecided(predicted: Sequence[Row], gold: Sequence[Row]) -> Alignment:
    """What an answer that could not be read decides on two tables: nothing."""
    return Alignment([None] * len(predicted), [None] * len(gold), [])


def decisions(
    tables: Sequence[LabelledTable], found: Sequence[Alignment | None], judge: str
) -> pd.DataFrame:
    """What a judge decided on the rows of `labelled_rows`: `judge, group, unit, truth, decision`.
    found: one alignment a table; None where the judge's answer could not be read.
    """
    said: list[int | None] = []
    for table, one in zip(tables, found, strict=True):
        one = one or undecided(table.predicted, table.gold)
        said += [*one.mc_predicted, *one.mc_gold]
    known = labelled_rows(tables)[["group", "unit", "truth"]]
    decision = pd.array(said, dtype="Int64") > 0
    return known.assign(judge=judge, decision=decision)[["judge", *known, "decision"]]
