"""Sentence embeddings through the OpenAI embeddings protocol, and near-duplicates by them."""

from collections.abc import Mapping, Sequence

import numpy as np

from tomlab.errors import InputError
from tomlab.models.specs import EmbeddedModel, ModelSpec, OpenAIModel
from tomlab.paths import DATA

_BATCH = 64
# The default encoder, for scores that are asked for without the parameters of a run.
_WEIGHTS = str(DATA / "models" / "all-minilm-l6-v2.q8_0.gguf")
MINILM = EmbeddedModel(name="minilm", provider="embedded", model=_WEIGHTS, context=512)


def beginnings(texts: Sequence[str], model: ModelSpec) -> dict[str, list[int]]:
    """The tokens that an embedded encoder reads of each text that is too long for it, by text.

    As sentence-transformers cuts a text: the first of its tokens and the mark that ends it, as many
    as the model's `context`. Servers cut or refuse long texts themselves, so theirs are none.
    """
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


def embed(
    texts: Sequence[str],
    model: ModelSpec,
    cut: Mapping[str, Sequence[int]] | None = None,
) -> np.ndarray:
    """One vector of length 1 a text, shape (texts, dimensions). Equal texts are embedded once.

    cut: the `beginnings` that stand for texts too long for the encoder, if they are known. Errors:
    `InputError` for a model that gives no embeddings, and for what it can't read.
    """
    # Imported here: the client takes a second to import, and most who import this never embed.
    import openai

    from tomlab.models.embedded import start_server
    from tomlab.models.openai import URL
    from tomlab.models.remote import NO_KEY, api_key

    unique = list(dict.fromkeys(texts))
    if not unique:
        raise InputError(f"models.{model.name}: there are no texts to embed")
    match model:
        case EmbeddedModel():
            options = {"context": model.context, "threads": model.threads}
            server = start_server(model.model, embedding=True, **options)
            client = openai.OpenAI(base_url=f"{server.listening_address}/v1", api_key=NO_KEY)
        case OpenAIModel():
            key = api_key(model, "OPENAI_API_KEY") or NO_KEY
            patience = {"max_retries": model.max_retries, "timeout": model.timeout}
            client = openai.OpenAI(base_url=model.base_url or URL, api_key=key, **patience)
        case _:
            what = f"provider {model.provider!r} gives no embeddings"
            raise InputError(f"models.{model.name}: {what}; expected embedded or openai")
    cut = beginnings(unique, model) if cut is None else cut
    options, vectors = {"model": model.model, "encoding_format": "float"}, []
    try:
        with client:
            for start in range(0, len(unique), _BATCH):
                own = [cut.get(text, text) for text in unique[start : start + _BATCH]]
                batch = {"input": own, **options}
                # Raw: the client's own objects take half a second for a batch's numbers.
                found = client.embeddings.with_raw_response.create(**batch)
                vectors += [entry["embedding"] for entry in found.http_response.json()["data"]]
    except openai.APIError as error:
        raise InputError(f"models.{model.name}: no embeddings ({error})") from error
    found = np.array(vectors, dtype=np.float64)
    by_text = dict(zip(unique, found / np.linalg.norm(found, axis=1, keepdims=True), strict=True))
    return np.array([by_text[text] for text in texts])


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
