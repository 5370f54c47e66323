"""The front page: a story a benchmark, this run against the papers, a finding a benchmark, and all
figures at a glance.

What is told of a benchmark stands in `front.yaml` of its paper's folder: what it `asks`, whose
`story`, and where its `papers` print the number that stands for it (table, rows, column).
"""

import json
import re
from base64 import b64encode
from collections.abc import Mapping, Sequence
from dataclasses import replace
from html import escape
from io import BytesIO
from pathlib import Path
from textwrap import fill
from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from PIL import Image

from tomlab import paths
from tomlab.papers.book import FIGURES, WORDS, Chapter, exactly, in_shares, plain, with_texts
from tomlab.records import tidy
from tomlab.reporting import across, findings, plotting, printed
from tomlab.reporting.headings import listed
from tomlab.reporting.printed import GROUPS_FOR_A_FINDING, RUN
from tomlab.reporting.readings import said
from tomlab.scoring.variants import protocol

FOLDED = 900  # characters: a longer story is folded
WIDTH, ROW, SIZE = 4.6, 0.3, 9  # of the large figure, in inches and points
THUMB, COLOURS = 400, 48  # pixels across a thumbnail, and its colours
TITLE = 60  # characters
READABLE = ("correct", "wrong")


# ---- a story -------------------------------------------------------------------------------------


def stories(chapters: Sequence[Chapter], model: str) -> str:
    """What each benchmark asks, with a `story`, as Markdown."""
    parts = [
        WORDS["asks"].format(
            name=chapter.paper.PUBLICATION.name,
            asks=chapter.texts["front"]["asks"],
            story=story(chapter, model),
        )
        for chapter in with_texts(chapters, "front")
    ]
    return "\n".join(parts)


def story(chapter: Chapter, model: str) -> str:
    """The shortest story that the model answered readably (else: at all), with question, options,
    the right one, its answer and the verdict, as Markdown.
    """
    scored = chapter.scores.query("model == @model and method == @chapter.paper.STANDARD.method")
    items = tidy.read("items", paths.result("items", chapter.name))
    items = items.query(chapter.texts["front"]["story"]["of"])
    found = items.merge(scored[["item_id", "outcome", "score", "sample"]], on="item_id")
    readable = found[found["outcome"].isin(READABLE)]
    found = found if readable.empty else readable
    if found.empty:
        return WORDS["reads"]["none"].format(model=model)
    length = found["story"].str.len().rename("length")
    item = found.assign(length=length).sort_values(["length", "item_id"]).iloc[0]
    answers = protocol(tidy.read("responses", paths.result("responses", chapter.name, model)))
    keys = {"item_id": item["item_id"], "method": chapter.paper.STANDARD.method}
    answer = answers[(answers[list(keys)] == pd.Series(keys)).all(axis=1)].iloc[0]
    return _told(item, answer, chapter.texts["front"]["story"].get("lead", ""))


def _told(item: pd.Series, answer: pd.Series, lead: str) -> str:
    turns = [plain(line) for line in item["story"].splitlines()]
    verdict = WORDS["verdicts"][item["outcome"]]
    if item["question_type"] == "extraction":
        beliefs = json.loads(item["answer"])
        question = WORDS["beliefs"].format(n=len(beliefs))
        deepest = {belief["labels"]["order"]: belief for belief in reversed(beliefs)}
        shown = [deepest[order] for order in sorted(deepest)]
        options = [plain(f"{each['actor']}: {each['belief']}") for each in shown]
        verdict = WORDS["found"].format(verdict=verdict, score=printed.share(item["score"]))
    else:
        question, right = f"**{plain(item['question'])}**", plain(item["answer"])
        options = [plain(option) for option in item["choices"]]
        options = [WORDS["right"].format(option=o) if o == right else o for o in options]
    told = {
        "lead": plain(lead.format(**item)),
        "story": "\n>\n> ".join(turns),
        "question": question,
        "options": "\n".join(f"- {option}" for option in options),
        "model": answer["model"],
        "answer": f"“{plain(said(answer))}”",
        "verdict": verdict,
    }
    is_long = len(item["story"]) > FOLDED
    return WORDS["folded" if is_long else "story"].format(turns=len(turns), **told)


# ---- findings ------------------------------------------------------------------------------------


def findings_of(chapters: Sequence[Chapter], model: str) -> str:
    """A finding a benchmark, as a Markdown list."""
    parts = [
        WORDS["finding"].format(
            name=chapter.paper.PUBLICATION.name,
            finding=plain(finding(chapter, model)),
            page=FIGURES.format(chapter.name),
        )
        for chapter in with_texts(chapters, "front")
    ]
    return "\n".join(parts)


def finding(chapter: Chapter, model: str) -> str:
    """The sentence on the number that stands for a benchmark, else the first one told."""
    standard, words = chapter.paper.STANDARD, chapter.texts["words"]
    metric, condition = chapter.paper.HEADLINES[standard.headline]
    keys = {"metric": metric, "condition": condition, "method": standard.method}
    only = chapter.metrics[(chapter.metrics[list(keys)] == pd.Series(keys)).all(axis=1)]
    is_enough = only.loc[only["model"] == model, "n_groups"].ge(GROUPS_FOR_A_FINDING).any()
    scores, none = chapter.scores, pd.DataFrame(columns=_RUN)
    runs = [(only, scores[:0])] if is_enough else []
    for tables in [*runs, (chapter.metrics, scores)]:
        run = findings.Run(*tables, none, none)
        if told := findings.told(run, model, chapter.paper, words):
            return told[0]
    return WORDS["reads"]["none"].format(model=model)


_RUN = ["model", "method", "metric", "asked_as", "varies", "same"]


# ---- the large figure ----------------------------------------------------------------------------


def against(chapters: Sequence[Chapter], models: Sequence[str]) -> tuple[Figure, str]:
    """The number that stands for each benchmark, the papers' models, people's and this run's, and
    a caption. Made to be read at the width of a phone.
    """
    looks, words = plotting.looks(models), WORDS["against"]
    chapters = with_texts(chapters, "front")
    numbers = {c.name: across.numbers(c.metrics, {c.name: c.paper}) for c in chapters}
    rows = [len(_labels(chapter, models)) for chapter in chapters]
    with plotting.style():
        size = (WIDTH, ROW * (sum(rows) + 1.2 * len(rows)) + 1.9)
        figure = Figure(figsize=size, layout="constrained")
        panels = figure.subplots(len(rows), 1, height_ratios=rows, sharex=True, squeeze=False)
        for axes, chapter in zip(panels.flat, chapters, strict=True):
            _panel(axes, chapter, numbers[chapter.name], looks)
        plotting.share_axis(panels.flat[-1], "")
        panels.flat[-1].tick_params(axis="x", labelsize=SIZE)
        plotting.legend_below(figure, _legend(pd.concat(numbers.values())), 1)
        for text in figure.legends[0].get_texts():
            text.set_fontsize(SIZE - 0.5)
        title = fill(_place(chapters, numbers, models[0]), 44)
        figure.suptitle(title, fontsize=SIZE + 2, ha="left", x=0.01)
    headlines = {c.paper.PUBLICATION.name: c.texts["front"]["headline"] for c in chapters}
    told = "; ".join(f"{name}: {headline}" for name, headline in headlines.items())
    return figure, words["caption"].format(told=told)


def _place(chapters: Sequence[Chapter], numbers: Mapping, model: str) -> str:
    """Where a model's numbers of enough groups stand to those of the papers' models."""
    places: dict[str, list[str]] = {}
    for chapter in chapters:
        own = numbers[chapter.name].query("model == @model and n_groups >= @GROUPS_FOR_A_FINDING")
        for value in own["value"]:
            theirs = _published(chapter)
            place = (
                "below" if value < theirs.min() else "above" if value > theirs.max() else "inside"
            )
            places.setdefault(place, []).append(chapter.paper.PUBLICATION.name)
    words = WORDS["against"]
    told = [words["places"][place].format(names=listed(n)) for place, n in places.items()]
    form = words["title"] if told else words["untold"]
    return form.format(model=model, places=", ".join(told))


def _labels(chapter: Chapter, models: Sequence[str]) -> list[str]:
    people = [WORDS["against"]["people"]] if chapter.paper.STANDARD.people else []
    return [WORDS["against"]["papers"], *people, *models]


def _panel(axes: Axes, chapter: Chapter, numbers: pd.DataFrame, looks: Mapping) -> None:
    standard, paper = chapter.paper.STANDARD, chapter.paper.PUBLICATION
    labels = _labels(chapter, list(looks))
    headline = chapter.texts["front"]["headline"]
    axes.set_title(f"{paper.name}: {headline}", fontsize=SIZE + 1, loc="left", fontweight="bold")
    axes.set(xlim=(-0.03, 1.03), ylim=(len(labels) - 0.4, -0.9))
    axes.set_yticks(range(len(labels)), labels=labels, fontsize=SIZE)
    axes.tick_params(axis="y", length=0)
    dot = {"color": plotting.INK, "linestyle": "none", "alpha": 0.75}
    named, box = _published(chapter), {"color": "white", "pad": 0.5}
    axes.plot(named, [0] * len(named), "o", ms=3.2, **dot, gid="papers")
    ends = {named.max(): (-0.55, named.idxmax()), named.min(): (0.55, named.idxmin())}
    for value, (y, name) in ends.items():
        side = "left" if value < 0.5 else "right"
        tied = (named == value).sum() - 1
        more = WORDS["against"]["more"].format(tied=tied) if tied else ""
        text = f"{exactly(value)} {name}{more}"
        axes.text(value, y, text, ha=side, va="center", fontsize=SIZE - 1.5, bbox=box, gid="named")
    if standard.people:
        table, column, which, _ = standard.people
        people = in_shares(paper, table, paper.read(table).query(which)[column])
        axes.plot(people, [1] * len(people), "D", ms=5, mfc="white", **dot, gid="people")
    if standard.chance is not None:
        plotting.reference_line(axes, standard.chance, "dotted")
    for row in numbers.itertuples():
        y, look = labels.index(row.model), looks[row.model]
        point = pd.DataFrame([row._asdict() | {"y": y, "mark": "", "source": RUN}])
        for own, shown in plotting.coloured(point, replace(look, dodge=0.0)):
            plotting.interval_dots(axes, own, shown)
        plotting.count_beside(axes, y, printed.n_of(row.n, row.n_groups), SIZE - 2)


def _published(chapter: Chapter) -> pd.Series:
    """The papers' numbers by model, in shares."""
    table, rows, column = chapter.texts["front"]["papers"]
    paper = chapter.paper.PUBLICATION
    found = paper.read(table).query(rows).set_index("model")[column]
    return in_shares(paper, table, found)


def _legend(numbers: pd.DataFrame) -> dict[str, Any]:
    words = WORDS["against"]["legend"]
    line = {"color": plotting.INK, "linestyle": "none"}
    return {
        words["papers"]: Line2D([], [], marker="o", markersize=3.2, **line),
        words["people"]: Line2D([], [], marker="D", markersize=5, mfc="white", **line),
        words["run"]: plotting.INTERVAL,
        words["chance"]: plotting.line_handle("dotted"),
        **plotting.few_handle(numbers.assign(source=RUN), "groups"),
        **plotting.count_handle("groups"),
    }


# ---- all figures ---------------------------------------------------------------------------------


def gallery(chapters: Sequence[Chapter]) -> str:
    """All figures as thumbnails with their titles, each a link, as Markdown; those that the papers
    have come first.
    """
    cards = []
    for chapter in chapters:
        found = (paths.RESULTS / "figures" / chapter.name).glob("*.png")
        for path in sorted(found, key=lambda p: (not p.stem.startswith("figure"), p.stem)):
            title = _title(path.with_suffix(".caption.txt").read_text(encoding="utf-8"))
            page = FIGURES.format(chapter.name)
            told = escape(title)
            image = f'<img src="{_thumbnail(path)}" alt="{told}">'
            cards.append(f'<a href="{page}">{image}<br>{told}</a>')
    return WORDS["gallery"].format(cards="\n".join(cards))


def _title(caption: str) -> str:
    """What a caption begins with, the figure's title or else its own first sentence, without what
    it says in brackets, in at most `TITLE`.
    """
    first = caption.strip().partition("\n\n")[0].split(". ")[0]
    first = re.sub(r" \([^)]*\)", "", first).rstrip(".")
    return first if len(first) <= TITLE else first[:TITLE].rsplit(" ", 1)[0].rstrip(",;:") + " …"


def _thumbnail(path: Path) -> str:
    """The figure as an address that holds the picture, `THUMB` pixels wide."""
    with Image.open(path) as image:
        size = THUMB, round(image.height * THUMB / image.width)
        small = image.convert("RGB").resize(size, Image.Resampling.LANCZOS)
    small = small.quantize(COLOURS)
    buffer = BytesIO()
    small.save(buffer, "PNG", optimize=True)
    return f"data:image/png;base64,{b64encode(buffer.getvalue()).decode()}"
