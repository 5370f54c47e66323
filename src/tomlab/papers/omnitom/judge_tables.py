"""OmniToM's tables on matches, prompts, annotators and audits: Tables 2, 5, 6, 9, 11, 12.

Each public function is one table, as in `tables`, whose helpers it uses. The paper's labels
and judges were held against people's; this run's judges are held against alignments known by
construction. Source: Bawatneh et al. (2026), and `tomlab.records.published` for printed values.
"""

import pandas as pd

from tomlab.benchmarks.omnitom import beside as numbers
from tomlab.benchmarks.omnitom.alignment import Alignment, precision_recall_f1
from tomlab.benchmarks.omnitom.judges import SIDES
from tomlab.benchmarks.omnitom.metrics import MATCH_COUNTS
from tomlab.benchmarks.omnitom.paper import LEVELS, PUBLICATION
from tomlab.errors import refuse
from tomlab.papers.omnitom import tables
from tomlab.papers.omnitom.tables import DIMENSION_NAMES, STAGES, TOTAL, WORDS, of_paper
from tomlab.reporting import beside, printed
from tomlab.reporting.printed import PAPER, RUN

TASKS = {"stage1": STAGES["stage1"], "judge": "Judge: agreement", "stage2": STAGES["stage2"]}
RELIABILITY = {"n": "N", "agree": "Agree", "agreement_percent": "Agreement"}


def table2(worked: pd.DataFrame, judge: str) -> printed.Table:
    """Table 2: a worked alignment. Which beliefs match, in the paper and by this run's judges?

    `worked`: this run's on the paper's two tables, as `judges.worked` has it: judge, side, row,
    matchcount (missing if undefined). `judge`: the one in use. InputError: a missing column, an
    unknown side, a row twice or other rows than the paper's.
    """
    rows = of_paper("table2_alignment", "matchcount")
    rows = rows.assign(row=rows.groupby("side").cumcount(), judge=PAPER)
    places = ["side", "row"]
    beside.demand_columns(worked, ["judge", *places, "matchcount"], "worked example")
    known = {"judge": None, "side": list(SIDES), "row": None}
    beside.demand_known(worked, known, "worked example")
    expected = set(rows[places].itertuples(index=False, name=None))
    judged = worked.groupby("judge", sort=False)[places]
    refuse(
        [
            f"judge {name!r}: found other rows than the paper's {len(expected)}"
            for name, own in judged
            if set(own.itertuples(index=False, name=None)) != expected
        ],
        "worked example",
    )
    run = worked.rename(columns={"matchcount": "value"}).assign(source=RUN)
    run = run.merge(rows[[*places, "actor", "belief"]], on=places, sort=False)
    cells = numbers.stack(["judge", *places, "actor", "belief"], rows, run)
    both = pd.concat([rows, run]).pivot(index=places, columns="judge", values="value")
    order = pd.MultiIndex.from_frame(rows[places])
    counts = both.loc[order, list(cells["judge"].unique())]
    shown = rows[["side", "actor", "belief"]].replace({"side": WORDS["sides"]})
    shown = shown.set_axis(["Table", "Actor", "Belief"], axis=1)
    for name, own in counts.items():
        head = f"{name} (in use)" if name == judge else name
        shown[head] = [printed.ABSENT if pd.isna(n) else numbers.count(n) for n in own]
    shown = printed.once(shown, [["Table"], ["Actor"]])
    about = WORDS["table2_paper"].format(source=rows["printed_in"].iloc[0], story=rows["story"][0])
    return printed.Table("table2", cells, shown, WORDS["table2"], [about, *_worked(counts)])


def table5(metrics_of_candidates: pd.DataFrame | None = None) -> printed.Table:
    """Table 5: which model should write the gold? Both stages on the calibration stories.

    `metrics_of_candidates`: the metrics table of this run's candidates, if it compared any.
    """
    paper = of_paper("table5_calibration_models")
    stage = paper["metric"].replace({"stage1_f1": "stage1", "stage2_accuracy": "stage2"})
    paper = paper.assign(stage=stage, level="L4")
    if metrics_of_candidates is None:
        cells, shown = _by_stage(paper)
        about = [*numbers.paper_sentence(cells), "This run compared no candidates."]
    else:
        run = tables.main_scores(tables.of_run(metrics_of_candidates))
        cells, shown = _by_stage(paper, beside.percent(run))
        about = tables.notes(cells, metrics_of_candidates, "outputs")
    return printed.Table("table5", cells, shown, WORDS["table5"], about)


def table6(agreement: pd.DataFrame | None = None) -> printed.Table:
    """Table 6: on how many labels all annotators agree, by dimension.

    `agreement`: of this run's annotation file, one row a dimension (a key of `DIMENSION_NAMES`, or
    "overall"): dimension, n (labels), agree (labels given alike by all), agreement (a share), and
    ci_low, ci_high and annotator_type if known, as `annotation.strict_agreement` has them.
    InputError: an unknown dimension or one that is there twice, or an agreement that is no share.
    """
    names = DIMENSION_NAMES | {"overall": "Overall"}
    frames = [of_paper("table6_reliability").rename(columns={"statistic": "column"})]
    if agreement is not None:
        frames += _reliability(agreement, list(names))
    cells = numbers.stack(["dimension"], *frames)
    forms = dict.fromkeys(["n", "agree"], numbers.count)
    cells, shown = tables.in_blocks(cells, "dimension", names, RELIABILITY, {}, forms=forms)
    annotators = ["no annotations"]
    if agreement is not None and len(agreement):
        kinds = agreement["annotator_type"].unique() if "annotator_type" in agreement else []
        # In the words of the file alone.
        annotators = ["its annotation file", *(f"annotators of type {kind}" for kind in kinds)]
    run = f"This run: {', '.join(annotators)}."
    about = [*numbers.paper_sentence(cells), WORDS["people"], run]
    return printed.Table("table6", cells, shown, WORDS["table6"], about)


def table9(metrics: pd.DataFrame, judges: pd.DataFrame | None = None) -> printed.Table:
    """Table 9: how much should a prompt say? Scores of stages and judges by prompt level.

    `judges`: agreement of this run's judges that are language models, one row a judge and level
    (judge, level, agreement, ci_low, ci_high, n, n_groups; shares). InputError: `judges` without a
    column, or with a judge and level twice.
    """
    run = tables.main_scores(tables.of_run(metrics))
    frames = [of_paper("table9_teler"), beside.percent(run.assign(task=run["stage"]))]
    if judges is not None:
        needed = ["judge", "level", "agreement", "ci_low", "ci_high", "n", "n_groups"]
        beside.demand_columns(judges, needed, "judges")
        beside.demand_known(judges, {"judge": None, "level": None}, "judges")
        rows = judges.rename(columns={"judge": "model", "agreement": "value"})
        frames.append(beside.percent(rows.assign(task="judge", source=RUN)))
    cells = numbers.stack(["task", "level", "model", "method"], *frames)
    cells = cells.assign(column=cells["level"])
    heads = {level: level for level in beside.known_first(LEVELS, cells["column"])}
    cells, shown = tables.in_blocks(cells, "task", TASKS, heads, {"model": "Model"})
    held = "The paper's judges are held against people's alignments"
    held += "." if judges is None else ", this run's are on constructed edits."
    about = [WORDS["levels"], held, *tables.notes(cells, metrics, "outputs")]
    return printed.Table("table9", cells, shown, WORDS["table9"], about)


def table11(metrics: pd.DataFrame, level: str | None = None) -> printed.Table:
    """Table 11: how many gold beliefs does a predicted belief match? Shares by MatchCount."""
    run = tables.of_stage(metrics, "stage1", level).query("metric == 'matchcount'")
    run = beside.percent(run.assign(column=run["condition"], statistic="percent"))
    counts = of_paper("table11_matchcount", "count")
    counts = counts.assign(column=counts["matchcount"], statistic="count", level="L3")
    keys = ["model", "method", "level", "statistic"]
    cells = numbers.stack(keys, counts, _shares_of_paper(counts), run)
    heads = {matches: f"MC {matches}" for matches in MATCH_COUNTS}
    shares = cells[cells["statistic"] == "percent"]
    shown = numbers.layout(shares, {"model": "Model"}, heads, n="Beliefs")
    shown = shown.replace({"Model": {TOTAL: "All models"}})
    about = [WORDS["table11_computed"], *tables.notes(shares, metrics, "predicted beliefs")]
    return printed.Table("table11", cells, shown, WORDS["table11"], about)


def table12(metrics: pd.DataFrame) -> printed.Table:
    """Table 12: how many outputs hold no row of a table? By stage and prompt level."""
    run = tables.of_run(metrics)
    run = run[run["stage"].isin(STAGES)].query("metric == 'unusable' and condition == 'all'")
    paper = of_paper("table12_unusable", "unusable_percent").assign(level="L3")
    cells, shown = _by_stage(paper, beside.percent(run))
    about = tables.notes(cells, metrics, "outputs")
    return printed.Table("table12", cells, shown, WORDS["table12"], about)


def volume_of_paper() -> pd.DataFrame:
    """The paper's models: predicted beliefs over all stories (Tables 11 and 4) and F1 (Table 3).

    Columns volume (beliefs a story) and f1 (a share), indexed by model, in the order of volume.
    """
    counts = PUBLICATION.read("table11_matchcount").query("matchcount == 'total'")
    stories = PUBLICATION.read("table4_categories").query("statistic == 'stories'")
    f1 = PUBLICATION.read("table3_stage1").query("category == 'overall'")
    volume = counts.set_index("model")["count"] / stories.set_index("category")["value"]["total"]
    both = pd.DataFrame({"volume": volume, "f1": f1.set_index("model")["f1"] / 100})
    return both.dropna().sort_values("volume")


def _worked(counts: pd.DataFrame) -> list[str]:
    """What each judge's counts give, and how many rows it takes as the paper does.

    counts: a row each of the example's, indexed by side and row; a column a judge, the paper's
    first.
    """
    given, alike = [], []
    for name, own in counts.items():
        sides = ([None if pd.isna(n) else int(n) for n in own.loc[side]] for side in SIDES)
        scores = precision_recall_f1(Alignment(*sides, []))
        given.append(f"{name} {', '.join(printed.cell(each, None, None) for each in scores)}")
        alike.append((name, (own.gt(0) == counts[PAPER].gt(0))[own.notna()].sum()))
    told = ", ".join(f"{name} {n}" for name, n in alike[1:])
    scores = WORDS["table2_scores"].format(told="; ".join(given))
    return [scores, WORDS["table2_alike"].format(n=len(counts), told=told)]


def _by_stage(*frames: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Tidy and printed: a row a model and prompt level, a column a stage."""
    cells = numbers.stack(["stage", "level", "model", "method"], *frames)
    cells = cells.assign(column=cells["stage"])
    heads = {stage: name.partition(":")[0] for stage, name in STAGES.items()}
    labels = {"model": "Model", "level": "Prompt"}
    return cells, numbers.layout(cells, labels, heads)


def _reliability(agreement: pd.DataFrame, names: list[str]) -> list[pd.DataFrame]:
    """A frame a statistic of this run's annotators."""
    beside.demand_columns(agreement, ["dimension", "n", "agree", "agreement"], "agreement")
    beside.demand_known(agreement, {"dimension": names}, "agreement")
    wrong = agreement[agreement["agreement"].notna() & ~agreement["agreement"].between(0, 1)]
    told = zip(wrong["dimension"], wrong["agreement"], strict=True)
    expected = "expected a share from 0 to 1"
    refuse([f"{name}: found agreement {share}, {expected}" for name, share in told], "agreement")
    shares = agreement.rename(columns={"agreement": "value"})
    shares = beside.percent(shares.reindex(columns=["dimension", *beside.NUMBERS]))
    frames = [agreement[["dimension"]].assign(value=agreement[name]) for name in ("n", "agree")]
    columns = zip(RELIABILITY, [*frames, shares], strict=True)
    return [frame.assign(column=column, source=RUN) for column, frame in columns]


def _shares_of_paper(counts: pd.DataFrame) -> pd.DataFrame:
    """The paper's counts as percentages of a model's beliefs, with the counts as their marks."""
    wide = counts.pivot(index="model", columns="matchcount", values="value")
    rows = []
    for matches in MATCH_COUNTS:
        parts = wide[["3", "4"] if matches == "3+" else [matches]]
        told = parts.map(numbers.count).agg(" + ".join, axis=1)
        share = (100 * parts.sum(axis=1) / wide[TOTAL]).round(6)
        texts = {"column": matches, "mark": " (" + told + ")"}
        rows.append(pd.DataFrame({"value": share, "n": wide[TOTAL], **texts}).reset_index())
    place = f"{counts['printed_in'].iloc[0]}, computed"
    texts = {"source": PAPER, "statistic": "percent", "level": "L3", "printed_in": place}
    models = counts["model"].unique()
    return beside.in_order(pd.concat(rows).assign(**texts), "model", models)
