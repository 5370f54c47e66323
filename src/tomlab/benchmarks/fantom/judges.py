"""FANToM: which belief a free answer is nearer to (Sec. 3.4), tested on answers of `rewordings`."""

from collections.abc import Mapping

import numpy as np
import pandas as pd

from tomlab.benchmarks.fantom.items.compose import METHODS
from tomlab.benchmarks.fantom.scoring import answer_text, token_f1
from tomlab.judging.people import KEY
from tomlab.judging.thresholds import CrossValidated, cross_validated
from tomlab.scoring.answers import failed, pairs


def distance_scores(
    table: pd.DataFrame, items: pd.DataFrame, vectors: Mapping[str, np.ndarray] | str
) -> pd.Series:
    """How much more each text resembles its item's right answer than the wrong one: the difference
    of two likenesses, nan for an empty text, with the index of `table`.

    table: columns `item_id` and `text`. vectors: "token_f1" to compare by token F1 in lower case,
    or, to compare by cosine, a vector of length 1 for every text and every answer.
    """

    beliefs = items.set_index("item_id").loc[table["item_id"], ["answer", "wrong_answer"]]
    scores = []
    for text, (right, wrong) in zip(table["text"], beliefs.to_numpy(), strict=True):
        score = _likeness(text, right, vectors) - _likeness(text, wrong, vectors)
        scores.append(score)
    return pd.Series(scores, index=table.index, dtype=float)


def _likeness(text: str, belief: str, vectors: Mapping[str, np.ndarray] | str) -> float:
    if not text:
        return np.nan
    if isinstance(vectors, str):
        return token_f1(belief.lower(), text.lower())
    return float(vectors[text] @ vectors[belief])


def chosen_margin(table: pd.DataFrame, scores: pd.Series, folds: int) -> CrossValidated:
    """The margin and decisions of `cross_validated`, with folds made of whole conversations.

    table: columns `group` (conversation), `unit` and `truth`, in the order of `scores`.
    """
    # Rounding makes scores equal that differ only by the error of floating-point arithmetic.
    levels = table[["group", "unit", "truth"]].assign(score=scores.round(9).to_numpy())
    return cross_validated(levels, folds)


def to_decisions(table: pd.DataFrame, scores: Mapping[str, pd.Series], folds: int) -> pd.DataFrame:
    """What each candidate decides about `constructed` answers: `judge, group, unit, truth,
    decision`. The decision is missing where the answer has no score.

    scores: `distance_scores` by the candidate's name. Each candidate gives two judges: "<name>,
    margin 0", the paper's rule, and "<name>, margin chosen", which judges each answer by a margin
    that was chosen without the answer's conversation.
    """
    labelled = table[["group", "unit", "truth"]].reset_index(drop=True)
    parts = []
    for name, score in scores.items():
        decision = (score > 0).astype("boolean").mask(score.isna()).array
        chosen = chosen_margin(table, score, folds).decisions
        parts.append(labelled.assign(judge=f"{name}, margin 0", decision=decision))
        parts.append(chosen.assign(judge=f"{name}, margin chosen"))
    return pd.concat(parts, ignore_index=True)[["judge", *labelled, "decision"]]


def answers(items: pd.DataFrame, responses: pd.DataFrame) -> pd.DataFrame:
    """A run's answers to BeliefQ[Dist.]: `unit, group` (conversation), `item_id, model, method,
    sample, scenario, text` ("" if there is no answer) and `read`, as in `judging.people`. `read` is
    true if the verdict needs no distance: the answer is empty or repeats one of the two beliefs
    word for word. Errors: those of `scoring.answers.pairs`.
    """
    rows = []
    for item, response in pairs(items, responses, METHODS):
        if item["question_type"] != "belief_dist":
            continue
        text = "" if failed(response) else answer_text(response["response"])[0]
        key = [response[name] for name in KEY]
        unit = "/".join(map(str, key))
        is_read = text in ("", item["answer"], item["wrong_answer"])
        rows.append((unit, item["conversation_id"], *key, item["scenario"], text, is_read))
    columns = ["unit", "group", *KEY, "scenario", "text", "read"]
    return pd.DataFrame(rows, columns=columns).astype({"read": bool})
