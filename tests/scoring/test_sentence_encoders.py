"""The encoder of FANToM's release, by a stand-in for sentence-transformers, whose weights are large."""

import sys
from types import ModuleType

import numpy as np
import pandas as pd
import pytest

from fantom_sets import question_set
from tomlab.benchmarks import fantom
from tomlab.errors import InputError
from tomlab.models import sentence_encoders
from tomlab.models.providers import provider
from tomlab.models.specs import model, model_spec
from tomlab.scoring.embeddings import beginnings, embed

NAME = "sentence-transformers/all-roberta-large-v1"
ITEMS = fantom.compose([question_set()])


class StandIn:
    """Embeds a text by whether it knows of the golden retriever; a word is a token."""

    max_seq_length = 512

    def __init__(self, name):
        if name != NAME:
            raise OSError("there is no such model")

    def encode(self, texts):
        return np.array([[2.0, 0.0] if "golden" in text else [0.0, 3.0] for text in texts])

    def tokenizer(self, text):
        return {"input_ids": [0, *(len(word) for word in text.split()), 2]}


@pytest.fixture
def installed(monkeypatch):
    package = ModuleType("sentence_transformers")
    package.SentenceTransformer = StandIn
    monkeypatch.setitem(sys.modules, "sentence_transformers", package)
    sentence_encoders.load.cache_clear()
    yield
    sentence_encoders.load.cache_clear()


def test_entry_of_the_file_of_parameters_is_the_releases_encoder(installed):
    spec = model("all-roberta-large-v1")
    assert (spec.model, spec.context) == (NAME, 128)
    vectors = embed(["a golden dog", "a dog"], spec)
    assert vectors.tolist() == [[1, 0], [0, 1]]


def test_two_entries_of_one_model_read_as_much_as_each_says(installed):
    short = model("all-roberta-large-v1")
    whole = short.model_copy(update={"context": None})
    text = "dog " * 127
    assert set(beginnings([text], short)) == {text}
    assert beginnings([text], whole) == {}


def test_text_beyond_its_128_tokens_is_cut(installed):
    spec = model("all-roberta-large-v1")
    cut = beginnings(["dog " * 126, "dog " * 127], spec)
    assert {text: len(tokens) for text, tokens in cut.items()} == {"dog " * 127: 128}


def test_it_decides_the_free_answers_of_fantom(installed):
    beliefs = ITEMS[ITEMS["question_type"] == "belief_dist"]
    said = ["It is golden, she thinks.", "She has no idea."]
    rows = [
        {"item_id": item, "model": str(number), "method": "short", "response": text}
        for item in beliefs["item_id"]
        for number, text in enumerate(said)
    ]
    spec = model("all-roberta-large-v1")
    scores = fantom.score(ITEMS, pd.DataFrame(rows), embedder=spec)
    outcomes = scores.groupby("model")["outcome"].unique().map(list).to_dict()
    assert outcomes == {"0": ["wrong"], "1": ["correct"]}  # who missed it does not know


def test_without_the_package_an_error_says_how_to_get_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    sentence_encoders.load.cache_clear()
    with pytest.raises(InputError, match="pip install sentence-transformers"):
        embed(["a dog"], model("all-roberta-large-v1"))


def test_encoder_that_cannot_be_loaded_is_named(installed):
    entry = {"provider": "sentence-transformers", "model": "no/such-encoder"}
    with pytest.raises(InputError, match=r"could not load 'no/such-encoder' .*no such model"):
        embed(["a dog"], model_spec("mine", {"mine": entry}))


def test_encoder_answers_no_questions():
    with pytest.raises(InputError, match="embeds texts and answers no questions"):
        provider(model("all-roberta-large-v1"))
