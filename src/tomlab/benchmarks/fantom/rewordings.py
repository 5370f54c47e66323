"""Answers whose verdict is known: FANToM's beliefs, reworded by listed operations (Sec. 3.4)."""

import random
import re
from collections.abc import Iterator, Mapping

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

# The wordings of one operation: a list, or two lists, where a wording of the second is put into
# one of the first.
Wordings = list[str] | list[list[str]]
_WORDINGS = yaml_beside(__file__)
UNAWARE = _WORDINGS["unaware"]
KNOWING = _WORDINGS["knowing"]


def constructed(items: pd.DataFrame, n: int, seed: int) -> pd.DataFrame:
    """n answers whose verdict is known from how they were made: `unit, group` (conversation),
    `item_id, text, truth, operation, scenario, source`. `source` says that nobody judged them.

    truth: whether the answer means the item's right answer, which is PersonX's belief. Each
    combination of truth and scenario is equally frequent, and within it each operation (`UNAWARE`,
    `KNOWING`) as far as the items allow. Items are left out unless one belief has a form such as "X
    does not know anything about …" and the other one such as "X believes that …".
    Errors: `InputError` if too few answers of a combination can be made.
    """
    draw = random.Random(f"fantom-distance/{seed}")
    beliefs = items[items["question_type"] == "belief_dist"]
    rows: list[dict] = []
    for item in beliefs.to_dict("records"):
        rows.extend(_reworded(item, draw))
    if not rows:
        raise InputError("distance: found no belief items of the forms that can be reworded")
    draw.shuffle(rows)
    table = pd.DataFrame(rows).drop_duplicates(["item_id", "text"])
    return balanced(table, n, ["truth", "scenario"])


def _reworded(item: Mapping, draw: random.Random) -> Iterator[dict]:
    """A row for every operation that fits an item; no row if its two beliefs have other forms."""
    is_unaware = _UNAWARE.fullmatch(item["answer"]) is not None
    columns = ["answer", "wrong_answer"] if is_unaware else ["wrong_answer", "answer"]
    unaware = _UNAWARE.fullmatch(item[columns[0]])
    knowing = _KNOWING.fullmatch(item[columns[1]])
    if not unaware or not knowing or unaware.group("over", "who") != knowing.group("over", "who"):
        return
    strangers = set(speakers(item["full_story"])) - set(unaware.groups())
    fields = {
        "lead": f"{unaware['over']} believes that " if unaware["over"] else "",
        "who": unaware["who"],
        "stranger": min(strangers, default=""),
        "topic": unaware["topic"],
        "claim": knowing["claim"],
        "fact": item["fact_answer"].rstrip("."),
        "value": _value(item["fact_question"], item["fact_answer"]),
    }
    for truth, operations in ((is_unaware, UNAWARE), (not is_unaware, KNOWING)):
        for operation, wordings in operations.items():
            text = _worded(wordings, fields, draw)
            if text:
                yield {
                    "item_id": item["item_id"],
                    "scenario": item["scenario"],
                    "group": item["conversation_id"],
                    "text": text,
                    "truth": truth,
                    "operation": operation,
                    "source": KNOWN,
                    "unit": f"{item['item_id']}/{operation}/{truth}",
                }


def _worded(wordings: Wordings, fields: Mapping[str, str], draw: random.Random) -> str:
    """An answer in a wording drawn for an operation; "" if a field that it may need is empty."""
    needed = {name.lower() for name in re.findall(r"{(\w+)}", str(wordings))} - {"lead", "next"}
    if not all(fields[name] for name in needed):
        return ""
    lists = wordings if isinstance(wordings[0], list) else [wordings]
    chosen = [draw.choice(texts) for texts in lists]
    text = ""
    for wording in reversed(chosen):
        text = _filled(wording, {**fields, "next": text})
    return capital(text)


def _filled(wording: str, fields: Mapping[str, str]) -> str:
    capitals = {name.capitalize(): capital(text) for name, text in fields.items()}
    return wording.format(**fields, **capitals)


def _value(question: str, answer: str) -> str:
    """The longest run of words in the answer that the question lacks: "a golden retriever"."""
    asked = [word.lower() for word in re.findall(r"[\w'’-]+", question)]
    runs: list[list[str]] = [[]]
    for word in answer.rstrip(".").split():
        if _is_asked(word.lower(), asked):
            runs.append([])
        else:
            runs[-1].append(word)
    longest: list[str] = max(runs, key=len)
    return " ".join(longest)


def _is_asked(word: str, asked: list[str]) -> bool:
    """Whether the question has `word`, or a longer or shorter form of it, as "ask" and "asks"."""
    for question_word in asked:
        shorter, longer = sorted((word, question_word), key=len)
        if shorter == longer or (len(shorter) > 2 and longer.startswith(shorter)):
            return True
    return False
