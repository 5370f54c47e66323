"""Encoders of the package sentence-transformers, which is installed by hand: it brings PyTorch.

The released code of FANToM embeds answers by `sentence-transformers/all-roberta-large-v1`.
"""

from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np

from tomlab.errors import InputError
from tomlab.models.specs import SentenceEncoder
from tomlab.paths import there


@cache
def load(model: str, context: int | None) -> Any:
    """The encoder with this name on the hub, or in this folder. context: how many tokens of a text
    it reads, None for as many as it can. Errors: `InputError` if it can't be loaded.
    """
    try:
        from sentence_transformers import SentenceTransformer
    except ModuleNotFoundError as error:
        raise InputError(
            f"the package {error.name} is not installed: pip install sentence-transformers (it is "
            "in no extra of tomlab, as it needs PyTorch)"
        ) from None
    folder = there(model)
    try:
        loaded = SentenceTransformer(str(folder or model))
    except (OSError, ValueError, RuntimeError) as error:
        why = " ".join(str(error).split())[:200]
        message = f"sentence-transformers could not load {model!r} ({why})"
        raise InputError(f"{message}; expected a name on the hub, or a folder") from None
    if context is not None:
        loaded.max_seq_length = context
    return loaded


def encoded(texts: Sequence[str], spec: SentenceEncoder) -> np.ndarray:
    """An array with one vector for each text, of shape (texts, dimensions)."""
    encoder = load(spec.model, spec.context)
    return np.asarray(encoder.encode(list(texts)), dtype=np.float64)


def beginnings(texts: Sequence[str], spec: SentenceEncoder) -> dict[str, list[int]]:
    """For each text that is too long for the encoder, the token ids that the encoder reads: the
    first ones that fit, and the token that ends a text.
    """
    encoder = load(spec.model, spec.context)
    tokens_of_texts = {}
    for text in dict.fromkeys(texts):
        tokens = encoder.tokenizer(text)["input_ids"]
        if len(tokens) > encoder.max_seq_length:
            tokens_of_texts[text] = [*tokens[: encoder.max_seq_length - 1], tokens[-1]]
    return tokens_of_texts
