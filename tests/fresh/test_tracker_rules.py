"""Each rule of the story language on a story of its own."""

import pytest

from tomlab.errors import InputError
from tomlab.scoring.tracker import Event, Story, beliefs

PEOPLE = ("Ana", "Bo", "Cem")


def after(*events: Event, present: tuple[str, ...] = ("Ana", "Bo")) -> dict:
    """What chains take the place of the key to be; "tin" at the beginning."""
    story = Story(PEOPLE, present, {"key": "tin"}, events)
    return {chain: told["key"] for chain, told in beliefs(story).items()}


def moved(by: str = "Ana", to: str = "jar", **how) -> Event:
    return Event("move", by, "key", to, **how)


def said(by: str, value: str, *to: str, **how) -> Event:
    return Event("say", by, "key", value, to, **how)


def test_who_is_present_knows_and_knows_that_all_present_know():
    at = after()
    assert at[()] == at["Ana",] == at["Ana", "Bo", "Ana", "Bo"] == "tin"
    assert at["Cem",] is at["Ana", "Cem"] is at["Cem", "Ana"] is None


def test_a_move_reaches_those_who_see_it():
    at = after(Event("leave", "Bo"), moved())
    assert (at[()], at["Ana",], at["Bo",]) == ("jar", "jar", "tin")
    assert (at["Ana", "Bo"], at["Bo", "Ana"]) == ("tin", "tin")


def test_a_move_may_have_no_actor():
    assert after(moved(""))["Bo",] == "jar"


def test_who_comes_back_sees_what_happens_from_then_on_and_not_what_is_hidden():
    away = (Event("leave", "Bo"), moved(), Event("enter", "Bo"))
    assert after(*away)["Bo",] == "tin"
    assert after(*away, moved(to="bag"))["Ana", "Bo"] == "bag"


def test_who_is_distracted_misses_a_move_and_others_know_it():
    away = (Event("distract", "Bo"), moved(to="bag"))
    at = after(*away, Event("attend", "Bo"))
    assert (at["Bo",], at["Ana", "Bo"]) == ("tin", "tin")
    assert after(*away, Event("attend", "Bo"), moved())["Bo",] == "jar"


def test_who_looks_finds_out_and_an_onlooker_takes_her_to_see_what_he_believes():
    looked = (Event("leave", "Bo"), moved(), Event("enter", "Bo"), Event("look", "Bo", "key"))
    at = after(*looked)
    assert at["Bo",] == at["Ana", "Bo"] == "jar"
    # Bo saw nothing of the move: that Ana believes otherwise does not follow from looking.
    assert at["Bo", "Ana"] == "tin"


def test_who_peeks_finds_out_and_nobody_knows_of_it():
    at = after(Event("leave", "Bo"), moved(), Event("peek", "Bo", "key"))
    assert (at["Bo",], at["Ana", "Bo"]) == ("jar", "tin")


def test_who_watches_in_secret_is_not_known_to_have_seen_it():
    at = after(Event("leave", "Bo"), moved(secretly=("Bo",)))
    assert (at["Bo",], at["Bo", "Ana"], at["Ana", "Bo"], at["Bo", "Ana", "Bo"]) == (
        *("jar", "jar"),
        *("tin", "tin"),
    )


def test_who_is_told_while_away_believes_it_and_is_taken_to():
    at = after(Event("leave", "Bo"), moved(), said("Ana", "jar", "Bo"))
    assert at["Bo",] == at["Ana", "Bo"] == "jar"


def test_a_liar_is_taken_at_her_word_and_believes_nothing_of_it():
    at = after(moved(), said("Ana", "bag", "Cem"))
    assert (at["Ana",], at["Bo", "Ana"]) == ("jar", "jar")
    assert at["Cem",] == at["Cem", "Ana"] == at["Ana", "Cem"] == "bag"


def test_who_saw_all_changes_is_not_taken_in_by_a_lie():
    at = after(said("Ana", "bag", "Bo"))
    assert at["Bo",] == at["Bo", "Ana"] == at["Ana", "Bo"] == "tin"


def test_who_overhears_believes_what_is_said_and_nobody_knows_of_it():
    at = after(said("Ana", "bag", "Bo", secretly=("Cem",)))
    assert (at["Cem",], at["Cem", "Ana"], at["Ana", "Cem"]) == ("bag", "bag", None)


@pytest.mark.parametrize(
    ("event", "said"),
    [
        (Event("enter", "Ana"), "Ana"),
        (Event("leave", "Cem"), "Cem"),
        (Event("look", "Cem", "key"), "Cem"),
        (moved("Cem"), "Cem"),
        (moved(thing := "Dan"), thing),
        (Event("say", "Ana", "purse", "bag", ("Bo",)), "purse"),
        (said("Ana", "bag", "Ana"), "Ana"),
        (moved(secretly=("Bo",)), "Bo"),
        (Event("forget", "Ana"), "forget"),
    ],
)
def test_a_bad_event_is_refused_by_its_number(event: Event, said: str):
    with pytest.raises(InputError, match="event 2") as error:
        after(moved(to="bag"), event)
    assert said in str(error.value)
