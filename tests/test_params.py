"""`params.yaml`: the file we ship holds together, and a broken one says what is wrong with it."""

from pathlib import Path

import pytest
from pydantic import BaseModel, Field, ValidationError

from tomlab import params
from tomlab.errors import InputError
from tomlab.models import specs
from tomlab.models.specs import Limits


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "params.yaml"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("run:\n  seed: [0\nmodels: {}\n", ".*line 3"),
        ("models:\n  mine: {api_key_env: sk-proj-Zq8vT4mW1nXc7bLs, [\n", ".*line 3"),
        ('run: !!int "x"\n', "invalid literal for int"),
        ("run: !!python/name:os.system\n", "could not determine a constructor .* in line 1"),
    ],
    ids=["form", "a key, which is not quoted", "number", "Python"],
)
def test_value_that_yaml_cannot_be_made_of_is_named(text, message, file):
    file.write_text(text)
    with pytest.raises(InputError, match=rf"params\.yaml: not YAML: .*{message}") as caught:
        params.load(file)
    assert "Zq8v" not in str(caught.value)


def test_what_is_no_file_is_named(tmp_path):
    (tmp_path / "loop.yaml").symlink_to("loop.yaml")
    for path in (tmp_path, tmp_path / "loop.yaml", tmp_path / "none.yaml"):
        with pytest.raises(InputError, match="cannot be read"):
            params.load(path)


def test_model_that_is_not_in_the_registry_is_named(file):
    file.write_text("run: {}\n")
    with pytest.raises(InputError, match="no model 'guess' under `models`"):
        specs.model("guess", file)


def test_limits_are_the_defaults_where_the_file_says_nothing(file):
    file.write_text("limits: {max_cost_usd: 5}\n")
    assert specs.limits(file) == Limits(max_cost_usd=5)
    file.write_text("run: {}\n")
    assert specs.limits(file) == Limits()


# Values that do not fit


class _Inner(BaseModel):
    size: int
    words: list[str] = Field(min_length=2)


class _Outer(BaseModel, extra="forbid"):
    parts: list[_Inner]


def test_what_pydantic_refuses_is_a_sentence_with_place_and_value():
    content = {"parts": [{"words": ["a"]}, {"size": "x", "words": ["a", "b"]}], "more": ""}
    with pytest.raises(ValidationError) as caught:
        _Outer.model_validate(content)
    assert [params.complaint(case) for case in caught.value.errors()] == [
        "field parts.0.size: found nothing, expected a value",
        "field parts.0.words: found ['a'], List should have at least 2 items after validation, not 1",
        "field parts.1.size: found 'x', expected a valid integer, unable to parse string as an integer",
        "field more: found '', expected no such field",
    ]


# Folders of kept answers


def kept_in(file: Path, *folders: str) -> Limits:
    file.write_text(f"run: {{answers: {[*folders]}}}\n")
    return specs.limits(file)


def test_no_answers_may_be_kept_yet(file, tmp_path, monkeypatch):
    monkeypatch.setattr("tomlab.paths.ROOT", tmp_path)
    assert [path.name for path in kept_in(file, params.ANSWERS).answers] == ["answers"]
    (tmp_path / "empty").mkdir()
    assert kept_in(file, str(tmp_path / "empty")).answers == (tmp_path / "empty",)


@pytest.mark.parametrize("wrong", ["answer", "run/bigtom", "", "run/bigtom/toy.parquet"])
def test_folder_where_answers_would_not_be_found_is_refused(wrong, file, tmp_path):
    (tmp_path / "run" / "bigtom").mkdir(parents=True)
    (tmp_path / "run" / "bigtom" / "toy.parquet").touch()
    assert kept_in(file, str(tmp_path / "run")).answers == (tmp_path / "run",)
    with pytest.raises(InputError, match=r"run.answers.*\n.*0: .*expected a folder that is there"):
        kept_in(file, str(tmp_path / wrong))
