"""OmniToM's judges: language models asked to align tables, and the best judge (App. B.4)."""

import csv
import io
from collections.abc import Mapping, Sequence
from itertools import chain

import pandas as pd

from tomlab.asking import prompts
from tomlab.benchmarks.omnitom.alignment import Alignment, parse_judgement, precision_recall_f1
from tomlab.benchmarks.omnitom.calibration import LabelledTable
from tomlab.benchmarks.omnitom.items.compose import METHODS, gold_rows
from tomlab.benchmarks.omnitom.items.records import Row
from tomlab.benchmarks.omnitom.metrics import metrics
from tomlab.benchmarks.omnitom.paper import PUBLICATION
from tomlab.benchmarks.omnitom.scoring import Judge, parsed
from tomlab.models.ask import ask
from tomlab.models.specs import Limits, ModelSpec, Request, Response
from tomlab.scoring.answers import pairs

MAX_TOKENS = 6000  # of a judge's answer, as released (`--max-new-tokens 6000`)
SIDES = ("predicted", "gold")  # of an alignment
MISSING_AS_0 = "missing as 0"  # behind the name of a judge: `missing_as_0`


def requests(
    tables: Sequence[LabelledTable],
    level: str,
    *,
    seed: int = 0,
    max_tokens: int = MAX_TOKENS,
    replaced: Mapping[str, str] | None = None,
) -> list[Request]:
    """One request a table, for a language model that judges at a level of detail from L1 to L4,
    which has examples (App. C.4). replaced: as in `prompts.load`.
    """
    asked = []
    for table in tables:
        sides = {"prediction": _csv(table.predicted), "ground_truth": _csv(table.gold)}
        story = table.story or "(not given)"
        text = prompts.filled(f"judges/align-{level}", replaced, story=story, **sides)
        message = {"role": "user", "content": text}
        asked.append(Request((message,), max_tokens=max_tokens, seed=seed))
    return asked


def _csv(table: Sequence[Row]) -> str:
    # One line a row: a judge that copies them gives them back on one line.
    cells = [[" ".join(text.split()) for text in (row.actor, row.belief)] for row in table]
    lines = io.StringIO()
    csv.writer(lines, lineterminator="\n").writerows([["Actor", "Belief"], *cells])
    return lines.getvalue().rstrip("\n")


async def asked(
    tables: Sequence[LabelledTable], level: str, model: ModelSpec, limits: Limits, **how
) -> tuple[list[Alignment | None], pd.Series, list[Response]]:
    """A language model's alignments, what became of each answer (both as in `read`), and its
    answers. how: as in `requests`.
    """
    replies = await ask(requests(tables, level, **how), model, limits=limits)
    found, reasons = read(replies, tables)
    return found, reasons, replies


def tables_of(
    items: pd.DataFrame, responses: pd.DataFrame
) -> tuple[list[tuple], list[LabelledTable]]:
    """The extracted tables of a run, to be put to a judge, and their keys for `score(judged=…)`.

    Outputs that are not usable have no table. The true MatchCounts are not known (None).
    """
    found = {}
    for item, response in pairs(items, responses, dict.fromkeys(responses["method"]) | METHODS):
        predicted = parsed(response).rows
        if item["question_type"] == "extraction" and predicted:
            key = tuple(response[name] for name in ("item_id", "model", "method", "sample"))
            sides = tuple(predicted), tuple(gold_rows(item))
            unknown = ((None,) * len(side) for side in sides)
            about = "/".join(map(str, key)), item["group_id"], item["story"]
            found[key] = LabelledTable(*about, *sides, *unknown, (), "not known")
    return list(found), list(found.values())


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


def missing_as_0(
    found: Sequence[Alignment | None], tables: Sequence[LabelledTable]
) -> list[Alignment]:
    """A judge's alignments as the released evaluation reads them: a row without a count has no
    match, so that an answer that was cut off costs F1. By default such rows are undefined.
    """
    zeroed = []
    for one, table in zip(found, tables, strict=True):
        sides = (one.mc_predicted, one.mc_gold) if one else ([], [])
        rows = table.predicted, table.gold
        counts = [[n or 0 for n in s or [0] * len(r)] for s, r in zip(sides, rows, strict=True)]
        zeroed.append(Alignment(*counts, one.pairs if one else []))
    return zeroed


def f1_of_tables(
    found: Sequence[Alignment | None], tables: Sequence[LabelledTable]
) -> dict[str, float]:
    """Mean F1 of labelled tables: in truth, by a judge over what it decided (nan if nothing), and
    with all else as no match.
    """
    truth = [Alignment(list(t.mc_predicted), list(t.mc_gold), []) for t in tables]
    ways = {"true F1": truth, "F1": found, f"F1, {MISSING_AS_0}": missing_as_0(found, tables)}
    return {
        way: pd.Series([precision_recall_f1(one)[2] for one in by if one], dtype=float).mean()
        for way, by in ways.items()
    }


def cost(responses: Sequence[Response], spec: ModelSpec) -> dict[str, float]:
    """A judge's answers, their tokens and list price in US dollars (nan if none is declared)."""
    replies = [response.reply for response in responses if response.reply is not None]
    tokens = {"prompt_tokens": sum(reply.prompt_tokens for reply in replies)}
    tokens["completion_tokens"] = sum(reply.completion_tokens for reply in replies)
    price = float("nan") if spec.price is None else spec.price.usd(**tokens)
    return {"answers": len(replies), **tokens, "list_price_usd": price}


def match_counts(
    tables: Sequence[LabelledTable], by_judge: Mapping[str, Sequence[Alignment]]
) -> pd.DataFrame:
    """Shares of predicted beliefs by their MatchCount: one row a count, `truth` and each judge."""
    counts = {"truth": [table.mc_predicted for table in tables]}
    counts |= {judge: [one.mc_predicted for one in found] for judge, found in by_judge.items()}
    shares = {
        name: pd.Series([n for n in chain(*lists) if n is not None]).value_counts(normalize=True)
        for name, lists in counts.items()
    }
    return pd.DataFrame(shares).fillna(0.0).sort_index().rename_axis("MatchCount")


def printed_example() -> LabelledTable:
    """The paper's worked example (Table 2): two tables of one story, and what it counts."""
    rows = PUBLICATION.read("table2_alignment")
    sides = [rows[rows["side"] == side] for side in SIDES]
    tables = (tuple(map(Row, own["actor"], own["belief"])) for own in sides)
    counts = (tuple(own["matchcount"]) for own in sides)
    place = PUBLICATION.source("table2_alignment")
    return LabelledTable("table2", "table2", rows["story"].iloc[0], *tables, *counts, (), place)


def worked(example: LabelledTable, by_judge: Mapping[str, Alignment | None]) -> pd.DataFrame:
    """What judges count in an example: judge, side (predicted, gold), row (its place there),
    matchcount; missing where a judge left it undefined.
    """
    rows = []
    for judge, one in by_judge.items():
        lengths = len(example.predicted), len(example.gold)
        sides = (one.mc_predicted, one.mc_gold) if one else ([None] * n for n in lengths)
        for side, counts in zip(SIDES, sides, strict=True):
            rows += [(judge, side, row, count) for row, count in enumerate(counts)]
    found = pd.DataFrame(rows, columns=["judge", "side", "row", "matchcount"])
    return found.astype({"matchcount": "Int64"})


def sensitivity(scored: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """F1 of extraction by judge: judge, model, method, value, ci_low, ci_high, n, n_groups.
    scored: the scores of extraction by each judge.
    """
    by_judge = {judge: metrics(s) for judge, s in scored.items()}
    rows = pd.concat(by_judge, names=["judge"]).reset_index("judge")
    columns = ["judge", "model", "method", "value", "ci_low", "ci_high", "n", "n_groups"]
    rows = rows.query("metric == 'f1' and condition == 'all'")
    return rows[columns].reset_index(drop=True)


def in_use(name: str, judge: Judge, agreement: pd.DataFrame, truth: str) -> dict:
    """The judge in use, its agreement and what that was measured on, for `winner.json`.

    judge: the similarity with its threshold that decides, alone or where the language model that
    `name` stands for gave no answer that could be read. truth: as in `LabelledTable`.
    """
    own = agreement[agreement["judge"] == name].iloc[0]
    chosen = {"judge": name, "similarity": judge.kind, "threshold": judge.threshold, "truth": truth}
    shares = {key: round(float(own[key]), 4) for key in ("agreement", "ci_low", "ci_high")}
    return chosen | shares | {key: int(own[key]) for key in ("n", "n_groups")}
