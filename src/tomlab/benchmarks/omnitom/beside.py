"""OmniToM's numbers beside its paper's, as it prints them: by stage and level (Sec. 6, App. C)."""

from collections.abc import Callable
from functools import partial

import pandas as pd

from tomlab.benchmarks.omnitom.paper import LEVELS, STAGES
from tomlab.reporting import beside, printed
from tomlab.reporting.printed import PAPER

JSON = "L3-json"
PREFERRED = ("L3", JSON, *LEVELS)  # the paper's main results are L3's (Sec. 6)
COMPUTED = "†"  # marks a number that is computed from the paper's
_TIDY = ["column", *printed.TIDY_COLUMNS[1:], "ci_method", "reason", "printed_in"]


def with_level(rows: pd.DataFrame) -> pd.DataFrame:
    """Rows with stage (stage1, stage2; linked) and level (L1 to L4, L3-json) of their method."""
    method = rows["method"].str.extract("^([^-]*)-?(.*)$")
    return rows.assign(stage=method[0], level=method[1])


def at_level(run: pd.DataFrame, stage: str, level: str | None = None) -> pd.DataFrame:
    """The rows of one stage at one prompt level, of rows `with_level`; without any, no rows.

    By default that is L3, as in the paper's main results; where a stage was not asked so, L3-json
    or else the least detailed one. InputError: a level that the run has for no stage.
    """
    there = beside.known_first(LEVELS, run.loc[run["stage"].isin(STAGES), "level"])
    if level is not None:
        beside.demand_level("level", level, there)
    rows = run[run["stage"] == stage]
    asked = set(rows["level"])
    chosen = level or next((each for each in (*PREFERRED, *there) if each in asked), "")
    return rows[rows["level"] == chosen]


def answered(
    run: pd.DataFrame, stage: str, level: str | None, nothing: Callable[[pd.DataFrame], set[str]]
) -> pd.DataFrame:
    """As `at_level`, with column `row`, which names the model.

    Without a level a model of which `nothing` came has its L3-json instead, if something came of
    that, and its row says so. nothing: the models of which rows of a method hold no answer.
    """
    rows = at_level(run, stage, level)
    as_json = run[run["stage"].eq(stage) & run["level"].eq(JSON)]
    instead = nothing(rows) & (set(as_json["model"]) - nothing(as_json))
    if level is not None or not instead:
        return rows.assign(row=rows["model"])
    plain, as_json = rows[~rows["model"].isin(instead)], as_json[as_json["model"].isin(instead)]
    named = as_json["model"] + f", {JSON}"
    both = pd.concat([plain.assign(row=plain["model"]), as_json.assign(row=named)])
    return beside.in_order(both, "model", run["model"].unique())


def stack(keys: list[str], *frames: pd.DataFrame) -> pd.DataFrame:
    """A `Table`'s tidy frame: `keys` say what a number is of, `column` where it stands."""
    cells = beside.stack(["source", *keys, *_TIDY], *frames)
    texts = dict.fromkeys([*keys, "column", "mark", "ci_method", "reason", "printed_in"], "")
    return cells.astype(dict.fromkeys(texts, "str")).fillna(texts)


# As the paper prints them: numbers with two decimals, counts as 22,343.
layout = partial(beside.layout, paper="{:.2f}".format)
count = "{:,.0f}".format


def paper_sentence(cells: pd.DataFrame) -> list[str]:
    """Where published numbers are from, and that no interval is known."""
    paper = cells[(cells["source"] == PAPER) & (cells["mark"] != COMPUTED)]
    places = "; ".join(dict.fromkeys(paper["printed_in"]))
    return [f"Paper: {places}. It prints no intervals. Its stories and gold are its own."]
