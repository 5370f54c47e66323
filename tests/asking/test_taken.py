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
from hypothesis import given, settings
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
BIGTOM = ITEMS["bigtom"].to_dict("records")
METHODS = {"bigtom": "0-shot", "simpletom": "none"}
LINES = {
    name: (LOGS / f"samples_tom_{name}.jsonl").read_text("utf-8").splitlines() for name in METHODS
}
LINE = json.loads(LINES["bigtom"][0])
SAMPLE = json.loads((LOGS / "inspect_bigtom.json").read_text("utf-8"))


def answered(benchmark, items, texts, method):
    """Verdicts on answers by item as a run of ours gives them."""
    rows = [{"item_id": name, "response": text} for name, text in texts.items()]
    return in_order(benchmark.score(items, pd.DataFrame(rows).assign(model="ours", method=method)))


def in_order(scores):
    verdict = scores[["item_id", "outcome", "score"]]
    return verdict.sort_values("item_id", ignore_index=True)


def read(benchmark, path, *, items=None, model="m", method=None):
    items = ITEMS[benchmark.NAME] if items is None else items
    method = METHODS.get(benchmark.NAME) if method is None else method
    return taken.matched(benchmark, items, path, model, method)


def texts_of(benchmark):
    """By item what the model said, read off the lines of lm-evaluation-harness."""
    rows = map(json.loads, LINES[benchmark.NAME])
    return {row["doc"]["item_id"]: row["resps"][0][0] for row in rows}


def lines_of(path, rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    return path


def csv_of(path, items, texts, **columns):
    rows = [{"item_id": item["item_id"], "answer": text} for item, text in zip(items, texts)]  # noqa: B905
    listed = [json.dumps([*item["choices"]]) for item in items]
    pd.DataFrame(rows).assign(**{"options": listed, **columns}).to_csv(path, index=False)
    return path


# Verdicts


@pytest.mark.parametrize(
    ("benchmark", "name", "count"),
    [
        (bigtom, "samples_tom_bigtom.jsonl", 20),
        (simpletom, "samples_tom_simpletom.jsonl", 20),
        (bigtom, "inspect_bigtom.eval", 20),
        (bigtom, "inspect_bigtom.json", 6),
    ],
)
def test_a_log_gets_the_verdicts_of_a_run_of_ours(benchmark, name, count):
    items = ITEMS[benchmark.NAME]
    table, left_out = read(benchmark, LOGS / name)
    assert left_out == []
    assert len(table) == count
    texts = {
        item: text for item, text in texts_of(benchmark).items() if item in {*table["item_id"]}
    }
    ours = answered(benchmark, items, texts, METHODS[benchmark.NAME])
    pd.testing.assert_frame_equal(in_order(benchmark.score(items, table)), ours)
    assert {*table["method"]} == {METHODS[benchmark.NAME]}


def test_inspect_says_what_was_cut_off():
    table, left_out = read(simpletom, LOGS / "inspect_simpletom.eval")
    assert left_out == []
    assert {*table["finish_reason"]} == {"stop", "length"}
    assert table["finish_reason"].eq("length").equals(table["completion_tokens"].eq(20))


def eee(item=BIGTOM[0], text="a) x", **more):
    """A line as the converters of Every Eval Ever write them."""
    return {
        "schema_version": "0.2.1",
        "evaluation_id": "tom/1",
        "model_id": "m",
        "evaluation_name": "bigtom",
        "interaction_type": "single_turn",
        "messages": None,
        "evaluation": {"score": 0.0, "is_correct": False},
        "token_usage": {"input_tokens": 9, "output_tokens": 2, "total_tokens": 11},
        "error": None,
        "sample_id": item["item_id"],
        "input": {"raw": item["story"], "reference": [], "choices": [*item["choices"]]},
        "output": {"raw": [text]},
        **more,
    }


def epoch(number):
    return {"metadata": {"stop_reason": "max_tokens", "epoch": str(number)}}


TURNS = [{"role": "user", "content": "?"}, {"role": "assistant", "content": "b) y"}]
SAID = LINE["resps"][0][0]
[PROMPT], HOW = LINE["arguments"]["gen_args_0"].values()
WITHOUT_FILTER = {name: value for name, value in LINE.items() if name != "filter"}
WEIGHED = {"resps": [[["-1.5", "False"]], [["-2.5", "True"]]], "acc": 1.0}
OPTIONS = {f"gen_args_{n}": {"arg_0": "prompt", "arg_1": f" {n}"} for n in (0, 1)}
# By format: lines about one item, and what is read of them.
FORMATS = {
    "EEE": ([eee()], {"response": ["a) x"], "prompt_tokens": [9]}),
    "EEE, epochs": (
        [eee(**epoch(1)), eee(**epoch(2))],
        {"sample": [0, 1], "finish_reason": ["length"] * 2},
    ),
    "EEE, a line for each metric": (
        [eee(evaluation_name="exact_match"), eee(evaluation_name="f1")],
        {"response": ["a) x"]},
    ),
    "EEE, a result for each metric": (
        [eee(evaluation_result_id="em"), eee(evaluation_result_id="f1")],
        {"response": ["a) x"]},
    ),
    # The same line twice is a second answer, which `take` refuses.
    "EEE, twice": ([eee(), eee()], {"response": ["a) x"] * 2}),
    "EEE, filters": (
        [
            eee(text="[invalid]", evaluation_name="t/strict", metadata={"filter": "strict"}),
            eee(evaluation_name="t/none", metadata={"filter": "none"}),
        ],
        {"response": ["a) x"]},
    ),
    "EEE, turns": (
        [eee(interaction_type="multi_turn", messages=TURNS, output=None)],
        {"response": ["b) y"]},
    ),
    "lm-eval": ([LINE], {"response": [SAID], "harness": ["lm-evaluation-harness"]}),
    "lm-eval, repeats": (
        [LINE | {"resps": [["a) one", "b) another"]]}],
        {"response": ["a) one", "b) another"], "sample": [0, 1]},
    ),
    "lm-eval, filters": (
        [LINE | {"filter": name, "filtered_resps": [name]} for name in ("strict", "flexible")],
        {"response": [SAID]},
    ),
    "lm-eval, before the field filter": ([WITHOUT_FILTER] * 2, {"response": [SAID]}),
    "lm-eval, likelihoods": ([LINE | WEIGHED], {"response": [None], "verdict": [True]}),
    "lm-eval, options as arguments": (
        [LINE | WEIGHED | {"arguments": OPTIONS}],
        {"response": [None], "verdict": [True]},
    ),
    "results of a batch": (
        [
            {
                "id": "b",
                "custom_id": BIGTOM[0]["item_id"],
                "response": None,
                "error": {"code": "batch_expired", "message": "It expired."},
            },
            {
                "id": "b",
                "custom_id": BIGTOM[1]["item_id"],
                "response": {"status_code": 500, "body": {"error": {"message": "Oh."}}},
                "error": None,
            },
        ],
        {"error": ["It expired.", "Oh."], "response": [None] * 2},
    ),
}


@pytest.mark.parametrize(("rows", "columns"), FORMATS.values(), ids=FORMATS)
def test_lines_of_every_format_are_read(rows, columns, tmp_path):
    table, left_out = read(bigtom, lines_of(tmp_path / "x_samples.jsonl", rows))
    assert left_out == []
    for name, values in columns.items():
        assert table[name].replace({float("nan"): None}).tolist() == values


def test_lm_eval_of_the_first_versions_is_one_list_with_plain_arguments(tmp_path):
    path = tmp_path / "pretrained__m_tom.jsonl"
    path.write_text(json.dumps([LINE | {"arguments": [[PROMPT, HOW]]}], indent=2), "utf-8")
    table, left_out = read(bigtom, path)
    assert left_out == []
    assert table["how"].str.contains("max_gen_toks").all()


@pytest.mark.parametrize("name", ["inspect_0.3.50_epochs.eval", "inspect_0.3.120_epochs.json"])
def test_inspect_of_earlier_versions_with_thoughts_in_parts_and_epochs(name):
    table, left_out = read(bigtom, LOGS / name, model="")
    assert left_out == []
    assert table["response"].str.startswith("Answer: a)").all()
    assert sorted(table["sample"]) == [0] * 5 + [1] * 5


def test_fantoms_code_gets_the_verdicts_of_a_run_of_ours(tmp_path, capsys):
    items = fantom.compose([fantom_sets.question_set()], 0)
    rows = []
    texts = {}
    for number, item in enumerate(fantom.asked(items, "short").to_dict("records")):
        shown = item | {"choices": [*item["choices"]][::-1]}  # the release has an order of its own
        [message] = fantom.messages(shown, "short")
        text = item["answer"]
        if len(item["choices"]):
            text = f"({fantom.KEYS[shown['choices'].index(item['answer'])]})"
        texts[item["item_id"]] = text
        rows.append({"index": number, "input_prompt": message["content"], "response": text})
    path = lines_of(tmp_path / "model_responses_short_input_gpt-4-0613_cot-False.jsonl", rows)
    table, left_out = read(fantom, path, items=items, model="gpt-4-0613", method="short")
    assert left_out == []
    assert sorted(table["item_id"]) == sorted(texts)
    scores = fantom.score(items, table, embedder=None)
    assert scores["score"].eq(1).all()
    # The pages name the letters that the log showed, too.
    ran("3_evaluation", "fantom", "cell-08", items=items, responses=table, scores=scores)
    item = items[items["question_type"].eq("belief_choice")].iloc[0]
    shown = capsys.readouterr().out
    assert f"The right answer is {texts[item['item_id']]} {item['answer']}" in shown
    cards = readings(fantom, items, table, scores, n=len(table)).loc[item["item_id"]]
    assert [*cards["rule"]] == ["names the right option"]


def simpletom_outputs(text):
    """An answer as three endpoints give it."""
    summary = [{"type": "summary_text", "text": "Perhaps (B)."}]
    output = [
        {"id": "rs_1", "type": "reasoning", "summary": summary, "content": None},
        {"id": "msg_1", "type": "message", "content": [{"type": "output_text", "text": text}]},
    ]
    usage = {"input_tokens": 5, "output_tokens": 3}
    return [
        {"content": [{"text": text}], "stop_reason": "end_turn", "usage": usage},
        {
            "choices": [{"message": {"content": text}, "finish_reason": "stop"}],
            "usage": {"prompt_tokens": 5},
        },
        {"output": output, "status": "completed", "usage": usage, "error": None},
    ]


def test_simpletoms_code_gets_the_verdicts_of_a_run_of_ours(tmp_path):
    items = ITEMS["simpletom"]
    texts = texts_of(simpletom)
    rows = []
    for number, item in enumerate(items.to_dict("records")):
        output = simpletom_outputs(texts[item["item_id"]])[number % 3]
        prompt = simpletom.messages(item, "none")[1]["content"]
        llm_output = {"model": "claude", **output}
        rows.append({"prompt": prompt, "id": item["item_id"], "llm_output": llm_output})
    path = lines_of(tmp_path / "simpletom_stories_claude_subset_all_limit_2_cot_false.jsonl", rows)
    table, left_out = read(simpletom, path, model="")
    assert left_out == []
    assert {*table["model"]} == {"claude"}
    assert {*table["prompt_tokens"]} == {5}
    ours = answered(simpletom, items, texts, "none")
    pd.testing.assert_frame_equal(in_order(simpletom.score(items, table)), ours)


def documented(name):
    """A function that docs/logs.md prints."""
    functions = {}
    text = (paths.ROOT / "docs" / "logs.md").read_text("utf-8")
    exec(text.split("```python\n")[1].split("```")[0], functions)  # noqa: S102 - ours
    return functions[name]


def test_bigtoms_code_gives_verdicts_and_letters_that_mean_nothing(tmp_path):
    items = ITEMS["bigtom"].query("variable == 'forward_belief' and initial_belief == 0")
    folder = "0_forward_belief_true_belief"
    name = "gpt-4_0.0_0shot_belief_true_belief_0_200.csv"
    tables = {
        f"conditions/{folder}/stories.csv": items[["story", "question", "answer", "reality"]],
        f"results/{folder}/prediction_{name}": ["a) it"] * len(items),
        f"results/{folder}/accuracy_{name}": ["True", *["False"] * (len(items) - 1)],
    }
    for place, table in tables.items():
        (tmp_path / place).parent.mkdir(parents=True, exist_ok=True)
        pd.DataFrame(table).to_csv(tmp_path / place, sep=";", index=False, header=False)
    for kind in ("accuracy", "prediction"):
        table = documented("bigtom")(tmp_path / "results" / folder / f"{kind}_{name}")
        table.to_csv(tmp_path / f"{kind}.csv", index=False)
    table, left_out = read(bigtom, tmp_path / "accuracy.csv", model="gpt-4")
    assert left_out == []
    assert taken.scores(items, table)["score"].sum() == 1
    assert table["item_id"].tolist() == items["item_id"].tolist()
    table, left_out = read(bigtom, tmp_path / "prediction.csv", model="gpt-4")
    assert table.empty
    assert len(left_out) == len(items)


def test_omnitoms_code_gets_the_verdicts_of_a_run_of_ours(tmp_path):
    labels = dict.fromkeys(DIMENSIONS, "") | {"order": "1", "truth_status": "True"}
    labels |= {"knowledge_access": "Private", "representation": "Explicit", "context": "Neutral"}
    labels |= {"content_type": "Location", "mental_source": "Perception"}
    belief = {"actor": "Ann", "belief": "The ball is in the box.", "labels": labels}
    record = {"story_id": 7, "story_category": "False Belief Task", "story": "Ann sees a ball."}
    items = omnitom.compose([record | {"beliefs": [belief], "source": "authored"}])
    parts = {"extraction": ("extraction", "stage1-L3"), "labelling": ("labeling", "stage2-L3")}
    rows = []
    for item in items.to_dict("records"):
        part, method = parts[item["item_id"].partition("/")[2]]
        text = omnitom.reference(item, method, 0)["gold"]
        rows.append({"item_id": item["item_id"], "response": text, "method": method})
        path = tmp_path / part / "raw" / "story_007.txt"
        path.parent.mkdir(parents=True)
        sent = f"SYSTEM PROMPT:\nExtract.\n\nUSER PROMPT:\n{item['story']}"
        path.write_text(f"{sent}\n\nOUTPUT:\n{text}\n", "utf-8")
    (tmp_path / "manifest.json").write_text('{"model": "gpt-5"}', "utf-8")
    documented("omnitom")(tmp_path).to_csv(tmp_path / "omnitom.csv", index=False)
    table, left_out = read(omnitom, tmp_path / "omnitom.csv", items=items, model="", method="")
    assert left_out == []
    assert {*table["model"]} == {"gpt-5"}
    ours = omnitom.score(items, pd.DataFrame(rows).assign(model="ours"), judge=Judge("exact"))
    theirs = omnitom.score(items, table, judge=Judge("exact"))
    pd.testing.assert_frame_equal(in_order(theirs), in_order(ours))
    assert {*theirs["score"]} == {1.0}


# Which item, and which option


def test_options_in_an_order_of_the_logs_own_decide_what_letters_mean(tmp_path):
    texts = [f"Answer: {'ba'[[*i['choices']].index(i['answer'])]})" for i in BIGTOM]
    listed = [json.dumps([*item["choices"]][::-1]) for item in BIGTOM]
    table, left_out = read(bigtom, csv_of(tmp_path / "x.csv", BIGTOM, texts, options=listed))
    scores = bigtom.score(ITEMS["bigtom"], table)
    assert left_out == []
    assert scores["outcome"].eq("correct").all()
    assert scores["chosen"].tolist() == [item["answer"] for item in BIGTOM]


def test_what_the_prompt_lists_comes_before_what_the_log_lists(tmp_path):
    """A solver of Inspect may shuffle the options of a sample in the prompt alone."""
    own = [*BIGTOM[0]["choices"]]
    story = BIGTOM[0]["story"]
    prompts = [f"{story}\na) {own[1]}\nb) {own[0]}", story, story]
    listed = map(json.dumps, [own, own[::-1], ["others", "than ours"]])
    path = csv_of(tmp_path / "x.csv", BIGTOM[:1] * 3, ["a)"] * 3, prompt=prompts, options=[*listed])
    table, left_out = read(bigtom, path)
    assert table["options_shown"].tolist() == [json.dumps(own[::-1])] * 2
    assert len(left_out) == 1
    assert "other options" in left_out[0]


def test_letters_without_options_are_refused(tmp_path):
    path = csv_of(tmp_path / "x.csv", BIGTOM, texts_of(bigtom).values(), options="")
    table, left_out = read(bigtom, path)
    assert table.empty
    assert len(left_out) == 20
    assert "row 2" in left_out[0]


def test_items_are_found_by_story_and_question_whatever_the_white_space(tmp_path):
    items = ITEMS["simpletom"]
    table = items[["story", "question"]].assign(answer=items["item_id"].map(texts_of(simpletom)))
    table["story"] = "  " + table["story"].str.replace(" ", "\n ")
    table["options"] = [json.dumps([*options]) for options in items["choices"]]
    table.to_csv(tmp_path / "x.csv", index=False)
    matched, left_out = read(simpletom, tmp_path / "x.csv")
    assert left_out == []
    assert matched["item_id"].tolist() == items["item_id"].tolist()


def test_an_id_of_another_version_of_an_item_is_no_match():
    items = ITEMS["bigtom"].copy()
    items.loc[items.index[3], "story"] = "Zsombor is a baker."
    table, left_out = read(bigtom, LOGS / "inspect_bigtom.eval", items=items, model="")
    assert len(table) == 19
    assert items["item_id"].iloc[3] in left_out[0]


def test_verdicts_by_likelihood_need_no_prompt_of_ours(tmp_path):
    verdicts = ITEMS["simpletom"][["item_id"]].assign(method="likelihood", verdict="true")
    verdicts.to_csv(tmp_path / "x.csv", index=False)
    table, left_out = read(simpletom, tmp_path / "x.csv")
    assert left_out == []
    assert table["verdict"].tolist() == [True] * len(verdicts)


def test_a_log_of_several_models_needs_a_name_and_any_log_a_method(tmp_path):
    path = csv_of(tmp_path / "x.csv", BIGTOM, texts_of(bigtom).values(), model=["one", "two"] * 10)
    with pytest.raises(InputError, match=r"x\.csv.*'one', 'two'.*--model"):
        read(bigtom, path, model="")
    assert {*read(bigtom, path, model="two")[0]["model"]} == {"two"}
    with pytest.raises(InputError, match="--method with one of 0-shot"):
        read(bigtom, path, model="two", method="")


# Taken into a run


@pytest.fixture
def take(tmp_path, monkeypatch):
    """The command that takes logs into a run's folder, with the items of the logs."""
    monkeypatch.setattr(paths, "RESULTS", tmp_path / "results")
    for name, items in ITEMS.items():
        tidy.write(items, "items", paths.result("items", name))

    def take(*files, more=("--model", "m", "--method", "0-shot")):
        folder = str(tmp_path / "own")
        order = ["take", *map(str, files), "--benchmark", "bigtom", "--to", folder]
        return answers.main([*order, *more])

    return take


def responses_of(folder):
    return tidy.read("responses", folder / "own" / "bigtom.parquet")


def elsewhere(folder):
    entry = {"provider": "taken", "model": "SmolLM2", "folder": str(folder)}
    return specs.model_spec("elsewhere", {"elsewhere": entry})


def evaluated(folder, methods):
    """What a model was asked elsewhere, and its answers."""
    spec = elsewhere(folder / "own")
    questions = evaluation.plan(bigtom, ITEMS["bigtom"], spec, methods, orders=2)
    return questions, asyncio.run(evaluation.evaluate(bigtom, questions, spec))


def test_a_model_that_was_asked_elsewhere_is_evaluated_like_any_other(take, tmp_path):
    assert take(LOGS / "inspect_bigtom.eval", more=()) == 0
    _, table = evaluated(tmp_path, ["0-shot", "1-shot"])
    assert len(table) == 20
    assert {*table["model"]} == {"elsewhere"}
    assert {*table["asked_as"]} == {""}
    metrics = bigtom.metrics(bigtom.score(ITEMS["bigtom"], table))
    [right] = metrics.query("metric == 'outcome_rate' and condition == 'correct'")["value"]
    ours = answered(bigtom, ITEMS["bigtom"], texts_of(bigtom), "0-shot")
    assert right == ours["score"].mean()
    assert responses_of(tmp_path)["log_sha256"].str.len().eq(64).all()
    with pytest.raises(InputError, match=r"models\.elsewhere"):
        provider(elsewhere(tmp_path))


def test_verdicts_alone_become_scores_that_are_marked_and_kept_apart(take, tmp_path):
    verdicts = ITEMS["bigtom"][["item_id"]].assign(verdict="true")
    verdicts.loc[0, "verdict"] = "false"
    verdicts.to_csv(tmp_path / "theirs.csv", index=False)
    assert take(tmp_path / "theirs.csv") == 0
    assert not (tmp_path / "own" / "bigtom.parquet").exists()
    scores = tidy.read("scores", tmp_path / "own" / "bigtom_verdicts.parquet")
    assert scores["score"].sum() == 19
    assert {*scores["harness"]} == {"CSV"}
    assert {"accuracy", "tb_and_fb"} <= {*bigtom.metrics(scores)["metric"]}


def test_too_many_that_fit_no_item_are_an_error_that_names_them(take, tmp_path, capsys):
    rows = [json.loads(line) for line in LINES["bigtom"]]
    rows[4]["doc"] |= {"item_id": "nobody", "story": "Another story."}
    rows[4]["arguments"]["gen_args_0"]["arg_0"] = ["Another prompt."]
    path = lines_of(tmp_path / "samples.jsonl", rows)
    declared = ["--model", "m", "--method", "0-shot"]
    assert take(path, more=declared) == 1
    said = capsys.readouterr().err
    assert "1 of 20" in said
    assert f"{path}: line 5: 'nobody'" in said
    assert not (tmp_path / "own").exists()
    assert take(path, more=[*declared, "--unmatched", "0.05"]) == 0
    assert "line 5: 'nobody'" in capsys.readouterr().out
    assert len(responses_of(tmp_path)) == 19


def test_a_second_answer_to_an_item_is_an_error(take, capsys):
    assert take(LOGS / "inspect_bigtom.eval", more=()) == 0
    assert take(LOGS / "inspect_bigtom.eval", more=()) == 1
    assert "authored-001/forward_belief/true_belief/0" in capsys.readouterr().err


def test_two_logs_with_both_orders_are_one_that_was_asked_with_swapped_options(take, tmp_path):
    for log in (0, 1):
        # Every other item of the first log is in our order, and so are the others of the second;
        # the second lacks the last item.
        items = BIGTOM[: len(BIGTOM) - log]
        shown = [[*i["choices"]][:: 1 if n % 2 == log else -1] for n, i in enumerate(items)]
        keys = ["ab"[s.index(i["answer"])] for i, s in zip(items, shown, strict=True)]
        texts = [f"{key}) it" for key in keys]
        listed = [json.dumps(options) for options in shown]
        assert take(csv_of(tmp_path / f"{log}.csv", items, texts, options=listed)) == 0
    questions, table = evaluated(tmp_path, ["0-shot"])
    assert [q.asked_as for q in questions] == ["", "reversed"] * 19 + [""]
    # What counts has one number, so that items pair; what was shown in one order alone counts.
    assert {*table.query("asked_as == ''")["sample"]} == {0}
    scores = bigtom.score(ITEMS["bigtom"], table)
    varied = variants(scores, ITEMS["bigtom"], "group_id").set_index("metric")["value"]
    assert scores["score"].eq(1).all()
    assert varied["same_answer"] == 1
    assert varied["first_option"] == 0.5


@pytest.mark.parametrize("order", [1, -1], ids=["failed first", "rerun first"])
def test_a_rerun_supersedes_failures_whichever_log_is_taken_first(take, tmp_path, order):
    for name in ["inspect_failed.eval", "inspect_rerun.eval"][::order]:
        assert take(LOGS / name, more=()) == 0
    table = responses_of(tmp_path)
    assert len(table) == 5
    assert table["response"].notna().all()
    assert table["error"].isna().all()


@pytest.mark.parametrize("place", ["", ".", str(paths.ROOT), "/proc/own"])
def test_a_place_that_answers_cannot_go_to_is_named(place, take, capsys):
    assert take(LOGS / "inspect_bigtom.eval", more=["--to", place]) == 1
    said = capsys.readouterr().err
    assert (place or "--to") in said
    assert "Traceback" not in said


def test_a_log_without_a_benchmark_is_an_error_that_names_the_option(capsys):
    assert answers.main(["take", str(LOGS / "inspect_bigtom.eval"), "--to", "mine"]) == 1
    assert "--benchmark" in capsys.readouterr().err


# Faults


def test_odd_rows_cost_themselves_and_are_counted(take, tmp_path, capsys):
    path = csv_of(tmp_path / "x.csv", BIGTOM, texts_of(bigtom).values(), sample=0)
    lines = path.read_text("utf-8").splitlines()
    lines[1] = lines[1].removesuffix("0") + str(10**30)
    lines[3] = "only,two"
    lines[5] = lines[5].replace('"[""', '"[', 1)
    path.write_text("\n".join(lines) + "\n", "utf-8")
    assert take(path) == 0
    out = capsys.readouterr().out
    assert "17 of 20" in out
    assert "3 cannot be read" in out
    assert "row 2" in out
    assert "row 4: found 2 fields, expected 4" in out
    assert "row 6" in out


ODD = ["not json", "[1, 2]", "null", '{"doc_id": 9}', '{"a": "\\ud83d"}', '{"a": 1, "a": 2}']


@pytest.mark.parametrize("odd", ODD)
@pytest.mark.parametrize("place", [0, 7])
def test_one_odd_line_costs_that_line(tmp_path, odd, place):
    lines = [*LINES["bigtom"][:place], odd, *LINES["bigtom"][place:]]
    (tmp_path / "x.jsonl").write_text("\n".join(lines), "utf-8")
    table, left_out = read(bigtom, tmp_path / "x.jsonl")
    assert len(table) == 20
    assert len(left_out) == 1
    assert f"line {place + 1}" in left_out[0]


def test_a_spoilt_part_of_an_archive_costs_its_answer(tmp_path):
    content = bytearray((LOGS / "inspect_bigtom.eval").read_bytes())
    content[300:340] = b"\0" * 40
    (tmp_path / "log.eval").write_bytes(content)
    table, left_out = read(bigtom, tmp_path / "log.eval", model="")
    assert len(table) == 19
    assert "samples/" in left_out[0]


def test_answers_may_be_long_or_none_and_one_that_never_ended_costs_itself(tmp_path):
    texts = ["None", "N/A", "", "a) x", f"a) x {'because ' * 20_000}", "a) " * 400_000]
    errors = ["", "None", "nan", "the server was down", "", ""]
    path = csv_of(tmp_path / "x.csv", BIGTOM[:6], texts, error=errors)
    table, left_out = read(bigtom, path)
    assert table["response"].tolist()[:3] == texts[:3]
    assert table["response"].str.len().iloc[4] == 160_004
    assert table["error"].isna().tolist() == [True, True, True, False, True]
    assert len(left_out) == 1
    assert "1,000,000" in left_out[0]


CUT_LINE = LINES["bigtom"][0][:500].encode()
WRONG_TYPE = json.dumps(LINE | {"resps": [{"text": 5}]}).encode()
NO_VERDICT = json.dumps(LINE | {"resps": WEIGHED["resps"]}).encode()
FAULTY = {
    "cut archive": (".eval", (LOGS / "inspect_bigtom.eval").read_bytes()[:9000], ""),
    "cut line": (".jsonl", CUT_LINE, "line 1"),
    "cut json": (".json", (LOGS / "inspect_bigtom.json").read_bytes()[:5000], ""),
    "other fields": (".jsonl", b'{"a": 1}', "line 1.*'a'"),
    "wrong type": (".jsonl", WRONG_TYPE, "line 1.*answer"),
    "likelihoods without a verdict": (".jsonl", NO_VERDICT, "line 1.*resps"),
    "other table": (".csv", b"name,age\nAnn,5\n", "row 1.*answer"),
    "bad options": (".csv", b'item_id,answer,options\na,b,"[Yes, No]"\n', "row 2.*options"),
    "picture": (".png", b"\x89PNG", r"\.eval"),
    "no UTF-8": (".csv", b"item_id,answer\na,\xff\n", "line 2"),
    "missing": (".eval", None, ""),
}


@pytest.mark.parametrize(("suffix", "content", "told"), FAULTY.values(), ids=FAULTY)
def test_what_is_no_whole_log_has_one_error_that_names_the_place(tmp_path, suffix, content, told):
    path = tmp_path / f"log{suffix}"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(InputError, match=rf"(?s){path}.*{told}"):
        read(bigtom, path)


@pytest.mark.parametrize("suffix", [".csv", ".jsonl", ".json", ".eval"])
def test_what_is_no_file_is_refused_at_once(tmp_path, suffix):
    pipe = tmp_path / f"pipe{suffix}"
    os.mkfifo(pipe)
    with pytest.raises(InputError, match=rf"{pipe}: cannot be read: found .*a pipe"):
        read(bigtom, pipe)


# What a spreadsheet would take for a formula or spoilt is told apart in `records.files`.
CELLS = st.text(st.characters(codec="utf-8", exclude_characters="\0\r"), max_size=40)
ANY = settings(max_examples=30, deadline=None)


@ANY
@given(st.lists(CELLS.filter(lambda cell: cell[:1] not in ("'", "#", "E")), min_size=1, max_size=6))
def test_a_csv_gives_back_every_answer(tmp_path_factory, cells):
    path = tmp_path_factory.mktemp("csv") / "any.csv"
    rows = pd.DataFrame({"item_id": map(str, range(len(cells))), "answer": cells})
    rows.to_csv(path, index=False, lineterminator="\n")
    entries = [*logs.read(path).entries]
    assert [entry.answer for entry in entries] == [[cell.strip()] for cell in cells]
    assert [entry.item_id for entry in entries] == [*rows["item_id"]]


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3)
    ),
    max_leaves=6,
)
PLACES = st.sampled_from(["eval", "plan", "samples", "id", "messages", "output", "epoch"])


@ANY
@given(st.sampled_from([*LINE]), PLACES, JSON)
def test_whatever_a_log_holds_it_is_read_or_refused(tmp_path_factory, field, place, value):
    folder = tmp_path_factory.mktemp("logs")
    lines = lines_of(folder / "x.jsonl", [LINE, LINE | {field: value}])
    log = SAMPLE | {place: value}
    if place not in SAMPLE:
        log = SAMPLE | {"samples": [SAMPLE["samples"][0] | {place: value}]}
    (folder / "x.json").write_text(json.dumps(log), "utf-8")
    for path in (lines, folder / "x.json"):
        try:
            assert [*logs.read(path).entries]
        except InputError as error:
            assert str(path) in str(error)
