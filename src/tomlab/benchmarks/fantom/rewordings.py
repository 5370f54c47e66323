"""FANToM's beliefs reworded by listed operations: free answers whose meaning is known (Sec. 3.4)."""

import random
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import pandas as pd

from tomlab.errors import InputError
from tomlab.judging.constructed import KNOWN, balanced

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
