"""Blind and shallow readers: each on items where its score is known, or at chance."""

import pandas as pd
import pytest

from fantom_sets import random_sets
from tomlab import paths
from tomlab.benchmarks import bigtom, fantom, simpletom
from tomlab.scoring import readers

RELEASED = paths.ROOT.parent / "shared" / "datasets" / "bigtom" / "bigtom.csv"


def items(
    choices=lambda n, _: [f"right{n}", f"wrong{n}"], answer=lambda n, _: f"right{n}", story=None
):
    """Twenty two-option questions, each a group of its own, in SimpleToM's form; the omniscient
    baseline is right on every other one. Arguments are functions of the number and of that.
    """
    rows = []
    for n in range(20):
        side = n % 2 == 0
        row = {"item_id": f"s{n}/behavior", "group_id": f"g{n}", "choices": choices(n, side)}
        row["answer"] = answer(n, side)
        row["story"] = story(n, side) if story else f"Story {n}. It ends."
        wrong = [text for text in row["choices"] if text != row["answer"]]
        row["reality"] = row["answer"] if side else wrong[0]
        rows.append(row)
    table = pd.DataFrame(rows).assign(question="What next?", question_type="behavior")
    return table.assign(variant="main", benchmark="simpletom")


def results_of(table, benchmark=simpletom, method="none"):
    """What each reader gets, by its name."""
    return readers.table(readers.choices(benchmark, table, method)).set_index("reader")


CUES = {
    "first option": {},
    "longer option": {
        "choices": lambda n, _: [f"w{n}", f"right indeed{n}"],
        "answer": lambda n, _: f"right indeed{n}",
    },
    "more words of the last sentence": {"story": lambda n, _: f"It is. Now right{n}."},
    "negation, new words before it": {
        "story": lambda n, side: (
            f"It was old{n}. It is new{n}. She {'sees' if side else 'does not see'} it."
        ),
        "choices": lambda n, _: [f"old{n}", f"new{n}"][:: 1 if n % 4 < 2 else -1],
        "answer": lambda n, side: f"{'new' if side else 'old'}{n}",
    },
    "words of the options": {
        "choices": lambda n, _: [f"calm a{n}", f"alarm b{n}"],
        "answer": lambda n, _: f"calm a{n}",
    },
    "words of the options, turned by a negation": {
        "story": lambda n, side: f"Thing {n}. She {'sees' if side else 'does not see'} it.",
        "choices": lambda n, _: [f"stay a{n}", f"repair b{n}"],
        "answer": lambda n, side: f"repair b{n}" if side else f"stay a{n}",
    },
}


@pytest.mark.parametrize("reader", CUES)
def test_a_reader_is_perfect_where_its_cue_gives_the_answer_away(reader):
    assert results_of(items(**CUES[reader])).loc[reader, "value"] == 1


def test_readers_are_at_chance_where_their_cues_tell_nothing():
    # The two options of each question differ in a number alone, and come in either order.
    table = items(lambda n, _: [f"do a{n}", f"do b{n}"], lambda n, _: f"do {'ab'[n // 2 % 2]}{n}")
    values = results_of(table).loc[["longer option", "words of the options", "first option"]]
    assert values["value"].tolist() == pytest.approx([0.5] * 3)


def test_a_constant_answer_is_at_chance_once_both_sides_count_alike():
    table = items(lambda *_: ["No", "Yes"], lambda n, _: "Yes" if n % 2 else "No")
    results = results_of(table.head(15)).loc[["always “No”", "always “Yes”"]]
    assert results["value"].tolist() == pytest.approx([0.5, 0.5])
    assert results["accuracy"].tolist() == pytest.approx([8 / 15, 7 / 15])


@pytest.mark.parametrize(("is_apart", "least", "most"), [(False, 0.49, 0.51), (True, 0.7, 1)])
def test_a_question_is_never_answered_by_what_its_own_group_taught(is_apart, least, most):
    # The words of the options tell the answer, but each word occurs in one group alone.
    second = items().assign(item_id=[f"t{n}/behavior" for n in range(20)])
    table = pd.concat([items().head(17), second])
    if is_apart:
        table["group_id"] = table["item_id"]
    assert least < results_of(table).loc["words of the options", "value"] < most


def test_a_single_group_has_nothing_to_learn_from():
    table = items(**CUES["words of the options"]).assign(group_id="single")
    values = results_of(table)["value"]
    assert values["words of the options"] == pytest.approx(0.5)
    assert values["first option"] == 1


def test_no_reader_learns_from_controls():
    table = items(**CUES["words of the options"])
    is_control = table.index >= 10
    table["answer"] = table["answer"].mask(is_control, table["choices"].str[1])
    results = results_of(table.assign(control=is_control)).loc["words of the options"]
    assert results.set_index("control")["value"].to_dict() == {False: 1, True: 0}


def test_the_best_reader_of_each_kind_answers():
    table = bigtom.read_released(paths.DATA / "bigtom" / "bigtom.csv")
    table = table[table["group_id"].isin(table["group_id"].unique()[:12])]
    table = table.assign(control=table["condition"].str.endswith("control"))
    ending = table["condition"].str.startswith("true").map({True: "saw", False: "did not see"})
    table["story"] = table["story"].str.rpartition(". ")[0] + ". The agent " + ending + " it."
    results, scores = readers.reader(bigtom, table, "0-shot")
    assert set(scores["outcome"]) <= {"correct", "wrong"}
    assert len(scores) == len(table)
    best = results[results["best"] & ~results["control"]].set_index("kind")["reader"]
    assert {*best["belief/forward_belief"]} == {"negation, new words before it"}
    values = bigtom.metrics(scores).set_index("condition")["value"]
    assert values["forward_belief/tb_and_fb/1"] > 0.8
    assert values["forward_belief/control_tb_and_fb/1"] < 0.8


# Two versions of a story


def two_versions(last_sentences, person="Ann"):
    """BigToM's form: twenty templates with a true- and a false-belief version each, whose last
    sentences these are; {} is the number of the template.
    """
    rows = []
    for number in range(20):
        options = [f"It is old{number}.", f"It is new{number}."]
        for version, sentence in zip(["true_belief", "false_belief"], last_sentences, strict=True):
            story = f"Ann sees old{number}. Then it is new{number}. {sentence.format(number)}"
            row = {"item_id": f"t{number}/forward_belief/{version}/0", "group_id": f"t{number}"}
            row |= {"story": story, "condition": version, "choices": options}
            row["question"] = f"Does {person.format(number)} believe it?"
            row["answer"] = options[version == "true_belief"]
            rows.append(row | {"reality": options[1]})
    table = pd.DataFrame(rows).assign(question_type="belief", variable="forward_belief")
    return table.assign(initial_belief=0, benchmark="bigtom", source="authored")


def of_versions(table):
    return results_of(table, bigtom, "0-shot")


@pytest.mark.parametrize(
    ("sentences", "reader", "blind_to_it"),
    [
        (  # the same words in another order
            ("Ann in, Bob out.", "Bob in, Ann out."),
            "word pairs of the last sentence",
            "words of the last sentence",
        ),
        (  # the person who is asked about is now the first and now the second to be named
            ("Then Zed{0} looks, and Bob{0} sleeps.", "Then Bob{0} looks, and Zed{0} sleeps."),
            "words of the last sentence, by role",
            "words of the last sentence",
        ),
    ],
)
def test_a_cue_that_tells_versions_gives_all_answers(sentences, reader, blind_to_it):
    results = of_versions(two_versions(sentences, person="Zed{0}"))
    assert results.loc[reader, ["version", "value", "both_right"]].tolist() == [1, 1, 1]
    assert results.loc[blind_to_it, "version"] == pytest.approx(0.5)


def test_no_reader_tells_versions_that_share_all_sentences():
    table = two_versions(("She {}.", "She {}."))
    results = of_versions(table)
    assert results["version"].dropna().between(0.499, 0.501).all()
    assert results["value"].between(0.35, 0.65).all()
    pd.testing.assert_frame_equal(of_versions(table.sample(frac=1, random_state=1)), results)


def test_a_version_that_one_template_has_is_not_learned():
    table = two_versions(("She looks.", "She sleeps."))
    table = table[table["condition"].eq("true_belief") | table["group_id"].eq("t0")]
    version = of_versions(table).loc["words of the last sentence", "version"]
    assert version == pytest.approx(0.5)


def test_both_versions_are_right_as_often_as_counted_by_hand():
    # Of twenty templates, the last five have a negation in both versions: one of two is right.
    table = two_versions(("She sees it.", "She does not see it."))
    table.loc[30:, "story"] = table.loc[30:, "story"].str.replace("sees it", "does not mind it")
    results = of_versions(table)
    negation = results.loc["negation, new words before it"]
    assert negation["accuracy"] == (15 * 2 + 5) / 40
    assert negation[["both_right", "n_together"]].tolist() == [15 / 20, 20]
    # Whoever sees the same in both versions is right in one of them.
    assert results.loc["longer option", ["accuracy", "both_right"]].tolist() == [0.5, 0]


@pytest.mark.skipif(not RELEASED.is_file(), reason="needs the released BigToM")
def test_results_on_the_released_bigtom():
    table = bigtom.read_released(RELEASED)
    table = table[table["condition"].isin(["true_belief", "false_belief"])]
    table = table[table["variable"].eq("forward_belief") & table["initial_belief"].eq(0)]
    results = of_versions(table)
    accuracy = results["accuracy"].round(4)
    assert accuracy["negation, new words before it"] == 0.965
    assert accuracy["negation, words before it"] == 0.77
    assert accuracy["words of question and options"] == 0.5
    assert results.loc["negation, new words before it", "both_right"] == pytest.approx(0.95)
    assert results.loc["word pairs of the last sentence", "version"] == 1


# Lists of people


@pytest.fixture(scope="module")
def conversations():
    return fantom.compose(random_sets(1))


def test_a_list_names_those_of_whom_the_reader_says_that_they_know(conversations):
    _, scores = readers.reader(fantom, conversations, "short")
    topics = scores["question_type"].str.partition("_")[0]
    knowers = scores[scores["question_type"].str.endswith("_yn") & scores["yn"].eq(1)]
    people = knowers.groupby(["group_id", topics])["character"].agg(set).to_dict()
    lists = scores[scores["question_type"].str.endswith("_list")]
    assert len(lists) > 2
    for index, row in lists.iterrows():
        names = {name.lower() for name in row["named"]}
        assert names == people.get((row["group_id"], topics[index]), set())
    # No rule answers in free words, so that the score of all six types is not defined.
    assert "all_star" not in set(fantom.metrics(scores)["metric"])


def test_a_list_is_right_only_if_all_its_answers_are(conversations):
    answers = readers.choices(fantom, conversations, "short")
    answers = answers[answers["reader"] == "who speaks near the fact knows"]
    lists = answers[answers["together"] != ""]
    by_hand = lists.groupby(["kind", "together"])["credit"].min().eq(1).groupby("kind").mean()
    assert {*by_hand.index} == {"answerability_yn", "infoaccess_yn"}
    shares = readers.table(answers).set_index("kind")["both_right"]
    assert shares[by_hand.index].to_dict() == pytest.approx(by_hand.to_dict())
