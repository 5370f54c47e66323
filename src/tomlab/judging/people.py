"""People's word on free-form answers: the form, what it says filled in, the corrected accuracy.

Answers are a table of all that count in an accuracy, one row each: `unit, group, item_id, model,
method, sample, text`, `judged` (1 right, 0 not) and `read`, whether that is known without a judge.
Of the others people say which of the item's two `choices` they mean, if any.
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
    """`n` of the groups, by lot; with the same seed a smaller draw begins a larger one."""
    known = sorted(set(groups))
    random.Random(f"label/{seed}").shuffle(known)
    return known[:n]


def to_label(answers: pd.DataFrame, items: pd.DataFrame, groups: Collection[str]) -> pd.DataFrame:
    """The form with all answers of these groups that a judge decides, not filled in."""
    asked = answers[~answers["read"] & answers["group"].isin(groups)]
    asked = asked.join(items.set_index("item_id")[["question", "choices"]], on="item_id")
    options = pd.DataFrame(asked["choices"].tolist(), asked.index, columns=[*OPTIONS.values()])
    form = asked.join(options).assign(answer=asked["text"], meaning="", annotator="")[FORM]
    texts = ["question", *OPTIONS.values(), "answer"]
    return form.assign(**{name: form[name].map(_one_line) for name in texts})


def labels_form(item_ids: Collection[str] | None = None) -> pa.DataFrameSchema:
    """The schema of the form. item_ids: of the questions that may stand in it; any without."""
    texts = {name: files.text() for name in ("model", "method", *OPTIONS.values(), "answer")}
    others = {
        "item_id": files.known(item_ids, "question"),
        "sample": files.text("[0-9]{1,9}", "a whole number"),
        "meaning": files.one_of((*OPTIONS, NONE), open_="if nobody said"),
        "annotator": files.person(pattern=".*"),
    }
    return pa.DataFrameSchema(texts | others, strict="filter", unique=[*KEY, "annotator"])


def read(path: Path | str, items: pd.DataFrame) -> pd.DataFrame:
    """The rows that are filled in: `item_id, model, method, sample, answer, annotator` and `means`,
    an option's text or none. Errors: `InputError` that names every row and field at fault.
    """
    choices = dict(zip(items["item_id"], items["choices"], strict=True))

    def faults(table: pd.DataFrame) -> Iterator[tuple[int, str, str]]:
        for row in table.itertuples():
            if row.meaning and not row.annotator:
                yield row.Index, "annotator", "who says so"
            options = sorted(map(_one_line, choices.get(row.item_id, ())))
            if options and sorted(map(_one_line, (row.option_a, row.option_b))) != options:
                yield row.Index, "option_a", f"with option_b the question's: {', '.join(options)}"

    table = files.read_form(path, labels_form(list(choices)), faults)
    filled = table[table["meaning"] != ""].reset_index(drop=True)
    said = filled.to_dict("records")
    means = [_one_line(row.get(OPTIONS.get(row["meaning"]), NONE)) for row in said]
    return filled[[*KEY, "answer", "annotator"]].assign(means=means).astype({"sample": int})


def of_run(labels: pd.DataFrame, answers: pd.DataFrame, items: pd.DataFrame) -> pd.DataFrame:
    """What people said of this run's answers: `group, unit, annotator, label` (whether it means the
    right option). Labels of other answers, such as of a run before, are left out.
    """
    both = answers.loc[~answers["read"], ["group", "unit", *KEY, "text"]].merge(labels, on=KEY)
    both = both[both["text"].map(_one_line) == both["answer"].map(_one_line)]
    right = both["item_id"].map(items.set_index("item_id")["answer"]).map(_one_line)
    columns = ["group", "unit", "annotator", "label"]
    return both.assign(label=both["means"] == right)[columns].reset_index(drop=True)


def _one_line(text: str) -> str:
    return " ".join(text.split())


def corrected(answers: pd.DataFrame, said: pd.DataFrame) -> pd.DataFrame:
    """The accuracy of each model and method that a judge has a part in: `model, method, metric,
    value, ci_low, ci_high, n, n_groups, reason`.

    metric: accuracy_uncorrected, with what the judge says; accuracy_by_labels, corrected by what
    people say of some groups (n: answers that they labelled), or nan with a `reason`. said: of
    `of_run`. Annotators' labels are averaged. A group counts if all its answers that the judge
    decides are labelled, because people do not leave out answers by lot.
    """
    labelled = said.groupby("unit")["label"].mean().rename("labelled")
    known, rows = answers.join(labelled, on="unit"), []
    for (model, method), part in known.groupby(["model", "method"], sort=False):
        if part["read"].all():
            continue
        as_judged = cluster_interval(part["judged"], part["group"])
        numbers = {"accuracy_uncorrected": as_judged, "accuracy_by_labels": _by_people(part)}
        for metric, interval in numbers.items():
            told = {"reason": ""} | vars(interval) if interval else {"reason": TOO_FEW}
            rows.append({"model": model, "method": method, "metric": metric} | told)
    table = pd.DataFrame(rows, columns=["model", "method", "metric", *NUMBERS, "reason"])
    return table.astype(dict.fromkeys(NUMBERS[:3], float) | dict.fromkeys(NUMBERS[3:], "Int64"))


def _by_people(part: pd.DataFrame) -> Interval | None:
    """The accuracy of one model and method by people's labels; None where there are too few."""
    whole = (part["labelled"].notna() | part["read"]).groupby(part["group"]).transform("all")
    known = part[whole & ~part["read"]]
    labelled = part["labelled"].where(whole).mask(part["read"], part["judged"])
    if labelled.notna().all():
        return replace(cluster_interval(labelled, part["group"]), n=len(known))
    if known["group"].nunique() < LEAST_LABELLED:
        return None
    if known["labelled"].nunique() > 1:
        # What was known beforehand weighs as it does in the run, however few people labelled.
        found = by_labels(part.assign(labelled=labelled, stratum=part["read"]), by_size=True)
        return found and replace(found, n=len(known))
    # That labels are all alike says as much as their number: the others may be otherwise.
    others = cluster_interval(known["labelled"], known["group"])
    value, low, high = (
        cluster_interval(labelled.fillna(end), part["group"])
        for end in (others.value, others.ci_low, others.ci_high)
    )
    return replace(value, ci_low=low.ci_low, ci_high=high.ci_high, n=len(known))
