"""BigToM's Figure 3, with this run beside the paper."""

import pandas as pd
from matplotlib.figure import Figure

from tomlab.benchmarks.bigtom.paper import PUBLICATION
from tomlab.papers.bigtom.tables import (
    BELIEF_WORDS,
    LOOKS,
    TIDY,
    VARIABLES,
    answered,
    failing,
    paper_sentence,
    run_sentences,
)
from tomlab.reporting import beside, plotting, printed
from tomlab.reporting.beside import demand_level
from tomlab.reporting.printed import PAPER

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
    known = answered(metrics)
    demand_level("method", method, known["method"])
    demand_level("initial_belief", initial_belief, known["initial_belief"])
    cells = known.query("method == @method and initial_belief == @initial_belief")
    people = _people().query("initial_belief == @initial_belief")
    points = pd.concat([people, cells], ignore_index=True)
    points, positions = beside.in_rows(points)
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
            plotting.say(axes, y, "no number", x=0.75)
        plotting.share_axis(axes, "Accuracy (share correct)")
    lines = {name: plotting.line_handle(dash) for dash, (_, name) in CHANCE.items()}
    plotting.dots_legend(figure, LOOKS, plotting.source_handles(points) | lines)
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
    run = run_sentences(models, metrics)
    paper = paper_sentence(models, "table7_models")
    people = _people_sentence(points.query("model == 'people'"))
    return " ".join([about, *run, paper, people, f"Lines: {lines}.", *failing(points)])


def _people() -> pd.DataFrame:
    rows = PUBLICATION.read("human_baseline").rename(columns={"n_participants": "n"})
    value = rows["accuracy_percent"] / 100
    rows = rows.assign(source=PAPER, model="people", value=value, mark="", reason="")
    return rows.reindex(columns=TIDY)


def _people_sentence(people: pd.DataFrame) -> str:
    if people.empty:
        return "The paper tested people with the initial belief stated only."
    values = "; ".join(
        f"{VARIABLES[row.variable][0]} {LOOKS[row.contingency].label} {100 * row.value:.0f} %"
        for row in people.itertuples()
    )
    return (
        f"People: {values} (n = {printed.span(people['n'])} participants; "
        f"{PUBLICATION.source('human_baseline')}); their other values are drawn in the "
        "paper's figure without a number."
    )
