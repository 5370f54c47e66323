"""Tables and figures that a stage shows in the same form on the page of each benchmark."""

import html
import inspect
from collections.abc import Callable, Iterable, Mapping
from itertools import chain
from typing import Any

import pandas as pd
import seaborn as sns

from tomlab.asking.prompts import in_words, origins
from tomlab.records.published import Wording
from tomlab.reporting import draw
from tomlab.reporting.numbers import cell
from tomlab.reporting.tables import Shown, show
from tomlab.scoring import same_keys as likeness


def prompts(names: Iterable[str], replaced: Mapping[str, str], wording: Wording) -> Shown:
    """A table of where the wording of each prompt comes from. replaced: as in `run.prompts`."""
    table = origins(names, replaced)
    return show(table, wording, in_words(table))


def prompts_of(
    all_methods: Mapping[str, Any],
    methods: Iterable[str],
    replaced: Mapping[str, str],
    wording: Wording,
) -> Shown:
    """`prompts` for the prompts of these methods. all_methods: a benchmark's METHODS."""
    names = chain.from_iterable(all_methods[method].prompts for method in methods)
    return prompts(names, replaced, wording)


def source(function: Callable) -> Shown:
    """The code of a function, for readers of a page to check."""
    code = inspect.getsource(function)
    return Shown(f"<pre>{html.escape(code, quote=False)}</pre>", code)


def same_keys(items: pd.DataFrame, wording: Wording) -> Shown:
    """A table of the first 20 pairs of answers to an item that should differ but say the same."""
    pairs = likeness.same_keys(items)
    sentence = likeness.in_words(pairs, items)
    reported = likeness.beside_reported(pairs, items, wording.name.lower())
    if reported:
        sentence = f"{sentence} {reported}"
    return show(pairs.drop(columns="group_id").head(20), wording, sentence)


def qualities(agreement: pd.DataFrame, heads: Mapping[str, str]) -> pd.DataFrame:
    """How well judges agree, as texts with intervals: a row for each judge, a column for each head.

    agreement: as `agreement_by_judge` returns; heads: the columns to show, such as "kappa", each
    with its head.
    """
    texts = pd.DataFrame(index=agreement.index)
    for quality, head in heads.items():
        ends = "ci" if quality == "agreement" else quality
        numbers = agreement[[quality, f"{ends}_low", f"{ends}_high"]]
        texts[head] = [cell(*row) for row in numbers.to_numpy()]
    return texts


def bars_by_kind(
    by_kind: pd.DataFrame, sides: Mapping[bool, str], title: str = "{col_name}"
) -> sns.FacetGrid:
    """Stacked bars of right and wrong decisions: a bar for each kind of case, and a panel for each
    truth.

    by_kind: as `agreement_by_kind` returns, in the order of the bars; sides: the panels' names by
    truth. A kind without cases of some truth has no bar in that panel.
    """
    palette = {decision: draw.OUTCOMES[decision] for decision in ("right", "wrong")}
    kinds = by_kind["kind"].unique()
    decisions = by_kind.assign(
        side=by_kind["truth"].map(sides),
        right=by_kind["agreement"],
        wrong=1 - by_kind["agreement"],
    )
    decisions = decisions.melt(["kind", "side"], [*palette], "decision")
    keys = ["kind", "side", "decision"]
    bars = pd.MultiIndex.from_product([kinds, sides.values(), palette], names=keys)
    decisions = decisions.set_index(keys).reindex(bars).reset_index()
    grid = draw.grid(decisions, len(kinds), col="side")
    grid.map_dataframe(draw.stacked, rows="kind", part="decision", palette=palette)
    grid.set_titles(title).set_xlabels("Share of decisions")
    draw.legend(grid, palette, bars=True)
    return grid
