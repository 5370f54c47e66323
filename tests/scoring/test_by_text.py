"""An option's text without its letter: unreadable by every protocol, read if that is asked for."""

import json
import warnings

import pandas as pd
import pytest

from fantom_sets import question_set
from replies import answered
from simpletom_stories import stories
from tomlab.benchmarks import bigtom, fantom, omnitom, simpletom
from tomlab.benchmarks.omnitom.items.compose import linked_items
from tomlab.paths import DATA

QUESTION = {"source_row": 1, "question": "Where is it?", "choices": ["box", "bag"], "answer": "bag"}
STORY = {"story_category": "Hinting Task Test", "story": "Ada hides the key."}
RECORD = STORY | {"story_id": 1, "source": "authored", "beliefs": []}
LINKED = pd.DataFrame([STORY | {"questions": [QUESTION]}])
ITEMS = {
    (bigtom, "0-shot"): bigtom.read_released(DATA / "bigtom" / "bigtom.csv")[:40],
    (fantom, "short"): fantom.compose([question_set()]).query("question_type == 'belief_choice'"),
    (omnitom, "linked"): linked_items([RECORD], LINKED),
    (simpletom, "none"): simpletom.compose(stories({}, {}))[:6],
}
pytestmark = pytest.mark.parametrize(("benchmark", "method"), ITEMS, ids=lambda v: str(v)[-20:])


def table(benchmark, method, form="{}", is_wrong=False):
    """The items, and responses that say the right option or the wrong one, in some form."""
    items = ITEMS[benchmark, method].reset_index(drop=True)
    replies = []
    for item in items.to_dict("records"):
        options = [text for text in item["choices"] if (text != item["answer"]) == is_wrong]
        replies.append(form.format(options[0].removesuffix(".")))
    return items, answered(items, replies, method)


@pytest.mark.parametrize("form", ["{}", "{}.", '"{}."', " “{}”\n", "<think>So.</think>{}"])
@pytest.mark.parametrize(("is_wrong", "outcome"), [(False, "correct"), (True, "wrong")])
def test_an_options_text_alone_is_unreadable_and_counts_where_that_is_asked_for(
    benchmark, method, form, is_wrong, outcome
):
    items, responses = table(benchmark, method, form, is_wrong)
    with pytest.warns(UserWarning, match=rf"{len(items)} of {len(items)} .*by_text=True"):
        assert {*benchmark.score(items, responses)["outcome"]} == {"unparsed"}
    scores = benchmark.score(items, responses, by_text=True)
    assert {*scores["outcome"]} == {outcome}
    scored = responses.to_dict("records")[0] | scores.to_dict("records")[0]
    assert "option" in benchmark.rule(items.to_dict("records")[0], scored)
    if benchmark is omnitom:  # whose metrics count letters
        letters = [json.loads(detail)["option"] for detail in scores["detail"]]
        assert {*letters} == {"A" if is_wrong else "B"}


@pytest.mark.parametrize("form", ["{} or not", "So {}", "I'm sorry, I can't answer {}", ""])
def test_text_that_holds_more_or_less_than_an_option_is_read_as_before(benchmark, method, form):
    items, responses = table(benchmark, method, form)
    by_text = benchmark.score(items, responses, by_text=True)
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # no text is an option's, so that nothing is to be warned of
        pd.testing.assert_frame_equal(benchmark.score(items, responses), by_text)


def test_scores_tell_whose_words_stand_with_a_letter(benchmark, method):
    items = ITEMS[benchmark, method][:4]
    keys = "ab" if benchmark in (bigtom, fantom) else "AB"
    replies = []
    for options, answer in zip(items["choices"].map(list), items["answer"], strict=True):
        replies.append(f"({keys[options.index(answer)]}) {answer}")
    assert {*benchmark.score(items, answered(items, replies, method))["words"]} == {"same"}
