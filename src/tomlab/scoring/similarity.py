"""How alike two texts are: by words, shared words, vectors (OmniToM, App. C.4; graders)."""

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
    vectors: Mapping | None = None,
) -> np.ndarray:
    """Likeness of every predicted to every gold text, shape (predicted, gold).

    kind: exact (equal as `plain`: 1 or 0), token_f1 (of the words, with repeats), embedding (cosine
    of `vectors`, of length 1, by text). Errors: `InputError` for another kind.
    """
    if kind not in KINDS:
        raise InputError(f"alignment: found kind {kind!r}, expected one of {', '.join(KINDS)}")
    both = (predicted_texts, gold_texts)
    if not all(map(len, both)):
        return np.zeros((len(predicted_texts), len(gold_texts)))
    if kind == "embedding":
        left, right = (np.array([vectors[text] for text in texts]) for texts in both)
        return left @ right.T
    left, right = ([plain(text) for text in texts] for texts in both)
    if kind == "exact":
        return np.array([[a == b for b in right] for a in left], dtype=float)
    left, right = ([Counter(text.split()) for text in texts] for texts in (left, right))
    shares = [[2 * (a & b).total() / max(a.total() + b.total(), 1) for b in right] for a in left]
    return np.array(shares)


def shared(left: str, right: str) -> float:
    """The share of content words that two sentences have in common (Dice), endings left aside."""
    a, b = _content(left), _content(right)
    return 2 * len(a & b) / max(len(a) + len(b), 1)


def _content(text: str) -> set[str]:
    words = _FUNCTION_WORD.sub("", plain(text)).split()
    return {re.sub(r"(?<=\w\w)(ing|ed|es|s|e)$", "", word) for word in words}
