"""Prompts come from plain files, a user's own in their place."""

import pytest

from tomlab import paths
from tomlab.asking.prompts import load
from tomlab.errors import InputError


@pytest.fixture
def root(tmp_path, monkeypatch):
    """A repository root of its own, so that a user's paths are read from there."""
    monkeypatch.setattr(paths, "ROOT", tmp_path)
    return tmp_path


def test_prompt_is_the_file_without_its_final_newline():
    assert load("bigtom/instruction") == (
        "Answer the questions based on the context. Keep your answer concise, few words are "
        "enough, maximum one sentence. Answer as 'Answer:<option>)<answer>'."
    )


def test_unknown_prompt_is_named_with_those_there_are():
    with pytest.raises(InputError, match=r"no prompt 'bigtom/instructions'; .*bigtom/instruction,"):
        load("bigtom/instructions")


def test_replacing_an_unknown_prompt_is_refused_even_when_another_is_loaded(root):
    with pytest.raises(InputError, match="no prompt 'bigtom/2-shot'"):
        load("bigtom/instruction", {"bigtom/2-shot": "mine.txt"})


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("How bad is it?", "expected {story} in it, found none"),
        ("{story} {mood}", "found {mood}, expected {story}"),
        ("{stroy}", "found {stroy}, expected {story}"),
        ("{ story }", "expected {story} in it, found none"),
        (" \n\n", "found nothing, expected some text"),
    ],
)
def test_users_file_has_the_fields_of_ours_and_no_others(root, text, said):
    (root / "mine.txt").write_text(text)
    with pytest.raises(InputError, match=r"prompt 'bigtom/labels': .*mine\.txt") as caught:
        load("bigtom/labels", {"bigtom/labels": "mine.txt"})
    assert said in str(caught.value)


def test_field_in_a_prompt_of_none_is_refused_and_other_braces_are_text(root):
    (root / "mine.txt").write_text('Answer as {"option": "a"}.')
    replaced = {"bigtom/instruction": "mine.txt"}
    assert load("bigtom/instruction", replaced) == 'Answer as {"option": "a"}.'
    (root / "mine.txt").write_text("Read {story}.")
    with pytest.raises(InputError, match=r"found \{story\}, expected no field"):
        load("bigtom/instruction", replaced)


def test_users_file_that_is_not_utf8_is_named(root):
    (root / "mine.txt").write_bytes(b"caf\xe9")
    with pytest.raises(InputError, match=r"mine\.txt: cannot be read: line 1: found the byte 0xe9"):
        load("bigtom/instruction", {"bigtom/instruction": "mine.txt"})
