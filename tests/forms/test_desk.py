"""Templates written together with a model: what is kept, whose words it is said to be."""

import asyncio

import pytest

from bigtom_templates import MEI
from tomlab import params
from tomlab.benchmarks.bigtom.items import templates
from tomlab.errors import InputError
from tomlab.forms import desk as desks
from tomlab.models.specs import Reply, Response
from tomlab.paths import DATA

pytestmark = pytest.mark.skipif(
    not (DATA / "bigtom" / "templates.csv").is_file(), reason="data is missing: `make data`"
)
WRITTEN = templates.written_out(MEI)


@pytest.fixture
def desk(tmp_path, monkeypatch):
    path = tmp_path / "templates.csv"
    path.write_text(",".join(templates.OWN_FORM.columns) + "\n", encoding="utf-8")
    content = params.load()
    content["bigtom"]["generation"]["own"] = str(path)
    monkeypatch.setattr(params, "load", lambda *_: content)

    def make():
        made = desks.Desk()
        made.author.value = "Ana"
        return made

    return make


def written(desk, monkeypatch, text, **settings):
    """Have a model write `text`; what it was asked."""
    asked = []

    async def answer(requests, model, **_):
        asked.extend(requests)
        replies = [Reply(text, "stop")] * len(requests)
        return [Response(str(n), reply) for n, reply in enumerate(replies)]

    monkeypatch.setattr(desks, "ask", answer)
    for name, value in settings.items():
        getattr(desk, name).value = value
    asyncio.run(desk._generate())
    return asked


def filled(desk, template=MEI):
    for name, field in desk.fields.items():
        field.value = template[name]
    return desk


def kept(desk):
    return templates.read_own(desk.path)


def test_what_is_typed_into_empty_fields_is_the_authors(desk):
    one = filled(desk())
    assert "finds no fault" in one.faults.value
    assert one.save() == "own-001"
    [row] = kept(one).to_dict("records")
    assert row == {**MEI, "template_id": "own-001", "source": "authored"}


def test_a_draft_is_the_models_until_a_word_is_changed(desk, monkeypatch):
    one = desk()
    written(one, monkeypatch, WRITTEN)
    assert one.save() == "own-001"
    assert kept(one)["source"].tolist() == ["llm:smollm2-135m"]
    one.fields["context"].value = "Mei dives for pearls."
    assert one.save() == "own-001"
    [row] = kept(one).to_dict("records")
    assert (row["source"], row["context"]) == ("edited:smollm2-135m", "Mei dives for pearls.")


def test_what_a_small_model_gets_right_stands_in_the_fields(desk, monkeypatch):
    one = desk()
    written(one, monkeypatch, "Context: Mei dives.\nNonsense.\nBelief: Mei hopes.\n")
    assert one.fields["context"].value == "Mei dives."
    assert one.fields["belief"].value == "Mei hopes."
    assert one.fields["desire"].value == ""
    assert "<li>desire: empty</li>" in one.faults.value
    said = complaint(one.save)
    assert said.startswith("not saved: found nothing in Desire, Percept, Causal event")
    assert kept(one).empty


def test_settings_go_into_the_request_and_later_drafts_are_others(desk, monkeypatch):
    one = desk()
    settings = {"about": "Write a story about a farm.", "warmth": 0.8, "count": 2, "limit": 50}
    first = written(one, monkeypatch, WRITTEN, **settings)
    later = written(one, monkeypatch, WRITTEN)
    assert {r.messages[-1]["content"] for r in first + later} == {"Write a story about a farm."}
    assert {(r.temperature, r.max_tokens) for r in first} == {(0.8, 50)}
    assert [r.sample for r in first + later] == [0, 1, 2, 3]
    assert len(one.draft.options) == 5


def test_a_saved_template_can_be_edited_later_and_numbers_are_not_used_twice(desk):
    filled(desk()).save()
    again = desk()
    assert again.draft.options[1][0] == "2. own-001: authored, 21 of 21 filled"
    again.draft.value = 1
    again.fields["desire"].value = "Mei wants a pearl."
    assert again.save() == "own-001"
    again.draft.value = 0
    assert filled(again).save() == "own-002"
    assert kept(again)[["template_id", "desire"]].to_numpy().tolist() == [
        ["own-001", "Mei wants a pearl."],
        ["own-002", MEI["desire"]],
    ]


def test_lines_and_signs_in_a_sentence_do_no_harm(desk):
    one = filled(desk(), {**MEI, "context": 'Mei,\nthe "diver" <b>dives</b>; =1+1.'})
    one.save()
    assert kept(one)["context"].tolist() == ['Mei, the "diver" <b>dives</b>; =1+1.']


def test_faults_are_told_as_filtering_finds_them_without_markup(desk):
    one = filled(desk(), {**MEI, "action_answer_aware": "Mei <i>will</i>. Or not."})
    assert "<li>action_answer_aware: 2 sentences instead of one</li>" in one.faults.value


@pytest.mark.parametrize(
    ("change", "told"),
    [({"author": " "}, "Author"), ({"belief_answer_not_aware": "She does."}, "Agent")],
    ids=["who", "agent"],
)
def test_what_is_missing_is_named_and_nothing_saved(desk, change, told):
    one = filled(desk())
    for name, text in change.items():
        (one.author if name == "author" else one.fields[name]).value = text
    assert complaint(one.save) == f"not saved: found nothing in {told}"
    assert kept(one).empty


def test_a_file_that_somebody_spoilt_is_left_alone(desk):
    one = filled(desk())
    one.path.write_text("template_id\nmine\n", encoding="utf-8")
    assert "row 1: missing columns source, agent" in complaint(one.save)
    assert one.path.read_text(encoding="utf-8") == "template_id\nmine\n"


def complaint(call):
    with pytest.raises(InputError) as caught:
        call()
    return str(caught.value)
