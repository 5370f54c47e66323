"""FANToM by language model: outlines, requests, strict parsers, and all steps to question sets."""

import asyncio

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scripted_writers import said
from tomlab.benchmarks import fantom
from tomlab.benchmarks.fantom.items.contexts import written
from tomlab.benchmarks.fantom.items.formats import PARSERS
from tomlab.benchmarks.fantom.items.outlines import Outline, read_outlines, segments
from tomlab.benchmarks.fantom.items.writing import STEPS, beliefs, converse, parts, records
from tomlab.benchmarks.writing import Unparsed, Writer
from tomlab.errors import InputError

LEAVES = ("leave", "Gina", "coffee break")
RETURNS = ("join", "Gina", "coffee break")
JOINS = ("join", "Dora", "a call")


def plan(*changes):
    """The segments of an outline."""
    subtopics = ["names", "tricks", "food", "toys"][: len(changes) + 1]
    outline = {"topic": "pets", "subtopics": subtopics, "changes": [*changes]}
    return segments(Outline.model_validate(outline | {"start": ["Anna", "Ben", "Gina"]}))


OUTLINE = plan(LEAVES, RETURNS, JOINS)
HERE = ["Anna", "Ben", "Gina", "Dora"]

# What the scripted model says, segment by segment; the first words continue the prompt's last line.
NAMES = "My cat is Tom.\nBen: And my dog is Rex.\nGina: I have no pet.\nAnna: Oh, why not?"
TRICKS = (
    "Sorry, I need to get a coffee.\nBen: Bye, Gina!\nGina: See you.\n"
    "Anna: Can your dog do tricks?\nBen: Rex can open the fridge.\n"
    "Anna: My Tom plays the piano.\nBen: I would love to hear that."
)
FOOD = (
    "Hey, I'm back!\nAnna: We are at food now. Tom eats nothing but tuna.\n"
    "Ben: Rex likes carrots.\nGina: Carrots are healthy."
)
TOYS = (
    "Hello, I'm back from my call.\nAnna: Tom plays with strings.\n"
    "Ben: Rex has a ball.\nGina: A ball is fun.\nDora: I like balls too."
)
SUMMARY = "Ben told that Rex can open the fridge. Anna told that Tom plays the piano."
FRIDGE = "What can Ben's dog Rex open?"
PIANO = "Which instrument does the cat play?"
WISH = "What would Ben love to hear?"
THINKS = "What does Gina believe Ben's dog Rex can open?"
CYCLIC = "What does Ben think about Gina's belief on what Rex can open?"
ACYCLIC = "What does Anna think about Gina's belief on what Ben's dog Rex can open?"
# What has to stand in a prompt, and the answer to it.
SCRIPT = {
    ("talk about pets", "subject is names"): NAMES,
    ("time for Gina to go", "coffee break", "Anna and Ben, talk about tricks", "no pet"): TRICKS,
    ("Gina was away", "coffee break", "Anna, Ben and Gina, talk about food", "piano"): FOOD,
    ("Dora was away", "a call", "Anna, Ben, Gina and Dora, talk about toys", "Carrots"): TOYS,
    ("[Gina joined the conversation]\nGina: Hey",): SUMMARY,
    ("[Dora joined the conversation]\nDora: Hello",): "Nothing.",
    (SUMMARY,): f"Sure:\n1. {FRIDGE}\n2. **{PIANO}**\n3) {WISH}",
    ("the fridge", f"Question: {FRIDGE}"): "Answer: Rex can open the fridge.",
    ("the piano", f"Question: {PIANO}"): "The cat plays the piano.\n\nQuestion: And the dog?",
    ("the piano", f"Question: {WISH}"): "Ben would love to hear Tom.",
    ("carrots", f"Question: {FRIDGE}"): "There is no information about it.",
    ("carrots", f"Question: {PIANO}"): "There is no information about it.",
    ("carrots", f"Question: {WISH}"): "ben would love to hear  Tom.",
    (FRIDGE, "asks for Gina's belief"): THINKS,
    (FRIDGE, "asks for Ben's belief about Gina's belief"): f'Question: "{CYCLIC}"',
    (FRIDGE, "asks for Anna's belief about Gina's belief", "does Anna believe"): ACYCLIC,
    (PIANO, "asks for Gina's belief"): "What instrument does the cat play?",
    (THINKS, "sentence, adding", "Rex can open the fridge."): "Gina believes it is the fridge.",
    (THINKS, "There is no information about it."): "Gina does not know what Rex can open.",
    (CYCLIC, "Rex can open the fridge."): "Ben thinks Gina believes it is the fridge.",
    (CYCLIC, "There is no information about it."): "Ben thinks Gina does not know.",
    (ACYCLIC, "Rex can open the fridge."): "Anna thinks Gina knows it is the fridge.",
    (ACYCLIC, "There is no information about it."): "Anna thinks Gina does not know.",
}


def reply_to(prompt):
    """The answer of the scripted model; exactly one entry of the script is for each prompt."""
    [reply] = [reply for words, reply in SCRIPT.items() if all(word in prompt for word in words)]
    return said(reply)


def content(request):
    [message] = request.messages
    return message["content"]


def writer(reply=reply_to):
    async def ask(requests):
        return [reply(content(request)) for request in requests]

    return Writer(ask, "llm:smol", {"max_tokens": 150})


@pytest.fixture(scope="module")
def talk():
    """A conversation of which the scripted model has written all segments."""
    [talk] = asyncio.run(converse(writer(), [OUTLINE], start=7))
    return talk


@pytest.fixture(scope="module")
def part(talk):
    """What Gina missed; Dora, who joins later, missed nothing."""
    return parts([talk])[0] | {"summary": SUMMARY}


# From outlines to question sets


def test_steps_make_a_question_set(talk, file_of):
    scribe = writer()

    async def take(drafts, *names):
        for name in names:
            drafts = await scribe.take(STEPS[name], drafts)
        return drafts

    async def steps():
        facts = await take(parts([talk]), "missed", "facts", "full-answer", "limited-answer")
        names = ("belief-question", "omniscient-answer", "centric-answer")
        return records(await take(beliefs(facts), *names))

    [record] = asyncio.run(steps())
    assert (record["set_id"], record["source"]) == ("7-0-0", "llm:smol")
    fact = record["factQA"]
    assert fact["question"] == FRIDGE
    assert fact["correct_answer"] == "Rex can open the fridge."
    assert fact["wrong_answer"] == "There is no information about it."
    first, *second = record["beliefQAs"]
    assert first["question"] == THINKS
    assert first["correct_answer"] == "Gina does not know what Rex can open."
    orders = {belief["tom_type"]: belief["question"] for belief in second}
    assert orders == {"second-order:cyclic": CYCLIC, "second-order:acyclic": ACYCLIC}
    # The short context is from leaving to the segment of the return.
    assert record["short_context"] == f"Gina: {TRICKS}\nGina: {FOOD}"
    assert record["full_context"] == f"Anna: {NAMES}\nGina: {TRICKS}\nGina: {FOOD}\nDora: {TOYS}"
    for family in ("answerability", "infoAccessibility"):
        assert record[f"{family}QA_list"]["correct_answer"] == ["Anna", "Ben"]
        assert record[f"{family}QA_list"]["wrong_answer"] == ["Gina", "Dora"]
        keys = [question["correct_answer"] for question in record[f"{family}QAs_binary"]]
        assert keys == ["yes", "yes", "no", "no:long"]
    assert len(fantom.read_released(file_of([record])))
    unparsed = [(row["step"], row["reason"]) for row in scribe.rows if row["status"] == "unparsed"]
    assert unparsed == [("missed", "nothing was missed"), ("belief-question", "a name is missing")]


# Outlines


PLAN = """\
- topic: pets
  subtopics: [names, tricks]
  start: [Anna, Ben]
  changes: [{kind: join, name: Gina, reason: a call}]
"""


@pytest.mark.parametrize(
    ("right", "wrong", "message"),
    [
        ("kind: join", "kind: come", "0.changes.0.kind: found 'come', expected 'leave' or 'join'"),
        ("[names, tricks]", "[names]", "outline 1, field changes: found 1, expected 0"),
        ("name: Gina", "name: Anna", "outline 1, field changes: found join of Anna"),
        (PLAN, "[]", "found 0 outlines, expected 1"),
    ],
)
def test_outline_at_fault_is_named(tmp_path, right, wrong, message):
    path = tmp_path / "outlines.yaml"
    path.write_text(PLAN.replace(right, wrong))
    with pytest.raises(InputError, match=message):
        read_outlines(path, 1)


# Segments


def segment_of(text, *changes):
    """The lines of a segment, the last of an outline with these changes, that is read off a text."""
    segment = plan(*changes)[-1]
    opening = segment.get("person", segment["first"])
    state = {"segments": [], "heard": [], "characters": HERE, "prompt": f"Go on.\n{opening}:"}
    result = PARSERS["segment"](text, segment | state)
    return result if isinstance(result, Unparsed) else result["segments"][-1]


LATE = TRICKS.replace("\nGina: See you.", "") + "\nGina: I am still here."


@pytest.mark.parametrize(
    ("text", "changes", "reason"),
    [
        (f"{NAMES}\nDora: Hi!", [], "absent speaker"),
        (LATE, [LEAVES], "absent speaker"),
        (f"Ben: Bye.\nGina: {TRICKS}", [LEAVES], "no announcement"),
        (f"Dogs are fun.{FOOD[14:]}", [LEAVES, RETURNS], "no announcement"),
        ("Hi.\nBen: Hi.\nGina: Hi.", [], "fewer than 4 lines"),
        (NAMES.replace("Gina", "Ben"), [], "somebody present is silent"),
    ],
)
def test_segment_that_cannot_be_used_has_its_reason(text, changes, reason):
    assert segment_of(text, *changes) == Unparsed(reason)


# Summaries, questions and answers


BELIEVERS = {"believer": "Ben", "person": "Gina"}


@pytest.mark.parametrize(
    ("step", "text", "result"),
    [
        ("full-answer", "**Answer:** The\nfridge.", "The fridge."),
        ("full-answer", "The fridge.\r\n\r\nQuestion: What", "The fridge."),
        ("belief-question", f"Here it is:\n\n**{CYCLIC}**\n\nIs that all right?", CYCLIC),
        ("missed", "No information was missed.", Unparsed("nothing was missed")),
        ("missed", "I'm sorry, I cannot help.", Unparsed("no summary")),
        ("facts", f"{FRIDGE}\n{PIANO}\nRex can.", Unparsed("fewer than three questions")),
        ("facts", f"{FRIDGE}\n{PIANO}\n{WISH}\n{THINKS}", Unparsed("more than three questions")),
        ("facts", f"{FRIDGE}\n{PIANO}\nCan Rex open it?", Unparsed("yes-no question")),
        ("facts", f"{FRIDGE}\n{PIANO}\n{FRIDGE.upper()}", Unparsed("a question stands twice")),
        ("full-answer", "Answer: -", Unparsed("no answer")),
        ("belief-question", "Gina believes it is the fridge.", Unparsed("no question")),
        ("belief-question", "What does Benno think Gina believes?", Unparsed("a name is missing")),
        ("belief-question", "What can Ben open for Gina?", Unparsed("asks for no belief")),
    ],
)
def test_answer_is_read_or_has_its_reason(step, text, result):
    assert PARSERS[step](text, BELIEVERS) == result


WORDS = [*HERE, "Zoe", ":", ": ", "\n", "\n\n", "1.", "- ", "?", ".", "**", '"', "What", "back"]
TEXTS = st.lists(st.sampled_from(WORDS) | st.text(max_size=5), min_size=1).map("".join)


@given(TEXTS.filter(str.strip), st.sampled_from([[], [LEAVES], [LEAVES, RETURNS]]))
@settings(max_examples=60, deadline=5000)
def test_parsers_never_raise_and_give_what_they_say(text, changes):
    lines = segment_of(text, *changes)
    if not isinstance(lines, Unparsed):
        assert set(plan(*changes)[-1]["present"]) <= {speaker for speaker, _ in lines}
    for step in ("missed", "facts", "full-answer", "belief-question"):
        assert PARSERS[step](text, BELIEVERS)


# Who believes what


@pytest.mark.parametrize(
    ("question", "second_order"),
    [
        (FRIDGE, {"second-order:cyclic": "Ben", "second-order:acyclic": "Anna"}),
        ("What do Anna and Ben have?", {"second-order:cyclic": "Anna"}),
        ("What does Dora have?", {"second-order:acyclic": "Anna"}),
        ("What is the weather like in Benin?", {}),
    ],
)
def test_second_order_is_told_by_whom_the_fact_question_names(part, question, second_order):
    fact = part | {"full": "Rex can.", "limited": "Nobody says.", "fact_question": question}
    believers = {belief["tom_type"]: belief["believer"] for belief in beliefs([fact])}
    assert believers == {"first-order": "Gina"} | second_order


def test_fact_with_one_answer_for_both_sides_is_asked_no_more_about(part):
    fact = part | {"fact_question": FRIDGE, "full": "The fridge.", "limited": "the  Fridge."}
    assert beliefs([fact]) == []


def test_who_is_away_longer_has_the_whole_absence_in_the_short_context():
    lines = [[(name, name)] for name in ("Anna", "Gina", "Dora", "Ben")]
    talk = {"plan": plan(LEAVES, JOINS, RETURNS), "segments": lines, "heard": lines}
    *_, part = parts([talk])
    assert part["person"] == "Gina"
    assert written(part["short"]) == "Gina: Gina\nDora: Dora\nBen: Ben"
    assert part["previous"] == "Dora: Dora"
    assert part["aware"] == ["Anna", "Ben", "Dora"]
