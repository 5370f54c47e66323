"""BigToM's figures by their data: points, bars, labels, marks; and its tables by their cells."""

from itertools import pairwise

import pandas as pd
import pytest
from matplotlib.colors import same_color

from bigtom_metrics import METHODS, metrics
from drawn import artists, dots, legend, rows, said, told
from tomlab.benchmarks.bigtom.metrics import by_source
from tomlab.benchmarks.bigtom.paper import WORDING
from tomlab.errors import InputError
from tomlab.papers.bigtom import figures, item_tables
from tomlab.papers.bigtom import tables as bigtom
from tomlab.records import tidy
from tomlab.reporting import outcomes, plotting


def of_outcomes(metrics):
    return outcomes.outcomes(metrics, WORDING)


@pytest.fixture
def one():
    return metrics("smollm2-135m")


def test_figure3_has_one_panel_an_inference_and_two_blocks_of_rows(one):
    figure, *_ = figures.figure3(one)
    titles = [axes.get_title() for axes in figure.axes]
    names = ["[a] Forward belief", "[b] Forward action", "[c] Backward belief"]
    stated = ["initial belief stated", "initial belief not stated"]
    assert titles == [f"{name},\n{belief}" for belief in stated for name in names]
    paper = ["paper", "people", "llama-65", "dav-003", "gpt-3.5", "claude", "claude-2", "gpt-4"]
    assert [label for label, _ in rows(figure)] == [*paper, "this run", "smollm2-135m"]
    assert [axes.get_xlabel() for axes in figure.axes] == [""] * 3 + [
        "Accuracy (share correct)"
    ] * 3
    for axes in figure.axes:
        assert len(artists(axes, "block line")) == 1


def test_published_points_are_hollow_and_where_the_paper_prints_them(one):
    figure, *_ = figures.figure3(one)
    y = dict(rows(figure))["gpt-4"]
    backward = figure.axes[2]
    assert (0.62, y - 0.28) in dots(backward, "TB hollow")
    assert (0.77, y) in dots(backward, "FB hollow")
    assert (0.40, y + 0.28) in dots(backward, "TB ∧ FB hollow")
    [line] = artists(backward, "TB hollow")
    assert same_color(line.get_markerfacecolor(), "white")


def test_this_runs_points_are_filled_and_lie_on_their_intervals(one):
    figure, *_ = figures.figure3(one)
    y = dict(rows(figure))["smollm2-135m"]
    for axes in figure.axes:
        assert dots(axes, "TB filled") == [(0.8, y - 0.28)]
        [bars] = artists(axes, "TB ∧ FB intervals")
        [[low, high]] = bars.get_segments()
        assert low == pytest.approx([0.22, y + 0.28])
        assert high == pytest.approx([0.42, y + 0.28])


def test_people_stand_only_where_the_paper_states_a_number(one):
    figure, caption = told(figures.figure3(one))
    y = dict(rows(figure))["people"]
    assert (0.82, y - 0.28) in dots(figure.axes[2], "TB hollow")
    assert (0.72, y) in dots(figure.axes[2], "FB hollow")
    without = [["no number"]] * 3
    assert list(map(said, figure.axes)) == [["no number"], ["no number"], [], *without]
    assert "Backward belief TB .82; Backward belief FB .72 (n = 20 participants" in caption
    assert "with the initial belief stated only" in caption


def test_chance_lines_are_drawn_and_named(one):
    figure, *_ = figures.figure3(one)
    for axes in figure.axes:
        assert [line.get_xdata()[0] for line in artists(axes, "chance")] == [0.5, 0.25]
    named = [text.get_text() for text in figure.legends[0].get_texts()]
    assert "chance, one item (.5)" in named
    assert "chance, both items (.25)" in named
    assert named[:3] == ["TB", "FB", "TB ∧ FB"]


def test_cells_that_fail_the_audit_are_marked(one):
    figure, caption = told(figures.figure3(one, method="1-shot"))
    y = dict(rows(figure))["claude-2"]
    [mark] = artists(figure.axes[1], "TB ∧ FB mark")
    assert mark.get_text() == "*"
    assert mark.xy == pytest.approx((1.0, y + 0.28))
    assert "claude-2, Fwd. Action, TB ∧ FB, 1-shot, with initial belief" in caption
    assert "fails a check, see notes" in [t.get_text() for t in figure.legends[0].get_texts()]
    [mark] = artists(figure.axes[3], "TB ∧ FB mark")
    assert mark.xy == pytest.approx((0.84, dict(rows(figure))["claude-2"] + 0.28))


def test_nothing_is_marked_where_nothing_fails(one):
    figure, caption = told(figures.figure3(one))
    assert not any(artists(axes, "TB ∧ FB mark") for axes in figure.axes)
    assert "*" not in caption


def test_the_caption_says_what_was_run(one):
    _, caption = told(figures.figure3(one))
    assert "0-shot accuracy by inference, the initial belief stated (above) or not" in caption
    assert "smollm2-135m; n = 25 answers to items from 25 templates" in caption
    assert "95 % intervals (cluster jackknife)" in caption
    assert "smollm2-135m .20" in caption  # unparsed and truncated
    assert "BigToM (Gandhi et al., 2023), Table 7" in caption


def test_a_model_without_one_inference_keeps_its_row(one):
    partial = one[~one["condition"].str.startswith("backward_belief")]
    figure, *_ = figures.figure3(partial)
    assert dots(figure.axes[2], "TB filled") == []
    assert said(figure.axes[2]) == ["no number"]


def test_a_model_of_this_run_may_bear_a_published_name():
    figure, *_ = figures.figure3(metrics("random", "gpt-4"))
    assert [label for label, _ in rows(figure)].count("gpt-4") == 2
    printed = bigtom.table2(metrics("gpt-4")).printed
    assert list(printed.loc[printed["Model"] == "gpt-4", "Source"]) == ["paper", "this run"]


def test_no_label_is_covered_or_cut_off_with_eight_models():
    names = ["smollm2-135m", "random", "omniscient", "gpt-4o", "gpt-4", "my-vllm", "qwen"]
    figure, *_ = figures.figure3(metrics(*names, "claude-3-5-sonnet-20241022"), method="1-shot")
    figure.draw_without_rendering()
    page = figure.bbox
    boxes = [label.get_window_extent() for label in figure.axes[0].get_yticklabels()]
    legend = figure.legends[0].get_window_extent()
    for upper, lower in pairwise(boxes):
        assert upper.y0 >= lower.y1
    for box in [*boxes, legend]:
        assert page.x0 <= box.x0 < box.x1 <= page.x1
        assert page.y0 <= box.y0 < box.y1 <= page.y1
    assert legend.y1 <= min(axes.xaxis.label.get_window_extent().y0 for axes in figure.axes)


def test_an_unknown_method_is_refused_with_what_there_is(one):
    with pytest.raises(InputError, match="'2-shot', expected one of: 0-shot, 0-shot-cot, 1-shot"):
        figures.figure3(one, method="2-shot")


def test_metrics_of_another_benchmark_are_refused(one):
    with pytest.raises(InputError, match="benchmarks there: fantom"):
        bigtom.table7(one.assign(benchmark="fantom"))


def test_a_method_that_was_not_run_shows_the_paper_alone(one):
    figure, caption = told(figures.figure3(one[one["method"] == "0-shot"], method="1-shot-cot"))
    assert "this run" not in dict(rows(figure))
    assert "n/templates" not in legend(figure)
    assert "This run has no such answers." in caption


def test_outcome_bars_sum_to_one_and_hide_nothing(one):
    figure, caption = told(of_outcomes(one))
    [axes] = figure.axes
    widths = {bars.get_label(): [bar.get_width() for bar in bars] for bars in axes.containers}
    assert list(widths) == list(tidy.OUTCOMES)
    assert widths["unparsed"] == pytest.approx([0.12] * 4)
    assert widths["refused"] == [0] * 4
    assert [sum(parts) for parts in zip(*widths.values(), strict=True)] == pytest.approx([1] * 4)
    assert [label for label, _ in rows(figure)] == ["smollm2-135m", *METHODS]
    assert "n = 625" in caption
    assert [t.get_text() for t in figure.legends[0].get_texts()] == [*tidy.OUTCOMES, "n/templates"]


def test_outcomes_need_outcome_rates(one):
    with pytest.raises(InputError, match="outcome_rate"):
        of_outcomes(one[one["metric"] == "accuracy"])


def test_saved_figures_are_the_same_in_every_run(tmp_path, one):
    for folder in ("a", "b"):
        figure, caption = told(figures.figure3(one))
        paths = plotting.save(figure, tmp_path / folder, "figure3", caption)
    assert [path.name for path in paths] == ["figure3.png", "figure3.pdf", "figure3.caption.txt"]
    for path in paths:
        assert path.read_bytes() == (tmp_path / "a" / path.name).read_bytes()
    assert b"CreationDate" not in paths[1].read_bytes()


def cell(table, source, model, condition, contingency, method):
    """One printed cell, found by labels that stand once a block."""
    printed = table.printed.replace({"Model": {"": None}, "Condition": {"": None}}).ffill()
    keys = [printed[name] for name in ("Source", "Model", "Condition", "Contingency")]
    wanted = (source, model, condition, contingency)
    rows = pd.concat([key == value for key, value in zip(keys, wanted, strict=True)], axis=1)
    [text] = printed.loc[rows.all(axis=1), method]
    return text


def test_table7_prints_the_paper_and_then_this_run(one):
    table = bigtom.table7(one)
    assert list(table.printed) == ["Model", "Condition", "Contingency", *METHODS, "Source"]
    assert list(table.printed["Source"]) == ["paper"] * 54 + ["this run"] * 9
    paper = cell(table, "paper", "llama-65", "Fwd. Belief", "TB ∧ FB", "0-shot")
    assert paper == ".51† .41‡"
    run = cell(table, "this run", "smollm2-135m", "Bwd. Belief", "TB", "1-shot-cot")
    assert run == ".80 [.70, .90]†\n.80 [.70, .90]‡\nn = 25/25"
    assert len(table.tidy) == 432 + 72


def test_table7_marks_the_impossible_cells_and_says_why(one):
    table = bigtom.table7(one)
    both = cell(table, "paper", "claude-2", "Fwd. Action", "TB ∧ FB", "1-shot")
    assert both == ".83† 1.00*‡"
    reasons = [note for note in table.notes if note.startswith("*")]
    impossible = [note for note in reasons if "possible" in note]
    assert len(impossible) == 5
    assert any("dav-003, Fwd. Belief, TB ∧ FB, 0-shot-cot, with" in note for note in impossible)
    assert table.tidy.query("mark == '*'")["source"].unique() == ["paper"]


def test_table2_is_gpt4_beside_this_run(one):
    table = bigtom.table2(one)
    assert list(table.printed["Model"].replace("", None).dropna()) == ["gpt-4", "smollm2-135m"]
    assert cell(table, "paper", "gpt-4", "Bwd. Belief", "TB ∧ FB", "0-shot-cot") == ".38† .40‡"
    assert not any(note.startswith("*") for note in table.notes)


def test_table8_sets_the_controls_beside_the_papers(one):
    table = bigtom.table8(one)
    assert list(table.printed) == ["Model", "Condition", "Contingency", "0-shot", "Source"]
    run = cell(table, "this run", "smollm2-135m", "Fwd. Action", "FB", "0-shot")
    assert run == ".70 [.60, .80]†\n.70 [.60, .80]‡\nn = 25/25"
    assert cell(table, "paper", "llama-65", "Fwd. Action", "FB", "0-shot") == ".56† .72‡"


def test_table9_has_one_row_a_model(one):
    printed = bigtom.table9(one).printed
    paper = [".92", ".98", ".96", ".98", ".99"]
    assert list(printed["0-shot"]) == [*paper, ".96 [.86, 1.00]\nn = 25/25"]


def test_the_n_of_each_initial_belief_is_told_where_they_differ(one):
    less = one.assign(n=one["n"].mask(one["condition"].str.endswith("/0"), 20))
    text = cell(bigtom.table7(less), "this run", "smollm2-135m", "Bwd. Belief", "TB", "1-shot")
    assert text == ".80 [.70, .90]†\nn = 20/25\n.80 [.70, .90]‡\nn = 25/25"


def test_a_method_of_its_own_gets_a_column_after_the_papers(one):
    extra = one.assign(method=one["method"].replace("0-shot-cot", "few-shot"))
    table = bigtom.table7(extra)
    assert list(table.printed)[3:8] == [*METHODS, "few-shot"]
    assert cell(table, "this run", "smollm2-135m", "Fwd. Belief", "TB", "0-shot-cot") == "–"


def regression():
    """Terms as the fitted formula names them; a level may hold a colon."""
    terms = ["Intercept", "model[T.gpt-4]", "source[T.llm:x]", "model[T.gpt-4]:source[T.llm:x]"]
    frame = pd.DataFrame({"term": terms, "b": [1.0, 0.5, -0.2, 0.04], "se": 0.1, "p": 1e-9})
    return frame.assign(n=480, n_groups=40)


def test_the_regression_stands_beside_the_papers_coefficients():
    table = bigtom.table_circularity(regression())
    rows = [tuple(row) for row in table.printed.to_numpy()]
    assert rows == [
        ("Intercept", "–", "1.00", "0.10", "< .001", "480/40", "this run"),
        ("Data source", "llm:x", "−0.20", "0.10", "< .001", "480/40", "this run"),
        ("Model type", "–", "1.07", "–", "< .001", "–", "paper"),
        ("", "gpt-4", "0.50", "0.10", "< .001", "480/40", "this run"),
        ("Data source × model type", "–", "−0.13", "–", ".620", "–", "paper"),
        ("", "gpt-4 × llm:x", "0.04", "0.10", "< .001", "480/40", "this run"),
    ]
    assert "n = 480 answers to items from 40 templates" in table.notes[1]


def test_this_runs_coefficients_have_wald_intervals():
    tidy = bigtom.table_circularity(regression()).tidy
    [b] = tidy.query("term == 'model[T.gpt-4]' and statistic == 'b'").to_dict("records")
    assert (b["ci_low"], b["ci_high"]) == pytest.approx((0.304, 0.696))


def test_without_a_regression_the_notes_say_what_it_needs():
    table = bigtom.table_circularity("it needs items from two data sources and two models")
    assert list(table.printed["b"]) == ["1.07", "−0.13"]
    assert "two data sources and two models" in table.notes[1]


# Who wrote the items, and what people think of them


def answers(*sources):
    """Right answers on two cells of ten templates of each source, and wrong ones on a control."""
    rows = [
        {"source": source, "group_id": f"{source}{i}", "condition": condition, "score": score}
        for source in sources
        for i in range(10)
        for condition, score in [("true_belief", 1), ("false_belief", i % 2), ("true_control", 0)]
    ]
    return pd.DataFrame(rows).assign(model="gpt-4", variable="forward_belief", method="0-shot")


def test_table10_has_a_column_for_each_source_of_items(one):
    table = bigtom.table10(by_source(answers("authored", "llm:x")), one)
    assert list(table.printed) == [
        *("Model", "BigToM-Claude", "BigToM-gpt4", "authored", "llm:x", "Source")
    ]
    claude, gpt4, own = table.printed.to_numpy().tolist()
    assert claude == ["claude-2", "0.675", "0.708*", "–", "–", "paper"]
    assert gpt4 == ["gpt-4", "0.858", "0.861", "–", "–", "paper"]
    assert own[:3] == ["gpt-4", "–", "–"]
    assert own[3].startswith(".75 [") and own[3].endswith("]\nn = 20/10")
    assert "claude-2, BigToM-gpt4" in table.notes[-1]


def test_table10_of_a_run_without_0_shot_answers_is_the_papers_alone(one):
    table = bigtom.table10(by_source(answers("authored").assign(method="1-shot")), one)
    assert list(table.printed["Source"]) == ["paper"] * 2
    assert "This run has no such answers." in table.notes


def test_table11_is_of_thirty_templates_and_of_this_runs_items_by_a_model(one):
    alone = bigtom.table11()
    assert set(alone.printed["Source"]) == {"paper"}
    assert cell(alone, "paper", "claude-2", "Fwd. Action", "FB", "0-shot-cot") == ".54† .78*‡"
    assert cell(alone, "paper", "gpt-4", "Bwd. Belief", "TB ∧ FB", "1-shot-cot") == ".87† .70‡"
    assert set(alone.tidy["n"]) == {30}
    assert "its 30 templates (App. F)" in alone.notes[0]
    assert "This run has no items that a model wrote." in alone.notes
    both = bigtom.table11(one)
    run = cell(both, "this run", "smollm2-135m", "Fwd. Action", "FB", "0-shot")
    assert run == ".40 [.30, .50]†\n.40 [.30, .50]‡\nn = 25/25"


def test_table3_prints_each_contrast_with_its_interval():
    table = item_tables.table3()
    assert table.printed.to_numpy().tolist()[0] == [
        "Understandability",
        "0.503 [0.424, 0.581]",
        "0.248 [0.168, 0.321]",
        "−0.254 [−0.346, −0.156]*",
        "paper",
    ]
    assert table.printed.iloc[3, 1] == "1.152 [1.066, 1.244]"  # of the final version
    assert "n = 200 participants" in table.notes[0]
    assert "This run has no such ratings" in table.notes[1]
    assert "-0.1561" in table.notes[2] and "Understandability, socialIQa-Expert" in table.notes[2]


def test_table4_says_how_many_items_of_each_source_were_rated():
    table = item_tables.table4()
    assert table.printed.to_numpy().tolist() == [
        ["Dodell-Feder", "4.087", "0.907", "–", "paper"],
        ["Kosinski", "4.419", "0.763", "21", "paper"],
        ["Ullman", "3.812", "0.867", "9", "paper"],
    ]
    assert "does not print the items of Dodell-Feder; of 50 in all" in table.notes[1]


def test_figure2b_draws_the_contrasts_on_their_printed_intervals():
    figure, caption, _, below, *_ = figures.figure2b()
    [axes] = figure.axes
    y = dict(rows(figure))
    assert list(y) == [
        *("paper", "Understandability", "Coherent question & answer", "Unambiguous", "Aggregate")
    ]
    assert (1.152, y["Aggregate"] - 0.27) in dots(axes, "BigToM − socialIQa filled")
    [bars] = artists(axes, "socialIQa − expert intervals")
    low, high = bars.get_segments()[-1]
    assert (low[0], high[0]) == (-1.0, -0.782)
    assert axes.get_xlim()[0] < -1.378 and axes.get_xlim()[1] > 1.675
    [mark] = artists(axes, "socialIQa − expert mark")
    assert mark.xy == pytest.approx((-0.1561, y["Understandability"] + 0.27))  # beside the interval
    assert "paper, 95 % credible interval" in legend(figure)
    assert len(caption.split()) <= 60
    assert "n = 200 participants" in caption and "no such ratings" in below["run"]
    assert "BigToM's items above socialIQa's" in figure.get_suptitle()


def kinds(**labelled_by):
    rows = [("authored", name, 30, 36, 0, who) for name, who in labelled_by.items()]
    columns = ["source", "dimension", "distinct", "templates", "unlabelled", "labelled_by"]
    return pd.DataFrame(rows, columns=columns)


def test_table12_sets_the_kinds_of_this_run_beside_the_papers():
    table = item_tables.table12(kinds(state="authors", mechanism="authors", medium="rule"))
    assert table.printed.to_numpy().tolist() == [
        ["BigToM-gpt4", "154", "76", "7", "200", "paper"],
        ["authored", "30", "30", "30", "36", "this run"],
    ]
    assert "authored: state by authors, mechanism by authors, medium by rule" in table.notes[1]


def test_kinds_that_nobody_labelled_are_not_told_as_none():
    found = kinds(state="nobody", mechanism="authors", medium="rule")
    found.loc[0, ["distinct", "unlabelled"]] = 0, 36
    [own] = item_tables.table12(found).printed.query("Source == 'this run'").to_numpy().tolist()
    assert own[1:5] == ["–", "30", "30", "0, 36"]
    with pytest.raises(InputError, match="dimension: found 'smell', expected one of: state"):
        item_tables.table12(kinds(smell="rule"))
