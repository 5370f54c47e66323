"""SimpleToM's quality control: annotations, the strict filter and counts (Sec. 3.2, App. D, E.2).

An annotation table has one row an answer: `ANNOTATION_COLUMNS`.
"""

import numpy as np
import pandas as pd
import pandera.pandas as pa

from tomlab.benchmarks.simpletom.items.stories import BASE, format_problems
from tomlab.records import files
from tomlab.scoring.embeddings import near_duplicates
from tomlab.scoring.kept import is_released

ANNOTATORS = 3
ANNOTATION_COLUMNS = ("story_id", "annotator", "annotator_kind", "question", "answer")
# The four questions of Fig. 8 with the answers allowed, from worst to best.
QUESTIONS = {
    "different_from_commonsense": ("no", "possibly", "yes"),
    "unlikely_noticed": ("no", "possibly", "yes"),
    "action_unaware": ("no", "yes"),
    "action_aware": ("no", "yes"),
}


def annotations_form(known_stories: set[str] | None = None) -> pa.DataFrameSchema:
    """The schema of a file of annotations, one row an answer; `annotator_kind` says whether a
    person or a model gave it. known_stories: the story ids that are allowed; any if None.
    """
    return pa.DataFrameSchema(
        {
            "story_id": files.known(known_stories, "story"),
            "annotator": files.person("annotator_kind"),
            "annotator_kind": files.person_kind(),
            "question": files.one_of(QUESTIONS),
            "answer": files.one_of_each("question", QUESTIONS),
        },
        unique=["annotator", "story_id", "question"],
        strict="filter",
    )


def valid(stories: pd.DataFrame, annotations: pd.DataFrame) -> pd.DataFrame:
    """The rule of App. D.4: one row a story, `story_id, annotators, reason, status`.

    invalid: somebody answered "no" to some question; valid: nobody did, and at least three people
    answered all four; unannotated: anything else. Models never count.
    """
    people = annotations[annotations["annotator_kind"] == "human"]
    no = people[people["answer"] == "no"]
    objections = no["question"] + ": no by " + no["annotator"]
    reasons = objections.groupby(no["story_id"]).agg("; ".join)
    answers = people.groupby(["story_id", "annotator"]).size()
    complete = answers[answers == len(QUESTIONS)].groupby("story_id").size()
    story_ids = stories["story_id"]
    verdicts = pd.DataFrame(
        {
            "annotators": complete.reindex(story_ids, fill_value=0),
            "reason": reasons.reindex(story_ids, fill_value=""),
            "status": "unannotated",
        }
    )
    verdicts.loc[verdicts["annotators"] >= ANNOTATORS, "status"] = "valid"
    verdicts.loc[verdicts["reason"] != "", "status"] = "invalid"
    return verdicts.reset_index()


def screen(stories: pd.DataFrame, vectors: np.ndarray, threshold: float) -> pd.DataFrame:
    """Every fault of every story, one a row: `story_id, source, filter, reason, dropped`.

    vectors: one embedding for each row of `base_stories(stories)`. If the cosine of two shows that
    a base story repeats an earlier one (threshold), all stories of its set are at fault. Faults of
    released stories are reported, but these stories are never dropped.
    """
    base = base_stories(stories)
    reason_of_set = {}
    for row, earlier, cosine in near_duplicates(vectors, threshold):
        reason_of_set[base["set_id"][row]] = f"cosine {cosine:.3f} to {base['story_id'][earlier]}"
    problems = [format_problems(story) for story in stories.to_dict("records")]
    form = stories.assign(filter="format", reason=problems).explode("reason")
    alike = stories.assign(filter="near-duplicate", reason=stories["set_id"].map(reason_of_set))
    faults = pd.concat([form, alike]).dropna(subset="reason", ignore_index=True)
    faults["dropped"] = ~is_released(faults["source"])
    return faults[["story_id", "source", "filter", "reason", "dropped"]]


def base_stories(stories: pd.DataFrame) -> pd.DataFrame:
    """One story for each set: that of middle severity, if the set has it."""
    order = stories.sort_values("severity", key=lambda n: (n - BASE).abs(), kind="stable")
    return order.drop_duplicates("set_id").sort_index().reset_index(drop=True)
