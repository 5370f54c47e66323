"""Logs of other harnesses: each format has the verdicts of the same answers in a run of ours.

`logs/` has what Inspect 0.3.285 and lm-evaluation-harness 0.4.13 wrote when they asked SmolLM2 on the
items beside them, without traces and paths. Files of the other formats are made as they document.
"""

import asyncio
import json
from pathlib import Path

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import fantom_sets
from omnitom_stories import EXACT, record
from tomlab import paths
from tomlab.asking import evaluation, taken
from tomlab.benchmarks import bigtom, fantom, omnitom, simpletom
from tomlab.errors import InputError
from tomlab.models import specs
from tomlab.models.providers import provider
from tomlab.pipeline import answers
from tomlab.records import logs, tidy
from tomlab.scoring.variants import variants

LOGS = Path(__file__).parent / "logs"
ITEMS = {b.NAME: tidy.read("items", LOGS / f"items_{b.NAME}.parquet") for b in (bigtom, simpletom)}
BIGTOM = ITEMS["bigtom"].to_dict("records")
METHODS = {"bigtom": "0-shot", "simpletom": "none"}
INSPECT = LOGS / "inspect_bigtom.eval"
SAMPLE = json.loads((LOGS / "inspect_bigtom.json").read_text("utf-8"))
LINES = (LOGS / "samples_tom_bigtom.jsonl").read_text("utf-8").splitlines()
LINE = json.loads(LINES[0])


def texts_of(benchmark):
    """By item what the model said, read off the lines of lm-evaluation-harness."""
    lines = pd.read_json(LOGS / f"samples_tom_{benchmark.NAME}.jsonl", lines=True)
    item_ids = [doc["item_id"] for doc in lines["doc"]]
    return pd.Series([responses[0][0] for responses in lines["resps"]], item_ids)


def verdicts(scores):
    return scores[["item_id", "outcome", "score"]].sort_values("item_id", ignore_index=True)


def our_verdicts(benchmark, items=None):
    """Verdicts on the same answers in a run of ours."""
    items = ITEMS[benchmark.NAME] if items is None else items
    answered = items[["item_id"]].assign(model="ours", method=METHODS[benchmark.NAME])
    answered["response"] = answered["item_id"].map(texts_of(benchmark))
    return verdicts(benchmark.score(items, answered))


def read(benchmark, path, *, items=None, model="m", method=None):
    items = ITEMS[benchmark.NAME] if items is None else items
    method = METHODS.get(benchmark.NAME) if method is None else method
    return taken.matched(benchmark, items, path, model, method)


def read_all(benchmark, path, **options):
    """The answers of a log in which every row is an answer to an item."""
    table, left_out = read(benchmark, path, **options)
    assert left_out == []
    return table


def jsonl(path, rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    return path


def csv(path, items, texts, **columns):
    """A CSV of answers to items of BigToM, with the options as we show them unless others are given."""
    options = [json.dumps([*item["choices"]]) for item in items]
    item_ids = [item["item_id"] for item in items]
    columns = {"item_id": item_ids, "answer": [*texts], "options": options} | columns
    pd.DataFrame(columns).to_csv(path, index=False)
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
    table = read_all(benchmark, LOGS / name)
    assert len(table) == count
    scores = benchmark.score(items, table)
    of_log = items[items["item_id"].isin(table["item_id"])]
    pd.testing.assert_frame_equal(verdicts(scores), our_verdicts(benchmark, of_log))
    assert {*table["method"]} == {METHODS[benchmark.NAME]}


@pytest.mark.parametrize("name", ["inspect_0.3.50_epochs.eval", "inspect_0.3.120_epochs.json"])
def test_inspect_of_earlier_versions_with_thoughts_in_parts_and_epochs(name):
    table = read_all(bigtom, LOGS / name, model="")
    assert table["response"].str.startswith("Answer: a)").all()
    assert sorted(table["sample"]) == [0] * 5 + [1] * 5


def test_inspect_says_what_was_cut_off():
    table = read_all(simpletom, LOGS / "inspect_simpletom.eval")
    assert (
        table["finish_reason"]
        .map({"stop": False, "length": True})
        .equals(table["completion_tokens"].eq(20))
    )


def eee(text="a) x", **more):
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
        "sample_id": BIGTOM[0]["item_id"],
        "input": {"raw": BIGTOM[0]["story"], "choices": [*BIGTOM[0]["choices"]]},
        "output": {"raw": [text]},
        **more,
    }


def failed_request(item, **more):
    return {"id": "b", "custom_id": item["item_id"], "response": None, "error": None, **more}


def simpletom_output(**output):
    """A line of SimpleToM's code, whose output is that of an endpoint."""
    [*_, message] = bigtom.messages(BIGTOM[0], "0-shot")
    llm_output = {"model": "claude", **output}
    return {"prompt": message["content"], "id": BIGTOM[0]["item_id"], "llm_output": llm_output}


EPOCHS = [{"metadata": {"stop_reason": "max_tokens", "epoch": n}} for n in "12"]
TURNS = [{"role": "user", "content": "?"}, {"role": "assistant", "content": "b) y"}]
STRICT = {"evaluation_name": "t/strict", "metadata": {"filter": "strict"}}
NO_FILTER = {"evaluation_name": "t/none", "metadata": {"filter": "none"}}
TEXT = LINE["resps"][0][0]
WEIGHED = LINE | {"resps": [[["-1.5", "False"]], [["-2.5", "True"]]], "acc": 1.0}
WEIGHED["arguments"] = {f"gen_args_{n}": {"arg_0": "prompt", "arg_1": f" {n}"} for n in (0, 1)}
CHOICE = {"message": {"content": "a) x"}, "finish_reason": "stop"}
OUTPUT = [
    {"type": "reasoning", "summary": [{"type": "summary_text", "text": "Perhaps b)."}]},
    {"type": "message", "content": [{"type": "output_text", "text": "a) x"}]},
]
SERVER_ERROR = {"status_code": 500, "body": {"error": {"message": "Oh."}}}
# By format: lines about one item, and what is read of them.
FORMATS = {
    "EEE": ([eee()], {"response": ["a) x"], "prompt_tokens": [9]}),
    "EEE, epochs": (
        [eee(**epoch) for epoch in EPOCHS],
        {"sample": [0, 1], "finish_reason": ["length"] * 2},
    ),
    "EEE, a line for each metric": (
        [eee(evaluation_name="exact_match"), eee(evaluation_name="f1")],
        {"response": ["a) x"]},
    ),
    # The same line twice is a second answer, which `take` refuses.
    "EEE, twice": ([eee(), eee()], {"response": ["a) x"] * 2}),
    "EEE, filters": (
        [eee(text="[invalid]", **STRICT), eee(**NO_FILTER)],
        {"response": ["a) x"]},
    ),
    "EEE, turns": (
        [eee(interaction_type="multi_turn", messages=TURNS, output=None)],
        {"response": ["b) y"]},
    ),
    "lm-eval": ([LINE], {"response": [TEXT], "harness": ["lm-evaluation-harness"]}),
    "lm-eval, repeats": (
        [LINE | {"resps": [["a) one", "b) another"]]}],
        {"response": ["a) one", "b) another"], "sample": [0, 1]},
    ),
    "lm-eval, filters": (
        [LINE | {"filter": name, "filtered_resps": [name]} for name in ("strict", "flexible")],
        {"response": [TEXT]},
    ),
    "lm-eval, likelihoods": ([WEIGHED], {"response": [None], "verdict": [True]}),
    "SimpleToM's code": (
        [
            simpletom_output(content=[{"text": "a) x"}], usage={"input_tokens": 5}),
            simpletom_output(choices=[CHOICE], usage={"prompt_tokens": 5}),
            simpletom_output(output=OUTPUT, status="completed", usage={"input_tokens": 5}),
        ],
        {"response": ["a) x"] * 3, "prompt_tokens": [5] * 3},
    ),
    "results of a batch": (
        [
            failed_request(BIGTOM[0], error={"code": "expired", "message": "It expired."}),
            failed_request(BIGTOM[1], response=SERVER_ERROR),
        ],
        {"error": ["It expired.", "Oh."], "response": [None] * 2},
    ),
}


@pytest.mark.parametrize(("rows", "columns"), FORMATS.values(), ids=FORMATS)
def test_lines_of_every_format_are_read(rows, columns, tmp_path):
    table = read_all(bigtom, jsonl(tmp_path / "x_samples.jsonl", rows))
    for name, values in columns.items():
        assert table[name].replace({float("nan"): None}).tolist() == values


def test_lm_eval_of_the_first_versions_is_one_list_with_plain_arguments(tmp_path):
    path = tmp_path / "pretrained__m_tom.jsonl"
    arguments = [[*LINE["arguments"]["gen_args_0"].values()]]
    path.write_text(json.dumps([LINE | {"arguments": arguments}], indent=2), "utf-8")
    assert read_all(bigtom, path)["how"].str.contains("max_gen_toks").all()


def test_fantoms_code_gets_the_verdicts_of_a_run_of_ours(tmp_path):
    items = fantom.compose([fantom_sets.question_set()], 0)
    rows = []
    for number, item in enumerate(fantom.asked(items, "short").to_dict("records")):
        shown = item | {"choices": [*item["choices"]][::-1]}  # the release has an order of its own
        [message] = fantom.messages(shown, "short")
        text = item["answer"]
        if shown["choices"]:
            text = f"({fantom.KEYS[shown['choices'].index(text)]})"
        rows.append({"index": number, "input_prompt": message["content"], "response": text})
    path = jsonl(tmp_path / "model_responses_short_input_gpt-4-0613_cot-False.jsonl", rows)
    table = read_all(fantom, path, items=items, method="short")
    assert len(table) == len(rows)
    assert fantom.score(items, table, embedder=None)["score"].eq(1).all()


def documented(name):
    """A function that docs/logs.md prints."""
    functions = {}
    text = (paths.ROOT / "docs" / "logs.md").read_text("utf-8")
    exec(text.split("```python\n")[1].split("```")[0], functions)  # noqa: S102 - ours
    return functions[name]


def test_bigtoms_code_gives_verdicts(tmp_path):
    items = ITEMS["bigtom"].query("variable == 'forward_belief' and initial_belief == 0")
    condition = "0_forward_belief_true_belief"
    stories = tmp_path / "conditions" / condition / "stories.csv"
    accuracy = tmp_path / "results" / condition / "accuracy_gpt-4_0.0_0shot_belief_0_200.csv"
    verdict = pd.Series(["True", *["False"] * (len(items) - 1)])
    columns = items[["story", "question", "answer", "reality"]]
    for path, table in ((stories, columns), (accuracy, verdict)):
        path.parent.mkdir(parents=True)
        table.to_csv(path, sep=";", index=False, header=False)
    documented("bigtom")(accuracy).to_csv(tmp_path / "bigtom.csv", index=False)
    table = read_all(bigtom, tmp_path / "bigtom.csv")
    assert taken.scores(items, table)["score"].sum() == 1
    assert table["item_id"].tolist() == items["item_id"].tolist()


def test_omnitoms_code_gets_the_verdicts_of_a_run_of_ours(tmp_path):
    items = omnitom.compose([record()])
    parts = {"extraction": ("extraction", "stage1-L3"), "labelling": ("labeling", "stage2-L3")}
    for item in items.to_dict("records"):
        part, method = parts[item["question_type"]]
        text = omnitom.reference(item, method, 0)["gold"]
        path = tmp_path / part / "raw" / "story_001.txt"
        path.parent.mkdir(parents=True)
        prompt = f"SYSTEM PROMPT:\nExtract.\n\nUSER PROMPT:\n{item['story']}"
        path.write_text(f"{prompt}\n\nOUTPUT:\n{text}\n", "utf-8")
    (tmp_path / "manifest.json").write_text('{"model": "gpt-5"}', "utf-8")
    documented("omnitom")(tmp_path).to_csv(tmp_path / "omnitom.csv", index=False)
    table = read_all(omnitom, tmp_path / "omnitom.csv", items=items, model="", method="")
    assert {*table["model"]} == {"gpt-5"}
    scores = omnitom.score(items, table, judge=EXACT)
    assert scores["score"].tolist() == [1.0, 1.0]


# Which item, and which option


def test_options_in_an_order_of_the_logs_own_decide_what_letters_mean(tmp_path):
    texts = [f"Answer: {'ba'[[*i['choices']].index(i['answer'])]})" for i in BIGTOM]
    listed = [json.dumps([*item["choices"]][::-1]) for item in BIGTOM]
    table = read_all(bigtom, csv(tmp_path / "x.csv", BIGTOM, texts, options=listed))
    scores = bigtom.score(ITEMS["bigtom"], table)
    assert scores["outcome"].eq("correct").all()
    assert scores["chosen"].tolist() == [item["answer"] for item in BIGTOM]


def test_what_the_prompt_lists_comes_before_what_the_log_lists(tmp_path):
    """A solver of Inspect may shuffle the options of a sample in the prompt alone."""
    first, second = BIGTOM[0]["choices"]
    story = BIGTOM[0]["story"]
    prompts = [f"{story}\na) {second}\nb) {first}", story, story]
    listed = [[first, second], [second, first], ["others", "than ours"]]
    columns = {"prompt": prompts, "options": [json.dumps(options) for options in listed]}
    table, left_out = read(bigtom, csv(tmp_path / "x.csv", BIGTOM[:1] * 3, ["a)"] * 3, **columns))
    assert table["options_shown"].tolist() == [json.dumps([second, first])] * 2
    assert len(left_out) == 1
    assert "other options" in left_out[0]


def test_letters_without_options_are_refused(tmp_path):
    path = csv(tmp_path / "x.csv", BIGTOM, texts_of(bigtom), options="")
    table, left_out = read(bigtom, path)
    assert table.empty
    assert len(left_out) == 20
    assert "row 2" in left_out[0]


def test_items_are_known_by_story_and_question_whatever_the_white_space(tmp_path):
    items = ITEMS["simpletom"]
    table = items[["story", "question"]].assign(answer=items["item_id"].map(texts_of(simpletom)))
    table["story"] = "  " + table["story"].str.replace(" ", "\n ")
    table["options"] = [json.dumps([*options]) for options in items["choices"]]
    table.to_csv(tmp_path / "x.csv", index=False)
    matched = read_all(simpletom, tmp_path / "x.csv")
    assert matched["item_id"].tolist() == items["item_id"].tolist()


def test_an_id_of_another_version_of_an_item_is_no_match():
    items = ITEMS["bigtom"].copy()
    items.loc[items.index[3], "story"] = "Zsombor is a baker."
    table, left_out = read(bigtom, INSPECT, items=items, model="")
    assert len(table) == 19
    assert items["item_id"].iloc[3] in left_out[0]


def test_verdicts_by_likelihood_need_no_prompt_of_ours(tmp_path):
    rows = ITEMS["simpletom"][["item_id"]].assign(method="likelihood", verdict="true")
    rows.to_csv(tmp_path / "x.csv", index=False)
    assert read_all(simpletom, tmp_path / "x.csv")["verdict"].tolist() == [True] * len(rows)


def test_a_log_of_several_models_needs_a_name_and_any_log_a_method(tmp_path):
    path = csv(tmp_path / "x.csv", BIGTOM, texts_of(bigtom), model=["one", "two"] * 10)
    with pytest.raises(InputError, match=r"x\.csv.*'one', 'two'.*--model"):
        read(bigtom, path, model="")
    assert {*read_all(bigtom, path, model="two")["model"]} == {"two"}
    with pytest.raises(InputError, match="--method with one of 0-shot"):
        read(bigtom, path, model="two", method="")


# Taken into a run

DECLARED = ["--model", "m", "--method", "0-shot"]


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "own"


@pytest.fixture
def take(folder, monkeypatch):
    """The command that takes logs into a run's folder, with the items of the logs."""
    monkeypatch.setattr(paths, "RESULTS", folder.parent / "results")
    for name, items in ITEMS.items():
        tidy.write(items, "items", paths.result("items", name))

    def take(*files, more=()):
        order = ["take", *map(str, files), "--benchmark", "bigtom", "--to", str(folder)]
        return answers.main([*order, *more])

    return take


def responses_in(folder):
    return tidy.read("responses", folder / "bigtom.parquet")


def elsewhere(folder):
    entry = {"provider": "taken", "model": "SmolLM2", "folder": str(folder)}
    return specs.model_spec("elsewhere", {"elsewhere": entry})


def evaluated(folder, methods):
    """What a model was asked elsewhere, and its answers."""
    spec = elsewhere(folder)
    questions = evaluation.plan(bigtom, ITEMS["bigtom"], spec, methods, orders=2)
    return questions, asyncio.run(evaluation.evaluate(bigtom, questions, spec))


def test_a_model_that_was_asked_elsewhere_is_evaluated_like_any_other(take, folder, capsys):
    assert take(INSPECT) == 0
    _, table = evaluated(folder, ["0-shot", "1-shot"])
    assert len(table) == 20
    assert {*table["model"]} == {"elsewhere"}
    assert {*table["asked_as"]} == {""}
    pd.testing.assert_frame_equal(
        verdicts(bigtom.score(ITEMS["bigtom"], table)), our_verdicts(bigtom)
    )
    assert responses_in(folder)["log_sha256"].str.len().eq(64).all()
    with pytest.raises(InputError, match=r"models\.elsewhere"):
        provider(elsewhere(folder))
    assert take(INSPECT) == 1  # a second answer to an item
    assert "authored-001/forward_belief/true_belief/0" in capsys.readouterr().err


def test_verdicts_alone_become_scores_that_are_marked_and_stand_apart(take, folder):
    rows = ITEMS["bigtom"][["item_id"]].assign(verdict="true")
    rows.loc[0, "verdict"] = "false"
    rows.to_csv(folder.parent / "theirs.csv", index=False)
    assert take(folder.parent / "theirs.csv", more=DECLARED) == 0
    assert not (folder / "bigtom.parquet").exists()
    scores = tidy.read("scores", folder / "bigtom_verdicts.parquet")
    assert scores["score"].sum() == 19
    assert {*scores["harness"]} == {"CSV"}
    assert {"accuracy", "tb_and_fb"} <= {*bigtom.metrics(scores)["metric"]}


def test_too_many_that_fit_no_item_are_an_error_that_names_them(take, folder, capsys):
    rows = [json.loads(line) for line in LINES]
    rows[4]["doc"] |= {"item_id": "nobody", "story": "Another story."}
    rows[4]["arguments"]["gen_args_0"]["arg_0"] = ["Another prompt."]
    path = jsonl(folder.parent / "samples.jsonl", rows)
    assert take(path, more=DECLARED) == 1
    message = capsys.readouterr().err
    assert "1 of 20" in message
    assert f"{path}: line 5: 'nobody'" in message
    assert not folder.exists()
    assert take(path, more=[*DECLARED, "--unmatched", "0.05"]) == 0
    assert "line 5: 'nobody'" in capsys.readouterr().out
    assert len(responses_in(folder)) == 19


def test_two_logs_with_both_orders_are_one_that_was_asked_with_swapped_options(take, folder):
    for log in (0, 1):
        # Every other item of the first log is in our order, and so are the others of the second;
        # the second lacks the last item.
        items = BIGTOM[: len(BIGTOM) - log]
        texts = []
        listed = []
        for number, item in enumerate(items):
            options = [*item["choices"]][:: 1 if number % 2 == log else -1]
            texts.append(f"{'ab'[options.index(item['answer'])]}) it")
            listed.append(json.dumps(options))
        path = csv(folder.parent / f"{log}.csv", items, texts, options=listed)
        assert take(path, more=DECLARED) == 0
    questions, table = evaluated(folder, ["0-shot"])
    assert [q.asked_as for q in questions] == ["", "reversed"] * 19 + [""]
    # What counts has one number, so that items pair; what was shown in one order alone counts.
    assert {*table.query("asked_as == ''")["sample"]} == {0}
    scores = bigtom.score(ITEMS["bigtom"], table)
    varied = variants(scores, ITEMS["bigtom"], "group_id").set_index("metric")["value"]
    assert scores["score"].eq(1).all()
    assert varied["same_answer"] == 1
    assert varied["first_option"] == 0.5


@pytest.mark.parametrize("order", [1, -1], ids=["failed first", "rerun first"])
def test_a_rerun_supersedes_failures_whichever_log_is_taken_first(take, folder, order):
    for name in ["inspect_failed.eval", "inspect_rerun.eval"][::order]:
        assert take(LOGS / name) == 0
    table = responses_in(folder)
    assert len(table) == 5
    assert table["response"].notna().all()
    assert table["error"].isna().all()


def test_a_log_without_a_benchmark_is_an_error_that_names_the_option(capsys):
    assert answers.main(["take", str(INSPECT), "--to", "mine"]) == 1
    assert "--benchmark" in capsys.readouterr().err


# Faults


def test_odd_rows_cost_themselves_and_are_counted(take, tmp_path, capsys):
    path = csv(tmp_path / "x.csv", BIGTOM, texts_of(bigtom), sample=0)
    lines = path.read_text("utf-8").splitlines()
    lines[1] = lines[1].removesuffix("0") + str(10**30)
    lines[3] = "only,two"
    lines[5] = lines[5].replace('"[""', '"[', 1)
    path.write_text("\n".join(lines) + "\n", "utf-8")
    assert take(path, more=DECLARED) == 0
    out = capsys.readouterr().out
    for text in ("17 of 20", "3 cannot be read", "row 2", "row 4: found 2 fields", "row 6"):
        assert text in out


ODD = ["not json", "[1, 2]", "null", '{"doc_id": 9}', '{"a": "\\ud83d"}', '{"a": 1, "a": 2}']


def test_an_odd_line_costs_that_line(tmp_path):
    (tmp_path / "x.jsonl").write_text("\n".join([*ODD, *LINES]), "utf-8")
    table, left_out = read(bigtom, tmp_path / "x.jsonl")
    assert len(table) == 20
    assert [line.partition(":")[0] for line in left_out] == [f"line {n}" for n in range(1, 7)]


def test_a_spoilt_part_of_an_archive_costs_its_answer(tmp_path):
    content = bytearray(INSPECT.read_bytes())
    content[300:340] = b"\0" * 40
    (tmp_path / "log.eval").write_bytes(content)
    table, left_out = read(bigtom, tmp_path / "log.eval", model="")
    assert len(table) == 19
    assert "samples/" in left_out[0]


def test_answers_may_be_long_or_none_and_one_that_never_ended_costs_itself(tmp_path):
    texts = ["None", "N/A", "", "a) x", f"a) x {'because ' * 20_000}", "a) " * 400_000]
    errors = ["", "None", "nan", "the server was down", "", ""]
    table, left_out = read(bigtom, csv(tmp_path / "x.csv", BIGTOM[:6], texts, error=errors))
    assert table["response"].tolist()[:3] == texts[:3]
    assert table["response"].str.len().iloc[4] == 160_004
    assert table["error"].isna().tolist() == [True, True, True, False, True]
    assert len(left_out) == 1
    assert "1,000,000" in left_out[0]


FAULTY = {
    "cut archive": (".eval", INSPECT.read_bytes()[:9000], ""),
    "cut line": (".jsonl", LINES[0][:500], "line 1"),
    "other fields": (".jsonl", '{"a": 1}', "line 1.*'a'"),
    "no verdict": (".jsonl", json.dumps(LINE | {"resps": WEIGHED["resps"]}), "line 1.*resps"),
    "other table": (".csv", "name,age\nAnn,5\n", "row 1.*answer"),
    "bad options": (".csv", 'item_id,answer,options\na,b,"[Yes, No]"\n', "row 2.*options"),
    "picture": (".png", "PNG", r"\.eval"),
}


@pytest.mark.parametrize(("suffix", "content", "message"), FAULTY.values(), ids=FAULTY)
def test_what_is_no_whole_log_has_one_error_that_names_it(tmp_path, suffix, content, message):
    path = tmp_path / f"log{suffix}"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(InputError, match=rf"(?s){path}.*{message}"):
        read(bigtom, path)


# What a spreadsheet would take for a formula or spoilt is tested with `records.files`.
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


SCALAR = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5)
JSON = st.recursive(
    SCALAR,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=6,
)
PLACES = st.sampled_from(["eval", "plan", "samples", "id", "messages", "output", "epoch"])


@ANY
@given(st.sampled_from([*LINE]), PLACES, JSON)
def test_whatever_a_log_holds_it_is_read_or_refused(tmp_path_factory, field, place, value):
    folder = tmp_path_factory.mktemp("logs")
    lines = jsonl(folder / "x.jsonl", [LINE, LINE | {field: value}])
    log = SAMPLE | {place: value}
    if place not in SAMPLE:
        log = SAMPLE | {"samples": [SAMPLE["samples"][0] | {place: value}]}
    for path in (lines, jsonl(folder / "x.json", [log])):
        try:
            assert [*logs.read(path).entries]
        except InputError as error:
            assert str(path) in str(error)
