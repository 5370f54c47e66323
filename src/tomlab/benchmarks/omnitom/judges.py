"""OmniToM's judges (App. B.4, C.4): models asked to align tables; people's labels correct F1."""

from collections import defaultdict
from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from tomlab.asking import prompts
from tomlab.benchmarks.omnitom.alignment import Alignment, parse_judgement, precision_recall_f1
from tomlab.benchmarks.omnitom.calibration import LabelledTable, undecided
from tomlab.benchmarks.omnitom.items.compose import METHODS, RELEASED_TOKENS, gold_rows
from tomlab.benchmarks.omnitom.items.records import Row
from tomlab.benchmarks.omnitom.scoring import key_of, parsed
from tomlab.judging.error import by_labels
from tomlab.models.ask import ask
from tomlab.models.specs import Limits, ModelSpec, Request, Response
from tomlab.scoring.answers import pairs


async def asked(
    tables: Sequence[LabelledTable], level: str, model: ModelSpec, limits: Limits, **how
) -> tuple[list[Alignment | None], pd.Series, list[Response]]:
    """What `read` makes of a language model's answers, and these. how: as in `requests`."""
    replies = await ask(requests(tables, level, **how), model, limits=limits)
    found, reasons = read(replies, tables)
    return found, reasons, replies


def requests(
    tables: Sequence[LabelledTable],
    level: str,
    *,
    max_tokens: int = RELEASED_TOKENS,
    replaced: Mapping[str, str] | None = None,
    **options,
) -> list[Request]:
    """One request a table: the system has the directive, the user story and tables (App. C.4).

    level: L1 to L4, of detail; replaced: a user's own prompt files; options: of `Request`.
    """
    directive = {"role": "system", "content": prompts.load(f"judges/align-{level}", replaced)}
    made = []
    for table in tables:
        data = prompts.filled(
            "judges/align-data",
            replaced,
            story_id=table.group,
            story=table.story or prompts.load("judges/align-no-story", replaced),
            prediction=_csv(table.predicted),
            ground_truth=_csv(table.gold),
        )
        messages = (directive, {"role": "user", "content": data})
        made.append(Request(messages, max_tokens, **options))
    return made


def _csv(beliefs: Sequence[Row]) -> str:
    # One line a row: a judge that copies them gives them back on one line.
    cells = [[" ".join(text.split()) for text in (row.actor, row.belief)] for row in beliefs]
    table = pd.DataFrame(cells, columns=["Actor", "Belief"])
    return table.to_csv(index=False, lineterminator="\n").rstrip("\n")


def read(
    responses: Sequence[Response], tables: Sequence[LabelledTable]
) -> tuple[list[Alignment | None], pd.Series]:
    """The alignments in a judge's answers, None where there is none, and what became of each."""
    said = [
        parse_judgement(one.reply.text, table.predicted, table.gold) if one.reply else "failed"
        for one, table in zip(responses, tables, strict=True)
    ]
    reasons = [one if isinstance(one, str) else "read" for one in said]
    found = [None if isinstance(one, str) else one for one in said]
    return found, pd.Series(reasons, name="answers", dtype=str)


def as_released(
    found: Sequence[Alignment | None], tables: Sequence[LabelledTable]
) -> list[Alignment]:
    """The alignments of `read` as the release counts them: a row without a count is no match."""
    counted = []
    for alignment, table in zip(found, tables, strict=True):
        of_predicted = [None] * len(table.predicted)
        of_gold = [None] * len(table.gold)
        if alignment is not None:
            of_predicted = alignment.mc_predicted
            of_gold = alignment.mc_gold
        sides = [[count or 0 for count in counts] for counts in (of_predicted, of_gold)]
        counted.append(Alignment(*sides, []))
    return counted


def tables_of(items: pd.DataFrame, responses: pd.DataFrame) -> dict[tuple, LabelledTable]:
    """The usable extracted tables of a run, for a judge, by their keys for `score(judged=…)`."""
    found = {}
    for item, response in pairs(items, responses, dict.fromkeys(responses["method"]) | METHODS):
        predicted = parsed(response).rows
        if item["question_type"] == "extraction" and predicted:
            key, sides = key_of(response), (tuple(predicted), tuple(gold_rows(item)))
            about = "/".join(map(str, key)), item["group_id"], item["story"]
            found[key] = LabelledTable(*about, *sides, undecided(*sides), "not known")
    return found


def corrected(
    scores: pd.DataFrame, tables: Mapping[tuple, LabelledTable], human: Sequence[LabelledTable]
) -> pd.DataFrame:
    """F1 of each model and method, the mean over stories, corrected by people's labels where enough
    stories have some (`error.by_labels`): `model, method, value, ci_low, ci_high, n` (stories
    labelled), `n_groups`. scores: of extraction, by one judge; tables: of `tables_of`; human: those
    with people's MatchCounts, of which F1 is averaged over the people who labelled one table.
    """
    by_people = defaultdict(list)
    for one in human:
        by_people[one.content].append(precision_recall_f1(one.known)[2])
    f1 = {key: pd.Series(by_people[one.content], dtype=float).mean() for key, one in tables.items()}
    usable = scores["n_predicted"] > 0
    said = [f1.get(key_of(row), np.nan) for row in scores.to_dict("records")]
    said = pd.Series(said, scores.index, dtype=float).where(usable, 0.0)
    keys = ["model", "method"]
    by_story = scores.assign(said=said, usable=usable).groupby([*keys, "group_id"], sort=False)
    stories = by_story.agg(group=("family", "first"), judged=("score", "mean"))
    stories["judged"] = stories["judged"].where(by_story["usable"].any())
    # A story counts as labelled if all of its samples are.
    stories["labelled"] = by_story["said"].agg(lambda samples: samples.mean(skipna=False))
    rows = [
        {**dict(zip(keys, whose, strict=True)), **vars(found)}
        for whose, own in stories.groupby(keys, sort=False)
        if (found := by_labels(own))
    ]
    return pd.DataFrame(rows, columns=[*keys, "value", "ci_low", "ci_high", "n", "n_groups"])
