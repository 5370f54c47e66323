"""How alike two texts are: by words, shared words, vectors (OmniToM, App. C.4; graders)."""

import re
import unicodedata
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import lru_cache

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

    kind: exact (equal as `plain`: 1 or 0), token_f1 (of the words, with repeats), embedding (cosine
    of `vectors`, of length 1, by text). Errors: `InputError` for another kind.
    """
    if kind not in KINDS:
        raise InputError(f"alignment: found kind {kind!r}, expected one of {', '.join(KINDS)}")
    if not len(predicted_texts) or not len(gold_texts):
        return np.zeros((len(predicted_texts), len(gold_texts)))
    if kind == "embedding":
        assert vectors is not None  # whoever asks for this kind has embedded the texts
        predicted = np.array([vectors[text] for text in predicted_texts])
        gold = np.array([vectors[text] for text in gold_texts])
        return predicted @ gold.T
    likeness = _is_equal if kind == "exact" else _token_f1
    golds = [plain(text) for text in gold_texts]
    rows = []
    for text in map(plain, predicted_texts):
        rows.append([likeness(text, gold) for gold in golds])
    return np.array(rows)


def _is_equal(text: str, other: str) -> float:
    return float(text == other)


def _token_f1(text: str, other: str) -> float:
    words = _word_counts(text)
    other_words = _word_counts(other)
    return 2 * (words & other_words).total() / max(words.total() + other_words.total(), 1)


@lru_cache(maxsize=4_096)  # each text is held against many
def _word_counts(text: str) -> Counter:
    return Counter(text.split())


def shared(left: str, right: str) -> float:
    """The share of content words that two sentences have in common (Dice), endings left aside."""
    words = _content(left)
    other_words = _content(right)
    return 2 * len(words & other_words) / max(len(words) + len(other_words), 1)


def _content(text: str) -> set[str]:
    words = _FUNCTION_WORD.sub("", plain(text)).split()
    return {re.sub(r"(?<=\w\w)(ing|ed|es|s|e)$", "", word) for word in words}
