"""Questions put in another order or wording (`scoring.variants`) as a table, and as a figure."""

import pandas as pd

from tomlab.records.published import Wording
from tomlab.reporting import beside, charts, headings, plotting, printed
from tomlab.reporting.plotting import Drawn
from tomlab.reporting.printed import ABSENT, RUN, WORDS, Table

HEADS = WORDS["variants_heads"]
# What the figure shows; where answers choose nothing, the difference.
CHOICES, OTHERWISE = ("first_option", "same_answer"), ("difference",)
_KEYS = ["model", "method", "asked_as"]


def table(found: pd.DataFrame, wording: Wording) -> Table:
    """A row a model, method and variant, a column a number, n and groups below each.

    found: of `scoring.variants.variants`, here as below.
    """
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


def figure(found: pd.DataFrame, wording: Wording) -> Drawn:
    """The share that chose the option shown first, beside a line at .5, and the share of answers
    that stay the same; where answers choose nothing the difference.
    """
    chooses = found["metric"].isin(CHOICES).any()
    shown = [m for m in (CHOICES if chooses else OTHERWISE) if found["metric"].eq(m).any()]
    own = found[found["metric"].isin(shown)]
    own = own.assign(method=own["method"].replace({**wording.methods}))
    blocks = {m: list(rows.unique()) for m, rows in own.groupby("model", sort=False)["method"]}
    positions = plotting.row_positions(blocks or {"": [WORDS["variants_none"]]})
    y = [positions[place] for place in zip(own["model"], own["method"], strict=True)]
    names = list(own["asked_as"].unique())
    own = own.assign(source=RUN, mark="")
    about = own[own["metric"].eq(shown[0] if shown else "")]
    says = WORDS["variants_titles"]["place" if "first_option" in shown else "score"]
    level = 0.5 if "first_option" in shown else 0.0
    drawn = charts.dots(
        own.assign(y=pd.Series(y, own.index, dtype=float)),
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
        title=headings.title(about.rename(columns={"method": "what"}), level, says),
    )
    caption = WORDS["variants_figure" if chooses else "variants_differences"]
    caption = headings.counted(caption.format(wording=wording), own, wording.groups)
    notes = [*WORDS["variants_figure_notes"], *beside.grey(own, wording.groups)]
    return Drawn(drawn, caption, notes, {}, own, figure)
