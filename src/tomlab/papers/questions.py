"""Questions and answers: what each paper asks and claims, and what this run says to it.

The questions of a paper stand in `questions.yaml` of its folder: `question`, `claim` (in braces
the numbers of `paper`, see `book.published`), `place`, `run` (rows of the metrics by what they
are: metric, condition, and if given method and level to hold them against), `compare` (two of
these), `see` (entries of `coverage.yaml`), `not_shown`.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from tomlab.papers import coverage
from tomlab.papers.book import WORDS, Chapter, published, with_texts
from tomlab.reporting import printed
from tomlab.reporting.findings import BASELINES, standing
from tomlab.reporting.printed import GROUPS_FOR_A_FINDING

COUNTED = ("completion_tokens", "beliefs_per_story")  # metrics that are no shares
_READS = WORDS["reads"]


def pages(chapters: Sequence[Chapter], models: Sequence[str]) -> dict[str, str]:
    """By benchmark the questions of its paper as Markdown, of those that have any."""
    return {c.name: page(c, models) for c in with_texts(chapters, "questions")}


def page(chapter: Chapter, models: Sequence[str]) -> str:
    """The questions of one paper as Markdown."""
    return "\n".join(answer(chapter, each, models) for each in chapter.texts["questions"])


def answer(chapter: Chapter, question: Mapping[str, Any], models: Sequence[str]) -> str:
    """One question as Markdown. Errors: `InputError` where a printed number is not there."""
    paper = chapter.paper.PUBLICATION
    numbers = question.get("paper", {})
    found = {name: published(paper, *which) for name, which in numbers.items()}
    places = [paper.tables[table].place for table, *_ in numbers.values()]
    told = {
        "question": question["question"],
        "claim": question["claim"].format(**found),
        "place": "; ".join(dict.fromkeys([*places, question["place"]])),
        "see": ", ".join(coverage.link(chapter.name, name) for name in question["see"]),
        "not_shown": question["not_shown"],
    }
    return WORDS["question"].format(run=_run(chapter, question, models), **told)


def _run(chapter: Chapter, question: Mapping[str, Any], models: Sequence[str]) -> str:
    """What this run says: a sentence a model that is no baseline, and a table of its numbers."""
    if "run" not in question:
        return WORDS["no_run"]
    rows = {what: _rows(chapter, *which) for what, which in question["run"].items()}
    asked = [name for name in models if name not in BASELINES]
    says = [_says(chapter, question, rows, model) for model in asked]
    table = pd.DataFrame({model: {w: _cell(r, model) for w, r in rows.items()} for model in models})
    told = table.to_markdown(disable_numparse=True)
    return WORDS["run"].format(reads=" ".join(says), table=told)


def _rows(
    chapter: Chapter, metric: str, condition: str, method: str = "", even: float | None = None
) -> pd.DataFrame:
    """A row of the metrics a model; even: what to hold it against, else what chance gives."""
    methods = [method] if method else list(chapter.paper.REFERENCES)
    found = chapter.metrics.query("metric == @metric and condition == @condition")
    found = found[found["method"].isin(methods)].drop_duplicates("model")
    chance = chapter.texts["words"].get("chance", {}).get(metric)
    return found.assign(even=chance if even is None else even).set_index("model")


def _cell(rows: pd.DataFrame, model: str) -> str:
    if model not in rows.index:
        return WORDS["absent"]
    row = rows.loc[model]
    form = printed.signed if row["even"] == 0 else printed.share
    form = printed.one_decimal if row["metric"] in COUNTED else form
    mark = WORDS["few"] if row["n_groups"] < GROUPS_FOR_A_FINDING else ""
    number = printed.cell(row["value"], row["ci_low"], row["ci_high"], mark, form)
    return f"{number}<br>n = {printed.n_of(row['n'], row['n_groups'])}"


def _says(chapter: Chapter, question: Mapping, rows: Mapping, model: str) -> str:
    """What can be said of a model: how two numbers compare, or where they stand to a level."""
    own = {what: found.loc[model] for what, found in rows.items() if model in found.index}
    if not own:
        return _READS["none"].format(model=model)
    enough = {what: row for what, row in own.items() if row["n_groups"] >= GROUPS_FOR_A_FINDING}
    if not enough:
        return _READS["few"].format(model=model, groups=chapter.paper.WORDING.groups)
    pair = [name for name in question.get("compare", ()) if name in enough]
    if len(pair) == 2:
        says = _READS["compare"][_compared(*(enough[name] for name in pair))]
        return says.format(model=model, a=pair[0], b=pair[1])
    said: dict[str, list[str]] = {}
    for what, row in enough.items():
        if pd.notna(row["even"]):
            says = _READS["change" if row["even"] == 0 else "chance"][standing(row, row["even"])]
            said.setdefault(says.format(even=printed.share(row["even"])), []).append(f"*{what}*")
    parts = [f"{says} {' and '.join(whats)}" for says, whats in said.items()]
    return f"{model} {'; '.join(parts)}." if parts else _READS["plain"].format(model=model)


def _compared(a: pd.Series, b: pd.Series) -> str:
    if a["ci_low"] > b["ci_high"]:
        return "more"
    return "less" if a["ci_high"] < b["ci_low"] else "open"
