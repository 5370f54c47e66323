"""People's word on free-form answers: what is asked of them, and the accuracy that it corrects."""

import numpy as np
import pandas as pd
import pytest

from tomlab.errors import InputError
from tomlab.judging import people
from tomlab.records import files
from tomlab.scoring.stats import cluster_interval

ITEMS = pd.DataFrame(
    {
        "item_id": [f"t{t}-{n}" for t in range(4) for n in range(3)],
        "question": "Does Noor believe the jar holds sugar or salt?",
        "choices": [["Noor believes the jar\nholds salt.", "Noor believes the jar holds sugar."]]
        * 12,
        "answer": "Noor believes the jar holds sugar.",
    }
)


def answers(**judged: float) -> pd.DataFrame:
    """One answer to each item; those named (as `t0_1`) are decided by a judge, others read."""
    rows = []
    for item_id in ITEMS["item_id"]:
        said = judged.get(item_id.replace("-", "_"))
        key = {"item_id": item_id, "model": "m", "method": "0-shot", "sample": 0}
        row = {"unit": f"{item_id}/m", "group": item_id.split("-")[0], **key}
        row |= {"text": "the  sugar,\nshe thinks", "judged": 1.0 if said is None else said}
        rows.append(row | {"read": said is None})
    return pd.DataFrame(rows)


SOME = {"t0_0": 0.0, "t0_1": 1.0, "t1_0": 0.0, "t2_0": 1.0}


def filled(tmp_path, table: pd.DataFrame, groups=("t0", "t1", "t2"), **columns) -> str:
    form = people.to_label(table, ITEMS, groups).assign(**columns)
    path = tmp_path / "labels.csv"
    files.write_form(form, path)
    return path


def test_the_groups_are_drawn_by_the_seed_and_more_of_them_include_the_fewer():
    groups = [f"t{n}" for n in range(30)]
    assert people.drawn(groups, 5, 1) == people.drawn(groups[::-1], 10, 1)[:5]
    assert people.drawn(groups, 5, 1) != people.drawn(groups, 5, 2)


def test_the_form_asks_of_the_drawn_groups_what_a_judge_decided():
    form = people.to_label(answers(**SOME), ITEMS, ["t0", "t3"])
    assert form["item_id"].tolist() == ["t0-0", "t0-1"]
    first = form.iloc[0]
    assert (first["option_a"], first["answer"]) == (
        "Noor believes the jar holds salt.",
        "the sugar, she thinks",
    )
    assert set(form["meaning"]) == set(form["annotator"]) == {""}
    assert people.to_label(answers(), ITEMS, ["t0"]).empty


def test_the_form_can_be_read_once_filled_in_whatever_the_order_of_the_options(tmp_path):
    table = answers(**SOME)
    path = filled(tmp_path, table, annotator="p1", meaning=["b", "a", "none", ""])
    said = people.of_run(people.read(path, ITEMS), table, ITEMS)
    assert said[["unit", "label"]].values.tolist() == [
        ["t0-0/m", True],
        ["t0-1/m", False],
        ["t1-0/m", False],
    ]
    turned = ITEMS.assign(choices=ITEMS["choices"].map(lambda both: both[::-1]))
    pd.testing.assert_frame_equal(people.of_run(people.read(path, turned), table, turned), said)


def test_labels_of_another_answer_are_left_out(tmp_path):
    table = answers(**SOME)
    path = filled(tmp_path, table, annotator="p1", meaning="b")
    table.loc[0, "text"] = "salt"
    said = people.of_run(people.read(path, ITEMS), table, ITEMS)
    assert said["unit"].tolist() == ["t0-1/m", "t1-0/m", "t2-0/m"]


def test_answers_that_begin_as_formulas_do_are_those_of_the_run_when_they_come_back(tmp_path):
    table = answers(**SOME).assign(text="=HYPERLINK(1) or\n- sugar")
    path = filled(tmp_path, table, annotator="p1", meaning="b")
    assert "'=HYPERLINK" in path.read_text()
    assert len(people.of_run(people.read(path, ITEMS), table, ITEMS)) == 4


@pytest.mark.parametrize(
    ("columns", "told"),
    [
        ({"answer": "#NAME?"}, "row 2, field answer: found '#NAME\\?'"),
        ({"meaning": "c"}, "row 2, field meaning: found 'c', expected a, b, none or"),
        ({"meaning": "a"}, "row 2, field annotator: found nothing, expected who says so"),
        ({"item_id": "t9-0"}, "row 2, field item_id: found 't9-0', expected the id of a question"),
        ({"option_b": "in the box"}, "row 2, field option_a: .*, expected with option_b"),
        ({"sample": "first"}, "row 2, field sample: found 'first', expected a whole number"),
    ],
)
def test_a_wrong_row_is_named_with_its_field(columns, told, tmp_path):
    path = filled(tmp_path, answers(**SOME), **columns)
    path.write_text(path.read_text().replace("'#NAME", "#NAME"))
    with pytest.raises(InputError, match=r"labels\.csv: .*(?s:.)*" + told):
        people.read(path, ITEMS)


def test_an_answer_that_one_annotator_labelled_twice_is_named(tmp_path):
    path = filled(tmp_path, answers(**SOME), annotator="p1", meaning="b")
    lines = path.read_text().splitlines()
    path.write_text("\n".join([*lines, lines[1]]))
    with pytest.raises(InputError, match=r"row 6: item_id 't0-0'.* stands in row 2 too"):
        people.read(path, ITEMS)


def labels(table: pd.DataFrame, by: dict[str, bool]) -> pd.DataFrame:
    own = table[~table["read"]].assign(annotator="p1", label=table["unit"].map(by))
    return own.dropna(subset="label")[["group", "unit", "annotator", "label"]]


def accuracies(table: pd.DataFrame, said: pd.DataFrame) -> pd.DataFrame:
    return people.corrected(table, said).set_index("metric")


def test_without_labels_the_accuracy_stands_as_uncorrected():
    table = answers(**SOME)
    found = accuracies(table, labels(table, {}))
    assert found.loc["accuracy_uncorrected", "value"] == pytest.approx(10 / 12)
    assert np.isnan(found.loc["accuracy_by_labels", "value"])
    assert found.loc["accuracy_by_labels", "reason"] == people.TOO_FEW
    assert people.corrected(answers(), labels(table, {})).empty


def test_labels_of_all_that_a_judge_decided_leave_nothing_to_it():
    table = answers(**SOME)
    truth = {"t0-0/m": True, "t0-1/m": True, "t1-0/m": False, "t2-0/m": True}
    found = accuracies(table, labels(table, truth)).loc["accuracy_by_labels"]
    assert (found["value"], found["n"]) == (pytest.approx(11 / 12), 4)
    true = table["unit"].map(truth).fillna(1.0).astype(float)
    plain = cluster_interval(true, table["group"])
    assert found[["ci_low", "ci_high"]].tolist() == [plain.ci_low, plain.ci_high]


def test_labels_that_are_all_alike_leave_room_for_the_others():
    table = answers(**{f"t{t}_{n}": 0.0 for t in range(4) for n in range(2)})
    some = labels(table, {f"t{t}-{n}/m": False for t in range(2) for n in range(2)})
    found = accuracies(table, some).loc["accuracy_by_labels"]
    assert found["value"] == pytest.approx(4 / 12)
    # Of the two groups without labels all answers may be right.
    assert found["ci_high"] > 0.7


def run(draw: np.random.Generator, groups: int = 60, size: int = 6) -> pd.DataFrame:
    """Answers half of which a lenient judge decides, with the truth: accuracy .6."""
    level = draw.beta(3, 2, groups).repeat(size)
    truth = draw.random(groups * size) < level
    read = draw.random(groups * size) < 0.5
    erred = np.where(truth, draw.random(len(truth)) < 0.9, draw.random(len(truth)) < 0.5)
    table = pd.DataFrame({"group": np.arange(groups).repeat(size), "truth": truth, "read": read})
    table["unit"] = table.index.astype(str)
    judged = np.where(read, truth, erred).astype(float)
    return table.assign(judged=judged, model="m", method="0-shot")


def test_with_20_of_60_groups_labelled_the_interval_holds_the_truth_as_often_as_told():
    draw, held, judged = np.random.default_rng(0), [], []
    for _ in range(60):
        table = run(draw)
        chosen = people.drawn(table["group"], 20, int(draw.integers(1e6)))
        known = table[~table["read"] & table["group"].isin(chosen)]
        said = known.assign(annotator="p1", label=known["truth"])
        found = accuracies(table, said)
        low, high = found.loc["accuracy_by_labels", ["ci_low", "ci_high"]]
        held.append(low <= 0.6 <= high)
        judged.append(found.loc["accuracy_uncorrected", "value"])
    assert np.mean(held) >= 0.92
    assert np.mean(judged) > 0.66
