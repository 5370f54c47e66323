"""FANToM by language model: outlines, requests, strict parsers, and all steps to question sets."""

import asyncio
import json
import time

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from printed_texts import SEEDS, printed
from scripted_writers import ERROR, said, wrote
from tomlab.asking import prompts
from tomlab.asking.attempts import OUTCOME
from tomlab.benchmarks import fantom
from tomlab.benchmarks.fantom.items import formats
from tomlab.benchmarks.fantom.items import sets as fantom_sets
from tomlab.benchmarks.fantom.items.contexts import written
from tomlab.benchmarks.fantom.items.outlines import Outline, read_outlines, segments
from tomlab.benchmarks.fantom.items.writing import STEPS, beliefs, converse, parts, records
from tomlab.benchmarks.writing import Unparsed, Writer
from tomlab.errors import InputError
from tomlab.paths import DATA

LEAVES, RETURNS = ("leave", "Gina", "coffee break"), ("join", "Gina", "coffee break")


def plan(start, *changes, topic="pets", subtopics="abcdef"):
    """The segments of an outline."""
    subtopics = [*subtopics][: len(changes) + 1]
    outline = {"topic": topic, "subtopics": subtopics, "start": start, "changes": [*changes]}
    return segments(Outline.model_validate(outline))


OUTLINE = plan(
    ["Anna", "Ben", "Gina"],
    LEAVES,
    RETURNS,
    ("join", "Dora", "a call"),
    subtopics=("names", "tricks", "food", "toys"),
)
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


def requests(step, drafts, replaced=None):
    return [STEPS[step].request(draft, replaced=replaced, max_tokens=150) for draft in drafts]


def content(request):
    [message] = request.messages
    assert message["role"] == "user"
    return message["content"]


def scripted(requests):
    """The responses of the scripted model; exactly one entry of the script is for each prompt."""
    answers = []
    for prompt in map(content, requests):
        [answer] = [
            reply for parts, reply in SCRIPT.items() if all(part in prompt for part in parts)
        ]
        answers.append(said(answer))
    return answers


async def answering(requests):
    return scripted(requests)


def writer(ask=answering):
    return Writer(ask, "llm:smol", {"max_tokens": 150})


@pytest.fixture(scope="module")
def talk():
    """A conversation of which the scripted model has written all segments."""
    [talk] = asyncio.run(converse(writer(), [OUTLINE], start=7))
    return talk


@pytest.fixture(scope="module")
def part(talk):
    [part, _] = parts([talk])
    return part | {"summary": SUMMARY}


# From outlines to question sets


@pytest.fixture(scope="module")
def run():
    """All steps with the scripted model: the question sets and the table of all answers."""
    scribe = writer()

    async def steps():
        about = parts(await converse(scribe, [OUTLINE], start=7))
        for step in ("missed", "facts", "full-answer", "limited-answer"):
            about = await scribe.take(STEPS[step], about)
        about = beliefs(about)
        for step in ("belief-question", "omniscient-answer", "centric-answer"):
            about = await scribe.take(STEPS[step], about)
        return records(about)

    return asyncio.run(steps()), pd.DataFrame(scribe.rows, columns=["step", *OUTCOME])


def test_steps_make_a_question_set(run):
    [found], _ = run
    assert found["set_id"] == "7-0-0"
    assert found["source"] == "llm:smol"
    assert found["factQA"] == {
        "question": FRIDGE,
        "correct_answer": "Rex can open the fridge.",
        "wrong_answer": "There is no information about it.",
        "question_type": "fact",
    }
    assert found["beliefQAs"][0] == {
        "question": THINKS,
        "correct_answer": "Gina does not know what Rex can open.",
        "wrong_answer": "Gina believes it is the fridge.",
        "question_type": "tom:belief:inaccessible",
        "tom_type": "first-order",
        "missed_info_accessibility": "inaccessible",
    }
    orders = {belief["tom_type"]: belief["question"] for belief in found["beliefQAs"][1:]}
    assert orders == {"second-order:cyclic": CYCLIC, "second-order:acyclic": ACYCLIC}


def test_who_was_there_knows_and_who_was_not_does_not(run):
    [found], _ = run
    for field in ("answerability", "infoAccessibility"):
        assert found[f"{field}QA_list"]["correct_answer"] == ["Anna", "Ben"]
        assert found[f"{field}QA_list"]["wrong_answer"] == ["Gina", "Dora"]
        keys = [question["correct_answer"] for question in found[f"{field}QAs_binary"]]
        assert keys == ["yes", "yes", "no", "no:long"]
    asked = [question["question"] for question in found["infoAccessibilityQAs_binary"]]
    assert asked[2] == "Does Gina know this information?"


def test_short_context_is_from_leaving_to_the_segment_of_the_return(run):
    [found], _ = run
    assert found["short_context"] == f"Gina: {TRICKS}\nGina: {FOOD}"
    assert found["full_context"] == f"Anna: {NAMES}\nGina: {TRICKS}\nGina: {FOOD}\nDora: {TOYS}"


def test_question_set_is_a_record_in_the_released_format(run, tmp_path):
    sets, _ = run
    (tmp_path / "sets.json").write_text(json.dumps(sets), encoding="utf-8")
    read = fantom_sets.read_sets(tmp_path / "sets.json")
    assert read == sets
    items = fantom.compose(read)
    assert items["source"].unique().tolist() == ["llm:smol"]
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
    leavers = []
    for outline in read_outlines(DATA / "fantom" / "outlines.yaml", 20):
        subtopics = [segment["subtopic"] for segment in outline]
        assert len(set(subtopics)) == len(subtopics)
        assert len(outline[0]["present"]) in (2, 3)
        assert any(segment["kind"] == "join" for segment in outline)
        away = {}
        for segment in outline[1:]:
            assert 2 <= len(segment["present"]) <= 5
            # Who returns was away for the reason for which they left.
            person, reason = segment["person"], segment["reason"]
            assert reason == away.pop(person, reason)
            if segment["kind"] == "leave":
                away[person] = reason
                leavers.append(person)
    assert leavers


PLAN = """\
- topic: pets
  subtopics: [names, tricks]
  start: [Anna, Ben]
  changes: [{kind: join, name: Gina, reason: a call}]
"""


def test_fewer_outlines_than_are_to_be_written_are_an_error(tmp_path):
    path = tmp_path / "outlines.yaml"
    path.write_text(PLAN, encoding="utf-8")
    assert read_outlines(path, 0) == []
    with pytest.raises(InputError, match="found 1 outlines, expected 2 for llm_conversations"):
        read_outlines(path, 2)


@pytest.mark.parametrize(
    ("right", "wrong", "said"),
    [
        ("kind: join", "kind: come", "0.changes.0.kind: found 'come', expected 'leave' or 'join'"),
        ("topic: pets", "topic: [pets]", "0.topic: found \\['pets'\\]"),
        ("  start: [Anna, Ben]\n", "", "0.start: found nothing"),
        ("topic: pets", "topic: pets\n  mood: high", "field 0: mood: no such option"),
        ("[names, tricks]", "[names]", "outline 1, field changes: found 1, expected 0"),
        ("name: Gina", "name: Anna", "outline 1, field changes: found join of Anna"),
        ("kind: join", "kind: leave", "outline 1, field changes: found leave of Gina"),
        ("topic: pets", "topic: 'pets", "not YAML"),
    ],
)
def test_outline_at_fault_is_named(tmp_path, right, wrong, said):
    path = tmp_path / "outlines.yaml"
    path.write_text(PLAN, encoding="utf-8")
    [outline] = read_outlines(path, 1)
    assert outline[1]["present"] == ["Anna", "Ben", "Gina"]
    path.write_text(PLAN.replace(right, wrong), encoding="utf-8")
    with pytest.raises(InputError, match=said):
        read_outlines(path, 1)


# Segments


def parsed(text, present=("Anna", "Ben", "Gina"), change=None):
    """The segment of a conversation, to which Dora comes last, that begins with `change`."""
    kind, person, _ = change or ("conversation", present[0], "")
    talk = {"kind": kind, "present": present, "segments": [], "heard": []}
    talk |= {"characters": HERE, "prompt": f"Go on.\n{person}:"}
    if change:
        talk["person"] = person
    made = formats.parse_segment(text, talk)
    return made if isinstance(made, Unparsed) else made["segments"][-1]


@pytest.mark.parametrize(
    "text",
    [
        f"Anna: {NAMES}",
        f"Here is the conversation:\n\nAnna: {NAMES}",
        f"**Anna:** {NAMES}".replace("\nBen:", "\n\n**Ben**:"),
        f"Anna: {NAMES}".replace("\n", "  \r\n"),
        f"{NAMES}\nThey all laugh.\nDora: I am not even there.",
        f"{NAMES}\nZoe: And me?",
        f"{NAMES}\nBen:",
    ],
    ids=["name repeated", "lead-in", "bold", "line ends", "narrator", "nobody", "empty"],
)
def test_writing_around_the_lines_is_let_pass(text):
    assert parsed(text) == parsed(NAMES)


def test_those_who_leave_may_say_goodbye_again():
    lines = parsed(TRICKS, ("Anna", "Ben"), LEAVES)
    assert [speaker for speaker, _ in lines[:3]] == ["Gina", "Ben", "Gina"]


LATE = TRICKS.replace("\nGina: See you.", "") + "\nGina: I am still here."


@pytest.mark.parametrize(
    ("text", "present", "change", "reason"),
    [
        (f"{NAMES}\nDora: Hi!", ["Anna", "Ben", "Gina"], None, "absent speaker"),
        (LATE, ["Anna", "Ben"], LEAVES, "absent speaker"),
        (TRICKS.replace("Anna", "Dora"), ["Anna", "Ben"], LEAVES, "absent speaker"),
        (f"Ben: Bye.\nGina: {TRICKS}", ["Anna", "Ben"], LEAVES, "no announcement"),
        (f"Dogs are fun.{TRICKS[30:]}", ["Anna", "Ben"], LEAVES, "no announcement"),
        (f"Dogs are fun.{FOOD[14:]}", ["Anna", "Ben", "Gina"], RETURNS, "no announcement"),
        ("Hi.\nBen: Hi.\nGina: Hi.", ["Anna", "Ben", "Gina"], None, "fewer than 4 lines"),
        ("I must go.\nBen: Bye.\nAnna: Bye.", ["Anna", "Ben"], LEAVES, "fewer than 4 lines"),
        ("", ["Anna", "Ben"], None, "fewer than 4 lines"),
        ("Zoe: Hi.\nAnna: Hi.", ["Anna", "Ben"], None, "fewer than 4 lines"),
        (NAMES, ["Anna", "Ben", "Gina", "Dora"], None, "somebody present is silent"),
    ],
)
def test_segment_that_cannot_be_used_has_its_reason(text, present, change, reason):
    assert parsed(text, present, change) == Unparsed(reason)


def test_conversation_that_does_not_go_on_keeps_what_it_has():
    async def ask(requests):
        """The scripted model, to which the third segment of every second conversation is lost."""
        return [
            said("Zoe: No.") if number % 2 == 0 and "talk about food" in content(request) else reply
            for number, (request, reply) in enumerate(
                zip(requests, scripted(requests), strict=True)
            )
        ]

    scribe = writer(ask)
    broken, grown = asyncio.run(converse(scribe, [OUTLINE] * 2, start=3))
    assert [talk["conversation"] for talk in (broken, grown)] == [3, 4]
    assert [row["status"] for row in scribe.rows] == ["parsed"] * 4 + ["unparsed"] + ["parsed"] * 2
    assert [len(talk["segments"]) for talk in (broken, grown)] == [2, 4]
    assert parts([broken]) == [] and [part["person"] for part in parts([grown])] == ["Gina", "Dora"]


# Summaries, questions and answers


@pytest.mark.parametrize(
    "marks", ["1. 2. 3.", "1) 2) 3)", "(1) (2) (3)", "- - -", "* * *", "• • •", "Q1: Q2: Q3:"]
)
def test_lines_that_end_as_questions_are_the_questions(marks):
    questions = [FRIDGE, PIANO, WISH]
    text = "\n".join(f"{m} {q}" for m, q in zip(marks.split(), questions, strict=True))
    assert formats.parse_questions(text, {}) == questions
    assert formats.parse_questions(f"Three questions:\n\n{text}\n\nHave fun!", {}) == questions


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("The fridge.", "The fridge."),
        ("**Answer:** The\nfridge.", "The fridge."),
        ("Answer:\n\nThe fridge.", "The fridge."),
        ("The fridge.\r\n\r\nQuestion: What", "The fridge."),
        ("I'm sorry, there is no information.", "I'm sorry, there is no information."),
    ],
)
def test_answer_is_the_first_paragraph(text, answer):
    assert formats.parse_answer(text, {}) == answer


BELIEF = {"believer": "Ben", "person": "Gina"}


def belief_question(text, _):
    return formats.parse_belief_question(text, BELIEF)


def test_belief_question_is_the_first_question_in_the_answer():
    text = f"Here it is:\n\n**{CYCLIC}**\n\nIs that all right?"
    assert belief_question(text, {}) == CYCLIC
    assert belief_question(f'Question: "{CYCLIC}"', {}) == CYCLIC


def listed(*questions):
    return "\n".join(f"{i}. {question}" for i, question in enumerate(questions, start=1))


@pytest.mark.parametrize(
    ("parse", "text", "reason"),
    [
        (formats.parse_summary, "Nothing new.", "nothing was missed"),
        (formats.parse_summary, "No information was missed.", "nothing was missed"),
        (formats.parse_summary, "I'm sorry, I cannot help.", "no summary"),
        (formats.parse_questions, listed(FRIDGE, PIANO), "fewer than three questions"),
        (formats.parse_questions, listed(FRIDGE, PIANO, WISH, THINKS), "more than three questions"),
        (formats.parse_questions, listed(FRIDGE, PIANO, "Can Rex open it?"), "yes-no question"),
        (formats.parse_questions, listed(FRIDGE, PIANO, "Didn't Ben say who?"), "yes-no question"),
        (formats.parse_questions, listed(FRIDGE, PIANO, "Rex can."), "fewer than three questions"),
        (formats.parse_questions, listed(FRIDGE, PIANO, FRIDGE.upper()), "a question stands twice"),
        (formats.parse_answer, "Answer: -", "no answer"),
        (belief_question, "Gina believes it is the fridge.", "no question"),
        (belief_question, f"Question: {FRIDGE}", "a name is missing"),
        (belief_question, "What does Gina believe?", "a name is missing"),
        (belief_question, "What does Benno think that Gina believes?", "a name is missing"),
        (belief_question, "What can Ben open for Gina?", "asks for no belief"),
    ],
)
def test_answer_that_cannot_be_used_has_its_reason(parse, text, reason):
    assert parse(text, {}) == Unparsed(reason)


PARSERS = [formats.parse_summary, formats.parse_answer, formats.parse_questions, belief_question]
WORDS = st.sampled_from(
    [*HERE, *("Zoe", ":", ": ", "\n", "\n\n", "1.", "- ", "?", ".", "**", '"', "What", "back")]
)
TEXTS = st.text() | st.lists(WORDS | st.text(max_size=5), max_size=30).map("".join)


@given(TEXTS.filter(str.strip), st.sampled_from([None, LEAVES, RETURNS]))
@settings(max_examples=300, deadline=None)
def test_parsers_never_raise_and_give_what_they_say(text, change):
    present = ("Anna", "Ben") if change == LEAVES else ("Anna", "Ben", "Gina")
    lines = parsed(text, present, change)
    if not isinstance(lines, Unparsed):
        assert set(present) <= {speaker for speaker, _ in lines} <= {*present, "Gina"}
        assert "\n".join(written(lines).splitlines()) == written(lines)
    for parse in PARSERS:
        assert parse(text, {})


@pytest.mark.parametrize("piece", ["*", "_ ", "\n", "1", "- ", "?", ".'", "Anna", "Anna:"])
def test_long_answers_are_read_in_good_time(piece):
    text = piece * 20_000
    started = time.perf_counter()
    for parse in PARSERS:
        parse(f"{text}x", {})
    parsed(f"{text}x", ("Anna", "Ben"), LEAVES)
    assert time.perf_counter() - started < 5


# Requests


def test_what_was_missed_is_asked_with_the_joining_marked(talk):
    first, second = requests("missed", parts([talk]))
    missing = TRICKS.partition("Gina: See you.\n")[2]
    assert content(first).startswith(f"{missing}\n[Gina joined the conversation]\nGina: {FOOD}\n\n")
    assert content(second).startswith(f"Gina: {FOOD}\n[Dora joined the conversation]\nDora: {TOYS}")


def test_questions_about_a_part_share_the_conversation(part):
    facts = [part | {"fact_question": question} for question in (FRIDGE, PIANO)]
    first, second = requests("full-answer", facts)
    assert first.shared_prefix == second.shared_prefix
    assert content(first) == f"{first.shared_prefix}{FRIDGE}\n\nAnswer:"


def test_braces_in_a_conversation_are_text():
    talk = plan(["Anna", "Ben"], RETURNS)[1]
    [request] = requests(
        "segment", [talk | {"history": "Anna: I say {person} {subtopic}.\nBen: {history}"}]
    )
    assert "Anna: I say {person} {subtopic}.\nBen: {history}\nGina:" in content(request)


@pytest.mark.skipif(not SEEDS.is_dir(), reason="the papers' texts are not at ../shared/seeds")
def test_prompts_as_printed_are_filled_in_every_step(talk, part, tmp_path):
    replaced = {}
    for prompt in printed():
        if prompt.name.startswith("fantom/"):
            path = tmp_path / f"{prompt.name.partition('/')[2]}.txt"
            path.write_text(prompt.text, encoding="utf-8")
            replaced[prompt.name] = str(path)
    assert set(prompts.origins(replaced, replaced)["prompt_wording"]) == {prompts.AS_PRINTED}

    drafts = [talk | segment | {"history": "Anna: Hi."} for segment in OUTLINE]
    fact = part | {"fact_question": FRIDGE}
    [first, *second] = beliefs([fact | {"full": "Rex can.", "limited": "Nobody says."}])
    asked = requests("segment", drafts, replaced) + requests("missed", [part], replaced)
    asked += requests("facts", [part], replaced) + requests("full-answer", [fact], replaced)
    asked += requests("belief-question", [first, *second], replaced)
    asked += requests("omniscient-answer", [first | {"belief_question": THINKS}], replaced)
    texts = [content(request) for request in asked]
    assert not [text for text in texts if "{" in text]
    assert texts[0].endswith("names. \nAnna.")
    assert texts[1].startswith("Now, Gina ")
    assert texts[1].endswith("Gina:")
    assert texts[-4].endswith("asking Gina's belief about this.")
    assert texts[-3].endswith("asking Ben's belief about Gina's belief about this.")


# Who believes what


def orders(part, question):
    answers = {"full": "Rex can.", "limited": "Nobody says."}
    asked = beliefs([part | answers | {"fact_question": question}])
    return {belief["tom_type"]: belief["believer"] for belief in asked}


@pytest.mark.parametrize(
    ("question", "second"),
    [
        (FRIDGE, {"cyclic": "Ben", "acyclic": "Anna"}),
        ("What do Anna and Ben have?", {"cyclic": "Anna"}),
        ("What does Dora have?", {"acyclic": "Anna"}),
        ("What does Gina have?", {}),
        ("What is the weather like in Benin?", {}),
    ],
)
def test_second_order_is_told_by_whom_the_fact_question_names(part, question, second):
    expected = {f"second-order:{kind}": name for kind, name in second.items()}
    assert orders(part, question) == {"first-order": "Gina", **expected}


def test_who_joins_for_the_first_time_missed_the_segment_before(talk):
    _, newcomer = parts([talk])
    assert newcomer["person"] == "Dora"
    assert newcomer["aware"] == ["Anna", "Ben", "Gina"]
    assert written(newcomer["short"]) == f"Gina: {FOOD}\nDora: {TOYS}"


def test_who_is_away_longer_has_the_whole_absence_in_the_short_context():
    outline = plan(["Anna", "Ben", "Gina"], LEAVES, ("join", "Dora", "a call"), RETURNS)
    lines = [[(name, name)] for name in ("Anna", "Gina", "Dora", "Ben")]
    talk = {"plan": outline, "conversation": 0, "segments": lines, "heard": lines}
    *_, part = parts([talk])
    assert part["person"] == "Gina"
    assert written(part["short"]) == "Gina: Gina\nDora: Dora\nBen: Ben"
    assert part["previous"] == "Dora: Dora"
    assert part["aware"] == ["Anna", "Ben", "Dora"]


# Responses


@pytest.mark.parametrize(
    ("response", "status", "reason", "text"),
    [
        (ERROR, "error", "429: slow down", ""),
        (said("Some.", "refusal"), "refused", "no answer", "Some."),
        (said("I'm sorry, I can't."), "refused", "no summary", "I'm sorry, I can't."),
        (said("I can't help with that."), "refused", "no summary", "I can't help with that."),
        (said("Some", "length"), "truncated", "no answer", "Some"),
        (said("<think>Some. More"), "truncated", "no answer", "<think>Some. More"),
        (said("<think>Hm.</think>Some."), "parsed", "", "<think>Hm.</think>Some."),
    ],
)
def test_answer_keeps_its_text_and_the_reason(part, response, status, reason, text):
    [row] = wrote(STEPS["missed"], [part], [response], max_tokens=150).rows
    assert [row[name] for name in OUTCOME] == [status, reason, text]
    assert row["summary"] == ("Some." if status == "parsed" else SUMMARY)


def test_utterance_that_begins_with_sorry_is_no_refusal():
    talk = OUTLINE[1] | {"history": "Anna: Hi.", "segments": [], "heard": [], "characters": HERE}
    response = said(TRICKS.replace("Anna", "Dora"))
    [row] = wrote(STEPS["segment"], [talk], [response], max_tokens=150).rows
    assert (row["status"], row["reason"]) == ("unparsed", "absent speaker")


def test_fact_with_one_answer_for_both_sides_is_asked_no_more_about(part):
    fact = part | {"fact_question": FRIDGE, "full": "The fridge.", "limited": "the  Fridge."}
    assert beliefs([fact]) == []
