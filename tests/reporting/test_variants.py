"""Orders and wordings as they are printed and drawn."""

import pandas as pd

import drawn
from tomlab.records.published import Wording
from tomlab.reporting import printed
from tomlab.reporting.variants import figure, table
from tomlab.scoring.variants import variants

WORDING = Wording("Demo", {"plain": "plainly"}, groups="templates")
ITEMS = pd.DataFrame({"item_id": list("abcd"), "choices": [["yes", "no"]] * 4})


def asked(name: str, sample: int, chosen: list[str]) -> pd.DataFrame:
    told = {"model": "mine", "method": "plain", "sample": sample, "asked_as": name}
    told |= {"outcome": "wrong", "score": [float(said == "yes") for said in chosen]}
    return pd.DataFrame(
        {"item_id": list("abcd"), "group_id": list("aabb"), **told, "chosen": chosen}
    )


YES, NO = ["yes"] * 4, ["no"] * 4
PLAIN, TURNED, OTHER = (
    asked(name, place, said)
    for place, (name, said) in enumerate([("", YES), ("reversed", NO), ("mine", YES)])
)
FOUND = variants(pd.concat([PLAIN, TURNED, OTHER]), ITEMS, "group_id")
TABLES = [one.drop(columns="chosen") for one in (PLAIN, OTHER)]
NO_OPTIONS = variants(pd.concat(TABLES), ITEMS, "group_id")
NOTHING = variants(PLAIN, ITEMS, "group_id")


def test_table_has_a_row_a_variant_with_n_and_groups_below_each_number():
    made = table(FOUND, WORDING)
    assert made.printed[["Model", "Method", "Put"]].to_numpy().tolist() == [
        ["mine", "plainly", "reversed"],
        ["", "", "mine"],
    ]
    first = made.printed.loc[0]
    assert first["First option"].endswith("\nn = 8/2")
    assert first["Difference"].startswith("−1.00 [")
    assert first["Same answer"].startswith(".00 [")
    assert len(made.tidy) == len(FOUND)
    assert "over templates" in made.notes[0]
    assert printed.latex(made, "demo") and "Demo" in printed.html(made)


def test_figure_shows_how_often_the_first_option_is_chosen_and_what_stays_the_same():
    shown, caption = drawn.told(figure(FOUND, WORDING))
    assert [label for label, _ in drawn.rows(shown)] == ["mine", "plainly"]
    assert [axes.get_title() for axes in shown.axes] == ["First option", "Same answer"]
    [(chosen, _)] = drawn.dots(shown.axes[0], "reversed filled")
    assert chosen == 1
    same = [drawn.dots(shown.axes[1], f"{name} filled")[0][0] for name in ("reversed", "mine")]
    assert same == [0, 1]
    assert "n = 4–8 a point" in caption


def test_answers_that_choose_nothing_are_compared_by_their_score():
    shown, caption = drawn.told(figure(NO_OPTIONS, WORDING))
    assert [axes.get_title() for axes in shown.axes] == ["Difference"]
    assert drawn.dots(shown.axes[0], "mine filled")[0][0] == 0
    assert "another wording" in caption


def test_nothing_put_otherwise_is_said():
    said = "Nothing was put in another order or wording"
    assert table(NOTHING, WORDING).notes == [f"{said}."]
    shown, *_ = figure(NOTHING, WORDING)
    assert [label for label, _ in drawn.rows(shown)] == [said]
