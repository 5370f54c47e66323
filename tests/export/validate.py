"""What a format's own library reads in an exported folder, as JSON: run in .venv-export.

.venv-export/bin/python tests/export/validate.py <format> <folder>
"""

import json
import sys
from pathlib import Path


def inspect(folder: Path) -> list[dict]:
    """Each log with what the data frames of logs and of samples say."""
    from inspect_ai.analysis import evals_df, samples_df
    from inspect_ai.log import read_eval_log

    logs = []
    for path in folder.rglob("*.eval"):
        [row] = evals_df(str(path), quiet=True).to_dict("records")
        samples = samples_df(str(path), quiet=True)
        log = read_eval_log(str(path))
        logs.append(
            {name: row[name] for name in ("task_name", "model", "task_arg_method", "status")}
            | {name: row[f"score_headline_{name}"] for name in ("metric", "value")}
            | {"scores": samples["score_tomlab"].tolist(), "log": log.model_dump(mode="json")}
        )
    return logs


if __name__ == "__main__":
    told = globals()[sys.argv[1].replace("-", "_")](Path(sys.argv[2]))
    print(json.dumps(told))
