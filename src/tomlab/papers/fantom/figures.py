"""FANToM's figures: Fig. 2 to 5, and beyond the paper aggregation and the control task.

Each public function is one figure. It takes the metrics table of a run (see `tomlab.records.tables`) and
returns the figure and its caption, whose numbers are computed. Source: Kim et al. (2023), and
`tables`.
"""

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from tomlab.benchmarks.fantom.paper import METHOD_NAMES, METRIC_NAMES
from tomlab.papers.fantom import tables as numbers
from tomlab.papers.fantom.tables import PROMPTING
from tomlab.reporting import beside, plotting, printed
from tomlab.reporting.beside import demand_metric
from tomlab.reporting.plotting import COLOURS, INK, Look

PROMPTS = {
    "none": Look("as asked", COLOURS["blue"], "o", dodge=-0.27),
    "cot": Look("chain of thought (CoT)", COLOURS["orange"], "s"),
    "ft": Look("fine-tuned (FT)", COLOURS["green"], "D", dodge=0.27),
}
FACT_AND_BELIEF = {
    "fact_f1": Look("FactQ, token F1", COLOURS["blue"], "s", dodge=-0.2),
    "belief_dist": Look("BeliefQ [Dist.], accuracy", COLOURS["orange"], "o", dodge=0.2),
}
LIST_ERRORS = {
    "excluded_aware": Look("leaves out who knows", COLOURS["orange"], hatch="////"),
    "included_unaware": Look("names who does not know", COLOURS["pink"], hatch="...."),
    "did_both": Look("both errors", INK),
    "correct": Look("correct", COLOURS["blue"]),
}
YN_ERRORS = {
    "false_positive": Look("false yes", COLOURS["pink"], hatch="...."),
    "false_negative": Look("false no", COLOURS["orange"], hatch="////"),
    "irrelevant": Look("neither yes nor no", "#d9d9d9", hatch="\\\\\\\\"),
    "correct": Look("correct", COLOURS["blue"]),
}
LEVELS = {
    "": Look("question set", COLOURS["blue"], "o", dodge=-0.32),
    "part": Look("part of a conversation", COLOURS["orange"], "s"),
    "conversation": Look("whole conversation", COLOURS["pink"], "D", dodge=0.32),
}
TASKS = {
    "inaccessible": Look("X lacks the information", COLOURS["orange"], "o", dodge=-0.18),
    "accessible": Look("X has it (control)", COLOURS["blue"], "s", dodge=0.18),
}
CHANCE = 0.5  # of two options (App. B)
UNPRINTED = "The paper prints no numbers of its Figures 4 and 5, so that this run stands alone."


def figure2(metrics: pd.DataFrame) -> tuple[Figure, str]:
    """Figure 2: one kind of question against all of a set, short context, by model.

    The paper draws some models; all of its Table 9 are here. InputError: metrics without FANToM.
    """
    kinds = ["belief_choice", "answerability_list", "infoaccess_list", "all"]
    points = _short_scores(metrics, kinds)
    points["row"] = points["model"]
    looks = {name: look for name, look in PROMPTS.items() if name in set(points["prompting"])}
    with plotting.style():
        titles = [METRIC_NAMES[kind].replace(" ", "\n") for kind in kinds]
        figure, panels, points = _source_panels(points, titles)
        for axes, kind in zip(panels, kinds, strict=True):
            shown = points[points["column"] == kind]
            for prompting, look in looks.items():
                plotting.interval_dots(axes, shown[shown["prompting"] == prompting], look)
            plotting.share_axis(axes, "Share correct")
        plotting.reference_line(panels[0], CHANCE, "dashed")
        chance = f"chance of two options ({printed.share(CHANCE)})"
        more = plotting.source_handles(points) | {chance: plotting.line_handle("dashed")}
        plotting.dots_legend(figure, looks, more)
    about = (
        f"FANToM, Figure 2: accuracy on {', '.join(METRIC_NAMES[kind] for kind in kinds[:-1])}, and the "
        "share of sets with all questions but BeliefQ [Dist.] right (All), short context."
    )
    line = f"Dashed line: chance ({printed.share(CHANCE)}) of two options; lists and All have none."
    return figure, " ".join([about, *_sentences(points, metrics, kinds), line])


def figure3(metrics: pd.DataFrame) -> tuple[Figure, str]:
    """Figure 3: token F1 on facts against accuracy on beliefs (Dist.), short context, by model.

    InputError: metrics without FANToM.
    """
    kinds = list(FACT_AND_BELIEF)
    points = _short_scores(metrics, kinds)
    tuned = points["prompting"].where(points["prompting"] == "ft", "none")
    points["row"] = points["model"] + tuned.map(PROMPTING)
    with plotting.style():
        figure, panels, points = _source_panels(points, ["without CoT", "with CoT"])
        for axes, is_cot in zip(panels, (False, True), strict=True):
            shown = points[points["prompting"].eq("cot") == is_cot]
            _connect(axes, shown, FACT_AND_BELIEF)
            for kind, look in FACT_AND_BELIEF.items():
                plotting.interval_dots(axes, shown[shown["column"] == kind], look)
            for y in sorted(set(points["y"]) - set(shown["y"])):
                plotting.say(axes, y, "no number")
            plotting.share_axis(axes, "Token F1 or accuracy (shares)")
        plotting.dots_legend(figure, FACT_AND_BELIEF, plotting.source_handles(points))
    about = (
        "FANToM, Figure 3: token F1 on FactQ, and accuracy on BeliefQ [Dist.] about the same "
        "facts, short context, without and with chain of thought. A thin line joins the two of a "
        "model."
    )
    return figure, " ".join([about, *_sentences(points, metrics, kinds)])


def figure4(metrics: pd.DataFrame) -> tuple[Figure, str]:
    """Figure 4: errors on list questions, as shares of all of them, by model and method.

    InputError: metrics without FANToM's list errors.
    """
    rows, shares = _error_shares(metrics, "list_error", LIST_ERRORS)
    figure = _error_bars(rows, shares, LIST_ERRORS, "list", "Share of list questions")
    about = (
        "FANToM, Figure 4: errors on the list questions (inaccessible scenario) by model and "
        f"method, as shares of all of them. {UNPRINTED} An answer that names nobody, or that is "
        "missing, leaves out who knows."
    )
    return figure, " ".join([about, *_error_sentences(rows, metrics)])


def figure5(metrics: pd.DataFrame) -> tuple[Figure, str]:
    """Figure 5: errors on yes/no questions, as shares of all of them, by model and method.

    InputError: metrics without FANToM's yes/no errors.
    """
    rows, shares = _error_shares(metrics, "yn_error", YN_ERRORS)
    figure = _error_bars(rows, shares, YN_ERRORS, "yn", "Share of yes/no questions")
    about = (
        "FANToM, Figure 5: errors on the yes/no questions (inaccessible scenario) by model and "
        f"method, as shares of all of them. {UNPRINTED} A false yes is about someone who does "
        "not know, a false no about someone who knows; a missing answer is neither."
    )
    return figure, " ".join([about, *_error_sentences(rows, metrics)])


def aggregation(metrics: pd.DataFrame) -> tuple[Figure, str]:
    """All* and All when a set, a part or a conversation must be right (no figure of the paper).

    InputError: metrics without FANToM's All or All*.
    """
    kinds = ["all_star", "all"]
    rows = pd.concat([_rows(metrics, kind, list(LEVELS)) for kind in kinds])
    looks = {part: look for part, look in LEVELS.items() if part in set(rows["part"])}
    figure = _method_dots(rows, kinds, "part", looks, "Share of units right", [])
    about = (
        "FANToM: how All* (all six kinds of question right) and All (all but BeliefQ [Dist.]) fall "
        f"as more must be right at once: {', '.join(look.label for look in looks.values())} (no "
        "figure of the paper). Inaccessible scenario; whole conversations are asked for with the "
        "full context alone."
    )
    run = numbers.run_sentences(rows, metrics, "sets, parts or conversations a point")
    return figure, " ".join([about, *run])


def scenarios(metrics: pd.DataFrame) -> tuple[Figure, str]:
    """Beliefs of who lacks the information and, as control, of who has it (no figure of the paper).

    InputError: metrics without FANToM's belief questions.
    """
    kinds = ["belief_choice", "belief_dist"]
    run = numbers.of_run(metrics)
    rows = run[run["metric"].isin(kinds) & run["part"].eq("") & run["scenario"].isin(TASKS)]
    demand_metric(rows, "fantom", " or ".join(kinds))
    looks = {task: look for task, look in TASKS.items() if task in set(rows["scenario"])}
    figure = _method_dots(rows, kinds, "scenario", looks, "Accuracy (share correct)", kinds[:1])
    about = (
        "FANToM: accuracy on BeliefQ about a person X who lacks the information (inaccessible "
        "scenario) and, as control, about one who has it (accessible; no figure of the paper). "
        "Who always tells what was said is right on the control alone."
    )
    line = f"Dashed line: chance ({printed.share(CHANCE)}) of two options."
    sentences = numbers.run_sentences(rows, metrics, "answers a point")
    return figure, " ".join([about, *sentences, line])


# ---- the numbers ---------------------------------------------------------------------------------


def _short_scores(metrics: pd.DataFrame, kinds: list[str]) -> pd.DataFrame:
    """Scores with the short context in shares, the paper's above this run's."""
    cells = numbers.scores(metrics).query("context == 'short' and column in @kinds")
    shares = {name: cells[name] / 100 for name in ("value", "ci_low", "ci_high")}
    return cells.assign(**shares).reset_index(drop=True)


def _rows(metrics: pd.DataFrame, metric: str, parts: list[str] | None = None) -> pd.DataFrame:
    """This run's rows of a metric in the inaccessible scenario: some `parts`, by default all."""
    rows = numbers.of_run(metrics).query("metric == @metric and scenario == 'inaccessible'")
    rows = rows if parts is None else rows[rows["part"].isin(parts)]
    return demand_metric(rows, "fantom", metric)


def _error_shares(
    metrics: pd.DataFrame, metric: str, looks: dict[str, Look]
) -> tuple[pd.DataFrame, dict[str, pd.DataFrame]]:
    """The rows of errors, and by family a row a model and method with a share each of `looks`.

    What is no error counts as correct.
    """
    rows = _rows(metrics, metric)
    shares = {}
    for family, own in rows.groupby("family", sort=False):
        parts = own.pivot(index=["model", "method"], columns="error", values="value")
        parts = parts.reindex(columns=list(looks)).fillna(0)
        parts["correct"] = (1 - parts.sum(axis=1)).clip(lower=0).round(6)
        shares[family] = parts
    return rows, shares


# ---- drawing -------------------------------------------------------------------------------------


def _source_panels(
    points: pd.DataFrame, titles: list[str]
) -> tuple[Figure, list[Axes], pd.DataFrame]:
    """A panel a title, the paper's rows above this run's; the points with the y of their row."""
    points, positions = beside.in_rows(points, "row")
    return *plotting.panels(titles, positions, row_height=0.24, extra=1.6), points


def _method_panels(
    rows: pd.DataFrame, titles: list[str], row_height: float
) -> tuple[Figure, list[Axes], pd.Series]:
    """A panel a title with a row a method below each model; y by (model, method)."""
    groups = rows.groupby("model", sort=False)["method"]
    asked = {model: beside.known_first(METHOD_NAMES, own) for model, own in groups}
    named = {model: [METHOD_NAMES.get(m, m) for m in methods] for model, methods in asked.items()}
    positions = plotting.row_positions(named)
    # Many rows move closer, so that a figure stays on its page.
    height = min(row_height, max(8 / len(positions), 0.17))
    figure, panels = plotting.panels(titles, positions, height, extra=1.3)
    keys = [(model, method) for model, methods in asked.items() for method in methods]
    y = [positions[model, METHOD_NAMES.get(method, method)] for model, method in keys]
    return figure, panels, pd.Series(y, index=pd.MultiIndex.from_tuples(keys))


def _error_bars(
    rows: pd.DataFrame,
    shares: dict[str, pd.DataFrame],
    looks: dict[str, Look],
    kind: str,
    axis: str,
) -> Figure:
    """A panel a family with a stacked bar a model and method, and n at its end."""
    drawn = [name for name in looks if any(parts[name].gt(0).any() for parts in shares.values())]
    n = rows.groupby(["family", "model", "method"])["n"].max()
    with plotting.style():
        titles = [METRIC_NAMES[f"{family}_{kind}"] for family in shares]
        figure, panels, y = _method_panels(rows, titles, 0.24)
        for axes, (family, parts) in zip(panels, shares.items(), strict=True):
            at = y[parts.index].to_numpy()
            plotting.stacked_bars(axes, parts[drawn], at, looks, least=0.1)
            for key, height in y[parts.index].items():
                axes.text(1.04, height, f"n = {n[family, *key]}", va="center", fontsize=6.5)
            plotting.share_axis(axes, axis)
        plotting.bars_legend(figure, {name: looks[name] for name in drawn})
    return figure


def _method_dots(
    rows: pd.DataFrame,
    kinds: list[str],
    level: str,
    looks: dict[str, Look],
    axis: str,
    guessed: list[str],
) -> Figure:
    """A panel a kind with dots by the column `level`; kinds in `guessed` have a chance line."""
    with plotting.style():
        figure, panels, y = _method_panels(rows, [METRIC_NAMES[kind] for kind in kinds], 0.3)
        rows = rows.assign(y=[y[key] for key in zip(rows["model"], rows["method"], strict=True)])
        for axes, kind in zip(panels, kinds, strict=True):
            shown = rows[rows["metric"] == kind]
            for name, look in looks.items():
                plotting.interval_dots(axes, shown[shown[level] == name], look)
            plotting.share_axis(axes, axis)
            if kind in guessed:
                plotting.reference_line(axes, CHANCE, "dashed")
        more = plotting.source_handles(rows)
        if guessed:
            more[f"chance ({printed.share(CHANCE)})"] = plotting.line_handle("dashed")
        plotting.dots_legend(figure, looks, more, columns=4)
    return figure


def _connect(axes: Axes, points: pd.DataFrame, looks: dict[str, Look]) -> None:
    """A thin line between the two dots of each row of one panel."""
    ends = points.pivot(index="y", columns="column", values="value").dropna()
    for y, values in ends.iterrows():
        heights = [y + look.dodge for look in looks.values()]
        axes.plot(values[list(looks)], heights, color="#c8c8c8", linewidth=0.9, gid="pair")


# ---- sentences -----------------------------------------------------------------------------------


def _sentences(points: pd.DataFrame, metrics: pd.DataFrame, kinds: list[str]) -> list[str]:
    names = {kind: METRIC_NAMES[kind] for kind in kinds}
    about = numbers.notes(points, metrics, names, "sets or questions a point")
    return ["Hollow points are the paper's, filled ones this run's.", *about]


def _error_sentences(rows: pd.DataFrame, metrics: pd.DataFrame) -> list[str]:
    return numbers.run_sentences(rows, metrics, "questions a bar", "intervals that are not drawn")
