"""Our OmniToM stories: the authored ones, and the ten that were made from a record of events.

What follows from the events stands in `tests/checks/test_keys.py`.
"""

import re

from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.metrics import accuracy_score
from sklearn.model_selection import GroupKFold, cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC

from omnitom_stories import RECORDS
from tomlab.benchmarks.omnitom.items.records import DIMENSIONS, WORLD

BELIEFS = [(record, belief) for record in RECORDS for belief in record["beliefs"]]
AUTHORED = [(record, belief) for record, belief in BELIEFS if record["source"] == "authored"]
MINDS = re.compile(
    r"\b(?:thinks?|thought|knows?|knew|believes?)\b"
    # Perceiving, noticing, understanding and forgetting count as well (docs/data.md).
    r"|\b(?:hear|heard|see|sees|notice|understood|forgot|listening|watching|known)\b"
    r"|paying attention|out of hearing|listener|listened"
)


def test_every_story_says_who_wrote_it_and_those_made_have_their_events():
    sources = [record["source"] for record in RECORDS]
    assert (sources.count("authored"), sources.count("grammar"), len(RECORDS)) == (103, 10, 113)
    made = [record["story_id"] for record in RECORDS if "record" in record]
    assert made == [*range(2001, 2011)]


def test_stories_say_all_that_happens():
    for record in RECORDS:
        if record["source"] != "grammar":
            continue
        start, *events = record["record"]
        words = [start["object"], start["place"], start["container"]]
        for event in events:
            words += [event[key] for key in ("actor", "container", "listener") if key in event]
            words += event.get("watched_by", [])
        assert all(word in record["story"] for word in words)


def test_labels_that_go_together():
    for _, belief in BELIEFS:
        order, truth, access, stated, content, source, context = belief["labels"].values()
        is_world = belief["actor"] == WORLD
        rules = {
            "order 0 is the world's": (order == "0") == is_world,
            "the world's facts are narrated": (source == "Narration") == is_world,
            "the world's facts are true": not is_world or truth == "True",
            "the world's facts are explicit": not is_world or stated == "Explicit",
            "beliefs about beliefs are epistemic": order in "01" or content == "Epistemic",
            "testimony is explicit": source != "Testimony" or stated == "Explicit",
            "what is imagined is not so": source != "Imagination" or context == "Counterfactual",
            "what is inferred silently is private": (source, stated) != ("Inference", "Implicit")
            or access == "Private",
        }
        assert [rule for rule, holds in rules.items() if not holds] == [], belief["belief"]


def test_the_order_counts_the_minds_in_the_plainest_wording():
    for record, belief in BELIEFS:
        order = belief["labels"]["order"]
        if order == "0":
            continue
        is_epistemic = belief["labels"]["content_type"] == "Epistemic"
        assert is_epistemic == (order != "1"), (record["story_id"], belief)
        wordings = [belief["belief"], *belief["paraphrases"]]
        minds = max(len(MINDS.findall(wording)) for wording in wordings)
        assert int(order) <= max(1, 1 + minds), (record["story_id"], belief)


def test_one_content_has_one_access_whoever_holds_it():
    access_of = {}
    for record, belief in BELIEFS:
        labels = belief["labels"]
        if labels["truth_status"] == "True" and labels["order"] in ("0", "1"):
            content = (record["story_id"], belief["belief"].lower())
            access = access_of.setdefault(content, labels["knowledge_access"])
            assert labels["knowledge_access"] == access, content


def test_no_proposition_says_when_it_was_believed():
    for _, belief in AUTHORED:
        if belief["actor"] != WORLD:
            assert not re.match(r"(Before|Until|As long as|At first)\b", belief["belief"])


def test_the_words_of_a_belief_do_not_give_its_labels_away():
    stories = [record["story_id"] for record, _ in AUTHORED]
    texts = [belief["belief"] for _, belief in AUTHORED]
    words = TfidfVectorizer(token_pattern=r"[^\W_]+", sublinear_tf=True)
    reader = make_pipeline(words, LinearSVC(C=0.3))
    accuracies = {}
    for dimension in DIMENSIONS:
        labels = [belief["labels"][dimension] for _, belief in AUTHORED]
        # A story is never in both parts.
        read = cross_val_predict(reader, texts, labels, groups=stories, cv=GroupKFold(5))
        accuracies[dimension] = accuracy_score(labels, read)
    assert sum(accuracies.values()) / len(accuracies) < 0.75, accuracies


def people_of(record):
    actors = {belief["actor"].removeprefix("The ") for belief in record["beliefs"]}
    if "record" in record:
        actors |= set(record["record"][0]["actors"])
    return sorted(actors - {WORLD}, key=len, reverse=True)


def test_a_paraphrase_says_it_of_the_same_people_in_other_words():
    for record, belief in BELIEFS:
        wordings = [belief["belief"], *belief["paraphrases"]]
        assert 2 <= len(wordings) <= 3
        distinct = {" ".join(text.lower().split()) for text in wordings}
        assert len(distinct) == len(wordings), wordings
        names = re.compile(rf"\b({'|'.join(map(re.escape, people_of(record)))})\b")
        named = [set(names.findall(text)) for text in wordings]
        assert all(people == named[0] for people in named), wordings
        assert not any(text.endswith(".") for text in wordings)


def test_no_row_stands_twice():
    rows = [(record["story_id"], belief["actor"], belief["belief"]) for record, belief in BELIEFS]
    assert len(set(rows)) == len(rows)
