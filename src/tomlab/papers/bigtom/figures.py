"""BigToM's Figure 2b, of the paper alone, and Figure 3, with this run beside the paper."""

import pandas as pd
from matplotlib.figure import Figure

from tomlab.benchmarks.bigtom.paper import PUBLICATION, WORDING
from tomlab.papers.bigtom import item_tables
from tomlab.papers.bigtom.tables import (
    BELIEF_WORDS,
    LOOKS,
    TIDY,
    VARIABLES,
    WORDS,
    answered,
    failing,
    paper_sentence,
    run_sentences,
)
from tomlab.reporting import beside, charts, plotting, printed
from tomlab.reporting.beside import demand_level
from tomlab.reporting.printed import PAPER

ONE, BOTH = WORDS["chance"].values()
CHANCE = {"dashed": (ONE, "chance, one item (.5)"), "dotted": (BOTH, "chance, both items (.25)")}


def figure2b() -> tuple[Figure, str]:
    """Figure 2b: how people rated the items beside others', as Table 3's contrasts by measure.

    The paper prints no numbers of the mean ratings that it draws. Returns the figure and its
    caption.
    """
    points, positions = beside.in_rows(item_tables.contrasts().assign(panel=""), "name")
    looks = item_tables.CONTRASTS
    legend = plotting.dot_handles(looks)
    legend |= plotting.source_handles(points, run="paper, 95 % credible interval")
    shown = ("panel", {"": ""}), ("contrast", looks), "Difference of mean ratings (scale points)"
    size = {"extra": 1.2, "row_height": 0.42, "is_difference": True}
    figure = charts.dots(points, positions, *shown, WORDING.groups, legend=legend, **size)
    [axes] = figure.axes
    ticks = [-1.5, -1, -0.5, 0, 0.5, 1, 1.5]
    axes.set(xlim=(-1.75, 1.75))
    axes.set_xticks(ticks, labels=[f"{tick:g}".replace("-", "−") for tick in ticks])
    about = item_tables.rating_sentence("table3_rating_contrasts", "figure2b")
    return figure, " ".join([about, *item_tables.failing(points)])


def figure3(
    metrics: pd.DataFrame, method: str = "0-shot", initial_belief: int = 1
) -> tuple[Figure, str]:
    """Figure 3: accuracy on TB, FB and both, by inference; the paper's models above this run's.

    The paper draws `method` 0-shot with initial belief (1); others are drawn from Table 7.
    Returns the figure and its caption. InputError: a method or initial belief that neither the
    paper nor the run has, or metrics without BigToM.
    """
    cells = answered(metrics)
    demand_level("method", method, cells["method"])
    demand_level("initial_belief", initial_belief, cells["initial_belief"])
    points = pd.concat([_people(), cells.query("method == @method")], ignore_index=True)
    points, positions = beside.in_rows(points.query("initial_belief == @initial_belief"))
    titles = {v: f"[{place}] {VARIABLES[v][0]}" for place, v in zip("abc", VARIABLES, strict=True)}
    panels, series, axis = ("variable", titles), ("contingency", LOOKS), "Accuracy (share correct)"
    shown, empty = (panels, series, axis, WORDING.groups), {"empty": "no number", "empty_x": 0.75}
    figure = charts.dots(points, positions, *shown, lines=CHANCE, **empty)
    return figure, _caption3(points, metrics, method, initial_belief)


def _caption3(points: pd.DataFrame, metrics: pd.DataFrame, method: str, belief: int) -> str:
    inferences = ", ".join(title.lower() for title, _ in VARIABLES.values())
    told = {"method": method, "belief": BELIEF_WORDS[belief], "inferences": inferences}
    lines = "; ".join(f"{dash} = {name}" for dash, (_, name) in CHANCE.items())
    people = points.query("model == 'people'")
    models = points.drop(people.index)
    sentences = [*run_sentences(models, metrics), paper_sentence(models, "table7_models")]
    sentences += [_people_sentence(people), f"Lines: {lines}.", *failing(points)]
    sentences += beside.grey(points, WORDING.groups)
    return " ".join([WORDS["figure3"].format(**told), *sentences])


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
    source = PUBLICATION.source("human_baseline")
    return WORDS["people"].format(values=values, n=printed.span(people["n"]), source=source)
