"""Sentence embeddings from embedded encoders, sentence-transformers or OpenAI-compatible servers,
and the near-duplicates that they show.
"""

import json
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from hashlib import sha256
from typing import Any

import numpy as np

from tomlab.errors import InputError, extra
from tomlab.models.specs import EmbeddedModel, ModelSpec, OpenAIModel, SentenceEncoder
from tomlab.paths import DATA, RESPONSE_STORE

_BATCH = 64
# Vectors of embedded encoders are kept, as answers are. `KEPT` has those that came with the data,
# one file (`keys` and `vectors`) for each weights file; `VECTORS` has those computed here.
KEPT = DATA / "vectors"
VECTORS = RESPONSE_STORE.with_name("embeddings")
# The default encoder, for callers of `score` who have no parameters of a run.
_WEIGHTS = DATA / "models" / "all-minilm-l6-v2.q8_0.gguf"
MINILM = EmbeddedModel.model_validate(
    {"name": "minilm", "provider": "embedded", "model": str(_WEIGHTS), "context": 512}
)
_NO_WEIGHTS = f"""\
some answers are compared by a sentence encoder, and the default one comes with the repository alone
(there is no {_WEIGHTS}). With tomlab's extra `embedded`, name another, of tomlab.models.specs:
  score(…, embedder=EmbeddedModel(name="mine", provider="embedded", model="mine.gguf", context=512))
or leave these answers out: score(…, embedder=None)"""


def beginnings(texts: Sequence[str], model: ModelSpec) -> dict[str, list[int]]:
    """The tokens that the encoder reads of each text that is too long for it, by text. Texts that
    fit are left out.

    Texts are cut as sentence-transformers does: the first tokens and the token that ends the text,
    as many as the model's `context` in all. Remote servers cut or refuse long texts themselves:
    for them, the result is empty.
    """
    if isinstance(model, SentenceEncoder):
        from tomlab.models import sentence_encoders

        return sentence_encoders.beginnings(texts, model)
    if not isinstance(model, EmbeddedModel):
        return {}
    # Each token stands for at least one byte, except for the few tokens that frame a text.
    long = [text for text in dict.fromkeys(texts) if len(text.encode()) + 4 > model.context]
    if not long:
        return {}
    import httpx

    cut = {}
    server = _server(model)  # runs until the object is dropped
    with httpx.Client() as client:
        for text in long:
            body = {"content": text, "add_special": True}
            reply = client.post(f"{server.listening_address}/tokenize", json=body)
            tokens = reply.raise_for_status().json()["tokens"]
            if len(tokens) > model.context:
                cut[text] = [*tokens[: model.context - 1], tokens[-1]]
    return cut


def embed(texts: Sequence[str], model: ModelSpec) -> np.ndarray:
    """The vectors of texts, each scaled to length 1, shape (texts, dimensions). An embedded encoder
    reads only the `beginnings` of long texts, and its vectors are kept in `VECTORS`. Errors:
    `InputError` if there are no texts, the model gives no embeddings, its weights are missing, or
    the request fails.
    """
    unique = list(dict.fromkeys(texts))
    if not unique:
        raise InputError(f"models.{model.name}: there are no texts to embed")
    if model == MINILM and not _WEIGHTS.exists():
        raise InputError(_NO_WEIGHTS)
    vectors: Sequence[np.ndarray] | np.ndarray
    if isinstance(model, SentenceEncoder):
        from tomlab.models import sentence_encoders

        vectors = sentence_encoders.encoded(unique, model)
    elif isinstance(model, EmbeddedModel):
        with extra("embedded"):
            vectors = _stored(unique, model)
    else:
        with extra("embedded"):
            vectors = _request(unique, model)
    by_text = dict(zip(unique, vectors, strict=True))
    matrix = np.array([by_text[text] for text in texts], dtype=np.float64)
    return matrix / np.linalg.norm(matrix, axis=1, keepdims=True)


def _stored(texts: Sequence[str], model: EmbeddedModel) -> list[np.ndarray]:
    """The vector of each text from an embedded encoder: read from the data or from `VECTORS`, or
    else computed and added to `VECTORS`. Errors: `InputError` if `VECTORS` can't be used.
    """
    from diskcache import Cache

    from tomlab.models.embedded import digest, gguf_path

    weights = digest(gguf_path(model.model))[:12]
    cut = beginnings(texts, model)
    inputs = {}
    for text in texts:
        content = json.dumps(cut.get(text, text))
        inputs[text] = f"{weights}-{sha256(content.encode()).hexdigest()}"
    vectors = _of_data(weights)
    try:
        with Cache(VECTORS) as cache:
            missing = {}
            for text, key in inputs.items():
                if key not in vectors and key in cache:
                    vectors[key] = np.frombuffer(cache[key], np.float32)
                elif key not in vectors:
                    missing[key] = cut.get(text, text)
            if missing:
                # The engine computes in single precision: nothing is lost.
                computed = _request(list(missing.values()), model).astype(np.float32)
                vectors |= dict(zip(missing, computed, strict=True))
                with cache.transact():
                    for key in missing:
                        cache[key] = vectors[key].tobytes()
    except (OSError, sqlite3.Error) as error:
        raise InputError(f"{VECTORS}: can't keep embeddings there ({error})") from error
    return [vectors[key] for key in inputs.values()]


def _of_data(weights: str) -> dict[str, np.ndarray]:
    """The vectors that came with the data, by key; `weights` is the beginning of the digest of the
    weights file that made them. Empty if there are none.
    """
    path = KEPT / f"{weights}.npz"
    if not path.exists():
        return {}
    with np.load(path) as content:
        return dict(zip(content["keys"].astype(str), content["vectors"], strict=True))


def keep() -> None:
    """Add the vectors in `VECTORS` to those of the data: a file in `KEPT` for each weights file."""
    from diskcache import Cache

    KEPT.mkdir(exist_ok=True)
    with Cache(VECTORS) as cache:
        for weights in {key.partition("-")[0] for key in cache}:
            vectors = _of_data(weights)
            for key in cache:
                if key.startswith(weights):
                    vectors[key] = np.frombuffer(cache[key], np.float32)
            keys = sorted(vectors)
            matrix = np.array([vectors[key] for key in keys])
            path = KEPT / f"{weights}.npz"
            np.savez_compressed(path, keys=np.array(keys, dtype="S"), vectors=matrix)


def _request(texts: Sequence[str | Sequence[int]], model: ModelSpec) -> np.ndarray:
    """Ask the encoder for vectors of texts, or of lists of tokens; shape (texts, dimensions)."""
    import openai  # slow to import, and most users of this module never embed

    vectors = []
    try:
        with _client(model) as client:
            for start in range(0, len(texts), _BATCH):
                # The raw reply, as the client takes half a second to make objects of a batch.
                reply = client.embeddings.with_raw_response.create(
                    model=model.model,
                    input=texts[start : start + _BATCH],
                    encoding_format="float",
                )
                data = reply.http_response.json()["data"]
                vectors += [entry["embedding"] for entry in data]
    except openai.APIError as error:
        raise InputError(f"models.{model.name}: no embeddings ({error})") from error
    return np.array(vectors, dtype=np.float64)


@contextmanager
def _client(model: ModelSpec) -> Iterator[Any]:
    """Open a client of the server that gives a model's embeddings. For an embedded encoder, the
    server is started first and runs as long as the client is open.
    """
    import openai

    from tomlab.models.openai import URL
    from tomlab.models.remote import NO_KEY, api_key, client

    if isinstance(model, EmbeddedModel):
        server = _server(model)
        with openai.OpenAI(base_url=f"{server.listening_address}/v1", api_key=NO_KEY) as opened:
            yield opened
    elif isinstance(model, OpenAIModel):
        key = api_key(model, "OPENAI_API_KEY")
        with client(openai.OpenAI, openai.DefaultHttpxClient, model, key, URL) as opened:
            yield opened
    else:
        raise InputError(
            f"models.{model.name}: provider {model.provider!r} gives no embeddings;"
            " expected embedded, sentence-transformers or openai"
        )


def _server(model: EmbeddedModel):
    from tomlab.models.embedded import start_server

    return start_server(model.model, context=model.context, threads=model.threads, embedding=True)


def near_duplicates(vectors: np.ndarray, threshold: float) -> list[tuple[int, int, float]]:
    """For each row whose cosine to an earlier row is at least `threshold`: its index, the index of
    the most similar earlier row, and their cosine. Rows are not compared with earlier rows that
    were found to be duplicates themselves. vectors: of length 1, one per row.
    """
    cosines = vectors @ vectors.T
    distinct = [0]
    duplicates = []
    for row in range(1, len(vectors)):
        nearest = max(distinct, key=lambda earlier: cosines[row, earlier])
        cosine = float(cosines[row, nearest])
        if cosine >= threshold:
            duplicates.append((row, nearest, cosine))
        else:
            distinct.append(row)
    return duplicates


def nearest_cosines(vectors: np.ndarray) -> np.ndarray:
    """For each row, the cosine to the most similar other row; nan if there is only one row."""
    cosines = vectors @ vectors.T
    np.fill_diagonal(cosines, np.nan if len(vectors) == 1 else -1)
    return cosines.max(axis=1)
