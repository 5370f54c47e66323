"""The format of stories (Sec. 2.2, App. E.4), rule by rule, and the texts of scenarios."""

import pytest

from simpletom_stories import OATS, OURS, our_stories, story
from tomlab.benchmarks.simpletom.items.stories import SCENARIOS, format_problems, story_table
from tomlab.benchmarks.simpletom.items.writing import read_scenarios
from tomlab.errors import InputError


@pytest.mark.skipif(not OURS.is_dir(), reason="data/simpletom is missing: `make data` pulls it")
def test_our_stories_keep_to_the_format():
    ours = our_stories()
    assert [row["story_id"] for row in ours.to_dict("records") if format_problems(row)] == []


def test_story_is_its_two_sentences_the_key_information_first():
    assert story_table([OATS])["story"].item() == (
        "The box of oats has beetles in it. "
        "Wanja takes the box off the shelf and joins the queue at the till."
    )


def scenarios_of(tmp_path, *rows):
    path = tmp_path / "scenarios.csv"
    path.write_text("\n".join(["scenario,reason,description", *rows]))
    return read_scenarios(path)


def test_scenario_texts_are_read(tmp_path):
    table = scenarios_of(tmp_path, f'{SCENARIOS[0]},"Closed, so",X buys Z.')
    assert table.to_numpy().tolist() == [[SCENARIOS[0], "Closed, so", "X buys Z."]]
    with pytest.raises(InputError, match="no scenario in it"):
        scenarios_of(tmp_path)


def test_all_faults_of_scenario_texts_are_reported_at_once(tmp_path):
    with pytest.raises(InputError) as caught:
        scenarios_of(tmp_path, "zoo,a,b", f"{SCENARIOS[5]},,b", f"{SCENARIOS[5]},a,b")
    for fault in ("row 2, field scenario: found 'zoo'", "row 3, field reason", "row 4: scenario"):
        assert fault in str(caught.value)


@pytest.mark.parametrize(
    ("field", "text", "problem"),
    [
        ("person_x", "", "person_x: empty"),
        ("key_information", 'Its label says "fresh oats."', None),
        ("key_information", "The box weighs 1.5 kg.", None),
        ("key_information", "The box", "key_information: 0 sentences instead of one"),
        ("second_sentence", "It is. It is.", "second_sentence: 2 sentences instead of one"),
        ("second_sentence", "She realizes it.", "second_sentence: mentalizing word 'realizes'"),
        ("second_sentence", "Aware of it, she ran.", "second_sentence: mentalizing word 'Aware'"),
        ("second_sentence", "Wanja lays the seesaw box on the bookshelf.", None),
        ("key_information", "The baker thinks of beetles.", None),
        ("key_information", "It actually is rye.", "key_information: giveaway word 'actually'"),
        ("second_sentence", "In fact she pays.", "second_sentence: giveaway word 'In fact'"),
        ("second_sentence", "Now Pay for the oats!", "unaware_action: stands in the story"),
        ("aware_action", "Pay for  the oats.", "unaware_action: equal to aware_action"),
    ],
)
def test_format_is_that_of_the_paper(field, text, problem):
    problems = format_problems(story(**{field: text}))
    assert problems == ([problem] if problem else [])
