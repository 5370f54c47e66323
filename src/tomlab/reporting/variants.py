"""Questions put in another order or wording (`scoring.variants`) as a table, and as a figure."""

import pandas as pd
from IPython.display import Markdown
from matplotlib.figure import Figure

from tomlab.records.published import Wording
from tomlab.reporting import beside, charts, plotting, printed
from tomlab.reporting.printed import ABSENT, RUN, WORDS, Table

HEADS = WORDS["variants_heads"]
# What the figure shows; where answers choose nothing, the difference.
CHOICES, OTHERWISE = ("first_option", "same_answer"), ("difference",)
_KEYS = ["model", "method", "asked_as"]


def grid(found: pd.DataFrame) -> pd.DataFrame | Markdown:
    """The numbers of one model by method and variant; a sentence where there are none.

    found: of `scoring.variants.variants`, here as below.
    """
    if found.empty:
        return Markdown(f"{WORDS['variants_none']}.")
    wide = printed.grid(found, ["method", "asked_as"], "metric")
    return wide[[metric for metric in HEADS if metric in wide]].rename(columns=HEADS)


def table(found: pd.DataFrame, wording: Wording) -> Table:
    """A row a model, method and variant, a column a number, n and groups below each."""
    forms = {"difference": printed.signed}
    cells = [
        beside.text_of(row, forms.get(row.metric, printed.share))
        for row in found.assign(source=RUN, mark="").itertuples()
    ]
    wide = found.assign(text=cells).pivot(index=_KEYS, columns="metric", values="text")
    wide = wide.reindex(index=pd.MultiIndex.from_frame(found[_KEYS].drop_duplicates()))
    wide = wide[[metric for metric in HEADS if metric in wide]].fillna(ABSENT).reset_index()
    shown = wide.replace({"method": {**wording.methods}})
    shown = shown.rename(columns={"model": "Model", "method": "Method", "asked_as": "Put"} | HEADS)
    tidy = found.assign(source=RUN, mark="")
    notes = WORDS["variants_notes"] if len(found) else [f"{WORDS['variants_none']}."]
    caption = WORDS["variants"].format(wording=wording)
    return Table(
        "variants",
        tidy,
        printed.once(shown, [["Model"], ["Method"]]),
        caption,
        [note.format(wording=wording) for note in notes],
    )


def figure(found: pd.DataFrame, wording: Wording) -> tuple[Figure, str]:
    """The share that chose the option shown first, beside a line at .5, and the share of answers
    that stay the same; where answers choose nothing the difference. The caption.
    """
    chooses = found["metric"].isin(CHOICES).any()
    shown = [m for m in (CHOICES if chooses else OTHERWISE) if found["metric"].eq(m).any()]
    own = found[found["metric"].isin(shown)]
    own = own.assign(method=own["method"].replace({**wording.methods}))
    blocks = {m: list(rows.unique()) for m, rows in own.groupby("model", sort=False)["method"]}
    positions = plotting.row_positions(blocks or {"": [WORDS["variants_none"]]})
    y = [positions[place] for place in zip(own["model"], own["method"], strict=True)]
    names = list(own["asked_as"].unique())
    drawn = charts.dots(
        own.assign(y=pd.Series(y, own.index, dtype=float), source=RUN, mark=""),
        positions,
        ("metric", {metric: HEADS[metric] for metric in shown or OTHERWISE}),
        ("asked_as", plotting.looks(names, 0.18)),
        "Share of answers" if chooses else "Score, less that as asked",
        wording.groups,
        is_difference=not chooses,
        lines={"dashed": (0.5, WORDS["variants_unbiased"])} if "first_option" in shown else {},
        lined=["first_option"],
        empty="not asked",
        empty_x=0.5 if chooses else -0.5,
    )
    caption = WORDS["variants_figure" if chooses else "variants_differences"]
    told = caption.format(wording=wording, n=printed.span(own["n"]))
    return drawn, " ".join([told, *beside.grey(own.assign(source=RUN), wording.groups)])
