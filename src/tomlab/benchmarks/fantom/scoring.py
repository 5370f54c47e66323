"""FANToM's verdicts: from responses to scores, one rule a question type (Sec. 3.4, App. A.4)."""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from tomlab.benchmarks.fantom.items import LETTERS
from tomlab.benchmarks.fantom.reading import (
    IRRELEVANT,
    NO,
    YES,
    answer_text,
    named,
    names_option,
    says_both,
    token_f1,
    yes_or_no,
)
from tomlab.models.specs import ModelSpec
from tomlab.records.tables import check
from tomlab.scoring.answers import failed, pairs, unanswered
from tomlab.scoring.embeddings import MINILM, embed

SCORED = ("short", "short-cot", "full", "full-cot")
REASONING = ("short-reasoning", "full-reasoning")
# Sentence encoders read the beginning of a text; the released one stops after 128 tokens.
_EMBEDDED_CHARACTERS = 600
_CONDITIONS = ("group_id", "source", "question_type", "part_id", "conversation_id", "tom_order")
_CONDITIONS += ("character",)


def score(
    items: pd.DataFrame, responses: pd.DataFrame, *, embedder: ModelSpec = MINILM
) -> pd.DataFrame:
    """One row a response, with `outcome`, `score` and the item's conditions.

    The verdict is the release's; `score` is 1 where it says right, and token F1 for facts. Where it
    says wrong, `outcome` tells answers without a readable verdict apart. `scenario` is that of the
    method's context, `is_yes` the key of yes/no questions. Details: `word_overlap` (beliefs: token
    F1 with the nearer answer), `yn` (1, 0, -1), `excluded_aware`, `included_unaware`, `named`
    (lists), and `doubtful`: the rule credits an answer that also names the other option, declines,
    or was cut off.

    embedder: for BeliefQ[Dist.]; the release's is all-roberta-large-v1. The responses of the first
    calls of chain of thought have no verdict and are left out.
    Errors: `InputError` for responses to unknown items or with an unknown method.
    """
    both = pairs(items, responses, (*SCORED, *REASONING))
    both = [(item, response) for item, response in both if response["method"] in SCORED]
    nearer = _nearer([pair for pair in both if pair[0]["question_type"] == "belief_dist"], embedder)
    rows = [
        _scored(item, response, nearer.get((response["item_id"], _said(response)), False))
        for item, response in both
    ]
    return check(pd.DataFrame(rows), "scores", "fantom scores")


def embedded_part(text: str) -> str:
    """What an encoder is given of a text: its beginning, and of an empty one a mark."""
    return text[:_EMBEDDED_CHARACTERS] or "-"


def _said(response: Mapping) -> str:
    return "" if failed(response) else answer_text(response["response"])[0]


def _nearer(both: Sequence[tuple[Mapping, Mapping]], embedder: ModelSpec) -> dict:
    """Whether each answer, by item and text, is nearer to the right belief than to the other.

    An answer that is one of the two word by word is nearest to that: no encoder has to say so.
    """
    found, asked = {}, []
    for item, response in both:
        said, right, wrong = _said(response), item["answer"], item["wrong_answer"]
        if said in (right, wrong):
            found[item["item_id"], said] = said == right != wrong
        elif said:
            asked.append((item, said))
    if not asked:
        return found
    texts = [
        embedded_part(text)
        for item, said in asked
        for text in (said, item["answer"], item["wrong_answer"])
    ]
    vectors = embed(texts, embedder).reshape(len(asked), 3, -1)
    right, wrong = (np.einsum("id,id->i", vectors[:, 0], vectors[:, k]) for k in (1, 2))
    keys = [(item["item_id"], said) for item, said in asked]
    return found | dict(zip(keys, (right > wrong).tolist(), strict=True))


def _scored(item: Mapping, response: Mapping, nearer: bool) -> dict:
    full = response["method"].startswith("full")
    details = {
        "word_overlap": float("nan"),
        "yn": IRRELEVANT,
        "excluded_aware": False,
        "included_unaware": False,
        "named": [],
        "doubtful": False,
    }
    if failed(response):
        outcome, credit = "error", 0.0
        details["excluded_aware"] = item["question_type"].endswith("_list")
    else:
        text, open_thought = answer_text(response["response"])
        ended = (text, response["finish_reason"], open_thought)
        verdict = _VERDICTS[item["question_type"].rpartition("_")[2]]
        outcome, credit, more = verdict(item, ended, nearer)
        details |= more
        if outcome == "correct":
            details["doubtful"] |= unanswered(*ended) != "unparsed"
    return {
        **{name: response[name] for name in ("item_id", "model", "method", "sample")},
        **{name: item[name] for name in _CONDITIONS},
        "scenario": item["full_scenario" if full else "scenario"],
        "is_yes": item["question_type"].endswith("_yn") and item["answer"] == "yes",
        "outcome": outcome,
        "score": credit,
        **details,
        "completion_tokens": response["completion_tokens"],
    }


def _fact(item: Mapping, ended: tuple, nearer: bool) -> tuple[str, float, dict]:
    """Token F1 with the full answer, in lower case; any shared word earns its share."""
    overlap = token_f1(item["answer"].lower(), ended[0].lower())
    return ("correct" if overlap else _lost(ended), overlap, {"word_overlap": overlap})


def _dist(item: Mapping, ended: tuple, nearer: bool) -> tuple[str, float, dict]:
    """Nearer to PersonX's belief than to the omniscient one."""
    overlap = token_f1(item["answer" if nearer else "wrong_answer"], ended[0])
    return ("correct" if nearer else _lost(ended), float(nearer), {"word_overlap": overlap})


def _choice(item: Mapping, ended: tuple, nearer: bool) -> tuple[str, float, dict]:
    right = LETTERS[list(item["choices"]).index(item["answer"])]
    other = LETTERS[1 - LETTERS.index(right)]
    is_right, is_other = names_option(ended[0], right), names_option(ended[0], other)
    if is_right:
        return "correct", 1.0, {"doubtful": is_other}
    return ("wrong" if is_other else unanswered(*ended)), 0.0, {}


def _list(item: Mapping, ended: tuple, nearer: bool) -> tuple[str, float, dict]:
    """Every aware name and no unaware one."""
    found = named(ended[0], [*item["aware"], *item["unaware"], *item["characters"]])
    excluded = any(name.lower() not in found for name in item["aware"])
    included = any(name.lower() in found for name in item["unaware"])
    details = {"excluded_aware": excluded, "included_unaware": included, "named": found}
    if not (excluded or included):
        return "correct", 1.0, details
    return ("wrong" if found and ended[1] != "length" else unanswered(*ended)), 0.0, details


def _yn(item: Mapping, ended: tuple, nearer: bool) -> tuple[str, float, dict]:
    said = yes_or_no(ended[0])
    details = {"yn": said, "doubtful": said == YES and says_both(ended[0])}
    if said == (YES if item["answer"] == "yes" else NO):
        return "correct", 1.0, details
    details["doubtful"] = False
    return ("wrong" if said != IRRELEVANT else unanswered(*ended)), 0.0, details


def _lost(ended: tuple) -> str:
    """The outcome of free text that earns nothing: wrong, if it is a finished answer at all."""
    outcome = unanswered(*ended)
    return "wrong" if outcome == "unparsed" and ended[0] else outcome


_VERDICTS = {"fact": _fact, "dist": _dist, "choice": _choice, "list": _list, "yn": _yn}
