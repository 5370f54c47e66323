"""BigToM's Figure 2b, of the paper alone, and Figure 3, with this run beside the paper."""

import pandas as pd

from tomlab.benchmarks.bigtom.paper import PUBLICATION, WORDING
from tomlab.papers.bigtom import item_tables
from tomlab.papers.bigtom.tables import (
    LOOKS,
    TIDY,
    VARIABLES,
    WORDS,
    answered,
    failing,
    paper_sentence,
    run_sentences,
)
from tomlab.reporting import beside, charts, headings, plotting, printed
from tomlab.reporting.beside import demand_level
from tomlab.reporting.plotting import Drawn
from tomlab.reporting.printed import PAPER

ONE, BOTH = WORDS["chance"].values()
CHANCE = {"dashed": (ONE, "chance, one item (.5)"), "dotted": (BOTH, "chance, both items (.25)")}


def figure2b() -> Drawn:
    """Figure 2b: how people rated the items beside others', as Table 3's contrasts by measure.

    The paper prints no numbers of the mean ratings that it draws.
    """
    contrasts = item_tables.contrasts()
    points, positions = beside.in_rows(contrasts.assign(panel=""), "name")
    looks = item_tables.CONTRASTS
    legend = plotting.dot_handles(looks)
    legend |= plotting.source_handles(points, run="paper, 95 % credible interval")
    shown = ("panel", {"": ""}), ("contrast", looks), "Difference of mean ratings (scale points)"
    title = _ranking(contrasts.query("measure == 'aggregate'"))
    size = {"extra": 1.2, "row_height": 0.42, "is_difference": True, "title": title}
    figure = charts.dots(points, positions, *shown, WORDING.groups, legend=legend, **size)
    [axes] = figure.axes
    ticks = [-1.5, -1, -0.5, 0, 0.5, 1, 1.5]
    axes.set(xlim=(-1.75, 1.75))
    axes.set_xticks(ticks, labels=[f"{tick:g}".replace("-", "−") for tick in ticks])
    said = {
        "paper": item_tables.aggregates(),
        "run": WORDS["unrated"],
        "not shown": WORDS["limits"]["figure2b"],
    }
    about = item_tables.rating_sentence("table3_rating_contrasts", "figure2b")
    return Drawn(figure, about, item_tables.failing(points), said, contrasts, figure2b)


def figure3(metrics: pd.DataFrame, method: str = "0-shot") -> Drawn:
    """Figure 3: accuracy on TB, FB and both, by inference, with the initial belief stated and not.

    The paper's models stand above this run's. It draws `method` 0-shot with the belief stated;
    others are drawn from Table 7. InputError: a method that neither the paper nor the run has, or
    metrics without BigToM.
    """
    cells = answered(metrics)
    demand_level("method", method, cells["method"])
    points = pd.concat([_people(), cells.query("method == @method")], ignore_index=True)
    points = points.assign(
        panel=list(zip(points["variable"], points["initial_belief"], strict=True))
    )
    placed, positions = beside.in_rows(points)
    titles = {
        (v, belief): f"[{place}] {VARIABLES[v][0]},\n{WORDS['stated'][belief]}"
        for belief in (1, 0)
        for place, v in zip("abc", VARIABLES, strict=True)
    }
    both = points.query("contingency == 'tb_and_fb' and initial_belief == 1")
    both = both.assign(what=both["variable"].map(lambda v: VARIABLES[v][0].lower()))
    panels, series, axis = ("panel", titles), ("contingency", LOOKS), "Accuracy (share correct)"
    figure = charts.dots(
        *(placed, positions, panels, series, axis, WORDING.groups),
        lines=CHANCE,
        empty="no number",
        empty_x=0.75,
        columns=3,
        row_height=0.25,
        extra=1.8,
        title=headings.title(both, BOTH, WORDS["titles"]["figure3"], chance=printed.share(BOTH)),
    )
    place = WORDS["place"].format(source=PUBLICATION.source("table7_models"), method=method)
    said = headings.said(both, place, WORDS["limits"]["figure3"])
    caption = headings.counted(WORDS["figure3"].format(method=method), points, WORDING.groups)
    notes = _notes3(points, metrics)
    return Drawn(figure, caption, notes, said, points.drop(columns="panel"), figure3)


def _notes3(points: pd.DataFrame, metrics: pd.DataFrame) -> list[str]:
    people = points.query("model == 'people'")
    models = points.drop(people.index)
    sentences = [*run_sentences(models, metrics), paper_sentence(models, "table7_models")]
    sentences += [_people_sentence(people), *failing(points)]
    return sentences + beside.grey(points, WORDING.groups)


def _ranking(contrasts: pd.DataFrame) -> str:
    """A title: whose items were rated above or below whose, by the intervals of contrasts a-b."""
    told = []
    for row in contrasts.itertuples():
        a, b = (WORDS["items"][name] for name in row.contrast.split("-"))
        side = "above" if row.ci_low > 0 else "below" if row.ci_high < 0 else "open"
        told.append(WORDS["titles"]["figure2b"][side].format(a=a, b=b))
    return WORDS["titles"]["figure2b"]["all"].format(told=headings.listed(told))


def _people() -> pd.DataFrame:
    rows = PUBLICATION.read("human_baseline").rename(columns={"n_participants": "n"})
    value = rows["accuracy_percent"] / 100
    rows = rows.assign(source=PAPER, model="people", value=value, mark="", reason="")
    return rows.reindex(columns=TIDY)


def _people_sentence(people: pd.DataFrame) -> str:
    values = "; ".join(
        f"{VARIABLES[row.variable][0]} {LOOKS[row.contingency].label} {printed.share(row.value)}"
        for row in people.itertuples()
    )
    source = PUBLICATION.source("human_baseline")
    return WORDS["people"].format(values=values, n=printed.span(people["n"]), source=source)
