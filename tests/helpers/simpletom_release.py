"""Stories of ours in the layout in which SimpleToM is released."""

import json
from pathlib import Path

import pandas as pd

from tomlab.benchmarks import simpletom

ENDS = {"mental_state": "aware", "behavior": "action", "judgment": "judge"}
CONFIGS = {
    "mental_state": "mental-state-qa",
    "behavior": "behavior-qa",
    "judgment": "judgment-qa",
}


def write_release(folder: Path, stories: pd.DataFrame, **changes: dict) -> Path:
    """A folder in the hub's layout with three questions a story. changes: of the first judgment."""
    items = simpletom.compose(stories)
    for kind, config in CONFIGS.items():
        asked = items[items["question_type"].eq(kind) & items["variant"].eq("main")]
        rows = [_row(item) for item in asked.to_dict("records")]
        if kind == "judgment":
            rows[0] |= changes
        (folder / config).mkdir(parents=True)
        lines = "".join(json.dumps(row) + "\n" for row in rows)
        (folder / config / "test.jsonl").write_text(lines, encoding="utf-8")
    return folder


def _row(item: dict) -> dict:
    options = [*item["choices"]]
    return {
        "id": f"{item['group_id']}_sev{item['severity']}_{ENDS[item['question_type']]}",
        "story": item["story"],
        "question": item["question"],
        "scenario_name": item["scenario"],
        "choices": {"text": options, "label": ["A", "B"]},
        "answerKey": "AB"[options.index(item["answer"])],
    }
