"""OmniToM's candidate gold by language models: beliefs extracted, then labelled (Sec. 4, App. B.2).

Two requests a story (TELeR L4): `requests` to `EXTRACT`, `extracted`, then `requests` to `LABEL`,
`labelled`. The paper's people reconciled such tables; these are one model's reading (see `source`).
"""

import json
from collections.abc import Mapping, Sequence

import pandas as pd

from tomlab.asking.attempts import OUTCOME, Answer, Unparsed, answer, attempt
from tomlab.benchmarks.omnitom.items import compose
from tomlab.benchmarks.omnitom.items.labels import labels_for
from tomlab.benchmarks.omnitom.items.parsing import EXTRACTION, LABELLING, Parsed, parse
from tomlab.benchmarks.omnitom.items.records import CODES, DIMENSIONS, Row
from tomlab.errors import refuse
from tomlab.models.specs import Request, Response

FIRST_ID = 3001  # of candidate records, after our own (1001 … and 2001 …)
# The level that did best in the sweep of Table 9.
EXTRACT, LABEL = "stage1-L4", "stage2-L4"
ATTEMPT_COLUMNS = ["step", "story_id", *OUTCOME]  # one row an answer, see `attempts.attempt`
OUT_COLUMNS = ["story_id", "belief", "actor", "text", "reason"]


def requests(
    method: str,
    records: Sequence[Mapping],
    examples: Sequence[Mapping],
    *,
    examples_seed: int = 0,
    examples_shown: int = 1,
    replaced: Mapping[str, str] | None = None,
    **options,
) -> list[Request]:
    """One request a record, at TELeR level L4 (App. C.2, C.3).

    method: `EXTRACT`, for the beliefs of stories, or `LABEL`, for the labels of the beliefs of
    `extracted`. examples: records, of which the prompt shows other stories of the category;
    examples_shown: how many; options: of `Request`. Errors: `InputError` for stories without so
    many examples.
    """
    requests = []
    problems = []
    options = {"max_tokens": compose.METHODS[method].max_tokens} | options
    for record in records:
        category = record["story_category"]
        shown = compose.examples_for(record, examples, examples_seed, examples_shown)
        if len(shown) < examples_shown:
            number = f"{examples_shown} other stories" if examples_shown > 1 else "another story"
            missing = f"found {len(shown)} among the examples, expected {number}"
            problems.append(f"story_id {record['story_id']}: {missing} of category {category!r}")
        item = {
            "group_id": str(record["story_id"]),
            "category": CODES[category],
            "story": record["story"],
            "question": compose.given_table(record["beliefs"]) if method == LABEL else "",
            "examples": json.dumps(shown, ensure_ascii=False),
        }
        requests.append(Request(tuple(compose.messages(item, method, replaced)), **options))
    cure = "take `llm` out, or name a `source` with more stories of each category"
    refuse(problems, f"params.yaml: omnitom.generation.writers: {cure}")
    return requests


def extracted(
    responses: Sequence[Response], stories: Sequence[Mapping], model: str
) -> tuple[list[dict], pd.DataFrame]:
    """What became of `requests` to extract: records still without labels, and `ATTEMPT_COLUMNS`.

    A belief has `actor`, `belief` and `order` ("" if none was legal). Stories without a usable row
    have no record. What a table may lack stands in `cut_off` (bool) and `rows_lost` (how many).
    """
    records = []
    attempts = []
    for response, story in zip(responses, stories, strict=True):
        parsed, cut_off, outcome = _read(response, EXTRACTION)
        attempts.append({"step": "extraction", "story_id": story["story_id"], **outcome})
        if parsed.rows:
            beliefs = [{name: getattr(row, name) for name in EXTRACTION} for row in parsed.rows]
            record = {**story, "source": f"llm:{model}", "beliefs": beliefs}
            records.append(record | {"cut_off": cut_off, "rows_lost": len(parsed.lost)})
    return records, pd.DataFrame(attempts, columns=ATTEMPT_COLUMNS)


def labelled(
    responses: Sequence[Response], records: Sequence[Mapping], model: str
) -> tuple[list[dict], pd.DataFrame, pd.DataFrame]:
    """What became of `requests` to label: gold records, `ATTEMPT_COLUMNS`, and the beliefs kept out
    with the reason (`OUT_COLUMNS`; `belief` is the number in the table given, from 1).

    The records have the format of App. B.5 and `cut_off` and `rows_lost` of `extracted`, where a
    belief without seven legal labels is lost too; a record without any other belief is left out.
    """
    gold = []
    attempts = []
    kept_out = []
    for response, record in zip(responses, records, strict=True):
        parsed, cut_off, outcome = _read(response, LABELLING)
        given = [Row(belief["actor"], belief["belief"]) for belief in record["beliefs"]]
        no_row = "cut off before its row" if cut_off else "no row for it in the answer"
        no_row = outcome["reason"] or no_row
        beliefs = []
        pairs = zip(given, labels_for(given, parsed.rows), strict=True)
        for number, (belief, row) in enumerate(pairs, start=1):
            reason = no_row if row is None else _label_fault(row)
            if reason:
                kept_out.append((record["story_id"], number, belief.actor, belief.belief, reason))
            else:
                labels = dict(row.labels)
                beliefs.append({"actor": belief.actor, "belief": belief.belief, "labels": labels})
        if beliefs:
            lost = len(given) - len(beliefs)
            cut_off = record.get("cut_off", False) or (cut_off and lost > 0)
            rows_lost = record.get("rows_lost", 0) + lost
            changes = {"beliefs": beliefs, "cut_off": cut_off, "rows_lost": rows_lost}
            gold.append(record | changes | {"source": f"llm:{model}"})
        elif parsed.rows:
            outcome |= {"status": "unparsed", "reason": "no belief with seven legal labels"}
        attempts.append({"step": "labelling", "story_id": record["story_id"], **outcome})
    tried = pd.DataFrame(attempts, columns=ATTEMPT_COLUMNS)
    return gold, tried, pd.DataFrame(kept_out, columns=OUT_COLUMNS)


def _label_fault(row: Row) -> str:
    wrong = [name for name in DIMENSIONS if not row.labels.get(name)]
    return f"missing or not legal: {', '.join(wrong)}" if wrong else ""


def _read(response: Response, columns: Sequence[str]) -> tuple[Parsed, bool, dict[str, str]]:
    """The table in an answer, whether it was cut off, and its `OUTCOME`."""

    def table(answer: Answer) -> Parsed | Unparsed:
        parsed = parse(answer.text, columns)
        return parsed if parsed.rows else Unparsed(parsed.reason)

    parsed, outcome = attempt(response, table, "parsed")
    cut_off = response.reply is not None and answer(response.reply).cut
    return parsed or Parsed([], [], ""), cut_off, outcome
