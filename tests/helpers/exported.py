"""A small run of all four benchmarks to export: a baseline, and a model with every outcome."""

from pathlib import Path

import pandas as pd

from bigtom_templates import MEI
from fantom_sets import question_set
from omnitom_extraction import RECORDS
from replies import answered, of_baseline
from simpletom_stories import stories
from tomlab.benchmarks import bigtom, fantom, omnitom, simpletom
from tomlab.records import tidy

ABSENT = "not installed here: `make test-exports` runs this with all libraries of exports"
ITEMS = {
    bigtom: bigtom.compose(pd.DataFrame([MEI, MEI | {"template_id": "mei2"}])),
    fantom: fantom.compose([question_set(), question_set("1-0-0", "accessible")]),
    omnitom: omnitom.compose(RECORDS[:3]),
    simpletom: simpletom.compose(stories({}, {"source": "llm:mine"}, {"set_id": "rye"})),
}
METHODS = {
    bigtom: ["0-shot", "1-shot-cot"],
    fantom: ["short", "full"],
    omnitom: ["stage1-L3", "stage2-L3"],
    simpletom: ["none", "ms-remind", "sysp"],
}
PARAMS = {
    "run": {
        "benchmarks": {benchmark.NAME: {} for benchmark in ITEMS},
        "models": ["omniscient", "mine"],
    },
    "models": {
        "omniscient": {"provider": "baseline", "model": "omniscient"},
        "mine": {"provider": "openai", "model": "qwen3:8b", "base_url": "http://localhost:8000/v1"},
    },
}
# What "mine" answers in turn, and how that ended, so that BigToM has each outcome.
SAID = [
    ("a)", "stop"),
    ("b)", "stop"),
    ("Hmm.", "stop"),
    ("Mei", "length"),
    ("I'm sorry, I cannot answer that.", "stop"),
    (None, None),
]
ASKED = '[{"role": "system", "content": "Be short."}, {"role": "user", "content": "Who?"}]'


def of_mine() -> pd.DataFrame:
    """Answers of "mine" to BigToM, five of them to questions in another order."""
    asked = bigtom.asked(ITEMS[bigtom], "0-shot")
    texts, reasons = zip(*(SAID * len(asked))[: len(asked)], strict=True)
    told = answered(asked, list(texts), "0-shot", "mine").assign(asked_as="")
    varied = answered(asked[:5], "a)", "0-shot", "mine", sample=1).assign(asked_as="reversed")
    return pd.concat([told.assign(finish_reason=reasons), varied], ignore_index=True)


def write(results: Path) -> None:
    """The tables of the run."""
    for benchmark, items in ITEMS.items():
        tidy.write(items, "items", results / "items" / f"{benchmark.NAME}.parquet")
        by_method = [of_baseline(benchmark, items, "omniscient", m) for m in METHODS[benchmark]]
        given = {"omniscient": pd.concat(by_method, ignore_index=True)}
        given |= {"mine": of_mine()} if benchmark is bigtom else {}
        for model, responses in given.items():
            told = responses.assign(messages=ASKED)
            tables = {"responses": told, "scores": benchmark.score(items, told)}
            if (
                benchmark is fantom
            ):  # the calls that asked for reasoning first, which nothing scores
                first = told.assign(method=told["method"] + "-reasoning")
                tables["responses"] = pd.concat([first, told], ignore_index=True)
            for kind, table in tables.items():
                tidy.write(table, kind, results / kind / benchmark.NAME / f"{model}.parquet")


def value(results: Path, name: str, model: str, method: str, metric: str, condition: str):
    """The row of our metrics table, from the scores of the run."""
    [benchmark] = [each for each in ITEMS if name == each.NAME]
    scores = tidy.read("scores", results / "scores" / name / f"{model}.parquet")
    found = benchmark.metrics(scores).set_index(["method", "metric", "condition"])
    return found.sort_index().loc[(method, metric, condition)]
