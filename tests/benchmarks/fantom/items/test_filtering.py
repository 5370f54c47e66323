"""Rule filters, the mentalizing criterion, annotators' flags, and what is kept."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fantom_quince import FULL, SHORT, question_set
from tomlab.benchmarks.fantom.items.filtering import COLUMNS, faults, flagged, flags_form, overlap
from tomlab.records.files import read_form

NO_KEY = {"answerabilityQAs_binary__0__correct_answer": "no"}


@pytest.mark.parametrize(
    ("path", "value", "rule", "fault"),
    [
        ("full_context", f"{FULL}\n(Bruno leaves.)", "no turn", "(Bruno leaves.)"),
        ("short_context", SHORT.replace("Noor: See you, Bruno!\n", ""), "not in full", "no part"),
        ("full_context", f"{FULL}\nIlse: Of course,  Petra!", "repeated line", "Of course"),
        (
            "beliefQAs__0__correct_answer",
            "bruno believes that  Ilse planted a quince Tree.",
            "equal answers",
            "What does Bruno believe that Ilse planted?",
        ),
        (
            "infoAccessibilityQAs_binary__3__correct_answer",
            "yes",
            "contradiction",
            "'yes' to 'Does Petra know this?'",
        ),
        (
            "answerabilityQA_list__wrong_answer",
            ["Bruno", "Petra", "noor "],
            "contradiction",
            "noor listed as aware and as unaware",
        ),
    ],
)
def test_each_fault_has_its_rule_and_only_new_sets_are_dropped(path, value, rule, fault):
    sets = [question_set("1-0-0"), question_set(**{path: value})]
    sets.append(sets[1] | {"set_id": "2-0-0", "source": "authored"})
    table = faults(sets)
    assert table.columns.tolist() == COLUMNS
    assert table["set_id"].tolist() == ["12-0-1", "2-0-0"]
    assert table["rule"].tolist() == [rule] * 2
    assert table["found"].str.contains(fault, regex=False).all()
    assert table["dropped"].tolist() == [False, True]


CONTEXTS = st.lists(st.text(max_size=20) | st.sampled_from(FULL.splitlines())).map("\n".join)


@given(CONTEXTS, CONTEXTS)
@settings(max_examples=30, deadline=None)
def test_any_text_is_judged(short, full):
    table = faults([question_set(short_context=short, full_context=full)])
    assert not table["dropped"].any()


# The mentalizing criterion


def test_answer_that_matches_the_words_of_the_context_is_the_wrong_one():
    [row] = overlap([question_set()]).to_dict("records")
    assert row["set_id"] == "12-0-1"
    assert (row["scenario"], row["tom_type"]) == ("inaccessible", "first-order")
    # Neither "new" nor "garden" stands in the short context; "planted", "quince" and "tree" do.
    assert (row["right_overlap"], row["wrong_overlap"], row["meets"]) == (0, 1, True)


@pytest.mark.parametrize(
    ("answer", "share"),
    [
        ("PLANTED, quince; apple? (pear)", 1 / 2),
        ("A tree's dawn", 1),
        ("tree tree apple", 2 / 3),
        ("Bruno does not know anything.", 0),
        ("…", 0),
    ],
)
def test_share_of_content_words_in_the_short_context(answer, share):
    table = overlap([question_set(beliefQAs__0__correct_answer=answer)])
    assert table["right_overlap"].tolist() == pytest.approx([share])


# Flags


@pytest.mark.parametrize(
    ("people", "models", "expected"),
    [
        ("yyn", "nnn", [[2, 3, True]]),
        ("ynn", "yyy", [[1, 3, False]]),
        ("yn", "", [[1, 2, False]]),
        ("", "yyy", []),
    ],
)
def test_majority_is_of_people_alone(tmp_path, people, models, expected):
    lines = ["set_id,annotator,annotator_type,kind,verdict"]
    for annotator_type, letters in (("human", people), ("llm:x", models)):
        for number, letter in enumerate(letters):
            verdict = {"y": "yes", "n": "no"}[letter]
            lines.append(f"12-0-1,{annotator_type}{number},{annotator_type},coherence,{verdict}")
    path = tmp_path / "flags.csv"
    path.write_text("\n".join(lines))
    flags = read_form(path, flags_form({"12-0-1"}))
    table = flagged([question_set(source="llm:x")], flags)
    assert table[["yes", "people", "dropped"]].values.tolist() == expected
    assert not flagged([question_set()], flags)["dropped"].any()  # the release's
