"""What OmniToM's calibration of judges shows: their agreement (App. B.4), and F1 by who judges."""

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from tomlab.benchmarks.omnitom import beside as numbers
from tomlab.benchmarks.omnitom.paper import PUBLICATION, WORDING
from tomlab.errors import InputError
from tomlab.records.files import yaml_beside
from tomlab.records.tidy import KNOWN
from tomlab.reporting import beside, plotting, printed
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


def judge_sensitivity(sensitivity: pd.DataFrame, level: str | None = None) -> tuple[Figure, str]:
    """F1 and rank of each model by who says which beliefs match (no figure of the paper).

    `sensitivity`: one row a judge, model and method: judge, model, method, value (F1 of
    extraction), ci_low, ci_high, n, n_groups. `level`: of prompts, see `beside.at_level`.
    InputError: a missing column, a number that is there twice, an unknown level, no extraction.
    """
    needed = ["judge", "model", "method", "value", "ci_low", "ci_high", "n", "n_groups"]
    beside.demand_columns(sensitivity, needed, "judge sensitivity")
    rows = numbers.at_level(numbers.with_level(sensitivity), "stage1", level)
    if rows.empty:
        raise InputError("judge sensitivity: no rows of a method of stage1")
    beside.demand_known(rows, {"judge": None, "model": None}, "judge sensitivity")
    models, looks = list(rows["model"].unique()), plotting.looks(rows["judge"].unique(), 0.34)
    positions = plotting.row_positions({"": models})
    rank = rows.groupby("judge")["value"].rank(ascending=False, method="min")
    y, dodge = rows["model"].map(positions[""]), [looks[judge].dodge for judge in rows["judge"]]
    rows = rows.assign(rank=rank, y=y, dodge=dodge, mark="", source=RUN)
    with plotting.style():
        titles = ["F1 of extraction", "Rank of the model"][: len(models)]
        columns, height = plotting.fitting(looks), max(0.26, 0.09 * len(looks) + 0.08)
        extra = 1.2 + 0.17 * len(looks) / columns
        figure, panels = plotting.panels(titles, positions, height, extra)
        plotting.share_axis(panels[0], "F1 (share)")
        for axes in panels[1:]:
            axes.set(xlim=(len(models) + 0.5, 0.5), xticks=range(1, len(models) + 1))
            axes.set_xlabel("Rank (1 = highest F1)")
            axes.tick_params(axis="x", bottom=True, length=2.5)
        for judge, look in looks.items():
            for own, drawn in plotting.coloured(rows[rows["judge"] == judge], look):
                plotting.interval_dots(panels[0], own, drawn)
                for axes in panels[1:]:
                    plotting.dots(axes, own["rank"], own["y"] + look.dodge, drawn, f"{judge} rank")
        plotting.counts_beside(panels[0], rows, height)
        handles = plotting.dot_handles(looks) | plotting.few_handle(rows, WORDING.groups)
        handles |= plotting.count_handle(WORDING.groups)
        plotting.legend_below(figure, handles, columns)
    about = WORDS["sensitivity"].format(
        methods=", ".join(rows["method"].unique()),
        judges=", ".join(looks),
        counted=beside.counted(rows, "outputs a point", "stories"),
    )
    return figure, " ".join([about, _ranking(rows), *beside.grey(rows, WORDING.groups)])


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
