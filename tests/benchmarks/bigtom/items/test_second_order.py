"""Templates of second-order beliefs (App. J): what one person believes that another believes."""

import pytest

from tomlab.benchmarks import bigtom
from tomlab.benchmarks.bigtom.items import writing
from tomlab.benchmarks.bigtom.items.templates import read_templates, structure_problems
from tomlab.paths import DATA

FILE = DATA / "bigtom" / "second_order.csv"


@pytest.fixture(scope="module")
def templates():
    return read_templates(FILE)


def test_second_order_templates_have_the_assigned_structure(templates):
    assert len(templates) == 4
    assert [structure_problems(row) for row in templates.to_dict("records")] == [[]] * 4
    assert templates["agent"].tolist() == ["Ruvarashe", "Eydís", "Ikaika", "Zdenka"]


def test_second_order_items_ask_what_one_person_believes_that_another_believes(templates):
    items = bigtom.compose(templates)
    assert len(items) == 4 * 25
    beliefs = items[items["question_type"] == "belief"]
    assert beliefs["question"].str.match(r"Does (\w+) believe that (\w+) believes ").all()
    assert beliefs["answer"].str.match(r"(\w+) believes that (\w+) believes ").all()


def test_another_persons_belief_is_taken_to_have_changed_only_by_who_sees_it_change(templates):
    items = bigtom.compose(templates).query("variable == 'forward_belief' and initial_belief == 1")
    cells = items.groupby("condition")["answer"].apply(list)
    aware, not_aware = (
        templates[f"belief_answer_{who}"].tolist() for who in ("aware", "not_aware")
    )
    assert cells["true_belief"] == aware
    assert cells["false_belief"] == cells["true_control"] == cells["false_control"] == not_aware


def test_a_model_can_be_asked_for_more_of_them(templates):
    [draft] = writing.drafts(templates, 1, "smol")
    request = writing.TEMPLATE.request(draft)
    shown = " ".join(message["content"] for message in request.messages)
    assert shown.count("believes that") >= 3
