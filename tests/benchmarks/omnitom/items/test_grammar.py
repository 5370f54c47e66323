"""Our OmniToM stories: the authored tables, and the grammar against a simulator of its own."""

import re
from collections import Counter
from itertools import pairwise, product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.metrics import accuracy_score
from sklearn.model_selection import GroupKFold, cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC

from tomlab.benchmarks.omnitom.items.grammar import KINDS, NAMES, beliefs, ended, generate
from tomlab.benchmarks.omnitom.items.records import (
    DIMENSIONS,
    WORLD,
    read_records,
)
from tomlab.paths import DATA, ROOT

AUTHORED = read_records(DATA / "omnitom" / "stories.jsonl")
GENERATED = generate(4 * len(KINDS), seed=0)
EXAMPLES = ROOT.parent / "shared/datasets/omnitom/worked_examples.jsonl"
both = pytest.mark.parametrize("records", [AUTHORED, GENERATED], ids=["authored", "grammar"])

# One hidden transfer, told as events.
START = {"event": "start", "kind": "", "place": "attic", "object": "violin", "container": "trunk"}
START |= {"actors": ["Ayla", "Boris"], "seen_by": ["Ayla", "Boris"]}
LEAVES = {"event": "leaves", "actor": "Boris", "seen_by": ["Ayla", "Boris"]}
MOVES = {"event": "moves", "actor": "Ayla", "container": "sack", "seen_by": ["Ayla"]}
RETURNS = {"event": "returns", "actor": "Boris", "seen_by": ["Ayla", "Boris"]}
SAYS = {"actor": "Ayla", "listener": "Boris", "seen_by": ["Ayla", "Boris"]}
TELLS = {**SAYS, "event": "tells", "container": "sack"}
LIES = {**SAYS, "event": "lies", "container": "hatbox"}
WATCHED = {**MOVES, "watched_by": ["Boris"]}
LOOKS = {**RETURNS, "event": "looks", "container": "sack"}


def are_labelled(events, *rows):
    """Whether a story's table has rows, "actor: belief = labels in the paper's order"."""
    told = beliefs(events)
    found = [
        f"{b['actor']}: {text} = {' '.join(b['labels'].values())}"
        for b in told
        for text in (b["belief"], *b["paraphrases"])
    ]
    for row in rows:
        assert found.count(row) == 1, row


def has(events):
    """Where each chain of actors has the object."""
    return {chain: told[events[0]["object"]] for chain, told in ended(events).value.items()}


def every_belief(records):
    return [(record, belief) for record in records for belief in record["beliefs"]]


# The grammar, example by example.


def test_who_moved_the_object_knows_where_it_is_and_what_the_other_thinks():
    events = [START, LEAVES, MOVES]
    are_labelled(
        events,
        "Ayla: The violin is in the sack = 1 True Private Implicit Location Perception Neutral",
        "Ayla: Boris thinks the violin is in the trunk = 2 True Private Implicit Epistemic Inference Neutral",
        "Ayla: Boris thinks Ayla thinks the violin is in the trunk = 3 True Private Implicit Epistemic Inference Neutral",
        "Ayla: The violin was in the trunk at first = 1 True Public Implicit Location Memory Temporal",
    )


def test_facts_are_private_only_where_one_actor_alone_perceived_them():
    events = [START, LEAVES, MOVES]
    are_labelled(
        events,
        "world: The violin is in the trunk at first = 0 True Public Explicit Location Narration Temporal",
        "world: Ayla moves the violin to the sack = 0 True Private Explicit Action/Event Narration Neutral",
        "world: Boris is in the attic at first = 0 True Public Explicit Location Narration Temporal",
    )


def test_who_watched_in_secret_knows_and_is_thought_not_to():
    events = [START, LEAVES, WATCHED]
    are_labelled(
        events,
        "Boris: The violin is in the sack = 1 True Private Explicit Location Perception Neutral",
        "Ayla: Boris thinks the violin is in the trunk = 2 False Private Implicit Epistemic Inference Temporal",
        "Boris: Ayla thinks Boris thinks the violin is in the trunk = 3 True Private Implicit Epistemic Inference Neutral",
        "world: Boris secretly watches Ayla move the violin = 0 True Private Explicit Action/Event Narration Neutral",
    )


def test_what_is_told_is_testimony_and_common_ground():
    are_labelled(
        [START, LEAVES, MOVES, RETURNS, TELLS],
        "Boris: The violin is in the sack = 1 True Public Explicit Location Testimony Neutral",
    )


def test_a_lie_is_believed_and_all_that_rests_on_it_is_deceptive():
    events = [START, LEAVES, MOVES, RETURNS, LIES]
    are_labelled(
        events,
        "Boris: The violin is in the hatbox = 1 False Private Explicit Location Testimony Deceptive",
        "Boris: Ayla thinks the violin is in the hatbox = 2 False Private Implicit Epistemic Inference Deceptive",
        "Ayla: Boris thinks the violin is in the hatbox = 2 True Private Implicit Epistemic Inference Deceptive",
        "Ayla: The violin is in the sack = 1 True Private Implicit Location Perception Neutral",
        "world: Ayla tells Boris that the violin is in the hatbox = 0 True Public Explicit Action/Event Narration Deceptive",
    )


def test_a_lie_to_who_has_seen_the_truth_fools_the_liar():
    events = [START, LEAVES, WATCHED, RETURNS, LIES]
    are_labelled(
        events,
        "Boris: The violin is in the sack = 1 True Private Explicit Location Perception Neutral",
        "Ayla: Boris thinks the violin is in the hatbox = 2 False Private Implicit Epistemic Inference Deceptive",
        "Boris: Ayla thinks Boris thinks the violin is in the hatbox = 3 True Private Implicit Epistemic Inference Deceptive",
    )


def test_two_who_missed_it_share_their_outdated_belief():
    start = {**START, "actors": ["Ayla", "Boris", "Chidi"], "seen_by": ["Ayla", "Boris", "Chidi"]}
    away = [{**LEAVES, "actor": name, "seen_by": start["seen_by"]} for name in ("Boris", "Chidi")]
    away[1] = {**away[1], "seen_by": ["Ayla", "Chidi"]}
    are_labelled(
        [start, *away, MOVES],
        "Chidi: The violin is in the trunk = 1 False Shared Implicit Location Perception Temporal",
        "Boris: Chidi is in the attic = 1 False Private Implicit Location Perception Temporal",
    )


def test_who_was_never_there_has_no_belief_until_told():
    start = {**START, "actors": ["Ayla", "Boris", "Chidi"]}
    enters = {"event": "enters", "actor": "Chidi", "seen_by": ["Ayla", "Chidi"]}
    tells = {**TELLS, "listener": "Chidi", "seen_by": ["Ayla", "Chidi"]}
    assert has([start, LEAVES, MOVES, enters])["Chidi",] is None
    events = [start, LEAVES, MOVES, enters, tells]
    are_labelled(
        events,
        "Chidi: The violin is in the sack = 1 True Shared Explicit Location Testimony Neutral",
    )
    assert has(events)["Chidi", "Boris"] is None


# The grammar against a second implementation.


def audiences(events):
    """Who is there at each event, replayed from comings and goings alone."""
    there = set(events[0]["seen_by"])
    for event in events:
        there |= {event["actor"]} if event["event"] in ("returns", "enters") else set()
        yield set(there)
        there -= {event["actor"]} if event["event"] == "leaves" else set()


def saw(chain, there, hidden):
    """Whether the first saw that the second saw that the third saw it. Nobody sees who hides."""
    first, *rest = chain
    return (first in there or first in hidden) and (not rest or saw(rest, there, hidden=()))


def real(events):
    """Where the object is."""
    *before, last = events
    return last["container"] if last["event"] in ("start", "moves") else real(before)


def thought(chain, events, there):
    """Where the object is to a chain of actors, read back from the last event."""
    if not events:
        return None
    *before, event = events
    earlier = thought(chain, before, there[:-1])
    if "container" not in event or not saw(chain, there[-1], event.get("watched_by", ())):
        return earlier
    if event["event"] not in ("tells", "lies"):
        return event["container"]
    speaker, listener = event["actor"], event["listener"]
    if [*chain] == [speaker]:
        return earlier
    knows_better = event["event"] == "lies" and (
        thought([listener], before, there[:-1]) == real(before)
    )
    if knows_better and [*chain] in ([listener], [listener, speaker]):
        return earlier
    return event["container"]


def placements(record):
    """{chain: (container, truth label)} of the rows that say where the object is."""
    thing = record["record"][0]["object"]
    pattern = re.compile(
        rf"(?:(\w+) thinks )?(?:(\w+) thinks )?the {thing} is in the (.+)", re.IGNORECASE
    )
    found = {}
    for belief in record["beliefs"]:
        wordings = [belief["belief"], *belief["paraphrases"]]
        match = next(filter(None, map(pattern.fullmatch, wordings)), None)
        if match and not match[3].endswith("at first"):
            chain = (belief["actor"], *filter(None, match.groups()[:2]))
            found[chain] = (match[3], belief["labels"]["truth_status"])
    return found


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10**6))
def test_who_thinks_what_agrees_with_a_simulator(seed):
    for record in generate(len(KINDS), seed):
        events, actors = record["record"], record["record"][0]["actors"]
        there = [*audiences(events)]
        assert [set(event["seen_by"]) for event in events] == there
        every = [c for n in (1, 2, 3) for c in product(actors, repeat=n)]
        chains = [c for c in every if not any(a == b for a, b in pairwise(c))]
        simulated = {chain: thought(chain, events, there) for chain in chains}
        assert has(events) == simulated | {(): real(events)}
        simulated = {chain: place for chain, place in simulated.items() if place}

        placed = placements(record)
        assert placed.pop((WORLD,)) == (real(events), "True")
        assert {c for c in placed if len(c) < 3} == {c for c in simulated if len(c) < 3}
        for chain, (place, truth) in placed.items():
            about = simulated[chain[1:]] if chain[1:] else real(events)
            assert (place, truth) == (simulated[chain], str(simulated[chain] == about)), chain


def test_only_two_are_there_when_something_is_said():
    said = [e for r in GENERATED for e in r["record"] if e["event"] in ("tells", "lies")]
    assert said
    assert all({e["actor"], e["listener"]} == set(e["seen_by"]) for e in said)


def test_lies_are_false_and_told_transfers_true():
    for record in GENERATED:
        events = record["record"]
        for event in events:
            if event["event"] in ("tells", "lies"):
                assert (event["container"] == real(events)) == (event["event"] == "tells")


def test_stories_say_all_that_happens():
    for record in GENERATED:
        start, *events = record["record"]
        words = [start["object"], start["place"], start["container"]]
        words += [e[key] for e in events for key in ("actor", "container", "listener") if key in e]
        words += [watcher for e in events for watcher in e.get("watched_by", [])]
        assert all(word in record["story"] for word in words)
        assert not re.search(r"[{}|]", record["story"])


def test_kinds_come_in_turn_and_every_kind_of_belief_occurs():
    assert [r["record"][0]["kind"] for r in GENERATED] == [*KINDS] * 4
    values = Counter((d, b["labels"][d]) for _, b in every_belief(GENERATED) for d in DIMENSIONS)
    assert {value for d, value in values if d == "order"} == {"0", "1", "2", "3"}
    assert {value for d, value in values if d == "context"} == {"Neutral", "Temporal", "Deceptive"}
    sources = {"Narration", "Perception", "Memory", "Testimony", "Inference"}
    assert {value for d, value in values if d == "mental_source"} == sources


def test_a_story_depends_on_its_seed_and_number_alone():
    assert generate(3, seed=7) == generate(20, seed=7)[:3]
    assert generate(15, seed=7) != generate(15, seed=8)
    assert generate(0, seed=7) == []
    many = generate(200, seed=1)
    assert len({record["story"] for record in many}) == 200
    assert [record["story_id"] for record in many] == [*range(2001, 2201)]


# The authored file.


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
        people |= {name for name in NAMES if name in record["story"]}
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
