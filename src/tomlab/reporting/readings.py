"""How answers are read: real answers of a run, each with its verdict and the rule that decided."""

import random
from collections.abc import Callable, Mapping, Sequence

import pandas as pd
from IPython.display import HTML

from tomlab.reporting.printed import WORDS
from tomlab.scoring.answers import failed

KEY = ["item_id", "model", "method", "sample"]
SHOWN = 240  # characters of a text; of an answer, half from its beginning and half from its end


def readings(
    items: pd.DataFrame,
    responses: pd.DataFrame,
    scores: pd.DataFrame,
    rule: Callable[[Mapping, Mapping], str],
    *,
    keys: Sequence[str] = (),
    n: int = 8,
    seed: int = 0,
) -> pd.DataFrame:
    """Up to n answers of different kinds, as texts a reader can check: question, options, gold,
    answer, verdict, rule, with the item and method as index.

    items, responses, scores: the tables of one run. rule: names, from an item and its response
    (the row of `responses` with the columns of its row in `scores`), the rule that decided the
    verdict. keys: the letters under which a benchmark shows its options; questions without any have
    no such column. A kind is an outcome, a rule and a method: every outcome is shown first, then
    new rules, then new methods, then further answers; within a kind `seed` draws.
    """
    added = [*KEY, *scores.columns.difference(responses.columns)]
    by_id = {item["item_id"]: item for item in items.to_dict("records")}
    answers = responses.merge(scores[added], on=KEY).to_dict("records")
    answers = [answer | {"rule": rule(by_id[answer["item_id"]], answer)} for answer in answers]
    chosen = _of_kinds(answers, n, seed)
    rows = [_row(by_id[answer["item_id"]], answer, keys) for answer in chosen]
    columns = ["item", "method", "question", "options", "gold", "answer", "verdict", "rule"]
    table = pd.DataFrame(rows, columns=columns).set_index(["item", "method"])
    return table if table["options"].any() else table.drop(columns="options")


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


def _row(item: Mapping, answer: Mapping, keys: Sequence[str]) -> dict:
    letters = dict(zip(item["choices"], keys, strict=False))
    options = [f"{letter}) {shortened(text)}" for text, letter in letters.items()]
    gold = item["answer"]
    return {
        "item": item["item_id"],
        "method": answer["method"],
        "question": shortened(item["question"]),
        "options": "\n".join(options),
        "gold": shortened(f"{letters[gold]}) {gold}" if gold in letters else gold),
        "answer": said(answer),
        "verdict": answer["outcome"],
        "rule": answer["rule"],
    }


def said(answer: Mapping) -> str:
    """A row of `responses` in a few words: what was answered, or why nothing was."""
    if failed(answer):
        return f"[no answer: {shortened(str(answer['error']))}]"
    return shortened(answer["response"]) or "[an empty answer]"


def shortened(text: str, limit: int = SHOWN) -> str:
    """A long text's beginning and end with … between, so that it has about `limit` characters."""
    half = limit // 2
    return text if len(text) <= limit else f"{text[:half]} … {text[-half:]}"


def show(table: pd.DataFrame) -> HTML:
    """The table for a notebook's output. What models wrote is shown as text, never as markup."""
    style = table.reset_index().style.hide(axis="index").format(escape="html")
    # Without the class, what stands between two dollar signs would be set as a formula.
    attributes = 'class="tex2jax_ignore mathjax_ignore"'
    style.set_table_styles(WORDS["css"]["readings"]).set_uuid("readings").set_table_attributes(
        attributes
    )
    return HTML(style.to_html())
