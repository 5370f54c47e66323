"""Strict parsers of what a model writes for FANToM: utterances, questions, answers (App. A).

Each takes the model's text and its draft, and returns an `Unparsed` with the reason if it fails.
"""

import re

from tomlab.benchmarks.fantom.items.contexts import Line, folded
from tomlab.benchmarks.writing import Draft, Unparsed, labelled_lines
from tomlab.records.files import yaml_beside
from tomlab.scoring.answers import unanswered

QUESTIONS = 3  # about each piece of missed information, App. A.2
MIN_LINES = 4  # in a segment; the paper gives no number
# Those who leave may speak only in this many first lines: "I have to go." "Bye!" (Table 6).
FAREWELL = 3
# The words, as regular expressions, that the parsers below look for.
_WORDS = {name: "|".join(words) for name, words in yaml_beside(__file__).items()}
# What may come before a question: a bullet, a number, "Question:", "Q2.".
_ITEM = re.compile(r"(?i)[\W_]*(?:(?:q|question)?[ *]?\d?\d?[.):])?[\W_]*")
_LABEL = re.compile(r"(?i)\A[\s*]*answer[\s*]*:[\s*]*")
_NOTHING = re.compile(r"(?i)\W*(nothing|none|no (new )?information)\b")
_YES_NO = re.compile(rf"(?i)({_WORDS['yes_no']})(n['’]t)?\b")
_BELIEF = re.compile(rf"(?i)\b({_WORDS['belief']})")


def parse_segment(text: str, talk: Draft) -> dict | Unparsed:
    """`segments` and `heard` of a conversation, each with one more segment; in `heard`, it lacks
    the goodbye, which ends with the last line of the person who leaves.

    Reading stops at the first line by anybody who is not in the outline. The goodbye does not count
    for `MIN_LINES` and has at most `FAREWELL` lines. Everybody present has to speak, or the
    conversation would not show that they are there.
    """
    lines = []
    for speaker, utterance in labelled_lines(text, talk["characters"], talk["prompt"]):
        if not speaker:
            break
        lines.append((speaker, " ".join(utterance.split())))
    present = set(talk["present"])
    goodbye = 0  # the number of the last line by somebody who is not present
    for number, (speaker, _) in enumerate(lines, start=1):
        if speaker not in present:
            goodbye = number
    fault = _fault_of_segment(lines, goodbye, talk)
    if fault:
        return Unparsed(fault)
    return {"segments": [*talk["segments"], lines], "heard": [*talk["heard"], lines[goodbye:]]}


def _fault_of_segment(lines: list[Line], goodbye: int, talk: Draft) -> str:
    speakers = [speaker for speaker, _ in lines]
    person = talk.get("person")  # who leaves or joins; None in the first segment
    if lines and person:
        announced = re.search(rf"(?i)\b({_WORDS[talk['kind']]})\b", lines[0][1])
        if speakers[0] != person or not announced:
            return "no announcement"
    if goodbye > FAREWELL or not {*talk["present"], person}.issuperset(speakers):
        return "absent speaker"
    if len(lines) - goodbye < MIN_LINES:
        return f"fewer than {MIN_LINES} lines"
    if not set(speakers).issuperset(talk["present"]):
        return "somebody present is silent"
    return ""


def parse_summary(text: str, _: Draft) -> str:
    """The whole answer as the summary of what PersonX missed, unless it refuses or says nothing."""
    if unanswered(text, "", False) == "refused":
        return Unparsed("no summary")
    return Unparsed("nothing was missed") if _NOTHING.match(text) else text


def _questions(text: str) -> list[str]:
    """The lines that end with a question mark, without leading numbers and surrounding quotes."""
    lines = [" ".join(line.split()).strip('*_"“”') for line in text.split("\n")]
    return [_ITEM.sub("", line, count=1) for line in lines if line.endswith("?")]


def parse_questions(text: str, _: Draft) -> list[str] | Unparsed:
    """The fact questions: exactly `QUESTIONS` different ones, none of them a yes-no question."""
    questions = _questions(text)
    if len(questions) < QUESTIONS:
        return Unparsed("fewer than three questions")
    if len(questions) > QUESTIONS:
        return Unparsed("more than three questions")
    if any(map(_YES_NO.match, questions)):
        return Unparsed("yes-no question")
    if len(set(map(folded, questions))) < QUESTIONS:
        return Unparsed("a question stands twice")
    return questions


def parse_answer(text: str, _: Draft) -> str:
    """The first paragraph of an answer in free text."""
    paragraph = re.split(r"\n\s*\n", _LABEL.sub("", text))[0]
    answer = " ".join(paragraph.split()).strip("* ")
    return answer if re.search(r"\w", answer) else Unparsed("no answer")


def parse_belief_question(text: str, draft: Draft) -> str:
    """The first question in the text, which must name believer and PersonX and ask for a belief."""
    questions = _questions(text)
    if not questions:
        return Unparsed("no question")
    if not all(names_person(questions[0], draft[name]) for name in ("believer", "person")):
        return Unparsed("a name is missing")
    return questions[0] if _BELIEF.search(questions[0]) else Unparsed("asks for no belief")


def names_person(text: str, name: str) -> bool:
    """Whether a text contains `name` as a whole word."""
    return re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text) is not None


PARSERS = {
    "segment": parse_segment,
    "missed": parse_summary,
    "facts": parse_questions,
    "full-answer": parse_answer,
    "limited-answer": parse_answer,
    "belief-question": parse_belief_question,
    "omniscient-answer": parse_answer,
    "centric-answer": parse_answer,
}
