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


@pytest.mark.parametrize("replaced", [{}, {"bigtom/2-shot": "mine.txt"}])
def test_unknown_prompt_is_named_with_those_there_are(replaced):
    name = next(iter(replaced), "bigtom/instructions")
    with pytest.raises(InputError, match=rf"no prompt '{name}'; .*bigtom/instruction,"):
        load("bigtom/instruction" if replaced else name, replaced)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("How bad is it?", r"expected \{story\} in it, found none"),
        ("{story} {mood}", r"found \{mood\}, expected \{story\}"),
        ("{stroy}", r"found \{stroy\}, expected \{story\}"),
        ("{ story }", r"expected \{story\} in it, found none"),
        (" \n\n", "found nothing, expected some text"),
    ],
)
def test_users_file_has_the_fields_of_ours_and_no_others(root, text, message):
    (root / "mine.txt").write_text(text)
    with pytest.raises(InputError, match=rf"(?s)'bigtom/labels': .*mine\.txt.*{message}"):
        load("bigtom/labels", {"bigtom/labels": "mine.txt"})


def test_field_in_a_prompt_of_none_is_refused_and_other_braces_are_text(root):
    (root / "mine.txt").write_text('Answer as {"option": "a"}.')
    replaced = {"bigtom/instruction": "mine.txt"}
    assert load("bigtom/instruction", replaced) == 'Answer as {"option": "a"}.'
    (root / "mine.txt").write_text("Read {story}.")
    with pytest.raises(InputError, match=r"found \{story\}, expected no field"):
        load("bigtom/instruction", replaced)
