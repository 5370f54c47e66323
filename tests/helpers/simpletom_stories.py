"""Stories to test with."""

from tomlab.benchmarks.simpletom.items.stories import story_table

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
    "unaware_option": "",
    "aware_option": "",
    "aware_sentence": "",
    "negative_judgment": "Wasteful",
}


def story(**changes):
    return {**OATS, **changes}


def stories(*changes):
    """One story each, numbered s1, s2, ..., with changes to the oats."""
    return story_table(
        [story(story_id=f"s{i}", **change) for i, change in enumerate(changes, start=1)]
    )
