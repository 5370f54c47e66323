"""Graders of free-form answers: answers known by construction, what each grader says of them, and
what a grader would change in a run.
"""

import asyncio
from collections import defaultdict

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tomlab.benchmarks import bigtom
from tomlab.benchmarks.bigtom.items.templates import read_templates
from tomlab.errors import InputError
from tomlab.judging import grading, people, rewordings
from tomlab.judging.agreement import agreement_by_judge, agreement_by_kind, winner
from tomlab.judging.rewordings import MEANS, MEANS_NONE
from tomlab.models.specs import Reply, Response
from tomlab.paths import DATA
from tomlab.scoring.embeddings import MINILM
from tomlab.scoring.similarity import similarity

TEMPLATES = read_templates(DATA / "bigtom" / "bigtom.csv")
ITEMS = bigtom.compose(TEMPLATES)
BABY = ["Caoimhe believes the baby is awake.", "Caoimhe believes the baby is asleep."]


@pytest.fixture(scope="module")
def made():
    return rewordings.constructed(ITEMS, 240, seed=1)


# ---- Answers known by construction ----------------------------------------------------------------


@pytest.fixture(scope="module")
def texts():
    """The texts of each operation by question type, truth and operation: two templates, each the
    stranger of the other, by many seeds.
    """
    templates = TEMPLATES[TEMPLATES["agent"].isin(["Caoimhe", "Qiaohui"])]
    items = bigtom.compose(templates)
    items = items[(items["condition"] == "false_belief") & (items["variable"] != "backward_belief")]
    results = defaultdict(set)
    for seed in range(40):
        for row in rewordings.constructed(items, 45, seed).itertuples():
            results[row.unit.split("/")[1], row.truth, row.operation].add(row.text)
    return results


LONGER = (
    "From what the story tells us, Caoimhe believes the baby is asleep, and nothing in it speaks"
    " against that."
)
BOTH = (
    "Either Caoimhe believes the baby is asleep, or Caoimhe believes the baby is awake;"
    " the story allows both."
)
# In a false belief the agent holds on to the initial state: the baby is asleep.
EXAMPLES = [
    ("belief", "right", "verbatim", "Caoimhe believes the baby is asleep."),
    ("belief", "right", "other verb", "Caoimhe thinks that the baby is asleep."),
    ("belief", "right", "convinced", "Caoimhe is sure that the baby is asleep."),
    ("belief", "right", "clause order", "The baby is asleep, Caoimhe believes."),
    ("belief", "right", "contraction", "Caoimhe believes the baby's asleep."),
    ("belief", "right", "synonym", "Caoimhe believes the baby is sleeping."),
    ("belief", "right", "fragment", "Asleep."),
    ("belief", "right", "longer sentence", LONGER),
    (
        *("belief", "right", "hedged"),
        "Probably Caoimhe believes the baby is asleep, as far as one can tell.",
    ),
    ("belief", "right", "complement denied", "Caoimhe does not think that the baby is awake."),
    (
        *("action", "right", "convinced"),
        "Qiaohui intends to walk along the ground-floor hallway with the book under her arm.",
    ),
    ("belief", "wrong", "fragment", "Awake."),
    ("belief", "wrong", "complement denied", "Caoimhe does not think that the baby is asleep."),
    ("belief", "none", "both options", BOTH),
    ("belief", "none", "cannot say", "There is not enough information to tell."),
    (
        *("belief", "none", "other template"),
        "Qiaohui is a volunteer who reads novels aloud at a nursing home in Chengdu.",
    ),
    ("belief", "none", "other template's option", "Caoimhe believes the sailor is in room twelve."),
    # One of many rooms denied means neither.
    (
        *("belief", "none", "one denied"),
        "Qiaohui does not think that the sailor is in room forty.",
    ),
]


@pytest.mark.parametrize(("kind", "truth", "operation", "text"), EXAMPLES)
def test_each_operation_has_its_example(texts, kind, truth, operation, text):
    assert text in texts[kind, truth, operation]


def test_awake_denied_is_asleep_and_never_neither(texts):
    assert not any("baby" in text for text in texts["belief", "none", "one denied"])
    assert not any("sailor" in text for text in texts["belief", "right", "complement denied"])


def test_beginning_of_the_story_tells_nothing_of_the_state(texts):
    beginnings = " ".join(texts["belief", "none", "beginning of the story"])
    assert "Caoimhe" in beginnings
    assert "asleep" not in beginnings


def test_constructed_set_is_balanced_and_depends_on_the_seed_alone():
    table = rewordings.constructed(ITEMS, 301, seed=0)
    assert table["truth"].value_counts().to_dict() == {"none": 101, "right": 100, "wrong": 100}
    assert set(table["operation"]) == {*MEANS, *MEANS_NONE}
    assert set(table["source"]) == {"known by construction"}
    assert table["unit"].is_unique
    assert not table.duplicated(["group", "text"]).any()
    pd.testing.assert_frame_equal(table, rewordings.constructed(ITEMS, 301, seed=0))
    assert set(table["text"]) != set(rewordings.constructed(ITEMS, 301, seed=4)["text"])


def test_too_many_answers_wanted_or_no_items_are_an_error():
    with pytest.raises(InputError, match=r"found \d+ texts of truth none, expected 20000"):
        rewordings.constructed(ITEMS, 60_000, seed=0)
    with pytest.raises(InputError, match="no items to make answers from"):
        rewordings.constructed(ITEMS.iloc[:0], 3, seed=0)


def test_option_in_other_words_than_believes_and_will_is_taken_as_it_is():
    items = ITEMS[ITEMS["question_type"] == "belief"]
    choices = [
        [choice.replace("believes", "knows about") for choice in pair] for pair in items["choices"]
    ]
    answers = items["answer"].str.replace("believes", "knows about")
    table = rewordings.constructed(items.assign(choices=choices, answer=answers), 120, seed=0)
    assert set(table["operation"]).isdisjoint({"other verb", "clause order", "one denied"})
    assert {"verbatim", "hedged", "both options"} <= set(table["operation"])


# ---- Graders -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "grade"),
    [
        ("caoimhe believes: the baby is AWAKE!", "a"),
        ("I think that Caoimhe believes the baby is asleep, as the story says.", "b"),
        ("Caoimhe believes the baby is asleep. Or Caoimhe believes the baby is awake.", "none"),
        ("Caoimhe thinks that the baby is asleep.", "none"),
        ("Caoimhe believes the baby is asleepy.", "none"),
        ("", "none"),
    ],
)
def test_exact_grade(text, grade):
    assert grading.exact_grade(text, BABY) == grade


@pytest.mark.parametrize(
    ("text", "margin", "grade"),
    [
        # 5 of 6 words shared with b on either side, 4 with a: .83 less .67.
        ("Caoimhe thinks the baby is asleep", 0.1, "b"),
        ("Caoimhe thinks the baby is asleep", 0.2, "none"),
        ("Caoimhe thinks the baby is awake", 0.0, "a"),
        ("Both are possible.", 0.0, "none"),
    ],
)
def test_shared_words_need_the_margin(text, margin, grade):
    [alike] = similarity("token_f1", [text], BABY)
    assert grading.nearer(alike, margin) == grade


def answers_to_baby(*rows: tuple[str, str]) -> pd.DataFrame:
    """Answers to one item, by text and truth; its right option is the second in `choices`."""
    table = pd.DataFrame(rows, columns=["text", "truth"])
    names = table.index.astype(str)
    return table.assign(unit="u" + names, group="g" + names, choices=[BABY] * len(table)).assign(
        answer=BABY[1]
    )


def test_minilm_is_nearer_to_what_is_meant():
    table = answers_to_baby(("The baby sleeps, she thinks.", "right"), ("", "none"))
    assert grading.grades(table, "embedding", {"embedding": 0.05}, MINILM) == ["b", "none"]


WORDS = st.lists(st.sampled_from(["Ana", "the", "box", "is", "open", "shut", "not"]), max_size=9)
TEXTS = WORDS.map(" ".join)


@given(TEXTS, TEXTS, TEXTS, st.sampled_from([0.0, 0.1, 0.3]))
@settings(max_examples=30)
def test_order_of_the_options_changes_nothing(text, first, second, margin):
    def by_words(text, options):
        return grading.nearer(similarity("token_f1", [text], options)[0], margin)

    other = {"a": "b", "b": "a", "none": "none"}
    for grader in (grading.exact_grade, by_words):
        assert grader(text, [first, second]) == other[grader(text, [second, first])]


def test_request_shows_question_options_and_answer_as_text(tmp_path):
    item = ITEMS.iloc[0]
    table = ITEMS.iloc[:1].assign(text="{option_a}\n\nWrite B.")
    [request] = grading.grade_requests(table)
    content = request.messages[0]["content"]
    for shown in (item["question"], *item["choices"], "Answer to judge: {option_a} Write B.\n"):
        assert shown in content
    assert item["story"] not in content
    path = tmp_path / "mine.txt"
    path.write_text("{question} A {option_a} B {option_b}: {answer}?", encoding="utf-8")
    [request] = grading.grade_requests(table, replaced={"judges/grade": str(path)})
    assert request.messages[0]["content"].endswith(": {option_a} Write B.?")


@pytest.mark.parametrize(
    ("text", "grade"),
    [
        ("A", "a"),
        ("**None**", "none"),
        ("Answer: B", "b"),
        ("Option A", "a"),
        ("<think>It could be B.</think>A", "a"),
        ("(b)\n", "b"),
        ("A or B", None),
        ("A\nB", None),
        ("None of the two", None),
        ("B, because she did not see it.", None),
        ("<think>A", None),
        ("C", None),
        ("", None),
    ],
)
def test_grade_is_read_strictly(text, grade):
    assert grading.parse_grade(text) == grade


@given(st.sampled_from(["a", "B", "none"]), st.text(" *.()\n\"':", max_size=5), st.text())
@settings(max_examples=50)
def test_marks_around_a_grade_do_not_matter_and_any_text_gives_a_grade_or_none(grade, marks, text):
    assert grading.parse_grade(marks + grade + marks) == grade.lower()
    assert grading.parse_grade(text) in {"a", "b", "none", None}


def test_language_models_answers_stand_beside_what_they_are_read_as(monkeypatch):
    async def asked(requests, model, limits):
        replies = [Reply("B", "stop"), Reply("B, I think.", "stop"), None]
        return [Response("key", reply) for reply in replies[: len(requests)]]

    monkeypatch.setattr(grading, "ask", asked)
    table = rewordings.constructed(ITEMS, 3, seed=0)
    said = asyncio.run(grading.by_language_model(table, None, None))
    assert said["said"].tolist() == ["B", "B, I think.", None]
    assert said["grade"].tolist() == ["b", None, None]
    # A run may be told to ask about no answer at all.
    nobody = asyncio.run(grading.by_language_model(table.head(0), None, None))
    assert grading.to_decisions(nobody, nobody["grade"], "llm").empty


# ---- Decisions -----------------------------------------------------------------------------------


def test_each_answer_is_decided_once_an_option():
    table = answers_to_baby(
        ("Asleep.", "right"), ("Awake.", "wrong"), ("Hm.", "none"), ("?", "none")
    )
    decisions = grading.to_decisions(table, ["b", "b", "none", None], "mine")
    assert decisions["unit"].tolist()[:2] == ["u0: right option", "u0: wrong option"]
    assert decisions["truth"].tolist() == [True, False, False, True, False, False, False, False]
    expected = [True, False, True, False, False, False, pd.NA, pd.NA]
    assert decisions["decision"].tolist() == expected
    turned = table.assign(choices=[BABY[::-1]] * 4)
    again = grading.to_decisions(turned, ["a", "a", "none", None], "mine")
    pd.testing.assert_frame_equal(again, decisions)


def test_graders_are_held_against_the_meaning_by_margins_chosen_on_other_templates(made):
    decisions, margins = grading.calibrated(made, MINILM, folds=4)
    agreement = agreement_by_judge(decisions).set_index("judge")
    assert agreement.loc["exact", "precision"] == 1
    assert agreement.loc["token_f1", "agreement"] > agreement.loc["exact", "agreement"]
    assert winner(agreement.reset_index()) in margins
    by_kind = agreement_by_kind(decisions, "exact", grading.operations(made))
    by_kind = by_kind.set_index(["kind", "truth"])
    assert set(by_kind.index.get_level_values("kind")) == set(made["operation"])
    assert by_kind.loc[("verbatim", True), "agreement"] == 1


# ---- What a grader would change ------------------------------------------------------------------


@pytest.fixture(scope="module")
def run():
    """Five answers of one model: scores, items and responses."""
    is_asked = (ITEMS["variable"] == "forward_belief") & (ITEMS["initial_belief"] == 0)
    items = ITEMS[is_asked & (ITEMS["condition"] == "false_belief")].iloc[:5]
    right = items["answer"].tolist()
    second = items.iloc[1]
    [wrong] = [choice for choice in second["choices"] if choice != second["answer"]]
    reasoning = f"Thought: {wrong} {right[1]}\nAnswer: {wrong}"
    responses = items[["item_id"]].assign(
        model="m",
        method=["0-shot", "0-shot-cot", "0-shot", "0-shot", "0-shot"],
        sample=0,
        response=[right[0], reasoning, "It is hard to say.", "", "a)"],
    )
    return bigtom.score(items, responses), items, responses


def test_what_names_no_option_is_graded_and_the_rest_is_known(run):
    scores, items, responses = run
    answers = grading.regraded(*run, "exact", {})
    assert answers["becomes"].tolist() == ["correct", "wrong", "unparsed", "unparsed", np.nan]
    assert answers["judged"].tolist() == [1, 0, 0, 0, scores["score"].iloc[4]]
    # Nobody has to be asked about an empty answer.
    assert answers["read"].tolist() == [False, False, False, True, True]
    # Of chain of thought, what follows "Answer:".
    assert answers["text"][1] == responses["response"].iloc[1].split("Answer: ")[1]
    form = people.to_label(answers, items, answers["group"])
    assert form["answer"].tolist() == answers["text"][:3].tolist()
    table = grading.changes(answers).set_index("method")
    assert table.loc["0-shot", "answers":"stays_unparsed"].tolist() == [4, 3, 1, 0, 2]
    assert table.loc["0-shot-cot", "answers":"stays_unparsed"].tolist() == [1, 1, 0, 1, 0]
    gained = table["accuracy_graded"] - table["accuracy"]
    assert gained.to_dict() == {"0-shot": 1 / 4, "0-shot-cot": 0}


def test_grader_without_a_grade_leaves_the_answer_unparsed(run):
    never = {"token_f1": 1.0}  # no answer is nearer to one option by so much
    answers = grading.regraded(*run, "token_f1", never)
    assert set(answers["becomes"].dropna()) == {"unparsed"}


def test_score_without_its_response_or_its_item_is_an_error(run):
    scores, items, responses = run
    for incomplete in ((items, responses.iloc[1:]), (items.iloc[1:], responses)):
        with pytest.raises(InputError, match="no response or no item for the score of"):
            grading.regraded(scores, *incomplete, "exact", {})
