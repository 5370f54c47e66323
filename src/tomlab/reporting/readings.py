"""How answers are read: real answers of a run, each with its verdict and the rule that decided."""

import random
from collections.abc import Mapping, Sequence

import pandas as pd

from tomlab.asking.protocol import Benchmark
from tomlab.records.published import Wording
from tomlab.reporting.cards import cards, shortened
from tomlab.reporting.tables import PLAIN, Shown
from tomlab.scoring.answers import as_shown, failed

KEY = ["item_id", "model", "method", "sample"]
_COLUMNS = ["item", "method", "story", "question", "options", "gold", "answer", "verdict", "rule"]


def readings(
    benchmark: Benchmark,
    items: pd.DataFrame,
    responses: pd.DataFrame,
    scores: pd.DataFrame,
    n: int = 6,
    seed: int = 0,
) -> pd.DataFrame:
    """Up to n answers of different kinds, as texts a reader can check: story, question, options,
    gold, answer, verdict, rule, with the item and method as index.

    items, responses, scores: the tables of one run. A kind is an outcome, a rule and a method:
    every outcome is shown first, then new rules, then new methods, then further answers; within a
    kind `seed` draws. The same tables give the same answers, in whatever order they are.
    """
    added = [*KEY, *scores.columns.difference(responses.columns)]
    by_id = {item["item_id"]: item for item in items.to_dict("records")}
    answers = responses.merge(scores[added], on=KEY).to_dict("records")
    answers = [a | {"rule": benchmark.rule(by_id[a["item_id"]], a)} for a in answers]
    chosen = _of_kinds(answers, n, seed)
    rows = []
    for answer in chosen:
        item = as_shown({**by_id[answer["item_id"]]}, answer.get("asked_as", ""))
        verdict = {"verdict": answer["outcome"], "rule": answer["rule"]}
        told = {"method": answer["method"], "answer": said(answer)} | verdict
        rows.append(asked(benchmark, item) | told)
    return pd.DataFrame(rows, columns=_COLUMNS).set_index(["item", "method"])


def _of_kinds(answers: Sequence[Mapping], n: int, seed: int) -> list[Mapping]:
    """Up to n answers, first of each kind, sorted by outcome, rule and method."""
    drawn = sorted(answers, key=lambda a: random.Random(f"{seed}/{[a[k] for k in KEY]}").random())
    kinds: dict[tuple, Mapping] = {}
    for answer in drawn:
        kinds.setdefault((answer["outcome"], answer["rule"], answer["method"]), answer)
    chosen: list[tuple] = []
    while len(chosen) < min(n, len(kinds)):
        seen = [set(column) for column in zip(*chosen, strict=True)] or [set()] * 3
        left = [kind for kind in kinds if kind not in chosen]
        # False comes before True: a kind with a new outcome, then one with a new rule, …
        chosen.append(min(left, key=lambda kind, seen=seen: [kind[i] in seen[i] for i in range(3)]))
    found = [kinds[kind] for kind in chosen]
    more = [answer for answer in drawn if not any(answer is one for one in found)]
    found += more[: n - len(found)]
    return sorted(found, key=lambda answer: (answer["outcome"], answer["rule"], answer["method"]))


def asked(benchmark: Benchmark, item: Mapping) -> dict[str, str]:
    """An item as texts: item (its id), story, question, options and gold; what it has not is ""."""
    letters = dict(zip(item["choices"], getattr(benchmark, "KEYS", ()), strict=False))
    gold = item["answer"] if isinstance(item["answer"], str) else ", ".join(item["answer"])
    texts = {
        "item": item["item_id"],
        "story": item["story"],
        "question": item["question"],
        "options": "\n".join(f"{letter}) {text}" for text, letter in letters.items()),
        "gold": f"{letters[gold]}) {gold}" if gold in letters else gold,
    }
    # Of some items the columns do not say all that is asked.
    return texts | (benchmark.in_words(item) if hasattr(benchmark, "in_words") else {})


def examples(benchmark: Benchmark, items: pd.DataFrame, wording: Wording = PLAIN) -> Shown:
    """Items as cards. benchmark: its face, or its module `items.compose`, which scores nothing."""
    rows = [asked(benchmark, item) for item in items.to_dict("records")]
    return cards(pd.DataFrame(rows).set_index("item"), wording) if rows else cards(items)


def said(answer: Mapping) -> str:
    """A row of `responses` in a few words: what was answered, or why nothing was."""
    if failed(answer):
        return f"[no answer: {shortened(str(answer['error']))}]"
    return shortened(answer["response"]) or "[an empty answer]"


def show(table: pd.DataFrame, wording: Wording = PLAIN) -> Shown:
    """The table for a notebook's output, a card a row. What models wrote is shown as text, never as
    markup.
    """
    return cards(table, wording)
