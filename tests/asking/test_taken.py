"""Logs of other harnesses: each format has the verdicts of the same answers in a run of ours.

`logs/` has what Inspect 0.3.285 and lm-evaluation-harness 0.4.13 wrote when they asked SmolLM2 on the
items beside them, without traces and paths. Files of the other formats are made as they document.
"""

import asyncio
import json
import os
from pathlib import Path

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fantom_sets
from one_cell import ran
from tomlab import paths
from tomlab.asking import evaluation, taken
from tomlab.benchmarks import bigtom, fantom, omnitom, simpletom
from tomlab.benchmarks.omnitom.items.records import DIMENSIONS
from tomlab.benchmarks.omnitom.scoring import Judge
from tomlab.errors import InputError
from tomlab.models import specs
from tomlab.models.providers import provider
from tomlab.pipeline import answers
from tomlab.records import logs, tidy
from tomlab.reporting.readings import readings
from tomlab.scoring.variants import variants

LOGS = Path(__file__).parent / "logs"
ITEMS = {b.NAME: tidy.read("items", LOGS / f"items_{b.NAME}.parquet") for b in (bigtom, simpletom)}
METHODS = {"bigtom": "0-shot", "simpletom": "none"}
VERDICT = ["item_id", "outcome", "score"]


def answered(benchmark, items, said, method, ended="stop"):
    """Verdicts on answers by item as a run of ours gives them."""
    rows = [{"item_id": name, "response": text} for name, text in said.items()]
    table = pd.DataFrame(rows).assign(model="ours", method=method, finish_reason=ended)
    return in_order(benchmark.score(items, table))


def in_order(scores):
    return scores[VERDICT].sort_values("item_id").reset_index(drop=True)


def read(benchmark, path, *, items=None, model="", method=""):
    items = ITEMS[benchmark.NAME] if items is None else items
    return taken.matched(benchmark, items, path, model, method)


def told(benchmark):
    """By item what the model said, read off the lines of lm-evaluation-harness."""
    lines = (LOGS / f"samples_tom_{benchmark.NAME}.jsonl").read_text("utf-8").splitlines()
    return {(row := json.loads(line))["doc"]["item_id"]: row["resps"][0][0] for line in lines}


def entries(path):
    return [*logs.read(path).entries]


def lines_of(path, rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    return path


@pytest.mark.parametrize("benchmark", [bigtom, simpletom], ids=lambda b: b.NAME)
def test_lm_eval_gets_the_verdicts_of_a_run_of_ours(benchmark):
    path, method = LOGS / f"samples_tom_{benchmark.NAME}.jsonl", METHODS[benchmark.NAME]
    table, lost = read(benchmark, path, model="smollm2", method=method)
    ours = answered(benchmark, ITEMS[benchmark.NAME], told(benchmark), method)
    assert lost == [] and len(table) == 20
    pd.testing.assert_frame_equal(in_order(benchmark.score(ITEMS[benchmark.NAME], table)), ours)
    assert {*table["harness"]} == {"lm-evaluation-harness"}
    assert json.loads(table["how"][0])["max_gen_toks"] in (20, 100)


@pytest.mark.parametrize(
    ("benchmark", "name"),
    [(bigtom, "bigtom.eval"), (simpletom, "simpletom.eval"), (bigtom, "bigtom.json")],
    ids=["bigtom", "simpletom", "json"],
)
def test_inspect_gets_the_verdicts_of_a_run_of_ours(benchmark, name):
    path, items = LOGS / f"inspect_{name}", ITEMS[benchmark.NAME]
    table, lost = read(benchmark, path)
    said = dict(zip(table["item_id"], table["response"], strict=True))
    assert lost == [] and len(table) == (6 if name.endswith("json") else 20)
    cut_off = [
        completion == 20 and benchmark is simpletom for completion in table["completion_tokens"]
    ]
    ended = ["length" if is_cut else "stop" for is_cut in cut_off]
    ours = answered(benchmark, items, said, METHODS[benchmark.NAME], ended)
    pd.testing.assert_frame_equal(in_order(benchmark.score(items, table)), ours)
    assert {*table["log_model"]} == {"openai-api/local/SmolLM2-135M-Instruct"}
    assert {*table["method"]} == {METHODS[benchmark.NAME]}
    assert {*table["finish_reason"]} <= {"stop", "length"}
    if benchmark is bigtom:  # which both harnesses asked alike
        assert said.items() <= told(bigtom).items()


def test_every_eval_ever_gets_the_verdicts_of_a_run_of_ours(tmp_path):
    items = ITEMS["bigtom"].set_index("item_id")
    rows = [
        {
            "schema_version": "0.2.1",
            "evaluation_id": "tom/1",
            "model_id": "HuggingFaceTB/SmolLM2-135M-Instruct",
            "evaluation_name": metric,
            "sample_id": name,
            "interaction_type": "single_turn",
            "input": {
                "raw": items.at[name, "story"],
                "reference": [],
                "choices": [*items.at[name, "choices"]],
            },
            "output": {"raw": [text]},
            "answer_attribution": [],
            "evaluation": {"score": 0.0, "is_correct": False},
            "token_usage": {"input_tokens": 9, "output_tokens": 2, "total_tokens": 11},
        }
        for name, text in told(bigtom).items()
        for metric in ("exact_match", "f1")  # a line for each
    ]
    path = lines_of(tmp_path / "x_samples.jsonl", rows)
    table, lost = read(bigtom, path, method="0-shot")
    assert lost == [] and len(table) == 20 and {*table["prompt_tokens"]} == {9}
    ours = answered(bigtom, ITEMS["bigtom"], told(bigtom), "0-shot")
    pd.testing.assert_frame_equal(in_order(bigtom.score(ITEMS["bigtom"], table)), ours)


def test_fantoms_code_gets_the_verdicts_of_a_run_of_ours(tmp_path, capsys):
    items = fantom.compose([fantom_sets.question_set()], 0)
    asked = fantom.asked(items, "short")
    rows, said = [], {}
    for number, item in enumerate(asked.to_dict("records")):
        shown = item | {"choices": [*item["choices"]][::-1]}  # the release has an order of its own
        [message] = fantom.messages(shown, "short")
        said[item["item_id"]] = item["answer"]
        if len(item["choices"]):
            said[item["item_id"]] = f"({fantom.KEYS[shown['choices'].index(item['answer'])]})"
        rows.append({"index": number, "input_prompt": message["content"]})
        rows[-1]["response"] = said[item["item_id"]]
    path = lines_of(tmp_path / "model_responses_short_input_gpt-4-0613_cot-False.jsonl", rows)
    table, lost = read(fantom, path, items=items, model="gpt-4-0613", method="short")
    assert lost == [] and {*table["model"]} == {"gpt-4-0613"} and {*table["method"]} == {"short"}
    assert sorted(table["item_id"]) == sorted(asked["item_id"])
    scores = fantom.score(items, table, embedder=None)
    assert {*scores["score"]} == {1.0}
    # The pages name the letters that the log showed, too.
    ran("3_evaluation", "fantom", "cell-08", items=items, responses=table, scores=scores)
    item = items[items["question_type"].eq("belief_choice")].iloc[0]
    shown = capsys.readouterr().out
    assert f"The right answer is {said[item['item_id']]} {item['answer']}" in shown
    assert "The answer names the right option" in shown
    cards = readings(fantom, items, table, scores, n=len(table)).loc[item["item_id"]]
    assert [*cards["rule"]] == ["names the right option"]


def test_simpletoms_code_gets_the_verdicts_of_a_run_of_ours(tmp_path):
    items, said = ITEMS["simpletom"], told(simpletom)
    anthropic = {"model": "claude", "stop_reason": "end_turn", "usage": {"input_tokens": 5}}
    openai = {"model": "claude", "usage": {"prompt_tokens": 5}}
    rows = []
    for number, item in enumerate(items.to_dict("records")):
        text = said[item["item_id"]]
        chat = [{"message": {"content": text}, "finish_reason": "stop"}]
        output = anthropic | {"content": [{"text": text}]} if number % 2 else openai
        output = output if number % 2 else output | {"choices": chat}
        prompt = simpletom.messages(item, "none")[1]["content"]
        rows.append({"prompt": prompt, "id": item["item_id"], "llm_output": output})
    path = lines_of(tmp_path / "simpletom_stories_claude_subset_all_limit_2_cot_false.jsonl", rows)
    table, lost = read(simpletom, path, method="none")
    ours = answered(simpletom, items, said, "none")
    assert lost == [] and {*table["model"]} == {"claude"} and {*table["prompt_tokens"]} == {5}
    pd.testing.assert_frame_equal(in_order(simpletom.score(items, table)), ours)


def as_csv(path, items, said, **columns):
    rows = [{"item_id": i["item_id"], "answer": said[i["item_id"]]} for i in items]
    pd.DataFrame(rows).assign(**columns).to_csv(path, index=False)
    return path


def test_options_in_an_order_of_the_logs_own_decide_what_letters_mean(tmp_path):
    items = ITEMS["bigtom"].to_dict("records")
    said = {i["item_id"]: f"Answer: {'ba'[[*i['choices']].index(i['answer'])]})" for i in items}
    listed = [json.dumps([*i["choices"]][::-1]) for i in items]
    path = as_csv(tmp_path / "mine.csv", items, said, options=listed, model="m", method="0-shot")
    table, lost = read(bigtom, path)
    scores = bigtom.score(ITEMS["bigtom"], table)
    assert lost == [] and {*scores["outcome"]} == {"correct"}
    assert scores["chosen"].tolist() == [i["answer"] for i in items]


def test_what_the_prompt_lists_comes_before_what_the_log_lists(tmp_path):
    """A solver of Inspect may shuffle the options of a sample in the prompt alone."""
    [item] = ITEMS["bigtom"].head(1).to_dict("records")
    own = [*item["choices"]]
    prompts = [f"{item['story']}\na) {own[1]}\nb) {own[0]}", item["story"], item["story"]]
    listed = [own, own[::-1], ["others", "than ours"]]
    table = pd.DataFrame({"prompt": prompts, "options": map(json.dumps, listed), "answer": "a)"})
    table.assign(item_id=item["item_id"]).to_csv(tmp_path / "x.csv", index=False)
    table, lost = read(bigtom, tmp_path / "x.csv", model="m", method="0-shot")
    assert table["options_shown"].tolist() == [json.dumps(own[::-1])] * 2
    assert len(lost) == 1 and "row 6" in lost[0] and "other options" in lost[0]


def test_letters_without_options_are_refused(tmp_path):
    items = ITEMS["bigtom"].to_dict("records")
    path = as_csv(tmp_path / "mine.csv", items, told(bigtom), model="m", method="0-shot")
    table, lost = read(bigtom, path)
    assert table.empty and len(lost) == 20
    assert "row 2" in lost[0] and "options" in lost[0]


def test_items_are_found_by_story_and_question_whatever_the_white_space(tmp_path):
    items = ITEMS["simpletom"]
    table = items[["story", "question"]].assign(model="m", method="none")
    table["story"] = "  " + table["story"].str.replace(" ", "\n ")
    table["options"] = [json.dumps([*each]) for each in items["choices"]]
    table["answer"] = items["item_id"].map(told(simpletom))
    table.to_csv(tmp_path / "mine.csv", index=False)
    found, lost = read(simpletom, tmp_path / "mine.csv")
    assert lost == [] and found["item_id"].tolist() == items["item_id"].tolist()


def test_an_id_of_another_version_of_an_item_is_no_match():
    items = ITEMS["bigtom"].copy()
    items.loc[items.index[3], "story"] = "Zsombor is a baker."
    table, lost = read(bigtom, LOGS / "inspect_bigtom.eval", items=items)
    assert len(table) == 19 and len(lost) == 1 and items["item_id"].iloc[3] in lost[0]


def test_log_likelihoods_are_verdicts_alone(tmp_path):
    line = json.loads((LOGS / "samples_tom_bigtom.jsonl").read_text("utf-8").splitlines()[0])
    line |= {"resps": [[["-1.5", "False"]], [["-2.5", "True"]]], "acc": 1.0}
    path = lines_of(tmp_path / "samples.jsonl", [line])
    table, _ = read(bigtom, path, model="m", method="0-shot")
    assert table["response"].isna().all() and table["verdict"].tolist() == [True]
    line.pop("acc")
    with pytest.raises(InputError, match=r"line 1.*resps"):
        read(bigtom, lines_of(path, [line]), model="m", method="0-shot")


def test_verdicts_by_likelihood_need_no_prompt_of_ours(tmp_path):
    told = ITEMS["simpletom"][["item_id"]].assign(model="m", method="likelihood", verdict="true")
    told.to_csv(tmp_path / "mine.csv", index=False)
    found, lost = read(simpletom, tmp_path / "mine.csv")
    assert lost == [] and found["verdict"].eq(True).all() and len(found) == len(told)


@pytest.fixture
def run(tmp_path, monkeypatch):
    """A run with the items of the logs, and the command that takes logs into its folder."""
    monkeypatch.setattr(paths, "RESULTS", tmp_path / "results")
    for name, items in ITEMS.items():
        tidy.write(items, "items", paths.result("items", name))

    def take(*files, benchmark="bigtom", more=()):
        order = ["take", *map(str, files), "--benchmark", benchmark, "--to", str(tmp_path / "own")]
        return answers.main([*order, *more])

    return take


def test_a_model_that_was_asked_elsewhere_is_evaluated_like_any_other(run, tmp_path):
    assert run(LOGS / "inspect_bigtom.eval") == 0
    entry = {"provider": "taken", "model": "SmolLM2", "folder": str(tmp_path / "own")}
    spec = specs.model_spec("elsewhere", {"elsewhere": entry})
    questions = evaluation.plan(bigtom, ITEMS["bigtom"], spec, ["0-shot", "1-shot"], orders=2)
    table = asyncio.run(evaluation.evaluate(bigtom, questions, spec))
    assert len(table) == 20 and {*table["model"]} == {"elsewhere"} and {*table["asked_as"]} == {""}
    metrics = bigtom.metrics(bigtom.score(ITEMS["bigtom"], table))
    [right] = metrics.query("metric == 'outcome_rate' and condition == 'correct'")["value"]
    ours = answered(bigtom, ITEMS["bigtom"], told(bigtom), "0-shot")
    assert right == ours["score"].mean()
    assert (
        tidy.read("responses", tmp_path / "own" / "bigtom.parquet")["log_sha256"]
        .str.len()
        .eq(64)
        .all()
    )


@pytest.mark.parametrize("place", ["", ".", "./", str(paths.ROOT), "a file/own", "/proc/own"])
def test_a_place_that_answers_cannot_go_to_is_named(place, run, tmp_path, capsys):
    (tmp_path / "a file").touch()
    if place.startswith("a file"):
        place = str(tmp_path / place)
    before = {*paths.ROOT.iterdir()}
    assert run(LOGS / "inspect_bigtom.eval", more=["--to", place]) == 1
    said = capsys.readouterr().err
    assert (place or "--to") in said and "Traceback" not in said
    assert {*paths.ROOT.iterdir()} == before


def test_a_log_without_a_benchmark_is_an_error_that_names_the_option(capsys):
    path = LOGS / "inspect_bigtom.eval"
    assert answers.main(["take", str(path), "--to", "mine"]) == 1
    said = capsys.readouterr().err
    assert str(path) in said and "--benchmark" in said


def test_it_cannot_be_asked(tmp_path):
    entry = {"provider": "taken", "model": "SmolLM2", "folder": str(tmp_path)}
    with pytest.raises(InputError, match=r"models\.elsewhere"):
        provider(specs.model_spec("elsewhere", {"elsewhere": entry}))


def test_verdicts_alone_become_scores_that_are_marked_and_kept_apart(run, tmp_path, capsys):
    items = ITEMS["bigtom"]
    verdicts = items[["item_id"]].assign(model="m", method="0-shot", verdict="true")
    verdicts.loc[0, "verdict"] = "false"
    verdicts.to_csv(tmp_path / "theirs.csv", index=False)
    assert run(tmp_path / "theirs.csv") == 0
    assert not (tmp_path / "own" / "bigtom.parquet").exists()
    scores = tidy.read("scores", tmp_path / "own" / "bigtom_verdicts.parquet")
    assert scores["score"].sum() == 19 and {*scores["harness"]} == {"CSV"}
    assert {"accuracy", "tb_and_fb"} <= {*bigtom.metrics(scores)["metric"]}


def test_too_many_that_fit_no_item_are_an_error_that_names_them(run, tmp_path, capsys):
    rows = (LOGS / "samples_tom_bigtom.jsonl").read_text("utf-8").splitlines(keepends=True)
    other = json.loads(rows[4])
    other["doc"] |= {"item_id": "nobody", "story": "Another story."}
    other["arguments"]["gen_args_0"]["arg_0"] = ["Another prompt."]
    path = tmp_path / "samples.jsonl"
    path.write_text("".join(rows[:4]) + json.dumps(other) + "\n" + "".join(rows[5:]), "utf-8")
    declared = ["--model", "m", "--method", "0-shot"]
    assert run(path, more=declared) == 1
    said = capsys.readouterr().err
    assert "1 of 20" in said and f"{path}: line 5: 'nobody'" in said
    assert not (tmp_path / "own").exists()
    assert run(path, more=[*declared, "--unmatched", "0.05"]) == 0
    assert "line 5: 'nobody'" in capsys.readouterr().out
    assert len(tidy.read("responses", tmp_path / "own" / "bigtom.parquet")) == 19


def test_a_second_answer_to_an_item_is_an_error_unless_it_has_a_number(run, tmp_path, capsys):
    assert run(LOGS / "inspect_bigtom.eval") == 0
    assert run(LOGS / "inspect_bigtom.eval") == 1
    said = capsys.readouterr().err
    assert "inspect_bigtom.eval" in said and "authored-001/forward_belief/true_belief/0" in said
    lines = (LOGS / "samples_tom_bigtom.jsonl").read_text("utf-8").splitlines()
    row = json.loads(lines[0])
    row["resps"] = [["a) one", "b) another"]]  # `repeats: 2`
    path = lines_of(tmp_path / "samples.jsonl", [row])
    table, _ = read(bigtom, path, model="m", method="0-shot")
    assert table["sample"].tolist() == [0, 1]


def test_two_logs_with_both_orders_are_one_that_was_asked_with_swapped_options(run, tmp_path):
    items = ITEMS["bigtom"].to_dict("records")
    for log in (0, 1):
        # Every other item of the first log is in our order, and so are the others of the second;
        # the second lacks the last item.
        own = items if log == 0 else items[:-1]
        shown = [[*i["choices"]][:: 1 if n % 2 == log else -1] for n, i in enumerate(own)]
        keys = ["ab"[s.index(i["answer"])] for i, s in zip(own, shown, strict=True)]
        said = {i["item_id"]: f"{key}) it" for i, key in zip(own, keys, strict=True)}
        listed = [json.dumps(each) for each in shown]
        path = as_csv(tmp_path / f"{log}.csv", own, said, options=listed)
        assert run(path, more=["--model", "m", "--method", "0-shot"]) == 0
    entry = {"provider": "taken", "model": "m", "folder": str(tmp_path / "own")}
    spec = specs.model_spec("elsewhere", {"elsewhere": entry})
    questions = evaluation.plan(bigtom, ITEMS["bigtom"], spec, ["0-shot"], orders=2)
    assert [q.asked_as for q in questions] == ["", "reversed"] * 19 + [""]
    table = asyncio.run(evaluation.evaluate(bigtom, questions, spec))
    # What counts has one number, so that items pair; what was shown in one order alone counts.
    assert {*table.query("asked_as == ''")["sample"]} == {0}
    scores = bigtom.score(ITEMS["bigtom"], table)
    varied = variants(scores, ITEMS["bigtom"], "group_id").set_index("metric")["value"]
    assert scores["score"].eq(1).all() and varied["same_answer"] == 1
    assert varied["first_option"] == 0.5


def test_a_log_of_several_models_needs_a_name(tmp_path):
    items = ITEMS["bigtom"].to_dict("records")
    models = ["one", "two"] * 10
    listed = [json.dumps([*i["choices"]]) for i in items]
    path = as_csv(tmp_path / "m.csv", items, told(bigtom), model=models, options=listed)
    with pytest.raises(InputError, match=r"m\.csv.*'one', 'two'.*--model"):
        read(bigtom, path, method="0-shot")
    assert {*read(bigtom, path, model="two", method="0-shot")[0]["model"]} == {"two"}
    with pytest.raises(InputError, match="--method"):
        read(bigtom, path, model="two")


def faulty(tmp_path, kind):
    """A file that is no whole log, and what its error has to name."""
    path = tmp_path / "log"
    if kind == "cut archive":
        path = path.with_suffix(".eval")
        path.write_bytes((LOGS / "inspect_bigtom.eval").read_bytes()[:9000])
        return path, [str(path)]
    if kind == "cut line":
        path = path.with_suffix(".jsonl")
        path.write_text((LOGS / "samples_tom_bigtom.jsonl").read_text("utf-8")[:500], "utf-8")
        return path, [str(path), "line 1"]
    if kind == "cut json":
        path = path.with_suffix(".json")
        path.write_text((LOGS / "inspect_bigtom.json").read_text("utf-8")[:5000], "utf-8")
        return path, [str(path)]
    if kind == "other fields":
        return lines_of(path.with_suffix(".jsonl"), [{"a": 1}]), ["line 1", "'a'"]
    if kind == "wrong type":
        rows = (LOGS / "samples_tom_bigtom.jsonl").read_text("utf-8").splitlines()
        row = json.loads(rows[1])
        row["resps"] = [{"text": 5}]
        return lines_of(path.with_suffix(".jsonl"), [row]), ["line 1", "answer"]
    if kind == "other table":
        path = path.with_suffix(".csv")
        path.write_text("name,age\nAnn,5\n", "utf-8")
        return path, [str(path), "row 1", "answer"]
    if kind == "bad options":
        path = path.with_suffix(".csv")
        path.write_text('item_id,answer,options\na,b,"[Yes, No]"\n', "utf-8")
        return path, [str(path), "row 2", "options"]
    if kind == "picture":
        path = path.with_suffix(".png")
        path.write_bytes(b"\x89PNG")
        return path, [str(path), ".eval"]
    if kind == "missing":
        return path.with_suffix(".eval"), [str(path)]
    path = path.with_suffix(".csv")
    path.write_bytes(b"item_id,answer\na,\xff\n")
    return path, [str(path), "line 2"]


KINDS = ["cut archive", "cut line", "cut json", "other fields", "wrong type"]
KINDS += ["other table", "bad options", "picture", "missing", "no UTF-8"]


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_no_whole_log_has_one_error_that_names_the_place(tmp_path, kind):
    path, named = faulty(tmp_path, kind)
    with pytest.raises(InputError) as raised:
        taken.matched(bigtom, ITEMS["bigtom"], path, "m", "0-shot")
    assert all(name in str(raised.value) for name in named), raised.value


def test_a_spoilt_part_of_an_archive_costs_its_answer(tmp_path):
    content = bytearray((LOGS / "inspect_bigtom.eval").read_bytes())
    content[300:340] = b"\0" * 40
    (tmp_path / "log.eval").write_bytes(content)
    table, lost = read(bigtom, tmp_path / "log.eval")
    assert len(table) == 19 and len(lost) == 1 and "samples/" in lost[0]


# What a spreadsheet would take for a formula or spoilt is told apart in `records.files`.
CELLS = st.text(st.characters(codec="utf-8", exclude_characters="\0\r"), max_size=40)


@given(st.lists(CELLS.filter(lambda cell: cell[:1] not in ("'", "#", "E")), min_size=1, max_size=6))
def test_a_csv_gives_back_every_answer(tmp_path_factory, cells):
    path = tmp_path_factory.mktemp("csv") / "any.csv"
    rows = pd.DataFrame({"item_id": map(str, range(len(cells))), "answer": cells})
    rows.to_csv(path, index=False, lineterminator="\n")
    read_back = entries(path)
    assert [entry.answer for entry in read_back] == [[cell.strip()] for cell in cells]
    assert [entry.item_id for entry in read_back] == [*rows["item_id"]]


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3)
    ),
    max_leaves=6,
)
LINE = json.loads((LOGS / "samples_tom_bigtom.jsonl").read_text("utf-8").splitlines()[0])
SAMPLE = json.loads((LOGS / "inspect_bigtom.json").read_text("utf-8"))


@given(st.sampled_from([*LINE]), JSON)
def test_whatever_a_line_holds_it_is_read_or_refused(tmp_path_factory, name, value):
    path = lines_of(tmp_path_factory.mktemp("lines") / "x.jsonl", [LINE, LINE | {name: value}])
    try:
        entries(path)
    except InputError as error:
        assert str(path) in str(error)


@given(st.sampled_from(["eval", "plan", "samples", "id", "messages", "output", "epoch"]), JSON)
def test_whatever_a_log_of_inspect_holds_it_is_read_or_refused(tmp_path_factory, name, value):
    log = SAMPLE | {name: value} if name in SAMPLE else SAMPLE
    if name not in SAMPLE:
        log = SAMPLE | {"samples": [SAMPLE["samples"][0] | {name: value}]}
    path = tmp_path_factory.mktemp("logs") / "x.json"
    path.write_text(json.dumps(log), "utf-8")
    try:
        entries(path)
    except InputError as error:
        assert str(path) in str(error)


def documented(name):
    """A function that docs/logs.md prints."""
    found = {}
    text = (paths.ROOT / "docs" / "logs.md").read_text("utf-8")
    exec(text.split("```python\n")[1].split("```")[0], found)  # noqa: S102 - ours
    return found[name]


def test_bigtoms_code_gives_verdicts_and_letters_that_mean_nothing(tmp_path):
    items = ITEMS["bigtom"].query("variable == 'forward_belief' and initial_belief == 0")
    folder = "0_forward_belief_true_belief"
    named = "gpt-4_0.0_0shot_belief_true_belief_0_200.csv"
    rows = {
        f"conditions/{folder}/stories.csv": items[["story", "question", "answer", "reality"]],
        f"results/{folder}/prediction_{named}": ["a) it"] * len(items),
        f"results/{folder}/accuracy_{named}": ["True", *["False"] * (len(items) - 1)],
    }
    for name, table in rows.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        pd.DataFrame(table).to_csv(tmp_path / name, sep=";", index=False, header=False)
    for kind in ("accuracy", "prediction"):
        table = documented("bigtom")(tmp_path / "results" / folder / f"{kind}_{named}")
        table.to_csv(tmp_path / f"{kind}.csv", index=False)
    table, lost = read(bigtom, tmp_path / "accuracy.csv", model="gpt-4", method="0-shot")
    assert lost == [] and taken.scores(items, table)["score"].sum() == 1
    assert table["item_id"].tolist() == items["item_id"].tolist()
    table, lost = read(bigtom, tmp_path / "prediction.csv", model="gpt-4", method="0-shot")
    assert table.empty and len(lost) == len(items)


def test_omnitoms_code_gets_the_verdicts_of_a_run_of_ours(tmp_path):
    labels = dict.fromkeys(DIMENSIONS, "") | {"order": "1", "truth_status": "True"}
    labels |= {"knowledge_access": "Private", "representation": "Explicit", "context": "Neutral"}
    labels |= {"content_type": "Location", "mental_source": "Perception"}
    belief = {"actor": "Ann", "belief": "The ball is in the box.", "labels": labels}
    record = {"story_id": 7, "story_category": "False Belief Task", "story": "Ann sees a ball."}
    items = omnitom.compose([record | {"beliefs": [belief], "source": "authored"}])
    said = {}
    for item in items.to_dict("records"):
        stage, method = item["item_id"].partition("/")[2], "stage1-L3"
        part = {"extraction": "extraction", "labelling": "labeling"}[stage]
        method = "stage1-L3" if part == "extraction" else "stage2-L3"
        said[item["item_id"]] = omnitom.reference(item, method, 0)["gold"], method
        path = tmp_path / part / "raw" / "story_007.txt"
        path.parent.mkdir(parents=True)
        sent = f"SYSTEM PROMPT:\nExtract.\n\nUSER PROMPT:\n{item['story']}"
        path.write_text(f"{sent}\n\nOUTPUT:\n{said[item['item_id']][0]}\n", "utf-8")
    (tmp_path / "manifest.json").write_text('{"model": "gpt-5"}', "utf-8")
    documented("omnitom")(tmp_path).to_csv(tmp_path / "omnitom.csv", index=False)
    table, lost = read(omnitom, tmp_path / "omnitom.csv", items=items)
    assert lost == [] and {*table["model"]} == {"gpt-5"}
    rows = [{"item_id": n, "response": t, "method": m} for n, (t, m) in said.items()]
    ours = omnitom.score(items, pd.DataFrame(rows).assign(model="ours"), judge=Judge("exact"))
    theirs = omnitom.score(items, table, judge=Judge("exact"))
    pd.testing.assert_frame_equal(in_order(theirs), in_order(ours))
    assert {*theirs["score"]} == {1.0}


@pytest.mark.parametrize("name", ["inspect_0.3.50_epochs.eval", "inspect_0.3.120_epochs.json"])
def test_inspect_of_earlier_versions_with_thoughts_in_parts_and_epochs(name):
    table, lost = read(bigtom, LOGS / name, method="0-shot")
    assert lost == [] and len(table) == 10 and {*table["finish_reason"]} == {"stop"}
    assert table["response"].str.startswith("Answer: a)").all()
    assert sorted(table["sample"]) == [0] * 5 + [1] * 5


def test_failed_samples_and_a_log_that_reruns_only_those_are_one_run(run, tmp_path, capsys):
    assert run(LOGS / "inspect_failed.eval", LOGS / "inspect_rerun.eval") == 0
    table = tidy.read("responses", tmp_path / "own" / "bigtom.parquet")
    assert len(table) == 5 and table["response"].notna().all() and table["error"].isna().all()
    scores = bigtom.score(ITEMS["bigtom"], table)
    assert not scores["outcome"].eq("error").any()


@pytest.mark.parametrize("first", ["inspect_failed.eval", "inspect_rerun.eval"])
def test_a_rerun_supersedes_failures_whichever_log_is_taken_first(run, tmp_path, first):
    [second] = {"inspect_failed.eval", "inspect_rerun.eval"} - {first}
    assert run(LOGS / first) == 0 and run(LOGS / second) == 0
    table = tidy.read("responses", tmp_path / "own" / "bigtom.parquet")
    assert len(table) == 5 and table["response"].notna().all()


def of_eee(rows):
    """Lines as the converter of Every Eval Ever for Inspect writes them."""
    same = {"schema_version": "0.2.1", "evaluation_id": "tom/1", "model_id": "org/model"}
    same |= {"evaluation_name": "bigtom", "interaction_type": "single_turn", "messages": None}
    same |= {"evaluation": {"score": 0.0, "is_correct": False}, "token_usage": None, "error": None}
    return [same | row for row in rows]


def eee_row(item, text, **more):
    source = {"raw": item["story"], "reference": [], "choices": [*item["choices"]]}
    return {"sample_id": item["item_id"], "input": source, "output": {"raw": [text]}} | more


def test_epochs_of_every_eval_ever_are_repeats(tmp_path):
    items = ITEMS["bigtom"].head(3).to_dict("records")
    metadata = [{"stop_reason": "max_tokens", "epoch": str(epoch)} for epoch in (1, 2)]
    rows = [eee_row(item, "a) x", metadata=m) for item in items for m in metadata]
    path = lines_of(tmp_path / "x_samples.jsonl", of_eee(rows))
    table, lost = read(bigtom, path, method="0-shot")
    assert lost == [] and table["sample"].tolist() == [0, 1] * 3
    assert {*table["finish_reason"]} == {"length"}


def test_every_eval_ever_has_a_line_for_each_metric_of_one_answer(tmp_path):
    """As its converter for HELM writes them, with one name and several results."""
    item = ITEMS["bigtom"].iloc[0].to_dict()
    rows = [
        eee_row(item, "a) x", evaluation_result_id=metric, metadata=None) for metric in ("em", "f1")
    ]
    path = lines_of(tmp_path / "x_samples.jsonl", of_eee(rows))
    assert len(read(bigtom, path, method="0-shot")[0]) == 1
    table, _ = read(bigtom, lines_of(path, of_eee(rows[:1] * 2)), method="0-shot")
    assert len(table) == 2  # the same line twice is a second answer, which `take` refuses


def test_of_several_filters_the_answer_that_no_filter_changed_counts(tmp_path):
    item = ITEMS["bigtom"].iloc[0].to_dict()
    filtered = [
        eee_row(item, text, evaluation_name=f"t/{name}", metadata={"filter": name})
        for name, text in {"strict": "[invalid]", "none": "a) x"}.items()
    ]
    path = lines_of(tmp_path / "x_samples.jsonl", of_eee(filtered))
    assert read(bigtom, path, method="0-shot")[0]["response"].tolist() == ["a) x"]


def test_an_answer_of_several_turns_is_the_last_message(tmp_path):
    item = ITEMS["bigtom"].iloc[0].to_dict()
    messages = [{"role": "user", "content": "?"}, {"role": "assistant", "content": "b) y"}]
    row = eee_row(item, "", interaction_type="multi_turn", messages=messages) | {"output": None}
    path = lines_of(tmp_path / "x_samples.jsonl", of_eee([row]))
    assert read(bigtom, path, method="0-shot")[0]["response"].tolist() == ["b) y"]


def harness_lines(n=3):
    lines = (LOGS / "samples_tom_bigtom.jsonl").read_text("utf-8").splitlines()[:n]
    return [json.loads(line) for line in lines]


@pytest.mark.parametrize("has_field", [True, False], ids=["filter", "before the field filter"])
def test_lm_eval_with_two_filters_has_one_answer_for_each_document(tmp_path, has_field):
    rows = []
    for name in ("strict-match", "flexible-extract"):
        for line in harness_lines():
            row = line | {"filter": name, "filtered_resps": [name]}
            rows.append(row if has_field else {k: v for k, v in row.items() if k != "filter"})
    path = lines_of(tmp_path / "samples.jsonl", rows)
    table, lost = read(bigtom, path, model="m", method="0-shot")
    assert lost == [] and len(table) == 3
    assert table["response"].tolist() == [line["resps"][0][0] for line in harness_lines()]


def test_lm_eval_of_the_first_versions_is_one_list_with_plain_arguments(tmp_path):
    rows = harness_lines()
    for row in rows:
        [prompt], how = row.pop("arguments")["gen_args_0"].values()
        row["arguments"] = [[prompt, how]]
    path = tmp_path / "pretrained__m_tom.jsonl"
    path.write_text(json.dumps(rows, indent=2), "utf-8")
    table, lost = read(bigtom, path, model="m", method="0-shot")
    assert lost == [] and len(table) == 3 and table["how"].str.contains("max_gen_toks").all()


def test_log_likelihoods_whose_arguments_are_the_options_are_verdicts(tmp_path):
    [row] = harness_lines(1)
    options = {f"gen_args_{n}": {"arg_0": "prompt", "arg_1": f" {n}"} for n in (0, 1)}
    row |= {"arguments": options, "resps": [[["-1.5", "False"]], [["-2.5", "True"]]], "acc": 1.0}
    row["doc"].pop("story")
    path = lines_of(tmp_path / "samples.jsonl", [row])
    (entry,) = entries(path)
    assert entry.verdict is True and entry.answer == []


def test_simpletoms_file_of_the_responses_endpoint_is_read(tmp_path):
    items = ITEMS["simpletom"].to_dict("records")
    rows = []
    for item in items:
        summary = [{"type": "summary_text", "text": "Perhaps (B)."}]
        text = [{"type": "output_text", "text": "(A)", "annotations": [], "logprobs": []}]
        output = [
            {"id": "rs_1", "type": "reasoning", "summary": summary, "content": None},
            {"id": "msg_1", "type": "message", "role": "assistant", "content": text},
        ]
        usage = {"input_tokens": 7, "output_tokens": 3}
        told = {"model": "gpt-5", "output": output, "status": "completed", "usage": usage}
        told |= {"error": None, "incomplete_details": None}
        prompt = simpletom.messages(item, "none")[1]["content"]
        rows.append({"prompt": prompt, "correct": "A", "id": item["item_id"], "llm_output": told})
    path = lines_of(tmp_path / "simpletom_stories_gpt-5.jsonl", rows)
    table, lost = read(simpletom, path, method="none")
    assert lost == [] and {*table["response"]} == {"(A)"} and {*table["finish_reason"]} == {"stop"}


def test_results_of_a_batch_are_read_and_failed_requests_are_failed(tmp_path):
    items = fantom.compose([fantom_sets.question_set()], 0)
    free = [i["item_id"] for i in items.to_dict("records") if not len(i["choices"])][:3]
    message = {"role": "assistant", "content": "Linda knows.", "refusal": None}
    body = {"model": "gpt-4o", "choices": [{"message": message, "finish_reason": "stop"}]}
    responses = [
        {"response": {"status_code": 200, "body": body}, "error": None},
        {"response": None, "error": {"code": "batch_expired", "message": "It expired."}},
        {"response": {"status_code": 500, "body": {"error": {"message": "Oh."}}}, "error": None},
    ]
    rows = [{"id": "b", "custom_id": n} | r for n, r in zip(free, responses, strict=True)]
    path = lines_of(tmp_path / "batch_output.jsonl", rows)
    table, lost = read(fantom, path, items=items, model="gpt-4o", method="short")
    assert lost == []
    assert table["response"].iloc[0] == "Linda knows."
    assert table["error"].tolist()[1:] == ["It expired.", "Oh."]


def test_one_odd_row_costs_that_row_and_is_counted(run, tmp_path, capsys):
    items = ITEMS["bigtom"].to_dict("records")
    said = told(bigtom)
    path = as_csv(
        tmp_path / "mine.csv", items, said, options=[json.dumps([*i["choices"]]) for i in items]
    )
    lines = path.read_text("utf-8").splitlines()
    lines[3] = "only,two"
    lines[5] = lines[5].replace('"[""', '"[', 1)
    path.write_text("\n".join(lines) + "\n", "utf-8")
    assert run(path, more=["--model", "m", "--method", "0-shot"]) == 0
    out = capsys.readouterr().out
    assert "18 of 20" in out and "2 cannot be read" in out
    assert "row 4: found 2 fields, expected 3" in out and "row 6" in out


def test_a_repeat_beyond_any_count_costs_its_row(run, tmp_path, capsys):
    items = ITEMS["bigtom"].to_dict("records")
    options = [json.dumps([*item["choices"]]) for item in items]
    path = as_csv(tmp_path / "mine.csv", items, told(bigtom), options=options)
    lines = path.read_text("utf-8").splitlines()
    with_repeats = [
        f"{lines[0]},sample",
        f"{lines[1]},{10**30}",
        *(f"{line},0" for line in lines[2:]),
    ]
    path.write_text("\n".join(with_repeats) + "\n", "utf-8")
    assert run(path, more=["--model", "m", "--method", "0-shot"]) == 0
    out = capsys.readouterr().out
    assert "19 of 20" in out and "row 2" in out and "sample" in out


@pytest.mark.parametrize(
    "odd",
    [
        "not json",
        "[1, 2]",
        '"text"',
        "null",
        '{"doc_id": 9}',
        '{"a": "\\ud83d"}',
        '{"a": 1, "a": 2}',
    ],
)
def test_one_odd_line_costs_that_line(tmp_path, odd):
    lines = (LOGS / "samples_tom_bigtom.jsonl").read_text("utf-8").splitlines()
    for place in (0, 7):
        (tmp_path / "x.jsonl").write_text("\n".join([*lines[:place], odd, *lines[place:]]), "utf-8")
        table, lost = read(bigtom, tmp_path / "x.jsonl", model="m", method="0-shot")
        assert len(table) == 20 and len(lost) == 1 and f"line {place + 1}" in lost[0]


def test_an_answer_may_be_long_and_one_that_never_ended_costs_itself(tmp_path):
    items = ITEMS["bigtom"].head(3).to_dict("records")
    texts = ["a) x", f"a) x {'because ' * 20_000}", "a) " * 400_000]
    said = {i["item_id"]: text for i, text in zip(items, texts, strict=True)}
    options = [json.dumps([*i["choices"]]) for i in items]
    path = as_csv(tmp_path / "mine.csv", items, said, options=options)
    table, lost = read(bigtom, path, model="m", method="0-shot")
    assert table["response"].str.len().tolist() == [4, 160_004]
    assert len(lost) == 1 and "1,000,000" in lost[0] and len(lost[0]) < 400


def test_an_empty_cell_for_the_error_is_none_and_none_is_an_answer(tmp_path):
    items = ITEMS["bigtom"].head(4).to_dict("records")
    texts = ["None", "N/A", "", "a) x"]
    said = {i["item_id"]: text for i, text in zip(items, texts, strict=True)}
    options = [json.dumps([*i["choices"]]) for i in items]
    errors = ["", "None", "nan", "the server was down"]
    path = as_csv(tmp_path / "mine.csv", items, said, options=options, error=errors)
    table, lost = read(bigtom, path, model="m", method="0-shot")
    assert lost == [] and table["response"].tolist()[:3] == texts[:3]
    assert table["error"].isna().tolist() == [True, True, True, False]


@pytest.mark.parametrize("suffix", [".csv", ".jsonl", ".json", ".eval"])
def test_what_is_no_file_is_refused_at_once(tmp_path, suffix):
    pipe, folder, endless = (tmp_path / f"{name}{suffix}" for name in ("pipe", "folder", "endless"))
    os.mkfifo(pipe)
    folder.mkdir()
    endless.symlink_to("/dev/zero")
    for path, found in {pipe: "a pipe", folder: "a folder", endless: "a device"}.items():
        with pytest.raises(InputError, match=rf"{path}: cannot be read: found .*{found}"):
            read(bigtom, path, model="m", method="0-shot")


def test_a_log_without_a_method_names_the_option(tmp_path):
    with pytest.raises(InputError, match="--method with one of 0-shot"):
        read(bigtom, LOGS / "samples_tom_bigtom.jsonl", model="m")
