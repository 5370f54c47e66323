"""Find the column or legal label that a text names, and each belief's row (App. B.3, C.3)."""

import re
from collections import defaultdict
from collections.abc import Callable, Sequence
from functools import cache

from tomlab.benchmarks.omnitom.items.records import DIMENSIONS, SCHEMA, Row
from tomlab.scoring.similarity import plain

_DASHES = "\\-\u2010-\u2015\u2212"  # hyphens, dashes and the minus, for a set of a pattern
_NAMES = SCHEMA["columns"]  # by column; the first is its heading
HEADS = {key: names[0] for key, names in _NAMES.items()}


@cache
def column(name: str) -> str | None:
    """The key of the column that a header cell names, or None. Only letters and digits count, in
    any case (some models write U+2011 for the hyphen); text in brackets at the end is ignored.
    """
    return _KEYS.get(_bare(re.sub(r"(?<=[\w*`])\s*[(\[{].*", "", name, flags=re.DOTALL)))


def _bare(name: str) -> str:
    return re.sub(r"[\W_]", "", name.casefold())


_KEYS: dict[str, str] = {}
for _key, _names in _NAMES.items():
    _KEYS |= {_bare(_name): _key for _name in _names}


@cache
def normal_label(dimension: str, text: str) -> str | None:
    """The legal label that a predicted label means, or None, which counts as incorrect.

    Accepted are another case, punctuation and markup around the label, other separators within it,
    and the aliases of `schema.yaml`. Two labels, or a label within a sentence, give None; but an
    order may be written twice: "1 (first-order)".
    """
    words = _words(text)
    variants = _VARIANTS[dimension]
    if dimension != "order":
        return variants.get(words)
    orders = {variants.get(word) for word in _BESIDE_ORDERS.sub(" ", words).split()}
    return orders.pop() if len(orders) == 1 else None


# Words that may stand beside the number of an order.
_BESIDE_ORDERS = re.compile(r"\b(order|level|depth|beliefs?|or (higher|more|above))\b")


def _words(text: str) -> str:
    text = re.sub(r"[*`\"'“”‘’()\[\]:=/&_]", " ", text.casefold())
    # A hyphen between words becomes a space. One before a number is a minus and stays.
    text = re.sub(rf"(?<=\w)\s*[{_DASHES}]\s*(?=\w)", " ", text)
    return " ".join(text.split()).rstrip(" .,;")


_VARIANTS = {}
for _dimension, _labels in DIMENSIONS.items():
    _VARIANTS[_dimension] = {_words(label): label for label in _labels}
    for _label, _names in SCHEMA["aliases"].get(_dimension, {}).items():
        _VARIANTS[_dimension] |= dict.fromkeys(_names, _label)


def labels_for(gold: Sequence[Row], predicted: Sequence[Row]) -> list[Row | None]:
    """The predicted row for each gold belief, or None. Models are told to keep the rows' order.

    Our rule: rows are first paired by actor and belief, apart from case, spaces and punctuation.
    If both tables have as many rows, the rest are paired by position, whatever their actors.
    """
    rows = paired(gold, predicted, lambda row: (plain(row.actor), plain(row.belief)))
    if len(gold) != len(predicted):
        return rows
    ids = {id(row) for row in rows}
    for number, row in enumerate(predicted):
        if rows[number] is None and id(row) not in ids:
            rows[number] = row
    return rows


def paired(gold: Sequence[Row], predicted: Sequence[Row], key: Callable) -> list[Row | None]:
    """For each gold row, the first unused predicted row with the same `key(row)`, or None."""
    waiting = defaultdict(list)
    for row in predicted:
        waiting[key(row)].append(row)
    rows = []
    for row in gold:
        matches = waiting[key(row)]
        rows.append(matches.pop(0) if matches else None)
    return rows
