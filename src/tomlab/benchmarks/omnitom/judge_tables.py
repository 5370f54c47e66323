"""What OmniToM's calibration of judges shows: their agreement (App. B.4), and F1 by who judges."""

from collections.abc import Mapping

import numpy as np
import pandas as pd
from IPython.display import Markdown

from tomlab.benchmarks.omnitom import beside as numbers
from tomlab.benchmarks.omnitom.paper import PUBLICATION, WORDING
from tomlab.benchmarks.omnitom.scoring import Judge
from tomlab.errors import InputError
from tomlab.records.files import yaml_beside
from tomlab.records.tidy import KNOWN
from tomlab.reporting import beside, charts, headings, plotting, printed
from tomlab.reporting.drawn import Drawn
from tomlab.reporting.printed import PAPER, RUN

WORDS = yaml_beside(__file__)
QUALITY = WORDS["quality"]  # heads of the columns of `judge_agreement`
# App. B.4, text only: decisions that more than one person took, and how many of them are alike.
DECIDED, ALIKE = 4451, 3955


def judge_agreement(agreements: pd.DataFrame, truth: str = KNOWN) -> printed.Table:
    """App. B.4: how well do judges of matching beliefs agree with what they are held against?

    `agreements`: of this run's judges, one row each, as `judging.agreement_by_judge` has them (the
    ends of precision, recall and kappa if known). `truth`: what they are held against, as in
    `LabelledTable`: by default constructed edits. InputError: a missing column, or a judge twice.
    """
    beside.demand_columns(agreements, ["judge", "ci_low", "ci_high", *QUALITY], "judges")
    beside.demand_known(agreements, {"judge": None}, "judges")
    paper = beside.of_paper(PUBLICATION, "judge_agreement", "agreement_percent")
    later = beside.of_paper(PUBLICATION, "release_judge_agreement", "agreement_percent")
    later = later.assign(judge=later["model"] + ", camera-ready")
    frames = [paper.assign(judge=paper["model"]), later]
    frames = [frame.assign(column="agreement") for frame in frames]
    for name in QUALITY:
        ends = "ci" if name == "agreement" else name
        values = agreements.reindex(columns=[name, f"{ends}_low", f"{ends}_high"])
        values = values.set_axis(beside.NUMBERS, axis="columns")
        if name in ("agreement", "precision", "recall"):
            values = beside.percent(values)
        own = pd.concat([agreements[["judge", "n", "n_groups"]], values], axis="columns")
        frames.append(own.assign(column=name, source=RUN))
    cells = numbers.stack(["judge", "level"], *frames)
    forms = {"kappa": printed.signed} | dict.fromkeys(["n", "undefined", "n_groups"], numbers.count)
    own = cells.assign(n=pd.NA)  # n has a column
    shown = numbers.layout(own, {"judge": "Judge"}, QUALITY, forms=forms, is_wide=True)
    held = {PAPER: "people", RUN: "constructed edits" if truth == KNOWN else "people"}
    shown.insert(len(QUALITY) + 1, "Held against", shown["Source"].map(held))
    counts = PUBLICATION.read("human_matchcount").set_index(["statistic", "matchcount"])["value"]
    told = ", ".join(f"{matches}: {value:g} %" for matches, value in counts["percent"].items())
    people = WORDS["people"].format(
        beliefs=counts["beliefs"].sum(), told=told, alike=100 * ALIKE / DECIDED, decided=DECIDED
    )
    about = [
        *numbers.paper_sentence(cells),
        people,
        WORDS["run"].format(against=WORDS["edits" if truth == KNOWN else "labels"]),
    ]
    return printed.Table("judge_agreement", cells, shown, WORDS["agreement"], about)


def rejudged(winner: Mapping, before: pd.DataFrame, after: pd.DataFrame) -> Markdown:
    """Who says in the figures which beliefs match, and F1 of extraction by that judge and before.

    winner: as `judges.in_use` has it; before, after: metrics of the evaluation and of the figures.
    """
    keys = ["model", "method"]
    both = before.merge(after, on=["metric", "condition", *keys], suffixes=("_before", "_after"))
    both = both.query("metric == 'f1' and condition == 'all'")
    both = beside.without_copies(both, pd.Series(True, both.index))
    told = [
        f"{row.model} ({row.method}) {printed.share(row.value_after)} here, "
        f"{printed.share(row.value_before)} there"
        for row in both.itertuples()
    ]
    of = "people" if winner["truth"] != KNOWN else "constructed edits"
    number = printed.cell(winner["agreement"], winner["ci_low"], winner["ci_high"])
    by = WORDS["by"].format(kind=winner["similarity"], threshold=winner["threshold"])
    named = by if winner["judge"] == winner["similarity"] else f"{winner['judge']}, else {by}"
    default = WORDS["by"].format(kind=Judge().kind, threshold=Judge().threshold)
    about = {"winner": named, "default": default, "agreement": number, "of": of}
    return Markdown(WORDS["rejudged"].format(told="; ".join(told) or "none", **about))


def judge_sensitivity(sensitivity: pd.DataFrame, level: str | None = None) -> Drawn:
    """F1 of each model by who says which beliefs match (no figure of the paper).

    `sensitivity`: one row a judge, model and method: judge, model, method, value (F1 of
    extraction), ci_low, ci_high, n, n_groups. `level`: of prompts, see `beside.at_level`.
    InputError: a missing column, a number that is there twice, an unknown level, no extraction.
    """
    needed = ["judge", "model", "method", "value", "ci_low", "ci_high", "n", "n_groups"]
    beside.demand_columns(sensitivity, needed, "judge sensitivity")
    rows = numbers.answered(numbers.with_level(sensitivity), "stage1", level, _without_match)
    if rows.empty:
        raise InputError("judge sensitivity: no rows of a method of stage1")
    beside.demand_known(rows, {"judge": None, "model": None}, "judge sensitivity")
    every, words = rows, WORDS["sensitivity"]
    rows = beside.without_copies(rows, pd.Series(True, rows.index))
    looks = plotting.looks(rows["judge"].unique(), 0.34)
    positions = plotting.row_positions({"": list(rows["row"].unique())})
    rows = rows.assign(y=rows["row"].map(positions[""]), panel="", mark="", source=RUN)
    size = {"row_height": max(0.26, 0.09 * len(looks) + 0.08), "extra": 1.2}
    size["extra"] += 0.17 * len(looks) / (columns := plotting.fitting(looks))
    figure = charts.dots(
        rows,
        positions,
        ("panel", {"": ""}),
        ("judge", looks),
        "F1 of extraction (share)",
        WORDING.groups,
        legend=plotting.dot_handles(looks),
        legend_columns=columns,
        title=headings.headline(rows.assign(of="f1"), "of", words["title"]),
        **size,
    )
    n = beside.n_from(rows, "outputs", WORDING.groups)
    methods = ", ".join(rows["method"].unique())
    left = beside.copied(every, rows, words["copied"])
    notes = [_ranking(rows), *left, *beside.grey(rows, WORDING.groups)]
    said = headings.told(rows.assign(what=rows["judge"]), words)
    data = rows[["source", *needed]]
    caption = words["caption"].format(methods=methods, n=n)
    return Drawn(figure, caption, notes, said, data, judge_sensitivity)


def _without_match(rows: pd.DataFrame) -> set[str]:
    """The models whose tables have nothing right by any judge."""
    best = rows.groupby("model")["value"].max()
    return set(best.index[best == 0])


def _ranking(rows: pd.DataFrame) -> str:
    """Which model leads under which judge, and how far the judges' rankings agree."""
    wide = rows.pivot(index="model", columns="judge", values="value")[rows["judge"].unique()]
    if min(wide.shape) < 2:
        return "With one judge or one model there is no ranking to compare."
    best = wide.idxmax()
    led = [f"{model} under {', '.join(best.index[best == model])}" for model in best.unique()]
    upper = np.triu(np.ones((len(wide.columns),) * 2), 1) > 0
    taus = wide.corr(method="kendall").where(upper).stack().dropna()
    if taus.empty:
        return f"Highest F1: {'; '.join(led)}."
    least = f"{printed.signed(taus.min())} ({' and '.join(taus.idxmin())})"
    return f"Highest F1: {'; '.join(led)}. Kendall's tau of two rankings: at least {least}."
