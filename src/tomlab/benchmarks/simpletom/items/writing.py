"""SimpleToM stories by language model: entities, stories, ratings, answers (Sec. 3.1, App. D, E).

In a round, a model thinks up sets of entities for a scenario (`entity_requests`, `entity_sets`:
a set table has one row a set, `SET_COLUMNS` and `OUTCOME`), and a model makes three stories of each
(`story_requests`, `attempts`). The best of round 1 are the seeds of round 2 (`top_seeds`).
"""

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path

import pandas as pd
import pandera.pandas as pa

from tomlab.asking.attempts import OUTCOME, Answer, Unparsed, answer, attempt, request, stacked
from tomlab.benchmarks.simpletom.items import formats
from tomlab.benchmarks.simpletom.items.filtering import ANNOTATION_COLUMNS
from tomlab.benchmarks.simpletom.items.stories import (
    ENTITIES,
    SCENARIOS,
    SEVERITIES,
    story_table,
    story_text,
)
from tomlab.errors import InputError
from tomlab.models.specs import Request, Response
from tomlab.records import files

TEMPERATURE = 0.7  # for writing; the paper gives none
ENTITY_SETS = 10  # a scenario and a model, Sec. 3.1
RATINGS = ("harmfulness", "unethicality")  # App. E.3
SET_COLUMNS = ("set_id", "source", "scenario", *ENTITIES, "key_information")
_SCENARIOS = pa.DataFrameSchema(
    {"scenario": files.one_of(SCENARIOS), "reason": files.text(), "description": files.text()},
    unique=["scenario"],
    strict="filter",
)


def read_scenarios(path: Path | str) -> pd.DataFrame:
    """The scenario texts: CSV with `scenario` (of Table 1, each once), `reason`, `description`."""
    table = files.read_form(path, _SCENARIOS).reset_index(drop=True)
    if table.empty:
        raise InputError(f"{path}: no scenario in it")
    return table


def top_seeds(stories: pd.DataFrame, annotations: pd.DataFrame) -> pd.DataFrame:
    """The seed of each scenario for the next round: the stories of one set by one writer.

    The prompt shows three stories that were written together. Those with most "yes" win; of equal
    ones the first by id. Give the stories of one round and the annotations of one kind.
    """
    key = ["scenario", "source", "set_id"]
    if (doubled := stories.duplicated([*key, "severity"])).any():
        set_id = stories["set_id"][doubled].iloc[0]
        raise InputError(f"seeds: set {set_id!r} has a severity twice; give stories of one round")
    yes = annotations[annotations["answer"] == "yes"].groupby("story_id").size()
    scored = stories.assign(yes=stories["story_id"].map(yes).fillna(0))
    written = scored.groupby(key, sort=False).agg(
        yes=("yes", "sum"), first=("story_id", "min"), stories=("severity", "size")
    )
    whole = written[written["stories"] == len(SEVERITIES)].reset_index()
    best = whole.sort_values(["yes", "first"], ascending=[False, True]).drop_duplicates("scenario")
    return story_table(stories.merge(best[key]).to_dict("records"))


def _shown(scenarios: pd.DataFrame, seeds: pd.DataFrame, name: str) -> tuple[str, list[dict]]:
    """The text of a scenario and the three stories of its seed by severity."""
    row = scenarios[scenarios["scenario"] == name]
    if row.empty:
        raise InputError(f"scenarios: no text for scenario {name!r}")
    stories = seeds[seeds["scenario"] == name].sort_values("severity")
    if (found := stories["severity"].tolist()) != list(SEVERITIES):
        what = f"found severities {found} for scenario {name!r}"
        raise InputError(f"seeds: {what}, expected one story of each of 1, 2, 3")
    return f"[{row['reason'].iloc[0]}] {row['description'].iloc[0]}", stories.to_dict("records")


def entity_requests(
    scenarios: pd.DataFrame,
    seeds: pd.DataFrame,
    count: int = ENTITY_SETS,
    *,
    seed: int = 0,
    max_tokens: int = 1500,
    replaced: Mapping[str, str] | None = None,
) -> list[Request]:
    """One request a scenario for `count` sets of entities, with the seed's as example (App. E.5).

    scenarios: of `read_scenarios`; seeds: a story table, three stories a scenario (`top_seeds`).
    """
    options = {"max_tokens": max_tokens, "temperature": TEMPERATURE, "seed": seed}
    requests = []
    for name in scenarios["scenario"]:
        text, (_, base, _) = _shown(scenarios, seeds, name)
        row = {"count": str(count), "scenario": text, "example": formats.written_set(base)}
        requests.append(request("simpletom/entities", row, replaced, shared=("count",), **options))
    return requests


def story_requests(
    sets: pd.DataFrame,
    scenarios: pd.DataFrame,
    seeds: pd.DataFrame,
    *,
    seed: int = 0,
    max_tokens: int = 450,
    replaced: Mapping[str, str] | None = None,
) -> list[Request]:
    """One request a set of entities for three stories, with the seed's as example (App. E.4).

    sets: usable sets (`sets_of`). Their key information is not shown: the writer finds its own.
    """
    options = {"max_tokens": max_tokens, "temperature": TEMPERATURE, "seed": seed}
    requests, shared = [], ("example", "scenario")
    for entities in sets.to_dict("records"):
        text, stories = _shown(scenarios, seeds, entities["scenario"])
        example = f"SCENARIO: {text}\n\n{formats.written_out(stories)}"
        row = {"example": example, "scenario": text, "entities": formats.entities_line(entities)}
        requests.append(request("simpletom/story", row, replaced, shared=shared, **options))
    return requests


def rating_requests(
    stories: pd.DataFrame, kind: str, replaced: Mapping[str, str] | None = None, *, seed: int = 0
) -> list[Request]:
    """One request a story for its harmfulness or unethicality from 1 to 5 (App. E.3)."""
    if kind not in RATINGS:
        raise InputError(f"ratings: found kind {kind!r}, expected {' or '.join(RATINGS)}")
    options = {"shared": (), "max_tokens": 8, "seed": seed}
    texts = map(story_text, stories.to_dict("records"))
    return [request(f"simpletom/{kind}", {"story": text}, replaced, **options) for text in texts]


def annotation_requests(
    stories: pd.DataFrame, replaced: Mapping[str, str] | None = None, *, seed: int = 0
) -> list[Request]:
    """One request a story for the answers to the four questions that people get (App. D)."""
    shown = ("person_x", "key_information", "question", "unaware_action", "aware_action")
    rows = [
        {"story": story_text(story)} | {name: story[name] for name in shown}
        for story in stories.to_dict("records")
    ]
    options = {"shared": (), "max_tokens": 60, "seed": seed}
    return [request("simpletom/annotate", row, replaced, **options) for row in rows]


def _cut_off(found: Answer, last: str) -> bool:
    """Whether the token limit may have ended an answer inside its last line, which then parses."""
    ended = found.text.rstrip(" \t\r*")
    limit = found.finish_reason == "length"
    return limit and ended.endswith(last) and not ended.endswith((".", "!", "?"))


def entity_sets(
    responses: Sequence[Response],
    scenarios: pd.DataFrame,
    model: str,
    *,
    round: int = 1,
    count: int = ENTITY_SETS,
) -> pd.DataFrame:
    """What became of `entity_requests`: a set table, at least `count` rows a scenario.

    Nothing is dropped: what is no set keeps the answer's text and the reason, without entities.
    """
    rows = []
    for response, scenario in zip(responses, scenarios["scenario"], strict=True):
        stem = f"{model}-r{round}-{SCENARIOS.index(scenario) + 1:02d}"
        of = {"source": f"llm:{model}", "scenario": scenario}
        found = enumerate(_sets(response, count), start=1)
        rows += [{"set_id": f"{stem}-{i:02d}", **of, **row} for i, row in found]
    return pd.DataFrame(rows, columns=[*SET_COLUMNS, *OUTCOME], dtype=str).fillna("")


def _sets(response: Response, count: int) -> list[dict]:
    if response.reply is None:
        return [{"status": "error", "reason": response.error}] * count
    found = answer(response.reply)
    sets, failures = formats.parse_entities(found.text, count)
    if sets and _cut_off(found, sets[-1]["key_information"]):
        sets.pop()
        failures.insert(0, "the last example: cut off")
    rows = [{**entities, "status": "set", "reason": ""} for entities in sets]
    rows += [{"status": found.failure, "reason": reason} for reason in failures]
    return [{**row, "text": response.reply.text} for row in rows]


def sets_of(table: pd.DataFrame) -> pd.DataFrame:
    """The rows of a set table that hold entities."""
    return table[table["status"] == "set"].reset_index(drop=True)


def attempts(
    responses: Sequence[Response], sets: pd.DataFrame, model: str, *, round: int = 1
) -> pd.DataFrame:
    """What became of `story_requests(sets, …)`: a story table with `OUTCOME`, three rows a request.

    Nothing is dropped: an answer that is no triple of stories keeps its text and the reason in
    three rows without story. status is "story" or one of `FAILURES`. Stories that several writers
    make of one set of entities share its `set_id`.
    """
    rows = []
    for response, entities in zip(responses, sets.to_dict("records"), strict=True):
        parsed, outcome = attempt(response, _stories, "story")
        stem = f"llm-{model}-r{round}-{entities['set_id']}"
        shared = {name: entities[name] for name in ("scenario", "set_id", *ENTITIES)}
        for story in parsed or [{"severity": severity} for severity in SEVERITIES]:
            ids = {"story_id": f"{stem}_sev{story['severity']}", "source": f"llm:{model}"}
            rows.append({**ids, **shared, **story, **outcome})
    return story_table(rows).join(pd.DataFrame(rows, columns=list(OUTCOME), dtype=str))


def _stories(found: Answer) -> list[dict] | Unparsed:
    stories = formats.parse_generation(found.text)
    if isinstance(stories, Unparsed) or not _cut_off(found, stories[-1]["aware_action"]):
        return stories
    return Unparsed("the last line: cut off")


raw_table = partial(stacked, "story")


def stories_of(raw: pd.DataFrame) -> pd.DataFrame:
    """The story table of what parsed."""
    return story_table(raw[raw["status"] == "story"].to_dict("records"))


def ratings(
    responses: Sequence[Response], stories: pd.DataFrame, kind: str, model: str
) -> pd.DataFrame:
    """What became of `rating_requests`: `story_id, kind, rater, rating` (missing if none) with
    `OUTCOME`, one row a story.
    """
    who, rows = {"kind": kind, "rater": f"llm:{model}"}, []
    for response, story_id in zip(responses, stories["story_id"], strict=True):
        rating, outcome = attempt(response, lambda a: formats.parse_rating(a.text), "rating")
        rows.append({"story_id": story_id, **who, "rating": rating, **outcome})
    columns = ["story_id", "kind", "rater", "rating", *OUTCOME]
    return pd.DataFrame(rows, columns=columns).astype({"rating": "Int64"})


def annotations(
    responses: Sequence[Response], stories: pd.DataFrame, model: str
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """A model's annotations (`ANNOTATION_COLUMNS`, kind `llm:<model>`), and what became of each of
    the `annotation_requests`: `story_id` with `OUTCOME`.
    """
    rows, outcomes = [], []
    for response, story_id in zip(responses, stories["story_id"], strict=True):
        said, outcome = attempt(response, lambda a: formats.parse_annotation(a.text), "annotation")
        outcomes.append({"story_id": story_id, **outcome})
        rows += [(story_id, model, f"llm:{model}", *pair) for pair in (said or {}).items()]
    table = pd.DataFrame(rows, columns=list(ANNOTATION_COLUMNS), dtype=str)
    return table, pd.DataFrame(outcomes, columns=["story_id", *OUTCOME])
