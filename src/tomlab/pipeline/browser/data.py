"""What the answers browser shows of a run: each text, prompt and table once, then its number."""

import json
import math
from collections import defaultdict
from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import pandas as pd

from tomlab.asking.protocol import Benchmark
from tomlab.records.files import yaml_beside
from tomlab.records.published import Wording
from tomlab.records.tidy import OUTCOMES, SCORED
from tomlab.reporting import draw, tables
from tomlab.scoring.answers import as_shown

WORDS = yaml_beside(__file__, "words.yaml")
KEY = ["item_id", "model", "method", "sample"]
_SHORTEST = 20  # characters of an item's text that is looked for in prompts


class Numbers(dict):
    """What was given a number, in the order of first sight, by what it is."""

    def of(self, thing: Hashable) -> int | None:
        """Its number, None for nothing."""
        return None if _missing(thing) else self.setdefault(thing, len(self))


# By kind what stands in the data once: items (by id), texts, prompts, details, tables (as JSON).
Kept = Mapping[str, Numbers]


def data(
    benchmark: Benchmark,
    wording: Wording,
    items: pd.DataFrame,
    responses: pd.DataFrame,
    scores: pd.DataFrame,
    judged: pd.DataFrame | None = None,
) -> dict[str, Any]:
    """All that a page shows, ready for JSON.

    judged: scores by the judge that a calibration chose. `facets` are what rows are filtered by,
    each with the raw and the shown names of its values; `columns`: the rows, an answer each, by
    facet the number of its value, then what `_row` tells, where all are alike one value for all;
    `prompts`: of each message its role and the texts that it is made of.
    """
    words, kept = WORDS.get(benchmark.NAME, {}), defaultdict(Numbers)
    shown = WORDS["facets"] | words.get("facets", {})
    by_id = {item["item_id"]: item for item in items.to_dict("records")}
    # A first call of two has no score: its outcome is "", its conditions are those of its item.
    added = [*KEY, *scores.columns.difference(responses.columns)]
    answers = responses.merge(scores[added], on=KEY, how="left")
    answers["outcome"] = answers["outcome"].fillna("")
    of_items = items.set_index("item_id").loc[answers["item_id"]]
    for column in words.get("facets", {}):
        known = answers[column] if column in answers else pd.Series(index=answers.index)
        answers[column] = known.where(known.notna(), of_items[column].to_numpy())
    facets = [_facet(name, label, answers[name], wording) for name, label in shown.items()]
    decided = [] if judged is None else judged.query("judge != ''").to_dict("records")
    by_judge = {tuple(row[name] for name in KEY): row for row in decided}
    rows = []
    for answer in answers.to_dict("records"):
        item = as_shown(by_id[answer["item_id"]], answer["asked_as"])
        rule = benchmark.rule(item, answer) if answer["outcome"] else None
        own = {f["name"]: f["keys"].index(str(answer[f["name"]])) for f in facets}
        judge = by_judge.get(tuple(answer[name] for name in KEY), {})
        rows.append(own | _row(item, answer, judge, words, kept) | {"rule": kept["texts"].of(rule)})
    columns = {name: tuple(row[name] for row in rows) for name in rows[0]}
    colours = {o: draw.OUTCOMES.get(tables.name(o, "outcome")) for o in OUTCOMES}
    colours |= {SCORED: draw.COLOURS["sky"], "": draw.COLOURS["grey"]}
    return {
        "facets": facets,
        "n": len(rows),
        "columns": {n: c if len(set(c)) > 1 else c[0] for n, c in columns.items()},
        "colours": colours,
        "letters": words.get("letters", "upper-alpha"),
        "judge": words.get("judge", ""),
        "items": [_item(by_id[name], words, kept) for name in kept["items"]],
        "prompts": [*kept["prompts"]],
        "details": [*kept["details"]],
        "tables": [_numbered(_short(json.loads(table)), kept["texts"]) for table in kept["tables"]],
        "texts": [*kept["texts"]],
    }


def _facet(name: str, label: str, values: pd.Series, wording: Wording) -> dict[str, Any]:
    """A column by which rows are filtered, with the values found there."""
    order = {"method": [*wording.methods], "outcome": [*OUTCOMES]}.get(name, [])
    found = dict.fromkeys(values.astype(str))
    keys = [*(key for key in order if key in found), *(key for key in found if key not in order)]
    own = WORDS["asked_as"] if name == "asked_as" else {}
    own = wording.outcomes | {"": "no verdict"} if name == "outcome" else own
    labels = [own.get(key) or tables.name(key, name, wording) or "none" for key in keys]
    return {"name": name, "label": label, "keys": keys, "labels": labels}


def _row(item: Mapping, answer: Mapping, judge: Mapping, words: Mapping, kept: Kept) -> dict:
    """One answer, but for its rule. judge: its row of a judge's scores, if any."""
    labels = WORDS["details"] | words.get("details", {})
    score = None if _missing(answer["score"]) else round(answer["score"], 2)
    return {
        "item": kept["items"].of(answer["item_id"]),
        "sample": answer["sample"],
        "score": int(score) if score in (0, 1) else score,
        "prompt": kept["prompts"].of(_prompt(answer["messages"], item, words, kept["texts"])),
        "answer": kept["texts"].of(answer["response"]),
        "error": kept["texts"].of(answer["error"]),
        "details": kept["details"].of(_told(answer, labels, kept["texts"])),
        "table": kept["tables"].of(answer.get("detail")),
        "judged": kept["details"].of(_told(judge, words.get("judged", {}), kept["texts"])),
        "judged_table": kept["tables"].of(judge.get("detail")),
    }


def _missing(value: Any) -> bool:
    return value is None or (isinstance(value, float) and math.isnan(value))


def _prompt(messages: str, item: Mapping, words: Mapping, texts: Numbers) -> tuple:
    """Messages as role and numbers of texts, those of the item apart from what is around them."""
    names = ("story", "question", *words.get("stories", ()))
    known = {*(item[name] for name in names), *item["choices"]}
    known = sorted((t for t in known if len(t) >= _SHORTEST), key=lambda t: (-len(t), t))
    said = [(each["role"], each["content"]) for each in json.loads(messages)]
    return tuple((role, tuple(map(texts.of, _parts(text, known)))) for role, text in said)


def _parts(text: str, known: Sequence[str]) -> list[str]:
    """A text cut wherever one of the known ones stands in it."""
    for part in known:
        before, found, after = text.partition(part)
        if found:
            return [*_parts(before, known), part, *_parts(after, known)]
    return [text] if text else []


def _told(row: Mapping, labels: Mapping, texts: Numbers) -> tuple[tuple[int, int], ...]:
    """The columns of a row that say something, each as its label's and its text's number."""
    found = []
    for name, label in labels.items():
        value = row.get(name)
        if isinstance(label, Mapping):  # of what is true or false: what it is called, then both
            label, value = label["name"], None if value is None else label[bool(value)]
        if not (_missing(value) or value == "" or value is False):
            text = "yes" if value is True else f"{value:.2f}" if isinstance(value, float) else value
            found.append((texts.of(label), texts.of(str(text))))
    return tuple(found)


def _short(detail: Any) -> Any:
    """A verdict's `detail` without what the gold table says: of its beliefs how often each was
    matched, or the labels that they were given; all else as it is.
    """
    if isinstance(detail, Mapping) and "gold" in detail:
        return {**detail, "gold": [count for *_, count in detail["gold"]]}
    if isinstance(detail, list) and isinstance(detail[0], list):
        names = [*detail[0][1]]
        given = [[labels[name][1] for name in names] for _, labels in detail]
        return {"names": names, "given": given}
    return detail


def _numbered(table: Any, texts: Numbers) -> Any:
    """A table from JSON with numbers of texts in the place of texts and of counts."""
    if isinstance(table, Mapping):
        return {name: _numbered(part, texts) for name, part in table.items()}
    if isinstance(table, list):
        return [_numbered(part, texts) for part in table]
    return None if table is None else texts.of(str(table))


def _item(item: Mapping, words: Mapping, kept: Kept) -> dict[str, Any]:
    """What a page shows of an item, as numbers of texts; of a gold table that of the table."""
    number, gold = kept["texts"].of, item["answer"]
    more = {label: item[name] for name, label in words.get("items", {}).items()}
    is_table = words.get("gold") == "table" and not len(item["choices"])
    return {
        "id": item["item_id"],
        "stories": [number(item[name]) for name in ("story", *words.get("stories", ()))],
        "question": number(item["question"]),
        "choices": [number(choice) for choice in item["choices"]],
        "gold": None if is_table else number(gold if isinstance(gold, str) else ", ".join(gold)),
        "gold_table": kept["tables"].of(gold) if is_table else None,
        "more": [(number(label), number(text)) for label, text in more.items() if text],
    }
