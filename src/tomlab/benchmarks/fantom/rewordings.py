"""FANToM's beliefs reworded by listed operations: free answers whose meaning is known (Sec. 3.4)."""

import random
import re
from collections.abc import Iterator, Mapping, Sequence

import pandas as pd

from tomlab.errors import InputError
from tomlab.judging.constructed import KNOWN, balanced, capital

_NAME = r"[^\W\d_][\w-]*"
_LEAD = rf"(?:(?P<over>{_NAME}) (?:believes|thinks)(?: that)? )?(?P<who>{_NAME}) "
_UNAWARE = re.compile(
    _LEAD + r"(?:does not know(?: anything)? about|is (?:unaware|not aware) of"
    r"|(?:has no|does not have any) (?:information|knowledge) (?:about|of|on)) (?P<topic>.+?)\.?"
)
_KNOWING = re.compile(_LEAD + r"(?:believes|thinks|knows)(?: that)? (?P<claim>.+?)\.?")

# Wordings of which one is drawn, or two lists of them: one drawn of each, the second put in the
# first as {next}. A capital begins a field's text with one. An operation is left out of an item
# where a field is empty. Fields: {lead} "… believes that " in the second order, else nothing; {who}
# PersonX; {topic} what PersonX may not know about; {claim} what PersonX believes who knows; {fact}
# the full answer to the fact question; {value} the words of it that the question lacks; {other} the
# claim with the value of another item, of somebody who knows nothing alone.
_IN_CONTEXT = [
    "People come and go in this conversation. {Next}",
    "Looking at who was there when, I would say this: {Next}",
    "{Next} That is what follows from the conversation above.",
    "The others talk about a number of things. {Next} Later they turn to something else.",
]
# What is made of the belief of somebody who knows nothing.
UNAWARE: dict[str, list[str] | tuple[list[str], list[str]]] = {
    "as it stands": ["{lead}{who} does not know anything about {topic}."],
    "has no idea": [
        "{lead}{who} has no idea about {topic}.",
        "{lead}{who} does not have the slightest idea about {topic}.",
        "{lead}{who} is completely in the dark about {topic}.",
    ],
    "was not told": [
        "{lead}{who} was not told about {topic}.",
        "{lead}nobody has told {who} about {topic}.",
        "{lead}{who} has heard nothing about {topic}.",
    ],
    "could not say": [
        "{lead}{who} could not say anything about {topic}.",
        "{lead}{who} would not be able to answer that, let alone say anything about {topic}.",
    ],
    "was away": [
        "{lead}{who} would not know about {topic}, since {who} was away when it came up.",
        "{lead}{who} missed what was said about {topic}, and so holds no belief about it.",
    ],
    "quoted": [
        '{lead}{who} would say: "I was not there, so I do not know."',
        '{lead}if asked, {who} would answer: "I have no idea what you are talking about."',
        '{lead}{who} would say: "Sorry, I must have missed that."',
    ],
    "more sentences": (_IN_CONTEXT, ["{lead}{who} has no knowledge of {topic}."]),
    # The value stands in the answer, and PersonX does not believe it for all that.
    "fact told": (["{fact}. {next}"], ["{lead}{who} did not hear of it, though."]),
    "fragment": ["No idea.", "Nothing.", "{who} does not know.", "Unknown."],
}
# The same for the belief of somebody who was there. "other value": an omniscient belief in kind.
KNOWING: dict[str, list[str] | tuple[list[str], list[str]]] = {
    "as it stands": ["{lead}{who} believes that {claim}."],
    "other verb": [
        "{lead}{who} thinks that {claim}.",
        "{lead}{who} is of the opinion that {claim}.",
        "{lead}{who} is sure that {claim}.",
    ],
    "knows": ["{lead}{who} knows that {claim}.", "{lead}{who} is aware that {claim}."],
    "was told": [
        "{lead}{who} was told that {claim}.",
        "{lead}{who} has heard that {claim}.",
        "{lead}{who} has picked up that {claim}.",
    ],
    "would answer": [
        "{lead}{who}, if asked, would answer that {claim}.",
        "{lead}{who} would not hesitate to say that {claim}.",
    ],
    "quoted": ['{lead}{who} would say: "{Claim}."', '{lead}{who} would answer: "{Claim}."'],
    "more sentences": (_IN_CONTEXT, ["{lead}{who} is convinced that {claim}."]),
    # Absence is spoken of, and PersonX believes the fact for all that.
    "absence told": (
        ["{who} was away for a while. {next}"],
        ["{lead}{who} does know that {claim}, though."],
    ),
    "other value": ["{lead}{who} believes that {other}."],
    "fragment": ["{Value}.", "{fact}."],
}


def _worded(
    wordings: Sequence[str] | tuple[Sequence[str], Sequence[str]],
    fields: Mapping[str, str],
    draw: random.Random,
) -> str | None:
    """One of an operation's wordings; None where a field that it may need is empty."""
    lists = wordings if isinstance(wordings, tuple) else (wordings,)
    needed = re.findall(r"{(\w+)}", " ".join(text for texts in lists for text in texts))
    if not all(fields[name.lower()] for name in needed if name.lower() not in ("lead", "next")):
        return None
    text = ""
    for wording in reversed([draw.choice(texts) for texts in lists]):
        every = {**fields, "next": text}
        text = wording.format(**every, **{k.capitalize(): capital(t) for k, t in every.items()})
    return capital(text)


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
    is_unaware = _UNAWARE.fullmatch(item["answer"]) is not None
    fields = _taken_apart(item, is_unaware, values, draw)
    if fields is None:
        return
    for truth, operations in ((is_unaware, UNAWARE), (not is_unaware, KNOWING)):
        for operation, wordings in operations.items():
            if text := _worded(wordings, fields, draw):
                yield {
                    "unit": f"{item['item_id']}/{operation}/{truth}",
                    "group": item["conversation_id"],
                    "item_id": item["item_id"],
                    "text": text,
                    "truth": truth,
                    "operation": operation,
                    "scenario": item["scenario"],
                    "source": KNOWN,
                }


def _taken_apart(
    item: Mapping, is_unaware: bool, values: Mapping, draw: random.Random
) -> dict[str, str] | None:
    """The fields of wordings about an item; None where its two beliefs are in other forms."""
    nothing, full = (item[key] for key in ("answer", "wrong_answer")[:: 1 if is_unaware else -1])
    missed, known = _UNAWARE.fullmatch(nothing), _KNOWING.fullmatch(full)
    if not (missed and known and missed.group("over", "who") == known.group("over", "who")):
        return None
    owner, question, answer = _template(item)
    others = sorted(values.get(question, set()) - {answer})
    other = draw.choice(others).format(owner).rstrip(".") if others else ""
    return {
        "lead": f"{missed['over']} believes that " if missed["over"] else "",
        "who": missed["who"],
        "topic": missed["topic"],
        "claim": known["claim"],
        "fact": item["fact_answer"].rstrip("."),
        "value": _value(item["fact_question"], item["fact_answer"]),
        "other": other if is_unaware else "",
    }


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
