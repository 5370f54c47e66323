"""Do Inspect's tasks give the verdicts of the pipeline? For an environment with the extra `inspect`.

    python checks/inspect_tasks.py                                     scripted answers, no model
    python checks/inspect_tasks.py --base-url http://localhost:8080/v1 --model NAME
    python checks/inspect_tasks.py --method fantom=short-cot --items 60 bigtom fantom

Each benchmark's task is asked about the first 20 of its items, by default with answers that are right,
wrong, unreadable, refused or cut off. With --base-url a server is asked, which speaks OpenAI's protocol;
the pipeline asks it the same questions, and both must get the same answers.

Compared with the pipeline's scorer, item by item: the log's verdicts, and those of the answers that
`python -m tomlab.pipeline.answers take` finds in the log. Ends with 1 if anything differs.
"""

import argparse
import asyncio
import sys
import tempfile
from importlib import import_module
from pathlib import Path

import pandas as pd
from inspect_ai import eval as evaluate
from inspect_ai.log import EvalLog
from inspect_ai.model import Model, ModelOutput, ModelUsage, get_model

from tomlab import paths
from tomlab.asking import evaluation
from tomlab.models import specs
from tomlab.pipeline import answers
from tomlab.records import tidy

BENCHMARKS = ("bigtom", "fantom", "omnitom", "simpletom")
FIRST = {"bigtom": "0-shot", "fantom": "short", "omnitom": "stage1-L3", "simpletom": "none"}
REASONING = "They look at what happens while the person is away."
# What nobody can read, or what was cut off: a text and the reason why it ended.
ODD = [
    ("I'm sorry, I cannot answer.", "stop"),
    ("Who knows?", "stop"),
    ("", "stop"),
    ("Ans", "length"),
]
KEY = ["item_id", "method", "sample"]


def scripted(benchmark, items: pd.DataFrame, method: str) -> dict[str, tuple[str, str]]:
    """An answer and the reason why it ended, by the last message of the prompt."""
    script = {}
    first = getattr(benchmark.METHODS[method], "first", None)
    for number, item in enumerate(items.to_dict("records")):
        replies = [*benchmark.reference(item, method, 0).values()]
        choices = [*[(reply, "stop") for reply in replies], (replies[0], "length"), *ODD]
        if first:
            prompt = benchmark.messages(item, first)[-1]["content"]
            script[prompt] = (REASONING, "stop")
            item = {**item, "reasoning": benchmark.reasoning_of(REASONING, method)}
        prompt = benchmark.messages(item, method)[-1]["content"]
        script.setdefault(prompt, choices[number % len(choices)])
    return script


def mock(script: dict[str, tuple[str, str]]) -> Model:
    """A model of Inspect's that gives the scripted answers."""

    def answer(messages, tools, tool_choice, config):
        text, finish = script[messages[-1].text]
        stop_reason = "max_tokens" if finish == "length" else "stop"
        output = ModelOutput.from_content("mockllm", text, stop_reason)
        output.usage = ModelUsage(input_tokens=0, output_tokens=len(text), total_tokens=len(text))
        return output

    return get_model("mockllm/model", custom_outputs=answer, memoize=False)


def as_responses(benchmark, items: pd.DataFrame, method: str, script: dict) -> pd.DataFrame:
    """The scripted answers as a table of responses."""
    rows = []
    for item in items.to_dict("records"):
        item = {**item, "reasoning": benchmark.reasoning_of(REASONING, method)}
        text, finish = script[benchmark.messages(item, method)[-1]["content"]]
        row = {"item_id": item["item_id"], "method": method, "sample": 0, "response": text}
        rows.append({**row, "finish_reason": finish, "completion_tokens": len(text)})
    return pd.DataFrame(rows).assign(model="mockllm/model", error=None)


def asked_by_us(benchmark, items: pd.DataFrame, method: str, args) -> pd.DataFrame:
    """The answers of the server to the pipeline."""
    entry = {"provider": "openai", "base_url": args.base_url, "model": args.model}
    spec = specs.model_spec("server", {"server": {**entry, "max_concurrency": 1}})
    questions = evaluation.plan(benchmark, items, spec, [method])
    limits = {method: args.max_tokens} if args.max_tokens else {}
    with tempfile.TemporaryDirectory() as folder:
        store = Path(folder) / "store.sqlite"
        asking = evaluation.evaluate(benchmark, questions, spec, store=store, max_tokens=limits)
        responses = asyncio.run(asking)
    return responses[responses["method"] == method]


def taken_in(benchmark, log: EvalLog, method: str) -> pd.DataFrame:
    """The responses that `answers take` makes of the log, with no word on the method."""
    with tempfile.TemporaryDirectory() as folder:
        command = ["take", log.location, "--benchmark", benchmark.NAME, "--to", folder]
        if answers.main(command):
            raise SystemExit(f"{log.location}: was not taken in")
        return tidy.read("responses", Path(folder) / f"{benchmark.NAME}.parquet")


def in_log(log: EvalLog) -> pd.DataFrame:
    """The scores in a log, with the text of each answer."""
    rows = []
    for sample in log.samples:
        score = sample.scores["verdict"]
        assert score.value == score.metadata["score"]
        rows.append({**score.metadata, "response": sample.output.completion})
    return pd.DataFrame(rows)


def differences(ours: pd.DataFrame, other: pd.DataFrame, columns: list[str]) -> int:
    """On how many items two tables differ in some of the columns; items that one lacks count."""
    both = ours.merge(other, on=KEY, how="outer", suffixes=("", "_other"), indicator=True)
    is_other = both["_merge"] != "both"
    for name in columns:
        values = both[[name, f"{name}_other"]].map(
            lambda value: "" if value is None else str(value)
        )
        values = values.replace("nan", "")
        is_other |= values[name] != values[f"{name}_other"]
    return int(is_other.sum())


def compared(name: str, method: str, args) -> dict:
    """A row of the table that is printed: how many items differ, and the numbers that do."""
    benchmark = import_module(f"tomlab.benchmarks.{name}")
    items = tidy.read("items", paths.result("items", name))
    items = benchmark.asked(items, method).head(args.items)
    if args.base_url:
        model = get_model(f"openai-api/server/{args.model}", base_url=args.base_url, api_key="none")
        ours = asked_by_us(benchmark, items, method, args)
    else:
        script = scripted(benchmark, items, method)
        model = mock(script)
        ours = as_responses(benchmark, items, method, script)
    options = {"max_tokens": args.max_tokens} if args.max_tokens else {}
    [log] = evaluate(
        f"tomlab/{name}",
        model=model,
        task_args={"method": method},
        limit=args.items,
        log_dir=args.logs,
        display="none",
        max_connections=1,
        **options,
    )
    if log.status != "success":
        raise SystemExit(f"{name}: {log.error.message if log.error else log.status}")
    scores = benchmark.score(items, ours)
    texts = scores.assign(response=ours["response"].to_numpy())
    taken = benchmark.score(items, taken_in(benchmark, log, method))
    metrics = benchmark.metrics(scores)
    values = dict(
        zip(metrics["metric"] + " " + metrics["condition"], metrics["value"], strict=True)
    )
    shown = log.results.scores[0].metrics
    verdicts = [column for column in scores if column not in {*KEY, "model"}]
    return {
        "benchmark": name,
        "method": method,
        "items": len(scores),
        "right": int(scores["outcome"].eq("correct").sum()),
        "outcomes": scores["outcome"].nunique(),
        "other texts": differences(texts, in_log(log), ["response"]),
        "other verdicts": differences(scores, in_log(log), verdicts),
        "other when taken in": differences(scores, taken, verdicts),
        "numbers": len(shown),
        "other numbers": sum(values[key] != number.value for key, number in shown.items()),
    }


def parsed(arguments: list[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("benchmarks", nargs="*", help="all, unless some are named")
    parser.add_argument("--method", action="append", default=[], help="such as fantom=short-cot")
    parser.add_argument("--items", type=int, default=20)
    parser.add_argument("--base-url", default="")
    parser.add_argument("--model", default="model")
    parser.add_argument("--max-tokens", type=int, help="a limit in place of the protocol's")
    parser.add_argument("--logs", help="the folder of the logs, a temporary one by default")
    return parser.parse_args(arguments)


def main() -> int:
    args = parsed()
    methods = FIRST | dict(pair.split("=", 1) for pair in args.method)
    with tempfile.TemporaryDirectory() as folder:
        args.logs = args.logs or folder
        rows = [compared(name, methods[name], args) for name in args.benchmarks or BENCHMARKS]
    table = pd.DataFrame(rows)
    print(table.set_index("benchmark").T.to_string())
    return int(table.filter(like="other").sum(axis=None) > 0)


if __name__ == "__main__":
    sys.exit(main())
