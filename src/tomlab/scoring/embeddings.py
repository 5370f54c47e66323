"""Sentence embeddings through the OpenAI embeddings protocol, and near-duplicates by them."""

import json
import sqlite3
from collections.abc import Sequence
from hashlib import sha256

import numpy as np

from tomlab.errors import InputError, extra
from tomlab.models.specs import EmbeddedModel, ModelSpec, OpenAIModel, SentenceEncoder
from tomlab.paths import DATA, RESPONSE_STORE

_BATCH = 64
# Vectors of embedded encoders are facts like answers: those that came with the data, a file for the
# weights that made them (`keys` and `vectors`), and those that were embedded here.
KEPT = DATA / "vectors"
VECTORS = RESPONSE_STORE.with_name("embeddings")
# The default encoder, for scores that are asked for without the parameters of a run.
_WEIGHTS = DATA / "models" / "all-minilm-l6-v2.q8_0.gguf"
MINILM = EmbeddedModel(name="minilm", provider="embedded", model=str(_WEIGHTS), context=512)
_NO_WEIGHTS = f"""\
some answers are compared by a sentence encoder, and the default one comes with the repository alone
(there is no {_WEIGHTS}). With tomlab's extra `embedded`, name another, of tomlab.models.specs:
  score(…, embedder=EmbeddedModel(name="mine", provider="embedded", model="mine.gguf", context=512))
or leave these answers out: score(…, embedder=None)"""


def beginnings(texts: Sequence[str], model: ModelSpec) -> dict[str, list[int]]:
    """The tokens that an embedded encoder reads of each text that is too long for it, by text.

    As sentence-transformers cuts a text: the first of its tokens and the mark that ends it, as many
    as the model's `context`. Servers cut or refuse long texts themselves, so theirs are none.
    """
    if isinstance(model, SentenceEncoder):
        from tomlab.models import sentence_encoders

        return sentence_encoders.beginnings(texts, model)
    # A token stands for a byte at least, but for those few that frame a text.
    context = getattr(model, "context", np.inf)
    if not (long := [t for t in dict.fromkeys(texts) if len(t.encode()) + 4 > context]):
        return {}
    import httpx

    from tomlab.models.embedded import start_server

    server = start_server(model.model, context=context, threads=model.threads, embedding=True)
    url, found = f"{server.listening_address}/tokenize", {}
    with httpx.Client() as client:
        for text in long:
            answer = client.post(url, json={"content": text, "add_special": True})
            tokens = answer.raise_for_status().json()["tokens"]
            if len(tokens) > context:
                found[text] = [*tokens[: context - 1], tokens[-1]]
    return found


def embed(texts: Sequence[str], model: ModelSpec) -> np.ndarray:
    """One vector of length 1 a text, shape (texts, dimensions). An embedded encoder reads the
    `beginnings` of long texts, and its vectors are kept (`VECTORS`). Errors: `InputError` for a
    model that gives no embeddings, and for what it can't read.
    """
    unique = list(dict.fromkeys(texts))
    if not unique:
        raise InputError(f"models.{model.name}: there are no texts to embed")
    if model == MINILM and not _WEIGHTS.exists():
        raise InputError(_NO_WEIGHTS)
    if isinstance(model, SentenceEncoder):
        from tomlab.models import sentence_encoders

        vectors = sentence_encoders.encoded(unique, model)
    else:
        with extra("embedded"):
            vectors = (_kept if isinstance(model, EmbeddedModel) else _asked)(unique, model)
    by_text = dict(zip(unique, vectors, strict=True))
    found = np.array([by_text[text] for text in texts], dtype=np.float64)
    return found / np.linalg.norm(found, axis=1, keepdims=True)


def _kept(texts: Sequence[str], model: EmbeddedModel) -> list[np.ndarray]:
    """The vector of each text: of the data, of an earlier call, or asked for and then kept."""
    from diskcache import Cache

    from tomlab.models.embedded import digest, gguf_path

    weights, cut = digest(gguf_path(model.model))[:12], beginnings(texts, model)
    inputs = [cut.get(text, text) for text in texts]
    keys = [f"{weights}-{sha256(json.dumps(one).encode()).hexdigest()}" for one in inputs]
    found = {}
    if (of_data := KEPT / f"{weights}.npz").exists():
        with np.load(of_data) as content:
            found = dict(zip(content["keys"].astype(str), content["vectors"], strict=True))
    try:
        with Cache(VECTORS) as cache:
            here = (key for key in keys if key not in found and key in cache)
            found |= {key: np.frombuffer(cache[key], np.float32) for key in here}
            if missing := {k: i for k, i in zip(keys, inputs, strict=True) if k not in found}:
                # The engine computes in single precision: nothing is lost.
                made = _asked([*missing.values()], model).astype(np.float32)
                found |= dict(zip(missing, made, strict=True))
                with cache.transact():
                    for key in missing:
                        cache[key] = found[key].tobytes()
    except (OSError, sqlite3.Error) as error:
        raise InputError(f"{VECTORS}: can't keep embeddings there ({error})") from error
    return [found[key] for key in keys]


def keep() -> None:
    """Add the vectors that were embedded here to those of the data, a file for each weights."""
    from diskcache import Cache

    KEPT.mkdir(exist_ok=True)
    with Cache(VECTORS) as cache:
        for weights in {key.partition("-")[0] for key in cache}:
            path, every = KEPT / f"{weights}.npz", {}
            if path.exists():
                with np.load(path) as content:
                    every = dict(zip(content["keys"], content["vectors"], strict=True))
            here = (key for key in cache if key.startswith(weights))
            every |= {key.encode(): np.frombuffer(cache[key], np.float32) for key in here}
            keys = sorted(every)
            np.savez_compressed(path, keys=keys, vectors=[every[key] for key in keys])


def _asked(texts: Sequence[str | Sequence[int]], model: ModelSpec) -> np.ndarray:
    """The vectors of texts, or of their tokens, by the encoder."""
    import openai  # slow to import, and most who import this never embed

    from tomlab.models.embedded import start_server
    from tomlab.models.openai import URL
    from tomlab.models.remote import NO_KEY, api_key, client

    match model:
        case EmbeddedModel():
            options = {"context": model.context, "threads": model.threads}
            server = start_server(model.model, embedding=True, **options)
            asked = openai.OpenAI(base_url=f"{server.listening_address}/v1", api_key=NO_KEY)
        case OpenAIModel():
            key = api_key(model, "OPENAI_API_KEY")
            asked = client(openai.OpenAI, openai.DefaultHttpxClient, model, key, URL)
        case _:
            what = f"provider {model.provider!r} gives no embeddings"
            expected = "expected embedded, sentence-transformers or openai"
            raise InputError(f"models.{model.name}: {what}; {expected}")
    options, vectors = {"model": model.model, "encoding_format": "float"}, []
    try:
        with asked:
            for start in range(0, len(texts), _BATCH):
                batch = {"input": texts[start : start + _BATCH], **options}
                # Raw: the client's own objects take half a second for a batch's numbers.
                found = asked.embeddings.with_raw_response.create(**batch)
                vectors += [entry["embedding"] for entry in found.http_response.json()["data"]]
    except openai.APIError as error:
        raise InputError(f"models.{model.name}: no embeddings ({error})") from error
    return np.array(vectors, dtype=np.float64)


def near_duplicates(vectors: np.ndarray, threshold: float) -> list[tuple[int, int, float]]:
    """For each row that is too like an earlier one: its index, the most alike earlier row's index
    and their cosine. Rows already found to be duplicates stand for nothing.
    """
    cosines, kept, found = vectors @ vectors.T, [0], []
    for row in range(1, len(vectors)):
        nearest = max(kept, key=lambda earlier: cosines[row, earlier])
        if cosines[row, nearest] >= threshold:
            found.append((row, nearest, float(cosines[row, nearest])))
        else:
            kept.append(row)
    return found


def nearest_cosines(vectors: np.ndarray) -> np.ndarray:
    """For each row, the cosine to the most similar other row; nan for a row without others."""
    cosines = vectors @ vectors.T
    np.fill_diagonal(cosines, np.nan if len(vectors) == 1 else -1)
    return cosines.max(axis=1)
