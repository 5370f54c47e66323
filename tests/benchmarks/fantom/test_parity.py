"""FANToM: the released rule of each kind of question, written a second time, on constructed answers."""

import random

import pandas as pd
import pytest
from fidelity import CONSTRUCTED

import fantom_protocol
from fantom_sets import question_set
from tomlab.benchmarks import fantom

SET = question_set()
ITEMS = fantom.compose([SET])
ASKED = fantom.asked(ITEMS, "full")
# Of a free answer about a belief, no text alone decides: an encoder does.
RULED = ASKED[ASKED["question_type"] != "belief_dist"]
QUESTIONS = {question["key"]: question for question in fantom_protocol.flat(SET, "full")}

WRITTEN = [*CONSTRUCTED, "Linda, David", "Linda, David and sally", "linda", "Nobody", "(a) or (B)"]
WRITTEN += ["'yes'", "Trueish", "She doesn't know", "She does not know it", "I say yes, she does"]
WRITTEN += ["Answer: no. Answer: yes", "a", "B", "b.", "(B)", "Linda's dog is a poodle", "nothing"]

PIECES = ["Linda", "David", "Kailey", "sally", "yes", "Yes,", "no", "No.", "true", "False", "knows"]
PIECES += ["does know", "does not know", "doesn't know", "not sure", "(a)", "(B)", "a)", "b.", "a"]
PIECES += ["Answer:", "a golden retriever", "Linda's dog is", ",", ".", "'", "and", "Nobody", "\n"]


def texts(seed: int) -> list[str]:
    """Those above, and answers put together of pieces by lot."""
    draw = random.Random(seed)
    made = []
    for _ in range(50):
        pieces = draw.choices(PIECES, k=draw.randint(1, 7))
        made.append(draw.choice(["", " "]).join(pieces))
    return [*WRITTEN, *made]


def letter_of(item: dict) -> str:
    """The letter of the right option, "" where there are no options."""
    options = list(item["choices"])
    return "ab"[options.index(item["answer"])] if options else ""


def behind_the_last_cue(text: str) -> str:
    return text.strip().split("Answer:")[-1].strip()


def scores_of(answers: list[str]) -> pd.DataFrame:
    """The scores of these answers to each question; an answer is told by its number, `sample`."""
    tables = [
        RULED[["item_id"]].assign(model="m", method="full", sample=number, response=text)
        for number, text in enumerate(answers)
    ]
    scores = fantom.score(ITEMS, pd.concat(tables), embedder=None)
    return scores.set_index(["item_id", "sample"])


@pytest.mark.parametrize("seed", range(2))
def test_released_rule_is_that_of_the_released_code(seed):
    answers = texts(seed)
    found = scores_of(answers)["by_released_rule"]
    for item in RULED.to_dict("records"):
        question = QUESTIONS[item["item_id"].partition("/")[2]]
        for number, text in enumerate(answers):
            said = behind_the_last_cue(text)
            expected = fantom_protocol.verdict(question, said, letter_of(item), closer=None)
            released = found[item["item_id"], number]
            assert released == pytest.approx(float(expected)), (item["question_type"], text)


def test_finished_answers_that_say_something_earn_what_the_release_credits():
    answers = ["Linda, David", "Linda", "yes", "No.", "(a)", "(b)", "a golden retriever"]
    scores = scores_of(answers)
    assert scores["score"].tolist() == scores["by_released_rule"].tolist()
