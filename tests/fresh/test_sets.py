"""Sets drawn from a seed: the file, its card, the command line."""

import json
from hashlib import sha256

import pytest

from tomlab.errors import InputError
from tomlab.fresh import __main__, items, sets

# What `SEED` draws, on any machine. Whoever changes it on purpose raises `stories.VERSION`, too.
HASH = "4ab7b323d4b6e5e7af7ceab87cd9d8a35556575a330b69bd68669ae02d8da61a"
SEED, OTHER_SEED = "the seed of these tests", "a seed of another laboratory"


def run(*arguments: str) -> int:
    return __main__.main([*arguments, "--seed-env", "SEED_OF_A_TEST"])


@pytest.fixture
def card(tmp_path):
    return sets.write_set(SEED, 20, tmp_path)


def test_what_is_written_is_read_as_it_was_drawn(card):
    table = items.read_items(card.parent / sets.FILE)
    assert table.equals(items.table(sets.drawn(SEED, 20)))


def test_a_set_is_its_seed(card):
    assert sha256((card.parent / sets.FILE).read_bytes()).hexdigest() == HASH


def test_a_longer_set_begins_with_the_shorter_one():
    assert sets.drawn(SEED, 23)[: 2 * 20] == sets.drawn(SEED, 20)


def test_two_seeds_have_no_story_in_common():
    stories = [{item.story for item in sets.drawn(seed, 300)} for seed in (SEED, OTHER_SEED)]
    assert not stories[0] & stories[1]


def test_a_card_does_not_say_the_seed_and_lets_its_holder_draw_again(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("SEED_OF_A_TEST", SEED)
    assert run("draw", "--pairs", "10", "--out", str(tmp_path)) == 0
    card = tmp_path / "fresh.card.json"
    assert SEED not in card.read_text()
    assert json.loads(card.read_text())["pairs"] == 10
    assert run("check", str(card)) == 0
    monkeypatch.setenv("SEED_OF_A_TEST", OTHER_SEED)
    assert run("check", str(card)) == 1
    assert "fresh.jsonl: differs" in capsys.readouterr().err


def test_a_seed_may_stand_in_a_file(tmp_path):
    (tmp_path / "seed").write_text(f"{SEED}\n")
    seed = ["--seed-file", str(tmp_path / "seed")]
    assert __main__.main(["draw", "--pairs", "3", "--out", str(tmp_path), *seed]) == 0
    assert __main__.main(["check", str(tmp_path / "fresh.card.json"), *seed]) == 0


def test_a_set_that_was_changed_is_noticed(card):
    path = card.parent / sets.FILE
    path.write_text(path.read_text().replace(" was ", " is ", 1))
    with pytest.raises(InputError, match=r"fresh\.jsonl: differs"):
        sets.check(SEED, card)


@pytest.mark.parametrize(
    "text", ["{}", "[1", "[]", '{"version": "4", "pairs": 1}', '{"version": "5", "pairs": "many"}']
)
def test_what_is_no_card_is_refused_with_its_name(text, card):
    card.write_text(text)
    with pytest.raises(InputError, match=card.name):
        sets.check(SEED, card)


def test_a_seed_is_there_and_not_to_be_guessed(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("SEED_OF_A_TEST", "1234")
    assert run("draw", "--out", str(tmp_path)) == 1
    assert "found 4 characters, expected 16 or more" in capsys.readouterr().err
    monkeypatch.delenv("SEED_OF_A_TEST")
    assert run("draw", "--out", str(tmp_path)) == 1
    assert "SEED_OF_A_TEST" in capsys.readouterr().err
    assert not [*tmp_path.iterdir()]


@pytest.mark.parametrize("pairs", ["0", "-3"])
def test_a_set_of_nothing_is_refused(pairs, tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("SEED_OF_A_TEST", SEED)
    assert run("draw", "--pairs", pairs, "--out", str(tmp_path)) == 1
    assert f"found {pairs}, expected 1 or more" in capsys.readouterr().err


def test_a_folder_that_is_a_file_is_named(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("SEED_OF_A_TEST", SEED)
    (tmp_path / "taken").touch()
    assert run("draw", "--pairs", "5", "--out", str(tmp_path / "taken")) == 1
    assert "taken" in capsys.readouterr().err


def changed_line(path, **fields):
    """The file with other fields in its third line."""
    lines = path.read_text().splitlines()
    lines[2] = json.dumps(json.loads(lines[2]) | fields)
    path.write_text("\n".join(lines))


def test_a_file_whose_key_does_not_follow_from_its_events_is_refused(card):
    path = card.parent / sets.FILE
    third = items.read_items(path).iloc[2]
    wrong = next(choice for choice in third["choices"] if choice != third["answer"])
    changed_line(path, answer=wrong)
    with pytest.raises(InputError, match=f"{third['item_id']}, field answer: found '{wrong}'"):
        items.read_items(path)


@pytest.mark.parametrize(
    ("fields", "found"),
    [
        ({"chain": ["Nobody"]}, "chain"),
        ({"thing": "another thing"}, "thing"),
        ({"order": "two"}, "order"),
        ({"choices": ["In the box."]}, "choices"),
        ({"containers": ["box", "bag", "tin"]}, "containers"),
        ({"answer": "In the sea."}, "answer"),
        ({"order": 2}, "chain"),
        ({"order": 9}, "order"),
        ({"condition": "control"}, "condition"),
        ({"extra": 1}, "extra"),
        ({"record": {"people": ["A"]}}, "record"),
    ],
)
def test_a_line_that_does_not_fit_is_refused_with_line_and_field(fields, found, card):
    path = card.parent / sets.FILE
    changed_line(path, **fields)
    with pytest.raises(InputError, match=f"(line 3|1-1-.*/0).*{found}"):
        items.read_items(path)


def test_events_that_cannot_happen_are_refused_with_the_item(card):
    path = card.parent / sets.FILE
    record = json.loads(path.read_text().splitlines()[2])["record"]
    entered = {"kind": "enter", "who": record["people"][0]}
    changed_line(path, record=record | {"events": [entered]})
    with pytest.raises(InputError, match=r"1-1-.*event 1 \(enter\)"):
        items.read_items(path)
