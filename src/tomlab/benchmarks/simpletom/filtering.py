"""SimpleToM's quality control: annotations, the strict filter and counts (Sec. 3.2, App. D, E.2).

An annotation table has one row an answer: `ANNOTATION_COLUMNS`.
"""

import re
from collections.abc import Mapping
from pathlib import Path

import krippendorff
import numpy as np
import pandas as pd

from tomlab.benchmarks.simpletom.stories import format_problems
from tomlab.errors import InputError, refuse
from tomlab.records.files import read_rows
from tomlab.scoring.embeddings import near_duplicates
from tomlab.scoring.stats import agreement, cluster_interval

ANNOTATION_COLUMNS = ("story_id", "annotator", "annotator_kind", "question", "answer")
KEY_COLUMNS = ("story_id", "question", "acceptable")
# The four questions of Fig. 8 with their answers, the worst first.
QUESTIONS = {
    "different_from_commonsense": ("no", "possibly", "yes"),
    "unlikely_noticed": ("no", "possibly", "yes"),
    "action_unaware": ("no", "yes"),
    "action_aware": ("no", "yes"),
}
ANNOTATORS = 3  # App. D.4
VERDICTS = ("valid", "invalid", "unannotated")
ALL_STORIES = "All stories"


def read_annotations(path: Path | str, known_stories: set[str]) -> pd.DataFrame:
    """An annotations file: CSV with `ANNOTATION_COLUMNS`, one row an answer; it may have no row.

    annotator_kind: `human` or `llm:<model>`, said by the file, never assumed.
    Errors: `InputError` with all bad rows at once, by line number.
    """
    rows, problems = read_rows(path, ANNOTATION_COLUMNS)
    for number, row in rows:
        problems += [f"row {number}, {what}" for what in _faults(row, known_stories)]
    refuse(problems + _conflicts(rows), str(path))
    answers = [row for _, row in rows]
    return pd.DataFrame(answers, columns=list(ANNOTATION_COLUMNS), dtype=str)


def _faults(row: Mapping[str, str], known_stories: set[str]) -> list[str]:
    found = []
    if row["story_id"] not in known_stories:
        found.append(f"field story_id: no story {row['story_id']!r}")
    if not row["annotator"].strip():
        found.append("field annotator: found nothing")
    if not re.fullmatch(r"human|llm:\S+", row["annotator_kind"]):
        kind = row["annotator_kind"]
        found.append(f"field annotator_kind: found {kind!r}, expected human or llm:<model>")
    return found + _unasked(row["question"], [row["answer"]], "answer")


def _unasked(question: str, answers: list[str], field: str) -> list[str]:
    """Faults of a question that is none of the four, or of answers that it does not have."""
    if question not in QUESTIONS:
        return [f"field question: found {question!r}, expected {', '.join(QUESTIONS)}"]
    allowed = QUESTIONS[question]
    expected = ", ".join(reversed(allowed))
    return [f"field {field}: found {a!r}, expected {expected}" for a in answers if a not in allowed]


def _conflicts(rows: list[tuple[int, dict[str, str]]]) -> list[str]:
    """Rows that contradict an earlier one: a question answered twice, an annotator of two kinds."""
    first, kinds, found = {}, {}, []
    for number, row in rows:
        who, story, question = row["annotator"], row["story_id"], row["question"]
        earlier = first.setdefault((who, story, question), number)
        if earlier != number:
            found.append(
                f"row {number}: {who!r} answers {question} of {story!r} twice (row {earlier})"
            )
        kind = kinds.setdefault(who, row["annotator_kind"])
        if kind != row["annotator_kind"]:
            found.append(f"row {number}: {who!r} is {row['annotator_kind']}, before {kind}")
    return found


def of_kind(annotations: pd.DataFrame, kind: str) -> pd.DataFrame:
    """The annotations of people (kind "human") or of models (kind "llm")."""
    return annotations[annotations["annotator_kind"].str.split(":").str[0] == kind]


def valid(
    stories: pd.DataFrame,
    annotations: pd.DataFrame,
    annotators: int = ANNOTATORS,
    *,
    kind: str = "human",
) -> pd.DataFrame:
    """The rule of App. D.4: one row a story, `story_id, annotators, status, reason`.

    invalid: some annotator answered "no" to some question; valid: none did, and at least
    `annotators` of them answered all four; unannotated: anything else. Only annotators of `kind`
    ("human" or "llm") count: people and models never add up to three.
    annotators (column): how many answered all four questions.
    """
    counted = of_kind(annotations, kind)
    by_story = dict(list(counted.groupby("story_id")))
    rows = [
        {"story_id": i, **_verdict(by_story.get(i, counted.iloc[:0]), annotators)}
        for i in stories["story_id"]
    ]
    return pd.DataFrame(rows, columns=["story_id", "annotators", "status", "reason"])


def _verdict(answers: pd.DataFrame, annotators: int) -> dict:
    answered = answers.groupby("annotator")["question"].nunique()
    complete = int((answered == len(QUESTIONS)).sum())
    said_no = answers[answers["answer"] == "no"]
    against = [f"{row.question}: no by {row.annotator}" for row in said_no.itertuples()]
    short = f"{complete} of {annotators} annotators answered all {len(QUESTIONS)} questions"
    if against:
        status, reason = "invalid", "; ".join(against)
    elif complete >= annotators:
        status, reason = "valid", ""
    else:
        status, reason = "unannotated", short
    return {"annotators": complete, "status": status, "reason": reason}


def qualification(annotations: pd.DataFrame, key: pd.DataFrame) -> pd.DataFrame:
    """App. D.2: who gave an acceptable answer to everything in the key.

    key: `KEY_COLUMNS`, `acceptable` with the answers separated by |. Returns one row an annotator:
    `annotator, annotator_kind, passed, missed`. A question left open counts as missed.
    """
    _check_key(key)
    given = annotations.set_index(["annotator", "story_id", "question"])["answer"].to_dict()
    rows = []
    who = ["annotator", "annotator_kind"]
    for annotator, kind in annotations[who].drop_duplicates().itertuples(index=False):
        missed = []
        for wanted in key.itertuples():
            answer = given.get((annotator, wanted.story_id, wanted.question), "nothing")
            if answer not in wanted.acceptable.split("|"):
                missed.append(
                    f"{wanted.story_id} {wanted.question}: {answer}, not {wanted.acceptable}"
                )
        rows.append([annotator, kind, not missed, "; ".join(missed)])
    return pd.DataFrame(rows, columns=[*who, "passed", "missed"])


def _check_key(key: pd.DataFrame) -> None:
    if missing := [name for name in KEY_COLUMNS if name not in key]:
        raise InputError(f"answer key: missing columns {', '.join(missing)}")
    if key.empty:
        raise InputError("answer key: no row in it, so everybody would pass")
    problems = [
        f"{row.story_id}, {what}"
        for row in key.itertuples()
        for what in _unasked(row.question, row.acceptable.split("|"), "acceptable")
    ]
    doubled = key[key.duplicated(["story_id", "question"])]
    problems += [f"{row.story_id}: {row.question} stands twice" for row in doubled.itertuples()]
    refuse(problems, "answer key")


def agreement_report(
    annotations: pd.DataFrame, *, resamples: int = 2000, seed: int = 0
) -> pd.DataFrame:
    """Agreement on each question, people (`human`) and models (`llm`) apart.

    One row a kind and question: annotators; stories that two or more of them annotated; the share
    of those on which all agree; Krippendorff's alpha (ordinal where there are three answers, else
    nominal) with a percentile interval from resampling stories, nan where resampling cannot move
    it.
    """
    rows = []
    for kind in ("human", "llm"):
        part = of_kind(annotations, kind)
        for question, answers in QUESTIONS.items():
            here = part[part["question"] == question]
            if here.empty:
                continue
            codes = here.assign(code=here["answer"].map(answers.index))
            wide = codes.pivot(index="story_id", columns="annotator", values="code")
            level = "ordinal" if len(answers) > 2 else "nominal"
            found = agreement(wide, level)
            low, high = _alpha_interval(wide, level, resamples, seed)
            rows.append(
                {"kind": kind, "question": question, "annotators": wide.shape[1]}
                | {"stories": found["units"], "percent_agreement": found["percent_agreement"]}
                | {"level": level, "alpha": found["alpha"], "ci_low": low, "ci_high": high}
            )
    columns = ["kind", "question", "annotators", "stories", "percent_agreement", "level", "alpha"]
    return pd.DataFrame(rows, columns=[*columns, "ci_low", "ci_high"])


def _alpha_interval(
    wide: pd.DataFrame, level: str, resamples: int, seed: int
) -> tuple[float, float]:
    rated = wide[wide.notna().sum(axis=1) >= 2].to_numpy(float)
    if len(rated) == 0:
        return float("nan"), float("nan")
    # How often each answer was given to each story: all that alpha needs.
    counts = np.stack([(rated == code).sum(axis=1) for code in np.unique(wide.stack())], axis=1)
    rng = np.random.default_rng(seed)
    drawn = (counts[rng.integers(len(counts), size=len(counts))] for _ in range(resamples))
    # A sample in which all answers are alike has no alpha.
    alphas = [
        krippendorff.alpha(value_counts=sample, level_of_measurement=level)
        for sample in drawn
        if np.count_nonzero(sample.sum(axis=0)) > 1
    ]
    if not alphas or np.ptp(alphas) == 0:
        return float("nan"), float("nan")
    low, high = np.percentile(alphas, [2.5, 97.5])
    return float(low), float(high)


def screen(stories: pd.DataFrame) -> pd.DataFrame:
    """Every fault of form of every story: `story_id, source, filter, reason, dropped`.

    Released stories are reported and never dropped: without them it would be another benchmark.
    """
    rows = [
        {"story_id": story["story_id"], "source": story["source"], "filter": "format"}
        | {"reason": problem, "dropped": not story["source"].startswith("released:")}
        for story in stories.to_dict("records")
        for problem in format_problems(story)
    ]
    table = pd.DataFrame(rows, columns=["story_id", "source", "filter", "reason", "dropped"])
    return table.astype({"dropped": bool})


def duplicates(stories: pd.DataFrame, vectors: np.ndarray, threshold: float) -> pd.DataFrame:
    """Sets of entities whose base story tells another set's again, as faults like `screen`'s.

    vectors: one a row of `base_stories(stories)`. All stories of such a set are at fault.
    """
    base = base_stories(stories)
    again = {
        base["set_id"][row]: f"cosine {cosine:.3f} to {base['story_id'][earlier]}"
        for row, earlier, cosine in near_duplicates(vectors, threshold)
    }
    found = stories[stories["set_id"].isin(again)]
    return pd.DataFrame(
        {
            "story_id": found["story_id"],
            "source": found["source"],
            "filter": "near-duplicate",
            "reason": found["set_id"].map(again),
            "dropped": ~found["source"].str.startswith("released:"),
        }
    )


def base_stories(stories: pd.DataFrame) -> pd.DataFrame:
    """One story a set: the middle severity where there is one."""
    order = stories.assign(distance=(stories["severity"] - 2).abs())
    first = order.sort_values("distance", kind="stable").drop_duplicates("set_id").sort_index()
    return first.drop(columns="distance").reset_index(drop=True)


def kept(stories: pd.DataFrame, faults: pd.DataFrame) -> pd.DataFrame:
    """The stories that no filter drops."""
    return stories[~_dropped(stories, faults)].reset_index(drop=True)


def _dropped(stories: pd.DataFrame, faults: pd.DataFrame) -> pd.Series:
    return stories["story_id"].isin(faults.loc[faults["dropped"], "story_id"])


def kept_share(
    stories: pd.DataFrame,
    faults: pd.DataFrame,
    by: str,
    *,
    resamples: int = 2000,
    seed: int = 0,
) -> pd.DataFrame:
    """The share of stories that no filter drops, by `scenario`, `severity` or `source`.

    Columns: `by`, stories, sets, kept, share, ci_low, ci_high, ci_method. Stories of one set of
    entities stand or fall together more often than not, so whole sets are resampled.
    """
    survives = ~_dropped(stories, faults)
    rows = []
    for value, part in stories.groupby(by, sort=False):
        left = survives[part.index]
        share = cluster_interval(left, part["set_id"], resamples=resamples, seed=seed)
        rows.append(
            {by: value, "stories": share.n, "sets": share.n_groups, "kept": int(left.sum())}
            | {"share": share.value, "ci_low": share.ci_low, "ci_high": share.ci_high}
            | {"ci_method": share.ci_method}
        )
    columns = [by, "stories", "sets", "kept", "share", "ci_low", "ci_high", "ci_method"]
    return pd.DataFrame(rows, columns=columns)


def table8(stories: pd.DataFrame) -> pd.DataFrame:
    """Table 8: stories and distinct entities by scenario, the largest first, and a total row.

    Columns: scenario, stories, unique_x, unique_z, unique_y; the last is missing where no story has
    a person Y. Entities that differ in case or spacing alone are one.
    """
    rows = [_counts(name, part) for name, part in stories.groupby("scenario", sort=False)]
    rows.sort(key=lambda row: -row["stories"])
    table = pd.DataFrame([*rows, _counts(ALL_STORIES, stories)])
    return table.astype({"unique_y": "Int64"})


def _counts(scenario: str, stories: pd.DataFrame) -> dict:
    distinct = {
        name: len({" ".join(text.casefold().split()) for text in stories[name] if text.strip()})
        for name in ("person_x", "object_z", "person_y")
    }
    return {
        "scenario": scenario,
        "stories": len(stories),
        "unique_x": distinct["person_x"],
        "unique_z": distinct["object_z"],
        "unique_y": distinct["person_y"] or None,
    }
