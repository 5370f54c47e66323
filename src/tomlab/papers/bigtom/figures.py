"""BigToM's figures: Figure 3 with this run beside the paper, and what became of each answer."""

import pandas as pd
from matplotlib.figure import Figure

from tomlab.benchmarks.bigtom.paper import PUBLICATION
from tomlab.errors import InputError
from tomlab.papers.bigtom.tables import (
    _TIDY,
    BELIEF_WORDS,
    LOOKS,
    PAPER,
    RUN,
    VARIABLES,
    _answered,
    _bigtom,
    _failing,
    _methods,
    _paper_sentence,
    _run_sentences,
)
from tomlab.reporting import plotting
from tomlab.reporting import printed as report

# One item has two options; two items are both right by chance when guessed independently.
CHANCE = {"dashed": (0.5, "chance, one item (.5)"), "dotted": (0.25, "chance, both items (.25)")}


def figure3(
    metrics: pd.DataFrame, method: str = "0-shot", initial_belief: int = 1
) -> tuple[Figure, str]:
    """Figure 3: accuracy on TB, FB and both, by inference; the paper's models above this run's.

    The paper draws `method` 0-shot with initial belief (1); others are drawn from Table 7.
    Returns the figure and its caption. InputError: a method or initial belief that neither the
    paper nor the run has, or metrics without BigToM.
    """
    known = _answered(metrics)
    _demand("method", method, known["method"])
    _demand("initial_belief", initial_belief, known["initial_belief"])
    cells = known.query("method == @method and initial_belief == @initial_belief")
    people = _people().query("initial_belief == @initial_belief")
    points = pd.concat([people, cells], ignore_index=True)
    models = {source: points.loc[points["source"] == source, "model"] for source in (PAPER, RUN)}
    positions = plotting.row_positions({block: list(m.unique()) for block, m in models.items()})
    points["y"] = [positions[key] for key in zip(points["source"], points["model"], strict=True)]
    with plotting.style():
        figure = _draw_figure3(points, positions)
    return figure, _caption3(points, metrics, method, initial_belief)


def _draw_figure3(points: pd.DataFrame, positions: pd.Series) -> Figure:
    titles = [f"[{letter}] {VARIABLES[v][0]}" for letter, v in zip("abc", VARIABLES, strict=True)]
    figure, panels = plotting.panels(titles, positions)
    for axes, variable in zip(panels, VARIABLES, strict=True):
        shown = points[points["variable"] == variable]
        for contingency, look in LOOKS.items():
            plotting.interval_dots(axes, shown[shown["contingency"] == contingency], look)
        for dash, (value, _) in CHANCE.items():
            plotting.chance_line(axes, value, dash)
        for y in sorted(set(points["y"]) - set(shown["y"])):
            axes.text(0.75, y, "no number", ha="center", va="center", color="#6b6b6b", fontsize=7)
        plotting.share_axis(axes, "Accuracy (share correct)")
    handles = {look.label: plotting.dot_handle(look) for look in LOOKS.values()}
    present = {
        "paper, no interval printed": (plotting.HOLLOW, points["source"].eq(PAPER).any()),
        "this run, 95 % interval": (plotting.INTERVAL, points["source"].eq(RUN).any()),
        "fails a check, see caption": (plotting.MARKED, points["mark"].ne("").any()),
    }
    handles |= {name: handle for name, (handle, is_drawn) in present.items() if is_drawn}
    handles |= {name: plotting.line_handle(dash) for dash, (_, name) in CHANCE.items()}
    plotting.legend_below(figure, handles, columns=3)
    return figure


def _caption3(points: pd.DataFrame, metrics: pd.DataFrame, method: str, belief: int) -> str:
    inferences = ", ".join(title.lower() for title, _ in VARIABLES.values())
    about = (
        f"BigToM, Figure 3: {method} accuracy {BELIEF_WORDS[belief]}, by inference ({inferences}). "
        "TB = true belief, FB = false belief, TB ∧ FB = both right on the same template. Hollow "
        "points are the paper's, filled ones this run's."
    )
    lines = "; ".join(f"{dash} = {name}" for dash, (_, name) in CHANCE.items())
    models = points.query("model != 'people'")
    run = _run_sentences(models, metrics)
    paper = _paper_sentence(models, "table7_models")
    people = _people_sentence(points.query("model == 'people'"))
    return " ".join([about, *run, paper, people, f"Lines: {lines}.", *_failing(points)])


def outcomes(metrics: pd.DataFrame) -> tuple[Figure, str]:
    """What became of each answer (no figure of the paper): six outcome shares by model and method.

    Returns the figure and its caption. InputError: metrics without BigToM's outcome rates.
    """
    rates = _bigtom(metrics).query("metric == 'outcome_rate'")
    if rates.empty:
        raise InputError("metrics: no rows of benchmark 'bigtom' with metric 'outcome_rate'")
    models, methods = list(rates["model"].unique()), _methods(rates["method"])
    with plotting.style():
        figure = plotting.outcome_bars(rates, models, methods)
    caption = (
        f"BigToM: what became of each answer of {', '.join(models)} by prompting method "
        f"({', '.join(methods)}), as shares of all n = {report.span(rates['n'])} answers of a model "
        f"and method. {report.CREDIT}. unparsed = names no option; truncated = cut off at the length "
        "limit; refused = declined to answer; error = the request failed."
    )
    return figure, caption


def _people() -> pd.DataFrame:
    rows = PUBLICATION.read("human_baseline").rename(columns={"n_participants": "n"})
    value = rows["accuracy_percent"] / 100
    rows = rows.assign(source=PAPER, model="people", value=value, mark="", reason="")
    return rows.reindex(columns=_TIDY)


def _demand(name: str, value: object, known: pd.Series) -> None:
    if value not in set(known):
        raise InputError(
            f"{name}: found {value!r}, expected one of: {', '.join(map(str, known.unique()))}"
        )


def _people_sentence(people: pd.DataFrame) -> str:
    if people.empty:
        return "The paper tested people with the initial belief stated only."
    values = "; ".join(
        f"{VARIABLES[row.variable][0]} {LOOKS[row.contingency].label} {100 * row.value:.0f} %"
        for row in people.itertuples()
    )
    return (
        f"People: {values} (n = {report.span(people['n'])} participants; "
        f"{PUBLICATION.source('human_baseline')}); their other values are drawn in the "
        "paper's figure without a number."
    )
