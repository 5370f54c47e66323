"""Which column and which legal label a text names, and whose labels they are (App. B.3, C.3)."""

import re
from collections import defaultdict
from collections.abc import Callable, Sequence
from functools import cache

from tomlab.benchmarks.omnitom.items.records import DIMENSIONS, SCHEMA, Row
from tomlab.scoring.similarity import plain

_DASHES = "\\-\u2010-\u2015\u2212"  # hyphens, dashes and the minus, for a set of a pattern
_NAMES = SCHEMA["columns"]  # the first is the head of a column
HEADS = {key: names[0] for key, names in _NAMES.items()}


@cache
def column(name: str) -> str | None:
    """The key of the column that a header cell names, or None. Case, what is no letter or figure
    (some models set U+2011 for the hyphen), and what stands in brackets make no difference.
    """
    return _KEYS.get(_bare(re.sub(r"(?<=[\w*`])\s*[(\[{].*", "", name, flags=re.DOTALL)))


def _bare(name: str) -> str:
    return re.sub(r"[\W_]", "", name.casefold())


_KEYS: dict[str, str] = {}
for _key, _names in _NAMES.items():
    _KEYS |= {_bare(_name): _key for _name in _names}


@cache
def normal_label(dimension: str, text: str) -> str | None:
    """The legal label that a predicted one is a variant of, or None, which counts as incorrect.

    Variants are other case, punctuation and markup around it, other separators within it, and the
    aliases of `schema.yaml`. Two labels, or a label in a sentence, are none; an order may be told
    twice: "1 (first-order)".
    """
    words = _words(text)
    variants = _VARIANTS[dimension]
    if dimension != "order":
        return variants.get(words)
    orders = {variants.get(word) for word in _BESIDE_ORDERS.sub(" ", words).split()}
    return orders.pop() if len(orders) == 1 else None


# What may stand beside the figure or the word of an order.
_BESIDE_ORDERS = re.compile(r"\b(order|level|depth|beliefs?|or (higher|more|above))\b")


def _words(text: str) -> str:
    text = re.sub(r"[*`\"'“”‘’()\[\]:=/&_]", " ", text.casefold())
    # A hyphen joins words. Before a number it is a sign.
    text = re.sub(rf"(?<=\w)\s*[{_DASHES}]\s*(?=\w)", " ", text)
    return " ".join(text.split()).rstrip(" .,;")


_VARIANTS = {}
for _dimension, _labels in DIMENSIONS.items():
    _VARIANTS[_dimension] = {_words(label): label for label in _labels}
    for _label, _names in SCHEMA["aliases"].get(_dimension, {}).items():
        _VARIANTS[_dimension] |= dict.fromkeys(_names, _label)


def labels_for(gold: Sequence[Row], predicted: Sequence[Row]) -> list[Row | None]:
    """The predicted row of each gold belief, or None, by its place, which models are told to keep.

    Our rule: first rows with the same actor and belief but for case, spaces and punctuation. Others
    are paired by position, if there are as many as gold ones, even those of another actor.
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
    """The predicted row with the key of each gold one; of several the first that is left."""
    waiting = defaultdict(list)
    for row in predicted:
        waiting[key(row)].append(row)
    rows = []
    for row in gold:
        matches = waiting[key(row)]
        rows.append(matches.pop(0) if matches else None)
    return rows
