"""FANToM by language model: outlines, requests, strict parsers, and all steps to question sets."""

import asyncio

import pandas as pd
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
from tomlab.paths import DATA

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


@pytest.fixture(scope="module")
def run():
    """All steps with the scripted model: the question set and the table of all answers."""
    scribe = writer()

    async def steps():
        drafts = parts(await converse(scribe, [OUTLINE], start=7))
        for step in ("missed", "facts", "full-answer", "limited-answer"):
            drafts = await scribe.take(STEPS[step], drafts)
        drafts = beliefs(drafts)
        for step in ("belief-question", "omniscient-answer", "centric-answer"):
            drafts = await scribe.take(STEPS[step], drafts)
        return records(drafts)

    [record] = asyncio.run(steps())
    return record, pd.DataFrame(scribe.rows)


def test_steps_make_a_question_set(run):
    record, _ = run
    assert (record["set_id"], record["source"]) == ("7-0-0", "llm:smol")
    assert record["factQA"] == {
        "question": FRIDGE,
        "correct_answer": "Rex can open the fridge.",
        "wrong_answer": "There is no information about it.",
        "question_type": "fact",
    }
    assert record["beliefQAs"][0] == {
        "question": THINKS,
        "correct_answer": "Gina does not know what Rex can open.",
        "wrong_answer": "Gina believes it is the fridge.",
        "question_type": "tom:belief:inaccessible",
        "tom_type": "first-order",
        "missed_info_accessibility": "inaccessible",
    }
    orders = {belief["tom_type"]: belief["question"] for belief in record["beliefQAs"][1:]}
    assert orders == {"second-order:cyclic": CYCLIC, "second-order:acyclic": ACYCLIC}
    # The short context is from leaving to the segment of the return.
    assert record["short_context"] == f"Gina: {TRICKS}\nGina: {FOOD}"
    assert record["full_context"] == f"Anna: {NAMES}\nGina: {TRICKS}\nGina: {FOOD}\nDora: {TOYS}"


def test_who_was_there_knows_and_who_was_not_does_not(run):
    record, _ = run
    for family in ("answerability", "infoAccessibility"):
        assert record[f"{family}QA_list"]["correct_answer"] == ["Anna", "Ben"]
        assert record[f"{family}QA_list"]["wrong_answer"] == ["Gina", "Dora"]
        keys = [question["correct_answer"] for question in record[f"{family}QAs_binary"]]
        assert keys == ["yes", "yes", "no", "no:long"]


def test_question_set_is_a_record_in_the_released_format(run, file_of):
    record, _ = run
    items = fantom.read_released(file_of([record]))
    assert set(items["source"]) == {"llm:smol"}
    assert set(items["scenario"]) == {"", "inaccessible"}


def test_what_does_not_parse_is_counted_by_reason(run):
    _, table = run
    unparsed = table[table["status"] != "parsed"]
    assert unparsed[["step", "status", "reason"]].values.tolist() == [
        ["missed", "unparsed", "nothing was missed"],
        ["belief-question", "unparsed", "a name is missing"],
    ]


# Outlines


def test_every_outline_has_two_to_five_people_and_a_joining():
    for outline in read_outlines(DATA / "fantom" / "outlines.yaml", 20):
        assert any(segment["kind"] == "join" for segment in outline)
        for segment in outline:
            assert 2 <= len(segment["present"]) <= 5


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
        ("  start: [Anna, Ben]\n", "", "0.start: found nothing"),
        ("topic: pets", "topic: pets\n  mood: high", "field 0: mood: no such option"),
        ("[names, tricks]", "[names]", "outline 1, field changes: found 1, expected 0"),
        ("name: Gina", "name: Anna", "outline 1, field changes: found join of Anna"),
        ("kind: join", "kind: leave", "outline 1, field changes: found leave of Gina"),
        ("topic: pets", "topic: 'pets", "not YAML"),
        (PLAN, "[]", "found 0 outlines, expected 1 for llm_conversations"),
    ],
)
def test_outline_at_fault_is_named(tmp_path, right, wrong, message):
    path = tmp_path / "outlines.yaml"
    path.write_text(PLAN.replace(right, wrong), encoding="utf-8")
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


@pytest.mark.parametrize(
    "text",
    [
        f"Here is the conversation:\n\nAnna: {NAMES}",
        f"**Anna:** {NAMES}".replace("\nBen:", "\n\n**Ben**:"),
        f"Anna: {NAMES}".replace("\n", "  \r\n"),
        f"{NAMES}\nThey all laugh.\nDora: I am not even there.",
        f"{NAMES}\nZoe: And me?",
        f"{NAMES}\nBen:",
    ],
    ids=["lead-in", "bold", "line ends", "narrator", "nobody", "empty"],
)
def test_writing_around_the_lines_is_let_pass(text):
    assert segment_of(text) == segment_of(NAMES)


def test_those_who_leave_may_say_goodbye_again():
    assert [speaker for speaker, _ in segment_of(TRICKS, LEAVES)[:3]] == ["Gina", "Ben", "Gina"]


LATE = TRICKS.replace("\nGina: See you.", "") + "\nGina: I am still here."


@pytest.mark.parametrize(
    ("text", "changes", "reason"),
    [
        (f"{NAMES}\nDora: Hi!", [], "absent speaker"),
        (LATE, [LEAVES], "absent speaker"),
        (f"Ben: Bye.\nGina: {TRICKS}", [LEAVES], "no announcement"),
        (f"Dogs are fun.{TRICKS[30:]}", [LEAVES], "no announcement"),
        (f"Dogs are fun.{FOOD[14:]}", [LEAVES, RETURNS], "no announcement"),
        ("Hi.\nBen: Hi.\nGina: Hi.", [], "fewer than 4 lines"),
        ("I must go.\nBen: Bye.\nAnna: Bye.", [LEAVES], "fewer than 4 lines"),
        ("", [], "fewer than 4 lines"),
        (NAMES.replace("Gina", "Ben"), [], "somebody present is silent"),
    ],
)
def test_segment_that_cannot_be_used_has_its_reason(text, changes, reason):
    assert segment_of(text, *changes) == Unparsed(reason)


def test_conversation_that_does_not_go_on_keeps_what_it_has():
    scribe = writer(lambda p: said("Zoe: No.") if "talk about food" in p else reply_to(p))
    [broken] = asyncio.run(converse(scribe, [OUTLINE], start=3))
    assert broken["conversation"] == 3
    assert [row["status"] for row in scribe.rows] == ["parsed", "parsed", "unparsed"]
    assert len(broken["segments"]) == 2
    assert parts([broken]) == []


# Summaries, questions and answers


@pytest.mark.parametrize("marks", ["1. 2. 3.", "(1) (2) (3)", "- - -", "• • •", "Q1: Q2: Q3:"])
def test_lines_that_end_as_questions_are_the_questions(marks):
    first, second, third = marks.split()
    text = f"Three questions:\n\n{first} {FRIDGE}\n{second} {PIANO}\n{third} {WISH}\n\nHave fun!"
    assert PARSERS["facts"](text, {}) == [FRIDGE, PIANO, WISH]


BELIEVERS = {"believer": "Ben", "person": "Gina"}


@pytest.mark.parametrize(
    ("step", "text", "result"),
    [
        ("full-answer", "**Answer:** The\nfridge.", "The fridge."),
        ("full-answer", "Answer:\n\nThe fridge.", "The fridge."),
        ("full-answer", "The fridge.\r\n\r\nQuestion: What", "The fridge."),
        ("belief-question", f"Here it is:\n\n**{CYCLIC}**\n\nIs that all right?", CYCLIC),
        ("belief-question", f'Question: "{CYCLIC}"', CYCLIC),
        ("missed", "Nothing new.", Unparsed("nothing was missed")),
        ("missed", "No information was missed.", Unparsed("nothing was missed")),
        ("missed", "I'm sorry, I cannot help.", Unparsed("no summary")),
        ("facts", f"{FRIDGE}\n{PIANO}\nRex can.", Unparsed("fewer than three questions")),
        ("facts", f"{FRIDGE}\n{PIANO}\n{WISH}\n{THINKS}", Unparsed("more than three questions")),
        ("facts", f"{FRIDGE}\n{PIANO}\nCan Rex open it?", Unparsed("yes-no question")),
        ("facts", f"{FRIDGE}\n{PIANO}\nDidn't Ben say who?", Unparsed("yes-no question")),
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
HOSTILE = st.sampled_from(["*", "_ ", "\n", "1", "- ", "?", ".'", "Anna:"]).map(lambda p: p * 9999)


@given((TEXTS | HOSTILE).filter(str.strip), st.sampled_from([[], [LEAVES], [LEAVES, RETURNS]]))
@settings(max_examples=60, deadline=5000)
def test_parsers_never_raise_and_give_what_they_say(text, changes):
    lines = segment_of(text, *changes)
    if not isinstance(lines, Unparsed):
        assert set(plan(*changes)[-1]["present"]) <= {speaker for speaker, _ in lines}
        assert written(lines).count("\n") == len(lines) - 1
    for step in ("missed", "facts", "full-answer", "belief-question"):
        assert PARSERS[step](text, BELIEVERS)


# Requests


def test_what_was_missed_is_asked_with_the_joining_marked(talk):
    requests = [STEPS["missed"].request(draft, max_tokens=150) for draft in parts([talk])]
    first, second = map(content, requests)
    missing = TRICKS.partition("Gina: See you.\n")[2]
    assert first.startswith(f"{missing}\n[Gina joined the conversation]\nGina: {FOOD}\n\n")
    assert second.startswith(f"Gina: {FOOD}\n[Dora joined the conversation]\nDora: {TOYS}")


def test_questions_about_a_part_share_the_conversation(part):
    request = STEPS["full-answer"].request(part | {"fact_question": FRIDGE}, max_tokens=150)
    assert content(request) == f"{request.shared_prefix}{FRIDGE}\n\nAnswer:"


# Who believes what


@pytest.mark.parametrize(
    ("question", "second_order"),
    [
        (FRIDGE, {"second-order:cyclic": "Ben", "second-order:acyclic": "Anna"}),
        ("What do Anna and Ben have?", {"second-order:cyclic": "Anna"}),
        ("What does Dora have?", {"second-order:acyclic": "Anna"}),
        ("What does Gina have?", {}),
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


def test_who_joins_for_the_first_time_missed_the_segment_before(talk):
    _, newcomer = parts([talk])
    assert newcomer["person"] == "Dora"
    assert newcomer["aware"] == ["Anna", "Ben", "Gina"]
    assert written(newcomer["short"]) == f"Gina: {FOOD}\nDora: {TOYS}"


def test_who_is_away_longer_has_the_whole_absence_in_the_short_context():
    lines = [[(name, name)] for name in ("Anna", "Gina", "Dora", "Ben")]
    talk = {"plan": plan(LEAVES, JOINS, RETURNS), "segments": lines, "heard": lines}
    *_, part = parts([talk])
    assert part["person"] == "Gina"
    assert written(part["short"]) == "Gina: Gina\nDora: Dora\nBen: Ben"
    assert part["previous"] == "Dora: Dora"
    assert part["aware"] == ["Anna", "Ben", "Dora"]
