"""Stories to test with, and their questions."""

import pandas as pd

from tomlab.benchmarks.simpletom.items import released
from tomlab.benchmarks.simpletom.items.stories import story_table
from tomlab.paths import DATA

# A story in the form of Fig. 1, written for these tests.
OATS = {
    "story_id": "oats_sev2",
    "source": "authored",
    "scenario": "food item in grocery store",
    "set_id": "oats",
    "severity": 2,
    "person_x": "Wanja",
    "person_y": "",
    "object_z": "box of oats",
    "key_information": "The box of oats has beetles in it.",
    "second_sentence": "Wanja takes the box off the shelf and joins the queue at the till.",
    "question": "What will Wanja likely do next?",
    "unaware_action": "pay for the oats",
    "aware_action": "report the beetles",
    "negative_judgment": "Wasteful",
}
# The second sentence of a twin, in which person X perceives what the story keeps from her.
PERCEIVED = "At the till, Wanja brushes the beetles off her sleeve."

OURS = DATA / "simpletom" / "questions"


def story(**changes):
    changed = {**OATS, **changes}
    sentences = f"{changed['key_information']} {changed['second_sentence']}"
    return {"story": sentences, **changed}


def stories(*changes):
    """One story each, numbered s1, s2, ..., with changes to the oats."""
    return story_table(
        [story(story_id=f"s{i}", **change) for i, change in enumerate(changes, start=1)]
    )


def our_stories():
    """The story table of our own questions."""
    table, _ = released.stories_of(released.read_questions(OURS))
    return table


def with_twins(items, texts):
    """The items of stories and of their twins. texts: of the twins, by the story's id."""
    twins = []
    for item in items[items["variant"].eq("main")].to_dict("records"):
        if item["story_id"] in texts:
            name = f"{item['item_id']}:aware"
            twin = item | {"item_id": name, "variant": "aware", "answer": item["reality"]}
            twins.append(twin | {"story": texts[item["story_id"]]})
    return pd.concat([items, pd.DataFrame(twins)], ignore_index=True)
