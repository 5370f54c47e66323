"""The answers browser: every answer of a run on a static page a benchmark, without a server.

`write` makes `<benchmark>.html` and, as pages opened from disk may not fetch, its data as a script,
`<benchmark>.js`. All pages share the other files here.
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
_SHORTEST = 20  # characters of an item's text that is looked for in prompts


def write(folder: Path, benchmarks: Iterable[str], models: Sequence[str]) -> None:
    """Write the pages of benchmarks for what a run's models answered, with verdicts of the judge
    that a calibration chose, if it wrote scores. Errors: `InputError` where a table is missing.
    """
    wordings = {b: import_module(f"tomlab.benchmarks.{b}.paper").WORDING for b in benchmarks}
    titles = {name: wording.name for name, wording in wordings.items()}
    for name, wording in wordings.items():
        items = tidy.read("items", paths.result("items", name))
        responses = tidy.read("responses", *(paths.result("responses", name, m) for m in models))
        judged = (paths.RESULTS / "judges" / name).glob("scores.parquet")
        files = [*judged, *(paths.result("scores", name, model) for model in models)]
        scores = tidy.read("scores", *files).drop_duplicates(tidy.KEY)
        benchmark = import_module(f"tomlab.benchmarks.{name}")
        write_page(folder, name, titles, data(benchmark, wording, items, responses, scores))


def write_page(folder: Path, name: str, titles: Mapping[str, str], found: Mapping) -> None:
    """Write one page, what `data` found for it, and what all pages share. titles: by benchmark."""
    folder.mkdir(parents=True, exist_ok=True)
    for each in SHARED:
        shutil.copyfile(Path(__file__).with_name(each), folder / each)
    links = "\n".join(
        f'<a href="{other}.html"{" aria-current=page" * (other == name)}>{escape(title)}</a>'
        for other, title in titles.items()
    )
    page = _PAGE.substitute(name=name, title=escape(titles[name]), links=links)
    # ASCII alone, whatever was answered.
    text = json.dumps(found, separators=(",", ":"), allow_nan=False).replace("<", "\\u003c")
    for suffix, content in {"js": f"browse({text});\n", "html": page}.items():
        (folder / f"{name}.{suffix}").write_text(content, encoding="utf-8", newline="\n")


def data(
    benchmark: Benchmark,
    wording: Wording,
    items: pd.DataFrame,
    responses: pd.DataFrame,
    scores: pd.DataFrame,
) -> dict[str, Any]:
    """All that a page shows, ready for JSON: `items` and `answers` by column, as of `_by_column`.

    `facets` are the columns by which answers are filtered, with the shown `labels` of their values.
    In `messages` the item's own texts are marked, see `_marked`.
    """
    path = paths.PACKAGE / "benchmarks" / benchmark.NAME / "browser.yaml"
    words = WORDS["default"] | (yaml.safe_load(path.read_bytes()) if path.is_file() else {})
    own, facets = words["facets"], WORDS["facets"] | words["facets"]
    stories, asked = ["story", *words["stories"]], responses["item_id"].unique()
    if unknown := [name for name in (*own, *stories) if name not in items]:
        raise InputError(f"{path}: found {unknown}, expected columns of {[*items]}")
    items = items.set_index("item_id", drop=False).loc[asked].reset_index(drop=True)
    added = [*tidy.KEY, *scores.columns.difference([*responses.columns, *own])]
    answers = responses.merge(scores[added], on=tidy.KEY, how="left")
    # A first call of two has no score; only logs from elsewhere have an order of their own.
    none = {"outcome": "", "options_shown": ""}
    answers = answers.merge(items[["item_id", *own]], on="item_id").fillna(none)
    by_id = {item["item_id"]: item for item in items.to_dict("records")}
    rows = []
    for answer in answers.to_dict("records"):
        item = by_id[answer["item_id"]]
        rule = benchmark.rule(as_shown(item, answer), answer) if answer["outcome"] else None
        row = {"messages": _marked(answer["messages"], item, stories), "rule": rule}
        row["details"] = _told(answer, WORDS["details"] | words["details"])
        row["options"] = answer.get("options_shown") or None
        rows.append(row | {"table": answer.get("detail")})
    keep = [*facets, "item_id", "sample", "score", "response", "error"]
    answers = answers[keep].astype(dict.fromkeys(facets, str)).join(pd.DataFrame(rows))
    order = {"method": [*wording.methods], "outcome": [*tidy.OUTCOMES], "item_id": [*by_id]}
    by_column = _by_column(answers, order)
    gold = [g if isinstance(g, str) else ", ".join(g) for g in items["answer"]]
    choices = [json.dumps([*each]) for each in items["choices"]]
    more = [_told(item, words["items"]) for item in by_id.values()]
    texts = items[["item_id", *stories, "question"]].assign(answer=gold, choices=choices, more=more)
    own_names = {"asked_as": WORDS["asked_as"], "outcome": wording.outcomes | {"": "no verdict"}}
    labels = {}
    for name in facets:
        known, values = own_names.get(name, {}), by_column[name]["values"]
        labels[name] = [known.get(v) or tables.name(v, name, wording) or "none" for v in values]
    colours = {o: draw.OUTCOMES.get(tables.name(o, "outcome")) for o in tidy.OUTCOMES}
    return {
        "facets": [{"name": n, "label": facets[n], "labels": labels[n]} for n in facets],
        "items": _by_column(texts, {}),
        "answers": by_column,
        "stories": stories,
        "colours": colours | {tidy.SCORED: draw.COLOURS["sky"], "": draw.COLOURS["grey"]},
        **{name: words[name] for name in ("gold", "letters", "judge")},
    }


def _by_column(table: pd.DataFrame, order: Mapping[str, list]) -> dict[str, dict[str, list]]:
    """The distinct `values` of each column, first those in `order`, and each row's, -1 for none."""
    found = {}
    for name in table:
        seen = dict.fromkeys(table[name].dropna().tolist())
        values = [*dict.fromkeys(v for v in [*order.get(name, ()), *seen] if v in seen)]
        codes = pd.Categorical(table[name], categories=values).codes
        found[name] = {"codes": codes.tolist(), "values": values}
    return found


def _marked(messages: str, item: Mapping, stories: Sequence[str]) -> str:
    """Messages with the name of a column or the number of an option where they show that text of
    the item, so that most answers have the same ones.
    """
    texts = {item[name]: name for name in (*stories, "question")}
    texts |= {text: n for n, text in enumerate(item["choices"])}
    said = json.loads(messages)
    for text in sorted(texts, key=len, reverse=True):
        for each in said if len(text) >= _SHORTEST else ():
            each["content"] = each["content"].replace(text, f"\ue000{texts[text]}\ue001")
    return json.dumps(said)


def _told(row: Mapping, labels: Mapping) -> str:
    """The columns of a row that say something, each as a pair of label and text, as JSON."""
    found = []
    for name, label in labels.items():
        value = row.get(name)
        if pd.isna(value) or value == "":
            continue
        if isinstance(label, Mapping):  # of what is true or false: what it is called, then both
            found.append((label["name"], label[bool(value)]))
        elif value is not False:
            text = "yes" if value is True else f"{value:.2f}" if isinstance(value, float) else value
            found.append((label, str(text)))
    return json.dumps(found)
