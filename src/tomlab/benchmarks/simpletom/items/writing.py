"""SimpleToM stories by language model: entities, stories, annotations (Sec. 3.1, App. D, E, F).

`writing.yaml` defines the steps. In each round, a model thinks up sets of entities for a scenario,
and models write three stories for each set. The best stories of round 1 are the seeds (examples in
the prompt) of round 2, see `top_seeds`. For a finished story, a model answers the questions that
people are asked, says in a word or two how it would judge person X, and rates the story.
"""

from collections.abc import Sequence
from pathlib import Path

import pandas as pd
import pandera.pandas as pa

from tomlab.asking.attempts import OUTCOME
from tomlab.benchmarks.simpletom.items.filtering import ANNOTATION_COLUMNS, QUESTIONS
from tomlab.benchmarks.simpletom.items.formats import (
    ENTITY_SETS,
    PARSERS,
    entities_line,
    written_out,
    written_set,
)
from tomlab.benchmarks.simpletom.items.stories import ENTITIES, SCENARIOS, SEVERITIES, story_table
from tomlab.benchmarks.writing import Draft, steps
from tomlab.errors import InputError
from tomlab.records import files

STEPS = steps(__file__, PARSERS)
SCALES = ("harm", "unethicality")  # the scales of the ratings (App. E.3); each is a step
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

    The prompt shows three stories that were written together. The set whose stories got the most
    "yes" answers wins; among equal sets, the one with the first story id. stories: a story table
    of one round. Returns the rows of the winning sets.
    """
    key = ["scenario", "source", "set_id"]
    yes = annotations.loc[annotations["answer"] == "yes", "story_id"].value_counts()
    scored = stories.assign(yes=stories["story_id"].map(yes).fillna(0))
    sets = scored.groupby(key, as_index=False).agg(
        yes=("yes", "sum"), first=("story_id", "min"), stories=("severity", "size")
    )
    whole = sets[sets["stories"] == len(SEVERITIES)]
    best = whole.sort_values(["yes", "first"], ascending=[False, True]).drop_duplicates("scenario")
    return stories.merge(best[key])


def scenario_drafts(scenarios: pd.DataFrame, seeds: pd.DataFrame, round_id: str) -> list[Draft]:
    """A draft (fields for prompts) for each scenario, with its seed stories (App. E.4, E.5).

    scenarios: from `read_scenarios`; seeds: from `top_seeds`; round_id: such as <model>-r1.
    """
    drafts = []
    for draft in scenarios.to_dict("records"):
        in_scenario = seeds[seeds["scenario"] == draft["scenario"]]
        stories = in_scenario.sort_values("severity").to_dict("records")
        base = stories[1]
        number = SCENARIOS.index(draft["scenario"]) + 1
        text = f"[{draft['reason']}] {draft['description']}"
        beginning = f"SCENARIO: {text}\n\nENTITIES: {entities_line(base)}\n\n"
        draft["count"] = str(ENTITY_SETS)
        draft["scenario_id"] = f"{round_id}-{number:02d}"
        draft["scenario_text"] = text
        draft["seed_set"] = written_set(base)
        draft["seed_stories"] = beginning + written_out(stories)
        drafts.append(draft)
    return drafts


def set_drafts(sets: Sequence[Draft], scenarios: Sequence[Draft], round_id: str) -> list[Draft]:
    """A draft for each set of entities, without the set's key information. sets: the sets that a
    model thought up, or stories; scenarios: from `scenario_drafts`.
    """
    by_scenario = {draft["scenario"]: draft for draft in scenarios}
    drafts = []
    for entities in sets:
        draft = dict(by_scenario[entities["scenario"]])
        for name in ("set_id", *ENTITIES):
            draft[name] = entities[name]
        draft["entities"] = entities_line(entities)
        draft["stem"] = f"llm-{round_id}-{entities['set_id']}"
        drafts.append(draft)
    return drafts


def story_rows(rows: Sequence[Draft]) -> pd.DataFrame:
    """The results of the step `stories`: a story table with the columns `OUTCOME`, three rows for
    each answer.
    """
    stories = []
    for row in rows:
        severity = SEVERITIES[row["stories"]]
        stories.append(row | {"story_id": f"{row['stem']}_sev{severity}", "severity": severity})
    return story_table(stories).join(pd.DataFrame(rows, columns=list(OUTCOME), dtype=str))


def annotations(rows: Sequence[Draft]) -> pd.DataFrame:
    """The annotations by models, one row for each story and question (`ANNOTATION_COLUMNS`);
    `annotator_kind` is `llm:<model>`. rows: the results of the step of annotations.
    """
    answers = []
    for row in rows:
        model = row["source"].removeprefix("llm:")
        for question in QUESTIONS:
            answers.append((row["story_id"], model, row["source"], question, row[question]))
    return pd.DataFrame(answers, columns=list(ANNOTATION_COLUMNS), dtype=str)


def with_judgments(stories: pd.DataFrame, rows: Sequence[Draft]) -> pd.DataFrame:
    """The stories, with `negative_judgment` filled in where it was empty and a model gave one.

    rows: the results of the step `judgment`. Of several judgments of a story, the shortest counts,
    as in the paper; of equally short ones, the one that comes first in `rows`.
    """
    shortest: dict[str, str] = {}
    for row in sorted(rows, key=lambda row: len(row["negative_judgment"])):
        shortest.setdefault(row["story_id"], row["negative_judgment"])
    words = [shortest.get(story_id, "") for story_id in stories["story_id"]]
    judgments = stories["negative_judgment"]
    return stories.assign(negative_judgment=judgments.where(judgments != "", words))
