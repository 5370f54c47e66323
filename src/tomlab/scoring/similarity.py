"""How alike two texts are: word by word, by shared words, by sentence vectors (OmniToM, App. C.4, and
the graders of free answers).
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np

from tomlab.errors import InputError

KINDS = ("exact", "token_f1", "embedding")
APOSTROPHES = re.compile(r"['’‘`]")
_FUNCTION_WORD = re.compile(
    r"\b(a|an|the|is|are|was|were|be|been|to|of|that|has|have|had|does|do|did)\b"
)


def plain(text: str) -> str:
    """`text` without case and punctuation, one space between words."""
    folded = unicodedata.normalize("NFKC", text).casefold()
    words = re.findall(r"[^\W_]+", APOSTROPHES.sub("", folded))
    return " ".join(words) or folded.strip()


def similarity(
    kind: str,
    predicted_texts: Sequence[str],
    gold_texts: Sequence[str],
    vectors: Mapping[str, np.ndarray] | None = None,
) -> np.ndarray:
    """Likeness of every predicted to every gold text, shape (predicted, gold).

    kind: exact (equal but for case, spaces and punctuation: 1 or 0), token_f1 (of the words, with
    repeats; 0 to 1), embedding (cosine; `vectors` holds one vector of length 1 a text).
    Errors: `InputError` for another kind or a text without a vector.
    """
    if kind not in KINDS:
        raise InputError(f"alignment: found kind {kind!r}, expected one of {', '.join(KINDS)}")
    shape = (len(predicted_texts), len(gold_texts))
    if 0 in shape:
        return np.zeros(shape)
    if kind == "embedding":
        return _vectors(predicted_texts, vectors) @ _vectors(gold_texts, vectors).T
    if kind == "exact":
        left, right = ([plain(t) for t in texts] for texts in (predicted_texts, gold_texts))
        return np.array([[a == b for b in right] for a in left], dtype=float)
    left, right = ([Counter(plain(t).split()) for t in ts] for ts in (predicted_texts, gold_texts))
    return np.array([[_token_f1(a, b) for b in right] for a in left])


def _token_f1(left: Counter, right: Counter) -> float:
    return 2 * (left & right).total() / max(left.total() + right.total(), 1)


def _vectors(texts: Sequence[str], vectors: Mapping[str, np.ndarray] | None) -> np.ndarray:
    missing = [text for text in texts if text not in (vectors or {})]
    if missing:
        raise InputError(
            f"alignment: no vector for {missing[0]!r} and {len(missing) - 1} more texts; expected "
            "one for each of `texts_to_embed`"
        )
    return np.array([vectors[text] for text in texts])


def shared(left: str, right: str) -> float:
    """The share of content words that two sentences have in common (Dice), endings left aside."""
    a, b = _content(left), _content(right)
    return 2 * len(a & b) / max(len(a) + len(b), 1)


def _content(text: str) -> set[str]:
    words = _FUNCTION_WORD.sub("", plain(text)).split()
    return {re.sub(r"(?<=\w\w)(ing|ed|es|s|e)$", "", word) for word in words}
