"""What is no text and yet handed in, broken: Parquet tables."""

from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from typing import Any

import pandas as pd
from faults_samples import Case

from tomlab.benchmarks import bigtom
from tomlab.paths import DATA
from tomlab.records import tidy


def parquet(folder: Path) -> Iterator[Case]:
    """Tables between stages that somebody changed."""
    items = bigtom.read_released(DATA / "bigtom/bigtom.csv").head(6).astype({"answer": str})
    answer = ["b1", "m", "0-shot", 0]
    score = pd.DataFrame(
        [[*answer, "g", "correct", 1.0], ["b2", *answer[1:], "g", "wrong", 0.0]],
        columns=["item_id", "model", "method", "sample", "group_id", "outcome", "score"],
    )
    metric = pd.DataFrame(
        [["bigtom", "m", "0-shot", "accuracy", "all", 0.5, 0.4, 0.6, "Clopper-Pearson", 9, 3]],
        columns=[*tidy.SCHEMAS["metrics"].columns],
    )

    def handed_in(kind: str, found: pd.DataFrame | bytes) -> Callable[[], Any]:
        def read() -> Any:
            folder.mkdir(exist_ok=True)
            path = folder / f"{kind}.parquet"
            path.unlink(missing_ok=True)
            if isinstance(found, bytes):
                path.write_bytes(found)
            else:
                found.to_parquet(path, index=False)
            return tidy.read(kind, path)

        return read

    for kind, good in {"items": items, "scores": score, "metrics": metric}.items():
        raw = good.to_parquet(index=False)
        odd: dict[str, Any] = {
            "empty file": b"",
            "cut": raw[: len(raw) // 2],
            "cut at its end": raw[:-3],
            "noise in it": raw[:40] + Random(0).randbytes(300) + raw[340:],
            "CSV": good.to_csv().encode(),
            "doubled rows": pd.concat([good, good]),
        }
        for column in [name for name in good if name in tidy.SCHEMAS[kind].columns]:
            odd[f"{column} missing"] = good.drop(columns=column)
            odd[f"{column} misspelt"] = good.rename(columns={column: f"{column}x"})
            if column not in ("choices", "answer"):
                odd[f"{column} null"] = good.assign(**{column: None})
                numbers = pd.api.types.is_numeric_dtype(good[column])
                odd[f"{column} of another type"] = good.assign(**{column: "7" if numbers else 7})
                if numbers:
                    odd[f"{column} infinite"] = good.assign(**{column: float("inf")})
                    if column not in ("ci_low", "ci_high"):  # where there are too few to tell
                        odd[f"{column} NaN"] = good.assign(**{column: float("nan")})
                    if column not in ("value", "ci_low", "ci_high"):
                        odd[f"{column} negative"] = good.assign(**{column: -good[column] - 1})
        for what, found in odd.items():
            column = what.split()[0] if what.split()[0] in good else ""
            yield Case(
                f"{kind}.parquet: {what}", handed_in(kind, found), (f"{kind}.parquet", column)
            )
