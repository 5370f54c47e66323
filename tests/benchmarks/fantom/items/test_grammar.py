"""FANToM by grammar: who is where, what is said, what is asked, each gold answer replayed."""

import copy
import json
import os
import re
import subprocess
import sys
from collections import Counter
from itertools import pairwise

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st
from tomlab.benchmarks.fantom.items.cast import read_cast, read_topics
from tomlab.benchmarks.fantom.items.conversation import aware
from tomlab.benchmarks.fantom.items.grammar import generate

from tomlab.benchmarks.fantom.items import grammar
from tomlab.benchmarks.fantom.items.sets import read_sets
from tomlab.errors import InputError
from tomlab.paths import DATA
from tomlab.records.files import yaml_beside

TOPICS, CAST = DATA / "fantom" / "topics.yaml", DATA / "fantom" / "cast.yaml"


FIRST_TOPIC, LINES = yaml.safe_load(TOPICS.read_bytes())[:1], yaml.safe_load(CAST.read_bytes())
WORDINGS = yaml_beside(grammar.__file__)


@pytest.fixture
def file(tmp_path):
    """A YAML file with this content."""

    def write(content, name="mine.yaml"):
        path = tmp_path / name
        text = content if isinstance(content, bytes) else yaml.safe_dump(content).encode()
        path.write_bytes(text)
        return path

    return write


@pytest.fixture
def complaint(file):
    """What a reader says about a content."""

    def read(reader, content):
        with pytest.raises(InputError) as caught:
            reader(file(content))
        assert "mine.yaml" in str(caught.value)
        return str(caught.value)

    return read


@pytest.fixture(scope="module")
def ours():
    """The project's topics and cast."""
    return read_topics(TOPICS), read_cast(CAST)


@pytest.fixture(scope="module")
def drawn(ours):
    """(topics, cast, sets): 30 conversations with the default number of sets."""
    return *ours, generate(*ours, conversations=30, seed=0)


# Reading


@pytest.mark.parametrize(
    ("field", "value", "said"),
    [
        ("question", ["Tell me {owner}'s biggest bed."], "a question mark at its end"),
        ("about", "{owner}'s biggest bed.", "no mark at its end"),
        ("answer", "In the bed of {owner} is {value}.", "{owner} …"),
        ("tell", ["It is {value}, {friend}."], "{value} in it and no other brace"),
        ("tell", ["It is\n{value}."], "one line of text"),
        ("tell", [7], "found 7, expected a valid string"),
        ("tell", "It is {value}.", "expected a valid list"),
        ("ask", ["[So|Well, {owner}, what is it?"], "brackets as in '[one way|another]'"),
        ("ask", ["[So|Well, {owner}], what is it?"], "without braces in them"),
        ("ask", ["[So], {owner}, what is it?"], "brackets as in '[one way|another]'"),
        ("values", ["leeks", "chard", "peas"], "at least 4 items after validation, not 3"),
        ("values", ["leeks", "chard", "peas", "Leeks"], "'leeks' stands twice"),
        ("colour", "red", "expected no such field"),
    ],
)
def test_fault_in_a_fact_is_named_with_its_place(complaint, field, value, said):
    content = copy.deepcopy(FIRST_TOPIC)
    content[0]["subtopics"][0]["facts"][0][field] = value
    found = complaint(read_topics, content)
    assert f"field 0.subtopics.0.facts.0.{field}" in found
    assert said in found
    assert "1 problem\n" in found


@pytest.mark.parametrize(
    ("field", "line"),
    [
        ("opener", "Some keep a Whippet here."),
        ("fillers", "My whippet has drowned."),
        ("ask", "And you, {owner}, have you tried the whippet?"),
        ("react", "I would never have guessed a whippet!"),
        ("question", "What runs with the whippet of {owner}?"),
        ("about", "the whippet of {owner}"),
    ],
)
def test_value_that_another_line_of_its_subtopic_gives_away(complaint, field, line):
    content = copy.deepcopy(FIRST_TOPIC)
    part = content[0]["subtopics"][0]
    part = part if field in part else part["facts"][0]
    part[field] = [line, *part[field]] if isinstance(part[field], list) else line
    found = complaint(read_topics, content)
    place = "topic 'pets', subtopic 'favorite breeds', fact 'breed', field values"
    assert f"{place}: found 'a whippet' in {field} {line!r}" in found


def test_value_within_a_longer_word_is_no_leak(file):
    content = copy.deepcopy(FIRST_TOPIC)
    content[0]["subtopics"][0]["opener"] = ["Nothing beats a walk among whippets."]
    assert len(read_topics(file(content))) == 1


@pytest.mark.parametrize(
    ("field", "value", "said"),
    [
        (
            "names",
            ["Amina", "Bruno", "Carla", "Dmitri"],
            "at least 5 items after validation, not 4",
        ),
        ("names", ["Amina", "Bruno", "Carla", "Dmitri", "Mina"], "'Mina' within 'Amina'"),
        ("names", ["Amina", "Bruno", "Carla", "Dmitri", "Art"], "'Art' within '"),
        ("welcome", ["Come in, {newcomer}."] * 5, "{newcomer} and {subtopic} in it"),
        ("retelling", ["Well, {newcomer}."] * 2, "{newcomer} and {claim} in it"),
        ("leaving", ["Tea time."] * 4, "field leaving.0: found 'Tea time.'"),
        ("welcome_late", [], "at least 1 item after validation, not 0"),
        ("returning", [], "at least 2 items after validation, not 0"),
        ("applause", ["Hear, hear!"], "expected no such field"),
    ],
)
def test_fault_in_a_cast_is_named_with_its_field(complaint, field, value, said):
    content = copy.deepcopy(LINES)
    content["joining"][0] = "Start without me, I only sit down."
    content[field] = value
    found = complaint(read_cast, content)
    assert f"field {field}" in found
    assert said in found


@pytest.mark.parametrize("reader", [read_topics, read_cast])
@pytest.mark.parametrize(
    "content", [b"", b"[", b"\xff\xfe\x00", b"text", b"7", b"[1, 2]", b"{a: 1}", b"[[]]", b"null"]
)
def test_file_that_is_something_else_is_an_input_error(complaint, reader, content):
    complaint(reader, content)


_junk = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=8,
)


@given(_junk, st.sampled_from(["topic", "subtopics", "facts", "values", "opener", "ask"]))
@settings(max_examples=30, deadline=None)
def test_any_content_of_a_field_is_read_or_an_input_error(tmp_path_factory, junk, field):
    content = copy.deepcopy(FIRST_TOPIC)
    place = content[0]
    for inner in ([], ["subtopics", 0], ["subtopics", 0, "facts", 0]):
        found = content[0]
        for key in inner:
            found = found[key]
        place = found if field in found else place
    place[field] = junk
    path = tmp_path_factory.mktemp("junk") / "mine.yaml"
    path.write_text(yaml.safe_dump(content))
    try:
        assert read_topics(path)
    except InputError as error:
        assert "mine.yaml" in str(error)


# Drawing


def test_same_seed_same_sets(drawn):
    topics, cast, sets = drawn
    assert generate(topics, cast, conversations=30, seed=0) == sets
    assert generate(topics, cast, conversations=3, seed=1) != sets[:12]


def test_first_conversations_do_not_depend_on_how_many_follow(drawn):
    topics, cast, sets = drawn
    few = generate(topics, cast, conversations=4, seed=0)
    assert few == sets[: len(few)]


def test_more_sets_a_part_leave_the_others_as_they_are(ours):
    two = generate(*ours, conversations=8, seed=5)
    four = generate(*ours, conversations=8, sets_per_part=4, seed=5)
    assert len(four) == 2 * len(two)
    assert [one for one in four if one["set_id"][-1] in "01"] == two


def test_order_of_hashes_does_not_matter():
    code = (
        "import hashlib, json, sys\n"
        "from tomlab.benchmarks.fantom.items.cast import read_cast, read_topics\n"
        "from tomlab.benchmarks.fantom.items.grammar import generate\n"
        "sets = generate(read_topics(sys.argv[1]), read_cast(sys.argv[2]), conversations=4, seed=0)\n"
        "print(hashlib.sha256(json.dumps(sets).encode()).hexdigest())"
    )
    command = [sys.executable, "-c", code, str(TOPICS), str(CAST)]
    digests = {
        subprocess.check_output(command, env={**os.environ, "PYTHONHASHSEED": hash_seed})
        for hash_seed in ("1", "2")
    }
    assert len(digests) == 1


@pytest.mark.parametrize(
    ("name", "within"), [("Zzgrow", "Allotments zzgrow"), ("Form", "information")]
)
def test_name_that_a_topic_or_a_question_contains_is_an_input_error(ours, name, within):
    topics, cast = copy.deepcopy(ours)
    topics[0].subtopics[0].fillers[0] = "Allotments zzgrow on one."
    cast.names[0] = name
    with pytest.raises(InputError, match=f"found '{name}' within .*{within}"):
        generate(topics, cast, conversations=1, seed=0)


# What holds for every conversation


def records(sets):
    """One record a conversation."""
    return list({one["set_id"].split("-")[0]: one["record"] for one in sets}.values())


def presence(utterances):
    """Who is there at each utterance, by the events alone: who leaves is there to say so."""
    joined = {one["speaker"] for one in utterances if one["event"] == "join"}
    present = {one["speaker"] for one in utterances} - joined
    there = []
    for one in utterances:
        if one["event"] in ("return", "join"):
            assert one["speaker"] not in present
            present = present | {one["speaker"]}
        assert one["speaker"] in present
        there.append(present)
        if one["event"] == "leave":
            present = present - {one["speaker"]}
    return there


def segments(record):
    """The utterances of each segment after its greetings, that is from the opener on."""
    utterances = record["utterances"]
    found = {n: [one for one in utterances if one["segment"] == n] for n in range(4)}
    return [
        of[next(i for i, one in enumerate(of) if "opener" in one["kinds"]) :]
        for of in found.values()
    ]


def check_conversation(record):
    utterances = record["utterances"]
    there = presence(utterances)
    assert [set(one["present"]) for one in utterances] == there
    assert all(2 <= len(present) <= 5 for present in there)
    assert len(there[0]) in (2, 3)
    assert len({one["speaker"] for one in utterances}) <= 5
    for one, after in pairwise(utterances):
        assert one["speaker"] != after["speaker"]
        if one["event"]:
            answer = "farewell" if one["event"] == "leave" else "welcome"
            assert answer in after["kinds"]
            assert one["speaker"] in after["text"]
            assert one["kinds"] == [one["event"]]
        assert (one["event"] == "leave") == (one["reason"] is not None)
    for event, first in (("return", False), ("join", True)):
        for index, one in enumerate(utterances):
            if one["event"] == event:
                before = {other["speaker"] for other in utterances[:index]}
                assert (one["speaker"] not in before) == first
    told = [one["fact"] for one in utterances if "tell" in one["kinds"]]
    assert len(told) == len(set(told))
    for one in utterances:
        if "retelling" in one["kinds"]:
            first = next(n for n, other in enumerate(utterances) if other["fact"] == one["fact"])
            assert one["speaker"] in there[first] - {utterances[first]["speaker"]}
    discussed = segments(record)
    for segment in discussed:
        check_segment(segment)
    for one in utterances:
        if one["event"] == "leave":
            before = discussed[: one["segment"]][-2:]
            assert all(one["speaker"] in segment[0]["present"] for segment in before)
    missed = sorted(segment for segment, _ in away(utterances))
    assert missed in ([1, 2], [1, 3], [2, 2], [2, 3])


def check_segment(segment):
    kinds = Counter(kind for one in segment for kind in one["kinds"])
    assert kinds["opener"] == 1
    assert kinds["ask"] == kinds["tell"] == kinds["react"]
    assert kinds["tell"] in (2, 3)
    assert {one["speaker"] for one in segment} == set(segment[0]["present"])
    for number, one in enumerate(segment):
        if "tell" in one["kinds"]:
            assert one["kinds"] == ["tell"]
            assert segment[number - 1]["kinds"][-1] == "ask"
            assert one["speaker"] in segment[number - 1]["text"]
            assert segment[number + 1]["kinds"][0] == "react"
    owners = [one["speaker"] for one in segment if "tell" in one["kinds"]]
    # Neither PersonX tells anything in a segment that both have to hear.
    assert len(set(owners)) >= min(len(owners), len(segment[0]["present"]) - 2)


def away(utterances):
    """The segment missed and PersonX: who leaves before it and comes back after it."""
    left, back = (
        {(one["segment"], one["speaker"]) for one in utterances if one["event"] == event}
        for event in ("leave", "return")
    )
    return {(segment, name) for segment, name in left if (segment + 1, name) in back}


def test_every_conversation_keeps_to_the_rules(drawn):
    for record in records(drawn[2]):
        check_conversation(record)


def test_contexts_are_the_lines_of_the_record(drawn):
    for one in drawn[2]:
        record = one["record"]
        written = [f"{said['speaker']}: {said['text']}" for said in record["utterances"]]
        assert one["full_context"].split("\n") == written
        assert one["short_context"].split("\n") == written[record["start"] : record["end"]]


# What holds for every question set


def test_part_is_two_segments_of_which_person_x_misses_one(drawn):
    for one in drawn[2]:
        record, n = one["record"], int(one["set_id"].split("-")[1])
        utterances, x = record["utterances"], record["person_x"]
        part = utterances[record["start"] : record["end"]]
        after = utterances[record["end"] :]
        missed = next(m for m, name in away(utterances) if name == x and m - n in (1, 2))
        assert part[0]["segment"] == n + 1
        if missed == n + 1:
            assert (part[0]["event"], part[0]["speaker"]) == ("leave", x)
        else:
            assert part[0]["event"] and not any(said["event"] for said in part[1 : opener(part)])
        # It ends with who comes or goes after it; with PersonX, if they missed its later half.
        last = max(number for number, said in enumerate(part) if said["event"])
        assert part[last]["segment"] == n + 3
        assert all(said["kinds"][0] in GREETINGS for said in part[last + 1 :])
        assert not after or after[0]["event"] or after[0]["kinds"][0] == "opener"
        if missed == n + 2:
            assert (part[last]["event"], part[last]["speaker"]) == ("return", x)


def opener(part):
    return next(number for number, said in enumerate(part) if "opener" in said["kinds"])


GREETINGS = ("welcome", "farewell", "retelling")


def check_set(one):
    """Every answer of a set against a replay of its record by the events alone."""
    record = one["record"]
    utterances = record["utterances"]
    there = presence(utterances)
    heard = [
        present
        for present, said in zip(there, utterances, strict=True)
        if said["fact"] == record["fact"]
    ]
    knowing = set().union(*heard)
    everyone = list(dict.fromkeys(said["speaker"] for said in utterances))
    part = utterances[record["start"] : record["end"]]
    short = {said["speaker"] for said in part}
    scenario = "accessible" if record["person_x"] in knowing else "inaccessible"
    keys = {
        name: "yes" if name in knowing else "no" if name in short else "no:long"
        for name in everyone
    }
    assert knowing <= short
    assert set(aware(part, record["fact"])) == knowing
    assert record["owner"] in knowing
    assert record["owner"] != record["person_x"]
    for kind in ("answerability", "infoAccessibility"):
        listed, asked = one[f"{kind}QA_list"], one[f"{kind}QAs_binary"]
        assert listed["correct_answer"] == [name for name in everyone if name in knowing]
        assert listed["wrong_answer"] == [name for name in everyone if name not in knowing]
        assert {
            re.match(r"Does (\w+) know", q["question"])[1]: q["correct_answer"] for q in asked
        } == keys
        assert len(asked) == len(everyone)
        # Somebody else of the part may have missed what PersonX heard.
        missed = "inaccessible" if "no" in keys.values() else "accessible"
        assert {q["missed_info_accessibility"] for q in [listed, *asked]} == {missed}
    check_beliefs(one, there, scenario)


def check_beliefs(one, there, scenario):
    record, beliefs = one["record"], one["beliefQAs"]
    x, owner = record["person_x"], record["owner"]
    claim = one["factQA"]["correct_answer"].removesuffix(".")
    about = one["factQA"]["wrong_answer"].removeprefix("There is no information on ").rstrip(".")
    assert [q["tom_type"] for q in beliefs][:2] == ["first-order", "second-order:cyclic"]
    assert len(beliefs) <= 3
    for question in beliefs:
        asked = question["question"].split("does ")[1].split()[0]
        assert question["question"].count("does ") == 1
        assert question["missed_info_accessibility"] == scenario
        assert question["question_type"] == f"tom:belief:{scenario}"
        assert about in question["question"]
        answers = [question["correct_answer"], question["wrong_answer"]]
        if question["tom_type"] != "first-order":
            assert x in question["question"]
            assert all(text.startswith(f"{asked} believes that {x} ") for text in answers)
            answers = [text.removeprefix(f"{asked} believes that ") for text in answers]
        if scenario == "accessible":
            answers.reverse()
        ignorant, knowing = answers
        assert ignorant in {text.format(x=x, about=about) for text in WORDINGS["knows nothing"]}
        assert knowing in {text.format(x=x, claim=claim) for text in WORDINGS["knows"]}
        if question["tom_type"] == "first-order":
            assert asked == x
        elif question["tom_type"] == "second-order:cyclic":
            assert asked == owner
        else:
            assert asked not in (x, owner)
            assert asked in one["answerabilityQA_list"]["correct_answer"]
        if asked != x:
            assert can_tell(record, there, asked, scenario)


def can_tell(record, there, name, scenario):
    """Whether `name` was there when PersonX heard the fact or, if they did not, came back."""
    part = range(record["start"], record["end"])
    utterances, x = record["utterances"], record["person_x"]
    if scenario == "accessible":
        seen = [n for n in part if utterances[n]["fact"] == record["fact"] and x in there[n]]
    else:
        said = [n for n in part if utterances[n]["speaker"] == x]
        seen = [n for n in said if utterances[n]["event"] == "return"]
    return any(name in there[n] for n in seen)


def test_every_answer_follows_from_who_was_there(drawn):
    for one in drawn[2]:
        check_set(one)


@given(seed=st.integers(), number=st.integers(1, 3), sets_per_part=st.integers(2, 4))
@settings(max_examples=60, deadline=None)
def test_rules_hold_for_any_seed(ours, seed, number, sets_per_part):
    sets = generate(*ours, conversations=number, sets_per_part=sets_per_part, seed=seed)
    assert len(sets) == number * 2 * sets_per_part
    for record in records(sets):
        check_conversation(record)
    for one in sets:
        check_set(one)


def test_both_scenarios_stand_in_every_part(drawn):
    found = [one["beliefQAs"][0]["missed_info_accessibility"] for one in drawn[2]]
    assert found == ["inaccessible", "accessible"] * 60


def test_fact_of_a_set_is_told_in_its_part_alone(drawn):
    topics, _, sets = drawn
    for one in sets:
        record, answer = one["record"], one["factQA"]["correct_answer"]
        facts = [
            f for t in topics for s in t.subtopics for f in s.facts if t.topic == record["topic"]
        ]
        fact = next(fact for fact in facts if fact.id == record["fact"])
        owner = record["owner"]
        value = next(v for v in fact.values if fact.answer.format(owner=owner, value=v) == answer)
        assert one["factQA"]["question"] in [text.format(owner=owner) for text in fact.question]
        saying = {n for n, said in enumerate(record["utterances"]) if said["fact"] == fact.id}
        assert saying <= set(range(record["start"], record["end"]))
        assert all(value in record["utterances"][n]["text"] for n in saying)


def test_some_are_told_what_they_missed_and_then_know_it(drawn):
    retold = [
        one
        for one in drawn[2]
        for said in one["record"]["utterances"]
        if said["fact"] == one["record"]["fact"] and "retelling" in said["kinds"]
    ]
    assert 3 <= len(retold) <= 25
    assert {one["beliefQAs"][0]["missed_info_accessibility"] for one in retold} == {"accessible"}
    for one in retold:
        assert one["factQA"]["correct_answer"].removesuffix(".") in one["short_context"]


def test_names_are_found_in_nothing_but_themselves(drawn):
    _, cast, sets = drawn
    for one in sets:
        spoken = {said["speaker"] for said in one["record"]["utterances"]}
        for name in cast.names:
            hits = len(re.findall(name.lower(), one["full_context"].lower()))
            assert hits == len(re.findall(rf"\b{name}\b", one["full_context"]))
            assert (hits > 0) == (name in spoken)


def test_sets_are_read_back_as_they_were_written(drawn, tmp_path):
    sets = drawn[2]
    assert {one["source"] for one in sets} == {"grammar"}
    told = json.dumps(sets)
    (tmp_path / "sets.json").write_text(told, encoding="utf-8")
    assert read_sets(tmp_path / "sets.json") == json.loads(told)
