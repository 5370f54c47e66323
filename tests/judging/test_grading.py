"""BigToM's free-form graders: answers known by construction, what each grader says of them, and
what a grader would change in a run.
"""

import asyncio

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tomlab.benchmarks import bigtom
from tomlab.benchmarks.bigtom.items.templates import read_templates
from tomlab.errors import InputError
from tomlab.judging import grading, people, rewordings
from tomlab.judging.agreement import agreement_by_judge, agreement_by_kind
from tomlab.judging.rewordings import MEANS, MEANS_NONE
from tomlab.judging.thresholds import cross_validated_thresholds
from tomlab.models.specs import Reply, Response
from tomlab.paths import DATA
from tomlab.scoring.embeddings import MINILM
from tomlab.scoring.similarity import similarity

TEMPLATES = read_templates(DATA / "bigtom" / "bigtom.csv")
ITEMS = bigtom.compose(TEMPLATES)
# In a false belief the agent holds on to the initial state.
RIGHT = {
    "Caoimhe": "Caoimhe believes the baby is asleep.",
    "Qiaohui": "Qiaohui believes the sailor is in room twelve.",
}


@pytest.fixture(scope="module")
def said():
    """The texts of each operation, by (agent, question type, truth, operation), over many seeds.

    Of two templates, so that each is the stranger of the other.
    """
    own = TEMPLATES[TEMPLATES["agent"].isin(RIGHT)]
    items = bigtom.compose(own)
    items = items[(items["condition"] == "false_belief") & (items["variable"] != "backward_belief")]
    agents = dict(zip(own["template_id"], own["agent"], strict=True))
    found: dict[tuple, set[str]] = {}
    for seed in range(60):
        for row in rewordings.constructed(items, 45, seed).itertuples():
            kind = row.unit.split("/")[1]
            key = (agents[row.group], kind, row.truth, row.operation)
            found.setdefault(key, set()).add(row.text)
    return found


SLEEPS = "Caoimhe believes the baby is asleep"
ASLEEP = {
    "verbatim": {f"{SLEEPS}."},
    "other verb": {
        "Caoimhe thinks that the baby is asleep.",
        "Caoimhe is of the opinion that the baby is asleep.",
    },
    "convinced": {
        "Caoimhe is convinced that the baby is asleep.",
        "Caoimhe is sure that the baby is asleep.",
    },
    "clause order": {
        "That the baby is asleep is what Caoimhe believes.",
        "The baby is asleep, Caoimhe believes.",
    },
    "contraction": {"Caoimhe believes the baby's asleep."},
    "synonym": {"Caoimhe believes the baby is sleeping."},
    "fragment": {"Asleep."},
    "longer sentence": {
        f"From what the story tells us, {SLEEPS}, and nothing in it speaks against that.",
        f"When I put together everything that is said, my answer is that {SLEEPS}.",
        f"Given how the story goes, {SLEEPS}, which is what one would expect of anybody there.",
    },
    "hedged": {
        f"I am not entirely sure, but it seems that {SLEEPS}.",
        f"My best guess would be that {SLEEPS}.",
        f"Probably {SLEEPS}, as far as one can tell.",
    },
    "complement denied": {
        "Caoimhe does not believe that the baby is awake.",
        "Caoimhe does not think that the baby is awake.",
    },
}


@pytest.mark.parametrize("operation", ASLEEP)
def test_answer_that_means_the_right_option(said, operation):
    assert said["Caoimhe", "belief", "right", operation] == ASLEEP[operation]


def test_every_operation_has_its_example():
    assert set(ASLEEP) == set(MEANS)


WALK = "walk along the ground-floor hallway with the book under her arm"
ACTION = {
    "other verb": {f"Qiaohui is going to {WALK}.", f"Qiaohui is about to {WALK}."},
    "convinced": {f"Qiaohui intends to {WALK}.", f"Qiaohui is determined to {WALK}."},
    "clause order": {
        f"What Qiaohui will do is {WALK}.",
        f"To {WALK} is what Qiaohui will do.",
    },
    "contraction": {f"Qiaohui'll {WALK}."},
    "fragment": {f"{WALK.capitalize()}."},
}


@pytest.mark.parametrize("operation", ACTION)
def test_action_is_reworded_by_its_own_verb(said, operation):
    assert said["Qiaohui", "action", "right", operation] == ACTION[operation]


def test_same_operations_make_answers_that_mean_the_wrong_option(said):
    assert said["Caoimhe", "belief", "wrong", "fragment"] == {"Awake."}
    assert said["Caoimhe", "belief", "wrong", "complement denied"] == {
        "Caoimhe does not believe that the baby is asleep.",
        "Caoimhe does not think that the baby is asleep.",
    }


NONE = {
    "both options": "Either Caoimhe believes the baby is asleep, or Caoimhe believes the baby is "
    "awake; the story allows both.",
    "cannot say": "There is not enough information to tell.",
    "other template": "Qiaohui is a volunteer who reads novels aloud at a nursing home in Chengdu.",
    "other template's option": "Caoimhe believes the sailor is in room twelve.",
}


@pytest.mark.parametrize("operation", NONE)
def test_answer_that_means_neither_option(said, operation):
    assert NONE[operation] in said["Caoimhe", "belief", "none", operation]


def test_beginning_of_the_story_tells_nothing_of_the_state(said):
    [told] = said["Caoimhe", "belief", "none", "beginning of the story"]
    assert "Caoimhe" in told and "asleep" not in told and "awake" not in told


def test_one_of_many_rooms_denied_means_neither(said):
    assert (
        "Qiaohui does not think that the sailor is in room forty."
        in (said["Qiaohui", "belief", "none", "one denied"])
    )


def test_awake_denied_is_asleep_and_never_neither(said):
    assert ("Caoimhe", "belief", "none", "one denied") not in said
    assert ("Qiaohui", "belief", "right", "complement denied") not in said


def test_constructed_set_is_balanced_and_says_what_it_is():
    table = rewordings.constructed(ITEMS, 301, seed=0)
    assert len(table) == 301
    assert table["truth"].value_counts().to_dict() == {"none": 101, "right": 100, "wrong": 100}
    assert set(table["operation"]) == {*MEANS, *MEANS_NONE}
    assert set(table["source"]) == {"known by construction"}
    assert table["unit"].is_unique and not table.duplicated(["group", "text"]).any()
    common = table[table["truth"] == "right"]["operation"].value_counts()
    assert common.drop(["synonym", "complement denied"]).between(10, 12).all()


def test_constructed_set_depends_on_the_seed_alone():
    first = rewordings.constructed(ITEMS, 60, seed=3)
    pd.testing.assert_frame_equal(first, rewordings.constructed(ITEMS, 60, seed=3))
    assert set(first["text"]) != set(rewordings.constructed(ITEMS, 60, seed=4)["text"])


def test_too_many_answers_wanted_or_no_items_are_an_error():
    with pytest.raises(InputError, match=r"found \d+ texts of truth none, expected 20000"):
        rewordings.constructed(ITEMS, 60_000, seed=0)
    with pytest.raises(InputError, match="no items to make answers from"):
        rewordings.constructed(ITEMS.iloc[:0], 3, seed=0)


def test_option_in_other_words_than_believes_and_will_is_taken_as_it_is():
    items = ITEMS[ITEMS["question_type"] == "belief"].copy()
    swap = {"believes": "knows about"}
    items["answer"] = items["answer"].replace(swap, regex=True)
    items["choices"] = [
        [c.replace("believes", "knows about") for c in cs] for cs in items["choices"]
    ]
    table = rewordings.constructed(items, 120, seed=0)
    assert not set(table["operation"]) & {"other verb", "convinced", "clause order", "one denied"}
    assert {"verbatim", "hedged", "both options"} <= set(table["operation"])


# ---- Graders -------------------------------------------------------------------------------------

BABY = ["Caoimhe believes the baby is awake.", "Caoimhe believes the baby is asleep."]


@pytest.mark.parametrize(
    ("text", "grade"),
    [
        ("Caoimhe believes the baby is asleep.", "b"),
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
        ("Caoimhe thinks of the baby", 0.0, "none"),
        ("Both are possible.", 0.0, "none"),
    ],
)
def test_shared_words_need_the_margin(text, margin, grade):
    [alike] = similarity("token_f1", [text], BABY)
    assert grading.nearer(alike, margin) == grade


def test_embedding_scores_are_cosines_to_both_options():
    vectors = dict(zip(BABY, np.eye(2), strict=True)) | {"Asleep.": np.array([0.6, 0.8])}
    [alike] = similarity("embedding", ["Asleep."], BABY, vectors)
    assert alike == pytest.approx((0.6, 0.8))
    assert (grading.nearer(alike, 0.1), grading.nearer(alike, 0.3)) == ("b", "none")


def test_minilm_is_nearer_to_what_is_meant():
    table = table_of(("The baby sleeps, she thinks.", "right"), ("", "none"))
    grades = grading.grades(table, "embedding", {"embedding": 0.05}, MINILM)
    assert grades == ["b", "none"]


WORDS = st.lists(
    st.sampled_from(["Ana", "believes", "the", "box", "is", "open", "shut", "not", "or"]),
    max_size=9,
).map(" ".join)


@given(WORDS, WORDS, WORDS, st.sampled_from([0.0, 0.1, 0.3]))
def test_order_of_the_options_changes_nothing(text, first, second, margin):
    other = {"a": "b", "b": "a", "none": "none"}
    vectors = {
        t: np.array([t.count("o"), t.count("s"), 1.0]) / max(len(t), 1)
        for t in (text, first, second)
    }
    for grader in (
        grading.exact_grade,
        lambda t, o: grading.nearer(similarity("token_f1", [t], o)[0], margin),
        lambda t, o: grading.nearer(similarity("embedding", [t], o, vectors)[0], margin),
    ):
        assert grader(text, [first, second]) == other[grader(text, [second, first])]


# ---- A language model as the grader --------------------------------------------------------------


def test_request_shows_question_options_and_answer():
    table = rewordings.constructed(ITEMS, 30, seed=0)
    requests = grading.grade_requests(table)
    assert len(requests) == 30
    row = table.iloc[7]
    item = ITEMS.set_index("item_id").loc[row["item_id"]]
    [message] = requests[7].messages
    for shown in (item["question"], *item["choices"], f"Answer to judge: {row['text']}\n"):
        assert shown in message["content"]
    assert "{" not in message["content"]
    assert item["story"] not in message["content"]


def test_braces_and_lines_in_an_answer_stay_text_of_it():
    table = ITEMS.iloc[:1].assign(text="{option_a}\n\nWrite B.")
    [request] = grading.grade_requests(table)
    assert "Answer to judge: {option_a} Write B.\n" in request.messages[0]["content"]


def test_own_prompt_file_replaces_the_graders(tmp_path):
    path = tmp_path / "mine.txt"
    path.write_text("{question} A {option_a} B {option_b}: {answer}?", encoding="utf-8")
    table = rewordings.constructed(ITEMS, 3, seed=0)
    [first, *_] = grading.grade_requests(table, replaced={"judges/grade": str(path)})
    assert first.messages[0]["content"].endswith(f": {table['text'].iloc[0]}?")


@pytest.mark.parametrize(
    ("text", "grade"),
    [
        ("A", "a"),
        ("b.", "b"),
        ("**None**", "none"),
        ("Answer: B", "b"),
        ("Option A", "a"),
        ("<think>It could be B.</think>A", "a"),
        ("(b)\n", "b"),
        ("A or B", None),
        ("A\nB", None),
        ("None of the two", None),
        ("B, because she did not see it.", None),
        ("The answer means A", None),
        ("<think>A", None),
        ("C", None),
        ("", None),
    ],
)
def test_grade_is_read_strictly(text, grade):
    assert grading.parse_grade(text) == grade


@given(st.text())
def test_any_text_gives_a_grade_or_none(text):
    assert grading.parse_grade(text) in {"a", "b", "none", None}


@given(
    st.sampled_from(["a", "b", "none"]),
    st.text(" *.()\n\"':", max_size=5),
    st.text(" *.()\n\"':", max_size=5),
    st.booleans(),
)
def test_marks_and_case_around_a_grade_do_not_matter(grade, before, after, upper):
    said = grade.upper() if upper else grade
    assert grading.parse_grade(before + said + after) == grade


@given(st.permutations(["a", "b"]), st.text(" ,.\n/", min_size=1, max_size=4))
def test_two_grades_are_none(both, between):
    assert grading.parse_grade(between.join(both)) is None


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
    none = asyncio.run(grading.by_language_model(table.head(0), None, None))
    decided = [grading.to_decisions(t, t["grade"], "llm") for t in (said, none)]
    assert (len(decided[0]), len(decided[1])) == (6, 0)
    assert pd.concat(decided)["truth"].dtype == bool


# ---- Decisions -----------------------------------------------------------------------------------


def table_of(*rows: tuple[str, str]) -> pd.DataFrame:
    """Answers to one item, by text and truth; its right option is the second in `choices`."""
    return pd.DataFrame(
        {
            "unit": [f"u{i}" for i in range(len(rows))],
            "group": [f"g{i}" for i in range(len(rows))],
            "text": [text for text, _ in rows],
            "truth": [truth for _, truth in rows],
            "choices": [BABY] * len(rows),
            "answer": BABY[1],
        }
    )


def test_each_answer_is_decided_once_an_option():
    table = table_of(
        ("Asleep.", "right"), ("Awake.", "wrong"), ("Who knows?", "none"), ("?", "none")
    )
    found = grading.to_decisions(table, ["b", "b", "none", None], "mine")
    assert list(found.columns) == ["judge", "group", "unit", "truth", "decision"]
    assert found["unit"].tolist()[:2] == ["u0: right option", "u0: wrong option"]
    truth = [True, False, False, True, False, False, False, False]
    assert found["truth"].tolist() == truth
    decision = [True, False, True, False, False, False, pd.NA, pd.NA]
    pd.testing.assert_series_equal(
        found["decision"], pd.Series(decision, dtype="boolean"), check_names=False
    )
    [row] = agreement_by_judge(found).to_dict("records")
    assert (row["n"], row["undefined"]) == (8, 2)


def test_decisions_do_not_depend_on_the_order_of_the_options():
    table = table_of(("Asleep.", "right"), ("Awake.", "wrong"))
    turned = table.assign(choices=[BABY[::-1]] * 2)
    one = grading.to_decisions(table, ["b", "none"], "mine")
    pd.testing.assert_frame_equal(one, grading.to_decisions(turned, ["a", "none"], "mine"))


def test_margin_is_chosen_on_other_templates():
    """What one template's answers score does not move the margin that they are judged by."""
    table = rewordings.constructed(ITEMS, 240, seed=1)
    alike = grading.likeness(table, "token_f1")
    found = cross_validated_thresholds(grading.margin_decisions(table, alike), folds=4)
    own = table["group"] == table["group"].iloc[0]
    spoilt = np.where(own.to_numpy()[:, None], alike[:, ::-1], alike)
    again = cross_validated_thresholds(grading.margin_decisions(table, spoilt), folds=4)
    place = found.decisions["group"] == table["group"].iloc[0]
    fold = found.decisions["fold"][place]
    assert fold.nunique() == 1 and fold.equals(again.decisions["fold"][place])
    margins = [one.decisions["threshold"][place] for one in (found, again)]
    pd.testing.assert_series_equal(*margins)
    assert (found.decisions["decision"] != again.decisions["decision"])[place].any()


def test_overlap_with_its_margin_agrees_more_than_exact_wording():
    table = rewordings.constructed(ITEMS, 240, seed=1)
    exact = grading.grades(table, "exact", {})
    alike = grading.likeness(table, "token_f1")
    chosen = cross_validated_thresholds(grading.margin_decisions(table, alike), folds=4)
    decided = [
        grading.to_decisions(table, exact, "exact"),
        chosen.decisions.assign(judge="token_f1"),
    ]
    best, other = agreement_by_judge(pd.concat(decided)).to_dict("records")
    assert (best["judge"], other["judge"]) == ("token_f1", "exact")
    assert other["precision"] == 1


# ---- What a grader would change ------------------------------------------------------------------


@pytest.fixture(scope="module")
def run():
    """Five answers of one model: items, responses and scores."""
    belief = (ITEMS["variable"] == "forward_belief") & (ITEMS["initial_belief"] == 0)
    items = ITEMS[belief & (ITEMS["condition"] == "false_belief")].iloc[:5]
    right = items["answer"].tolist()
    wrong = [next(c for c in cs if c != r) for cs, r in zip(items["choices"], right, strict=True)]
    both = f"Thought: {wrong[1]} {right[1]}\nAnswer: {wrong[1]}"
    said = [right[0], both, "It is hard to say.", "", "a)"]
    responses = pd.DataFrame(
        {
            "item_id": items["item_id"].tolist(),
            "model": "m",
            "method": ["0-shot", "0-shot-cot", "0-shot", "0-shot", "0-shot"],
            "sample": 0,
            "response": said,
        }
    )
    return items, responses, bigtom.score(items, responses)


def test_what_names_no_option_is_graded_and_the_rest_is_known(run):
    items, responses, scores = run
    before = scores.copy(deep=True)
    found = grading.regraded(scores, items, responses, "exact", {})
    assert found["becomes"].tolist() == ["correct", "wrong", "unparsed", "unparsed", np.nan]
    assert found["judged"].tolist() == [1, 0, 0, 0, scores["score"].iloc[4]]
    # Nobody has to be asked about an empty answer.
    assert found["read"].tolist() == [False, False, False, True, True]
    # Of chain of thought, what follows "Answer:".
    assert found["text"][1] == responses["response"][1].split("Answer: ")[1]
    pd.testing.assert_frame_equal(scores, before)
    form = people.to_label(found, items, found["group"])
    assert form["item_id"].tolist() == responses["item_id"][:3].tolist()
    assert form["answer"].tolist() == found["text"][:3].tolist()


def test_grader_without_a_grade_leaves_the_answer_unparsed(run):
    never = {"token_f1": 1.0}  # no answer is nearer to one option by so much
    found = grading.regraded(run[2], run[0], run[1], "token_f1", never)
    assert set(found["becomes"].dropna()) == {"unparsed"}


def test_empty_answer_is_not_given_to_the_grader(run, monkeypatch):
    def embedded(texts, model):
        assert "" not in texts
        return np.eye(len(texts))

    monkeypatch.setattr(grading, "embed", embedded)
    found = grading.regraded(run[2], run[0], run[1], "embedding", {"embedding": -1.0})
    assert found[found["text"] == ""]["becomes"].tolist() == ["unparsed"]
    assert found[~found["read"]]["grade"].isin(["a", "b"]).all()


def test_changes_are_counted_by_model_and_method(run):
    items, responses, scores = run
    found = grading.regraded(scores, items, responses, "exact", {})
    table = grading.changes(found).set_index("method")
    assert table.loc["0-shot", "answers":"stays_unparsed"].tolist() == [4, 3, 1, 0, 2]
    assert table.loc["0-shot-cot", "answers":"stays_unparsed"].tolist() == [1, 1, 0, 1, 0]
    plain = scores[scores["method"] == "0-shot"]
    assert table["accuracy"]["0-shot"] == plain["score"].mean()
    assert table["accuracy_graded"]["0-shot"] == plain["score"].mean() + 1 / 4


def test_run_without_unparsed_answers_changes_nothing(run):
    items, responses, scores = run
    known = scores[scores["outcome"] != "unparsed"]
    found = grading.regraded(known, items, responses, "exact", {})
    assert found["read"].all() and (found["judged"] == known["score"].to_numpy()).all()
    assert grading.changes(found)["unparsed"].tolist() == [0]


def test_score_without_its_response_or_its_item_is_an_error(run):
    items, responses, scores = run
    for lacking in ((items, responses.iloc[1:]), (items.iloc[1:], responses)):
        with pytest.raises(InputError, match="no response or no item for the score of"):
            grading.regraded(scores, *lacking, "exact", {})


def test_each_unit_of_a_decision_is_known_by_how_its_answer_was_made():
    made = rewordings.constructed(ITEMS, 60, seed=0)
    exact = grading.grades(made, "exact", {})
    decisions = grading.to_decisions(made, exact, "exact")
    done = grading.operations(made)
    assert done.index.is_unique and set(done.index) == set(decisions["unit"])
    found = agreement_by_kind(decisions, "exact", done).set_index(["kind", "truth"])
    assert set(found.index.get_level_values("kind")) == set(made["operation"])
    assert found.loc[("verbatim", True), "agreement"] == 1
