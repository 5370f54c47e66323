"""FANToM: is a free answer nearer to PersonX's belief or to the omniscient one (Sec. 3.4)?

BeliefQ[Dist.] is judged by a distance. Here distances are held against answers known by
construction: both beliefs of an item reworded by listed operations, the operation being the label.
Nobody judged these answers; their column `source` says so.
"""

import random
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from tomlab.benchmarks.fantom_answers import answer_text, token_f1
from tomlab.benchmarks.fantom_scores import REASONING, SCORED, embedded_part
from tomlab.benchmarks.omnitom_calibration import KNOWN
from tomlab.constructed import balanced
from tomlab.errors import InputError
from tomlab.judging import CrossValidated, cross_validated
from tomlab.scoring import failed, pairs
from tomlab.stats import cluster_interval

TOKEN_F1 = "token_f1"
PAPERS_MARGIN = 0.0  # nearer to the right belief than to the other, by however little
MARGINS = tuple(n / 100 for n in range(-20, 21, 2))  # to see what a margin does

# ---- Answers known by construction ---------------------------------------------------------------

_NAME = r"[^\W\d_][\w-]*"
_LEAD = rf"(?:(?P<over>{_NAME}) (?:believes|thinks)(?: that)? )?(?P<who>{_NAME}) "
_UNAWARE = re.compile(
    _LEAD + r"(?:does not know(?: anything)? about|is (?:unaware|not aware) of"
    r"|(?:has no|does not have any) (?:information|knowledge) (?:about|of|on)) (?P<topic>.+?)\.?"
)
_KNOWING = re.compile(_LEAD + r"(?:believes|thinks|knows)(?: that)? (?P<claim>.+?)\.?")


@dataclass(frozen=True)
class _Case:
    """The two beliefs of an item, taken apart.

    over: whose belief about PersonX's is asked (second order), "" in the first order; who: PersonX;
    topic: what PersonX may not know about; claim: what PersonX believes who knows; fact: the full
    answer to the fact question; value: the words of it that the question lacks; other: the claim
    with another value, "" where no other item has one. unaware: PersonX knows nothing in truth.
    """

    over: str
    who: str
    topic: str
    claim: str
    fact: str
    value: str
    other: str
    unaware: bool
    draw: random.Random

    def say(self, *wordings: str) -> str:
        """One of the wordings as a sentence, under "… believes that" in the second order."""
        lead = f"{self.over} believes that " if self.over else ""
        return lead + self.plainly(*wordings)

    def plainly(self, *wordings: str) -> str:
        """One of the wordings, as it stands."""
        return self.draw.choice(wordings).format(
            who=self.who,
            topic=self.topic,
            claim=self.claim,
            Claim=_capital(self.claim),
            other=self.other,
            fact=self.fact.rstrip("."),
            value=_capital(self.value),
        )


_CONTEXT = (
    "People come and go in this conversation. {}",
    "Looking at who was there when, I would say this: {}",
    "{} That is what follows from the conversation above.",
    "The others talk about a number of things. {} Later they turn to something else.",
)
# What is made of the belief of somebody who knows nothing; None: not of this one.
UNAWARE: dict[str, Callable[[_Case], str | None]] = {
    "as it stands": lambda c: c.say("{who} does not know anything about {topic}."),
    "has no idea": lambda c: c.say(
        "{who} has no idea about {topic}.",
        "{who} does not have the slightest idea about {topic}.",
        "{who} is completely in the dark about {topic}.",
    ),
    "was not told": lambda c: c.say(
        "{who} was not told about {topic}.",
        "nobody has told {who} about {topic}.",
        "{who} has heard nothing about {topic}.",
    ),
    "could not say": lambda c: c.say(
        "{who} could not say anything about {topic}.",
        "{who} would not be able to answer that, let alone say anything about {topic}.",
    ),
    "was away": lambda c: c.say(
        "{who} would not know about {topic}, since {who} was away when it came up.",
        "{who} missed what was said about {topic}, and so holds no belief about it.",
    ),
    "quoted": lambda c: c.say(
        '{who} would say: "I was not there, so I do not know."',
        'if asked, {who} would answer: "I have no idea what you are talking about."',
        '{who} would say: "Sorry, I must have missed that."',
    ),
    "more sentences": lambda c: _in_context(c, "{who} has no knowledge of {topic}."),
    # The value stands in the answer, and PersonX does not believe it for all that.
    "fact told": lambda c: c.plainly("{fact}. ") + c.say("{who} did not hear of it, though."),
    "fragment": lambda c: c.plainly("No idea.", "Nothing.", "{who} does not know.", "Unknown."),
}
# The same for the belief of somebody who was there. "other value": an omniscient belief in kind.
KNOWING: dict[str, Callable[[_Case], str | None]] = {
    "as it stands": lambda c: c.say("{who} believes that {claim}."),
    "other verb": lambda c: c.say(
        "{who} thinks that {claim}.",
        "{who} is of the opinion that {claim}.",
        "{who} is sure that {claim}.",
    ),
    "knows": lambda c: c.say("{who} knows that {claim}.", "{who} is aware that {claim}."),
    "was told": lambda c: c.say(
        "{who} was told that {claim}.",
        "{who} has heard that {claim}.",
        "{who} has picked up that {claim}.",
    ),
    "would answer": lambda c: c.say(
        "{who}, if asked, would answer that {claim}.",
        "{who} would not hesitate to say that {claim}.",
    ),
    "quoted": lambda c: c.say('{who} would say: "{Claim}."', '{who} would answer: "{Claim}."'),
    "more sentences": lambda c: _in_context(c, "{who} is convinced that {claim}."),
    # Absence is spoken of, and PersonX believes the fact for all that.
    "absence told": lambda c: (
        c.plainly("{who} was away for a while. ") + c.say("{who} does know that {claim}, though.")
    ),
    "other value": lambda c: (
        c.say("{who} believes that {other}.") if c.other and c.unaware else None
    ),
    "fragment": lambda c: c.plainly("{value}.", "{fact}.") if c.value else None,
}


def _in_context(case: _Case, wording: str) -> str:
    return case.draw.choice(_CONTEXT).format(_capital(case.say(wording)))


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def constructed(items: pd.DataFrame, n: int, seed: int) -> pd.DataFrame:
    """n answers known by construction: `unit, group` (conversation), `item_id, text, truth,
    operation, scenario, source`.

    truth: whether the answer is PersonX's belief, the item's right answer; in the inaccessible
    scenario that PersonX knows nothing, in the accessible one that PersonX knows. Halves of both
    scenarios, if both are there, and operations (`UNAWARE`, `KNOWING`) as equally as items allow.
    "other value" takes a value that another item gives to the same question; it is the omniscient
    belief in kind, and in the accessible scenario neither, so it is not used there. Items are left
    out whose two beliefs are not of the forms "X does not know anything about …" and "X believes
    that …". Errors: `InputError` if so many cannot be made.
    """
    draw = random.Random(f"fantom-distance/{seed}")
    asked = items[items["question_type"] == "belief_dist"].to_dict("records")
    values = _values(asked)
    rows = [row for item in asked for row in _rewritten(item, values, draw)]
    if not rows:
        raise InputError("distance: found no belief items of the forms that can be reworded")
    draw.shuffle(rows)
    made = pd.DataFrame(rows).drop_duplicates(["item_id", "text"])
    return balanced(made, n, ["truth", "scenario"])


def _rewritten(item: Mapping, values: Mapping, draw: random.Random) -> Iterator[dict]:
    case = _taken_apart(item, values, draw)
    if case is None:
        return
    for unaware, operations in ((True, UNAWARE), (False, KNOWING)):
        for operation, make in operations.items():
            truth = unaware == case.unaware
            if text := make(case):
                yield {
                    "unit": f"{item['item_id']}/{operation}/{truth}",
                    "group": item["conversation_id"],
                    "item_id": item["item_id"],
                    "text": _capital(text),
                    "truth": truth,
                    "operation": operation,
                    "scenario": item["scenario"],
                    "source": KNOWN,
                }


def _taken_apart(item: Mapping, values: Mapping, draw: random.Random) -> _Case | None:
    unaware = _UNAWARE.fullmatch(item["answer"]) is not None
    nothing, full = (item[key] for key in ("answer", "wrong_answer")[:: 1 if unaware else -1])
    missed, known = _UNAWARE.fullmatch(nothing), _KNOWING.fullmatch(full)
    if not (missed and known and missed.group("over", "who") == known.group("over", "who")):
        return None
    owner, question, answer = _template(item)
    others = sorted(values.get(question, set()) - {answer})
    other = draw.choice(others).format(owner).rstrip(".") if others else ""
    return _Case(
        over=missed["over"] or "",
        who=missed["who"],
        topic=missed["topic"],
        claim=known["claim"],
        fact=item["fact_answer"],
        value=_value(item["fact_question"], item["fact_answer"]),
        other=other,
        unaware=unaware,
        draw=draw,
    )


def _template(item: Mapping) -> tuple[str, str, str]:
    """The one speaker whom the fact question names, and question and answer with a gap there; ""
    for each where it names none or several.
    """
    speakers = set(re.findall(rf"^({_NAME}):", item["full_story"], re.MULTILINE))
    named = speakers & set(re.findall(_NAME, item["fact_question"]))
    texts = item["fact_question"], item["fact_answer"]
    if len(named) != 1 or any(mark in text for text in texts for mark in "{}"):
        return "", "", ""
    [owner] = named
    return owner, *(re.sub(rf"\b{re.escape(owner)}\b", "{}", text) for text in texts)


def _values(items: Sequence[Mapping]) -> dict[str, set[str]]:
    """The answers to each fact question, whomever it is about."""
    found: dict[str, set[str]] = {}
    for item in items:
        _, question, answer = _template(item)
        if question:
            found.setdefault(question, set()).add(answer)
    return found


def _akin(one: str, other: str) -> bool:
    short, long = sorted((one, other), key=len)
    return len(short) > 2 and long.startswith(short)


def _value(question: str, answer: str) -> str:
    """The longest run of words in the answer that the question lacks: "a golden retriever".

    A word of which the question has a beginning or a longer form is not lacking, as in "ask", "asks".
    """
    asked = [word.lower() for word in re.findall(r"[\w'’-]+", question)]
    runs: list[list[str]] = [[]]
    for word in answer.rstrip(".").split():
        own = word.lower()
        if any(own == w or _akin(own, w) for w in asked):
            runs.append([])
        else:
            runs[-1].append(word)
    return " ".join(max(runs, key=len))


# ---- Distances -----------------------------------------------------------------------------------


def texts_to_embed(table: pd.DataFrame, items: pd.DataFrame) -> list[str]:
    """The distinct texts that `distance_scores` needs vectors of.

    table: columns `item_id`, `text`, such as `constructed` or `answers`.
    """
    triples = [triple for triple in _triples(table, items) if triple[0]]
    return list(dict.fromkeys(embedded_part(text) for triple in triples for text in triple))


def distance_scores(
    table: pd.DataFrame, items: pd.DataFrame, vectors: Mapping[str, np.ndarray] | str
) -> pd.Series:
    """Likeness to the item's right answer less that to the wrong one, nan for an empty text.

    vectors: "token_f1" (of the words, in lower case), or for cosines a vector of length 1 for each
    of `texts_to_embed`. The index is that of `table`. Errors: `InputError` for texts without one.
    """
    triples = _triples(table, items)
    if isinstance(vectors, str):
        if vectors != TOKEN_F1:
            raise InputError(f"distance: found {vectors!r}, expected {TOKEN_F1!r} or vectors")
        alike = _word_overlap
    else:
        if missing := [t for t in texts_to_embed(table, items) if t not in vectors]:
            raise InputError(f"distance: no vector for {missing[0]!r} ({len(missing)} in all)")

        def alike(text: str, answer: str) -> float:
            return float(vectors[embedded_part(text)] @ vectors[embedded_part(answer)])

    scores = [
        alike(text, right) - alike(text, wrong) if text else np.nan
        for text, right, wrong in triples
    ]
    return pd.Series(scores, index=table.index, dtype=float)


def _word_overlap(text: str, answer: str) -> float:
    return token_f1(answer.lower(), text.lower())


def _triples(table: pd.DataFrame, items: pd.DataFrame) -> list[tuple[str, str, str]]:
    """Each text with the right and the wrong answer of its item."""
    both = items.set_index("item_id")[["answer", "wrong_answer"]].T.to_dict("list")
    if unknown := sorted(set(table["item_id"]) - set(both)):
        raise InputError(f"distance: no item {unknown[0]!r} ({len(unknown)} unknown in all)")
    return [(t, *both[i]) for t, i in zip(table["text"], table["item_id"], strict=True)]


def chosen_margin(table: pd.DataFrame, scores: pd.Series, folds: int) -> CrossValidated:
    """A margin chosen by cross-validation over conversations, by `judging.cross_validated`."""
    # Scores that differ by the last digits of a float are one level of likeness.
    known = table[["group", "unit", "truth"]].assign(score=scores.round(9).to_numpy())
    return cross_validated(known, folds)


def to_decisions(
    table: pd.DataFrame, scores: Mapping[str, pd.Series], folds: int | None = None
) -> pd.DataFrame:
    """The decisions of each candidate on `constructed` answers, for `judging`: `judge, group, unit,
    truth, decision`; missing where there is no score.

    scores: `distance_scores` by the candidate's name. Judges are "<name>, margin 0", the paper's
    rule, and with `folds` also "<name>, margin chosen", each answer judged by the margin of a fold
    without its conversation.
    """
    known = table[["group", "unit", "truth"]].reset_index(drop=True)
    parts = []
    for name, score in scores.items():
        decision = pd.array(score > PAPERS_MARGIN, dtype="boolean")
        decision[score.isna().to_numpy()] = pd.NA
        parts.append(known.assign(judge=f"{name}, margin 0", decision=decision))
        if folds is not None:
            found = chosen_margin(table, score, folds).decisions
            parts.append(found.assign(judge=f"{name}, margin chosen"))
    return pd.concat(parts, ignore_index=True)[["judge", *known, "decision"]]


# ---- What a margin does to a run -----------------------------------------------------------------


def answers(items: pd.DataFrame, responses: pd.DataFrame) -> pd.DataFrame:
    """A run's answers to BeliefQ[Dist.]: `unit, group` (conversation), `item_id, model, method,
    sample, scenario, text` ("" where there is none).

    Errors: `InputError` for responses to unknown items or with an unknown method.
    """
    rows = []
    for item, response in pairs(items, responses, (*SCORED, *REASONING)):
        if item["question_type"] != "belief_dist" or response["method"] in REASONING:
            continue
        key = {name: response[name] for name in ("item_id", "model", "method", "sample")}
        unit = {"unit": "/".join(map(str, key.values())), "group": item["conversation_id"]}
        text = "" if failed(response) else answer_text(response["response"])[0]
        rows.append(unit | key | {"scenario": item["scenario"], "text": text})
    columns = ["unit", "group", "item_id", "model", "method", "sample", "scenario", "text"]
    return pd.DataFrame(rows, columns=columns)


def margin_effect(
    answers: pd.DataFrame,
    scores: pd.Series,
    margins: Sequence[float] = MARGINS,
    resamples: int = 2000,
    seed: int = 0,
) -> pd.DataFrame:
    """How a run's accuracy in BeliefQ[Dist.] moves with the margin.

    answers: of this module; scores: their `distance_scores`. Columns: `model, method, scenario,
    margin, accuracy` (share of answers whose score is above the margin; an empty one's never is)
    with `ci_low, ci_high` from resampling conversations, `changed` (answers judged otherwise than
    at the paper's margin of 0), `n, n_groups`.
    """
    scored, rows = answers.assign(score=scores.to_numpy()), []
    names = ["model", "method", "scenario"]
    for keys, part in scored.groupby(names, sort=False):
        papers = part["score"] > PAPERS_MARGIN
        for margin in margins:
            right = part["score"] > margin
            found = cluster_interval(right, part["group"], resamples=resamples, seed=seed)
            values = (margin, found.value, found.ci_low, found.ci_high)
            rows.append((*keys, *values, int((right != papers).sum()), found.n, found.n_groups))
    values = ["margin", "accuracy", "ci_low", "ci_high", "changed", "n", "n_groups"]
    return pd.DataFrame(rows, columns=[*names, *values])
