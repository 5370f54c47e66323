"""What repeats would bring (`scoring.repeats`), told, tabulated and drawn."""

from collections.abc import Iterable

import pandas as pd
from IPython.display import Markdown, display
from matplotlib.figure import Figure

from tomlab.models.specs import ModelSpec, is_sampled
from tomlab.records.published import Wording
from tomlab.reporting import beside, plotting, printed
from tomlab.scoring.repeats import PARTS, Split, split

REPEATS = (1, 2, 3, 5, 8, 10, 20)


def show(scores: pd.DataFrame, group: str, wording: Wording, model: ModelSpec) -> None:
    """Display them by method for the scores of one model, or why there is nothing to tell."""
    if not is_sampled(model) or not scores["sample"].any():
        display(Markdown(printed.WORDS["repeats_none"]))
        return
    methods = beside.known_first(wording.methods, scores["method"])
    parts = {name: split(scores[scores["method"] == name], group) for name in methods}
    found = {wording.methods.get(name, name): one for name, one in parts.items()}
    display(printed.show(table(found, wording)))
    plotting.show(*figure(found, wording))


def table(found: dict[str, Split], wording: Wording) -> printed.Table:
    """A row a method: variances, the share of repeats, half-widths, the number that pays."""
    tidy, rows = [], []
    for method, one in found.items():
        widths, n = {f"±, K = {k}": one.half_width(k) for k in REPEATS}, one.share
        parts = {f"Between {name}": getattr(one, name) for name in PARTS}
        tidy.append({"method": method, **parts, **vars(n), **widths, "K that pays": one.pays()})
        told = {name: f"{value:.3f}" for name, value in parts.items()}
        told |= {f"Between {name}": "0†" for name in one.below_0}
        told["Share of repeats"] = printed.cell(n.value, n.ci_low, n.ci_high)
        told["n"] = printed.n_of(n.n, n.n_groups)
        told |= {name: f"{width:.3f}" for name, width in widths.items()}
        rows.append({"Method": method, **told, "K that pays": f"{one.pays():.0f}"})
    shown = pd.DataFrame(rows).replace("nan", printed.ABSENT)
    notes = [note.format(wording=wording) for note in printed.WORDS["repeats"]]
    tidy = pd.DataFrame(tidy).assign(source=printed.RUN, mark="")
    return printed.Table("repeats", tidy, shown, notes[0], notes[1:])


def figure(found: dict[str, Split], wording: Wording) -> tuple[Figure, str]:
    """The half-width against the number of repeats, a line a method, and the caption."""
    with plotting.style():
        axes = Figure(figsize=(0.7 * plotting.WIDTH, 2.8), layout="constrained").subplots()
        axes.set(xlim=(0, 21), xticks=REPEATS, xlabel="Answers to each question, K")
        for (method, one), look in zip(found.items(), plotting.looks(found).values(), strict=True):
            label = f"{method} (n = {printed.n_of(one.share.n, one.share.n_groups)})"
            colour = plotting.FEW if printed.is_few(_counts([one])).all() else look.colour
            line = {"color": colour, "marker": look.marker, "label": label, "gid": method}
            axes.plot(REPEATS, [one.half_width(k) for k in REPEATS], **line, ms=plotting.DOT)
            axes.scatter(k := one.pays(), one.half_width(k), 70, "none", edgecolors=colour)
        axes.update_datalim([(1, 0)])
        axes.set(ylim=(0, None), ylabel="Half-width of the 95 % interval")
        axes.figure.legend(loc="outside lower center", ncols=2)
    counts = _counts(found.values())
    told = printed.WORDS["repeats_figure"].format(wording=wording, n=printed.span(counts["n"]))
    return axes.figure, " ".join([told, *beside.grey(counts, wording.groups)])


def _counts(found: Iterable[Split]) -> pd.DataFrame:
    """n and n_groups of each method of this run."""
    rows = [(one.share.n, one.share.n_groups) for one in found]
    return pd.DataFrame(rows, columns=["n", "n_groups"]).assign(source=printed.RUN)
