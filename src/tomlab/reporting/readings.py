"""Show how answers are read: answers of a run, each with its verdict and the rule behind it."""

import random
from collections.abc import Mapping

import pandas as pd

from tomlab.asking.protocol import Benchmark
from tomlab.records.published import Wording
from tomlab.records.tidy import KEY
from tomlab.reporting.cards import cards, shortened
from tomlab.reporting.tables import PLAIN, Shown
from tomlab.scoring.answers import as_shown, failed

_COLUMNS = ["item", "method", "story", "question", "options", "gold", "answer", "verdict", "rule"]


def readings(
    benchmark: Benchmark,
    items: pd.DataFrame,
    responses: pd.DataFrame,
    scores: pd.DataFrame,
    n: int = 6,
    seed: int = 0,
) -> pd.DataFrame:
    """Up to n answers of different kinds, as texts that a reader can check, by item and method.

    items, responses, scores: the tables of one run. The draw depends on `seed`, not on the order of
    rows. It prefers answers with a new outcome, then with a new rule, then with a new method.
    """
    added = [*KEY, *scores.columns.difference(responses.columns)]
    by_id = {item["item_id"]: item for item in items.to_dict("records")}
    answers = responses.merge(scores[added], on=KEY).to_dict("records")
    for answer in answers:
        answer["item"] = as_shown(by_id[answer["item_id"]], answer)
        answer["rule"] = benchmark.rule(answer["item"], answer)
        key = [answer[column] for column in KEY]
        answer["lot"] = random.Random(f"{seed}/{key}").random()
    answers.sort(key=lambda answer: answer["lot"])
    kinds = pd.DataFrame(answers, columns=["outcome", "rule", "method"])
    # False sorts before True, so values that did not occur before come first.
    repeats = kinds.apply(lambda column: column.duplicated())
    repeats["kind"] = kinds.duplicated()
    order = repeats.sort_values([*repeats], kind="stable").index[:n]
    rows = []
    for number in kinds.loc[order].sort_values([*kinds]).index:
        answer = answers[number]
        row = answer | {"answer": said(answer), "verdict": answer["outcome"]}
        rows.append(row | asked(benchmark, answer["item"]))
    return pd.DataFrame(rows, columns=_COLUMNS).set_index(["item", "method"])


def asked(benchmark: Benchmark, item: Mapping) -> dict[str, str]:
    """An item as texts: item (its id), story, question, options, gold; "" for what it lacks."""
    letters = dict(zip(item["choices"], getattr(benchmark, "KEYS", ()), strict=False))
    gold = item["answer"] if isinstance(item["answer"], str) else ", ".join(item["answer"])
    texts = {
        "item": item["item_id"],
        "story": item["story"],
        "question": item["question"],
        "options": "\n".join(f"{letter}) {text}" for text, letter in letters.items()),
        "gold": f"{letters[gold]}) {gold}" if gold in letters else gold,
    }
    # Some benchmarks add texts, as their columns do not contain all that is asked.
    return texts | (benchmark.in_words(item) if hasattr(benchmark, "in_words") else {})


def examples(benchmark: Benchmark, items: pd.DataFrame, wording: Wording = PLAIN) -> Shown:
    """Show items as cards. benchmark: its `Benchmark`, or its module `items.compose`."""
    rows = [asked(benchmark, item) for item in items.to_dict("records")]
    return cards(pd.DataFrame(rows).set_index("item") if rows else items, wording)


def said(answer: Mapping) -> str:
    """The answer in a row of `responses`, shortened, or in brackets why there is none."""
    if failed(answer):
        return f"[no answer: {shortened(str(answer['error']))}]"
    return shortened(answer["response"]) or "[an empty answer]"
