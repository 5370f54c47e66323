"""The encoder of FANToM's release, by a stand-in for sentence-transformers, whose weights are large."""

import sys
from types import SimpleNamespace

import numpy as np
import pytest

from fantom_sets import question_set
from replies import answered
from tomlab.benchmarks import fantom
from tomlab.errors import InputError
from tomlab.models import sentence_encoders
from tomlab.models.providers import provider
from tomlab.models.specs import model, model_spec
from tomlab.scoring.embeddings import beginnings, embed

ROBERTA = model("all-roberta-large-v1")


class StandIn:
    """Embeds a text by whether it knows of the golden retriever; a word is a token."""

    max_seq_length = 512

    def __init__(self, name):
        if name != "sentence-transformers/all-roberta-large-v1":
            raise OSError("there is no such model")

    def encode(self, texts):
        return np.array([[2.0, 0.0] if "golden" in text else [0.0, 3.0] for text in texts])

    def tokenizer(self, text):
        return {"input_ids": [0, *(len(word) for word in text.split()), 2]}


@pytest.fixture
def installed(monkeypatch):
    package = SimpleNamespace(SentenceTransformer=StandIn)
    monkeypatch.setitem(sys.modules, "sentence_transformers", package)
    sentence_encoders.load.cache_clear()
    yield
    sentence_encoders.load.cache_clear()


def test_entry_of_the_file_of_parameters_is_the_releases_encoder(installed):
    assert embed(["a golden dog", "a dog"], ROBERTA).tolist() == [[1, 0], [0, 1]]


def test_text_beyond_its_128_tokens_is_cut_and_an_entry_may_read_more(installed):
    fits = "dog " * 126
    longer = "dog " * 127
    cut = beginnings([fits, longer], ROBERTA)
    assert {text: len(tokens) for text, tokens in cut.items()} == {longer: 128}
    assert beginnings([longer], ROBERTA.model_copy(update={"context": None})) == {}


@pytest.mark.parametrize(
    ("text", "outcome"),
    [("It is golden, she thinks.", "wrong"), ("She has no idea.", "correct")],
)
def test_it_decides_the_free_answers_of_fantom(installed, text, outcome):
    items = fantom.compose([question_set()])  # of what she missed
    beliefs = items[items["question_type"] == "belief_dist"]
    scores = fantom.score(items, answered(beliefs, text, "short"), embedder=ROBERTA)
    assert {*scores["outcome"]} == {outcome}


def test_without_the_package_an_error_says_how_to_get_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    sentence_encoders.load.cache_clear()
    with pytest.raises(InputError, match="pip install sentence-transformers"):
        embed(["a dog"], ROBERTA)


def test_encoder_that_cannot_be_loaded_is_named(installed):
    entry = {"provider": "sentence-transformers", "model": "no/such-encoder"}
    with pytest.raises(InputError, match=r"could not load 'no/such-encoder' .*no such model"):
        embed(["a dog"], model_spec("mine", {"mine": entry}))


def test_encoder_answers_no_questions():
    with pytest.raises(InputError, match="embeds texts and answers no questions"):
        provider(ROBERTA)
