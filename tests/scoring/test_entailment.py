"""Entailment both ways, by a model made here: a bag of words in which every "not" denies."""

import json
from pathlib import Path

import numpy as np
import pytest

from tomlab.benchmarks.omnitom import alignment
from tomlab.benchmarks.omnitom.items.records import Row
from tomlab.errors import InputError
from tomlab.scoring.entailment import two_way
from tomlab.scoring.similarity import similarity

WORDS = ["[PAD]", "[UNK]", "not", "perhaps", "the", "ring", "is", "gone", "lost", "ben", "late"]
LABELS = {"0": "contradiction", "1": "neutral", "2": "ENTAILMENT"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    """A cross-encoder for which what has "not" in it contradicts, and what is second and has
    "perhaps" in it does not follow."""
    pytest.importorskip("onnxruntime")
    onnx, tokenizers = pytest.importorskip("onnx"), pytest.importorskip("tokenizers")
    made = tmp_path_factory.mktemp("model")
    weights = np.zeros((2 * len(WORDS), 3), dtype=np.float32)
    weights[WORDS.index("not"), 0] = weights[len(WORDS) + WORDS.index("not"), 0] = 9
    weights[len(WORDS) + WORDS.index("perhaps"), 1] = 9
    node, info, kinds = onnx.helper.make_node, onnx.helper.make_tensor_value_info, onnx.TensorProto
    constants = {
        "weights": weights,
        "bias": np.array([0, 0, 4], dtype=np.float32),
        "size": np.array(len(WORDS)),
        "axis": np.array([1]),
    }
    nodes = [
        node("Mul", ["token_type_ids", "size"], ["shift"]),
        node("Add", ["input_ids", "shift"], ["places"]),
        node("Gather", ["weights", "places"], ["each"]),
        node("ReduceSum", ["each", "axis"], ["sum"], keepdims=0),
        node("Add", ["sum", "bias"], ["logits"]),
    ]
    inputs = [info(name, kinds.INT64, ["n", "m"]) for name in ("input_ids", "token_type_ids")]
    graph = onnx.helper.make_graph(
        nodes,
        "toy",
        inputs,
        [info("logits", kinds.FLOAT, ["n", 3])],
        [onnx.numpy_helper.from_array(value, name) for name, value in constants.items()],
    )
    versions = {"opset_imports": [onnx.helper.make_opsetid("", 17)], "ir_version": 8}
    onnx.save(onnx.helper.make_model(graph, **versions), made / "model.onnx")
    vocabulary = {word: number for number, word in enumerate(WORDS)}
    model = tokenizers.models.WordLevel(vocabulary, unk_token="[UNK]")
    tokenizer = tokenizers.Tokenizer(model)
    tokenizer.normalizer = tokenizers.normalizers.Lowercase()
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    tokenizer.post_processor = tokenizers.processors.TemplateProcessing(pair="$A $B:1")
    tokenizer.save(str(made / "tokenizer.json"))
    (made / "config.json").write_text(json.dumps({"id2label": LABELS}))
    return made


GONE, LOST, NOT, PERHAPS = (
    "The ring is gone",
    "The ring is lost",
    "The ring is not gone",
    "Perhaps the ring is gone",
)


def test_both_ways_have_to_be_entailed(folder):
    found = two_way([(GONE, LOST), (GONE, NOT), (GONE, PERHAPS), (PERHAPS, GONE)], folder)
    sure = np.exp(4) / (np.exp(4) + 2)
    assert found[GONE, LOST] == pytest.approx(sure)
    assert found[GONE, NOT] < 0.02
    # "Gone" entails "perhaps gone" no more than the lesser of both ways.
    assert found[GONE, PERHAPS] == found[PERHAPS, GONE] < 0.02


def test_many_pairs_of_unlike_length_are_read_as_each_alone(folder):
    pairs = [(GONE, " ".join([LOST] * n)) for n in range(1, 40)]
    together = two_way(pairs, folder)
    assert [together[pair] for pair in pairs[::13]] == [
        two_way([pair], folder)[pair] for pair in pairs[::13]
    ]


def test_entailment_sees_the_denial_that_vectors_do_not(folder):
    predicted = [Row("Ana", NOT), Row("Ana", LOST)]
    gold = [Row("Ana", GONE), Row("Ana", "Ben is late")]
    # By vectors the denial is the nearest.
    near = dict(zip([GONE, NOT, LOST, "Ben is late"], np.eye(4)[[0, 0, 0, 1]], strict=True))
    near[LOST] = np.array([0.8, 0, 0.6, 0])
    by_vectors = alignment.align(predicted, gold, "embedding", 0.7, near)
    assert by_vectors.pairs == [(0, 0)]
    pairs = alignment.shortlist([(predicted, gold)], near)
    assert set(pairs) == {(NOT, GONE), (LOST, GONE), (NOT, "Ben is late"), (LOST, "Ben is late")}
    own = [pair for pair in pairs if pair[1] == GONE]
    by_model = alignment.align(predicted, gold, "entailment", 0.7, two_way(own, folder))
    assert by_model.pairs == [(1, 0)]


def test_pairs_off_the_shortlist_are_no_match():
    rows = [Row("Ana", f"text {n}") for n in range(9)]
    angles = np.linspace(0, np.pi / 2, 9)
    vectors = {
        r.belief: np.array([np.cos(a), np.sin(a)]) for r, a in zip(rows, angles, strict=True)
    }
    pairs = alignment.shortlist([(rows, rows[:6])], vectors)
    assert ("text 0", "text 0") in pairs and ("text 0", "text 5") not in pairs
    assert ("text 8", "text 5") in pairs  # the nearest that there is
    alike = similarity("entailment", ["text 0"], ["text 0", "text 5"], {("text 0", "text 0"): 0.9})
    assert alike.tolist() == [[0.9, 0.0]]


def test_a_folder_without_a_model_or_an_entailment_is_refused(folder, tmp_path):
    with pytest.raises(InputError, match=r"found no model\.onnx, tokenizer\.json, config\.json in"):
        two_way([(GONE, LOST)], tmp_path)
    for name in ("model.onnx", "tokenizer.json"):
        (tmp_path / name).write_bytes((folder / name).read_bytes())
    (tmp_path / "config.json").write_text(json.dumps({"id2label": {"0": "not_entailment"}}))
    with pytest.raises(InputError, match="found not_entailment, expected an entailment"):
        two_way([(GONE, LOST)], tmp_path)
