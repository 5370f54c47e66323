"""Labelled alignments that OmniToM's judges are calibrated on (App. B.4): known by construction,
or read from a file of human annotations.

Known by construction: operations listed in `calibration.yaml` edit a gold belief table, and each
operation determines the MatchCounts. Nobody judged these tables, as `LabelledTable.truth` says.
"""

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest
from pathlib import Path
from typing import NamedTuple

import pandas as pd
import pandera.pandas as pa

from tomlab.benchmarks.omnitom import rewordings
from tomlab.benchmarks.omnitom.alignment import Alignment, Vectors, compound_parts
from tomlab.benchmarks.omnitom.items.records import WORLD, Row, rows
from tomlab.records import files
from tomlab.records.tidy import KNOWN
from tomlab.scoring.similarity import shared, similarity

_DATA = files.yaml_beside(__file__)
OPERATIONS = _DATA["operations"]
PROFILES = _DATA["profiles"]
THRESHOLDS = tuple(n / 100 for n in range(10, 101, 2))  # of similarity, to choose from
# A belief given to an actor is a miss if it shares less than this with each of the actor's beliefs.
UNLIKE = 0.5
SIDES = ("predicted", "gold")  # the two tables of a `LabelledTable`
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
    def content(self) -> str:
        """The story's id and the predicted beliefs as text, which identify the predicted table."""
        beliefs = [" ".join(f"{row.actor}: {row.belief}".split()) for row in self.predicted]
        return "\n".join([self.group, *sorted(beliefs)])


def calibration_set(
    records: Sequence[Mapping], tables: int, seed: int, vectors: Vectors = None
) -> list[LabelledTable]:
    """Make `tables` edited tables. Records are taken in turn, each with another profile at every
    turn.

    vectors: embeddings of the gold beliefs, to find the most similar sibling of a belief (another
    belief of its actor); without them words are compared.
    """
    profiles = list(PROFILES)
    labelled = []
    for number in range(tables):
        turn, place = divmod(number, len(records))
        profile = profiles[(place + turn) % len(profiles)]
        repeat = turn // len(profiles)  # how often the record was edited in this manner before
        suffix = f"/{repeat}" if repeat else ""
        table = edited(records[place], profile, f"{seed}{suffix}", records, vectors)
        labelled.append(replace(table, table_id=table.table_id + suffix))
    return labelled


class _Edit(NamedTuple):
    """A row of an edited table, its true MatchCount, and the operation that made it."""

    row: Row
    match_count: int
    operation: str


def edited(
    record: Mapping, profile: str, seed: str, others: Sequence[Mapping], vectors: Vectors = None
) -> LabelledTable:
    """A record's table, edited by operations that are drawn with the weights of a profile.

    others: records that foreign beliefs are taken from. Paraphrases are those of the record, or
    made by rule. Near misses and beliefs under a wrong actor or from another story are compared by
    words with all beliefs of the actor, and only used if they state none of them.
    """
    table_id = f"{record['story_id']}/{profile}"
    draw = random.Random(f"{seed}/{table_id}")
    story = _Story(record, others, draw, vectors)
    weights = dict(PROFILES[profile])
    percent_foreign = weights.pop("foreign")
    predicted = []
    gold = []
    waiting = list(range(len(story.rows)))
    while waiting:
        number = waiting.pop(0)
        operation = draw.choices(list(weights), list(weights.values()))[0]
        sides = story.edit(operation, number, waiting)
        while sides is None:
            operation = _DATA["instead"][operation]
            sides = story.edit(operation, number, waiting)
        predicted += [_Edit(row, count, operation) for row, count in sides[0]]
        gold += [_Edit(row, count, operation) for row, count in sides[1]]
        if 100 * draw.random() < percent_foreign:
            predicted += [_Edit(row, 0, "foreign") for row in story.foreign()]
    predicted.sort(key=lambda edit: story.actors.index(edit.row.actor))
    counts = [edit.match_count for edit in predicted], [edit.match_count for edit in gold]
    return LabelledTable(
        table_id,
        str(record["story_id"]),
        record["story"],
        tuple(edit.row for edit in predicted),
        tuple(edit.row for edit in gold),
        Alignment(*counts),
        KNOWN,
        (tuple(edit.operation for edit in predicted), tuple(edit.operation for edit in gold)),
    )


class _Story:
    """A record that is being edited, and the edits that its beliefs allow."""

    def __init__(
        self, record: Mapping, others: Sequence[Mapping], draw: random.Random, vectors: Vectors
    ) -> None:
        self.rows = rows(record)
        self.draw = draw
        self.vectors = vectors
        self.wordings = [[b["belief"], *b.get("paraphrases", [])] for b in record["beliefs"]]
        self.actors = list(dict.fromkeys(row.actor for row in self.rows))
        self.people = [actor for actor in self.actors if actor != WORLD]
        self.others = [other for other in others if other["story_id"] != record["story_id"]]
        self.places = rewordings.places([row.belief for row in self.rows])

    def edit(
        self, operation: str, number: int, waiting: list[int]
    ) -> tuple[_Counted, _Counted] | None:
        """The predicted and the gold rows that an operation makes of belief `number`, with their
        MatchCounts; None if the operation is impossible here. Operations on two beliefs of one
        actor take the second out of `waiting`, the numbers of beliefs still to be edited.
        """
        row = self.rows[number]
        match operation:
            case "keep":
                return [(row, 1)], [(row, 1)]
            case "paraphrase":
                return [(self._in_other_words(number), 1)], [(row, 1)]
            case "duplicate":
                return [(row, 1), (self._in_other_words(number), 0)], [(row, 1)]
            case "drop":
                return [], [(row, 0)]
            case "split" | "merge" | "sibling":
                return self._edit_two(operation, number, waiting)
        misses = self._misses(operation, number)
        return ([(self.draw.choice(misses), 0)], [(row, 0)]) if misses else None

    def _edit_two(
        self, operation: str, number: int, waiting: list[int]
    ) -> tuple[_Counted, _Counted] | None:
        """Predict a sibling for a belief, or join two beliefs in the prediction ("merge") or in
        gold ("split"). Arguments and result: as for `edit`.
        """
        row = self.rows[number]
        partners = [other for other in waiting if self.rows[other].actor == row.actor]
        if operation == "sibling":
            partners = self._nearest_sibling(row, partners)
        if not partners:
            return None
        partner = partners[0]
        waiting.remove(partner)
        if operation == "sibling":
            return [(self.rows[partner], 0)], [(row, 0)]
        pair = [row, self.rows[partner]]
        # Beliefs are reworded by chance, or shared words would always reveal the joined row.
        varied = []
        for belief, belief_number in zip(pair, (number, partner), strict=True):
            varied.append(self.draw.choice([belief, self._in_other_words(belief_number)]))
        (first, second), single = (varied, pair) if operation == "merge" else (pair, varied)
        text = rewordings.joined(first.belief, second.belief, self.draw)
        order = first.order if first.order == second.order else ""
        joined = [(Row(first.actor, text, order), 2)]
        apart = [(belief, 1) for belief in single]
        return (joined, apart) if operation == "merge" else (apart, joined)

    def _nearest_sibling(self, row: Row, partners: Sequence[int]) -> list[int]:
        """The number of the partner whose belief is most like the row's; [] if none fits."""
        # Compound rows are left out: one may contain the other belief, and then they match.
        simple = [number for number in partners if not compound_parts(self.rows[number].belief)]
        if compound_parts(row.belief) or not simple:
            return []
        kind = "token_f1" if self.vectors is None else "embedding"
        texts = [self.rows[number].belief for number in simple]
        [likeness] = similarity(kind, [row.belief], texts, self.vectors)
        return [simple[likeness.argmax()]]

    def _misses(self, operation: str, number: int) -> list[Row]:
        """The rows that the operation makes of a belief and that state no belief of their actor."""
        row = self.rows[number]
        misses = []
        match operation:
            case "wrong actor":
                for actor in self.actors:
                    if actor != row.actor and self._likeness(row.belief, actor) < UNLIKE:
                        misses.append(replace(row, actor=actor))
                return misses
            case "other place":
                texts = rewordings.other_places(row.belief, self.places)
            case "other person":
                # "Ana thinks p" under actor Ana means p, which may be another of her beliefs.
                strangers = [name for name in self.people if name != row.actor]
                texts = rewordings.other_people(row.belief, self.people, strangers)
            case "other time":
                texts = rewordings.other_times(row.belief)
            case "negation":
                texts = rewordings.negations(row.belief)
        for text in texts:
            # The text must be more like this belief than like the actor's others, and not equal.
            likeness = max(shared(text, wording) for wording in self.wordings[number])
            nearest = self._likeness(text, row.actor, except_for=number)
            # "In the attic" is as like "in the box" as "in the bag", and means neither.
            is_as_near = operation == "other place" and nearest == likeness
            if likeness < 1 and (nearest < likeness or is_as_near):
                misses.append(replace(row, belief=text))
        return misses

    def foreign(self) -> list[Row]:
        """A list with one belief of another story, given to an actor of this one; [] if up to five
        random stories give none that is unlike the actor's own beliefs.
        """
        for other in self.draw.sample(self.others, min(5, len(self.others))):
            row = self.draw.choice(rows(other))
            actor = self.draw.choice(self.actors)
            names = dict.fromkeys(b["actor"] for b in other["beliefs"] if b["actor"] != WORLD)
            text = rewordings.renamed(row.belief, list(names), self.people)
            if self._likeness(text, actor) < UNLIKE:
                return [replace(row, actor=actor, belief=text)]
        return []

    def _in_other_words(self, number: int) -> Row:
        row = self.rows[number]
        paraphrases = self.wordings[number][1:]
        if paraphrases:
            return replace(row, belief=self.draw.choice(paraphrases))
        return replace(row, belief=rewordings.reworded(row.belief, self.draw))

    def _likeness(self, text: str, actor: str, except_for: int | None = None) -> float:
        """The largest `shared` of a text with any wording of the actor's beliefs (0 without any).
        except_for: the number of a belief to leave out.
        """
        shares = [0.0]
        for number, row in enumerate(self.rows):
            if row.actor == actor and number != except_for:
                shares += [shared(text, wording) for wording in self.wordings[number]]
        return max(shares)


_OTHER_TABLE = {"prediction": "gold", "gold": "prediction"}  # by the names in the form
_TABLE = ["story_id", "annotator", "system"]
ALIGNMENTS_FORM = pa.DataFrameSchema(
    {
        "story_id": files.text(),
        "table": files.one_of(_OTHER_TABLE),
        "actor": files.text(),
        "belief": files.text(),
        "match_count": files.text("[0-9]{0,9}", "a whole number or nothing"),
        "annotator": files.person(),
        "system": files.text(".*", required=False),
    },
    strict="filter",
)


def read_human(path: Path | str) -> list[LabelledTable]:
    """The tables in a CSV of human MatchCounts (`ALIGNMENTS_FORM`): one for each story, annotator
    and, if the file has it, `system`, which distinguishes predictions for one story. An empty
    match_count means undecided.
    Errors: `InputError` that names every row and field at fault.
    """
    tables = []
    for part in _by_table(files.read_form(path, ALIGNMENTS_FORM, _above_the_other_table)):
        story_id, annotator, system = part.iloc[0][_TABLE]
        table_id = "/".join(filter(None, (story_id, system, annotator)))
        predicted, mc_predicted = _counted_rows(part[part["table"] == "prediction"])
        gold, mc_gold = _counted_rows(part[part["table"] == "gold"])
        known = Alignment(mc_predicted, mc_gold)
        truth = f"human:{annotator}"
        tables.append(LabelledTable(table_id, story_id, "", predicted, gold, known, truth))
    return tables


def _counted_rows(form: pd.DataFrame) -> tuple[tuple[Row, ...], list[int | None]]:
    """The rows of one side of a form, and their MatchCounts."""
    counts = [int(count) if count else None for count in form["match_count"]]
    return tuple(map(Row, form["actor"], form["belief"])), counts


def _by_table(form: pd.DataFrame) -> list[pd.DataFrame]:
    """The form's rows for each pair of tables (same story, annotator and system)."""
    if "system" not in form:
        form = form.assign(system="")
    return [part for _, part in form.groupby(_TABLE, sort=False)]


def _above_the_other_table(form: pd.DataFrame) -> Iterator[tuple[int, str, str]]:
    """A check for `read_form`. Yields (row, column, what is expected) for each row with more
    matches than the other table has rows.
    """
    for part in _by_table(form):
        sizes = part["table"].value_counts()
        for row, side, count in part[["table", "match_count"]].itertuples():
            partners = _OTHER_TABLE.get(side)
            most_matches = sizes.get(partners, 0)
            if partners and count.isdecimal() and int(count) > most_matches:
                expected = (
                    f"at most {most_matches}, the {partners} rows of that story and annotator"
                )
                yield row, "match_count", expected


def labelled_rows(tables: Sequence[LabelledTable]) -> pd.DataFrame:
    """One row per belief of each table, predicted beliefs first: `group` (story), `unit` (its id),
    `table_id, side, match_count, operation, truth` (whether it has a match; missing if unknown).
    """
    lines = []
    for table in tables:
        both_counts = (table.known.mc_predicted, table.known.mc_gold)
        for side, counts, made_by in zip(SIDES, both_counts, table.made_by, strict=True):
            for place, cells in enumerate(zip_longest(counts, made_by, fillvalue="")):
                unit = f"{table.table_id}/{side}/{place}"
                lines.append((table.group, unit, table.table_id, side, *cells))
    columns = ["group", "unit", "table_id", "side", "match_count", "operation"]
    labelled = pd.DataFrame(lines, columns=columns).astype({"match_count": "Int64"})
    return labelled.assign(truth=labelled["match_count"] > 0)


def undecided(predicted: Sequence[Row], gold: Sequence[Row]) -> Alignment:
    """An alignment of two tables with every count undefined, as for an unreadable answer."""
    return Alignment([None] * len(predicted), [None] * len(gold))


def decisions(
    tables: Sequence[LabelledTable], alignments: Sequence[Alignment | None], judge: str
) -> pd.DataFrame:
    """A judge's decisions on the rows of `labelled_rows`: `judge, group, unit, truth, decision`
    (whether the row has a match; missing if undefined). alignments: one per table; None if the
    judge's answer was unreadable.
    """
    counts = []
    for table, alignment in zip(tables, alignments, strict=True):
        alignment = alignment or undecided(table.predicted, table.gold)
        counts += [*alignment.mc_predicted, *alignment.mc_gold]
    decided = labelled_rows(tables)[["group", "unit", "truth"]]
    decided.insert(0, "judge", judge)
    return decided.assign(decision=pd.array(counts, dtype="Int64") > 0)
