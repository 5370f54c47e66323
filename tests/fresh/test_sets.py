"""Sets drawn from a seed: the file, its card, the command line."""

import json
from hashlib import sha256

import pytest

from tomlab.errors import InputError
from tomlab.fresh import __main__, items, sets

# What `SEED` draws, on any machine. Whoever changes it on purpose raises `stories.VERSION`, too.
HASH = "4ab7b323d4b6e5e7af7ceab87cd9d8a35556575a330b69bd68669ae02d8da61a"
SEED = "the seed of these tests"
OTHER_SEED = "a seed of another laboratory"


@pytest.fixture
def card(tmp_path):
    return sets.write_set(SEED, 20, tmp_path)


def test_a_set_is_its_seed_and_is_read_as_it_was_drawn(card):
    path = card.parent / sets.FILE
    assert sha256(path.read_bytes()).hexdigest() == HASH
    drawn = sets.drawn(SEED, 20)
    assert items.read_items(path).equals(items.table(drawn))
    assert sets.drawn(SEED, 23)[: 2 * 20] == drawn


# The command line


@pytest.fixture
def run(monkeypatch):
    """Runs a command with a seed in the environment; none if it is empty."""

    def start(*arguments, seed=SEED):
        monkeypatch.delenv("SEED_OF_A_TEST", raising=False)
        if seed:
            monkeypatch.setenv("SEED_OF_A_TEST", seed)
        return __main__.main([*map(str, arguments), "--seed-env", "SEED_OF_A_TEST"])

    return start


def test_a_card_does_not_say_the_seed_and_lets_its_holder_draw_again(run, tmp_path, capsys):
    assert run("draw", "--pairs", 10, "--out", tmp_path) == 0
    card = tmp_path / "fresh.card.json"
    assert SEED not in card.read_text()
    assert json.loads(card.read_text())["pairs"] == 10
    assert run("check", card) == 0
    assert run("check", card, seed=OTHER_SEED) == 1
    assert "fresh.jsonl: differs" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("pairs", "folder", "seed", "fault"),
    [
        (5, "new", "1234", "found 4 characters, expected 16 or more"),
        (5, "new", "", "SEED_OF_A_TEST"),
        (0, "new", SEED, "found 0, expected 1 or more"),
        (5, "taken", SEED, "taken"),
    ],
)
def test_a_set_that_cannot_be_drawn_is_refused(run, tmp_path, capsys, pairs, folder, seed, fault):
    (tmp_path / "taken").touch()
    assert run("draw", "--pairs", pairs, "--out", tmp_path / folder, seed=seed) == 1
    assert fault in capsys.readouterr().err
    assert not (tmp_path / "new").exists()


# Files that were changed


def test_a_set_that_was_changed_is_noticed(card):
    path = card.parent / sets.FILE
    path.write_text(path.read_text().replace(" was ", " is ", 1))
    with pytest.raises(InputError, match=r"fresh\.jsonl: differs"):
        sets.check(SEED, card)


@pytest.mark.parametrize("text", ["[1", '{"version": "7", "pairs": "many"}'])
def test_what_is_no_card_is_refused_with_its_name(text, card):
    card.write_text(text)
    with pytest.raises(InputError, match=card.name):
        sets.check(SEED, card)


# Ann enters where she is.
IMPOSSIBLE = {"people": ["Ann"], "present": ["Ann"], "things": {"flashlight": "tin"}}
IMPOSSIBLE["events"] = [{"kind": "enter", "who": "Ann"}]


@pytest.mark.parametrize(
    ("fields", "fault"),
    [
        ({"chain": ["Nobody"]}, "chain"),
        ({"order": 2}, "chain"),
        ({"answer": "In the sea."}, "answer: found 'In the sea.'"),
        ({"condition": "control"}, "condition"),
        ({"thing": "another thing"}, "thing"),
        ({"record": {"people": ["A"]}}, "record"),
        ({"record": IMPOSSIBLE}, r"record: event 1 \(enter\)"),
    ],
)
def test_a_line_that_does_not_fit_is_refused_with_line_and_field(fields, fault, card):
    path = card.parent / sets.FILE
    lines = path.read_text().splitlines()
    lines[2] = json.dumps(json.loads(lines[2]) | fields)
    path.write_text("\n".join(lines))
    with pytest.raises(InputError, match=f"(line 3|1-1-.*/0).*{fault}"):
        items.read_items(path)
