"""What repeats would bring: the table, and when there is nothing to tell."""

import numpy as np
import pandas as pd
import pytest

from tomlab.models.specs import model_spec
from tomlab.records.published import Wording
from tomlab.reporting import repeats
from tomlab.reporting.numbers import number
from tomlab.scoring.repeats import split

WORDING = Wording("Toy", {"plain": "plain", "cot": "chain of thought"}, groups="stories")


def scores(k: int = 4, groups: int = 12) -> pd.DataFrame:
    draw = np.random.default_rng(0)
    rows = [
        {"group_id": f"g{group}", "item_id": f"g{group}/{item}", "method": m, "sample": s}
        for m in ("cot", "plain")
        for group in range(groups)
        for item in range(3)
        for s in range(k)
    ]
    table = pd.DataFrame(rows)
    return table.assign(score=draw.integers(0, 2, len(table)).astype(float))


def entry(**options):
    return model_spec("toy", {"toy": {"provider": "openai", "model": "toy", **options}})


def test_table_has_parts_share_and_the_number_that_pays():
    both = scores()
    told = repeats.table(both, "group_id", WORDING)
    one = split(both[both["method"] == "plain"], "group_id")
    row = told.set_index("method").loc["plain"]
    assert row["between repeats"].rstrip("†") == f"{one.repeats:.3f}"
    assert row["between questions"].endswith("†") == ("questions" in one.below_0)
    assert row["K that pays"] == one.pays()
    assert (row["n"], row["n_groups"]) == (144, 12)
    assert row["± with K = 5"] == number(one.half_width(5))


def test_of_few_groups_no_share_is_told():
    told = repeats.table(scores(groups=6), "group_id", WORDING)
    assert told["share of repeats"].eq("too few groups").all()


@pytest.mark.parametrize(
    ("k", "options"),
    [(1, {"temperature": 0.7}), (4, {"temperature": 0}), (4, {})],
    ids=["asked once", "temperature 0", "the protocol's temperature"],
)
def test_without_repeats_or_a_temperature_nothing_is_told(k, options):
    shown = repeats.show(scores(k), "group_id", WORDING, entry(**options))
    assert "<table" not in shown.data
    assert "<table" in repeats.show(scores(), "group_id", WORDING, entry(temperature=None)).data
