"""FANToM's figures by their data: points, bars, labels, marks; and its tables by their cells."""

from itertools import pairwise
from re import findall

import numpy as np
import pandas as pd
import pytest
from matplotlib.colors import same_color

from drawn import artists, by_row, legend, rows, told, widths
from fantom_metrics import NAMES, metrics
from tomlab.benchmarks.fantom.metrics import weighted_f1
from tomlab.benchmarks.fantom.paper import PUBLICATION, WORDING
from tomlab.errors import InputError
from tomlab.papers.fantom import figures
from tomlab.papers.fantom import tables as printed
from tomlab.records import tidy
from tomlab.reporting import outcomes, plotting
from tomlab.reporting import printed as report


def of_outcomes(metrics):
    return outcomes.outcomes(metrics, WORDING)


@pytest.fixture(scope="module")
def one():
    return metrics("smollm2-135m")


@pytest.fixture(scope="module")
def two():
    """Two models, one with a published name, that were not asked everything."""
    return metrics("GPT-4 0314", "random", methods=("short", "full-cot"))


def value(run, metric, condition="inaccessible", method="short", model="smollm2-135m"):
    [number] = run.query(
        "metric == @metric and condition == @condition and method == @method and model == @model"
    )["value"]
    return number


def with_value(run, number, **where):
    """The run with one number (and the ends of its interval) set."""
    found = pd.concat([run[name].eq(level) for name, level in where.items()], axis=1).all(axis=1)
    assert found.sum() == 1
    ends = {name: run[name].mask(found, number) for name in ("value", "ci_low", "ci_high")}
    return run.assign(**ends)


# ---- figures -------------------------------------------------------------------------------------


def test_figure2_sets_filled_dots_of_this_run_under_the_papers_hollow_ones(one):
    figure, caption, notes, *_ = figures.figure2(one)
    y = dict(rows(figure))
    choice, answerability, infoaccess, everything = figure.axes
    titles = [axes.get_title().replace("\n", " ") for axes in figure.axes]
    assert titles == ["BeliefQ [Choice]", "AnswerabilityQ [List]", "InfoAccessQ [List]", "All"]
    assert list(y)[:3] == ["paper", "Human", "Flan-T5-XL"]
    assert by_row(choice, "as asked hollow")[y["Human"]] == 0.938
    assert by_row(answerability, "as asked hollow")[y["InstructGPT davinci-003"]] == 0.563
    cot = "chain of thought (CoT)"
    assert by_row(infoaccess, f"{cot} hollow")[y["GPT-4 0613 (June)"]] == 0.636
    assert by_row(everything, "fine-tuned (FT) hollow")[y["Flan-T5-XL"]] == 0.537
    for axes, metric in zip(figure.axes, ("belief_choice", "answerability_list"), strict=False):
        assert by_row(axes, "as asked filled") == {y["smollm2-135m"]: value(one, metric)}
        with_cot = value(one, metric, method="short-cot")
        assert by_row(axes, f"{cot} filled") == {y["smollm2-135m"]: with_cot}
    [hollow] = artists(choice, "as asked hollow")
    assert same_color(hollow.get_markerfacecolor(), "white")
    [bar] = artists(everything, "as asked intervals")[0].get_segments()
    all_right = value(one, "all", method="short")
    assert bar[:, 0] == pytest.approx([max(all_right - 0.1, 0), all_right + 0.1])
    assert "n = 60–120 sets or questions from 20 conversations" in caption
    assert "FANToM (Kim et al., 2023), Table 9" in notes[1]
    assert "Human: student volunteers, 32 sets" in notes[1]
    assert same_color(hollow.get_markeredgecolor(), plotting.INK)


def test_method_that_the_paper_has_not_stands_in_a_row_of_its_own():
    run = metrics("smollm2-135m", methods=("short", "short-cot", "short-perspective"))
    name, at = "smollm2-135m + perspective", {"method": "short-perspective"}
    figure, *_ = figures.figure2(run)
    y, dots = dict(rows(figure)), by_row(figure.axes[0], "as asked filled")
    assert dots[y[name]] == value(run, "belief_choice", **at)
    assert dots[y["smollm2-135m"]] == value(run, "belief_choice")
    figure, *_ = figures.figure3(run)
    y = dict(rows(figure))
    assert by_row(figure.axes[0], "FactQ, token F1 filled")[y[name]] == value(run, "fact_f1", **at)
    assert y[name] not in by_row(figure.axes[1], "FactQ, token F1 filled")
    for draw, kind in ((figures.figure4, "list_error"), (figures.figure5, "yn_error")):
        figure, *_ = draw(run)
        wrong = value(run, kind, "inaccessible/answerability/any", **at)
        dots = by_row(figure.axes[0], "wrong in any way, other method filled")
        assert dots == {dict(rows(figure))["short + perspective"]: wrong}
        assert "wrong in any way, other method" not in legend(draw(metrics("gpt-4o"))[0])
    assert name in set(printed.table9(run).printed["Model"])


def test_only_the_choice_question_has_a_chance_level(one):
    for draw in (figures.figure2, figures.scenarios):
        figure, caption, *_ = draw(one)
        lines = [artists(axes, "chance") for axes in figure.axes]
        assert [line.get_xdata()[0] for line in lines[0]] == [0.5]
        assert not any(lines[1:])
        assert "Dashed: chance of two options (.50)" in caption


def test_cells_that_fail_a_check_are_marked_and_explained(one):
    figure, _, notes, *_ = figures.figure2(one)
    y = dict(rows(figure))
    for axes in figure.axes:
        marks = artists(axes, "chain of thought (CoT) mark")
        assert {mark.xy[1] for mark in marks} == {y["Mistral Instruct 7B"], y["Llama-2 Chat 70B"]}
        assert artists(axes, "as asked mark") == []
    assert (
        "(row equals full Mistral Instruct 7B cot in 10 of 12 cells, largest gap 0.1): "
        "Llama-2 Chat 70B + CoT, short (all columns)." in " ".join(notes)
    )
    assert "fails a check, see notes" in legend(figure)


def test_figure3_joins_fact_and_belief_of_each_model(one):
    figure, _, notes, *_ = figures.figure3(one)
    y = dict(rows(figure))
    plain, cot = figure.axes
    fact, belief = "FactQ, token F1", "BeliefQ [Dist.], accuracy"
    assert by_row(plain, f"{fact} hollow")[y["GPT-4 0314"]] == 0.776
    assert by_row(plain, f"{belief} hollow")[y["Flan-T5-XL + FT"]] == 0.635
    assert by_row(cot, f"{belief} hollow")[y["Falcon Instruct 40B"]] == 0.721
    assert by_row(plain, f"{fact} filled") == {y["smollm2-135m"]: value(one, "fact_f1")}
    with_cot = value(one, "belief_dist", method="short-cot")
    assert by_row(cot, f"{belief} filled") == {y["smollm2-135m"]: with_cot}
    assert len(artists(plain, "pair")) == 14 + 2 + 1
    assert len(artists(cot, "pair")) == 13 + 1
    [joined] = [line for line in artists(cot, "pair") if round(line.get_ydata().mean()) == 1]
    assert list(joined.get_xdata()) == pytest.approx([0.215, 0.264])  # Flan-T5-XL
    assert "Human" not in y
    below = " ".join(notes)
    assert "Human" not in below
    assert "(printed 24.6, mean of Table 4's orders 40.2): Falcon Instruct 40B, short (" in below


def test_what_nobody_measured_is_said_in_its_row(two):
    figure, *_ = figures.figure3(two)
    y = dict(rows(figure))
    plain, cot = (
        [
            text.xy[1] if hasattr(text, "xy") else text.get_position()[1]
            for text in axes.texts
            if text.get_text() == "no number"
        ]
        for axes in figure.axes
    )
    assert plain == []
    missing = ["Flan-T5-XXL", "InstructGPT curie-001 + FT", "Flan-T5-XL + FT"]
    assert cot[:3] == [y[name] for name in missing]
    assert len(cot) == 4  # this run's model, which was not asked with short-cot


def test_a_model_of_this_run_may_bear_a_published_name(two):
    figure, *_ = figures.figure2(two)
    assert [label for label, _ in rows(figure)].count("GPT-4 0314") == 2
    names = list(printed.table9(two).printed["Model"])
    assert names.count("GPT-4 0314") == 2
    assert names.count("GPT-4 0314 + CoT") == 2


ERRORS = {
    figures.figure4: ("list", ["excluded_aware", "included_unaware", "did_both"]),
    figures.figure5: ("yn", ["false_negative", "false_positive", "irrelevant"]),
}


@pytest.mark.parametrize("draw", ERRORS)
def test_errors_are_dots_with_intervals_in_one_order(one, draw):
    figure, *_ = draw(one)
    kind, errors = ERRORS[draw]
    looks = figures._looks(f"{kind}_error")
    assert list(looks) == errors
    y = dict(rows(figure))
    assert list(y)[-5:] == ["smollm2-135m", "short", "short + CoT", "full", "full + CoT"]
    methods = {"short": "short", "short-cot": "short + CoT", "full": "full"}
    for axes, family in zip(figure.axes, ("answerability", "infoaccess"), strict=True):
        title = "[List]" if kind == "list" else "[Y/N]"
        assert axes.get_title().endswith(title)
        for error, look in looks.items():
            found = by_row(axes, f"{look.label} filled")
            condition = f"inaccessible/{family}/{error}"
            for method, row in methods.items():
                assert found[y[row]] == value(one, f"{kind}_error", condition, method)
            assert len(artists(axes, f"{look.label} intervals")[0].get_segments()) == 4
        heights = [
            artists(axes, f"{look.label} filled")[0].get_ydata()[0] for look in looks.values()
        ]
        assert heights == sorted(heights)


def test_errors_of_any_kind_stand_beside_the_papers(one):
    figure, _, notes, _, data, draw = figures.figure4(one)
    y = dict(rows(figure))
    assert list(y)[:3] == ["paper", "Mistral Instruct 7B", "Falcon Instruct 40B"]
    for axes, family in zip(figure.axes, ("answerability", "infoaccess"), strict=True):
        wrong = by_row(axes, "wrong in any way, as asked filled")
        any_error = value(one, "list_error", f"inaccessible/{family}/any")
        assert wrong[y["short"]] == any_error
        assert any_error == pytest.approx(1 - value(one, f"{family}_list"), abs=2e-4)
    # Table 9: lists of GPT-4 0613 (June), 37.8 % right as asked, 51.1 % with CoT.
    answerability = figure.axes[0]
    for end in ("least", "most"):
        assert by_row(answerability, f"none {end}")[y["GPT-4 0613 (June)"]] == 0.622
        assert by_row(answerability, f"cot {end}")[y["GPT-4 0613 (June)"]] == 0.489
    assert any("have no printed numbers" in note for note in notes)
    assert draw is figures.figure4
    paper = data[data["source"] == "paper"]
    assert len(paper) == 7 * 2 * 2
    assert paper["value"].isna().all()


def test_the_papers_wrong_yes_and_no_lie_between_the_limits_of_their_f1(one):
    figure, *_ = figures.figure5(one)
    y = dict(rows(figure))["ChatGPT 0613"]  # weighted F1 64.2
    least, most = (by_row(figure.axes[0], f"none {end}")[y] for end in ("least", "most"))
    assert least == pytest.approx(1 - (0.642 + (0.642**2 + 8 * 0.642) ** 0.5) / 4, abs=1e-4)
    assert most == pytest.approx(1 - 0.642 / (2 - 0.642), abs=1e-4)
    lines = artists(figure.axes[0], "paper limits")
    ends = [segment[:, 0] for line in lines for segment in line.get_segments()]
    assert any(np.allclose(pair, [least, most], atol=1e-4) for pair in ends)


def test_no_table_of_yes_and_no_lies_outside_the_limits_of_its_f1():
    draw = np.random.default_rng(0)
    shares = draw.beta(0.5, 0.5, 20_000)
    gold = np.stack([shares, 1 - shares], axis=1)
    said = draw.dirichlet([0.4, 0.4, 0.4], size=(20_000, 2)) * gold[..., None]
    right = said[:, 0, 0] + said[:, 1, 1]
    least, most = figures.share_right(pd.Series(weighted_f1(said.reshape(-1, 6))))
    assert (right >= least - 1e-9).all()
    assert (right <= most + 1e-9).all()


def test_an_error_that_nobody_makes_is_not_in_the_legend(one):
    figure, *_ = figures.figure5(one)
    assert "neither yes nor no" in legend(figure)
    never = one["condition"].str.endswith("/irrelevant")
    figure, *_ = figures.figure5(one.assign(value=one["value"].mask(never, 0.0)))
    assert "neither yes nor no" not in legend(figure)


def test_nothing_is_drawn_of_sets_of_which_none_is_right(one):
    whole = one["metric"].isin(["all", "all_star"])
    failed = one.assign(value=one["value"].mask(whole, 0.0))
    assert figures.aggregation(failed) is None
    assert "(n = 60 sets from 20 conversations of a model and method)" in figures.nothing_whole(
        failed
    )


def test_what_a_baseline_copies_stands_beside_no_model():
    run = metrics("gpt-4o", "random", "omniscient")
    figure, _, notes, *_ = figures.figure3(run)
    assert list(dict(rows(figure)))[-1] == "gpt-4o"
    assert any("token F1 of random and omniscient" in note for note in notes)
    table = printed.table9(run)
    for column in ("Fact F1", "Belief F1"):
        assert cell(table, "this run", "random", column, "short") == "–"
        assert cell(table, "this run", "gpt-4o", column, "short") != "–"
    alone = figures.figure3(metrics("random"))
    assert list(dict(rows(alone.figure)))[-1] == "random"


def test_titles_say_what_the_models_of_this_run_did(one, two):
    title = figures.figure2(one).figure.get_suptitle().replace("\n", " ")
    choice, whole = (report.share(value(one, metric)) for metric in ("belief_choice", "all"))
    assert title == (
        f"smollm2-135m: {choice} of beliefs chosen rightly, but {whole} of question sets right as a "
        "whole"
    )
    several = figures.figure2(metrics("gpt-4o", "o3", "random")).figure.get_suptitle()
    assert several.startswith("2 models: ")
    few = one.assign(n_groups=9)
    assert figures.figure2(few).figure.get_suptitle().startswith("Models that choose")


@pytest.mark.parametrize("models", [1, 8])
@pytest.mark.parametrize("draw", [*ERRORS, figures.figure2, figures.figure3, figures.scenarios])
def test_captions_are_short_and_what_is_said_has_numbers(draw, models):
    run = metrics(*NAMES[:models])
    drawn = draw(run)
    assert len(drawn.caption.split()) <= 60
    assert "n = " in drawn.caption
    assert "smollm2-135m" in drawn.said["run"]
    assert drawn.said["not shown"]
    assert {"source", "model", "value", "ci_low", "n"} <= set(drawn.data)


def test_aggregation_has_conversations_for_the_full_context_alone(one):
    figure, caption, *_ = figures.aggregation(one)
    y = dict(rows(figure))
    for axes, metric in zip(figure.axes, ("all_star", "all"), strict=True):
        sets = by_row(axes, "question set filled")
        assert sets[y["short"]] == value(one, metric)
        parts = by_row(axes, "part of a conversation filled")
        assert parts[y["full + CoT"]] == value(one, metric, "inaccessible/part", "full-cot")
        whole = by_row(axes, "whole conversation filled")
        assert whole == {
            y[label]: value(one, metric, "inaccessible/conversation", method)
            for label, method in (("full", "full"), ("full + CoT", "full-cot"))
        }
    assert "n = 20–60 sets, parts or conversations from 20 conversations" in caption
    figure, *_ = figures.aggregation(metrics("random", methods=("short",)))
    assert legend(figure)[:2] == ["question set", "part of a conversation"]
    assert "whole conversation" not in legend(figure)


def test_scenarios_set_the_control_task_beside_the_main_one(one):
    figure, caption, *_ = figures.scenarios(one)
    y = dict(rows(figure))
    for axes, metric in zip(figure.axes, ("belief_choice", "belief_dist"), strict=True):
        main = by_row(axes, "X lacks the information filled")
        control = by_row(axes, "X has it (control) filled")
        assert main[y["full"]] == value(one, metric, "inaccessible", "full")
        assert control[y["full"]] == value(one, metric, "accessible", "full")
    assert "n = 120 answers from 20 conversations" in caption


def test_outcome_bars_sum_to_one_and_facts_are_not_among_them(one):
    figure, caption = told(of_outcomes(one))
    parts = widths(figure.axes[0])
    assert list(parts) == list(tidy.OUTCOMES)
    assert [sum(bar) for bar in zip(*parts.values(), strict=True)] == pytest.approx([1] * 4)
    labels = [label for label, _ in rows(figure)]
    assert labels == ["smollm2-135m", "short", "short + CoT", "full", "full + CoT"]
    assert "n = 600" in caption
    assert "Questions about facts, which earn a token F1 and no verdict, are left out" in caption


def test_a_run_with_the_full_context_alone_shows_the_papers_models(one):
    full = one[one["method"].str.startswith("full")]
    for draw in (figures.figure2, figures.figure3):
        figure, _, notes, *_ = draw(full)
        assert "this run" not in dict(rows(figure))
        assert "This run has no such answers." in notes


def test_what_is_missing_is_refused_with_what_there_is(one):
    with pytest.raises(InputError, match="benchmarks there: bigtom"):
        figures.figure2(one.assign(benchmark="bigtom"))
    for draw, metric in (
        (figures.figure4, "list_error"),
        (figures.figure5, "yn_error"),
        (figures.aggregation, "all_star"),
        (figures.scenarios, "belief_choice"),
        (of_outcomes, "outcome_rate"),
    ):
        with pytest.raises(
            InputError, match=f"no rows of benchmark 'fantom' with metric .{metric}"
        ):
            draw(one[~one["metric"].isin([metric, "belief_dist"])])
    with pytest.raises(InputError, match="found 'hidden', expected one of: inaccessible, acc"):
        printed.table9(one, scenario="hidden")
    with pytest.raises(InputError, match="no scores of benchmark 'fantom' in scenario 'acc"):
        printed.table9(metrics("random", scenarios=("inaccessible",)), scenario="accessible")


@pytest.mark.parametrize("models", [1, 3, 8])
@pytest.mark.parametrize(
    "draw",
    [
        figures.figure2,
        figures.figure3,
        figures.figure4,
        figures.figure5,
        figures.aggregation,
        figures.scenarios,
        of_outcomes,
    ],
)
def test_no_label_is_covered_or_cut_off(draw, models):
    figure, *_ = draw(metrics(*NAMES[:models]))
    figure.draw_without_rendering()
    page, [key] = figure.bbox, figure.legends
    boxes = [label.get_window_extent() for label in figure.axes[0].get_yticklabels()]
    for upper, lower in pairwise(boxes):
        assert upper.y0 >= lower.y1
    titles = [axes.title.get_window_extent() for axes in figure.axes if axes.get_title()]
    beside = [text.get_window_extent() for axes in figure.axes for text in axes.texts]
    for box in [*boxes, *titles, *beside, key.get_window_extent()]:
        assert page.x0 <= box.x0 <= box.x1 <= page.x1
        assert page.y0 <= box.y0 <= box.y1 <= page.y1
    for left, right in pairwise(titles):
        assert left.x1 < right.x0
    for left, right in pairwise(figure.axes):
        texts = [text.get_window_extent().x1 for text in left.texts]
        assert max([left.get_window_extent().x1, *texts]) < right.get_window_extent().x0
    for axes in figure.axes:
        assert key.get_window_extent().y1 <= axes.xaxis.label.get_window_extent().y0
        assert axes.get_window_extent().width > 85
        assert axes.get_xlabel()
    assert figure.get_size_inches()[1] <= 10


def test_saved_figures_are_the_same_in_every_run(tmp_path, one):
    for folder in ("a", "b"):
        figure, caption, *_ = figures.figure3(one)
        paths = plotting.save(figure, tmp_path / folder, "figure3", caption)
    for path in paths:
        assert path.read_bytes() == (tmp_path / "a" / path.name).read_bytes()


# ---- tables --------------------------------------------------------------------------------------


def cell(table, source, model, column, context=None):
    """One printed cell; the label of a context stands once a block."""
    cells = table.printed.replace({"Context": {"": None}}).ffill() if context else table.printed
    found = cells["Source"].eq(source) & cells["Model"].eq(model)
    if context:
        found &= cells["Context"].eq(context)
    [text] = cells.loc[found, column]
    return text


def test_table1_prints_the_paper_and_then_this_runs_short_context(one):
    run = with_value(one, 0.25, metric="all", condition="inaccessible", method="short")
    table = printed.table1(run)
    heads = ["Model", "All", "AnswerabilityQ [All]", "InfoAccessQ [All]", "Source"]
    assert list(table.printed) == heads
    assert list(table.printed["Model"])[-2:] == ["smollm2-135m", "smollm2-135m + CoT"]
    assert cell(table, "paper", "GPT-4 0613 (June) + CoT", "InfoAccessQ [All]") == "57.7"
    assert cell(table, "paper", "Flan-T5-XL + FT", "All") == "53.7"
    assert cell(table, "this run", "smollm2-135m", "All") == "25.0 [25.0, 25.0]\nn = 60/20"
    assert set(table.tidy.query("source == 'paper'")["printed_in"]) == {
        "FANToM (Kim et al., 2023), Table 1"
    }
    assert any("n = 60 question sets from 20 conversations" in note for note in table.notes)


def test_a_row_that_table9_has_for_another_model_is_marked_as_a_whole(one):
    table = printed.table1(one)
    assert cell(table, "paper", "Mistral Instruct 7B + CoT", "All") == "0.1*"
    assert table.tidy["mark"].eq("*").sum() == 6
    assert (
        "* fails a check of the published table (Table 9 has this row for no model): "
        "Falcon Instruct + CoT, short (all columns)." in table.notes
    )


def test_table2_is_about_yes_and_no(one):
    table = printed.table2(one)
    assert list(table.printed)[1:3] == ["AnswerabilityQ [Y/N]", "InfoAccessQ [Y/N]"]
    assert cell(table, "paper", "GPT-4 0613 (October)", "InfoAccessQ [Y/N]") == "91.5"
    expected = f"{100 * value(one, 'answerability_yn', method='short-cot'):.1f} ["
    text = cell(table, "this run", "smollm2-135m + CoT", "AnswerabilityQ [Y/N]")
    assert text.startswith(expected)
    assert not any(note.startswith("*") for note in table.notes)


def test_table3_is_about_characters_and_says_that_its_context_is_not_known(one):
    table = printed.table3(one)
    heads = ["All for each character", "Answer consistency"]
    assert list(table.printed)[1:3] == heads
    assert cell(table, "paper", "GPT-4 0613 (June) + CoT", heads[1]) == "73.4"
    expected = f"{100 * value(one, 'consistency'):.1f} ["
    assert cell(table, "this run", "smollm2-135m", heads[1]).startswith(expected)
    assert table.notes[-1].startswith("The paper does not name the context")


def test_table4_is_by_order_and_says_how_it_differs_from_table9(one):
    table = printed.table4(one)
    second = [f"Second order, {how}" for how in ("plain mean", "pooled")]
    assert list(table.printed)[1:6] == ["First order", *second, "cyclic", "acyclic"]
    assert cell(table, "paper", "Falcon Instruct 40B", "First order") == "39.3*"
    assert cell(table, "paper", "Falcon Instruct 40B", "cyclic") == "42.6"
    # The paper's is a plain mean; this run has both.
    assert cell(table, "paper", "Falcon Instruct 40B", second[0]) == "41.1*"
    assert cell(table, "paper", "Falcon Instruct 40B", second[1]) == "–"
    parts = {"acyclic": ":acyclic", second[0]: ":mean", second[1]: ""}
    for column, part in parts.items():
        order = value(one, "belief_order", f"inaccessible/second-order{part}")
        text = cell(table, "this run", "smollm2-135m", column)
        assert text.startswith(f"{100 * order:.1f} [")
        assert text.endswith("n = 30/20")
    assert "0 of 14 fail" in table.notes[-2]
    assert "3 of 14 fail" in table.notes[-1]


def test_table9_has_the_plain_mean_of_the_orders_beside_the_pooled_dist(one):
    table = printed.table9(one)
    heads = list(table.printed)
    assert heads[heads.index("Belief Dist.") + 1] == "Belief Dist. mean"
    for metric, condition, head in (
        ("belief_dist", "inaccessible", "Belief Dist."),
        ("belief_order", "inaccessible/orders:mean", "Belief Dist. mean"),
    ):
        text = cell(table, "this run", "smollm2-135m", head, "short")
        assert text.startswith(f"{100 * value(one, metric, condition):.1f}\n[")
    assert cell(table, "paper", "Flan-UL2", "Belief Dist.", "short") == "47.6"
    assert cell(table, "paper", "Flan-UL2", "Belief Dist. mean", "short") == "–"
    assert any("3 of 14 fail" in note for note in table.notes)


def test_table9_has_four_blocks_of_the_papers_twelve_columns_and_the_mean(one):
    table = printed.table9(one)
    blocks = table.printed[table.printed["Context"] != ""]
    assert list(zip(blocks["Context"], blocks["Source"], strict=True)) == [
        ("short", "paper"),
        ("short", "this run"),
        ("full", "paper"),
        ("full", "this run"),
    ]
    assert len(table.printed) == 57 + 4
    assert list(table.printed)[2:-1] == list(printed.HEADS.values())
    assert cell(table, "paper", "Human", "All", "short") == "87.5"
    assert cell(table, "paper", "Human", "All*", "short") == "–"
    assert cell(table, "paper", "Flan-T5-XL + FT", "Fact F1", "full") == "50.2"
    score = 100 * value(one, "infoaccess_all", method="full-cot")
    text = cell(table, "this run", "smollm2-135m + CoT", "Access All", "full")
    assert text.startswith(f"{score:.1f}\n[")
    run = table.tidy.query("source == 'this run'")
    assert len(run) == 4 * 13
    assert run["ci_low"].notna().all()
    assert table.tidy.query("source == 'paper'")["ci_low"].isna().all()


def test_every_suspicious_cell_of_table9_is_marked_and_told(one):
    table = printed.table9(one)
    assert cell(table, "paper", "GPT-4 0613 (October)", "All", "full") == "1.4*"
    assert cell(table, "paper", "InstructGPT curie-001 + FT", "Access All", "full") == "0.1*"
    marked = table.tidy.query("mark == '*'")
    for reason in set("; ".join(marked["reason"]).split("; ")):
        assert (
            sum(
                note.startswith("* fails a check") and f"({reason}):" in note
                for note in table.notes
            )
            == 1
        )


def test_the_control_task_is_this_runs_alone(one):
    table = printed.table9(one, scenario="accessible")
    assert table.name == "table9_accessible"
    assert set(table.printed["Source"]) == {"this run"}
    score = 100 * value(one, "belief_choice", "accessible")
    text = cell(table, "this run", "smollm2-135m", "Belief Choice", "short")
    assert text.startswith(f"{score:.1f}\n")
    assert "The paper prints no numbers of this task." in table.notes


def test_a_score_that_a_run_lacks_is_absent(one):
    table = printed.table9(one[one["metric"] != "belief_f1"])
    assert cell(table, "this run", "smollm2-135m", "Belief F1", "short") == "–"


def test_table8_sets_the_statistics_of_this_run_under_the_papers():
    names = PUBLICATION.read("table8_statistics")["statistic"].unique()
    statistics = pd.DataFrame({"statistic": names, "value": [1290, 12.94, 4.9, 21.9, 13.8]})
    statistics["n"] = [None, 99, 20, 490, 99]
    statistics = statistics.astype({"n": "Int64"})
    table = printed.table8(statistics)
    lines = [tuple(row) for row in table.printed.to_numpy()]
    assert lines == [
        ("ToMi", "6K", "6.0", "–", "4.9", "4.7", "paper"),
        ("FANToM", "10K", "12.9", "13.8", "24.5", "21.9", "paper"),
        (
            *("FANToM, sets of this run", "1,290", "12.9\nn = 99", "13.8\nn = 99"),
            *("4.9\nn = 20", "21.9\nn = 490", "this run"),
        ),
    ]
    assert len(table.tidy) == 9 + 5
    with pytest.raises(InputError, match="statistic avg_turn_length is there twice") as error:
        wrong = pd.DataFrame({"statistic": [*names, "turns", names[3]], "value": 1.0})
        printed.table8(wrong)
    assert "found 'turns', expected one of: total_questions" in str(error.value)


def test_counts_of_the_run_stand_beside_the_papers_and_the_releases():
    counts = pd.DataFrame(
        [
            ("conversations", 8, 256, 256),
            ("sets", 24, None, 870),
            ("belief_choice", 40, 1415, 1540),
            ("all_questions", 300, 10000, None),
            ("identical_fact_answers", 0, None, 13),
            ("own item", 5, None, None),
        ],
        columns=["item", "count", "paper", "release"],
    )
    table = printed.dataset_counts(counts)
    assert list(table.printed) == ["Item", "Paper", "Release", "This run"]
    assert [tuple(row) for row in table.printed.to_numpy()] == [
        ("Conversations", "256", "256", "8"),
        ("Question sets", "–", "870", "24"),
        ("BeliefQ [Choice]", "1,415", "1,540", "40"),
        ("All questions", "10K", "–", "300"),
        ("FactQ, right and wrong answer alike", "–", "13", "0"),
        ("own item", "–", "–", "5"),
    ]
    assert len(table.tidy) == 13
    assert any("10317 questions" in note for note in table.notes)
    with pytest.raises(InputError, match="item sets is there twice"):
        printed.dataset_counts(counts.replace({"item": {"conversations": "sets"}}))


@pytest.mark.parametrize("name", ["table1", "table2", "table3", "table4", "table9"])
def test_latex_is_balanced_and_without_symbols(name, two):
    latex = report.latex(getattr(printed, name)(two), "fantom")
    assert latex.count("{") == latex.count("}")
    for environment in set(findall(r"\\begin\{(\w+)\}", latex)):
        opened, closed = (latex.count(f"\\{end}{{{environment}}}") for end in ("begin", "end"))
        assert opened == closed
    assert not set(latex) & set("–−×∧≤")
