"""OmniToM's semantic alignment: MatchCounts between two belief tables (Sec. 5, Tab. 2, App. C.4).

A match needs the same actor. Matches are one to one, but a row that says several things at once may
stand for up to three rows of the other table. The judges here work by the text alone or by sentence
embeddings; a language model's two tables are read by `parse_judgement`.
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from tomlab.benchmarks.omnitom.items.records import WORLD, Row
from tomlab.scoring.similarity import APOSTROPHES, plain, similarity
from tomlab.scoring.visible import visible

Table = Sequence[Row]
Vectors = Mapping | None  # of length 1, by text
_Pairs = list[tuple[int, int]]
_Parts = Sequence[range]  # of each row of a table, where among its texts the row's parts stand

MOST_PARTNERS = 3  # people never needed more (App. B.4)
SHORTEST_PART = 3  # words: "Ana and Ben are friends" is one belief, "Ana" is no clause

# Not "that" and "who", which as often as not go with a verb: "Ana knows who won" is one belief.
_JOINT = re.compile(r"[;,]\s+(?:(?:and|but|while)\s+)?|\s+(?:and|but|while|because)\s+")
_GROUP = re.compile(r"[,;/&]|\b(?:and|or|of|with)\b", re.IGNORECASE)
# So small beside any likeness that it decides only whether a pair at the threshold counts, which
# rounding must not.
_TIE = 1e-9


@dataclass(frozen=True)
class Alignment:
    """MatchCounts of both tables, by row."""

    mc_predicted: list[int | None]  # None where a judge left it undefined, as in `mc_gold`
    mc_gold: list[int | None]
    pairs: _Pairs  # (predicted row, gold row), empty where the judge gives counts alone


def actor_key(name: str, gold_actors: Iterable[str]) -> str | None:
    """The gold actor that `name` is written for, or None (App. C.4, step 2).

    Cosmetic variants only: case, spaces, punctuation, a leading article; a part of a gold name that
    no other gold actor shares ("Wang" for "Xiao Wang"); a full name that begins or ends with a gold
    name ("Ana Ruiz" for "Ana"). No variants: groups ("Ana and Ben"), possessives ("Ana's father").
    """
    own = _words(name)
    known = {"".join(_words(actor)): actor for actor in reversed(list(gold_actors))}
    if "".join(own) in (*known, WORLD):
        return known.get("".join(own), WORLD)
    named = [actor for key, actor in known.items() if key != WORLD and not _GROUP.search(actor)]
    near = [actor for actor in named if _shortens(own, _words(actor))]
    several = _GROUP.search(name) or APOSTROPHES.search(name)
    if not several and all(word[0].isupper() for word in name.split()):
        near += [actor for actor in named if _shortens(_words(actor), own)]
    return near[0] if len(near) == 1 else None


def _words(name: str) -> list[str]:
    words = plain(name.replace("&", " and ")).split()
    return words[1:] if len(words) > 1 and words[0] in ("the", "a", "an") else words


def _shortens(short: list[str], long: list[str]) -> bool:
    n = len(short)
    return 0 < n < len(long) and short in (long[:n], long[-n:])


def compound_parts(belief: str) -> list[str]:
    """The clauses of a compound belief, or none: two parts or more of three words or more between
    semicolons, commas, "and", "but", "while", "because". Quoted speech is one event.
    """
    if re.search('["“”]', belief):
        return []
    parts = [part.strip(" .") for part in _JOINT.split(belief)]
    parts = [part for part in parts if len(part.split()) >= SHORTEST_PART]
    return parts if len(parts) > 1 else []


def texts_to_embed(tables: Iterable[Table]) -> list[str]:
    """The distinct texts that `align` needs vectors of: beliefs, and the parts of compound ones."""
    beliefs = [row.belief for table in tables for row in table]
    return list(dict.fromkeys(t for belief in beliefs for t in (belief, *compound_parts(belief))))


def align(
    predicted: Table, gold: Table, kind: str, threshold: float, vectors: Vectors = None
) -> Alignment:
    """MatchCounts by a kind of `similarity` and a threshold above 0, at most 1.

    Within one actor, first the one-to-one assignment whose pairs lie farthest above the threshold
    in total, so that the closest of several rivals is kept. Then each compound row may take still
    unmatched rows of the other table, up to three partners in all: a row must be as like as the
    threshold says to a part (`compound_parts`) that it is most like and that no partner covers. A
    compound row without a partner takes some only if they cover two parts or more.
    """
    return alignments(predicted, gold, kind, [threshold], vectors)[0]


def alignments(
    predicted: Table, gold: Table, kind: str, thresholds: Sequence[float], vectors: Vectors = None
) -> list[Alignment]:
    """`align` at each of several thresholds, the similarities computed once. An assignment at a
    threshold is not one assignment cut there: with likenesses .9 and .8 in the first row and .8 and
    .1 in the second, .9 stands alone at .75, but at .65 the two pairs of .8 are better.
    """
    actors = list(dict.fromkeys(row.actor for row in gold))
    keys = {name: actor_key(name, actors) for name in {row.actor for row in (*predicted, *gold)}}
    found = [[] for _ in thresholds]
    for key in dict.fromkeys(keys[actor] for actor in actors):
        sides = [_of_actor(table, key, keys) for table in (predicted, gold)]
        numbers, parts, texts = zip(*sides, strict=True)
        alike = similarity(kind, *texts, vectors)
        for pairs, threshold in zip(found, thresholds, strict=True):
            own = _pairs(alike, *parts, threshold)
            pairs += [(numbers[0][p], numbers[1][g]) for p, g in own]
    made = []
    for pairs in found:
        of_predicted, of_gold = Counter(p for p, _ in pairs), Counter(g for _, g in pairs)
        counts = [of_predicted[i] for i in range(len(predicted))]
        made.append(Alignment(counts, [of_gold[i] for i in range(len(gold))], sorted(pairs)))
    return made


def _of_actor(table: Table, key: str, keys: Mapping) -> tuple[list[int], _Parts, list[str]]:
    """The rows of one actor: their numbers, and all texts, of which the parts come last."""
    rows = [(row.belief, i) for i, row in enumerate(table) if keys[row.actor] == key]
    # By their texts, so that ties fall the same way whatever their order in the table.
    rows.sort(key=lambda row: (plain(row[0]), *row))
    texts, parts = [text for text, _ in rows], []
    for text, _ in rows:
        first = len(texts)
        texts += compound_parts(text)
        parts.append(range(first, len(texts)))
    return [i for _, i in rows], parts, texts


def _pairs(alike: np.ndarray, left: _Parts, right: _Parts, threshold: float) -> _Pairs:
    pairs = _assigned(alike[: len(left), : len(right)], threshold)
    pairs += _extended(alike, left, right, pairs, threshold)
    turned = [(g, p) for p, g in pairs]
    turned += _extended(alike.T, right, left, turned, threshold)
    return [(p, g) for g, p in turned]


def _assigned(alike: np.ndarray, threshold: float) -> _Pairs:
    """The one-to-one pairs at or above the threshold that lie farthest above it in total."""
    from scipy.optimize import linear_sum_assignment  # slow to import, for the evaluation alone

    above = alike - threshold
    gain = np.where(above > -_TIE, np.maximum(above, 0) + _TIE, 0.0)
    rows, columns = linear_sum_assignment(gain, maximize=True)
    return [(int(r), int(c)) for r, c in zip(rows, columns, strict=True) if gain[r, c] > 0]


def _extended(
    alike: np.ndarray, parts: _Parts, other_parts: _Parts, pairs: _Pairs, threshold: float
) -> _Pairs:
    """The pairs that compound rows add. alike: of one table's texts (rows, then parts)."""
    partners, taken, added = dict(pairs), {other for _, other in pairs}, []
    for row, own in enumerate(parts):
        free = [other for other in range(len(other_parts)) if own and other not in taken]
        if not free:
            continue
        block = alike[own.start : own.stop]
        wanted = np.ones(len(own), dtype=bool)
        if row in partners:
            partner = partners[row]
            said = block[:, [partner, *other_parts[partner]]].max(axis=1)
            wanted = (said < threshold) & (said < block[:, partner].max())
        open_ = np.flatnonzero(wanted)
        # For the part that it is most like, or a second wording of one part would count twice.
        best = block[:, free] == block[:, free].max(axis=0)
        candidates = np.where(best, block[:, free], 0.0)[open_]
        found = sorted(_assigned(candidates, threshold), key=lambda p: -candidates[p])
        found = found[: MOST_PARTNERS - (row in partners)]
        if row in partners or len(found) > 1:
            added += [(row, free[place]) for _, place in found]
            taken |= {free[place] for _, place in found}
    return added


def precision_recall_f1(alignment: Alignment) -> tuple[float, float, float]:
    """Precision, recall and F1 of one story (Sec. 5): rows with a nonzero MatchCount over rows. An
    empty table scores 0; undefined rows are left out, and a table with no other rows is nan.
    """
    precision, recall = _share(alignment.mc_predicted), _share(alignment.mc_gold)
    both = precision + recall
    return precision, recall, 2 * precision * recall / both if both != 0 else 0.0


def _share(counts: Sequence[int | None]) -> float:
    defined = [count > 0 for count in counts if count is not None]
    if not defined:
        return float("nan") if counts else 0.0
    return sum(defined) / len(defined)


_LABEL = re.compile(
    r"(?:\d+ )?(?:the )?(?:(predictions?|predicted)|ground ?truth|gold)(?: beliefs?)?(?: table)?"
    r"(?: actor beliefs?(?: order)? match ?count)?"
)
_HEADER = re.compile(r"actor beliefs?(?: order)? match ?count")
_COUNT = re.compile(r'[,|;\t]\s*"?(\d{1,6})(?:\.0+)?"?[\s|]*$')


def parse_judgement(text: str, predicted: Table, gold: Table) -> Alignment | str:
    """The counts in a judge's two tables, or the reason why there are none.

    The tables have a label or a header each, commas or pipes, fences or prose around them. A line
    stands for the row at its place if the texts are equal, else for the first other row with that
    text, else for the row at its place if the table is complete and the texts share half of their
    words. Rows without a line or a possible number are undefined (None), never 0.
    """
    tables = _said(visible(text)[0])
    if not any(tables.values()):
        return "no table of matches"
    mc_predicted = _counts(tables["predicted"], predicted, len(gold))
    mc_gold = _counts(tables["gold"], gold, len(predicted))
    if all(count is None for count in (*mc_predicted, *mc_gold)):
        return "no row of the tables with its count"
    return Alignment(mc_predicted, mc_gold, [])


def _said(text: str) -> dict[str, list[tuple[str, int]]]:
    """The lines of both tables: actor and belief as plain text, and the count."""
    tables, side, at_top = {"predicted": [], "gold": []}, None, False
    for line in text.splitlines():
        words = plain(line)
        if label := _LABEL.fullmatch(words):
            side, at_top = ("predicted" if label[1] else "gold"), True
        elif _HEADER.fullmatch(words):
            side = side if at_top else ("predicted" if side is None else "gold")
            at_top = True
        elif side and (count := _COUNT.search(line)):
            if at_top:  # of two tables with one label the later counts
                tables[side] = []
            at_top = False
            tables[side].append((plain(line[: count.start()]), int(count[1])))
    return tables


def _counts(said: Sequence[tuple[str, int]], rows: Table, most: int) -> list[int | None]:
    wanted = [plain(f"{row.actor} {row.belief}") for row in rows]
    place = {i: i for i, text in enumerate(wanted) if i < len(said) and said[i][0] == text}
    for i, text in enumerate(wanted):
        left = [j for j, line in enumerate(said) if line[0] == text and j not in place.values()]
        if i not in place and left:
            place[i] = left[0]
    if len(said) == len(rows):
        alike = similarity("token_f1", [line[0] for line in said], wanted)
        free = [i for i in range(len(rows)) if i not in place and i not in place.values()]
        place |= {i: i for i in free if alike[i, i] >= 0.5}
    counts = [said[place[i]][1] if i in place else None for i in range(len(rows))]
    return [None if count is None or count > most else count for count in counts]
