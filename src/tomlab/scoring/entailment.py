"""How surely two texts say the same: entailment both ways by a cross-encoder that a user names.

Needs the extra `entailment` (`uv pip install tomlab[entailment]`), which nothing else uses.
"""

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from tomlab.errors import InputError

FILES = ("model.onnx", "tokenizer.json", "config.json")
_BATCH = 32
_LONGEST = 512  # tokens of a pair
Pair = tuple[str, str]


def two_way(pairs: Sequence[Pair], folder: Path | str) -> dict[Pair, float]:
    """By pair the lesser of the probabilities that the one text entails the other and that it is
    entailed by it.

    folder: a classifier of pairs as model hubs export it, with `FILES`; `config.json` names its
    classes in `id2label`, one of them beginning with "entail". Errors: `InputError` where the
    folder lacks a file or that class, or the extra is not installed.
    """
    try:
        import onnxruntime
        import tokenizers
    except ImportError as error:
        raise InputError(f"entailment: {error}; expected the extra `entailment`") from error
    folder = Path(folder)
    if missing := [name for name in FILES if not (folder / name).is_file()]:
        raise InputError(f"entailment: found no {', '.join(missing)} in {folder}")
    labels = json.loads((folder / "config.json").read_text(encoding="utf-8")).get("id2label", {})
    wanted = [int(i) for i, label in labels.items() if label.lower().startswith("entail")]
    if len(wanted) != 1:
        found = ", ".join(labels.values()) or "none"
        raise InputError(f"{folder}/config.json, id2label: found {found}, expected an entailment")
    tokenizer = tokenizers.Tokenizer.from_file(str(folder / "tokenizer.json"))
    tokenizer.enable_truncation(_LONGEST)
    tokenizer.enable_padding(**(tokenizer.padding or {}))
    session = onnxruntime.InferenceSession(
        str(folder / "model.onnx"), providers=["CPUExecutionProvider"]
    )
    asked = list(dict.fromkeys(way for one, other in pairs for way in ((one, other), (other, one))))
    sure: dict[Pair, float] = {}
    for start in range(0, len(asked), _BATCH):
        batch = asked[start : start + _BATCH]
        read = tokenizer.encode_batch(batch)
        known = {
            "input_ids": [one.ids for one in read],
            "attention_mask": [one.attention_mask for one in read],
            "token_type_ids": [one.type_ids for one in read],
        }
        names = [given.name for given in session.get_inputs()]
        feeds = {name: np.array(known[name], dtype=np.int64) for name in names}
        logits = session.run(None, feeds)[0].astype(float)
        exp = np.exp(logits - logits.max(axis=1, keepdims=True))
        shares = exp[:, wanted[0]] / exp.sum(axis=1)
        sure |= dict(zip(batch, shares.tolist(), strict=True))
    return {(one, other): min(sure[one, other], sure[other, one]) for one, other in pairs}
