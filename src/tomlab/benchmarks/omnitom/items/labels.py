"""Which column and which legal label a text names, and whose labels they are (App. B.3, C.3)."""

import re
from collections import defaultdict
from collections.abc import Sequence

from tomlab.benchmarks.omnitom.items.records import DIMENSIONS, SCHEMA, Row

DASHES = "\\-\u2010-\u2015\u2212"  # hyphens, dashes and the minus, for a set of a pattern
_NAMES: dict[str, list[str]] = SCHEMA["columns"]  # the first is the head of a column
HEADS = {key: names[0] for key, names in _NAMES.items()}
# The same in running text: "Truth status".
DIMENSION_NAMES = {key: HEADS[key].replace("-", " ").capitalize() for key in DIMENSIONS}


def column(name: str) -> str | None:
    """The key of the column that a header cell names, None if it names none.

    Case, what is no letter or figure (some models set U+2011 for the hyphen), and what stands in
    brackets make no difference.
    """
    return _KEYS.get(_bare(re.sub(r"\(.*", "", name, flags=re.DOTALL)))


def _bare(name: str) -> str:
    return re.sub(r"[\W_]", "", name.casefold())


_KEYS = {_bare(name): key for key, names in _NAMES.items() for name in names}


def normal_label(dimension: str, text: str) -> str | None:
    """The legal label that a predicted one is a variant of, or None, which counts as incorrect.

    dimension: a key of `DIMENSIONS`. Variants are other case, punctuation and markup around it,
    other separators within it, the dimension's name before it, and the aliases of `schema.yaml`.
    Two labels, or a label in a sentence, are none; an order may be told twice: "1 (first-order)".
    """
    words = _words(text)
    prefix = next((name for name in _PREFIXES[dimension] if words.startswith(name)), "")
    words, variants = words.removeprefix(prefix), _VARIANTS[dimension]
    if dimension == "order":
        told = {variants.get(word) for word in _OF_ORDERS.sub(" ", words).split()}
        return told.pop() if len(told) == 1 else None
    return variants.get(words)


# What may stand beside the figure or the word of an order.
_OF_ORDERS = re.compile(r"\b(order|level|depth|beliefs?|or (higher|more|above))\b")


def _words(text: str) -> str:
    text = re.sub(r"[*`\"'“”‘’()\[\]:=/&_]", " ", text.casefold())
    # A hyphen joins words. Before a number it is a sign.
    text = re.sub(rf"(?<=\w)\s*[{DASHES}]\s*(?=\w)", " ", text)
    return " ".join(text.split()).rstrip(" .,;")


_PREFIXES = {
    dimension: sorted((f"{_words(name)} " for name in _NAMES[dimension]), key=len, reverse=True)
    for dimension in DIMENSIONS
}
_VARIANTS = {
    dimension: {
        variant: label
        for label in labels
        for variant in (_words(label), *SCHEMA["aliases"].get(dimension, {}).get(label, ()))
    }
    for dimension, labels in DIMENSIONS.items()
}


def labels_for(given: Sequence[Row], predicted: Sequence[Row]) -> list[Row | None]:
    """The predicted row of each given belief, None where there is none (Stage 2).

    Our rule; the paper says only that models are told to keep the order. First come rows with the
    same actor and belief but for case, spaces and punctuation, the first of equal ones with the
    first. What is left is paired by position, if there are as many rows as were given.
    """
    waiting = defaultdict(list)
    for i, row in enumerate(predicted):
        waiting[_plain(row)].append(i)
    chosen = [waiting[_plain(row)].pop(0) if waiting[_plain(row)] else None for row in given]
    if len(given) == len(predicted):
        left = {i for places in waiting.values() for i in places}
        chosen = [i if at is None and i in left else at for i, at in enumerate(chosen)]
    return [None if at is None else predicted[at] for at in chosen]


def _plain(row: Row) -> tuple[str, ...]:
    return tuple(" ".join(re.findall(r"\w+", text.casefold())) for text in (row.actor, row.belief))
