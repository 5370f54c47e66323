"""Sentence embeddings by the real model: one vector a text, near-duplicates, clear refusals."""

import numpy as np
import pytest
from diskcache import Cache

from faulty_server import FaultyServer
from tomlab.errors import InputError
from tomlab.models.embedded import start_server
from tomlab.models.specs import model_spec
from tomlab.scoring import embeddings
from tomlab.scoring.embeddings import beginnings, embed, near_duplicates, nearest_cosines

FILE = "data/models/all-minilm-l6-v2.q8_0.gguf"
WALLET = "Mara thinks that her wallet is in the drawer."
UNRELATED = "The orchestra tunes its violins before the storm."


def spec(provider, model, **options):
    return model_spec("mine", {"mine": {"provider": provider, "model": model} | options})


MINILM = spec("embedded", FILE, context=512, threads=1)


@pytest.fixture(scope="module")
def vectors():
    return embed([WALLET, UNRELATED], MINILM)


def test_there_is_one_vector_of_length_one_a_text_whatever_stands_beside_it(vectors):
    many = embed([f"Sentence number {n}." for n in range(70)] + [UNRELATED], MINILM)
    assert many.shape == (71, 384)
    assert np.linalg.norm(many, axis=1) == pytest.approx(1)
    assert many[-1] == pytest.approx(vectors[1], abs=1e-6)


def test_server_that_speaks_the_protocol_gives_the_same_vectors(vectors):
    server = start_server(FILE, context=512, threads=1, embedding=True)
    remote = spec("openai", "minilm", base_url=f"{server.listening_address}/v1")
    assert embed([WALLET], remote)[0] == pytest.approx(vectors[0], abs=1e-6)


@pytest.mark.parametrize("context", [128, 512])
def test_a_long_text_is_cut_where_the_encoder_stops(context):
    encoder = spec("embedded", FILE, context=context, threads=1)
    fits = "dog " * (context - 2)
    longer = fits + "violin " * 90
    cut = beginnings([WALLET, fits, longer, longer], encoder)
    assert {text: len(tokens) for text, tokens in cut.items()} == {longer: context}
    assert len(set(cut[longer])) == 3  # what begins a text, "dog", what ends it
    expected, beginning = embed([fits, longer], encoder)
    assert beginning == pytest.approx(expected, abs=1e-6)


def test_texts_are_measured_in_tokens_and_not_in_characters():
    texts = ["词" * 600, "ü" * 600, "\U0001f600" * 300]
    assert embed(texts, MINILM).shape == (3, 384)


def directions(*degrees):
    """Unit vectors in the plane."""
    angles = np.radians(degrees)
    return np.column_stack([np.cos(angles), np.sin(angles)])


@pytest.mark.parametrize(
    ("degrees", "duplicates"),
    [
        ([0, 90, 80, 10], [(2, 1), (3, 0)]),  # beside the most alike earlier row
        ([0, 20, 40], [(1, 0)]),  # the last is too like a duplicate alone
    ],
)
def test_near_duplicates_are_too_like_an_earlier_row_that_stays(degrees, duplicates):
    result = near_duplicates(directions(*degrees), threshold=0.9)
    assert [(row, earlier) for row, earlier, _ in result] == duplicates
    for row, earlier, cosine in result:
        assert cosine == pytest.approx(np.cos(np.radians(degrees[row] - degrees[earlier])))


def test_nearest_cosine_leaves_the_row_itself_out():
    assert nearest_cosines(directions(0, 60, 180)) == pytest.approx([0.5, 0.5, -0.5])


@pytest.mark.parametrize(
    ("model", "fault"),
    [
        (spec("baseline", "random"), r"models\.mine: provider 'baseline' gives no embeddings"),
        (spec("openai", "text-embedding-3-small"), "OPENAI_API_KEY is not set"),
        (spec("embedded", "data/models/nowhere.gguf"), r"no file .*nowhere\.gguf"),
    ],
)
def test_model_that_gives_no_embeddings_is_named(monkeypatch, model, fault):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with pytest.raises(InputError, match=fault):
        embed([WALLET], model)


def test_server_without_embeddings_is_named(faulty_server):
    remote = spec("openai", "toy", base_url=f"{faulty_server.url}/v1")
    with pytest.raises(InputError, match=r"models\.mine: no embeddings .*Nothing at"):
        embed([WALLET], remote)


def test_no_other_server_gets_the_texts(faulty_server):
    """By a redirect that keeps the method and the body."""
    with FaultyServer() as second:
        faulty_server.moved = second.url
        remote = spec("openai", "toy", base_url=f"{faulty_server.url}/v1")
        with pytest.raises(InputError, match=r"models\.mine: no embeddings .*307"):
            embed([WALLET], remote)
        assert second.headers == []


def test_stored_vectors_depend_on_no_other_text_and_are_not_computed_again(tmp_path, monkeypatch):
    monkeypatch.setattr(embeddings, "VECTORS", tmp_path / "together")
    together = embed([UNRELATED, WALLET], MINILM)
    monkeypatch.setattr(embeddings, "VECTORS", tmp_path / "alone")
    monkeypatch.setattr(embeddings, "KEPT", tmp_path / "data")
    alone = []
    for text in (UNRELATED, WALLET):  # vectors that are added later join the earlier ones
        alone += [embed([text], MINILM)[0]]
        embeddings.keep()
        with Cache(tmp_path / "alone") as cache:
            cache.clear()
    assert np.array_equal(alone, together)
    monkeypatch.setattr(embeddings, "_request", None)
    for name in ("together", "elsewhere"):  # stored here, or with the data
        monkeypatch.setattr(embeddings, "VECTORS", tmp_path / name)
        assert np.array_equal(embed([WALLET, UNRELATED, WALLET], MINILM), together[[1, 0, 1]])


def test_a_place_where_nothing_can_be_stored_is_named(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setattr(embeddings, "VECTORS", tmp_path / "file" / "embeddings")
    with pytest.raises(InputError, match=r"file/embeddings: can't keep embeddings there"):
        embed([WALLET], MINILM)
