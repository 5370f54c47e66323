"""OmniToM's figures by their data: points, bars, labels, marks; and its tables by their cells."""

import json
from itertools import combinations, pairwise, product
from re import findall

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from matplotlib.colors import same_color

from drawn import artists, by_row, legend, rows, said, told
from omnitom_metrics import EVERY_METHOD, METHODS, NAMES, metrics, sensitivity
from tomlab.benchmarks.omnitom import judge_tables as calibrated
from tomlab.benchmarks.omnitom.alignment import Alignment
from tomlab.benchmarks.omnitom.items.records import CATEGORIES, DIMENSIONS, statistics
from tomlab.benchmarks.omnitom.judges import printed_example
from tomlab.benchmarks.omnitom.judges import worked as of_judges
from tomlab.benchmarks.omnitom.metrics import metrics as metrics_of
from tomlab.benchmarks.omnitom.paper import PUBLICATION, WORDING
from tomlab.errors import InputError
from tomlab.papers.omnitom import figures
from tomlab.papers.omnitom import judge_tables as judges
from tomlab.papers.omnitom import tables as printed
from tomlab.records import tidy
from tomlab.reporting import outcomes, plotting
from tomlab.reporting import printed as report


def of_outcomes(metrics):
    return outcomes.outcomes(metrics, WORDING)


def scores():
    """Scores of both stages on two stories of each category, as `omnitom_scores.score` has them."""
    rows = []
    for story, code in enumerate([*CATEGORIES, *CATEGORIES]):
        row = {"group_id": str(story), "family": str(story), "model": "m", "sample": 0}
        row |= {"category": code, "score": 0.5}
        row |= {"precision": 0.5, "recall": 0.5, "n_predicted": 4, "completion_tokens": 9 + story}
        row["outcome"] = "correct" if story else "unparsed"
        predicted = [["A", "it rains", order, int(order)] for order in "0123"]
        extracted = {"predicted": predicted, "gold": [["A", "it rains", o, 1] for o in "012"]}
        labels = {name: [legal[story % 2], *legal[:1] * 2] for name, legal in DIMENSIONS.items()}
        labelled = [[order, labels] for order in "012"]
        linked = {"question": f"{story}/linked:1", "try": 1, "option": "A"}
        details = {"linked": linked, "stage1-L3": extracted, "stage2-L3": labelled}
        for stage, (method, detail) in enumerate(details.items()):
            keys = {"item_id": f"{story}/{stage}", "method": method, "stage": stage}
            rows.append(row | keys | {"detail": json.dumps(detail)})
    return pd.DataFrame(rows)


def distribution():
    """The labels of 200 gold beliefs: of each dimension 188 have the last label, if many 190."""
    rows = []
    for dimension, labels in DIMENSIONS.items():
        counts = [2] * (len(labels) - 1) + [200 - 2 * (len(labels) - 1)]
        rows += [(dimension, *pair, pair[1] / 200) for pair in zip(labels, counts, strict=True)]
    return pd.DataFrame(rows, columns=["dimension", "label", "count", "share"])


def agreements():
    """Two judges as `judging.report` has them."""
    columns = ["judge", "agreement", "ci_low", "ci_high", "precision", "recall", "kappa", "n"]
    rows = [
        ("exact", 0.7, 0.6, 0.8, 1.0, 0.3, -0.1, 1000),
        ("llm", 0.9, 0.8, 1, 0.9, 0.9, 0.8, 1000),
    ]
    return pd.DataFrame(rows, columns=columns).assign(undefined=[0, 3], n_groups=21)


@pytest.fixture(scope="module")
def one():
    return metrics("smollm2-135m")


@pytest.fixture(scope="module")
def two():
    """Two models, one with a published name."""
    return metrics("Gemma-3 27B", "random")


def value(run, metric, condition="all", method="stage1-L3", model="smollm2-135m"):
    [number] = run.query(
        "metric == @metric and condition == @condition and method == @method and model == @model"
    )["value"]
    return number


def panel(figure, title):
    [axes] = [axes for axes in figure.axes if title in (axes.get_title(), axes.get_title("left"))]
    return axes


def test_the_made_up_metrics_are_those_of_a_run():
    keys = ["method", "metric", "condition"]
    real = metrics_of(scores())
    made = metrics("m", methods=("stage1-L3", "stage2-L3", "linked"))
    assert set(map(tuple, made[keys].to_numpy())) == set(map(tuple, real[keys].to_numpy()))
    for draw in (figures.figure5, figures.figure8, figures.beyond_accuracy, of_outcomes):
        assert draw(real)[0].axes
    for tabulate in (printed.table3, printed.table10, judges.table9, judges.table11):
        assert "m" in set(tabulate(real).printed["Model"])


# ---- figures -------------------------------------------------------------------------------------


def test_figure4_has_a_bar_a_label_and_the_papers_orders_as_hollow_by_row():
    figure, caption, _, said, *_ = figures.figure4(distribution())
    titles = [axes.get_title("left") for axes in figure.axes]
    names = {each: f"{name} (n = 200)" for each, name in printed.DIMENSION_NAMES.items()}
    assert sorted(titles) == sorted(names.values())
    for dimension, name in names.items():
        axes = panel(figure, name)
        labels = tuple(tick.get_text() for tick in axes.get_yticklabels())
        assert labels == DIMENSIONS[dimension]
        [dots] = artists(axes, "shares")
        assert sum(dots.get_xdata()) == pytest.approx(1)
        assert min(dots.get_xdata()) > axes.get_xlim()[0] == 0
        assert not dots.get_clip_on()
    texts = [text.get_text() for text in panel(figure, names["context"]).texts]
    assert texts == [".01 (2)", ".01 (2)", ".01 (2)", ".97 (194)"]
    order = panel(figure, names["order"])
    assert by_row(order, "paper hollow") == {0: 0.326, 1: 0.571, 2: 0.098, 3: 0.005}
    assert same_color(artists(order, "paper hollow")[0].get_markerfacecolor(), "white")
    assert not artists(panel(figure, names["context"]), "paper hollow")
    assert "n = 200 beliefs, 1,400 labels" in caption
    assert "OmniToM (Bawatneh et al., 2026), §4" in said["paper"]
    assert "0: .33, 1: .57" in said["paper"]
    assert "Neutral (.97)" in figure.get_suptitle()


def test_labels_that_are_not_the_schemas_are_all_named():
    rows = distribution()
    wrong = pd.concat([rows.replace({"label": {"Emotion": "Feeling"}}), rows.tail(1)])
    with pytest.raises(InputError, match="labels: 3 problems") as error:
        figures.figure4(wrong)
    assert "content_type 'Feeling': found 1 times, expected 0" in str(error.value)
    assert "content_type 'Emotion': found 0 times, expected 1" in str(error.value)
    assert "context 'Neutral': found 2 times, expected 1" in str(error.value)
    with pytest.raises(InputError, match="column 'share' is missing"):
        figures.figure4(rows.drop(columns="share"))


@given(st.sampled_from(range(len(distribution()))))
@settings(max_examples=10, deadline=None)
def test_any_label_that_is_missing_is_named(row):
    whole = distribution()
    with pytest.raises(InputError, match="found 0 times, expected 1") as error:
        figures.figure4(whole.drop(index=row))
    assert f"{whole['dimension'][row]} {whole['label'][row]!r}" in str(error.value)


def labels(axes):
    """y of each row of a panel by its name."""
    ticks = zip(axis_ticks(axes), axes.get_yticklabels(), strict=True)
    return {label.get_text(): y for y, label in ticks}


def axis_ticks(axes):
    return axes.yaxis.get_majorticklocs()


def test_figure5_has_a_panel_for_extraction_and_one_for_labels_by_order(one):
    figure, caption, notes, *_ = figures.figure5(one)
    extraction, labelling = figure.axes
    assert extraction.get_title() == "[a] Extraction: F1"
    assert labelling.get_title() == "[b] Labelling: accuracy\nsmollm2-135m"
    assert list(labels(extraction)) == ["smollm2-135m"]
    y = labels(labelling)
    assert list(y) == ["All dimensions", *printed.DIMENSION_NAMES.values()]
    for bucket, look in figures.ORDERS.items():
        assert by_row(extraction, f"{look.label} filled") == {0: value(one, "f1", bucket)}
        number = value(one, "accuracy", f"knowledge_access/{bucket}", "stage2-L3")
        assert by_row(labelling, f"{look.label} filled")[y["Knowledge access"]] == number
    assert "n = 20 outputs from 20 stories" in caption
    assert any("stage1-L3, stage2-L3; n = 20 outputs a point" in note for note in notes)


def test_figure5_draws_what_the_papers_text_says_in_the_rows_of_its_dimensions(one):
    figure, _, _, said, *_ = figures.figure5(one)
    first, second = figures.ORDERS["order 1"].label, figures.ORDERS["order 2+"].label
    labelling, y = figure.axes[1], labels(figure.axes[1])
    found = {"All dimensions": 0.712, "Knowledge access": 0.589, "Representation": 0.573}
    expected = {y[name]: number for name, number in found.items()}
    assert by_row(labelling, f"{first} hollow") == expected
    assert by_row(labelling, f"{second} hollow") == {y["All dimensions"]: 0.744}
    assert "labelling (knowledge access), order 1 .59" in said["paper"]
    assert f"F1, order 0 {report.share(value(one, 'f1', 'order 0'))}" in said["run"]


def test_a_model_of_which_nothing_could_be_used_is_shown_by_its_json():
    run = metrics("smollm2-135m", "o3", methods=("stage1-L3", "stage1-L3-json"))
    is_lost = run["model"].eq("smollm2-135m") & run["method"].eq("stage1-L3")
    lost = run.assign(value=run["value"].mask(is_lost & run["metric"].eq("unusable"), 1.0))
    lost["value"] = lost["value"].mask(is_lost & lost["metric"].eq("f1"), 0.0)
    figure, _, notes, *_ = figures.figure5(lost)
    y = labels(figure.axes[0])
    assert list(y) == ["smollm2-135m, L3-json", "o3"]
    look = figures.ORDERS["order 1"]
    of = {"smollm2-135m": "stage1-L3-json", "o3": "stage1-L3"}
    assert by_row(figure.axes[0], f"{look.label} filled") == {
        place: value(run, "f1", "order 1", method, model)
        for place, (model, method) in enumerate(of.items())
    }
    assert any("stage1-L3-json, stage1-L3" in note for note in notes)
    assert list(labels(figures.figure5(lost, "L3").figure.axes[0])) == ["smollm2-135m", "o3"]
    assert list(labels(figures.figure5(run).figure.axes[0])) == ["smollm2-135m", "o3"]


def test_a_run_of_one_stage_has_the_panels_of_that_stage(one):
    extraction, *_ = figures.figure5(one[one["method"].str.startswith("stage1")])
    assert [axes.get_title() for axes in extraction.axes] == ["[a] Extraction: F1"]
    labelling, _, notes, *_ = figures.figure5(one[one["method"].str.startswith("stage2")])
    assert len(labelling.axes) == 1
    assert not any("stage1" in note for note in notes)


def test_what_baselines_copy_from_gold_stands_beside_no_model():
    run = metrics("gpt-4o", "random", "omniscient")
    figure, _, notes, *_ = figures.figure5(run)
    extraction, model, random, omniscient = figure.axes
    assert list(labels(extraction)) == ["gpt-4o"]
    assert said(model) == said(random) == []
    assert said(omniscient) == ["copies gold"] * 6
    own = by_row(omniscient, f"{figures.ORDERS['order 0'].label} filled")
    assert set(own) == {labels(model)[name] for name in ("Truth status", "Knowledge access")}
    assert any("numbers that random and omniscient owe to gold" in note for note in notes)
    names = [text.get_text() for text in artists(figures.figure8(run).figure.axes[1], "name")]
    assert names == ["gpt-4o, n = 28/28"]
    assert set(judges.table11(run).tidy["model"]) >= {"gpt-4o"}
    assert not {"random", "omniscient"} & set(judges.table11(run).tidy["model"])
    assert "random" in set(judges.table12(run).printed["Model"])
    alone = figures.figure8(metrics("random")).figure
    assert [text.get_text() for text in artists(alone.axes[1], "name")] == ["random, n = 28/28"]


@pytest.mark.parametrize(
    ("methods", "level", "shown"),
    [
        (METHODS, None, "stage1-L3"),
        (METHODS, "L1", "stage1-L1"),
        (("stage1-L1", "stage1-L3-json"), None, "stage1-L3-json"),
        (("stage1-L4", "stage1-L2"), None, "stage1-L2"),
        (("stage1-mine",), None, "stage1-mine"),
    ],
)
def test_the_level_shown_is_l3_unless_asked_or_absent_and_is_told(methods, level, shown):
    run = metrics("smollm2-135m", methods=methods)
    figure, _, notes, *_ = figures.figure8(run, level)
    assert any(f"; {shown}; n = 28" in note for note in notes)
    [dot] = artists(figure.axes[0], "smollm2-135m, n = 28/28")
    assert dot.get_ydata() == pytest.approx([value(run, "f1", method=shown)])


def test_a_level_that_was_not_asked_is_refused_with_those_that_were(one):
    for draw in (figures.figure5, figures.figure8, figures.beyond_accuracy, printed.table10):
        with pytest.raises(InputError, match="found 'L9', expected one of: L1, L3"):
            draw(one, level="L9")


def test_figure8_sets_volume_against_three_scores(one):
    figure, _, _, told, *_ = figures.figure8(one)
    assert [axes.get_title() for axes in figure.axes] == ["F1", "Precision", "Recall"]
    for axes, metric in zip(figure.axes, ("f1", "precision", "recall"), strict=True):
        [dot] = artists(axes, "smollm2-135m, n = 28/28")
        [[x, y]] = dot.get_xydata()
        assert (x, y) == (value(one, "beliefs_per_story"), value(one, metric))
        across, up = (lines.get_segments()[0] for lines in axes.collections[:2])
        assert np.ptp(across[:, 0]) == pytest.approx(6)
        assert np.ptp(up[:, 1]) > 0
    assert "prints no numbers of the figure" in told["paper"]


def test_figure8_names_its_points_and_computes_the_papers_of_f1(one):
    figure, _, notes, *_ = figures.figure8(one)
    [hollow] = artists(figure.axes[0], "paper hollow")
    points = {round(x, 2): round(y, 4) for x, y in hollow.get_xydata()}
    assert len(points) == 8
    assert points[round(13694 / 895, 2)] == 0.5769  # Gemma-3 27B
    names = {text.get_text(): text.xy for text in artists(figure.axes[0], "name")}
    assert names["Gemma-3 27B"] == pytest.approx((13694 / 895, 0.5769))
    assert set(names) >= {"smollm2-135m, n = 28/28", "Qwen3 8B", "Gemini-2.5 Flash"}
    assert any("Table 11 over all stories (Table 4)" in note for note in notes)
    for axes in figure.axes[1:]:
        assert not artists(axes, "paper hollow")


def test_no_name_of_figure8_covers_another(one):
    figure, *_ = figures.figure8(one)
    boxes = [text.get_window_extent() for text in artists(figure.axes[0], "name")]
    assert not any(a.overlaps(b) for a, b in combinations(boxes, 2))


def test_judge_sensitivity_shows_f1_under_each_judge_and_tells_the_rankings():
    names = [NAMES[0], *NAMES[3:5]]
    figure, _, notes, told, data, _ = calibrated.judge_sensitivity(sensitivity(*names))
    y = dict(rows(figure))
    [f1] = figure.axes
    assert by_row(f1, "exact filled") == {
        y[n]: v for n, v in zip(names, (0.2, 0.5, 0.8), strict=True)
    }
    assert legend(figure) == ["exact", "token_f1", "embedding", "llm:gpt-5", "n/stories"]
    assert f"{names[-1]} under exact" in notes[0]
    assert "Kendall's tau of two rankings: at least −1.00 (exact and token_f1)" in notes[0]
    assert f"{names[0]}: exact .20" in told["run"]
    assert len(data) == 12


def test_a_baseline_has_no_judge_beside_a_model():
    figure, _, notes, *_ = calibrated.judge_sensitivity(sensitivity("o3", "random", "omniscient"))
    assert list(dict(rows(figure))) == ["o3"]
    assert "there is no ranking to compare" in notes[0]
    assert "random and omniscient" in notes[1]
    assert list(dict(rows(calibrated.judge_sensitivity(sensitivity("random")).figure))) == [
        "random"
    ]


def test_models_that_are_all_alike_have_no_tau():
    alike = sensitivity("o3", "gpt-4o", by=("exact", "llm")).assign(value=0.5)
    assert "tau" not in calibrated.judge_sensitivity(alike).notes[0]


def test_the_figures_say_by_whom_f1_is_judged_and_how_it_differs(one):
    after = one.assign(value=one["value"].mask(one["metric"].eq("f1"), 0.25))
    winner = {"judge": "token_f1", "similarity": "token_f1", "threshold": 0.5, "truth": tidy.KNOWN}
    winner |= {"agreement": 0.9, "ci_low": 0.8, "ci_high": 0.95}
    text = calibrated.rejudged(winner, one, after).data
    assert (
        "`token_f1` from a likeness of 0.5 on, which agrees with constructed edits on .90" in text
    )
    assert "by `embedding` from a likeness of 0.75 on" in text
    before = report.share(value(one, "f1"))
    assert f"smollm2-135m (stage1-L3) .25 here, {before} there" in text


def test_a_judge_sensitivity_that_cannot_be_read_is_refused():
    rows = sensitivity("random")
    with pytest.raises(InputError, match="column 'judge' is missing"):
        calibrated.judge_sensitivity(rows.drop(columns="judge"))
    with pytest.raises(InputError, match="exact, random is there twice"):
        calibrated.judge_sensitivity(pd.concat([rows, rows.head(1)]))
    with pytest.raises(InputError, match="no rows of a method of stage1"):
        calibrated.judge_sensitivity(rows.assign(method="stage2-L3"))


def test_beyond_accuracy_sets_three_scores_beside_the_commonest_label(one):
    figure, caption, *_ = figures.beyond_accuracy(one)
    titles = [axes.get_title().partition("\n")[0] for axes in figure.axes]
    assert titles == list(printed.DIMENSION_NAMES.values())
    context = panel(figure, "Context\n(commonest .92)")
    for metric, look in figures.BEYOND.items():
        expected = value(one, metric, "context", "stage2-L3")
        assert by_row(context, f"{look.label} filled") == {0: expected}
    [line] = artists(context, "chance")
    assert line.get_segments()[0][:, 0] == pytest.approx([0.92, 0.92])
    assert "always the commonest gold label" in legend(figure)
    fewer = one.assign(model="o3", value=one["value"].where(one["condition"] != "context", 0.5))
    figure, *_ = figures.beyond_accuracy(pd.concat([one, fewer]))
    assert panel(figure, "Context\n(commonest .50–.92)")
    assert "n = 28–600 outputs or beliefs" in caption


def test_outcome_bars_sum_to_one_and_call_no_table_correct(one):
    figure, caption = told(of_outcomes(one))
    parts = {
        bars.get_label(): [bar.get_width() for bar in bars] for bars in figure.axes[0].containers
    }
    assert list(parts) == list(tidy.OUTCOMES)
    assert [sum(bar) for bar in zip(*parts.values(), strict=True)] == pytest.approx([1] * 5)
    expected = ["smollm2-135m", "stage1-L1", "stage1-L3", "stage2-L1", "stage2-L3", "linked"]
    assert list(dict(rows(figure))) == expected
    assert "usable = a table that has something right, though it need not be much" in caption
    assert "usable if it names the right option. A usable table earns what is right" in caption
    assert "correct" not in caption
    named = [text.get_text() for text in figure.legends[0].get_texts()]
    assert named[:3] == ["usable", "usable, nothing right", "unparsed"]
    beside = [text.get_text() for text in figure.axes[0].texts]
    for method, score in (("stage1-L3", "f1"), ("stage2-L3", "accuracy")):
        name = {"f1": "F1", "accuracy": "accuracy"}[score]
        share = f"{value(one, score, method=method):.2f}".removeprefix("0")
        assert f"28/28, {name} {share}" in beside
    assert "smollm2-135m .30" in caption


def test_all_ten_methods_stand_in_the_order_of_their_detail():
    figure, *_ = of_outcomes(metrics("random", methods=EVERY_METHOD[::-1]))
    assert list(dict(rows(figure))) == ["random", *EVERY_METHOD]


def test_what_is_missing_is_refused_with_what_there_is(one):
    with pytest.raises(InputError, match="benchmarks there: fantom"):
        figures.figure5(one.assign(benchmark="fantom"))
    for draw, metric in (
        (figures.figure8, "recall"),
        (figures.beyond_accuracy, "majority_baseline"),
        (of_outcomes, "outcome_rate"),
    ):
        with pytest.raises(
            InputError, match=f"no rows of benchmark 'omnitom' with metric '{metric}"
        ):
            draw(one[one["metric"] != metric])
    with pytest.raises(InputError, match="by belief order"):
        figures.figure5(one[one["metric"] == "outcome_rate"])


def of_models(draw, models):
    if draw is calibrated.judge_sensitivity:
        return draw(sensitivity(*NAMES[:models]))[0]
    return draw(metrics(*NAMES[:models]))[0]


@pytest.mark.parametrize("models", [1, 8])
@pytest.mark.parametrize(
    "draw",
    [figures.figure5, figures.figure8, figures.beyond_accuracy, calibrated.judge_sensitivity],
)
def test_captions_are_short_and_have_n(draw, models):
    of = sensitivity if draw is calibrated.judge_sensitivity else metrics
    drawn = draw(of(*NAMES[:models]))
    assert len(drawn.caption.split()) <= 60
    assert "n = " in drawn.caption
    assert "smollm2-135m" in drawn.said["run"]
    assert {"source", "model", "value", "ci_low", "n"} <= set(drawn.data)


@pytest.mark.parametrize("models", [1, 3, 8])
@pytest.mark.parametrize(
    "draw",
    [
        figures.figure5,
        figures.figure8,
        calibrated.judge_sensitivity,
        figures.beyond_accuracy,
        of_outcomes,
    ],
)
def test_no_label_is_covered_or_cut_off(draw, models):
    nothing_is_covered_or_cut_off(of_models(draw, models))


def test_no_label_of_figure4_is_covered_or_cut_off():
    big = distribution().assign(count=lambda rows: rows["count"] * 1000)
    nothing_is_covered_or_cut_off(figures.figure4(big)[0])


def nothing_is_covered_or_cut_off(figure):
    figure.draw_without_rendering()
    page, [key] = figure.bbox, figure.legends
    texts = [key]
    for axes in figure.axes:
        labels = [label for label in axes.get_yticklabels() if label.get_text()]
        title = axes.title if axes.get_title() else axes._left_title
        own = [text for text in (title, axes.xaxis.label) if text.get_text()]
        texts += [*labels, *own, *axes.texts]
        boxes = sorted((each.get_window_extent() for each in labels), key=lambda box: -box.y0)
        for upper, lower in pairwise(boxes):
            assert upper.y0 >= lower.y1
        assert axes.get_window_extent().width > 100
        assert key.get_window_extent().y1 <= axes.get_tightbbox().y0
    for text in texts:
        box = text.get_window_extent()
        assert page.x0 <= box.x0 <= box.x1 <= page.x1
        assert page.y0 <= box.y0 <= box.y1 <= page.y1
    for one, other in product(figure.axes, figure.axes):
        if one is not other:
            assert not one.get_tightbbox().overlaps(other.get_window_extent())
            assert not one.title.get_window_extent().overlaps(other.title.get_window_extent())
    assert figure.get_size_inches()[1] <= 10


def test_saved_figures_are_the_same_in_every_run(tmp_path, one):
    for folder in ("a", "b"):
        figure, caption, *_ = figures.figure8(one)
        paths = plotting.save(figure, tmp_path / folder, "figure8", caption)
    for path in paths:
        assert path.read_bytes() == (tmp_path / "a" / path.name).read_bytes()


# ---- tables --------------------------------------------------------------------------------------


def cell(table, source, row, column, **where):
    """One printed cell by what its row begins with; a label that is not repeated is filled in."""
    first = table.printed.columns[0]
    cells = table.printed.assign(**{first: table.printed[first].replace("", None).ffill()})
    label = next(head for head in ("Model", "Judge", "Category", "Dimension") if head in cells)
    found = cells["Source"].eq(source) & cells[label].eq(row)
    for head, text in where.items():
        found &= cells[head].eq(text)
    [text] = cells.loc[found, column]
    return text


EXTRACT, LABEL = "Stage 1:\nextraction, F1", "Stage 2:\nlabelling, accuracy"


def test_table3_prints_the_papers_digits_and_marks_what_fails(one):
    table = printed.table3(one)
    gemma = {"source": "paper", "row": "Gemma-3 27B"}
    assert cell(table, **gemma, column="FBT", Stage=EXTRACT) == "72.39"
    assert cell(table, **gemma, column="Over categories", Stage=EXTRACT) == "57.69*"
    assert cell(table, **gemma, column="Over stories", Stage=EXTRACT) == "58.03†"
    assert cell(table, **gemma, column="HT", Stage=LABEL) == "54.33"  # under Representation
    assert cell(table, **gemma, column="Over stories", Stage=LABEL) == "78.46"
    assert cell(table, "paper", "Qwen3 32B", "Over categories", Stage=EXTRACT) == "51.63"
    assert table.tidy["mark"].eq("*").sum() == 7
    [told] = [note for note in table.notes if note.startswith("* fails a check")]
    assert "Gemma-3 27B (printed 57.69, macro-average over stories 58.03)" in told
    assert any(note.startswith("† computed from") for note in table.notes)
    places = set(table.tidy.query("source == 'paper' and mark != '†'")["printed_in"])
    assert places == {f"OmniToM (Bawatneh et al., 2026), Table 3, {s}" for s in ("left", "right")}


def test_table3_gives_this_runs_overall_both_ways_with_unusable_as_0_and_left_out(one):
    table = printed.table3(one)
    for stage, metric, method in (
        (EXTRACT, "f1", "stage1-L3"),
        (LABEL, "accuracy", "stage2-L3"),
    ):
        for column, condition in (("Over stories", "all"), ("Over categories", "categories")):
            for unusable, way in (("as 0", ""), ("left out", "/usable")):
                number = 100 * value(one, metric, condition + way, method)
                where = {"Stage": stage, "Unusable": unusable}
                text = cell(table, "this run", "smollm2-135m", column, **where)
                assert text.startswith(f"{number:.1f}\n[")
    where = {"Stage": LABEL, "Unusable": "left out"}
    number = 100 * value(one, "accuracy", "context/usable", "stage2-L3")
    assert cell(table, "this run", "smollm2-135m", "SST", **where).startswith(f"{number:.1f}\n")
    heads = table.printed.iloc[10]
    assert list(heads[["AST", "FBT", "SST"]]) == ["Order", "Truth status", "Context"]
    assert "left out" in set(table.tidy["unusable"])
    assert not any("constructed edits" in head for head in table.printed)


def test_a_model_without_a_usable_output_has_no_row_that_leaves_them_out(one):
    all_lost = one[~one["condition"].str.endswith("/usable")]
    assert "left out" not in set(printed.table3(all_lost).printed["Unusable"])


def test_the_judges_error_has_columns_of_its_own(one):
    judged = one.query("metric == 'f1' and condition in ['all', 'categories']")
    judged = judged.assign(metric="f1_as_on_edits", value=0.25, ci_low=0.0, ci_high=0.5, reason="")
    table = printed.table3(one, judged)
    where = {"Stage": EXTRACT, "Unusable": "as 0"}
    own = cell(table, "this run", "smollm2-135m", "Over stories", **where)
    assert " uncorrected\nn = " in own
    for column in (
        f"{name}, if as on constructed edits" for name in ("Over stories", "Over categories")
    ):
        text = cell(table, "this run", "smollm2-135m", column, **where)
        assert text == "25.0\n[0.0, 50.0]\nn = 28/28"
        assert cell(table, "paper", "Qwen3 8B", column, Stage=EXTRACT) == "–"
    assert "Over stories, corrected by labels" not in table.printed
    only = printed.table3(one, judged[judged["condition"] == "all"])
    assert "Over categories, if as on constructed edits" not in only.printed
    with pytest.raises(InputError, match="no rows of metric f1_by_labels or f1_as_on_edits"):
        printed.table3(one, judged.assign(method="stage1-L4"))
    with pytest.raises(InputError, match="smollm2-135m, stage1-L3, all, f1_as_on_edits is there"):
        printed.table3(one, pd.concat([judged, judged.query("condition == 'all'")]))
    with pytest.raises(InputError, match="column 'condition' is missing"):
        printed.table3(one, judged.drop(columns="condition"))


def test_a_refused_claim_says_why_and_a_correction_by_labels_has_columns_of_its_own(one):
    judged = one.query("metric == 'f1' and condition == 'all'")
    refused = judged.assign(
        metric="f1_as_on_edits", value=np.nan, reason="the judge errs otherwise"
    )
    refused = refused.assign(ci_low=np.nan, ci_high=np.nan, n=pd.NA, n_groups=pd.NA)
    labelled = judged.assign(metric="f1_by_labels", value=0.5, ci_low=0.25, ci_high=0.75, reason="")
    table = printed.table3(one, pd.concat([refused, labelled]))
    where = {"Stage": EXTRACT, "Unusable": "as 0"}
    own = {"source": "this run", "row": "smollm2-135m"}
    assert (
        cell(table, **own, column="Over stories, if as on constructed edits", **where) == "no claim"
    )
    text = cell(table, **own, column="Over stories, corrected by labels", **where)
    assert text == "50.0\n[25.0, 75.0]\nn = 28/28"
    assert any(note.endswith("of smollm2-135m: the judge errs otherwise.") for note in table.notes)


def test_table4_sets_this_runs_gold_under_the_papers():
    names = PUBLICATION.read("table4_categories")["statistic"].unique()
    counts = [(code, name, 10.0) for code in ("AST", "total") for name in names]
    ours = pd.DataFrame(counts, columns=["category", "statistic", "value"])
    ours.loc[2, "value"] = 12.345
    table = printed.table4(ours)
    assert list(table.printed) == ["Category", *printed.STATISTICS.values(), "Source"]
    assert list(table.printed.iloc[0, 1:4]) == ["98", "4,614", "47.08"]
    assert list(table.printed.iloc[1, :4]) == ["", "10", "10", "12.35"]
    assert list(table.printed.iloc[-2, :3]) == ["Total", "895", "22,343"]
    assert len(table.tidy) == 48 + 12
    wrong = pd.concat([ours, ours.head(1).assign(category="XYZ"), ours.head(1)])
    with pytest.raises(InputError, match="category: found 'XYZ', expected one of: AST") as error:
        printed.table4(wrong)
    assert "AST, stories is there twice" in str(error.value)


def test_table4_takes_the_statistics_of_records_as_they_are():
    gold = [{"labels": {"order": order}} for order in "0123"]
    records = [{"story_category": "Hinting Task Test", "beliefs": gold}]
    table = printed.table4(statistics(records))
    number = {"source": "this run", "row": "Hinting Task Test"}
    assert cell(table, **number, column="Beliefs a story") == "4.00"
    assert cell(table, **number, column="Order 2+") == "2"
    assert cell(table, "this run", "Ambiguous Story Task", "Beliefs a story") == "–"


def test_a_model_that_was_asked_otherwise_is_named_as_without_a_number(one):
    other = metrics("o3", methods=("stage1-L3-json",))
    table = printed.table3(pd.concat([one, other]))
    assert "o3" not in set(table.printed["Model"])
    assert "Without such a number: o3." in table.notes


def test_table5_stands_alone_or_beside_this_runs_candidates(one):
    alone = judges.table5()
    assert cell(alone, "paper", "Claude-Sonnet-4.5", "Stage 1") == "72.88"
    assert cell(alone, "paper", "GPT-5", "Stage 1") == "–"
    assert alone.notes[-1] == "This run compared no candidates."
    both = judges.table5(one)
    number = 100 * value(one, "accuracy", method="stage2-L1")
    text = cell(both, "this run", "smollm2-135m", "Stage 2", Prompt="L1")
    assert text.startswith(f"{number:.1f} [")
    assert set(both.printed.query("Source == 'paper'")["Prompt"]) == {"L4"}


def test_table6_counts_labels_that_all_annotators_gave_alike():
    table = judges.table6()
    assert cell(table, "paper", "Overall", "Agreement") == "92.23"
    assert "This run: no annotations." in table.notes
    own = pd.DataFrame({"dimension": ["order"], "n": [1200], "agree": [900], "agreement": [0.75]})
    table = judges.table6(own)
    assert list(table.printed.iloc[1]) == ["", "1,200", "900", "75.0", "this run"]
    assert not any("human" in note for note in table.notes)
    typed = own.assign(ci_low=0.5, ci_high=0.875, annotator_type="llm:gpt-4o")
    table = judges.table6(typed)
    assert cell(table, "this run", "Order", "Agreement") == "75.0 [50.0, 87.5]"
    assert "This run: its annotation file, annotators of type llm:gpt-4o." in table.notes
    assert "This run: no annotations." in judges.table6(typed.head(0)).notes
    with pytest.raises(InputError, match=r"order: found agreement 75\.0, expected a share"):
        judges.table6(own.assign(agreement=75.0))
    with pytest.raises(InputError, match="dimension: found 'depth', expected one of: order"):
        judges.table6(own.assign(dimension="depth"))


def test_table9_has_a_column_a_level_and_a_block_a_task():
    run = metrics("smollm2-135m", methods=EVERY_METHOD)
    table = judges.table9(run)
    assert list(table.printed)[2:-1] == ["L1", "L2", "L3", "L3-json", "L4"]
    stage = "Stage 1: extraction, F1"
    assert cell(table, "paper", "Gemma-3 27B", "L2", Task=stage) == "53.72"
    assert cell(table, "paper", "Gemma-3 27B", "L3-json", Task=stage) == "–"
    number = 100 * value(run, "f1", method="stage1-L3-json")
    text = cell(table, "this run", "smollm2-135m", "L3-json", Task=stage)
    assert text.startswith(f"{number:.1f} [")
    assert set(table.printed.query("Task != ''")["Task"]) == set(judges.TASKS.values())


def test_table9_takes_this_runs_judges_if_there_are_any(one):
    found = pd.DataFrame(
        {"judge": "smollm2-135m", "level": ["L1", "L4"], "agreement": [0.5, 0.625]}
    )
    found = found.assign(ci_low=0.4, ci_high=0.75, n=100, n_groups=21)
    table = judges.table9(one, found)
    text = cell(table, "this run", "smollm2-135m", "L4", Task="Judge: agreement")
    assert text == "62.5 [40.0, 75.0]\nn = 100/21"
    assert any("this run's are on constructed edits" in n for n in table.notes)
    with pytest.raises(InputError, match="column 'level' is missing"):
        judges.table9(one, found.drop(columns="level"))
    with pytest.raises(InputError, match="smollm2-135m, L1 is there twice"):
        judges.table9(one, pd.concat([found, found.head(1)]))


def test_table10_has_a_block_a_dimension_with_the_paper_first(two):
    table = printed.table10(two)
    assert len(table.printed) == 7 * (9 + 2)
    assert list(table.printed.query("Dimension != ''")["Dimension"]) == [
        *printed.DIMENSION_NAMES.values()
    ]
    where = {"Dimension": "Knowledge access"}
    assert cell(table, "paper", "Gemma-3 27B", "SIT", **where) == "76.31"
    number = 100 * value(two, "accuracy", "knowledge_access/SIT", "stage2-L3", "Gemma-3 27B")
    text = cell(table, "this run", "Gemma-3 27B", "SIT", **where)
    assert text.startswith(f"{number:.1f}\n[")


def worked():
    """A judge that matches the world alone, and one that said nothing of the last gold row."""
    example = printed_example()
    world = [int(row.actor == "world") for row in example.predicted]
    mute = Alignment([1] * 6, [1, 1, 2, 1, None], [])
    return of_judges(example, {"strict": Alignment(world, world[:5], []), "mute": mute})


def test_table2_has_the_papers_counts_beside_those_of_this_runs_judges():
    table = judges.table2(worked(), "strict")
    assert list(table.printed) == ["Table", "Actor", "Belief", "paper", "strict (in use)", "mute"]
    rows = table.printed.to_numpy().tolist()
    assert rows[0][:2] == ["Predicted", "world"] and rows[6][:2] == ["Gold", "world"]
    first, *_, last = rows[6:]
    assert first[2:] == ["Xiao Hong wants to change to a bigger office", "1", "1", "1"]
    assert rows[8][1:4] == [
        *("Xiao Hong", "Xiao Hong needs the bigger office that Xiao Li occupies", "2")
    ]
    assert last[2:] == ["Xiao Li may swap offices if Xiao Hong persuades him", "1", "0", "–"]
    assert table.tidy.query("source == 'paper'")["value"].tolist() == [1] * 8 + [2, 1, 1]


def test_table2_tells_what_the_counts_make_of_the_story():
    _, scores, alike = judges.table2(worked(), "strict").notes
    assert "paper 1.00, 1.00, 1.00; strict .33, .40, .36; mute 1.00, 1.00, 1.00." in scores
    assert "n = 11 rows: strict 4, mute 10." in alike


def test_a_worked_example_that_is_not_the_papers_is_refused():
    with pytest.raises(InputError, match="'mute': found other rows than the paper's 11"):
        judges.table2(worked().iloc[:-1], "strict")
    with pytest.raises(InputError, match="column 'matchcount' is missing"):
        judges.table2(worked().drop(columns="matchcount"), "strict")
    with pytest.raises(InputError, match="side: found 'left', expected one of: predicted, gold"):
        judges.table2(worked().replace({"side": {"gold": "left"}}), "strict")


def test_table11_has_the_papers_counts_beside_shares(one):
    table = judges.table11(one)
    assert cell(table, "paper", "Gemma-3 27B", "MC 1") == "72.15 (9,880)"
    assert cell(table, "paper", "Llama-3.1 8B", "MC 3+") == "0.28 (54 + 2)"
    assert cell(table, "paper", "All models", "Beliefs") == "106765"
    assert cell(table, "this run", "smollm2-135m", "MC 2") == "7.0 [0.0, 17.0]"
    assert cell(table, "this run", "smollm2-135m", "Beliefs") == "1240/1240"
    counts = table.tidy.query("statistic == 'count' and column != 'total' and model != 'total'")
    assert counts["value"].sum() == 106765
    assert not any(note.startswith("*") for note in table.notes)


def test_table12_has_a_row_a_model_and_level(one):
    table = judges.table12(one)
    assert cell(table, "paper", "Qwen3 8B", "Stage 2") == "14.41"
    assert cell(table, "paper", "GPT-5", "Stage 1") == "–"
    for level in ("L1", "L3"):
        text = cell(table, "this run", "smollm2-135m", "Stage 1", Prompt=level)
        assert text == "30.0 [20.0, 40.0]\nn = 28/28"


def test_judges_of_this_run_are_said_to_be_held_against_people_only_if_they_were():
    labelled = calibrated.judge_agreement(agreements(), "human:p1")
    assert set(labelled.printed["Held against"]) == {"people"}
    assert any(note.startswith("This run: on people's alignments") for note in labelled.notes)
    table = calibrated.judge_agreement(agreements())
    assert any(note.startswith("This run: on constructed edits") for note in table.notes)
    held = table.printed.groupby("Source")["Held against"].unique()
    assert list(held["paper"]) == ["people"]
    assert list(held["this run"]) == ["constructed edits"]
    assert cell(table, "paper", "GPT-5", "Agreement") == "72.03"
    assert cell(table, "paper", "GPT-5, camera-ready", "Agreement") == "87.76"
    assert cell(table, "paper", "Llama-3.3 70B, camera-ready", "Agreement") == "75.85"
    assert any("README of the public release (camera-ready" in note for note in table.notes)
    assert cell(table, "this run", "exact", "Agreement") == "70.0\n[60.0, 80.0]"
    assert cell(table, "this run", "exact", "Kappa") == "−0.10"
    assert cell(table, "this run", "llm", "Undefined") == "3"
    assert any("88.86 % of 4,451 decisions" in note for note in table.notes)
    ours = " ".join(
        [*table.printed.query("Source == 'this run'").to_numpy().ravel(), table.notes[-1]]
    )
    assert "human" not in ours
    assert "people" not in ours


def test_intervals_of_precision_recall_and_kappa_are_printed_if_known():
    known = agreements().assign(kappa_low=-0.2, kappa_high=0.9)
    table = calibrated.judge_agreement(known)
    assert cell(table, "this run", "llm", "Kappa") == "0.80\n[−0.20, 0.90]"
    assert cell(table, "this run", "llm", "Recall") == "90.0"


def test_a_report_of_judges_that_cannot_be_read_is_refused():
    with pytest.raises(InputError, match="column 'kappa' is missing"):
        calibrated.judge_agreement(agreements().drop(columns="kappa"))
    with pytest.raises(InputError, match="exact is there twice"):
        calibrated.judge_agreement(pd.concat([agreements(), agreements().head(1)]))


def test_a_run_of_one_stage_leaves_the_paper_alone_in_the_others_tables(one):
    extraction = one[one["method"].str.startswith("stage1")]
    table = printed.table10(extraction)
    assert set(table.printed["Source"]) == {"paper"}
    assert "This run has no such answers." in table.notes
    labelling = one[one["method"].str.startswith("stage2")]
    assert set(judges.table11(labelling).printed["Source"]) == {"paper"}
    both = printed.table3(labelling).printed.query("Source == 'this run'")
    assert len(both) == 2


def every_table(run):
    yield from (printed.table3(run), printed.table10(run), judges.table5(run), judges.table6())
    yield from (judges.table9(run), judges.table11(run), judges.table12(run))
    yield calibrated.judge_agreement(agreements())
    yield judges.table2(worked(), "strict")


def test_latex_is_balanced_and_without_symbols(two):
    for table in every_table(two):
        latex = report.latex(table, "omnitom")
        assert latex.count("{") == latex.count("}")
        for environment in set(findall(r"\\begin\{(\w+)\}", latex)):
            opened, closed = (latex.count(f"\\{end}{{{environment}}}") for end in ("begin", "end"))
            assert opened == closed
        assert not set(latex) & set("–−×∧≤†")


def test_every_printed_cell_is_text_and_every_published_number_says_where_it_stands(two):
    for table in every_table(two):
        assert table.printed.map(lambda text: isinstance(text, str) and text != "nan").all(
            axis=None
        )
        paper = table.tidy[table.tidy["source"] == "paper"]
        assert paper["printed_in"].str.startswith("OmniToM (Bawatneh et al., 2026), ").all()
        run = table.tidy[table.tidy["source"] == "this run"]
        assert run["printed_in"].eq("").all()
