"""FANToM's beliefs reworded by listed operations: answers whose meaning is known (Sec. 3.4)."""

import random
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from itertools import chain, groupby

import pandas as pd

from tomlab.benchmarks.fantom.items.contexts import speakers
from tomlab.errors import InputError
from tomlab.judging.constructed import balanced, capital
from tomlab.records.files import yaml_beside
from tomlab.records.tidy import KNOWN

_NAME = r"[^\W\d_][\w-]*"
_LEAD = rf"(?:(?P<over>{_NAME}) (?:believes|thinks)(?: that)? )?(?P<who>{_NAME}) "
_UNAWARE = re.compile(
    _LEAD + r"(?:does not know(?: anything)? about|is (?:unaware|not aware) of"
    r"|(?:has no|does not have any) (?:information|knowledge) (?:about|of|on)) (?P<topic>.+?)\.?"
)
_KNOWING = re.compile(_LEAD + r"(?:believes|thinks|knows)(?: that)? (?P<claim>.+?)\.?")

# By operation its wordings, or two lists of them of which one is put into the other.
_WORDINGS = yaml_beside(__file__)
UNAWARE, KNOWING = _WORDINGS["unaware"], _WORDINGS["knowing"]


def _worded(
    wordings: list[str] | list[list[str]], fields: Mapping[str, str], draw: random.Random
) -> str | None:
    """One of an operation's wordings; None where a field that it may need is empty."""
    lists = wordings if isinstance(wordings[0], list) else [wordings]
    needed = re.findall(r"{(\w+)}", " ".join(chain(*lists)))
    if not all(fields[name.lower()] for name in needed if name.lower() not in ("lead", "next")):
        return None
    text = ""
    for wording in reversed([draw.choice(texts) for texts in lists]):
        every = {**fields, "next": text}
        text = wording.format(**every, **{k.capitalize(): capital(t) for k, t in every.items()})
    return capital(text)


def constructed(items: pd.DataFrame, n: int, seed: int) -> pd.DataFrame:
    """n answers known by construction: `unit, group` (conversation), `item_id, text, truth,
    operation, scenario, source`. Nobody judged them, as `source` says.

    truth: whether the answer is PersonX's belief, the item's right answer. Halves of both
    scenarios, if both are there, and operations (`UNAWARE`, `KNOWING`) as equally as items allow.
    "other value" takes that of another item, which in the accessible scenario is neither belief, so
    it is not used there. Items whose two beliefs are not of the forms "X does not know anything
    about …" and "X believes that …" are left out. Errors: `InputError` if so many cannot be made.
    """
    draw = random.Random(f"fantom-distance/{seed}")
    asked = items[items["question_type"] == "belief_dist"].to_dict("records")
    values = defaultdict(set)  # the answers to each fact question, whomever it is about
    for item in asked:
        _, question, answer = _template(item)
        values[question].add(answer)
    rows = [row for item in asked for row in _rewritten(item, values, draw)]
    if not rows:
        raise InputError("distance: found no belief items of the forms that can be reworded")
    draw.shuffle(rows)
    made = pd.DataFrame(rows).drop_duplicates(["item_id", "text"])
    return balanced(made, n, ["truth", "scenario"])


def _rewritten(item: Mapping, values: Mapping, draw: random.Random) -> Iterator[dict]:
    """Every operation that fits an item; none where its two beliefs are of other forms."""
    is_unaware = _UNAWARE.fullmatch(item["answer"]) is not None
    right, wrong = item["answer"], item["wrong_answer"]
    nothing, full = (right, wrong) if is_unaware else (wrong, right)
    missed, known = _UNAWARE.fullmatch(nothing), _KNOWING.fullmatch(full)
    if not (missed and known and missed.group("over", "who") == known.group("over", "who")):
        return
    owner, question, answer = _template(item)
    others = sorted(values[question] - {answer})
    other = draw.choice(others).format(owner).rstrip(".") if others else ""
    fields = {
        "lead": f"{missed['over']} believes that " if missed["over"] else "",
        "who": missed["who"],
        "stranger": min({*speakers(item["full_story"])} - {*missed.groups()}, default=""),
        "topic": missed["topic"],
        "claim": known["claim"],
        "fact": item["fact_answer"].rstrip("."),
        "value": _value(item["fact_question"], item["fact_answer"]),
        "other": other if is_unaware else "",
    }
    item_id, group = item["item_id"], item["conversation_id"]
    shared = {"item_id": item_id, "scenario": item["scenario"], "group": group}
    for truth, operations in ((is_unaware, UNAWARE), (not is_unaware, KNOWING)):
        for operation, wordings in operations.items():
            if text := _worded(wordings, fields, draw):
                made = {"text": text, "truth": truth, "operation": operation, "source": KNOWN}
                yield shared | made | {"unit": f"{item_id}/{operation}/{truth}"}


def _template(item: Mapping) -> tuple[str, str, str]:
    """Whom the fact question names, it and its answer with a gap there; "" if not one speaker."""
    named = set(speakers(item["full_story"])) & set(re.findall(_NAME, item["fact_question"]))
    texts = item["fact_question"], item["fact_answer"]
    if len(named) != 1 or any(mark in text for text in texts for mark in "{}"):
        return "", "", ""
    [owner] = named
    return owner, *(re.sub(rf"\b{re.escape(owner)}\b", "{}", text) for text in texts)


def _value(question: str, answer: str) -> str:
    """The longest run of words in the answer that the question lacks: "a golden retriever". A word
    of which the question has a beginning or a longer form is not lacking: "ask", "asks".
    """
    asked = [word.lower() for word in re.findall(r"[\w'’-]+", question)]

    def stands_there(word: str) -> bool:
        pairs = (sorted((word, other), key=len) for other in asked)
        return word in asked or any(len(a) > 2 and b.startswith(a) for a, b in pairs)

    runs = groupby(answer.rstrip(".").split(), lambda word: stands_there(word.lower()))
    lacking = [list(words) for there, words in runs if not there]
    return " ".join(max(lacking, key=len, default=[]))
