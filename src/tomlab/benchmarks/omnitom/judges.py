"""OmniToM's judges (App. B.4, C.4): language models that are asked to align tables, what people
should label of a run's own tables, and how their labels correct F1.
"""

import csv
import io
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence

import numpy as np
import pandas as pd

from tomlab.asking.attempts import request
from tomlab.benchmarks.omnitom.alignment import Alignment, parse_judgement, precision_recall_f1
from tomlab.benchmarks.omnitom.calibration import LabelledTable, undecided
from tomlab.benchmarks.omnitom.items.compose import METHODS, gold_rows
from tomlab.benchmarks.omnitom.items.records import Row
from tomlab.benchmarks.omnitom.scoring import key_of, parsed
from tomlab.judging.error import by_labels
from tomlab.models.ask import ask
from tomlab.models.specs import Limits, ModelSpec, Request, Response
from tomlab.scoring.answers import pairs

MAX_TOKENS = 6000  # of a judge's answer, as released (`--max-new-tokens 6000`)


async def asked(
    tables: Sequence[LabelledTable], level: str, model: ModelSpec, limits: Limits, **how
) -> tuple[list[Alignment | None], pd.Series, list[Response]]:
    """What `read` makes of a language model's answers, and these. how: as in `requests`."""
    replies = await ask(requests(tables, level, **how), model, limits=limits)
    found, reasons = read(replies, tables)
    return found, reasons, replies


def requests(
    tables: Sequence[LabelledTable], level: str, *, max_tokens: int = MAX_TOKENS, **options
) -> list[Request]:
    """One request a table. level: of detail of the prompt, L1 to L4 with examples (App. C.4);
    options: of `attempts.request`.
    """
    made = []
    for table in tables:
        values = {"prediction": _csv(table.predicted), "ground_truth": _csv(table.gold)}
        values["story"] = table.story or "(not given)"
        made.append(request(f"judges/align-{level}", values, max_tokens=max_tokens, **options))
    return made


def _csv(table: Sequence[Row]) -> str:
    # One line a row: a judge that copies them gives them back on one line.
    cells = [[" ".join(text.split()) for text in (row.actor, row.belief)] for row in table]
    lines = io.StringIO()
    csv.writer(lines, lineterminator="\n").writerows([["Actor", "Belief"], *cells])
    return lines.getvalue().rstrip("\n")


def read(
    responses: Sequence[Response], tables: Sequence[LabelledTable]
) -> tuple[list[Alignment | None], pd.Series]:
    """The alignments in a judge's answers, None where there is none, and what became of each."""
    found, reasons = [], []
    for response, table in zip(responses, tables, strict=True):
        text = response.reply and response.reply.text
        said = "failed" if text is None else parse_judgement(text, table.predicted, table.gold)
        found.append(None if isinstance(said, str) else said)
        reasons.append(said if isinstance(said, str) else "read")
    return found, pd.Series(reasons, name="answers", dtype=str)


def tables_of(items: pd.DataFrame, responses: pd.DataFrame) -> dict[tuple, LabelledTable]:
    """The extracted tables of a run, to be put to a judge, by their keys for `score(judged=…)`.
    Outputs that are not usable have none.
    """
    found = {}
    for item, response in pairs(items, responses, dict.fromkeys(responses["method"]) | METHODS):
        predicted = parsed(response).rows
        if item["question_type"] == "extraction" and predicted:
            key, sides = key_of(response), (tuple(predicted), tuple(gold_rows(item)))
            about = "/".join(map(str, key)), item["group_id"], item["story"]
            found[key] = LabelledTable(*about, *sides, undecided(*sides), "not known")
    return found


Tables = Mapping[tuple, LabelledTable]  # of `tables_of`


def of_run(
    human: Sequence[LabelledTable], tables: Tables
) -> tuple[list[LabelledTable], list[LabelledTable]]:
    """People's tables that have the predicted rows of one of a run's tables, and the others."""
    known = set(map(_content, tables.values()))
    parts = [[one for one in human if (_content(one) in known) == own] for own in (True, False)]
    return parts[0], parts[1]


def f1_by_people(tables: Tables, human: Sequence[LabelledTable]) -> dict[tuple, float]:
    """F1 of a run's tables by people's MatchCounts, averaged over those who labelled one."""
    said = defaultdict(list)
    for one in human:
        f1 = precision_recall_f1(one.known)[2]
        if not np.isnan(f1):
            said[_content(one)].append(f1)
    found = {key: said.get(_content(table)) for key, table in tables.items()}
    return {key: float(np.mean(f1)) for key, f1 in found.items() if f1}


def _content(table: LabelledTable) -> tuple:
    """The story and what is predicted of it, by which a table is known again."""
    said = (" ".join(f"{row.actor}: {row.belief}".split()) for row in table.predicted)
    return table.group, *sorted(said)


def to_label(tables: Tables, stories: Collection[str]) -> pd.DataFrame:
    """The form of `calibration.read_human` for these stories of a run, to be filled in by people:
    `match_count` and `annotator` are empty.
    """
    rows = [
        (table.group, "/".join(map(str, key[1:])), side, row.actor, row.belief, "", "")
        for key, table in tables.items()
        if table.group in stories
        for side, said in (("prediction", table.predicted), ("gold", table.gold))
        for row in said
    ]
    columns = ["story_id", "system", "table", "actor", "belief", "match_count", "annotator"]
    return pd.DataFrame(rows, columns=columns)


def corrected(scores: pd.DataFrame, by_people: Mapping[tuple, float]) -> pd.DataFrame:
    """F1 of each model and method, the mean over stories, corrected by people's labels where enough
    stories have some (`error.by_labels`): `model, method, value, ci_low, ci_high, n` (stories
    labelled), `n_groups`. scores: of extraction, by one judge; by_people: of `f1_by_people`.
    """
    rows = []
    for (model, method), part in scores.groupby(["model", "method"], sort=False):
        if found := by_labels(_stories(part, by_people)):
            rows.append({"model": model, "method": method, **vars(found)})
    columns = ["model", "method", "value", "ci_low", "ci_high", "n", "n_groups"]
    return pd.DataFrame(rows, columns=columns)


def _stories(part: pd.DataFrame, by_people: Mapping[tuple, float]) -> pd.DataFrame:
    """One row a story for `by_labels`: the mean of its samples, labelled if all of them are."""
    usable = part["n_predicted"] > 0
    said = [by_people.get(key_of(row), np.nan) for row in part.to_dict("records")]
    said = pd.Series(said, part.index, dtype=float).where(usable, 0.0)
    by_story = part.assign(said=said, usable=usable).groupby("group_id", sort=False)
    stories = by_story.agg(group=("family", "first"), judged=("score", "mean"))
    whole = by_story["said"].agg(lambda samples: samples.mean(skipna=False))
    return stories.assign(judged=stories["judged"].where(by_story["usable"].any()), labelled=whole)
