"""FANToM by language model: outlines, requests, strict parsers, and all steps to question sets."""

import asyncio
import json
import time
from functools import partial

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from printed_texts import SEEDS, printed
from tomlab.asking import prompts
from tomlab.asking.attempts import Unparsed
from tomlab.benchmarks import fantom
from tomlab.benchmarks.fantom.items import sets as fantom_sets
from tomlab.benchmarks.fantom.items.contexts import written
from tomlab.benchmarks.fantom.items.formats import (
    parse_answer,
    parse_belief_question,
    parse_questions,
    parse_segment,
    parse_summary,
)
from tomlab.benchmarks.fantom.items.outlines import Change, Outline, read_outlines
from tomlab.benchmarks.fantom.items.writing import (
    COLUMNS,
    Writer,
    beliefs,
    facts,
    parts,
    records,
)
from tomlab.benchmarks.fantom.items.writing import requests as all_requests
from tomlab.errors import InputError
from tomlab.models.specs import Reply, Response
from tomlab.paths import DATA

LEAVES, RETURNS = Change("leave", "Gina", "coffee break"), Change("join", "Gina", "coffee break")
OUTLINE = Outline(
    "pets",
    ("names", "tricks", "food", "toys"),
    ("Anna", "Ben", "Gina"),
    (LEAVES, RETURNS, Change("join", "Dora", "a call")),
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
ERROR = Response("key", None, "429: slow down")
requests = partial(all_requests, max_tokens=150)


def said(text, finish="stop"):
    return Response("key", Reply(text, finish))


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
    return Writer(ask, None, {"max_tokens": 150})


@pytest.fixture(scope="module")
def talk():
    """A conversation of which the scripted model has written all segments."""
    [talk] = asyncio.run(writer().converse([OUTLINE], start=7))
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
        missing = parts(await scribe.converse([OUTLINE], start=7))
        for step in ("missed", "facts"):
            missing = await scribe.take(step, missing)
        asked = facts(missing)
        for step in ("full-answer", "limited-answer"):
            asked = await scribe.take(step, asked)
        about = beliefs(asked)
        for step in ("belief-question", "omniscient-answer", "centric-answer"):
            about = await scribe.take(step, about)
        return records(about, "smol")

    return asyncio.run(steps()), pd.DataFrame(scribe.rows, columns=list(COLUMNS))


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
        ["limited-answer", "unparsed", "same as the other answer"],
        ["belief-question", "unparsed", "a name is missing"],
    ]


# Outlines


def test_every_outline_has_two_to_five_people_and_a_joining():
    outlines = read_outlines(DATA / "fantom" / "outlines.yaml", 20)
    leavers = []
    for outline in outlines:
        assert len(set(outline.subtopics)) == len(outline.subtopics)
        assert len(outline.start) in (2, 3)
        assert any(change.kind == "join" for change in outline.changes)
        away = {}
        for segment, change in enumerate(outline.changes, start=1):
            assert 2 <= len(outline.present(segment)) <= 5
            # Who returns was away for the reason for which they left.
            assert change.reason == away.pop(change.name, change.reason)
            if change.kind == "leave":
                away[change.name] = change.reason
                leavers.append(change.name)
        assert len(outline.characters) <= 5
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
        ("topic: pets", "topic: pets\n  mood: high", "0.mood: found 'high'"),
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
    assert outline.present(1) == ("Anna", "Ben", "Gina")
    path.write_text(PLAN.replace(right, wrong), encoding="utf-8")
    with pytest.raises(InputError, match=said):
        read_outlines(path, 1)


# Segments


def parsed(text, present=("Anna", "Ben", "Gina"), change=None, **options):
    """The segment of a conversation, to which Dora comes last, that begins with `change`."""
    start = present
    if change and change.kind == "leave":
        start = (*present, change.name)
    elif change:
        start = tuple(name for name in present if name != change.name)
    changes = (*filter(None, [change]), Change("join", "Dora", "a call"))
    outline = Outline("pets", ("a", "b", "c"), start, changes)
    before = ((),) * int(change is not None)
    segments = parse_segment(text, outline, before, **options)
    return segments if isinstance(segments, Unparsed) else segments[-1]


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


def test_unfinished_line_is_lost_and_the_rest_used():
    assert parsed(f"{NAMES}\nBen: It is", cut=True) == parsed(NAMES, cut=True) == parsed(NAMES)


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
    broken, grown = asyncio.run(scribe.converse([OUTLINE] * 2, start=3))
    assert [talk["number"] for talk in (broken, grown)] == [3, 4]
    assert [row[2] for row in scribe.rows] == ["parsed"] * 4 + ["unparsed"] + ["parsed"] * 2
    assert [len(talk["segments"]) for talk in (broken, grown)] == [2, 4]
    assert parts([broken]) == [] and [part["person"] for part in parts([grown])] == ["Gina", "Dora"]


# Summaries, questions and answers


def test_cut_summary_keeps_its_finished_sentences():
    assert parse_summary(f"{SUMMARY} And Ben", cut=True) == SUMMARY


@pytest.mark.parametrize(
    "marks", ["1. 2. 3.", "1) 2) 3)", "(1) (2) (3)", "- - -", "* * *", "• • •", "Q1: Q2: Q3:"]
)
def test_items_of_a_list_are_the_questions(marks):
    questions = (FRIDGE, PIANO, WISH)
    text = "\n".join(f"{m} {q}" for m, q in zip(marks.split(), questions, strict=True))
    assert parse_questions(text) == questions
    assert parse_questions(f"Three questions:\n\n{text}\n\nHave fun!") == questions
    assert parse_questions(f"{text}\nWhat", cut=True) == questions


@pytest.mark.parametrize(
    ("text", "cut", "answer"),
    [
        ("The fridge.", False, "The fridge."),
        ("**Answer:** The\nfridge.", False, "The fridge."),
        ("Answer:\n\nThe fridge.", False, "The fridge."),
        ("The fridge.\r\n\r\nQuestion: What", True, "The fridge."),
        ("The fridge. And the", True, "The fridge."),
        ("I'm sorry, there is no information.", False, "I'm sorry, there is no information."),
    ],
)
def test_answer_is_the_first_paragraph(text, cut, answer):
    assert parse_answer(text, cut=cut) == answer


def test_belief_question_is_the_first_question_in_the_answer():
    text = f"Here it is:\n\n**{CYCLIC}**\n\nIs that all right?"
    assert parse_belief_question(text, ["Ben", "Gina"], FRIDGE) == CYCLIC


def listed(*questions):
    return "\n".join(f"{i}. {question}" for i, question in enumerate(questions, start=1))


answer_to = partial(parse_answer, other="The fridge.")
belief_question = partial(parse_belief_question, names=["Ben", "Gina"], fact_question=FRIDGE)


@pytest.mark.parametrize(
    ("parse", "text", "reason"),
    [
        (parse_summary, "", "no summary"),
        (parse_summary, " ... ", "no summary"),
        (partial(parse_summary, cut=True), "Ben told that", "no summary"),
        (parse_summary, "Nothing new.", "nothing was missed"),
        (parse_summary, "No information was missed.", "nothing was missed"),
        (parse_summary, "I'm sorry, I cannot help.", "no summary"),
        (parse_questions, listed(FRIDGE, PIANO), "fewer than three questions"),
        (parse_questions, "", "fewer than three questions"),
        (parse_questions, listed(FRIDGE, PIANO, WISH, THINKS), "more than three questions"),
        (parse_questions, listed(FRIDGE, PIANO, "Can Rex open the fridge?"), "yes-no question"),
        (parse_questions, listed(FRIDGE, PIANO, "Didn't Anna say which?"), "yes-no question"),
        (parse_questions, listed(FRIDGE, PIANO, "For Ben, can Rex open it?"), "yes-no question"),
        (parse_questions, listed(FRIDGE, PIANO, "Rex can open it."), "an item is no question"),
        (parse_questions, listed(FRIDGE, PIANO, f"{WISH} (Tom)"), "an item is no question"),
        (parse_questions, listed(FRIDGE, PIANO, "?"), "an item is no question"),
        (parse_questions, listed(FRIDGE, PIANO, FRIDGE.upper()), "a question stands twice"),
        (
            partial(parse_questions, cut=True),
            listed(FRIDGE, PIANO, "What"),
            "fewer than three questions",
        ),
        (answer_to, "", "no answer"),
        (answer_to, "Answer: -", "no answer"),
        (partial(answer_to, cut=True), "The", "no answer"),
        (answer_to, "the  Fridge.", "same as the other answer"),
        (belief_question, "Gina believes it is the fridge.", "no question"),
        (belief_question, f"Question: {FRIDGE}", "the fact question again"),
        (belief_question, "What does Gina believe?", "a name is missing"),
        (belief_question, "What does Benno think that Gina believes?", "a name is missing"),
        (belief_question, "What can Ben open for Gina?", "asks for no belief"),
    ],
)
def test_answer_that_cannot_be_used_has_its_reason(parse, text, reason):
    assert parse(text) == Unparsed(reason)


WORDS = st.sampled_from(
    [*HERE, *("Zoe", ":", ": ", "\n", "\n\n", "1.", "- ", "?", ".", "**", '"', "What", "back")]
)
TEXTS = st.text() | st.lists(WORDS | st.text(max_size=5), max_size=30).map("".join)


@given(TEXTS, st.booleans(), st.sampled_from([None, LEAVES, RETURNS]))
@settings(max_examples=300, deadline=None)
def test_parsers_never_raise_and_give_what_they_say(text, cut, change):
    present = ("Anna", "Ben") if change == LEAVES else ("Anna", "Ben", "Gina")
    lines = parsed(text, present, change, cut=cut)
    if not isinstance(lines, Unparsed):
        assert set(present) <= {speaker for speaker, _ in lines} <= {*present, "Gina"}
        assert "\n".join(written(lines).splitlines()) == written(lines)
    for found in (
        parse_summary(text, cut=cut),
        parse_answer(text, cut=cut),
        parse_belief_question(text, ["Gina"], FRIDGE, cut=cut),
    ):
        assert isinstance(found, Unparsed) or found.strip()
    questions = parse_questions(text, cut=cut)
    assert isinstance(questions, Unparsed) or len(questions) == 3


@pytest.mark.parametrize(
    "piece", ["*", "_ ", "\n", "1", "- ", "?", ".'", "Anna", "Anna:", "<think>"]
)
def test_long_answers_are_read_in_good_time(piece):
    text = piece * 20_000
    started = time.perf_counter()
    for parse in (parse_summary, parse_answer, parse_questions):
        parse(f"{text}x", cut=True)
    parsed(f"{text}x", ("Anna", "Ben"), LEAVES)
    parse_belief_question(f"{text}x", ["Gina"], FRIDGE)
    assert time.perf_counter() - started < 5


# Requests


def test_what_was_missed_is_asked_with_the_joining_marked(talk):
    first, second = requests("missed", parts([talk]))
    missing = TRICKS.partition("Gina: See you.\n")[2]
    assert content(first).startswith(f"{missing}\n[Gina joined the conversation]\nGina: {FOOD}\n\n")
    assert content(second).startswith(f"Gina: {FOOD}\n[Dora joined the conversation]\nDora: {TOYS}")


def test_questions_about_a_part_share_the_conversation(part):
    first, second = requests("full-answer", facts([part | {"questions": (FRIDGE, PIANO)}]))
    assert first.shared_prefix == second.shared_prefix
    assert content(first) == f"{first.shared_prefix}{FRIDGE}\n\nAnswer:"


def test_braces_in_a_conversation_are_text():
    outline = Outline("pets", ("names", "tricks"), ("Anna", "Ben"), (RETURNS,))
    lines = (("Anna", "I say {person} {subtopic}."), ("Ben", "{history}"))
    talk = {"outline": outline, "number": 0, "segments": (lines,)}
    [request] = requests("segment", [talk])
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

    segments = [talk | {"segments": talk["segments"][:number]} for number in range(4)]
    [fact] = facts([part | {"questions": (FRIDGE,)}])
    [first, *second] = beliefs([fact | {"full": "Rex can.", "limited": "Nobody says."}])
    asked = requests("segment", segments, replaced) + requests("missed", [part], replaced)
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
    asked = beliefs([part | {"fact": 0, "fact_question": question}])
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
    assert newcomer["aware"] == ("Anna", "Ben", "Gina")
    assert written(newcomer["short"]) == f"Gina: {FOOD}\nDora: {TOYS}"


def test_who_is_away_longer_has_the_whole_absence_in_the_short_context():
    changes = (LEAVES, Change("join", "Dora", "a call"), RETURNS)
    outline = Outline("pets", ("a", "b", "c", "d"), ("Anna", "Ben", "Gina"), changes)
    segments = tuple(((name, name),) for name in ("Anna", "Gina", "Dora", "Ben"))
    talk = {"outline": outline, "number": 0, "segments": segments}
    *_, part = parts([talk])
    assert part["person"] == "Gina"
    assert written(part["short"]) == "Gina: Gina\nDora: Dora\nBen: Ben"
    assert part["previous"] == "Dora: Dora"
    assert part["aware"] == ("Anna", "Ben", "Dora")


# Responses


@pytest.mark.parametrize(
    ("response", "status", "reason", "text"),
    [
        (ERROR, "failed", "429: slow down", ""),
        (said("Some.", "refusal"), "unparsed", "refused", "Some."),
        (said("I'm sorry, I can't."), "unparsed", "refused", "I'm sorry, I can't."),
        (said("Some", "length"), "unparsed", "cut off", "Some"),
        (said("<think>Some. More"), "unparsed", "cut off", "<think>Some. More"),
        (said("<think>Hm.</think>Some."), "parsed", "", "<think>Hm.</think>Some."),
    ],
)
def test_answer_keeps_its_text_and_the_reason(part, response, status, reason, text):
    async def ask(_):
        return [response]

    scribe = writer(ask)
    found = asyncio.run(scribe.take("missed", [part]))
    assert scribe.rows == [("missed", "pets", status, reason, text)]
    assert [part["summary"] for part in found] == (["Some."] if status == "parsed" else [])


def test_utterance_that_begins_with_sorry_is_no_refusal():
    async def ask(_):
        return [said(TRICKS.replace("Anna", "Dora"))]

    scribe = writer(ask)
    talk = {"outline": OUTLINE, "number": 0, "segments": ((("Anna", "Hi."),),)}
    assert asyncio.run(scribe.take("segment", [talk])) == []
    assert scribe.rows[0][:4] == ("leave", "pets", "unparsed", "absent speaker")
