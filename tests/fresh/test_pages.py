"""The pages on fresh items ask a model whatever its entry limits."""

import asyncio

from tomlab.fresh import asking as fresh
from tomlab.fresh import items as fresh_items
from tomlab.fresh import pages, sets

ITEMS = fresh_items.table(sets.drawn("a seed of this test", 4))


def test_everybody_who_knows_everything_is_right_on_true_beliefs_alone():
    asking = {"seed": 0, "replaced": {}}
    scores = asyncio.run(pages.scores_of("omniscient", fresh, ITEMS, ["0-shot"], **asking))
    assert sorted(scores["item_id"]) == sorted(ITEMS["item_id"])
    is_right = scores.merge(ITEMS[["item_id", "control"]])
    assert is_right.loc[is_right["control"], "score"].eq(1).all()
    assert not scores["score"].eq(1).all()


def test_no_method_gives_no_rows():
    asking = {"seed": 0, "replaced": {}}
    assert asyncio.run(pages.scores_of("omniscient", fresh, ITEMS, [], **asking)).empty
