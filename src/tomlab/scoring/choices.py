"""What scorers of multiple choice share: letters of options, one answer's verdict, its row."""

import random
import re
import warnings
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

import pandas as pd

from tomlab.errors import InputError
from tomlab.records.tidy import check
from tomlab.scoring.answers import failed, lost, unanswered
from tomlab.scoring.visible import visible

YES_NO = ("yes", "no")
# How the options of items are ordered: by the run's own seed, or as a benchmark's released code
# draws them (`run.orders_as`).
OURS, AS_RELEASED = "ours", "release"


class Reading(NamedTuple):
    """How an answer was read."""

    outcome: str  # "answered", or of `tidy.OUTCOMES`
    key: str | None  # of the option it names
    rule: str  # what decided, in words


def no_option(text: str, finish_reason: str, open_thought: bool, why: str) -> Reading:
    """The reading of an answer in which no option was found; `why`: the rule if it is unparsed."""
    outcome = unanswered(text, finish_reason, open_thought)
    rules = {"truncated": "cut off before an option was settled", "refused": "declines to answer"}
    return Reading(outcome, None, rules.get(outcome, why if text else "empty"))


def judged(
    item: Mapping,
    response: Mapping,
    keys: Sequence[str],
    read: Callable[[str, str, bool], Reading],
    cot: bool,
    by_text: bool = False,
) -> Reading:
    """The verdict on one response. keys: the letters of options; read: how an answer is read, from
    its text, finish reason and `cot` (it was to reason first); by_text: see `named_by_text`.
    """
    if failed(response):
        outcome, rule = lost(response)  # "error", or "refused" by a vendor's filter
        return Reading(outcome, None, rule)
    reading = read(response["response"], response["finish_reason"], cot)
    key = by_text and named_by_text(item, response["response"], keys)
    if key and reading.outcome == "unparsed":
        reading = Reading("answered", key, "is an option's text without its letter")
    if reading.key is None:  # unreadable, cut off or refused
        return reading
    if reading.key not in keys[: len(item["choices"])]:
        return Reading("unparsed", None, "names a key under which no option stands")
    is_right = reading.key == key_of(item, item["answer"], keys)
    return reading._replace(outcome="correct" if is_right else "wrong")


def named_by_text(item: Mapping, text: str, keys: Sequence[str]) -> str | None:
    """The key of the one option whose text is the whole answer, but for quotes around it, a final
    stop and case; None if there is none. No benchmark's protocol reads that.
    """
    said = _bare(visible(text)[0])
    named = [key for key, o in zip(keys, item["choices"], strict=False) if _bare(o) == said]
    return named[0] if len(named) == 1 else None


def _bare(text: str) -> str:
    return text.strip("\"'“”‘’ \n").rstrip(".").strip("\"'“”‘’ \n").casefold()


def was_read(scored: Mapping) -> bool:
    """Whether a scored answer was read in one way or the other, for the rule that decided."""
    return scored.get("outcome") in ("correct", "wrong")


def table_of(
    rows: Sequence[Mapping], both: Sequence[tuple], keys: Sequence[str], where: str
) -> pd.DataFrame:
    """The checked scores table of rows, one for each item and response of `both`, with the column
    `words` (see `words_of`). Warns where more than half of the answers to questions with options
    are unreadable, and `by_text` reads some.
    """
    if not rows:
        raise InputError("responses: found no answers to score, expected at least one")
    asked = [one for one in zip(rows, both, strict=True) if len(one[1][0]["choices"])]
    unread = [pair for row, pair in asked if row["outcome"] == "unparsed"]
    found = sum(named_by_text(i, r["response"], keys) is not None for i, r in unread)
    if found and 2 * len(unread) > len(asked):
        told = f"{where}: {len(unread):,} of {len(asked):,} answers are unreadable"
        told += f"; {found:,} of these are an option's text without its letter"
        warnings.warn(f"{told}, which score(…, by_text=True) reads", stacklevel=3)
    words = [words_of(*one, row.get("chosen"), keys) for row, one in zip(rows, both, strict=True)]
    return check(pd.DataFrame(rows).assign(words=words), "scores", where)


def credited_unread(scores: pd.DataFrame) -> pd.Series:
    """By method, how many answers the released rule credits of those that nothing was read of here:
    unreadable, cut off or refused.
    """
    is_unread = scores["outcome"].isin(["unparsed", "truncated", "refused"])
    is_credited = is_unread & scores["by_released_rule"].eq(True)
    return is_credited.groupby(scores["method"], sort=False).sum()


def credited_unread_in_words(scores: pd.DataFrame) -> str:
    """A sentence with the numbers of `credited_unread`."""
    counts = credited_unread(scores)
    total = int(counts.sum())
    if total == 0:
        return "It would credit none of the answers that are unreadable, cut off or refused here."
    return f"It would credit {total:,} more answers, which are unreadable, cut off or refused here."


def words_of(item: Mapping, response: Mapping, chosen: str | None, keys: Sequence[str]) -> str:
    """Whose words stand with the letter of `chosen`, the option that an answer names: "same" (its
    own), "other" (another option's), "elsewhere" (those of an option of another question that the
    prompt shows, such as the one before it; needs the response's `messages`) or "" (nobody's, or
    there is no letter).
    """
    options = list(item["choices"])
    if chosen not in options:
        return ""
    key = keys[options.index(chosen)].casefold()
    texts, beside = re.split(_LETTER.format("".join(keys)), visible(response["response"])[0]), []
    for before, letter, behind in zip(texts[::2], texts[1::2], texts[2::2], strict=False):
        if letter.casefold() == key:
            beside += [behind, re.split(_STOP, before)[-1]]
    if found := [option for text in beside if (option := _option_in(text, options))]:
        return "same" if found[0] == chosen else "other"
    shown = re.findall(_SHOWN, str(response.get("messages")).replace("\\n", "\n"))
    others = {_plain(option) for option in shown}.difference(map(_plain, options))
    found = [(option, text) for text in beside if (option := _option_in(text, others))]
    # A word or two, such as "Yes", must be all that the sentence says.
    told = [len(option.split()) >= FEW or option == _sentence(text) for option, text in found]
    return "elsewhere" if any(told) else ""


# A letter that stands for an option, as in "(A)", "a)Mei", "**B**", "A: Yes" or "A" on its line.
_LETTER = r"""(?i)(?<![^\W_])([{}])(?:\)|[.:,*_`"'”’\]](?!\w)|\s*(?=\n|\Z|[-–—]\s))"""
_SHOWN = r"(?im)^\(?[a-d]\) *(.+?) *$"  # an option as prompts list it
_STOP = r"[.!?\n]"  # the end of a sentence
FEW = 3  # an option of fewer words is only looked for at the beginning of what stands with a letter


def _option_in(said: str, options: Sequence[str]) -> str | None:
    """The option whose words a text begins with; else the only one that its first sentence holds,
    or clearly repeats: most words of the option, some that no other has, and none of another's own.
    """
    texts = {option: _plain(option) for option in sorted(options, key=len, reverse=True)}
    if found := [o for o, text in texts.items() if f"{_plain(said)} ".startswith(f"{text} ")]:
        return found[0]  # the longest
    sentence = _sentence(said)
    texts = {option: text for option, text in texts.items() if len(text.split()) >= FEW}
    held = [option for option, text in texts.items() if f" {text} " in f" {sentence} "]
    if held and all(texts[option] in texts[held[0]] for option in held):
        return held[0]
    words, spoken = {o: {*text.split()} for o, text in texts.items()}, {*sentence.split()}
    own = {o: words[o].difference(*(words[p] for p in words if p != o)) for o in words}
    near = [option for option in words if own[option] & spoken]
    if len(near) != 1 or ("not" in spoken) != ("not" in words[near[0]]):
        return None
    return near[0] if len(words[near[0]] & spoken) >= 0.6 * len(words[near[0]]) else None


def _sentence(text: str) -> str:
    """The words of its first sentence."""
    return _plain(re.split(_STOP, text.strip("*_`\"' \n"))[0])


@lru_cache(maxsize=20_000)  # the options of an item come back with each of its answers
def _plain(text: str) -> str:
    """Its words alone, in lower case."""
    text = re.sub(r"n['’]t\b", " not", text.casefold())
    return " ".join(re.findall(r"[^\W_]+(?:['’][^\W_]+)*", text))


def scored(
    item: Mapping,
    response: Mapping,
    verdict: Reading,
    keys: Sequence[str],
    conditions: Sequence[str],
) -> dict:
    """A row of the scores table: whose answer, `conditions`, verdict, and the `chosen` text."""
    whose = {name: response[name] for name in ("item_id", "model", "method", "sample", "asked_as")}
    told = {"outcome": verdict.outcome, "score": float(verdict.outcome == "correct")}
    chosen = None if verdict.key is None else item["choices"][keys.index(verdict.key)]
    return whose | {name: item[name] for name in conditions} | told | {"chosen": chosen}


def options_of(item: Mapping) -> tuple[str, ...]:
    """The options of a question, shown or understood as "yes" and "no"; none if it is open."""
    return (*item["choices"],) or (YES_NO if item["answer"] in YES_NO else ())


def key_of(item: Mapping, text: str, keys: Sequence[str]) -> str:
    """The letter under which an option is shown."""
    return keys[list(item["choices"]).index(text)]


def demand_orders(orders_as: str) -> None:
    """`InputError` for another word than those that `run.orders_as` has."""
    if orders_as not in (OURS, AS_RELEASED):
        raise InputError(f"orders_as: found {orders_as!r}, expected {OURS!r} or {AS_RELEASED!r}")


def shuffled(options: Sequence[str], seed: int, item_id: str) -> list[str]:
    """The options in the order drawn by `seed` and the item's id."""
    return random.Random(f"{seed}/{item_id}").sample(options, len(options))
