"""Our OmniToM stories: the authored ones, and the ten that were made from a record of events."""

import re

import pytest
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.metrics import accuracy_score
from sklearn.model_selection import GroupKFold, cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC

from tomlab.benchmarks.omnitom.items.records import DIMENSIONS, WORLD, read_records
from tomlab.paths import DATA

RECORDS = read_records(DATA / "omnitom" / "stories.jsonl")
AUTHORED = [record for record in RECORDS if record["source"] == "authored"]
MADE = [record for record in RECORDS if record["source"] == "grammar"]
both = pytest.mark.parametrize("records", [AUTHORED, MADE], ids=["authored", "made"])


def every_belief(records):
    return [(record, belief) for record in records for belief in record["beliefs"]]


def test_every_story_says_who_wrote_it_and_those_made_have_their_events():
    assert (len(AUTHORED), len(MADE), len(RECORDS)) == (103, 10, 113)
    assert all("record" in record for record in MADE)
    assert [record["story_id"] for record in MADE] == [*range(2001, 2011)]


# What follows from the events stands in `tests/checks/test_keys.py`.


def test_stories_say_all_that_happens():
    for record in MADE:
        start, *events = record["record"]
        words = [start["object"], start["place"], start["container"]]
        words += [e[key] for e in events for key in ("actor", "container", "listener") if key in e]
        words += [watcher for e in events for watcher in e.get("watched_by", [])]
        assert all(word in record["story"] for word in words)


# What holds for both.


@both
def test_labels_that_go_together(records):
    for _, belief in every_belief(records):
        order, truth, access, stated, content, source, context = belief["labels"].values()
        world = belief["actor"] == WORLD
        assert (order == "0") == (source == "Narration") == world, belief["belief"]
        assert not world or (truth, stated) == ("True", "Explicit"), belief["belief"]
        assert order not in ("2", "3") or content == "Epistemic", belief["belief"]
        assert source != "Testimony" or stated == "Explicit", belief["belief"]
        assert source != "Imagination" or context == "Counterfactual", belief["belief"]
        assert (source, stated) != ("Inference", "Implicit") or access == "Private", belief[
            "belief"
        ]


@both
def test_the_order_counts_the_minds_in_the_plainest_wording(records):
    minds = r"\b(?:thinks?|thought|knows?|knew|believes?)\b"
    # Perceiving, noticing, understanding and forgetting count as well (docs/data.md).
    minds += r"|\b(?:hear|heard|see|sees|notice|understood|forgot|listening|watching|known)\b"
    minds += r"|paying attention|out of hearing|listener|listened"
    for record, belief in every_belief(records):
        if belief["actor"] != WORLD:
            order, content = belief["labels"]["order"], belief["labels"]["content_type"]
            assert (order == "1") == (content != "Epistemic"), (record["story_id"], belief)
            plain = max(
                len(re.findall(minds, text)) for text in (belief["belief"], *belief["paraphrases"])
            )
            assert order == "1" or int(order) <= 1 + plain, (record["story_id"], belief)


@both
def test_one_content_has_one_access_whoever_holds_it(records):
    for record in records:
        access = {}
        for belief in record["beliefs"]:
            labels = belief["labels"]
            if labels["truth_status"] == "True" and labels["order"] in ("0", "1"):
                said = access.setdefault(belief["belief"].lower(), labels["knowledge_access"])
                assert labels["knowledge_access"] == said, (record["story_id"], belief)


def test_no_proposition_says_when_it_was_believed():
    for _, belief in every_belief(AUTHORED):
        if belief["actor"] != WORLD:
            assert not re.match(r"(Before|Until|As long as|At first)\b", belief["belief"])


def test_the_words_of_a_belief_do_not_give_its_labels_away():
    rows = [(r["story_id"], b) for r, b in every_belief(AUTHORED)]
    stories, texts = [story for story, _ in rows], [belief["belief"] for _, belief in rows]
    words = TfidfVectorizer(token_pattern=r"[^\W_]+", sublinear_tf=True)
    rule, right = make_pipeline(words, LinearSVC(C=0.3)), []
    for dimension in DIMENSIONS:
        labels = [belief["labels"][dimension] for _, belief in rows]
        # A story is never in both parts.
        told = cross_val_predict(rule, texts, labels, groups=stories, cv=GroupKFold(5))
        right.append(accuracy_score(labels, told))
    assert sum(right) / len(right) < 0.75, dict(zip(DIMENSIONS, right, strict=True))


@both
def test_a_paraphrase_says_it_of_the_same_people_in_other_words(records):
    for record, belief in every_belief(records):
        people = {b["actor"].removeprefix("The ") for b in record["beliefs"]} - {WORLD}
        people |= {*record["record"][0]["actors"]} if "record" in record else set()
        assert 1 <= len(belief["paraphrases"]) <= 2
        for text in (belief["belief"], *belief["paraphrases"]):
            assert not text.endswith(".")
            named = {name for name in people if re.search(rf"\b{name}\b", text)}
            in_belief = {n for n in people if re.search(rf"\b{n}\b", belief["belief"])}
            assert named == in_belief, text
        wordings = {" ".join(t.lower().split()) for t in belief["paraphrases"]}
        assert belief["belief"].lower() not in wordings
        assert len(wordings) == len(belief["paraphrases"])


@both
def test_no_row_stands_twice(records):
    rows = [(r["story_id"], b["actor"], b["belief"]) for r, b in every_belief(records)]
    assert len(set(rows)) == len(rows)
