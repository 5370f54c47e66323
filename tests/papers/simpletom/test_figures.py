"""SimpleToM's figures by their data: points, bars, labels, marks; and its tables by their cells."""

from itertools import pairwise
from re import findall

import numpy as np
import pandas as pd
import pytest
from matplotlib.colors import same_color

from drawn import artists, dots, legend, rows, told, widths
from simpletom_metrics import GAIN, SCENARIOS, metrics
from tomlab.benchmarks.simpletom.paper import METHOD_NAMES, WORDING
from tomlab.errors import InputError
from tomlab.papers.simpletom import figures
from tomlab.papers.simpletom import tables as printed
from tomlab.records import tidy
from tomlab.reporting import outcomes, plotting
from tomlab.reporting import printed as report


def of_outcomes(metrics):
    return outcomes.outcomes(metrics, WORDING)


@pytest.fixture(scope="module")
def one():
    return metrics("smollm2-135m")


@pytest.fixture(scope="module")
def few():
    """A run of two models, without most interventions, scenarios and wordings."""
    methods = ("none", "ms-remind", "cot-star")
    return metrics("random", "gpt-4o", methods=methods, scenarios=[], variants=())


# ---- figures -------------------------------------------------------------------------------------


def test_first_failures_of_this_run_stand_below_the_papers_bounds(one):
    drawn = figures.figure3(metrics("smollm2-135m", "random"))
    first, behavior, *_ = drawn.figure.axes
    y = dict(rows(drawn.figure))
    assert list(y)[-3:] == ["this run", "smollm2-135m", "random"]
    assert dots(behavior, "fails at behavior filled")[0] == (0.5, y["smollm2-135m"])
    assert (0.044, y["GPT-4o"]) in dots(first, "fails at mental state hollow")  # 1 − .956
    boxes = {round(box.get_center()[1]): box for box in artists(behavior, "bounds")}
    box = boxes[y["GPT-4o"]]  # .956 − .495, and 1 − .495
    assert (box.get_x(), box.get_x() + box.get_width()) == pytest.approx((0.461, 0.505))
    assert len(boxes) == 10
    assert "n = 60 a point, from 20 entity sets" in drawn.caption
    assert set(drawn.data["source"]) == {"paper", "this run"}


def test_bounds_hold_every_way_in_which_three_questions_can_overlap():
    """All 2^3 patterns of right answers, drawn by lot: their shares lie within the bounds."""
    bounds = figures.bounds().query("model == 'GPT-4o'").set_index("question_type")
    accuracy = {"mental_state": 0.956, "behavior": 0.495, "judgment": 0.153}
    chosen = np.random.default_rng(0)
    for _ in range(200):
        places = chosen.permuted(np.tile(np.arange(1000), (3, 1)), axis=1)
        right = {
            name: row < 1000 * accuracy[name] for name, row in zip(accuracy, places, strict=True)
        }
        a, b, c = right.values()
        found = {"mental_state": ~a, "behavior": a & ~b, "judgment": a & b & ~c, "none": a & b & c}
        for part, failed in found.items():
            low, high = bounds.loc[part, ["low", "high"]]
            assert low - 0.001 <= failed.mean() <= high + 0.001


def test_the_paper_has_no_bounds_of_an_intervention(one):
    figure, *_ = figures.figure3(one, method="sysp")
    assert "paper" not in dict(rows(figure))


def test_titles_say_what_is_found_or_that_too_few_were_asked(one):
    assert "did better on mental states than on behavior and judgment" in title(figures.gap(one))
    assert title(figures.interventions(one)).startswith("smollm2-135m gained on")
    few = one.assign(n_groups=9)
    assert title(figures.figure3(few)) == "The first question that fails"
    assert title(figures.figure4(few)).startswith("By scenario there are too few entity sets")


def test_the_lines_below_a_figure_have_the_papers_numbers_and_this_runs(one):
    said = figures.gap(one).said
    assert "behavior 0.12 (o1-preview) to 0.64 (Claude-3-Haiku)" in said["paper"]
    assert said["paper"].endswith("(Table 2).")
    assert "smollm2-135m: behavior 0.50 [" in said["run"]
    assert said["not shown"]


def title(drawn):
    return drawn.figure.get_suptitle().replace("\n", " ")


def test_first_failures_of_an_intervention_say_whose_mental_state_counts(one):
    _, caption = told(figures.figure3(one, method="cot-star-ms"))
    assert "method CoT* with MS" in caption
    assert "asked without intervention, and that answer counts" in caption


def test_first_failures_by_scenario_have_a_panel_a_model(one):
    figure, caption = told(figures.figure13(metrics("a", "b", "c", "d")))
    assert [axes.get_title() for axes in figure.axes] == ["a", "b", "c", "d"]
    for axes in figure.axes:
        bars = zip(*widths(axes).values(), strict=True)
        assert [sum(bar) for bar in bars] == pytest.approx([1] * 11)
    assert [axes.get_xlabel() for axes in figure.axes] == ["", *["Share of stories"] * 3]
    assert "n = 6–60 stories a point" in caption


def test_scenarios_are_named_in_full_and_all_stories_come_last(one):
    figure, *_ = figures.figure4(one)
    named = [label.replace("\n", " ") for label, _ in rows(figure)]
    assert named == [*SCENARIOS, "All stories"]


def test_accuracies_by_scenario_lie_on_their_intervals(one):
    figure, caption = told(figures.figure4(one))
    [axes] = figure.axes
    assert sorted(dots(axes, "judgment filled"), key=lambda dot: dot[1]) == [
        (0.2, y + 0.26) for y in range(11)
    ]
    [bars] = artists(axes, "mental state intervals")
    assert bars.get_segments()[0][:, 0] == pytest.approx([0.8, 1.0])
    assert [line.get_xdata()[0] for line in artists(axes, "chance")] == [0.5]
    assert legend(figure)[:3] == ["mental state", "behavior", "judgment"]
    assert "n = 6–60 answers a point" in caption


def test_an_intervention_has_no_mental_state_points(one):
    figure, caption = told(figures.figure4(one, method="sysp"))
    assert legend(figure)[:2] == ["behavior", "judgment"]
    assert "question type (behavior, judgment), method SysP" in caption.replace("\n", " ")


def test_a_scenario_that_one_model_was_not_asked_says_so():
    both = metrics("a", "b")
    lacks = both["model"].eq("b") & both["condition"].str.endswith(SCENARIOS[2])
    for figure, *_ in (figures.figure4(both[~lacks]), figures.figure13(both[~lacks])):
        said = [[text.get_text() for text in axes.texts] for axes in figure.axes]
        assert [texts.count("not asked") for texts in said] == [0, 1]


def test_without_scenarios_all_stories_remain(few):
    for figure, *_ in (figures.figure4(few), figures.figure13(few)):
        assert [label for label, _ in rows(figure)] == ["All stories"]


def test_the_gap_of_the_paper_is_hollow_and_that_of_this_run_filled(one):
    figure, caption = told(figures.gap(one))
    y = dict(rows(figure))
    behavior, judgment = figure.axes
    assert behavior.get_title() == "mental state − behavior"
    assert (0.461, y["GPT-4o"]) in dots(behavior, "behavior hollow")  # 95.6 − 49.5
    assert (0.887, y["Claude-3-Opus"]) in dots(judgment, "judgment hollow")  # 98.3 − 9.6
    assert dots(behavior, "behavior filled") == [(0.5, y["smollm2-135m"])]
    [line] = artists(behavior, "behavior hollow")
    assert same_color(line.get_markerfacecolor(), "white")
    [bars] = artists(judgment, "judgment intervals")
    assert bars.get_segments()[0][:, 0] == pytest.approx([0.6, 0.8])
    for axes in figure.axes:
        assert [line.get_xdata()[0] for line in artists(axes, "zero")] == [0]
    assert "95 % intervals (cluster jackknife)" in caption
    assert "SimpleToM (Gu et al., 2024), Table 2" in caption


def test_a_gap_that_rests_on_a_failing_cell_is_marked(one):
    figure, caption = told(figures.gap(one))
    [mark] = artists(figure.axes[0], "behavior mark")
    assert mark.get_text() == "*"
    assert mark.xy == pytest.approx((0.396, dict(rows(figure))["Llama-3.1-405B"]))  # 97.8 − 58.2
    assert artists(figure.axes[1], "judgment mark") == []
    assert "(printed 58.2, elsewhere 58.2 and 58.3): Llama-3.1-405B, behavior" in caption
    assert "fails a check, see notes" in legend(figure)


def test_wordings_have_the_chance_of_their_options(one):
    figure, *_ = figures.wordings(one)
    [axes] = figure.axes
    labels = [label for label, _ in rows(figure)]
    assert labels[:3] == ["main wording", "generated option", "three options"]
    assert dots(axes, "judgment filled") == [(0.2, 0.0), *((0.35, y) for y in range(1, 6))]
    [lines] = artists(axes, "chance")
    chances = [segment[0][0] for segment in lines.get_segments()]
    assert chances == pytest.approx([0.5, 0.5, 1 / 3, 0.5, 0.5, 0.5])
    assert [line.get_xdata()[0] for line in artists(axes, "ceiling")] == [0.3]
    paper = figures.wordings(one).said["paper"]
    assert "Llama-3.1-405B, Claude-3.5-Sonnet, GPT-4o never exceeded .30 (App. F)" in paper


def test_wordings_asked_as_a_method_of_their_own_are_found(one):
    of_variants = one["condition"].str.contains(":")
    apart = one.assign(method=one["method"].mask(of_variants, "wordings"))
    figure, *_ = figures.wordings(apart)
    assert len(rows(figure)) == 6


def test_without_other_wordings_the_main_one_remains(few):
    figure, caption = told(figures.wordings(few))
    assert [label for label, _ in rows(figure)] == ["main wording"]
    assert "chance (.50)" in legend(figure)
    assert "random, gpt-4o; n = 60 answers a point" in caption


def test_interventions_have_a_panel_each_with_differences_of_printed_accuracies(one):
    figure, caption = told(figures.interventions(one))
    y = dict(rows(figure))
    panels = {axes.get_title(): axes for axes in figure.axes}
    assert list(panels) == ["MS remind", "SysP", "SysP*", "CoT", "CoT*", "CoT* with MS"]
    assert legend(figure)[:2] == ["behavior", "judgment"]
    of_sysp = {round(at): x for x, at in dots(panels["SysP"], "behavior hollow")}
    assert of_sysp[y["GPT-4o"]] == -0.022  # 47.3 − 49.5
    assert 0.714 in [x for x, _ in dots(panels["CoT*"], "judgment hollow")]  # 86.7 − 15.3
    assert len(dots(panels["MS remind"], "judgment hollow")) == 8
    for method in ("MS remind", "SysP*", "CoT* with MS"):
        [(x, at)] = dots(panels[method], "behavior filled")
        assert x == GAIN
        assert abs(at - y["smollm2-135m"]) < 0.5
    assert "Table 3, Table 4, Table 5" in caption


def test_all_changes_of_the_cell_that_two_tables_print_differently_are_marked(one):
    figure, caption = told(figures.interventions(one))
    for axes in figure.axes:
        assert len(artists(axes, "behavior mark")) == 1
        assert artists(axes, "judgment mark") == []
    assert "(printed 58.3, elsewhere 58.2): Llama-3.1-405B, behavior, MS remind." in caption


def test_interventions_that_were_not_run_show_the_paper_alone(few):
    panels = {axes.get_title(): axes for axes in figures.interventions(few).figure.axes}
    assert len(dots(panels["CoT*"], "behavior filled")) == 2
    assert dots(panels["SysP"], "behavior filled") == []
    figure, caption = told(figures.interventions(few[few["method"] == "none"]))
    assert "this run" not in dict(rows(figure))
    assert "This run has no such answers." in caption


def test_a_method_of_its_own_gets_a_panel_of_its_own(one):
    own = one.assign(method=one["method"].replace("cot", "few-shot"))
    panels = {axes.get_title(): axes for axes in figures.interventions(own).figure.axes}
    assert len(dots(panels["few-shot"], "behavior filled")) == 1


def test_outcome_bars_sum_to_one_and_hide_nothing(one):
    figure, caption = told(of_outcomes(one))
    parts = widths(figure.axes[0])
    assert list(parts) == list(tidy.OUTCOMES)
    assert [sum(bar) for bar in zip(*parts.values(), strict=True)] == pytest.approx([1] * 7)
    named = [*METHOD_NAMES.values()][:7]
    assert [label for label, _ in rows(figure)] == ["smollm2-135m", *named]
    assert "n = 120–180" in caption


def test_what_is_missing_is_refused_with_what_there_is(one):
    with pytest.raises(InputError, match="'tot', expected one of: none, ms-remind, sysp"):
        figures.figure3(one, method="tot")
    with pytest.raises(InputError, match="benchmarks there: fantom"):
        figures.gap(one.assign(benchmark="fantom"))
    with pytest.raises(InputError, match="outcome_rate"):
        of_outcomes(one[one["metric"] == "accuracy"])


@pytest.mark.parametrize("models", [1, 3, 8])
@pytest.mark.parametrize(
    "draw", [figures.figure4, figures.figure13, figures.wordings, figures.interventions]
)
def test_no_label_is_covered_or_cut_off(draw, models):
    names = ["smollm2-135m", "random", "omniscient", "claude-3-5-sonnet-20241022", "gpt-4o"]
    figure, *_ = draw(metrics(*[*names, "my-vllm", "qwen", "o3"][:models]))
    figure.draw_without_rendering()
    page, [key] = figure.bbox, figure.legends
    boxes = [label.get_window_extent() for label in figure.axes[0].get_yticklabels()]
    for upper, lower in pairwise(boxes):
        assert upper.y0 >= lower.y1
    titles = [axes.title.get_window_extent() for axes in figure.axes]
    for box in [*boxes, *titles, key.get_window_extent()]:
        assert page.x0 <= box.x0 < box.x1 <= page.x1
        assert page.y0 <= box.y0 < box.y1 <= page.y1
    for left, right in pairwise(titles):
        assert left.x1 < right.x0 or left.y0 > right.y1
    for axes in figure.axes:
        assert key.get_window_extent().y1 <= axes.xaxis.label.get_window_extent().y0
        assert axes.get_window_extent().width > 100


def test_saved_figures_are_the_same_in_every_run(tmp_path, one):
    for folder in ("a", "b"):
        figure, caption = told(figures.gap(one))
        paths = plotting.save(figure, tmp_path / folder, "gap", caption)
    for path in paths:
        assert path.read_bytes() == (tmp_path / "a" / path.name).read_bytes()
    assert b"CreationDate" not in paths[1].read_bytes()


# ---- tables --------------------------------------------------------------------------------------


def cell(table, source, model, column, question=None):
    """One printed cell, found by labels that stand once a block."""
    cells = table.printed.replace({"Model": {"": None}}).ffill()
    found = cells["Source"].eq(source) & cells["Model"].eq(model)
    if question:
        found &= cells["Question"].eq(question)
    [text] = cells.loc[found, column]
    return text


def test_table2_prints_the_paper_and_then_this_run(one):
    table = printed.table2(one)
    questions = ["mental state", "behavior", "judgment", "average"]
    assert list(table.printed) == ["Model", *questions, "Source"]
    assert list(table.printed["Source"]) == ["paper"] * 10 + ["this run"]
    assert cell(table, "paper", "GPT-3.5", "behavior") == "7.6"
    assert cell(table, "paper", "Llama-3.1-405B", "behavior") == "58.2*"
    assert cell(table, "this run", "smollm2-135m", "behavior") == "40.0 [30.0, 50.0]\nn = 60/20"
    assert len(table.tidy) == 44
    assert any(note.startswith("o1-mini, o1-preview were evaluated") for note in table.notes)


def test_table3_marks_the_cell_that_the_other_tables_print_differently(one):
    table = printed.table3(one)
    assert list(table.printed)[2:4] == ["none", "MS remind"]
    assert cell(table, "paper", "Llama-3.1-405B", "none", "behavior") == "58.3*"
    assert cell(table, "paper", "GPT-4", "MS remind", "judgment") == "54.0"
    assert cell(table, "paper", "GPT-4", "MS remind", "mental state") == "–"
    average = cell(table, "this run", "smollm2-135m", "MS remind", "average")
    assert average == "70.0 [60.0, 80.0]\nn = 60/20"
    [marked] = table.tidy.query("mark == '*'").to_dict("records")
    assert (marked["source"], marked["value"]) == ("paper", 58.3)
    assert any("GPT-3.5 53.0; GPT-4 54.0" in note for note in table.notes)


def test_table4_and_5_have_a_column_a_method(one):
    table4, table5 = printed.table4(one), printed.table5(one)
    assert list(table4.printed)[2:5] == ["none", "SysP", "SysP*"]
    assert list(table5.printed)[2:6] == ["none", "CoT", "CoT*", "CoT* with MS"]
    assert cell(table4, "paper", "Claude-3.5-Sonnet", "SysP*", "average") == "79.7"
    assert cell(table5, "paper", "GPT-4o", "CoT* with MS", "judgment") == "94.7"
    assert cell(table5, "paper", "GPT-4o", "none", "average") == "–"  # not printed there
    judgment = cell(table5, "this run", "smollm2-135m", "CoT*", "judgment")
    assert judgment == "50.0 [40.0, 60.0]\nn = 60/20"


def test_methods_that_were_not_run_are_named(few):
    table = printed.table5(few)
    assert "This run asked nothing with CoT, CoT* with MS." in table.notes
    assert cell(table, "this run", "random", "CoT", "behavior") == "–"


def test_a_model_of_this_run_may_bear_a_published_name():
    table = printed.table2(metrics("GPT-4", "GPT-4o"))
    sources = table.printed.loc[table.printed["Model"] == "GPT-4", "Source"]
    assert list(sources) == ["paper", "this run"]


def test_tokens_are_whole_in_the_paper_and_means_in_this_run(few):
    table = printed.tokens(few)
    first = table.printed.iloc[3].to_dict()
    assert first == {
        "Model": "o1-preview",
        "Method": "none",
        "mental state": "486",
        "behavior": "536",
        "judgment": "605",
        "Source": "paper",
    }
    assert list(table.printed["Method"])[4:] == ["none", "MS remind", "CoT*"] * 2
    assert table.printed.iloc[-1]["behavior"] == "2.0 [1.9, 2.1]\nn = 60/20"
    assert "takes about 2 tokens" in table.notes[-1]
    assert len(table.tidy.query("question_type == 'unspecified'")) == 1


def test_table8_sets_the_counts_of_this_run_under_the_papers():
    rows = [("hidden body part feature", 6, 2, 2, 2), ("parked cars", 3, 1, 1, None)]
    columns = ["scenario", "stories", "unique_x", "unique_z", "unique_y"]
    table = printed.table8(pd.DataFrame([*rows, ("All stories", 9, 3, 3, 2)], columns=columns))
    lines = [tuple(row) for row in table.printed.to_numpy()]
    assert lines[9:] == [
        ("hidden body part feature", "37", "23", "23", "19", "paper"),
        ("", "6", "2", "2", "2", "this run"),
        ("parked cars", "3", "1", "1", "–", "this run"),
        ("All stories", "1147", "255", "319", "83", "paper"),
        ("", "9", "3", "3", "2", "this run"),
    ]
    assert len(table.tidy) == 40 + 11


@pytest.mark.parametrize("name", ["table2", "table3", "table4", "table5", "tokens"])
def test_latex_is_balanced_and_without_symbols(name, few):
    latex = report.latex(getattr(printed, name)(few), "simpletom")
    assert latex.count("{") == latex.count("}")
    for environment in set(findall(r"\\begin\{(\w+)\}", latex)):
        opened, closed = (latex.count(f"\\{end}{{{environment}}}") for end in ("begin", "end"))
        assert opened == closed
    assert not set(latex) & set("–−×∧≤")


def test_a_percentage_has_one_decimal():
    assert report.cell(9.6, float("nan"), float("nan"), "*", report.one_decimal) == "9.6*"
    assert report.cell(100.0, 88.43, 100.0, form=report.one_decimal) == "100.0 [88.4, 100.0]"
