"""OmniToM's semantic alignment: MatchCounts between two belief tables (Sec. 5, Tab. 2, App. C.4).

Only rows of the same actor can match. Matches are one to one, but a row that says several things at
once may match up to three rows of the other table. The judges here compare words or sentence
embeddings; `parse_judgement` reads the two tables that a language model writes as judge.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from tomlab.benchmarks.omnitom.items.records import WORLD, Row
from tomlab.scoring.similarity import APOSTROPHES, plain, similarity
from tomlab.scoring.visible import visible

Table = Sequence[Row]
Counts = Sequence[int | None]
Vectors = Mapping | None  # sentence embeddings, of length 1, by text
_Pairs = list[tuple[int, int]]
_Parts = Sequence[range]  # for each row of a table: which of the table's texts are its clauses

MOST_PARTNERS = 3  # people never needed more (App. B.4)
SHORTEST_PART = 3  # words: "Ana and Ben are friends" is one belief, "Ana" is no clause

# Not "that" and "who", which often follow a verb: "Ana knows who won" is one belief.
_JOINT = re.compile(r"[;,]\s+(?:(?:and|but|while)\s+)?|\s+(?:and|but|while|because)\s+")
_GROUP = re.compile(r"[,;/&]|\b(?:and|or|of|with)\b", re.IGNORECASE)
# A tolerance, so that a pair exactly at the threshold counts whatever the rounding. It is too small
# to change anything else.
_TIE = 1e-9


@dataclass(frozen=True)
class Alignment:
    """The MatchCounts of both tables: how many rows of the other table each row matches."""

    mc_predicted: Counts  # None where a judge left it undefined, as in `mc_gold`
    mc_gold: Counts


def actor_key(name: str, gold_actors: Iterable[str]) -> str | None:
    """The gold actor that `name` means, or None (App. C.4, step 2). "world" always is one.

    Only cosmetic variants are accepted: case, spaces, punctuation, a leading article; a part of a
    gold name that no other gold actor shares ("Wang" for "Xiao Wang"); a full name that begins or
    ends with a gold name ("Ana Ruiz" for "Ana"). Groups ("Ana and Ben") and possessives ("Ana's
    father") are not variants of a person's name.
    """
    words = _words(name)
    key = "".join(words)
    actors_by_key: dict[str, str] = {}
    for actor in gold_actors:
        actors_by_key.setdefault("".join(_words(actor)), actor)
    if key == WORLD or key in actors_by_key:
        return actors_by_key.get(key, WORLD)

    is_single = not _GROUP.search(name) and not APOSTROPHES.search(name)
    is_full_name = is_single and all(word[0].isupper() for word in name.split())
    candidates = []
    for actor in actors_by_key.values():
        gold_words = _words(actor)
        if gold_words == [WORLD] or _GROUP.search(actor):
            continue
        if _shortens(words, gold_words) or (is_full_name and _shortens(gold_words, words)):
            candidates.append(actor)
    return candidates[0] if len(candidates) == 1 else None


def _words(name: str) -> list[str]:
    """The plain words of a name, without a leading article."""
    words = plain(name.replace("&", " and ")).split()
    if len(words) > 1 and words[0] in ("the", "a", "an"):
        return words[1:]
    return words


def _shortens(short: list[str], long: list[str]) -> bool:
    """Whether the longer name begins or ends with the shorter one."""
    n = len(short)
    return 0 < n < len(long) and short in (long[:n], long[-n:])


def compound_parts(belief: str) -> list[str]:
    """The clauses of a compound belief; [] if the belief is not compound. Clauses have three words
    or more and are separated by semicolons, commas, "and", "but", "while" or "because". A belief
    with fewer than two, or with quoted speech, is not compound.
    """
    if re.search('["“”]', belief):
        return []
    parts = [part.strip(" .") for part in _JOINT.split(belief)]
    parts = [part for part in parts if len(part.split()) >= SHORTEST_PART]
    return parts if len(parts) > 1 else []


def texts_to_embed(tables: Iterable[Table]) -> list[str]:
    """The distinct texts whose vectors `align` needs: beliefs, and clauses of compound beliefs."""
    texts = []
    for table in tables:
        for row in table:
            texts += [row.belief, *compound_parts(row.belief)]
    return list(dict.fromkeys(texts))


def align(
    predicted: Table, gold: Table, kind: str, threshold: float, vectors: Vectors = None
) -> Alignment:
    """MatchCounts by a kind of `similarity` and a threshold (above 0, at most 1).

    The rows of each actor are first matched one to one, by the assignment whose pairs lie farthest
    above the threshold in total, so that the closest of several rivals is kept. Then each compound
    row may take unmatched rows of the other table, up to three partners in all. The similarity of
    such a row to its most similar clause (`compound_parts`) must reach the threshold, and no other
    partner may cover that clause. A compound row without a partner takes two or more, or none.
    """
    return alignments(predicted, gold, kind, [threshold], vectors)[0]


def alignments(
    predicted: Table, gold: Table, kind: str, thresholds: Sequence[float], vectors: Vectors = None
) -> list[Alignment]:
    """The result of `align` at each of several thresholds; similarities are computed once. Each
    threshold needs an assignment of its own: with similarities .9 and .8 in the first row and .8
    and .1 in the second, the pair of .9 is best at .75, but at .65 the two pairs of .8 are better.
    """
    gold_actors = list(dict.fromkeys(row.actor for row in gold))
    keys = {row.actor: actor_key(row.actor, gold_actors) for row in (*predicted, *gold)}
    predicted_counts = [[0] * len(predicted) for _ in thresholds]
    gold_counts = [[0] * len(gold) for _ in thresholds]
    for key in {keys[actor] for actor in gold_actors}:
        predicted_rows, predicted_parts, predicted_texts = _of_actor(predicted, key, keys)
        gold_rows, gold_parts, gold_texts = _of_actor(gold, key, keys)
        likeness = similarity(kind, predicted_texts, gold_texts, vectors)
        for number, threshold in enumerate(thresholds):
            for left, right in _pairs(likeness, predicted_parts, gold_parts, threshold):
                predicted_counts[number][predicted_rows[left]] += 1
                gold_counts[number][gold_rows[right]] += 1
    return list(map(Alignment, predicted_counts, gold_counts))


def _of_actor(table: Table, key: str | None, keys: Mapping) -> tuple[list[int], _Parts, list[str]]:
    """One actor's rows: their numbers in the table, the places of each row's clauses among the
    texts, and the texts (first all beliefs, then all clauses).
    """
    numbers = [number for number, row in enumerate(table) if keys[row.actor] == key]
    # Rows are sorted by text, so that ties are decided alike in any order of the table.
    numbers.sort(key=lambda number: (plain(table[number].belief), table[number].belief, number))
    texts = [table[number].belief for number in numbers]
    parts = []
    for number in numbers:
        first = len(texts)
        texts += compound_parts(table[number].belief)
        parts.append(range(first, len(texts)))
    return numbers, parts, texts


def _pairs(likeness: np.ndarray, left: _Parts, right: _Parts, threshold: float) -> _Pairs:
    """The matching pairs (left row, right row) of one actor: first the one-to-one pairs, then the
    further partners of compound rows.

    likeness: the similarity of each left text to each right text. On both sides the rows' texts
    come first, then the clauses; `left` and `right` say which clauses belong to each row.
    """
    pairs = _assigned(likeness[: len(left), : len(right)], threshold)
    pairs += _extended(likeness, left, right, pairs, threshold)
    # The same for compound rows of the right table: the tables exchange their roles.
    exchanged = [(right_row, left_row) for left_row, right_row in pairs]
    exchanged += _extended(likeness.T, right, left, exchanged, threshold)
    return [(left_row, right_row) for right_row, left_row in exchanged]


def _assigned(likeness: np.ndarray, threshold: float) -> _Pairs:
    """The one-to-one pairs at or above the threshold that lie farthest above it in total."""
    from scipy.optimize import linear_sum_assignment  # slow to import, for the evaluation alone

    above = likeness - threshold
    gain = np.where(above > -_TIE, np.maximum(above, 0) + _TIE, 0.0)
    rows, columns = linear_sum_assignment(gain, maximize=True)
    return [(int(r), int(c)) for r, c in zip(rows, columns, strict=True) if gain[r, c] > 0]


def _extended(
    likeness: np.ndarray, parts: _Parts, other_parts: _Parts, pairs: _Pairs, threshold: float
) -> _Pairs:
    """The pairs (row, partner) that compound rows add to `pairs`. likeness: as in `_pairs`;
    parts: the clauses of the compound rows' table; other_parts: those of their partners' table.
    """
    partners = dict(pairs)
    matched = set(partners.values())
    added = []
    for row, row_parts in enumerate(parts):
        free = [number for number in range(len(other_parts)) if number not in matched]
        if not row_parts or not free:
            continue
        part_likeness = likeness[row_parts.start : row_parts.stop]
        is_open = np.ones(len(row_parts), dtype=bool)
        room = MOST_PARTNERS
        if row in partners:
            partner = partners[row]
            partner_texts = [partner, *other_parts[partner]]
            covered = part_likeness[:, partner_texts].max(axis=1)
            is_open = (covered < threshold) & (covered < part_likeness[:, partner].max())
            room -= 1
        # A row may only match its most similar clause: two wordings of one clause count once.
        to_free = part_likeness[:, free]
        is_best_part = to_free == to_free.max(axis=0)
        candidates = np.where(is_best_part, to_free, 0.0)[is_open]
        matches = _assigned(candidates, threshold)
        matches.sort(key=lambda match: -candidates[match])
        matches = matches[:room]
        if row in partners or len(matches) > 1:
            new_partners = [free[column] for _, column in matches]
            added += [(row, partner) for partner in new_partners]
            matched.update(new_partners)
    return added


def precision_recall_f1(alignment: Alignment) -> tuple[float, float, float]:
    """Precision, recall and F1 of one story (Sec. 5). Precision is the share of predicted rows with
    a nonzero MatchCount, recall that of gold rows. An empty table scores 0. Rows with an undefined
    count are left out; if a table has no other rows, its share and F1 are nan.
    """
    precision = _share(alignment.mc_predicted)
    recall = _share(alignment.mc_gold)
    total = precision + recall
    f1 = 2 * precision * recall / total if total != 0 else 0.0
    return precision, recall, f1


def _share(counts: Counts) -> float:
    """The share of nonzero counts among defined ones; 0 without rows, nan if none is defined."""
    if not counts:
        return 0.0
    is_matched = [count > 0 for count in counts if count is not None]
    if not is_matched:
        return float("nan")
    return sum(is_matched) / len(is_matched)


_LABEL = re.compile(
    r"(?:\d+ )?(?:the )?(?:(predictions?|predicted)|ground ?truth|gold)(?: beliefs?)?(?: table)?"
    r"(?: actor beliefs?(?: order)? match ?count)?"
)
_HEADER = re.compile(r"actor beliefs?(?: order)? match ?count")
_COUNT = re.compile(r'[,|;\t]\s*"?(\d{1,6})(?:\.0+)?"?[\s|]*$')


def parse_judgement(text: str, predicted: Table, gold: Table) -> Alignment | str:
    """The MatchCounts in a judge's answer, or a text that says why there are none.

    Each of the two tables begins with a label or a header and separates cells by commas or pipes;
    fences and prose around them are ignored. A line stands for the row at the same place if their
    texts are equal, else for the first other row with that text, else for the row at the same place
    if the table is complete and their `token_f1` is at least .5. A row without a line, or with an
    impossible count, is undefined (None), never 0.
    """
    tables = _judged_lines(visible(text)[0])
    if not any(tables.values()):
        return "no table of matches"
    mc_predicted = _counts(tables["predicted"], predicted, len(gold))
    mc_gold = _counts(tables["gold"], gold, len(predicted))
    if {*mc_predicted, *mc_gold} <= {None}:
        return "no row of the tables with its count"
    return Alignment(mc_predicted, mc_gold)


def _judged_lines(text: str) -> dict[str, list[tuple[str, int]]]:
    """The lines of the tables "predicted" and "gold": (actor and belief as plain text, count)."""
    tables: dict[str, list[tuple[str, int]]] = {"predicted": [], "gold": []}
    side = ""
    is_at_top = False
    for line in text.splitlines():
        words = plain(line)
        label = _LABEL.fullmatch(words)
        count = _COUNT.search(line)
        if label:
            side = "predicted" if label[1] else "gold"
            is_at_top = True
        elif _HEADER.fullmatch(words):
            if not is_at_top:  # without labels, the first header is of "predicted"
                side = "gold" if side else "predicted"
            is_at_top = True
        elif side and count:
            if is_at_top:  # if a table is written twice, the last one counts
                tables[side] = []
            is_at_top = False
            tables[side].append((plain(line[: count.start()]), int(count[1])))
    return tables


def _counts(lines: Sequence[tuple[str, int]], rows: Table, limit: int) -> list[int | None]:
    """The count of each row, None where no line stands for it or its count is above `limit`."""
    counts: list[int | None] = [None] * len(rows)
    for row, number in _lines_of_rows([text for text, _ in lines], rows).items():
        _, count = lines[number]
        if count <= limit:
            counts[row] = count
    return counts


def _lines_of_rows(lines: Sequence[str], rows: Table) -> dict[int, int]:
    """The number of the line that stands for each row, by row number; see `parse_judgement`."""
    texts = [plain(f"{row.actor} {row.belief}") for row in rows]
    at_place = zip(lines, texts, strict=False)
    line_of_row = {row: row for row, (line, text) in enumerate(at_place) if line == text}
    free = [number for number in range(len(lines)) if number not in line_of_row]
    for row, text in enumerate(texts):
        matches = [number for number in free if lines[number] == text]
        if matches and row not in line_of_row:
            line_of_row[row] = matches[0]
            free.remove(matches[0])
    if len(lines) == len(rows):
        likeness = similarity("token_f1", lines, texts)
        for row in free:
            if row not in line_of_row and likeness[row, row] >= 0.5:
                line_of_row[row] = row
    return line_of_row
