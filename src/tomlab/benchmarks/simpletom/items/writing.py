"""SimpleToM stories by language model: entities, stories, annotations (Sec. 3.1, App. D, E).

In a round, a model thinks up sets of entities for a scenario (`entity_requests`, `entity_sets`:
a set table has one row a set, `SET_COLUMNS` and `OUTCOME`), and a model makes three stories of each
(`story_requests`, `attempts`). The best of round 1 are the seeds of round 2 (`top_seeds`).

Of a story that there is, a model says in a word or two how it would judge person X (App. F,
`judgment_requests`, `judgments`), and rates it (App. E.3, `rating_requests`, `ratings`).
"""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd
import pandera.pandas as pa

from tomlab.asking import prompts
from tomlab.asking.attempts import OUTCOME, Answer, Unparsed, answer, attempt, request
from tomlab.benchmarks.simpletom.items import formats
from tomlab.benchmarks.simpletom.items.compose import WORDINGS
from tomlab.benchmarks.simpletom.items.filtering import ANNOTATION_COLUMNS
from tomlab.benchmarks.simpletom.items.stories import (
    ENTITIES,
    SCENARIOS,
    SEVERITIES,
    story_table,
)
from tomlab.errors import InputError
from tomlab.models.specs import Request, Response
from tomlab.records import files

TEMPERATURE = 0.7  # for writing; the paper gives none
SCALES = ("harm", "unethicality")  # of the ratings, App. E.3; each has a prompt of its name
ENTITY_SETS = 10  # a scenario and a model, Sec. 3.1
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
    ones the first by id. stories: of one round.
    """
    key = ["scenario", "source", "set_id"]
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
    [row] = scenarios[scenarios["scenario"] == name].to_dict("records")
    stories = seeds[seeds["scenario"] == name].sort_values("severity")
    return f"[{row['reason']}] {row['description']}", stories.to_dict("records")


def entity_requests(
    scenarios: pd.DataFrame, seeds: pd.DataFrame, *, max_tokens: int = 1500, **options
) -> list[Request]:
    """One request a scenario for ten sets of entities, with the seed's as example (App. E.5).

    scenarios: of `read_scenarios`; seeds: of `top_seeds`; options: of `attempts.request`.
    """
    options |= {"max_tokens": max_tokens, "temperature": TEMPERATURE}
    requests = []
    for name in scenarios["scenario"]:
        text, (_, base, _) = _shown(scenarios, seeds, name)
        row = {"count": str(ENTITY_SETS), "scenario": text, "example": formats.written_set(base)}
        requests.append(request("simpletom/entities", row, shared=("count",), **options))
    return requests


def story_requests(
    sets: pd.DataFrame, scenarios: pd.DataFrame, seeds: pd.DataFrame, **options
) -> list[Request]:
    """One request a set of entities for three stories, with the seed's as example (App. E.4).

    sets: usable rows of a set table (key information is not shown); others as `entity_requests`.
    """
    options |= {"shared": ("example", "scenario"), "max_tokens": 450, "temperature": TEMPERATURE}
    requests = []
    for entities in sets.to_dict("records"):
        text, stories = _shown(scenarios, seeds, entities["scenario"])
        example = f"SCENARIO: {text}\n\n{formats.written_out(stories)}"
        row = {"example": example, "scenario": text, "entities": formats.entities_line(entities)}
        requests.append(request("simpletom/story", row, **options))
    return requests


def annotation_requests(stories: pd.DataFrame, **options) -> list[Request]:
    """One request a story for the questions people get (App. D). options: of `attempts.request`."""
    shown = ["story", "person_x", "key_information", "question", "unaware_action", "aware_action"]
    return _about("simpletom/annotate", stories[shown], max_tokens=60, **options)


def judgment_requests(stories: pd.DataFrame, **options) -> list[Request]:
    """One request a story for how person X would have to be judged if aware, in a word or two
    (App. F). options: of `attempts.request`.
    """
    shown = ["story", "person_x", "unaware_action", "aware_action", "key_information"]
    return _about("simpletom/describe", stories[shown], max_tokens=20, **options)


def rating_requests(stories: pd.DataFrame, scale: str, **options) -> list[Request]:
    """One request a story for its rating on a scale of `SCALES` (App. E.3). options: of
    `attempts.request`.
    """
    return _about(f"simpletom/{scale}", stories[["story"]], max_tokens=20, **options)


def _about(prompt: str, stories: pd.DataFrame, **options) -> list[Request]:
    rows = stories.to_dict("records")
    return [request(prompt, row, shared=(), **options) for row in rows]


def _cut_off(found: Answer, last: str) -> bool:
    """Whether the token limit may have ended an answer inside its last line, which then parses."""
    ended = found.text.rstrip(" \t\r*")
    limit = found.finish_reason == "length"
    return limit and ended.endswith(last) and not ended.endswith((".", "!", "?"))


def entity_sets(
    responses: Sequence[Response], scenarios: pd.DataFrame, model: str, *, round: int = 1
) -> pd.DataFrame:
    """What became of `entity_requests`: a set table, ten rows a scenario or more. What is no set
    keeps the answer's text and the reason, without entities.
    """
    rows = []
    for response, scenario in zip(responses, scenarios["scenario"], strict=True):
        stem = f"{model}-r{round}-{SCENARIOS.index(scenario) + 1:02d}"
        of = {"source": f"llm:{model}", "scenario": scenario}
        found = enumerate(_sets(response), start=1)
        rows += [{"set_id": f"{stem}-{i:02d}", **of, **row} for i, row in found]
    return pd.DataFrame(rows, columns=[*SET_COLUMNS, *OUTCOME], dtype=str).fillna("")


def _sets(response: Response) -> list[dict]:
    if response.reply is None:
        return [{"status": "error", "reason": response.error}] * ENTITY_SETS
    found = answer(response.reply)
    sets, failures = formats.parse_entities(found.text, ENTITY_SETS)
    if sets and _cut_off(found, sets[-1]["key_information"]):
        sets.pop()
        failures.insert(0, "the last example: cut off")
    rows = [{**entities, "status": "set", "reason": ""} for entities in sets]
    rows += [{"status": found.failure, "reason": reason} for reason in failures]
    return [{**row, "text": response.reply.text} for row in rows]


def attempts(
    responses: Sequence[Response],
    sets: pd.DataFrame,
    model: str,
    *,
    round: int = 1,
    replaced: Mapping[str, str] | None = None,
) -> pd.DataFrame:
    """What became of `story_requests(sets, …)`: a story table with `OUTCOME`, three rows a request.

    An answer that is no triple of stories keeps its text and the reason in three rows without
    story. Stories that several writers make of one set of entities share its `set_id`. replaced: as
    for the requests; the answer to a prompt that ends with the first label begins after it.
    """
    rows = []
    label = formats.first_label(prompts.load("simpletom/story", replaced))
    for response, entities in zip(responses, sets.to_dict("records"), strict=True):
        parsed, outcome = attempt(response, partial(_stories, label=label), "story")
        stem = f"llm-{model}-r{round}-{entities['set_id']}"
        shared = {name: entities[name] for name in ("scenario", "set_id", *ENTITIES)}
        for story in parsed or [{"severity": severity} for severity in SEVERITIES]:
            ids = {"story_id": f"{stem}_sev{story['severity']}", "source": f"llm:{model}"}
            rows.append({**ids, **shared, **story, **outcome})
    return story_table(rows).join(pd.DataFrame(rows, columns=list(OUTCOME), dtype=str))


def _stories(found: Answer, label: str) -> list[dict] | Unparsed:
    """The three stories of an answer to a prompt that ended with `label`, "" for none."""
    stories = formats.parse_generation(formats.with_label(found.text, label))
    if isinstance(stories, Unparsed) or not _cut_off(found, stories[-1]["aware_action"]):
        return stories
    return Unparsed("the last line: cut off")


def annotations(
    responses: Sequence[Response], stories: pd.DataFrame, model: str
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """A model's annotations (`ANNOTATION_COLUMNS`, kind `llm:<model>`), and what became of each of
    the `annotation_requests`: `story_id` with `OUTCOME`.
    """
    became = _became(responses, stories, model, formats.parse_annotation, "annotation")
    rows = []
    for story_id, answers in zip(became["story_id"], became["annotation"], strict=True):
        for question, choice in (answers or {}).items():
            rows.append((story_id, model, f"llm:{model}", question, choice))
    table = pd.DataFrame(rows, columns=list(ANNOTATION_COLUMNS), dtype=str)
    return table, became[["story_id", *OUTCOME]]


def judgments(responses: Sequence[Response], stories: pd.DataFrame, model: str) -> pd.DataFrame:
    """What became of `judgment_requests`: `story_id`, `model`, `negative_judgment` ("" where it
    can't be used), with `OUTCOME`.
    """
    options = [option for wording in WORDINGS.values() for option in wording["options"]]
    taken = {option for option in options if "{n}" not in option}
    parse = partial(formats.parse_description, taken=taken)
    became = _became(responses, stories, model, parse, "judgment")
    return became.rename(columns={"judgment": "negative_judgment"}).fillna("")


def ratings(
    responses: Sequence[Response], stories: pd.DataFrame, scale: str, model: str
) -> pd.DataFrame:
    """What became of `rating_requests`: `story_id`, `model`, `scale`, `rating` (1 to 5, None where
    there is none), with `OUTCOME`.
    """
    became = _became(responses, stories, model, formats.parse_rating, "rating")
    return became.assign(scale=scale).astype({"rating": "Int64"})


def _became(
    responses: Sequence[Response],
    stories: pd.DataFrame,
    model: str,
    parse: Callable[[str], Any],
    good: str,
) -> pd.DataFrame:
    """One row a story: `story_id`, `model`, what `parse` made of the answer (None for a reason) in
    the column `good`, and `OUTCOME`.
    """
    rows = []
    for response, story_id in zip(responses, stories["story_id"], strict=True):
        value, outcome = attempt(response, lambda found: parse(found.text), good)
        rows.append({"story_id": story_id, "model": model, good: value, **outcome})
    return pd.DataFrame(rows, columns=["story_id", "model", good, *OUTCOME], dtype=object)


def with_judgments(stories: pd.DataFrame, tables: Sequence[pd.DataFrame]) -> pd.DataFrame:
    """The stories with a `negative_judgment` where they had none and a model gave one.

    tables: of `judgments`, one a model. Of several the shortest counts, as in the paper; of equally
    short ones that of the model asked first.
    """
    if not tables:
        return stories
    usable = pd.concat(tables, ignore_index=True)
    usable = usable[usable["negative_judgment"] != ""]
    usable = usable.assign(length=usable["negative_judgment"].str.len())
    shortest = usable.sort_values("length", kind="stable").drop_duplicates("story_id")
    by_story = dict(zip(shortest["story_id"], shortest["negative_judgment"], strict=True))
    judged = [
        own or by_story.get(story_id, "")
        for story_id, own in zip(stories["story_id"], stories["negative_judgment"], strict=True)
    ]
    return stories.assign(negative_judgment=judged)
