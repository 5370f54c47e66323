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
from tomlab.errors import InputError
from tomlab.paths import DATA

ASKED = {"source_row": 1, "question": "Where is it?", "choices": ["box", "bag"], "answer": "bag"}
TOLD = {"story_category": "Hinting Task Test", "story": "Ada hides the key."}
RECORD = TOLD | {"story_id": 1, "source": "authored", "beliefs": []}
ITEMS = {
    (bigtom, "0-shot"): bigtom.read_released(DATA / "bigtom" / "bigtom.csv")[:40],
    (fantom, "short"): fantom.compose([question_set()]).query("question_type == 'belief_choice'"),
    (omnitom, "linked"): linked_items([RECORD], pd.DataFrame([TOLD | {"questions": [ASKED]}])),
    (simpletom, "none"): simpletom.compose(stories({}, {}))[:6],
}
every = pytest.mark.parametrize(("benchmark", "method"), ITEMS, ids=lambda v: str(v)[-20:])


def table(benchmark, method, form="{}", wrong=False):
    """The items, and responses that say the right option or another one, in some form."""
    items, said = ITEMS[benchmark, method].reset_index(drop=True), []
    for item in items.to_dict("records"):
        options = [option for option in item["choices"] if (option != item["answer"]) == wrong]
        said.append(form.format(options[0].removesuffix(".")))
    return items, answered(items, said, method)


@every
@pytest.mark.parametrize("form", ["{}", "{}.", '"{}."', " “{}”\n", "<think>So.</think>{}"])
def test_an_options_text_alone_is_unreadable_and_counts_where_that_is_asked_for(
    benchmark, method, form
):
    for wrong, outcome in enumerate(["correct", "wrong"]):
        items, responses = table(benchmark, method, form, wrong)
        with pytest.warns(UserWarning, match=rf"{len(items)} of {len(items)} .*by_text=True"):
            assert {*benchmark.score(items, responses)["outcome"]} == {"unparsed"}
        scores = benchmark.score(items, responses, by_text=True)
        assert {*scores["outcome"]} == {outcome}
        scored = responses.to_dict("records")[0] | scores.to_dict("records")[0]
        assert "option" in benchmark.rule(items.to_dict("records")[0], scored)
        if benchmark is omnitom:  # whose metrics count letters
            letters = [json.loads(detail)["option"] for detail in scores["detail"]]
            assert {*letters} == {"AB"[not wrong]}


@every
@pytest.mark.parametrize("form", ["{} or not", "So {}", "I'm sorry, I can't answer {}", ""])
def test_what_holds_more_or_less_than_an_options_text_is_read_as_before(benchmark, method, form):
    both = table(benchmark, method, form)
    by_text = benchmark.score(*both, by_text=True)
    pd.testing.assert_frame_equal(benchmark.score(*both), by_text)


@every
def test_scores_tell_whose_words_stand_with_a_letter(benchmark, method):
    keys = "ab" if benchmark in (bigtom, fantom) else "AB"
    items = ITEMS[benchmark, method][:4]
    choices = items["choices"].map(list)
    place = [options.index(text) for options, text in zip(choices, items["answer"], strict=True)]
    others = [options[1 - at] for options, at in zip(choices, place, strict=True)]
    for texts, words in [(items["answer"], "same"), (others, "other"), ([""] * 4, "")]:
        said = [f"({keys[at]}) {text}" for at, text in zip(place, texts, strict=False)]
        scores = benchmark.score(items, answered(items, said, method))
        assert {*scores["words"]} == {words}


@every
def test_nothing_is_warned_of_where_half_of_a_table_is_read(benchmark, method):
    items, responses = table(benchmark, method)
    letters = [benchmark.reference(i, method, 0)["gold"] for i in items.to_dict("records")]
    responses.loc[: len(items) // 2, "response"] = letters[: len(items) // 2 + 1]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        benchmark.score(items, responses)


@every
def test_what_is_no_table_of_texts_is_told_in_words(benchmark, method):
    items, responses = table(benchmark, method)
    with pytest.raises(InputError, match="no answers to score"):
        benchmark.score(items, responses[:0])
    for name, value in [
        ("response", 7),
        ("response", ["a"]),
        ("response", b"(A)"),
        ("model", None),
        ("sample", [0]),
    ]:
        changed = responses.assign(sample=0).astype({name: object})
        changed.at[0, name] = value
        with pytest.raises(InputError, match=rf"row 0, field {name}: .*expected (text|a number)"):
            benchmark.score(items, changed)
