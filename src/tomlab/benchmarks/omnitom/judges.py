"""OmniToM's judges (App. B.4, C.4): language models align tables; people's labels correct F1."""

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
    """Ask a language model to align tables. Returns the alignments and reasons of `read`, and the
    model's responses. how: keyword arguments of `requests`.
    """
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
    """One request per labelled table. The system message is the directive; the user message has
    the story and both tables (App. C.4).

    level: the prompt's level of detail, L1 to L4; replaced: a user's own prompt files; options:
    further fields of `Request`.
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
    # Line breaks are removed, so that each row is one line, also where a judge copies it.
    table = table.map(lambda text: " ".join(text.split()))
    return table.to_csv(index=False, lineterminator="\n").rstrip("\n")


def read(
    responses: Sequence[Response], tables: Sequence[LabelledTable]
) -> tuple[list[Alignment | None], pd.Series]:
    """Read a judge's answers. Returns one alignment per answer, None if it is unusable, and a
    Series with "read" or the reason why not ("failed": there was no reply).
    """
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
    """The alignments of `read` as the release counts them: rows without a count get 0 matches."""
    counted = []
    for alignment, table in zip(alignments, tables, strict=True):
        alignment = alignment or undecided(table.predicted, table.gold)
        mc_predicted = [count or 0 for count in alignment.mc_predicted]
        mc_gold = [count or 0 for count in alignment.mc_gold]
        counted.append(Alignment(mc_predicted, mc_gold))
    return counted


def tables_of(items: pd.DataFrame, responses: pd.DataFrame) -> dict[tuple, LabelledTable]:
    """A run's usable extracted tables, for a judge to align, by the keys of `score(judged=…)`."""
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
    """Mean F1 over stories of each model and method, corrected by people's labels where enough
    stories have labels (`error.by_labels`): `model, method, value, ci_low, ci_high, n` (labelled
    stories), `n_groups`. scores: of extraction, by one judge; tables: from `tables_of`; human:
    tables with people's MatchCounts. If several people labelled a table, their F1 is averaged.
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
