"""Writes the answers browser: a static page for each benchmark with every answer of a run.

`write` makes `<benchmark>.html` and a script with its data, `<benchmark>.js`, as pages opened from
disk may not fetch files. `page.css` and `page.js` are the same for all benchmarks.
"""

import json
import shutil
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from importlib import import_module
from pathlib import Path
from string import Template
from typing import Any

import pandas as pd
import yaml

from tomlab import paths
from tomlab.asking.protocol import Benchmark
from tomlab.errors import InputError
from tomlab.records import tidy
from tomlab.records.published import Wording
from tomlab.reporting import draw, tables
from tomlab.scoring.answers import as_shown

SHARED = ("page.css", "page.js")
WORDS = yaml.safe_load(Path(__file__).with_name("words.yaml").read_bytes())
_PAGE = Template(Path(__file__).with_name("page.html").read_text(encoding="utf-8"))
_SHORTEST = 20  # characters: shorter texts of an item are not marked in prompts


def write(folder: Path, benchmarks: Iterable[str], models: Sequence[str]) -> None:
    """Write the pages of benchmarks, with the answers of a run's models, to `folder`. If the judge
    calibration wrote scores, its chosen judge's verdicts take the place of the evaluation's.
    Errors: `InputError` if a table is missing.
    """
    faces = {name: import_module(f"tomlab.benchmarks.{name}") for name in benchmarks}
    titles = {name: face.WORDING.name for name, face in faces.items()}
    for name, face in faces.items():
        items = tidy.read("items", paths.result("items", name))
        responses = tidy.of_models("responses", name, models)
        scores = tidy.of_models("scores", name, models)
        judged = paths.RESULTS / "judges" / name / "scores.parquet"
        if judged.is_file():
            judged_scores = tidy.read("scores", judged)
            scores = pd.concat([judged_scores, scores], ignore_index=True)
            scores = scores.drop_duplicates(tidy.KEY)
        write_page(folder, name, titles, data(face, face.WORDING, items, responses, scores))


def write_page(folder: Path, name: str, titles: Mapping[str, str], content: Mapping) -> None:
    """Write the page of the benchmark `name`, its data, and the files that all pages share.
    content: as `data` returns it; titles: the title of each benchmark's page, for links.
    """
    folder.mkdir(parents=True, exist_ok=True)
    for file in SHARED:
        shutil.copyfile(Path(__file__).with_name(file), folder / file)
    links = []
    for benchmark, title in titles.items():
        current = " aria-current=page" if benchmark == name else ""
        links.append(f'<a href="{benchmark}.html"{current}>{escape(title)}</a>')
    page = _PAGE.substitute(name=name, title=escape(titles[name]), links="\n".join(links))
    (folder / f"{name}.html").write_text(page, encoding="utf-8", newline="\n")
    # `json.dumps` writes ASCII only; escaping "<" keeps answers from ending the script.
    text = json.dumps(content, separators=(",", ":"), allow_nan=False).replace("<", "\\u003c")
    (folder / f"{name}.js").write_text(f"browse({text});\n", encoding="utf-8", newline="\n")


def data(
    benchmark: Benchmark,
    wording: Wording,
    items: pd.DataFrame,
    responses: pd.DataFrame,
    scores: pd.DataFrame,
) -> dict[str, Any]:
    """All that a page shows, ready for JSON. `items` and `answers` are tables as `_by_column`
    returns them; `facets` are the columns by which answers can be filtered, with the `labels` of
    their values. Marks stand for the item's own texts in `messages`, see `_marked`. Errors:
    `InputError` if `browser.yaml` names columns that the items lack.
    """
    words = _words(benchmark.NAME)
    item_facets = words["facets"]
    facets = WORDS["facets"] | item_facets
    stories = ["story", *words["stories"]]
    unknown = [name for name in (*item_facets, *stories) if name not in items]
    if unknown:
        path = _words_file(benchmark.NAME)
        raise InputError(f"{path}: found {unknown}, expected columns of {[*items]}")
    asked = responses["item_id"].unique()
    items = items.set_index("item_id", drop=False).loc[asked].reset_index(drop=True)
    score_columns = [*tidy.KEY, *scores.columns.difference([*responses.columns, *item_facets])]
    answers = responses.merge(scores[score_columns], on=tidy.KEY, how="left")
    answers = answers.merge(items[["item_id", *item_facets]], on="item_id")
    # The first of two calls has no score. Only other tools' logs say how options were ordered.
    answers = answers.fillna({"outcome": "", "options_shown": ""})
    details = WORDS["details"] | words["details"]
    sample = _samples(benchmark, items, answers, stories, details)
    columns = [*facets, "item_id", "sample", "score", "response", "error"]
    answers = answers[columns].astype(dict.fromkeys(facets, str)).join(sample)
    order = {
        "method": [*wording.methods],
        "outcome": [*tidy.OUTCOMES],
        "item_id": items["item_id"].tolist(),
    }
    by_column = _by_column(answers, order)
    colours = {o: draw.OUTCOMES.get(tables.name(o, "outcome")) for o in tidy.OUTCOMES}
    return {
        "facets": _facets(facets, by_column, wording),
        "items": _by_column(_item_texts(items, stories, words["items"]), {}),
        "answers": by_column,
        "stories": stories,
        "colours": colours | {tidy.SCORED: draw.COLOURS["sky"], "": draw.COLOURS["grey"]},
        "gold": words["gold"],
        "letters": words["letters"],
        "judge": words["judge"],
    }


def _words_file(benchmark: str) -> Path:
    return paths.PACKAGE / "benchmarks" / benchmark / "browser.yaml"


def _words(benchmark: str) -> dict[str, Any]:
    """The options of a benchmark's page: the defaults of `words.yaml`, replaced by those in its own
    `browser.yaml`, if it has one.
    """
    path = _words_file(benchmark)
    if not path.is_file():
        return WORDS["default"]
    return WORDS["default"] | yaml.safe_load(path.read_bytes())


def _facets(facets: Mapping[str, str], by_column: Mapping, wording: Wording) -> list[dict]:
    """The columns to filter by: `name`, shown `label`, and the shown `labels` of its values."""
    columns = []
    for name, label in facets.items():
        labels = [_label(value, name, wording) for value in by_column[name]["values"]]
        columns.append({"name": name, "label": label, "labels": labels})
    return columns


def _label(value: str, facet: str, wording: Wording) -> str:
    """The shown name of a value in the column `facet`."""
    labels: dict[str, str] = {}
    if facet == "asked_as":
        labels = WORDS["asked_as"]
    elif facet == "outcome":
        labels = {**wording.outcomes, "": "no verdict"}
    return labels.get(value) or tables.name(value, facet, wording) or "none"


def _samples(
    benchmark: Benchmark,
    items: pd.DataFrame,
    answers: pd.DataFrame,
    stories: Sequence[str],
    labels: Mapping,
) -> pd.DataFrame:
    """What the page shows of an answer that is opened, a row for each of `answers`: its prompt
    (`messages`), the `rule` behind the verdict, `details`, `options` as shown, and `table`.
    """
    by_id = {item["item_id"]: item for item in items.to_dict("records")}
    rows = []
    for answer in answers.to_dict("records"):
        item = by_id[answer["item_id"]]
        rule = None
        if answer["outcome"]:
            rule = benchmark.rule(as_shown(item, answer), answer)
        row = {
            "messages": _marked(answer["messages"], item, stories),
            "rule": rule,
            "details": _labelled(answer, labels),
            "options": answer.get("options_shown") or None,
            "table": answer.get("detail"),
        }
        rows.append(row)
    return pd.DataFrame(rows)


def _item_texts(items: pd.DataFrame, stories: Sequence[str], labels: Mapping) -> pd.DataFrame:
    """A row for each item: its texts, the right `answer`, its options as JSON (`choices`), and
    further columns with their labels (`more`, see `_labelled`).
    """
    gold = [g if isinstance(g, str) else ", ".join(g) for g in items["answer"]]
    choices = [json.dumps([*options]) for options in items["choices"]]
    details = [_labelled(item, labels) for item in items.to_dict("records")]
    texts = items[["item_id", *stories, "question"]]
    return texts.assign(answer=gold, choices=choices, more=details)


def _by_column(table: pd.DataFrame, order: Mapping[str, list]) -> dict[str, dict[str, list]]:
    """For each column its distinct `values`, those in `order` first, and `codes`: the place of each
    row's value among them, -1 if the row has none.
    """
    columns = {}
    for name in table:
        present = dict.fromkeys(table[name].dropna().tolist())
        in_order = [value for value in order.get(name, ()) if value in present]
        values = list(dict.fromkeys([*in_order, *present]))
        codes = pd.Categorical(table[name], categories=values).codes
        columns[name] = {"codes": codes.tolist(), "values": values}
    return columns


def _marked(messages: str, item: Mapping, stories: Sequence[str]) -> str:
    """The messages (JSON) with marks in place of the item's own texts: the column's name for a
    story or question, the number for an option. So most answers have the same messages, stored
    once.
    """
    names = {item[name]: name for name in (*stories, "question")}
    names |= {option: number for number, option in enumerate(item["choices"])}
    texts = [text for text in names if len(text) >= _SHORTEST]
    conversation = json.loads(messages)
    for text in sorted(texts, key=len, reverse=True):
        for message in conversation:
            mark = f"\ue000{names[text]}\ue001"
            message["content"] = message["content"].replace(text, mark)
    return json.dumps(conversation)


def _labelled(row: Mapping, labels: Mapping) -> str:
    """Pairs of label and text, as JSON, for the columns in `labels` that are not empty. False is
    left out too, unless `labels` has a name for it.
    """
    pairs = []
    for column, label in labels.items():
        value = row.get(column)
        if pd.isna(value) or value == "":
            continue
        if isinstance(label, Mapping):  # a column of true and false, each with a name of its own
            pairs.append((label["name"], label[bool(value)]))
        elif value is True:
            pairs.append((label, "yes"))
        elif isinstance(value, float):
            pairs.append((label, f"{value:.2f}"))
        elif value is not False:
            pairs.append((label, str(value)))
    return json.dumps(pairs)
