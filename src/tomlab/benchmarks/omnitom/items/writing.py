"""OmniToM's candidate gold by language models: beliefs extracted, then labelled (Sec. 4, App. B.2).

Two requests a story, with the prompts of benchmark construction (TELeR L4): `requests` to
`EXTRACT`, `extracted`, then `requests` to `LABEL`, `labelled`. The paper had people reconcile and
verify such tables; until somebody has, they are one model's reading, and their source says so.
"""

import json
from collections.abc import Iterable, Mapping, Sequence

import pandas as pd

from tomlab.asking.attempts import answer
from tomlab.benchmarks.omnitom.items import compose
from tomlab.benchmarks.omnitom.items.labels import labels_for
from tomlab.benchmarks.omnitom.items.parsing import EXTRACTION, LABELLING, Parsed, parse
from tomlab.benchmarks.omnitom.items.records import CATEGORIES, CODES, DIMENSIONS, Row
from tomlab.errors import refuse
from tomlab.models.specs import Request, Response

FIRST_ID = 3001  # of candidate records, after our own (1001 …) and the grammar's (2001 …)
# The level that did best in the sweep of Table 9.
EXTRACT, LABEL = "stage1-L4", "stage2-L4"
# One row an answer. status: parsed, unparsed (reason says why) or failed (reason is the error of
# the request); beliefs: how many came of it; rows_lost: what looked like a row and could not be
# used, or labels no belief that was given; cut_off: the token limit ended it.
ATTEMPT_COLUMNS = ["step", "story_id", "status", "reason", "beliefs", "rows_lost", "cut_off"]
ATTEMPT_COLUMNS += ["text", "source"]
OUT_COLUMNS = ["story_id", "belief", "actor", "text", "reason"]


def drafts(stories: Iterable[Mapping]) -> list[dict]:
    """Records to make candidate gold for, without beliefs yet, numbered from `FIRST_ID`.

    stories: each with `story` and, as rows of `records.read_tombench`, `code` of the category or,
    as records, `story_category`; the gold of a record is left behind.
    """
    found = []
    for story_id, story in enumerate(stories, FIRST_ID):
        category = CATEGORIES[story["code"]] if "code" in story else story["story_category"]
        record = {"story_id": story_id, "story_category": category, "story": story["story"]}
        found.append(record | {"beliefs": []})
    return found


def requests(
    method: str,
    records: Sequence[Mapping],
    examples: Sequence[Mapping],
    *,
    examples_seed: int = 0,
    seed: int = 0,
    max_tokens: int = compose.METHODS[EXTRACT].max_tokens,
    replaced: Mapping[str, str] | None = None,
) -> list[Request]:
    """One request a record, at TELeR level L4 (App. C.2, C.3).

    method: `EXTRACT`, for the beliefs of `drafts`, or `LABEL`, for the labels of the beliefs of
    `extracted` or of any other records, whose labels are not shown. examples: records, of which the
    prompt shows one of the story's own category that is another story; `examples_seed` chooses.
    Errors: `InputError` for stories without such an example.
    """
    items, problems = [], []
    for record in records:
        category = record["story_category"]
        example = compose.example_for(record, examples, examples_seed)
        if example is None:
            missing = f"no other story among the examples is of category {category!r}"
            problems.append(f"story_id {record['story_id']}: {missing}")
        item = {"story": record["story"], "category": CODES[category]}
        item["question"] = compose.given_table(record["beliefs"]) if method == LABEL else ""
        items.append(item | {"example": json.dumps(example, ensure_ascii=False)})
    refuse(problems, "examples")
    messages = [tuple(compose.messages(item, method, replaced)) for item in items]
    return [Request(each, max_tokens=max_tokens, seed=seed) for each in messages]


def extracted(
    responses: Sequence[Response], stories: Sequence[Mapping], model: str
) -> tuple[list[dict], pd.DataFrame]:
    """What became of `requests` to extract: records still without labels, and `ATTEMPT_COLUMNS`.

    A belief has `actor`, `belief` and `order` ("" if none was legal). Stories without a usable row
    have no record. Two keys tell what a table may lack, for `filtering`: `cut_off` (bool),
    and `rows_lost`, the number of rows that could not be used.
    """
    records, attempts = [], []
    for response, story in zip(responses, stories, strict=True):
        parsed, attempt = _attempt(response, EXTRACTION, story, model)
        beliefs = [{"actor": r.actor, "belief": r.belief, "order": r.order} for r in parsed.rows]
        attempts.append(attempt | {"step": "extraction", "beliefs": len(beliefs)})
        if beliefs:
            state = {name: attempt[name] for name in ("source", "cut_off", "rows_lost")}
            records.append({**story, **state, "beliefs": beliefs})
    return records, pd.DataFrame(attempts, columns=ATTEMPT_COLUMNS)


def labelled(
    responses: Sequence[Response], records: Sequence[Mapping], model: str
) -> tuple[list[dict], pd.DataFrame, pd.DataFrame]:
    """What became of `requests` to label: gold records, `ATTEMPT_COLUMNS`, and the beliefs kept out
    with the reason (`OUT_COLUMNS`; `belief` is the number in the table given, from 1).

    The records have the format of App. B.5, source `llm:<model>`, and the keys `cut_off` and
    `rows_lost` of `extracted`, where a belief without seven legal labels is a row lost too. Its
    order is that of the labels. A record none of whose beliefs has them is left out.
    """
    whole, attempts, out = [], [], []
    for response, record in zip(responses, records, strict=True):
        parsed, attempt = _attempt(response, LABELLING, record, model)
        given = [Row(b["actor"], b["belief"]) for b in record["beliefs"]]
        labels, beliefs = labels_for(given, parsed.rows), []
        for number, (own, row) in enumerate(zip(given, labels, strict=True), start=1):
            if reason := _unlabelled(row, attempt):
                out.append((record["story_id"], number, own.actor, own.belief, reason))
            else:
                beliefs.append({"actor": own.actor, "belief": own.belief, "labels": {**row.labels}})
        if parsed.rows and not beliefs:
            attempt |= {"status": "unparsed", "reason": "no belief with seven legal labels"}
        attempt["rows_lost"] += len(parsed.rows) - sum(row is not None for row in labels)
        attempts.append(attempt | {"step": "labelling", "beliefs": len(beliefs)})
        if beliefs:
            lost = len(given) - len(beliefs)
            kept = {name: record[name] for name in ("story_id", "story_category", "story")}
            kept["beliefs"] = beliefs
            kept["cut_off"] = record.get("cut_off", False) or (attempt["cut_off"] and lost > 0)
            kept["rows_lost"] = record.get("rows_lost", 0) + lost
            whole.append(kept | {"source": attempt["source"]})
    tried = pd.DataFrame(attempts, columns=ATTEMPT_COLUMNS)
    return whole, tried, pd.DataFrame(out, columns=OUT_COLUMNS)


def _attempt(
    response: Response, columns: Sequence[str], record: Mapping, model: str
) -> tuple[Parsed, dict]:
    """The table in an answer, and what there is of its row of `ATTEMPT_COLUMNS`."""
    row = {"story_id": record["story_id"], "source": f"llm:{model}", "rows_lost": 0}
    if response.reply is None:
        failure = {"status": "failed", "reason": response.error, "cut_off": False, "text": ""}
        return Parsed([], [], ""), row | failure
    found = answer(response.reply)
    parsed = parse(found.text, columns)
    row |= {"cut_off": found.cut, "text": response.reply.text, "rows_lost": len(parsed.lost)}
    if parsed.rows:
        return parsed, row | {"status": "parsed", "reason": ""}
    reason = parsed.reason if found.failure == "unparsed" else f"{found.failure}: {parsed.reason}"
    return parsed, row | {"status": "unparsed", "reason": reason}


def _unlabelled(row: Row | None, attempt: Mapping) -> str:
    """Why a belief has not got its seven labels, "" if it has."""
    if row is None:
        missing = "cut off before its row" if attempt["cut_off"] else "no row for it in the answer"
        return attempt["reason"] or missing
    wrong = [name for name in DIMENSIONS if row.labels.get(name) not in DIMENSIONS[name]]
    return f"missing or not legal: {', '.join(wrong)}" if wrong else ""
