"""n and its groups stand beside every number of a run, in each figure and each printed table."""

import inspect
import re
from itertools import chain, pairwise

import numpy as np
import pandas as pd
import pytest

import bigtom_metrics
import fantom_metrics
import omnitom_metrics
import simpletom_metrics
from drawn import artists, counts, legend, told
from tomlab.benchmarks import bigtom, fantom, omnitom, simpletom
from tomlab.benchmarks.omnitom.judge_tables import judge_sensitivity
from tomlab.papers.bigtom import figures as bigtom_figures
from tomlab.papers.bigtom import tables as bigtom_tables
from tomlab.papers.fantom import figures as fantom_figures
from tomlab.papers.fantom import tables as fantom_tables
from tomlab.papers.omnitom import figures as omnitom_figures
from tomlab.papers.omnitom import judge_tables as omnitom_judge_tables
from tomlab.papers.omnitom import tables as omnitom_tables
from tomlab.papers.simpletom import figures as simpletom_figures
from tomlab.papers.simpletom import tables as simpletom_tables
from tomlab.reporting import outcomes, printed
from tomlab.reporting.drawn import Drawn
from tomlab.reporting.printed import PAPER, RUN

MADE = {
    "bigtom": bigtom_metrics.metrics,
    "fantom": fantom_metrics.metrics,
    "omnitom": omnitom_metrics.metrics,
    "simpletom": simpletom_metrics.metrics,
}
WORDINGS = {each.NAME: each.paper.WORDING for each in (bigtom, fantom, omnitom, simpletom)}
FIGURES = [bigtom_figures, fantom_figures, omnitom_figures, simpletom_figures]
TABLES = [bigtom_tables, fantom_tables, omnitom_tables, simpletom_tables, omnitom_judge_tables]


def of_metrics(modules, *kinds):
    """Every public function of the modules that makes one from a run's metrics, by benchmark."""
    found = []
    for module in modules:
        for name, function in inspect.getmembers(module, inspect.isfunction):
            signature = inspect.signature(function)
            takes = next(iter(signature.parameters), "")
            makes = signature.return_annotation in kinds
            if name[0] != "_" and makes and takes.startswith("metrics"):
                benchmark = module.__name__.split(".")[2]
                found.append(pytest.param(function, benchmark, id=f"{benchmark}-{name}"))
    return found


def numbered(run):
    """A run whose numbers have a value and an n of their own."""
    value = np.random.default_rng(0).uniform(0.01, 0.99, len(run))
    place = np.arange(len(run))
    ends = {"ci_low": value - 1e-4, "ci_high": value + 1e-4}
    return run.assign(value=value, **ends, n=1000 + place, n_groups=2 + place % 97)


def run_of(benchmark):
    return numbered(MADE[benchmark]("smollm2-135m", "random"))


def own_count(number):
    return printed.n_of(number.n, number.n_groups)


def drawn_numbers(figure):
    """Each number of this run that is drawn, and what is written of its n."""
    for axes in figure.axes:
        beside = counts(axes)

        def at(y, beside=beside):
            return beside.get(round(y, 2)) or beside[round(y)]

        for line in axes.lines:
            name = line.get_gid() or ""
            points = line.get_xydata()
            if name.endswith(" filled"):
                yield from ((x, at(y)) for x, y in points)
            elif "n = " in name:  # a series with one n, told beside its point
                assert name in [text.get_text() for text in artists(axes, "name")]
                yield from ((each, name) for each in points.flat)
        for bar in chain.from_iterable(axes.containers):
            if bar.get_width():
                yield bar.get_width(), at(bar.get_y() + bar.get_height() / 2)


def of_benchmark(run, figure):
    """How many drawn numbers have their own n beside them; the test fails where one has not."""
    own = {round(number.value, 7): own_count(number) for number in run.itertuples()}
    assert len(own) == len(run)
    found = [(own[round(x, 7)], text) for x, text in drawn_numbers(figure) if round(x, 7) in own]
    for count, text in found:
        assert re.search(rf"\b{count}\b", text)
    return len(found)


@pytest.mark.parametrize(("draw", "benchmark"), of_metrics(FIGURES, Drawn, Drawn | None))
def test_every_number_in_a_figure_has_its_n_beside_it(draw, benchmark):
    run = run_of(benchmark)
    figure, caption = told(draw(run))
    drawn = [x for x, _ in drawn_numbers(figure)]
    # Of bars, what is no error has no row of its own.
    assert of_benchmark(run, figure) >= 2 / 3 * len(drawn) > 0
    groups = WORDINGS[benchmark].groups
    assert f"n/{groups}" in legend(figure)
    assert f"(beside each number: n/{groups})" in caption


@pytest.mark.parametrize(("draw", "benchmark"), of_metrics(FIGURES, Drawn, Drawn | None))
def test_a_figure_has_a_title_a_short_caption_with_n_and_its_data(draw, benchmark):
    drawn = draw(run_of(benchmark))
    assert drawn.figure.get_suptitle()
    assert len(drawn.caption.split()) <= 60
    assert "n = " in drawn.caption
    # What the paper does not draw has nothing that the paper said.
    assert {"run", "not shown"} <= set(drawn.said) <= set(printed.WORDS["said"])
    assert all(drawn.said.values())
    assert drawn.data["value"].notna().any()
    assert drawn.by is draw


@pytest.mark.parametrize("benchmark", MADE)
def test_every_bar_of_outcomes_has_its_n_beside_it(benchmark):
    run = run_of(benchmark)
    drawn = outcomes.outcomes(run, WORDINGS[benchmark])
    assert of_benchmark(run, drawn.figure) == (run["metric"] == "outcome_rate").sum()
    assert f"(beside each bar: n/{WORDINGS[benchmark].groups})" in drawn.caption
    assert len(drawn.caption.split()) <= 60


def test_every_f1_by_judge_has_its_n_beside_it():
    run = numbered(omnitom_metrics.sensitivity("smollm2-135m", "gpt-4o"))
    assert of_benchmark(run, judge_sensitivity(run)[0]) == len(run)


@pytest.mark.parametrize(("draw", "benchmark"), of_metrics(FIGURES, Drawn, Drawn | None))
def test_no_n_touches_another_or_the_next_panel(draw, benchmark):
    figure, *_ = draw(run_of(benchmark).assign(n=lambda rows: rows["n"] + 21000))
    figure.draw_without_rendering()
    for axes in figure.axes:
        texts = sorted((text for text in axes.texts if text.get_gid() == "n"), key=by_height)
        beside = [other for other in figure.axes if is_right_of(other, axes)]
        for text in () if axes.containers else texts:
            right = text.get_window_extent().x1
            assert right <= min([figure.bbox.x1, *(each.get_window_extent().x0 for each in beside)])
        for lower, upper in pairwise(texts):
            digit = 0.74 * lower.get_fontsize() * figure.dpi / 72
            assert by_height(upper) - by_height(lower) > digit


def by_height(text):
    box = text.get_window_extent()
    return (box.y0 + box.y1) / 2


def is_right_of(other, axes):
    box, own = other.get_window_extent(), axes.get_window_extent()
    return box.x0 >= own.x1 and box.y0 < own.y1 and own.y0 < box.y1


@pytest.mark.parametrize(("tabulate", "benchmark"), of_metrics(TABLES, [printed.Table]))
def test_every_number_in_a_printed_table_has_its_n_in_its_cell_or_row(tabulate, benchmark):
    table = tabulate(run_of(benchmark))
    shown = table.printed[table.printed["Source"] == RUN].drop(columns="Source")
    rows = [list(row) for row in shown.to_numpy()]
    numbers = table.tidy[(table.tidy["source"] == RUN) & table.tidy["n"].notna()]
    assert len(numbers)
    for number in numbers.itertuples():
        forms = {printed.share(number.value), printed.one_decimal(number.value)}
        value, count = "|".join(map(re.escape, forms)), own_count(number)
        in_cell = rf"^({value})( |\n)[^=]*n = {count}$"
        assert any(
            any(re.search(in_cell, cell, re.MULTILINE) for cell in row)
            or (
                any(re.match(value, cell) for cell in row)
                and any(count in cell.split(", ") for cell in row)
            )
            for row in rows
        ), (number, in_cell)
    paper = table.printed[table.printed["Source"] == PAPER]
    assert not paper.map(lambda cell: "n = " in cell).any(axis=None)


def test_a_number_of_unknown_groups_has_its_n_alone():
    assert printed.n_of(12, None) == "12"
    assert printed.n_of(None, None) == ""
    rows = pd.DataFrame({"n": [12, 12, 9], "n_groups": [4, 4, 3]})
    assert printed.counts(rows) == "12/4, 9/3"
