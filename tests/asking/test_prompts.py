"""Prompts come from plain files, a user's own in their place, and a hash tells them apart."""

from hashlib import sha256

import pytest

from tomlab import paths
from tomlab.asking.prompts import load, prompt_hash
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


def test_users_file_takes_the_place_of_ours(root):
    (root / "mine.txt").write_text("Pick one:\n\nAnswer: …\n", encoding="utf-8")
    assert load("bigtom/instruction", {"bigtom/instruction": "mine.txt"}) == (
        "Pick one:\n\nAnswer: …"
    )


def test_users_absolute_path_is_taken_as_it_is(tmp_path):
    (tmp_path / "mine.txt").write_text("Pick one.", encoding="utf-8")
    replaced = {"bigtom/instruction": str(tmp_path / "mine.txt")}
    assert load("bigtom/instruction", replaced) == "Pick one."


def test_other_prompts_stay_ours_when_one_is_replaced(root):
    (root / "mine.txt").write_text("Pick one.", encoding="utf-8")
    replaced = {"bigtom/instruction": "mine.txt"}
    assert load("bigtom/instruction-cot", replaced) == load("bigtom/instruction-cot")


def test_byte_order_mark_and_crlf_are_no_part_of_a_prompt(root):
    (root / "mine.txt").write_bytes(b"\xef\xbb\xbfOne.\r\nTwo.\r\n")
    assert load("bigtom/instruction", {"bigtom/instruction": "mine.txt"}) == "One.\nTwo."


def test_unknown_prompt_is_named_with_those_there_are():
    with pytest.raises(InputError, match=r"no prompt 'bigtom/instructions'; .*bigtom/instruction,"):
        load("bigtom/instructions")


def test_replacing_an_unknown_prompt_is_refused_even_when_another_is_loaded(root):
    with pytest.raises(InputError, match="no prompt 'bigtom/2-shot'"):
        load("bigtom/instruction", {"bigtom/2-shot": "mine.txt"})


def test_missing_users_file_is_named_with_its_prompt(root):
    with pytest.raises(InputError, match=r"prompt 'bigtom/instruction': .*mine\.txt: cannot be"):
        load("bigtom/instruction", {"bigtom/instruction": "mine.txt"})


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


def test_hash_is_the_beginning_of_sha256():
    assert prompt_hash("Pick one.") == sha256(b"Pick one.").hexdigest()[:12]


def test_hash_changes_with_any_text_and_with_where_one_ends():
    hashes = {
        prompt_hash("ab", "c"),
        prompt_hash("a", "bc"),
        prompt_hash("abc"),
        prompt_hash("c", "ab"),
        prompt_hash("ab", "c", ""),
    }
    assert len(hashes) == 5
