"""FANToM's verdicts: from responses to scores, by one rule per question type (Sec. 3.4, App. A.4).

The rules are those of the released code, quirks included, so that scores compare with the paper's.
An answer that a rule credits although a reader would doubt it is marked `doubtful`. A free answer
that was cut off earns nothing if more text could change its verdict.
"""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import chain, compress
from typing import NamedTuple

import numpy as np
import pandas as pd

from tomlab.asking import techniques
from tomlab.benchmarks.fantom.ignorance import states_ignorance
from tomlab.benchmarks.fantom.items.compose import KEYS, METHODS, is_list, is_yn
from tomlab.errors import InputError
from tomlab.models.specs import ModelSpec
from tomlab.records.tidy import SCORED
from tomlab.scoring import options
from tomlab.scoring.answers import failed, lost, pairs, unanswered
from tomlab.scoring.choices import named_by_text, table_of, was_read
from tomlab.scoring.embeddings import MINILM, beginnings, embed
from tomlab.scoring.run_on import before_next_question
from tomlab.scoring.visible import visible

YES = 1
NO = 0
IRRELEVANT = -1
# Which rule reads answers as yes or no: the released code's, or that of App. A.4 of the paper.
BY_RELEASE = "release"
BY_PAPER = "paper"


class Answer(NamedTuple):
    """The part of a response that is judged, and what is known about it."""

    text: str
    unread: str  # the outcome if no rule can read an answer from the text
    is_nearer: bool = False  # whether a free answer is nearer to the right belief
    is_cut: bool = False  # whether the encoder read only the beginning of it or of a belief
    lost: str = ""  # why there is no answer, if a request failed
    yes_no_as: str = BY_RELEASE  # which rule reads it as yes or no


def credit(item: Mapping, answer: Answer) -> float:
    """The credit for an answer: 1 or 0 by the rule of its question type, a token F1 for facts."""
    kind = item["question_type"]
    text = answer.text
    if answer.lost:
        return 0.0
    if kind == "fact":
        return token_f1(item["answer"].lower(), text.lower())
    if kind == "belief_dist":
        # Nearer to PersonX's belief than to the omniscient one.
        return float(answer.is_nearer)
    if kind == "belief_choice":
        # The right letter, whatever the answer says of the other one.
        return float(names_option(text, right_letter(item)))
    if is_list(kind):
        # The answer has every aware name and no unaware one, even if only as a part of a word.
        has_aware = all(name.lower() in text.lower() for name in item["aware"])
        has_unaware = any(name.lower() in text.lower() for name in item["unaware"])
        return float(has_aware and not has_unaware)
    # A yes/no question: the release's rule looks for signs of "yes" before signs of "no".
    right_sign = YES if item["answer"] == "yes" else NO
    return float(yes_or_no(text, answer.yes_no_as) == right_sign)


def right_letter(item: Mapping) -> str:
    """The letter of the right option of a question with options."""
    return KEYS[list(item["choices"]).index(item["answer"])]


_WHOSE = ("item_id", "model", "method", "sample", "asked_as")
_CONDITIONS = (
    "group_id",
    "source",
    "question_type",
    "part_id",
    "conversation_id",
    "tom_order",
    "character",
)
# The columns that only some question types fill, with the value that they have for all others.
_DETAILS = {
    "word_overlap": float("nan"),
    "yn": IRRELEVANT,
    "excluded_aware": False,
    "included_unaware": False,
    "named": [],
    "doubtful": False,
    "cut": False,
    "chosen": None,
    "by_statement": None,
}
# The outcome, a description of the rule that decided it, and the values for columns in `_DETAILS`.
Verdict = tuple[str, str, dict]


def _verdict(item: Mapping, answer: Answer, earned: float) -> Verdict:
    """The verdict on an answer. earned: the answer's `credit`."""
    kind = item["question_type"]
    if answer.lost:
        details = {"excluded_aware": is_list(kind)}
        if kind == "belief_dist":
            details["by_statement"] = False
        return answer.unread, answer.lost, details
    if kind == "fact":
        return _of_fact(answer, earned)
    if kind == "belief_dist":
        return _of_free_belief(item, answer, earned)
    if is_list(kind):
        return _of_list(item, answer, earned)
    if is_yn(kind):
        return _of_yes_or_no(answer, earned)
    return _of_choice(item, answer, earned)


def _of_fact(answer: Answer, earned: float) -> Verdict:
    """The verdict on a fact: even an answer that was cut off earns the F1 of its words so far."""
    details = {"word_overlap": earned}
    is_finished = answer.unread == "unparsed" and answer.text
    outcome = SCORED if earned or is_finished else answer.unread
    shared = "words" if earned else "no word"
    return outcome, f"shares {shared} with the right answer", details


def _of_free_belief(item: Mapping, answer: Answer, earned: float) -> Verdict:
    """The verdict by the nearer belief. If an answer was cut off, more text could change which one
    is nearer, so it is not counted as correct.
    """
    is_cut_off = answer.unread == "truncated"
    if earned and not is_cut_off:
        outcome = "correct"
    elif answer.unread == "unparsed" and answer.text:
        outcome = "wrong"
    else:
        outcome = answer.unread

    nearest = item["answer"] if earned else item["wrong_answer"]
    details = {
        "word_overlap": token_f1(nearest, answer.text),
        "cut": answer.is_cut,
        "chosen": nearest if answer.text else None,
        "by_statement": _by_statement(item, answer, outcome),
    }
    if earned:
        rule = "nearer to the right belief than to the other"
    elif answer.text:
        rule = "not nearer to the right belief than to the other"
    else:
        rule = "says nothing"
    return outcome, rule, details


def _by_statement(item: Mapping, answer: Answer, outcome: str) -> bool | None:
    """Whether a free answer is right by the second reading. An answer that states ignorance is
    right in the inaccessible scenario; any other is right if its outcome is "correct". None if the
    second reading cannot decide (see `states_ignorance`).
    """
    text = answer.text
    if answer.unread == "truncated":
        # Only whole sentences are read: no further text could have changed them.
        text = re.sub(r"[^.!?]*\Z", "", text)
    is_stated = states_ignorance(item, text)
    if is_stated is None:
        return None
    if is_stated:
        return item["scenario"] == "inaccessible"
    return outcome == "correct"


def _of_choice(item: Mapping, answer: Answer, earned: float) -> Verdict:
    [other_letter] = set(KEYS) - {right_letter(item)}
    is_other = names_option(answer.text, other_letter)
    if earned and is_other:
        return "correct", "names both options, which counts", {"doubtful": True, "chosen": None}
    if earned:
        details = {"doubtful": False, "chosen": item["answer"]}
        return "correct", "names the right option", details
    if is_other:
        return "wrong", "names the other option", {"chosen": item["wrong_answer"]}
    return answer.unread, "names no option", {}


def _of_list(item: Mapping, answer: Answer, earned: float) -> Verdict:
    details = _names_of_list(item, answer.text.lower())
    # Where nobody knows, the release credits an empty or refused answer, too.
    says_nothing = not answer.text or answer.unread == "refused"
    if not details["named"] and (says_nothing or not earned):
        return answer.unread, "has no name", details
    outcome = "correct" if earned else "wrong"
    # The missing text could have named an unaware person, if there is one.
    if answer.unread == "truncated" and (not earned or len(item["unaware"])):
        outcome = "truncated"
    return outcome, _RULES_OF_LISTS[details["excluded_aware"], details["included_unaware"]], details


def _names_of_list(item: Mapping, text: str) -> dict:
    """The values of those columns in `_DETAILS` that depend on the names in a lower-case text."""
    everybody = dict.fromkeys([*item["aware"], *item["unaware"], *item["characters"]])
    names = [name.lower() for name in everybody if name.lower() in text]
    return {
        "excluded_aware": any(name.lower() not in names for name in item["aware"]),
        "included_unaware": any(name.lower() in names for name in item["unaware"]),
        "named": names,
        "chosen": ", ".join(names) or None,
    }


# Keys: whether an aware name is missing from the answer, and whether an unaware one is in it.
_RULES_OF_LISTS = {
    (False, False): "has every aware name and no unaware one",
    (False, True): "has an unaware one",
    (True, False): "lacks an aware name",
    (True, True): "lacks an aware name and has an unaware one",
}


def _of_yes_or_no(answer: Answer, earned: float) -> Verdict:
    sign = yes_or_no(answer.text, answer.yes_no_as)
    if sign == IRRELEVANT:
        return answer.unread, "has no sign of yes or no", {}
    word = "yes" if sign == YES else "no"
    if answer.yes_no_as == BY_PAPER:
        signs = {match.lastgroup for match in _WORDS_OF_PAPER.finditer(answer.text)}
        has_both = len(signs) > 1
    else:
        has_both = sign == YES and _has_sign(answer.text, NO)
    rule = f"has signs of yes and of no: {word}" if has_both else f"reads as {word}"
    details = {"yn": sign, "doubtful": has_both, "chosen": word}
    return "correct" if earned else "wrong", rule, details


def score(
    items: pd.DataFrame,
    responses: pd.DataFrame,
    *,
    embedder: ModelSpec | None = MINILM,
    by_text: bool = False,
    yes_no_as: str = BY_RELEASE,
) -> pd.DataFrame:
    """One row per response: `outcome`, `score` (see `credit`), the item's conditions, `scenario`
    (of the context that the method shows) and `is_yes` (a yes/no question's right answer is yes).

    Readable facts have the outcome `scored`. Details: `word_overlap` (token F1 with the right fact
    or with the nearer belief), `yn` (1 yes, 0 no, -1 neither), `excluded_aware`,
    `included_unaware` and `named` (lists), `chosen` (what the answer says; None if it says nothing
    or names both options, and for facts), `doubtful` (the rule credits an answer that also names
    the other option, declines, or was cut off), `cut` (the encoder did not read all of the answer
    or of a belief), `by_released_rule` (the release's credit, which ignores whether the answer was
    cut off) and `by_statement` (see `_by_statement`).

    The model's thinking, and any further question that it asks itself, are removed before reading.
    The release reads everything; only `by_released_rule` does so too, for choices. A letter in a
    form that the release does not know, such as "\\boxed{B}", is read as in the other benchmarks.
    The release embeds empty answers to BeliefQ[Dist.] and credits about half of them; here they
    earn 0.

    embedder: the encoder for BeliefQ[Dist.]; None leaves these questions out. The release's
    encoder, all-roberta-large-v1, reads 128 tokens.
    by_text: an option's text without its letter counts, too (see `choices.named_by_text`).
    yes_no_as: which rule reads yes and no, "release" or "paper" (App. A.4).
    Errors: those of `pairs`, and `InputError` for another `yes_no_as`.
    """
    if yes_no_as not in (BY_RELEASE, BY_PAPER):
        expected = f"expected {BY_RELEASE!r} or {BY_PAPER!r}"
        raise InputError(f"yes_no_as: found {yes_no_as!r}, {expected}")
    answered = pairs(items, responses, METHODS)
    if embedder is None:
        answered = [pair for pair in answered if pair[0]["question_type"] != "belief_dist"]
    answers = [_answer(item, response, by_text) for item, response in answered]
    beliefs = []
    for (item, _), answer in zip(answered, answers, strict=True):
        if item["question_type"] == "belief_dist":
            beliefs.append((item, answer.text))
    nearer, cut = _nearer(beliefs, embedder)
    rows = []
    for (item, response), answer in zip(answered, answers, strict=True):
        key = (item["item_id"], answer.text)
        answer = answer._replace(is_nearer=key in nearer, is_cut=key in cut, yes_no_as=yes_no_as)
        rows.append(_score_row(item, response, answer))
    return table_of(rows, answered, KEYS, "fantom scores")


def _score_row(item: Mapping, response: Mapping, answer: Answer) -> dict:
    """A row of `score`."""
    earned = credit(item, answer)
    outcome, _, details = _verdict(item, answer, earned)
    score = earned if outcome in ("correct", SCORED) else 0.0
    is_doubtful = details.get("doubtful", False) or answer.unread != "unparsed"
    context = METHODS[response["method"]].context
    return {
        **{name: response[name] for name in _WHOSE},
        **{name: item[name] for name in _CONDITIONS},
        "scenario": item["full_scenario" if context == "full" else "scenario"],
        "is_yes": is_yn(item["question_type"]) and item["answer"] == "yes",
        "outcome": outcome,
        "score": score,
        "by_released_rule": _released_credit(item, response, answer, earned),
        **_DETAILS,
        **details,
        "doubtful": score > 0 and is_doubtful,
        "completion_tokens": response["completion_tokens"],
    }


def _released_credit(item: Mapping, response: Mapping, answer: Answer, earned: float) -> float:
    """The credit that the released code gives, which ignores whether an answer was cut off."""
    if item["question_type"] == "belief_choice" and not answer.lost:
        # The released code also reads the model's thinking and any text after the answer.
        text = _behind_cue(response["response"].strip())
        return float(names_option(text, right_letter(item)))
    if is_yn(item["question_type"]):
        return credit(item, answer._replace(yes_no_as=BY_RELEASE))
    return earned


def rule(item: Mapping, scored: Mapping) -> str:
    """The rule that decided, in words. scored: a response together with its row of `score`."""
    answer = _answer(item, scored, was_read(scored))
    answer = answer._replace(is_nearer=scored["by_released_rule"] == 1)
    if is_yn(item["question_type"]) and scored.get("yn") != yes_or_no(answer.text):
        answer = answer._replace(yes_no_as=BY_PAPER)
    _, decisive_rule, _ = _verdict(item, answer, credit(item, answer))
    return decisive_rule


def _answer(item: Mapping, response: Mapping, by_text: bool) -> Answer:
    """The `Answer` in a response. If it names an option in a form that the released rule does not
    know, `text` is "(a)" or "(b)". by_text: an option's text without its letter counts, too.
    """
    if failed(response):
        outcome, reason = lost(response)
        return Answer("", outcome, lost=reason)
    text, open_thought = answer_text(response["response"])
    answer = Answer(text, unanswered(text, response["finish_reason"], open_thought))
    if item["question_type"] != "belief_choice":
        return answer
    if any(names_option(text, letter) for letter in KEYS):
        return answer
    # The response may name an option in a form that the released rule does not know.
    reading = options.read_answer(response["response"], response["finish_reason"], cot=False)
    letter = str(reading.key).lower()
    if letter not in KEYS and by_text and answer.unread == "unparsed":
        letter = str(named_by_text(item, text, KEYS))
    return answer._replace(text=f"({letter})") if letter in KEYS else answer


def _nearer(answers: Sequence[tuple[Mapping, str]], embedder: ModelSpec | None) -> tuple[set, set]:
    """Two sets of (item id, text): the answers that are nearer to the right belief than to the
    wrong one, and those for which the encoder read only the beginning of the answer or of a belief.
    An answer that repeats a belief word for word is nearest to it; without an encoder, the first
    set holds only such answers.

    answers: pairs of an item and an answer's text.
    """
    nearer = set()
    compared = {}
    for item, text in answers:
        key = (item["item_id"], text)
        right = item["answer"]
        wrong = item["wrong_answer"]
        if text == right != wrong:
            nearer.add(key)
        elif text and text not in (right, wrong):
            compared[key] = (text, right, wrong)
    if not compared or embedder is None:
        return nearer, set()
    texts = list(chain(*compared.values()))
    vectors = embed(texts, embedder).reshape(len(compared), 3, -1)
    likeness_to_right = np.einsum("id,id->i", vectors[:, 0], vectors[:, 1])
    likeness_to_wrong = np.einsum("id,id->i", vectors[:, 0], vectors[:, 2])
    nearer.update(compress(compared, likeness_to_right > likeness_to_wrong))
    too_long = beginnings(texts, embedder).keys()
    cut = {key for key, triple in compared.items() if not too_long.isdisjoint(triple)}
    return nearer, cut


# The signs of yes and of no: those that count anywhere in an answer, and those that must begin it.
_SIGNS = {
    YES: ((" yes,", " yes ", " yes.", " knows "), ("yes", "true")),
    NO: ((" no,", " no ", " no.", " does not know ", " doesn't know "), ("no", "false")),
}


def answer_text(response: str) -> tuple[str, bool]:
    """The part of a response that is scored, and whether the model's thinking never ended. The part
    ends before any further question that the model asks itself and, as in the release, begins after
    the cue (see `_behind_cue`).
    """
    text, open_thought = visible(response)
    answer = before_next_question(text, is_read=bool)
    return _behind_cue(text if answer is None else answer), open_thought


def _behind_cue(text: str) -> str:
    """The text after the last "Answer:", else after the last "Choose an answer from above:", else
    the whole text.
    """
    for cue in ("Answer:", "Choose an answer from above:"):
        if cue in text:
            return text.rsplit(cue, 1)[1].strip()
    return text


def names_option(text: str, letter: str) -> bool:
    """Whether an answer names the option `letter`: it begins with the letter and one of `) . : ,`,
    is the letter alone, or has "(letter)" anywhere, even if it names the other option, too.
    """
    text = text.lower()
    openings = tuple(f"{letter}{mark}" for mark in ").:,")
    return text.startswith(openings) or f"({letter})" in text or text == letter


# The words for yes and no that App. A.4 lists, as whole words.
_WORDS_OF_PAPER = re.compile(
    r"(?i)\b(?:(?P<yes>yes|knows|does know|true)|(?P<no>no|does not know|doesn['’]t know|false))\b"
)


def yes_or_no(text: str, yes_no_as: str = BY_RELEASE) -> int:
    """`YES`, `NO` or `IRRELEVANT`, by the release's rule or by the paper's.

    release: the rule lacks "does know", which App. A.4 lists, needs a space after "does not know",
    and reads any answer that begins with "no", such as "not sure", as no. Signs of yes come first.
    paper: the words that App. A.4 lists. The paper does not say what counts if an answer has words
    of both kinds; here the first one counts.
    """
    if yes_no_as == BY_PAPER:
        first = _WORDS_OF_PAPER.search(text)
        if first is None:
            return IRRELEVANT
        return YES if first.lastgroup == "yes" else NO
    for reading in (YES, NO):
        if _has_sign(text, reading):
            return reading
    return IRRELEVANT


def _has_sign(text: str, reading: int) -> bool:
    text = text.lower().strip("'").strip('"')
    anywhere, openings = _SIGNS[reading]
    return text.startswith(openings) or any(sign in text for sign in anywhere)


def token_f1(reference: str, text: str) -> float:
    """The F1 of the words (split at spaces, counted with repeats) that two texts share, 0 to 1."""
    reference_words = Counter(reference.split())
    words = Counter(text.split())
    shared = (reference_words & words).total()
    return 2 * shared / max(reference_words.total() + words.total(), 1)


def reasoning_of(response: str, method: str) -> str:
    """The part of the first call's response that a method repeats in its second call."""
    if isinstance(METHODS[method], techniques.TwoStep):
        return visible(response)[0]
    reasoning, _ = visible(response)
    # When it runs in batches, the release repeats the whole reasoning.
    return reasoning if METHODS[method].in_batches else _behind_cue(reasoning)
