"""Printed prompts are known by a hash: pasted ones are confirmed, others are not."""

import asyncio
import re
from hashlib import sha256
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from printed_texts import SEEDS, between, paper, printed
from tomlab import paths
from tomlab.asking import evaluation, prompts
from tomlab.asking.printed import confirmed, fingerprint, main, normalised, placeholders, published
from tomlab.benchmarks import bigtom, simpletom
from tomlab.errors import InputError
from tomlab.models.specs import model_spec
from tomlab.paths import DATA

pytestmark = pytest.mark.skipif(
    not (DATA / "published").is_dir(), reason="data/published is missing: `make data` pulls it"
)
PAPERS = pytest.mark.skipif(
    not SEEDS.is_dir(), reason="the papers' texts are not at ../shared/seeds"
)
TEXTS = printed() if SEEDS.is_dir() else []
EACH_PRINTED = pytest.mark.parametrize(
    "prompt", TEXTS, ids=lambda prompt: f"{prompt.name} ({prompt.version}, {prompt.place})"
)
MARKS = "*_`#\\-•>{} \n\t‘’“”´ʼ‐\u2011\u00ad\u200b\u0301eéanﬁ…1‴"
MARKED = st.text(st.sampled_from(MARKS) | st.characters(codec="utf-8"))
FEW = settings(max_examples=50)


@pytest.fixture
def root(tmp_path, monkeypatch):
    """A repository root of its own, so that a user's paths are read from there."""
    monkeypatch.setattr(paths, "ROOT", tmp_path)
    return tmp_path


def pasted(root: Path, name: str, text: str) -> dict[str, str]:
    """`run.prompts` with a file that holds a text."""
    (root / "pasted.txt").write_text(text, encoding="utf-8")
    return {name: "pasted.txt"}


def wording(root: Path, name: str, text: str) -> str:
    """What pages say of a text in a user's file."""
    [row] = prompts.origins([name], pasted(root, name, text)).to_dict("records")
    return row["prompt_wording"]


def text_of(name: str, version: str = "paper") -> str:
    """The text of a prompt that a paper prints once."""
    [text] = [t.text for t in TEXTS if (t.name, t.version) == (name, version)]
    return text


# The hashes


@PAPERS
def test_every_text_that_the_papers_print_has_its_hash_and_no_other_row_is_of_a_paper():
    rows = published().query("version != 'release'")
    on_record = {(row.name, row.version, row.place) for row in rows.itertuples(index=False)}
    assert on_record == {(text.name, text.version, text.place) for text in TEXTS}


@EACH_PRINTED
def test_printed_text_is_confirmed_and_a_changed_one_is_not(prompt, root):
    places = confirmed(prompt.name, prompt.text)
    assert f"{prompt.version}, {prompt.place}" in places.split("; ")
    assert wording(root, prompt.name, prompt.text) == prompts.AS_PRINTED
    assert confirmed("bigtom/labels", prompt.text) == ""

    words = max(re.split(r"\{.*?\}", prompt.text), key=len)
    changed = prompt.text.replace(words, re.sub("[aeiou]", "y", words, count=1))
    assert confirmed(prompt.name, changed) == ""

    # Quotes, line breaks and Markdown of a page.
    text = prompt.text.replace("'", "’").replace(" ", "\n", 3).replace("-", "\u2011")
    text = text.replace("fi", "ﬁ").replace("\n", "\r\n\r\n")
    assert confirmed(prompt.name, f"## {text}\u200b\n") == places


@PAPERS
def test_line_break_that_a_paper_prints_as_two_characters_is_a_line_break():
    answer = text_of("fantom/answer")
    assert confirmed("fantom/answer", answer.replace("\n", "\\n")) == "paper, App. A.2"


@PAPERS
def test_placeholders_may_have_the_papers_names_and_may_not_be_exchanged():
    leave = text_of("fantom/leave")
    theirs = leave.replace("{person}", "{leaving character}").replace("{reason}", "{why}")
    exchanged = leave.replace("{reason}", "{x}").replace("{subtopic}", "{reason}")
    assert confirmed("fantom/leave", leave) == "paper, App. A.1"
    assert confirmed("fantom/leave", theirs) == "paper, App. A.1"
    assert confirmed("fantom/leave", exchanged.replace("{x}", "{subtopic}")) == ""


@FEW
@given(MARKED, st.text("ab{}_ ", max_size=30))
def test_normalising_twice_changes_nothing_and_numbers_placeholders_in_their_order(text, braces):
    assert normalised(normalised(text)) == normalised(text)
    numbers = [str(number) for number, _ in enumerate(placeholders(braces), start=1)]
    assert placeholders(normalised(braces)) == numbers


@FEW
@given(st.lists(st.text("abcdefghij", min_size=1), min_size=1))
def test_words_are_the_same_however_they_are_marked_and_broken(words):
    marked = [f"**{word}**" if i % 3 else f"_{word}_" for i, word in enumerate(words)]
    assert normalised("\n> - ".join(marked)) == " ".join(words)


# Our own prompts


def test_prompt_in_our_wording_says_where_the_printed_one_is():
    names = ["bigtom/instruction", "fantom/facts", "techniques/likelihood"]
    origins = prompts.origins(names).set_index("prompt")
    assert origins["prompt_wording"].tolist() == [prompts.AS_PRINTED, prompts.OURS, prompts.OURS]
    assert origins["printed_in"].tolist()[1:] == ["paper, App. A.2", "not printed"]
    assert prompts.in_words(origins[1:]) == "Of 2 prompts, 2 are in our wording."
    assert prompts.in_words(origins[1:2]) == "This prompt is in our wording."


@PAPERS
def test_simpletom_asks_word_for_word_as_app_g1_prints():
    example = between(paper("simpletom"), "G.1 PATCHING", "G.2 GUIDING")
    example = "Given the following" + example.partition("Given the following")[2]
    reminder, question = example.split("Question:")[1:]
    question, first, second = re.split(r"\([AB]\)", question.partition("What is")[0])
    item = {
        "story": between(example, "Story:", "Question:").strip(),
        "question": question.strip(),
        "choices": [first.strip(), second.strip()],
        "reminder": f"Question:{reminder}",
    }
    messages = simpletom.messages(item, "ms-remind")
    assert normalised(messages[-1]["content"]) == normalised(example)


# Prompts of a user


@PAPERS
def test_users_file_with_a_change_is_another_wording_and_one_with_our_words_is_ours(root):
    facts = text_of("fantom/facts").replace("three", "four")
    assert wording(root, "fantom/facts", facts) == prompts.OTHER
    ours = prompts.load("fantom/facts")
    assert wording(root, "fantom/facts", f"{ours}\n") == prompts.OURS


@PAPERS
def test_printed_text_may_lack_a_placeholder_of_ours_and_no_other_text_may(root):
    text = text_of("bigtom/generation")
    replaced = pasted(root, "bigtom/generation", text)
    assert prompts.load("bigtom/generation", replaced) == text
    with pytest.raises(InputError, match=r"expected \{labels\} in it, found none"):
        prompts.load("bigtom/generation", pasted(root, "bigtom/generation", f"{text} Hurry."))


FEW_NAMES = f"paper,Fig. 1,story,{fingerprint('{story} {mood}')}"


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ("draft,Fig. 1,,ab", r"(?s)row 2, field version: found 'draft'.*field sha256: found 'ab'"),
        (FEW_NAMES, "field placeholders: found 1 names, expected 2"),
    ],
)
def test_wrong_file_of_hashes_is_named_with_row_and_field(row, message, tmp_path, monkeypatch):
    wrong = tmp_path / "prompts.csv"
    header = "name,benchmark,version,place,placeholders,sha256"
    wrong.write_text(f"{header}\nbigtom/labels,bigtom,{row}\n")
    monkeypatch.setattr("tomlab.asking.printed.PROMPTS", wrong)
    with pytest.raises(InputError, match=message):
        confirmed("bigtom/labels", "{story} {mood}")


def test_without_the_file_of_hashes_nothing_is_said_of_the_wording(tmp_path, monkeypatch):
    monkeypatch.setattr("tomlab.asking.printed.PROMPTS", tmp_path / "prompts.csv")
    origins = prompts.origins(["bigtom/instruction"])
    assert origins["prompt_wording"].tolist() == [prompts.NOT_COMPARED]


def test_hash_to_add_is_printed_with_the_placeholders(tmp_path, capsys):
    mine = tmp_path / "mine.txt"
    mine.write_text("Tell **{person}** of {topic}.", encoding="utf-8")
    assert main([str(mine)]) == 0
    out = capsys.readouterr().out
    assert "placeholders: person topic" in out
    assert f"sha256: {sha256(b'Tell {1} of {2}.').hexdigest()}" in out
    mine.write_text(prompts.load("bigtom/instruction"))
    assert main([str(mine)]) == 0
    assert "as printed: bigtom/instruction (release" in capsys.readouterr().out
    assert main([str(tmp_path / "lost.txt")]) == 1
    assert "lost.txt" in capsys.readouterr().err


# Responses


def test_responses_say_whose_words_were_sent(root):
    items = bigtom.read_released(DATA / "bigtom" / "bigtom.csv").head(25)
    spec = model_spec("mine", {"mine": {"provider": "baseline", "model": "random"}})
    own = pasted(root, "bigtom/instruction", "Choose.")
    wordings = []
    for method, replaced in [("0-shot", {}), ("1-shot", {}), ("0-shot", own)]:
        questions = evaluation.plan(bigtom, items, spec, [method])
        options = {"store": root / "s.sqlite", "replaced": replaced}
        responses = asyncio.run(evaluation.evaluate(bigtom, questions, spec, **options))
        wordings += [*responses["prompt_wording"].unique()]
    confirmed_wording = "as printed, confirmed"
    assert wordings == [confirmed_wording, f"{confirmed_wording}; our wording", "other wording"]
