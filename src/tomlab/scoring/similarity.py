"""How alike two texts are, by equal words, shared words or embeddings (OmniToM, App. C.4)."""

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

    kind: exact (1 if the texts are equal after `plain`, else 0), token_f1 (F1 of the words, repeats
    counted), embedding (cosine). vectors: for embedding, a vector of length 1 for each text.
    Errors: `InputError` for another kind.
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
    golds = [plain(text) for text in gold_texts]
    rows = []
    for predicted_text in predicted_texts:
        text = plain(predicted_text)
        if kind == "exact":
            rows.append([float(text == gold) for gold in golds])
        else:
            rows.append([_token_f1(text, gold) for gold in golds])
    return np.array(rows)


def _token_f1(text: str, gold: str) -> float:
    words = _word_counts(text)
    gold_words = _word_counts(gold)
    return 2 * (words & gold_words).total() / max(words.total() + gold_words.total(), 1)


@lru_cache(maxsize=4_096)  # each text is compared with many others
def _word_counts(text: str) -> Counter:
    return Counter(text.split())


def shared(text: str, second: str) -> float:
    """The share of content words, without their endings, that two sentences share (Dice's)."""
    words = _content(text)
    second_words = _content(second)
    return 2 * len(words & second_words) / max(len(words) + len(second_words), 1)


def _content(text: str) -> set[str]:
    words = _FUNCTION_WORD.sub("", plain(text)).split()
    return {re.sub(r"(?<=\w\w)(ing|ed|es|s|e)$", "", word) for word in words}
