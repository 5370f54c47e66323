"""Sets drawn from a seed: minimal pairs, keys from events, what readers get, cards."""

import json
import re
from collections import Counter
from hashlib import sha256
from itertools import chain, combinations

import keys_omnitom
import pandas as pd
import pytest

from tomlab.benchmarks import bigtom as bigtom_benchmark
from tomlab.benchmarks import omnitom as omnitom_benchmark
from tomlab.benchmarks import simpletom as simpletom_benchmark
from tomlab.benchmarks.bigtom.items import templates
from tomlab.benchmarks.simpletom.items import stories
from tomlab.errors import InputError
from tomlab.fresh import __main__, bigtom, draw, omnitom, sets, simpletom
from tomlab.fresh import stories as stories_of_changes

# What `SEED` draws, on any machine. Whoever changes it on purpose raises `draw.VERSION`, too.
HASHES = {
    "bigtom": "d6ba9b27a85ae313056ae0126b8b856a2258e6024e11dfcdb7b5e36d4c03562c",
    "fantom": "1b44a9bb496e0aa837b40a5f37cbe904a1c6adf1ae461f4baabdea6242d45e6b",
    "omnitom": "e687141f421d561d85594c683e4b60651c83bff9591c3b992f313c78bb88d6f6",
    "simpletom": "548bd2a4a5bb5b694661e714e18c1f4080483826258ef0e80ced3f8b1818b8cc",
}
SEED, OTHER_SEED = "the seed of these tests", "a seed of another laboratory"


def words(text: str) -> Counter:
    return Counter(re.findall(r"\w+", text.lower()))


@pytest.fixture(scope="module")
def rows() -> dict[str, list[dict]]:
    return {view: sets.drawn(SEED, view, 40) for view in sets.VIEWS}


@pytest.mark.parametrize("view", sets.VIEWS)
def test_a_set_is_its_seed(view: str, rows: dict, tmp_path):
    module = sets.VIEWS[view]
    module.write(rows[view], tmp_path / "one")
    module.write(sets.drawn(SEED, view, 40), tmp_path / "two")
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()
    assert sha256((tmp_path / "one").read_bytes()).hexdigest() == HASHES[view]
    # A longer set begins with the shorter one.
    assert sets.drawn(SEED, view, 44)[:40] == rows[view]


def test_two_seeds_have_no_story_in_common():
    told_in = {
        "bigtom": "context",
        "fantom": "short_context",
        "omnitom": "story",
        "simpletom": "second_sentence",
    }
    for view, told in told_in.items():
        both = [{row[told] for row in sets.drawn(seed, view, 200)} for seed in (SEED, OTHER_SEED)]
        assert not both[0] & both[1], view


def test_no_two_nouns_of_a_place_share_a_word():
    for name, place in draw.WORDS["places"].items():
        nouns = [*place["spots"], *place["sides"], *place["things"]]
        shared = [(a, b) for a, b in combinations(nouns, 2) if words(a) & words(b)]
        # Things never stand side by side in a story.
        assert all({*pair} <= {*place["things"]} for pair in shared), name


def test_who_is_named_first_or_last_does_not_tell_who_knows():
    made = (stories_of_changes._WAYS, omnitom._TEXTS["who"], simpletom._TEXTS["who"])
    for kind, own in chain.from_iterable(each.items() for each in made):
        named = [re.findall("{([XY])}", told) for told in own["told"]]
        for place in (0, -1):
            assert Counter(each[place] for each in named)["X"] == len(named) / 2, kind
        assert all(each.count("X") == each.count("Y") for each in named), kind


def test_which_container_is_named_first_does_not_tell_where_the_thing_is():
    named = [re.findall("{(s[12])}", told)[0] for told in bigtom._TEXTS["fields"]["percept"]]
    assert Counter(named)["s1"] == len(named) / 2


def test_templates_have_the_structure_of_the_paper(rows: dict):
    assert [templates.structure_problems(row) for row in rows["bigtom"]] == [[]] * 40


def test_the_two_templates_of_a_pair_have_the_same_words(rows: dict):
    for one, two in zip(rows["bigtom"][::2], rows["bigtom"][1::2], strict=True):
        assert one["percept"] != two["percept"]
        for name in ("context", "percept", "causal_event", "aware_of_event", "random_event"):
            same_words_apart_from_containers = [
                words(row[name]) - words(row["words"]["s1"]) - words(row["words"]["s2"])
                for row in (one, two)
            ]
            assert same_words_apart_from_containers[0] == same_words_apart_from_containers[1]


def test_who_knows_and_who_does_not_is_told_in_the_same_words(rows: dict):
    for row in rows["bigtom"]:
        knows, misses = words(row["aware_of_event"]), words(row["not_aware_of_event"])
        assert row["aware_of_event"] != row["not_aware_of_event"]
        assert knows == misses


def test_every_condition_has_the_key_that_its_events_give(rows: dict):
    assert len(bigtom.items(rows["bigtom"])) == 40 * 25


def test_a_key_that_its_events_do_not_give_is_an_error(rows: dict):
    row = rows["bigtom"][0]
    with pytest.raises(InputError, match=f"{row['template_id']}/forward_belief/true_belief"):
        bigtom.items([{**row, "know": row["miss"]}])


def test_the_benchmarks_read_what_is_written(rows: dict, tmp_path):
    bigtom.write(rows["bigtom"], path := tmp_path / bigtom.FILE)
    assert len(bigtom_benchmark.read_released(path)) == 40 * 25
    omnitom.write(rows["omnitom"], path := tmp_path / omnitom.FILE)
    assert len(omnitom_benchmark.read_released(path)) == 40 * 2


def test_the_four_records_of_a_family_have_the_same_words(rows: dict):
    for at in range(0, 40, 4):
        counted = [words(row["story"]) for row in rows["omnitom"][at : at + 4]]
        apart = [(counted[0] - own) + (own - counted[0]) for own in counted]
        objects = words(" ".join(rows["omnitom"][at + i]["record"][0]["container"] for i in (0, 2)))
        assert all({*each} <= {*objects} for each in apart)
        assert len({row["story"] for row in rows["omnitom"][at : at + 4]}) == 4


def test_a_twin_has_the_words_of_a_story_in_which_somebody_else_is_told(rows: dict):
    for one, other in zip(rows["simpletom"][::2], rows["simpletom"][1::2], strict=True):
        twin = f"{stories.story_text(one)} {one['aware_sentence']}"
        assert words(twin) == words(stories.story_text(other))
        assert one["person_x"] == other["person_x"]
        # These are words of options, which a rule could look for in the story.
        assert not {"yes", "no", "not"} & {*words(twin)}


def test_simpletom_stories_are_kept_by_the_benchmarks_own_rules():
    drawn = sets.drawn(SEED, "simpletom", 400)
    problems = {row["story_id"]: found for row in drawn if (found := problems_of(row))}
    assert problems == {}
    assert len({(row["scenario"], row["unaware_action"].split()[0]) for row in drawn}) >= 12


def problems_of(row: dict) -> list[str]:
    """What keeps a story from the benchmark's format, or tells its options apart."""
    told = stories.story_table([row]).to_dict("records")[0]
    found, acts = stories.format_problems(told), [row["unaware_action"], row["aware_action"]]
    apart = [act.replace(row[name], "…") for act, name in zip(acts, ("s1", "s2"), strict=True)]
    named = [stories.story_text(row).count(row[name]) for name in ("s1", "s2")]
    found += [f"{acts}: differ in more than a place"] * (apart[0] != apart[1])
    return found + [f"{named}: expected both places once"] * (named != [1, 1])


def test_fresh_simpletom_is_read_asked_and_scored_by_the_benchmark(rows: dict, tmp_path):
    simpletom.write(rows["simpletom"], path := tmp_path / simpletom.FILE)
    items = simpletom_benchmark.compose(stories.read_stories(path))
    answers = []
    for method in ("none", "aware"):
        for item in simpletom_benchmark.asked(items, method).to_dict("records"):
            own = {"item_id": item["item_id"], "model": "gold", "method": method}
            gold = simpletom_benchmark.reference(item, method, 0)["gold"]
            answers.append(own | {"response": gold})
    scores = simpletom_benchmark.score(items, pd.DataFrame(answers))
    # Forty stories and twenty twins; three questions on each.
    assert (len(scores), scores["score"].mean()) == (180, 1)
    people = items[items["question_type"] == "mental_state"]
    assert people["question"].str.startswith("Is ").all()


@pytest.mark.parametrize("item", ["mental_state", "judgment:aware", "behavior"])
def test_a_simpletom_key_that_its_events_do_not_give_is_an_error(item: str, rows: dict):
    row = rows["simpletom"][0]
    planted = {"steps": row["steps"][::-1]}
    if item == "behavior":
        planted = {"unaware_action": row["aware_action"], "aware_action": row["unaware_action"]}
    with pytest.raises(InputError, match=f"{row['story_id']}/{item}: found"):
        simpletom.items([row | planted])


def test_gold_tables_are_those_that_possible_worlds_give(rows: dict):
    for row in rows["omnitom"]:
        assert [found for _, *found in keys_omnitom.omnitom(row) if found[0] != found[1]] == []


@pytest.mark.parametrize("view", sets.VIEWS)
def test_no_reader_does_well_that_sets_are_balanced_against(view: str, rows: dict):
    n = {"bigtom": 20, "fantom": 60, "omnitom": 100, "simpletom": 100}[view]
    results = sets.readers_of(view, sets.drawn(SEED, view, n))
    assert {"longer option", "words of question and options"} < {*results["reader"]}


def test_readers_that_tell_versions_are_told_but_refuse_no_set():
    results = sets.readers_of("fantom", sets.drawn(SEED, "fantom", 60))
    near = results[results["reader"] == "who speaks near the fact knows"]
    assert near["value"].eq(1).all()
    assert not near["is_balanced"].any()


def test_a_set_with_a_shortcut_is_refused_by_the_name_of_the_reader(rows: dict):
    def denied(row: dict) -> dict:
        agent = row["agent"]
        return {
            **row,
            "aware_of_event": f"{agent} sees it.",
            "not_aware_of_event": f"{agent} does not.",
        }

    # Nor do the causal events name the old container, so that the new one stands out.
    shortcut = [
        denied(row) | {"context": f"{row['agent']} is there.", "percept": f"{row['agent']} is in."}
        for row in rows["bigtom"]
    ]
    for row in shortcut:
        row["causal_event"] = f"Somebody puts it into the {row['words']['s2']}."
    with pytest.raises(InputError, match="negation, new words before it gets"):
        sets.readers_of("bigtom", shortcut)


def test_tables_whose_wording_gives_the_truth_away_are_refused():
    rows = sets.drawn(SEED, "omnitom", 100)
    for belief in (belief for row in rows for belief in row["beliefs"]):
        if belief["labels"]["truth_status"] == "False":
            belief["belief"] = belief["belief"].replace("is in", "lies in")
            belief["belief"] = belief["belief"].replace("takes", "holds")
    with pytest.raises(InputError, match="words of question and options gets"):
        sets.readers_of("omnitom", rows)


def test_too_few_questions_tell_nothing_of_readers(rows: dict):
    with pytest.raises(InputError, match=r"found 50 questions"):
        sets.readers_of("bigtom", rows["bigtom"][:2])


def run(*arguments: str) -> int:
    return __main__.main([*arguments, "--seed-env", "SEED_OF_A_TEST"])


def test_a_card_does_not_say_the_seed_and_lets_its_holder_draw_again(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("SEED_OF_A_TEST", SEED)
    assert run("draw", "--view", "omnitom", "--n", "100", "--out", str(tmp_path)) == 0
    card = tmp_path / "omnitom.card.json"
    assert SEED not in card.read_text()
    assert json.loads(card.read_text())["parameters"] == {"n": 100}
    assert run("check", str(card)) == 0

    monkeypatch.setenv("SEED_OF_A_TEST", OTHER_SEED)
    assert run("check", str(card)) == 1
    assert "omnitom.jsonl" in capsys.readouterr().err

    monkeypatch.setenv("SEED_OF_A_TEST", SEED)
    story = tmp_path / "omnitom.jsonl"
    story.write_text(story.read_text().replace(" is ", " was ", 1))
    assert run("check", str(card)) == 1
    card.write_text("{}")
    assert run("check", str(card)) == 1


def test_a_seed_is_there_and_not_to_be_guessed(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("SEED_OF_A_TEST", "1234")
    assert run("draw", "--view", "bigtom", "--out", str(tmp_path)) == 1
    assert "4 characters" in capsys.readouterr().err
    monkeypatch.delenv("SEED_OF_A_TEST")
    assert run("draw", "--view", "bigtom", "--out", str(tmp_path)) == 1
    assert "SEED_OF_A_TEST" in capsys.readouterr().err
    assert not [*tmp_path.iterdir()]


@pytest.mark.parametrize("n", ["0", "-3", "3"])
def test_a_set_of_too_few_is_refused_without_a_traceback(n: str, tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("SEED_OF_A_TEST", SEED)
    for view in sets.VIEWS:
        assert run("draw", "--view", view, "--n", n, "--out", str(tmp_path)) == 1
        assert view in capsys.readouterr().err


def test_a_folder_that_is_a_file_is_told(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("SEED_OF_A_TEST", SEED)
    (tmp_path / "taken").touch()
    assert run("draw", "--view", "bigtom", "--n", "20", "--out", str(tmp_path / "taken")) == 1
    assert "taken" in capsys.readouterr().err
