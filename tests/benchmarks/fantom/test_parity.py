"""FANToM: the released rule of each kind of question, written a second time, on constructed answers."""

import random

import pandas as pd
import pytest
from fidelity import CONSTRUCTED

import fantom_protocol
from fantom_sets import question_set
from replies import answered
from tomlab.benchmarks import fantom
from tomlab.benchmarks.fantom.scoring import right_letter

SET = question_set()
ASKED = fantom.asked(fantom.compose([SET]), "full")
# Of a free answer about a belief, no text alone decides: an encoder does.
RULED = ASKED[ASKED["question_type"] != "belief_dist"]

WRITTEN = [*CONSTRUCTED, "Linda, David", "Linda, David and sally", "linda", "Nobody", "(a) or (B)"]
WRITTEN += ["'yes'", "Trueish", "She doesn't know", "She does not know it", "I say yes, she does"]
WRITTEN += ["Answer: no. Answer: yes", "a", "B", "b.", "(B)", "Linda's dog is a poodle", "nothing"]

PIECES = ["Linda", "David", "Kailey", "sally", "yes", "Yes,", "no", "No.", "true", "False", "knows"]
PIECES += ["does know", "does not know", "doesn't know", "not sure", "(a)", "(B)", "a)", "b.", "a"]
PIECES += ["Answer:", "a golden retriever", "Linda's dog is", ",", ".", "'", "and", "Nobody", "\n"]


def scores_of(texts: list[str]) -> pd.DataFrame:
    """The scores of each question answered by each text, which is told by its number, `sample`."""
    tables = [answered(RULED, text, "full", sample=n) for n, text in enumerate(texts)]
    scores = fantom.score(RULED, pd.concat(tables), embedder=None)
    return scores.set_index(["item_id", "sample"])


def test_released_rule_is_that_of_the_released_code():
    draw = random.Random(0)
    texts = [*WRITTEN]
    for _ in range(80):
        pieces = draw.choices(PIECES, k=draw.randint(1, 7))
        texts.append(draw.choice(["", " "]).join(pieces))
    scores = scores_of(texts)["by_released_rule"]
    questions = {question["key"]: question for question in fantom_protocol.flat(SET, "full")}
    for item in RULED.to_dict("records"):
        question = questions[item["item_id"].partition("/")[2]]
        letter = right_letter(item) if len(item["choices"]) else ""
        for number, text in enumerate(texts):
            answer = text.strip().split("Answer:")[-1].strip()
            expected = fantom_protocol.verdict(question, answer, letter, closer=None)
            score = scores[item["item_id"], number]
            assert score == pytest.approx(float(expected)), (item["question_type"], text)
