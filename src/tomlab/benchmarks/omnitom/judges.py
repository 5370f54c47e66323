"""OmniToM's judges (App. B.4, C.4): models asked to align tables; people's labels correct F1."""

from collections.abc import Mapping, Sequence

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
    responses = await ask(requests(tables, level, **how), model, limits=limits)
    alignments, reasons = read(responses, tables)
    return alignments, reasons, responses


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
    judge_requests = []
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
        judge_requests.append(Request(messages, max_tokens, **options))
    return judge_requests


def _csv(beliefs: Sequence[Row]) -> str:
    table = pd.DataFrame([(row.actor, row.belief) for row in beliefs], columns=["Actor", "Belief"])
    # One line a row: a judge that copies them gives them back on one line.
    table = table.map(lambda text: " ".join(text.split()))
    return table.to_csv(index=False, lineterminator="\n").rstrip("\n")


def read(
    responses: Sequence[Response], tables: Sequence[LabelledTable]
) -> tuple[list[Alignment | None], pd.Series]:
    """The alignments in a judge's answers, None where there is none, and what became of each."""
    alignments: list[Alignment | None] = []
    reasons = []
    for response, table in zip(responses, tables, strict=True):
        judgement: Alignment | str = "failed"
        if response.reply:
            judgement = parse_judgement(response.reply.text, table.predicted, table.gold)
        if isinstance(judgement, Alignment):
            alignments.append(judgement)
            reasons.append("read")
        else:
            alignments.append(None)
            reasons.append(judgement)
    return alignments, pd.Series(reasons, name="answers", dtype=str)


def as_released(
    alignments: Sequence[Alignment | None], tables: Sequence[LabelledTable]
) -> list[Alignment]:
    """The alignments of `read` as the release counts them: a row without a count is no match."""
    counted = []
    for alignment, table in zip(alignments, tables, strict=True):
        alignment = alignment or undecided(table.predicted, table.gold)
        mc_predicted = [count or 0 for count in alignment.mc_predicted]
        mc_gold = [count or 0 for count in alignment.mc_gold]
        counted.append(Alignment(mc_predicted, mc_gold))
    return counted


def tables_of(items: pd.DataFrame, responses: pd.DataFrame) -> dict[tuple, LabelledTable]:
    """The usable extracted tables of a run, for a judge, by their keys for `score(judged=…)`."""
    tables = {}
    for item, response in pairs(items, responses, dict.fromkeys(responses["method"]) | METHODS):
        predicted = tuple(parsed(response).rows)
        if item["question_type"] == "extraction" and predicted:
            key = key_of(response)
            table_id = "/".join(map(str, key))
            gold = tuple(gold_rows(item))
            tables[key] = LabelledTable(
                table_id=table_id,
                group=item["group_id"],
                story=item["story"],
                predicted=predicted,
                gold=gold,
                known=undecided(predicted, gold),
                truth="not known",
            )
    return tables


def corrected(
    scores: pd.DataFrame, tables: Mapping[tuple, LabelledTable], human: Sequence[LabelledTable]
) -> pd.DataFrame:
    """F1 of each model and method, the mean over stories, corrected by people's labels where enough
    stories have some (`error.by_labels`): `model, method, value, ci_low, ci_high, n` (stories
    labelled), `n_groups`. scores: of extraction, by one judge; tables: of `tables_of`; human: those
    with people's MatchCounts, of which F1 is averaged over the people who labelled one table.
    """
    f1s = [precision_recall_f1(table.known)[2] for table in human]
    by_people = pd.Series(f1s, [table.content for table in human], dtype=float)
    by_people = by_people.groupby(level=0).mean()
    contents = {key: table.content for key, table in tables.items()}
    usable = scores["n_predicted"] > 0
    content = pd.Series([contents.get(key) for key in map(key_of, scores.to_dict("records"))])
    labelled = content.map(by_people).set_axis(scores.index).where(usable, 0.0)
    keys = ["model", "method"]
    outputs = scores.assign(labelled=labelled, usable=usable)
    outputs = outputs.groupby([*keys, "group_id"], sort=False)
    stories = outputs.agg(group=("family", "first"), judged=("score", "mean"))
    stories["judged"] = stories["judged"].where(outputs["usable"].any())
    # A story counts as labelled if all of its samples are.
    stories["labelled"] = outputs["labelled"].agg(lambda samples: samples.mean(skipna=False))
    rows = []
    for (model, method), own_stories in stories.groupby(keys, sort=False):
        interval = by_labels(own_stories)
        if interval:
            rows.append({"model": model, "method": method, **vars(interval)})
    return pd.DataFrame(rows, columns=[*keys, "value", "ci_low", "ci_high", "n", "n_groups"])
