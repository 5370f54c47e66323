"""A small run of all four benchmarks to export: two baselines, and a model with every outcome."""

from importlib import import_module
from pathlib import Path

import pandas as pd
import yaml

from bigtom_templates import MEI
from fantom_sets import question_set
from omnitom_extraction import RECORDS
from replies import answered, of_baseline
from simpletom_stories import stories
from tomlab import params, paths
from tomlab.benchmarks import bigtom, fantom, omnitom, simpletom
from tomlab.records import tidy

ITEMS = {
    bigtom: bigtom.compose(pd.DataFrame([MEI, MEI | {"template_id": "mei2"}])),
    fantom: fantom.compose([question_set(), question_set("1-0-0", "accessible")]),
    omnitom: omnitom.compose(RECORDS[:3]),
    simpletom: simpletom.compose(stories({}, {"severity": 3}, {"set_id": "rye"})),
}
METHODS = {bigtom: "0-shot", fantom: "short", omnitom: "stage1-L3", simpletom: "none"}
ENTRIES = {
    "omniscient": {"provider": "baseline", "model": "omniscient"},
    "mine": {
        "provider": "openai",
        "model": "Qwen/Qwen3-8B",
        "base_url": "http://localhost:8000/v1",
    },
}
# What "mine" answers in turn, by its finish reason, so that BigToM has each outcome.
SAID = [("a)", "stop"), ("b)", "stop"), ("Hmm.", "stop"), ("Mei", "length")]
SAID += [("I'm sorry, I cannot answer that.", "stop"), (None, None)]


def outcomes(items: pd.DataFrame) -> pd.DataFrame:
    """Answers of "mine" to BigToM, some of them to questions in another order."""
    asked = bigtom.asked(items, "0-shot")
    told = [SAID[i % len(SAID)] for i in range(len(asked))]
    responses = answered(asked, [text for text, _ in told], "0-shot", model="mine")
    finish = [reason for _, reason in told]
    varied = answered(asked, "a)", "0-shot", model="mine", sample=1).assign(asked_as="reversed")
    return pd.concat([responses.assign(finish_reason=finish, asked_as=""), varied[:5]])


def write(results: Path) -> None:
    """The tables of the run."""
    for benchmark, items in ITEMS.items():
        tidy.write(items, "items", results / "items" / f"{benchmark.NAME}.parquet")
        given = {"omniscient": of_baseline(benchmark, items, "omniscient", METHODS[benchmark])}
        if benchmark is bigtom:
            given["mine"] = outcomes(items)
        for model, responses in given.items():
            asked = (
                '[{"role": "system", "content": "Be short."}, {"role": "user", "content": "Who?"}]'
            )
            responses = responses.assign(messages=asked).reset_index(drop=True)
            tables = {"responses": responses, "scores": benchmark.score(items, responses)}
            for kind, table in tables.items():
                tidy.write(table, kind, results / kind / benchmark.NAME / f"{model}.parquet")
