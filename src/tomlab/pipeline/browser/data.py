"""What the sample browser shows of a run: each text, prompt and table once, then its number."""

import json
import math
from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import pandas as pd

from tomlab.asking.protocol import Benchmark
from tomlab.records.files import yaml_beside
from tomlab.reporting.printed import WORDS as REPORTED
from tomlab.scoring.answers import as_shown

WORDS = yaml_beside(__file__, "words.yaml")
KEY = ["item_id", "model", "method", "sample"]
# What stands in a row behind the numbers of its facets' values.
COLUMNS = ("item", "sample", "score", "prompt", "answer", "error", "rule", "details", "table")
COLUMNS = (*COLUMNS, "judged", "judged_table")
_SHORTEST = 20  # characters of an item's text that is looked for in prompts


class Numbers(dict):
    """What was given a number, in the order of first sight, by what it is."""

    def of(self, thing: Hashable) -> int | None:
        """Its number, None for nothing."""
        return None if _missing(thing) else self.setdefault(thing, len(self))


def data(
    benchmark: Benchmark,
    methods: Mapping[str, str],
    items: pd.DataFrame,
    responses: pd.DataFrame,
    scores: pd.DataFrame,
    judged: pd.DataFrame | None = None,
) -> dict[str, Any]:
    """All that a page shows, ready for JSON.

    methods: their names in print; judged: scores by the judge that a calibration chose. `facets`
    are what rows are filtered by, each with the raw and the shown names of its values; `columns`:
    the rows, an answer each, by facet the number of its value, then `COLUMNS`, where all are alike
    one value for all; `prompts`: of each message its role and the texts that it is made of.
    """
    words = WORDS[benchmark.NAME]
    texts, prompts, details, tables, known = (Numbers() for _ in range(5))
    by_id = {item["item_id"]: item for item in items.to_dict("records")}
    added = [*KEY, *scores.columns.difference(responses.columns)]
    answers = responses.merge(scores[added], on=KEY, how="left")
    answers["outcome"] = answers["outcome"].fillna("")
    for name in words["facets"]:  # of what has no score: a first call of two
        own = items.set_index("item_id")[name].loc[answers["item_id"]].to_numpy()
        answers[name] = answers[name].where(answers[name].notna(), own)
    facets = _facets(answers, words, methods)
    decided = [] if judged is None else judged.query("judge != ''").to_dict("records")
    by_judge = {_key(row): row for row in decided}
    rows = []
    for answer in answers.to_dict("records"):
        item = as_shown(by_id[answer["item_id"]], answer["asked_as"])
        judge = by_judge.get(_key(answer), {})
        row = {
            "item": known.of(answer["item_id"]),
            "sample": answer["sample"],
            "score": _rounded(answer["score"]),
            "prompt": prompts.of(_prompt(answer["messages"], _texts_of(item, words), texts)),
            "answer": texts.of(answer["response"]),
            "error": texts.of(answer["error"]),
            "rule": texts.of(benchmark.rule(item, answer)) if answer["outcome"] else None,
            "details": details.of(_told(answer, WORDS["details"] | words["details"], texts)),
            "table": tables.of(answer.get("detail")),
            "judged": details.of(_told(judge, words.get("judged", {}), texts)),
            "judged_table": tables.of(judge.get("detail")),
        }
        own = [facet["keys"].index(str(answer[facet["name"]])) for facet in facets]
        rows.append([*own, *(row[name] for name in COLUMNS)])
    names = [*(facet["name"] for facet in facets), *COLUMNS]
    columns = dict(zip(names, zip(*rows, strict=True), strict=True))
    shown = [_item(by_id[name], words, texts, tables) for name in known]
    of_numbers = [_numbered(_short(json.loads(table)), texts) for table in tables]
    looks = {"": {"colour": "grey"}, "scored": {"colour": "sky"}, **REPORTED["looks"]["outcomes"]}
    palette = REPORTED["colours"] | REPORTED["tints"]
    return {
        "facets": facets,
        "n": len(rows),
        "columns": {n: c if len(set(c)) > 1 else c[0] for n, c in columns.items()},
        "colours": {name: palette[look["colour"]] for name, look in looks.items()},
        **{name: words[name] for name in ("letters", "judge")},
        "items": shown,
        "prompts": [*prompts],
        "details": [*details],
        "tables": of_numbers,
        "texts": [*texts],
    }


def _missing(value: Any) -> bool:
    return value is None or (isinstance(value, float) and math.isnan(value))


def _rounded(score: float) -> float | None:
    if _missing(score):
        return None
    return int(score) if score in (0, 1) else round(score, 2)


def _key(row: Mapping) -> tuple:
    return tuple(row[name] for name in KEY)


def _facets(answers: pd.DataFrame, words: Mapping, methods: Mapping[str, str]) -> list[dict]:
    """The columns by which rows are filtered, with the values found there, named ones first."""
    values = WORDS["values"] | {"method": methods} | words["values"]
    facets = []
    for name, label in (WORDS["facets"] | words["facets"]).items():
        named = {str(key): text for key, text in values.get(name, {}).items()}
        found = dict.fromkeys(answers[name].astype(str))
        keys = [
            *(key for key in named if key in found),
            *(key for key in found if key not in named),
        ]
        labels = [named.get(key, key) for key in keys]
        facets.append({"name": name, "label": label, "keys": keys, "labels": labels})
    return facets


def _texts_of(item: Mapping, words: Mapping) -> list[str]:
    """The texts of an item that prompts repeat, the longest first."""
    names = ("story", "question", *words["stories"])
    found = {*(item[name] for name in names), *item["choices"]}
    return sorted((text for text in found if len(text) >= _SHORTEST), key=lambda t: (-len(t), t))


def _prompt(messages: str, known: Sequence[str], texts: Numbers) -> tuple:
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


def _item(item: Mapping, words: Mapping, texts: Numbers, tables: Numbers) -> dict[str, Any]:
    """What a page shows of an item, as numbers of texts; of a gold table that of the table."""
    gold, more = item["answer"], {words["items"][name]: item[name] for name in words["items"]}
    is_table = words["gold"] == "table" and not len(item["choices"])
    return {
        "id": item["item_id"],
        "stories": [texts.of(item[name]) for name in ("story", *words["stories"])],
        "question": texts.of(item["question"]),
        "choices": [texts.of(choice) for choice in item["choices"]],
        "gold": None if is_table else texts.of(gold if isinstance(gold, str) else ", ".join(gold)),
        "gold_table": tables.of(gold) if is_table else None,
        "more": [(texts.of(label), texts.of(text)) for label, text in more.items() if text],
    }
