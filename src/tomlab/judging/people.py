"""People's labels of free-form answers: the form, reading the form, and the corrected accuracy.

Functions take a table of all answers that count in an accuracy, one row each: `unit, group,
item_id, model, method, sample, text`, `judged` (1 right, 0 not) and `read`, whether `judged` is
known without a judge. For the other answers, people say which of the item's two `choices` each
means, if any.
"""

import random
from collections.abc import Collection, Iterable, Iterator
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pandera.pandas as pa

from tomlab.judging.error import LEAST_LABELLED, by_labels
from tomlab.judging.rewordings import NONE
from tomlab.records import files
from tomlab.records.tidy import KEY
from tomlab.scoring.stats import Interval, cluster_interval

OPTIONS = {"a": "option_a", "b": "option_b"}  # what is filled in as `meaning`, besides none
FORM = ["group", *KEY, "question", *OPTIONS.values(), "answer", "meaning", "annotator"]
TOO_FEW = "people labelled all that the judge decided in fewer than two groups"
NUMBERS = ["value", "ci_low", "ci_high", "n", "n_groups"]


def drawn(groups: Iterable[str], n: int, seed: int) -> list[str]:
    """`n` groups drawn by lot; with the same seed, a larger draw begins with any smaller one."""
    names = sorted(set(groups))
    random.Random(f"label/{seed}").shuffle(names)
    return names[:n]


def to_label(answers: pd.DataFrame, items: pd.DataFrame, groups: Collection[str]) -> pd.DataFrame:
    """The empty form, with a row for each answer in `groups` that a judge decides."""
    asked = answers[~answers["read"] & answers["group"].isin(groups)]
    asked = asked.join(items.set_index("item_id")[["question", "choices"]], on="item_id")
    form = asked.assign(
        question=asked["question"].map(_one_line),
        option_a=asked["choices"].str[0].map(_one_line),
        option_b=asked["choices"].str[1].map(_one_line),
        answer=asked["text"].map(_one_line),
        meaning="",
        annotator="",
    )
    return form[FORM]


def labels_form(item_ids: Collection[str] | None = None) -> pa.DataFrameSchema:
    """The schema of the form. item_ids: the questions that it may contain, by default any."""
    columns = {name: files.text() for name in ("model", "method", *OPTIONS.values(), "answer")}
    columns["item_id"] = files.known(item_ids, "question")
    columns["sample"] = files.text("[0-9]{1,9}", "a whole number")
    columns["meaning"] = files.one_of((*OPTIONS, NONE), open_="if nobody said")
    columns["annotator"] = files.person(pattern=".*")
    return pa.DataFrameSchema(columns, strict="filter", unique=[*KEY, "annotator"])


def read(path: Path | str, items: pd.DataFrame) -> pd.DataFrame:
    """A form's filled-in rows: `item_id, model, method, sample, answer, annotator` and `means`,
    an option's text or "none". Errors: `InputError` that names every row and field at fault.
    """
    options = {
        item_id: sorted(_one_line(choice) for choice in choices)
        for item_id, choices in zip(items["item_id"], items["choices"], strict=True)
    }

    def faults(table: pd.DataFrame) -> Iterator[tuple[int, str, str]]:
        for row in table.itertuples():
            if row.meaning and not row.annotator:
                yield row.Index, "annotator", "who says so"
            expected = options.get(row.item_id)
            if expected and sorted([_one_line(row.option_a), _one_line(row.option_b)]) != expected:
                yield row.Index, "option_a", f"with option_b the question's: {', '.join(expected)}"

    table = files.read_form(path, labels_form(list(options)), faults)
    labels = table[table["meaning"] != ""].reset_index(drop=True)
    means = labels["option_a"].where(labels["meaning"] == "a", labels["option_b"])
    means = means.mask(labels["meaning"] == NONE, NONE).map(_one_line)
    return labels[[*KEY, "answer", "annotator"]].assign(means=means).astype({"sample": int})


def of_run(labels: pd.DataFrame, answers: pd.DataFrame, items: pd.DataFrame) -> pd.DataFrame:
    """People's labels of this run's answers: `group, unit, annotator, label` (whether the answer
    means the right option). Labels of other answers, such as an earlier run's, are left out.
    """
    unread = answers.loc[~answers["read"], ["group", "unit", *KEY, "text"]]
    labelled = unread.merge(labels, on=KEY)
    labelled = labelled[labelled["text"].map(_one_line) == labelled["answer"].map(_one_line)]
    right = labelled["item_id"].map(items.set_index("item_id")["answer"]).map(_one_line)
    labelled = labelled.assign(label=labelled["means"] == right)
    return labelled[["group", "unit", "annotator", "label"]].reset_index(drop=True)


def _one_line(text: str) -> str:
    return " ".join(text.split())


def corrected(answers: pd.DataFrame, labels: pd.DataFrame) -> pd.DataFrame:
    """The accuracy of each model and method for which a judge decides some answers: `model, method,
    metric, value, ci_low, ci_high, n, n_groups, reason`.

    metric: accuracy_uncorrected, with the judge's decisions; accuracy_by_labels, corrected by
    people's labels of some groups (n: the answers that they labelled), or nan with a `reason`.
    labels: what `of_run` returns; annotators' labels of an answer are averaged. The labels of a
    group count only if all its answers that the judge decides are labelled, because people do not
    leave out answers at random.
    """
    labelled = labels.groupby("unit")["label"].mean().rename("labelled")
    rows = []
    for (model, method), part in answers.join(labelled, on="unit").groupby(
        ["model", "method"], sort=False
    ):
        if part["read"].all():
            continue
        uncorrected = vars(cluster_interval(part["judged"], part["group"])) | {"reason": ""}
        interval = _by_people(part)
        by_people = {"reason": TOO_FEW}
        if interval is not None:
            by_people = vars(interval) | {"reason": ""}
        keys = {"model": model, "method": method}
        rows.append(keys | {"metric": "accuracy_uncorrected"} | uncorrected)
        rows.append(keys | {"metric": "accuracy_by_labels"} | by_people)
    table = pd.DataFrame(rows, columns=["model", "method", "metric", *NUMBERS, "reason"])
    return table.astype(dict.fromkeys(NUMBERS[:3], float) | dict.fromkeys(NUMBERS[3:], "Int64"))


def _by_people(answers: pd.DataFrame) -> Interval | None:
    """The accuracy of one model and method by people's labels; None where there are too few."""
    groups = answers["group"]
    is_known = answers["labelled"].notna() | answers["read"]
    is_whole = is_known.groupby(groups).transform("all")
    labels = answers[is_whole & ~answers["read"]]
    labelled = answers["labelled"].where(is_whole).mask(answers["read"], answers["judged"])
    if labelled.notna().all():
        return replace(cluster_interval(labelled, groups), n=len(labels))
    if labels["group"].nunique() < LEAST_LABELLED:
        return None
    if labels["labelled"].nunique() > 1:
        # Answers known without a judge are a stratum, so they weigh as they do in the run.
        interval = by_labels(answers.assign(labelled=labelled, stratum=answers["read"]))
        return None if interval is None else replace(interval, n=len(labels))
    # All labels are equal, but unlabelled answers may differ: these get the labels' interval.
    others = cluster_interval(labels["labelled"], labels["group"])
    interval = cluster_interval(labelled.fillna(others.value), groups)
    low = cluster_interval(labelled.fillna(others.ci_low), groups).ci_low
    high = cluster_interval(labelled.fillna(others.ci_high), groups).ci_high
    return replace(interval, ci_low=low, ci_high=high, n=len(labels))
