"""Sentence embeddings by the real model: likeness of meaning, near-duplicates, clear refusals."""

import asyncio
from collections.abc import Iterator

import numpy as np
import pytest
from diskcache import Cache

from faulty_server import FaultyServer
from tomlab.errors import InputError
from tomlab.models.ask import ask
from tomlab.models.embedded import start_server
from tomlab.models.specs import ModelSpec, Request, model_spec
from tomlab.scoring import embeddings
from tomlab.scoring.embeddings import beginnings, embed, near_duplicates, nearest_cosines

FILE = "data/models/all-minilm-l6-v2.q8_0.gguf"
WALLET = "Mara thinks that her wallet is in the drawer."
PARAPHRASE = "Mara believes her wallet to be in the drawer."
UNRELATED = "The orchestra tunes its violins before the storm."


def spec(**entry) -> ModelSpec:
    return model_spec("mine", {"mine": entry})


@pytest.fixture(scope="module")
def minilm() -> ModelSpec:
    return spec(provider="embedded", model=FILE, context=512, threads=1)


@pytest.fixture(scope="module")
def vectors(minilm: ModelSpec) -> np.ndarray:
    return embed([WALLET, UNRELATED, PARAPHRASE, WALLET], minilm)


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    """The URL of the same model behind HTTP."""
    running = start_server(FILE, context=512, threads=1, embedding=True)
    yield running.listening_address
    del running


def test_there_is_one_vector_of_length_one_a_text(vectors):
    assert vectors.shape == (4, 384)
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(1)


def test_vector_does_not_depend_on_the_texts_beside_it(minilm, vectors):
    many = embed([f"Sentence number {n}." for n in range(70)] + [UNRELATED], minilm)
    assert many.shape == (71, 384)
    assert many[-1] == pytest.approx(vectors[1], abs=1e-6)


def test_server_that_speaks_the_protocol_gives_the_same_vectors(server, vectors):
    remote = spec(provider="openai", model="minilm", base_url=f"{server}/v1")
    assert embed([WALLET], remote)[0] == pytest.approx(vectors[0], abs=1e-6)


def test_a_long_text_is_cut_where_the_encoder_stops(minilm):
    fits, longer = "dog " * 510, "dog " * 510 + "violin " * 90
    cut = beginnings([WALLET, fits, longer, longer], minilm)
    assert list(cut) == [longer]
    assert len(cut[longer]) == 512
    assert len(set(cut[longer])) == 3  # what begins a text, "dog", what ends it
    whole, beginning = embed([fits, longer], minilm)
    assert beginning == pytest.approx(whole, abs=1e-6)


def test_what_is_long_is_told_by_tokens_and_not_by_characters(minilm):
    texts = ["词" * 600, "ü" * 600, "\U0001f600" * 300]
    assert embed(texts, minilm).shape == (3, 384)


def test_encoder_that_reads_128_tokens_is_cut_as_the_release_cuts():
    released = spec(provider="embedded", model=FILE, context=128)
    cut = beginnings(["dog " * 126, "dog " * 127], released)
    assert [len(tokens) for tokens in cut.values()] == [128]
    whole, beginning = embed(["dog " * 126, "dog " * 127], released)
    assert beginning == pytest.approx(whole, abs=1e-6)


def directions(*degrees: float) -> np.ndarray:
    """Unit vectors in the plane."""
    angles = np.radians(degrees)
    return np.column_stack([np.cos(angles), np.sin(angles)])


def test_each_duplicate_is_held_against_the_most_alike_earlier_row():
    result = near_duplicates(directions(0, 90, 80, 10), threshold=0.9)
    assert [(row, earlier) for row, earlier, _ in result] == [(2, 1), (3, 0)]
    assert result[0][2] == pytest.approx(np.cos(np.radians(10)))


def test_duplicate_of_a_duplicate_stands_if_it_is_unlike_what_was_kept():
    # 20° apart is too alike, 40° is not: the second row falls, and the third with it would be wrong.
    result = near_duplicates(directions(0, 20, 40), threshold=0.9)
    assert [(row, earlier) for row, earlier, _ in result] == [(1, 0)]


def test_nearest_cosine_leaves_the_row_itself_out():
    nearest = nearest_cosines(directions(0, 60, 180))
    assert nearest == pytest.approx([0.5, 0.5, -0.5])


def test_provider_without_embeddings_is_named():
    with pytest.raises(InputError, match=r"models\.mine: provider 'baseline' gives no embeddings"):
        embed([WALLET], spec(provider="baseline", model="random"))


def test_server_without_embeddings_is_named(faulty_server):
    remote = spec(provider="openai", model="toy", base_url=f"{faulty_server.url}/v1")
    with pytest.raises(InputError, match=r"models\.mine: no embeddings .*Nothing at"):
        embed([WALLET], remote)


def test_no_other_server_gets_the_texts(faulty_server, tmp_path):
    """By a redirect that keeps the method and the body, of `embed` and of `ask`."""
    with FaultyServer() as second:
        faulty_server.moved = second.url
        remote = spec(provider="openai", model="toy", base_url=f"{faulty_server.url}/v1")
        with pytest.raises(InputError, match=r"models\.mine: no embeddings .*307"):
            embed([WALLET], remote)
        request = Request(({"role": "user", "content": WALLET},), 5)
        [answer] = asyncio.run(ask([request], remote, store=tmp_path / "s", progress=False))
        assert "307" in answer.error
        assert (len(faulty_server.headers) > 1, second.headers) == (True, [])


def test_missing_key_is_named(monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with pytest.raises(InputError, match="OPENAI_API_KEY is not set"):
        embed([WALLET], spec(provider="openai", model="text-embedding-3-small"))


def test_missing_weights_are_named():
    with pytest.raises(InputError, match=r"no file .*nowhere\.gguf"):
        embed([WALLET], spec(provider="embedded", model="data/models/nowhere.gguf"))


def test_a_vector_is_kept_and_depends_on_no_other_text(minilm, tmp_path, monkeypatch):
    monkeypatch.setattr(embeddings, "VECTORS", tmp_path / "together")
    together = embed([WALLET, UNRELATED, PARAPHRASE], minilm)
    monkeypatch.setattr(embeddings, "VECTORS", tmp_path / "alone")
    alone = [embed([text], minilm)[0] for text in (PARAPHRASE, WALLET)]
    assert np.array_equal(alone, together[[2, 0]])
    monkeypatch.setattr(embeddings, "_request", None)  # nothing is asked for again
    assert np.array_equal(embed([WALLET, PARAPHRASE, WALLET], minilm), together[[0, 2, 0]])


def test_vectors_kept_with_the_data_are_not_asked_for(minilm, tmp_path, monkeypatch):
    monkeypatch.setattr(embeddings, "VECTORS", tmp_path / "here")
    monkeypatch.setattr(embeddings, "KEPT", tmp_path / "data")
    computed = []
    for text in (WALLET, UNRELATED):  # what is kept later joins what was kept before
        computed += [embed([text], minilm)[0]]
        embeddings.keep()
        with Cache(tmp_path / "here") as cache:
            cache.clear()
    monkeypatch.setattr(embeddings, "VECTORS", tmp_path / "elsewhere")
    monkeypatch.setattr(embeddings, "_request", None)
    assert np.array_equal(embed([UNRELATED, WALLET], minilm), computed[::-1])


def test_a_place_where_nothing_can_be_kept_is_named(minilm, tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setattr(embeddings, "VECTORS", tmp_path / "file" / "embeddings")
    with pytest.raises(InputError, match=r"file/embeddings: can't keep embeddings there"):
        embed([WALLET], minilm)
