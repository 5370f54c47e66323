"""The pages on fresh items ask a model whatever its entry limits."""

import asyncio

from tomlab.fresh import asking as fresh
from tomlab.fresh import items as fresh_items
from tomlab.fresh import pages, sets


def test_omniscient_is_asked_all_items_and_right_on_controls():
    items = fresh_items.table(sets.drawn("a seed of this test", 4))
    options = {"seed": 0, "replaced": {}}
    scores = asyncio.run(pages.scores_of("omniscient", fresh, items, ["0-shot"], **options))
    assert sorted(scores["item_id"]) == sorted(items["item_id"])
    is_right = scores.merge(items[["item_id", "control"]])
    assert is_right.loc[is_right["control"], "score"].eq(1).all()
    assert asyncio.run(pages.scores_of("omniscient", fresh, items, [], **options)).empty
