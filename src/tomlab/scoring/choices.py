"""What scorers of multiple choice share: the letters of options, the verdict on an answer, and the
row of the scores table.
"""

import random
import re
import warnings
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

import pandas as pd

from tomlab.errors import InputError
from tomlab.records.tidy import check
from tomlab.scoring.answers import failed, lost, unanswered
from tomlab.scoring.visible import visible

# Values of `run.orders_as`: the order of an item's options is drawn by the run's own seed, or as in
# the benchmark's released code.
OURS = "ours"
AS_RELEASED = "release"


class Reading(NamedTuple):
    """How an answer was read."""

    outcome: str  # "answered", or one of `tidy.OUTCOMES`
    key: str | None  # the letter of the option that the answer names
    rule: str  # the rule that decided, in words


def no_option(text: str, finish_reason: str, open_thought: bool, why: str) -> Reading:
    """The reading of an answer in which no option was found. why: the rule that the reading states
    if the outcome is "unparsed"; the other arguments are as in `unanswered`.
    """
    outcome = unanswered(text, finish_reason, open_thought)
    rules = {
        "truncated": "cut off before an option was settled",
        "refused": "declines to answer",
        "unparsed": why if text else "empty",
    }
    return Reading(outcome, None, rules[outcome])


def judged(
    item: Mapping,
    response: Mapping,
    keys: Sequence[str],
    read: Callable[[str, str, bool], Reading],
    cot: bool,
    by_text: bool = False,
) -> Reading:
    """The verdict on one response. keys: the letters of options; read: reads an answer from its
    text, its finish reason and `cot` (whether the model was asked to reason first); by_text:
    whether an otherwise unreadable answer may be read by `named_by_text`.
    """
    if failed(response):
        outcome, rule = lost(response)  # "error", or "refused" by a vendor's filter
        return Reading(outcome, None, rule)
    reading = read(response["response"], response["finish_reason"], cot)
    if by_text and reading.outcome == "unparsed":
        key = named_by_text(item, response["response"], keys)
        if key is not None:
            reading = Reading("answered", key, "is an option's text without its letter")
    if reading.key is None:  # unreadable, cut off or refused
        return reading
    if reading.key not in keys[: len(item["choices"])]:
        return Reading("unparsed", None, "names a key under which no option stands")
    is_right = reading.key == key_of(item, item["answer"], keys)
    return reading._replace(outcome="correct" if is_right else "wrong")


def named_by_text(item: Mapping, text: str, keys: Sequence[str]) -> str | None:
    """The key of the only option whose text is the whole answer, apart from quotes around it, a
    final full stop and case; None if there is no such option, or several. No benchmark's protocol
    reads answers in this way.
    """
    answer = _bare(visible(text)[0])
    options = zip(keys, item["choices"], strict=False)
    matches = [key for key, option in options if _bare(option) == answer]
    return matches[0] if len(matches) == 1 else None


def _bare(text: str) -> str:
    """A text in lower case, without quotes around it or a full stop at its end."""
    return text.strip("\"'“”‘’ \n").rstrip(".").strip("\"'“”‘’ \n").casefold()


def was_read(scored: Mapping) -> bool:
    """Whether an option was read from a scored answer. Given to `judged` as `by_text` when the rule
    that decided is looked up, as scores do not tell how answers were read.
    """
    return scored.get("outcome") in ("correct", "wrong")


def scored(
    item: Mapping,
    response: Mapping,
    verdict: Reading,
    keys: Sequence[str],
    conditions: Sequence[str],
) -> dict:
    """A row of the scores table: the columns that identify the answer, the item's columns
    `conditions`, outcome and score, and `chosen`, the text of the option that the answer names.
    """
    row = {name: response[name] for name in ("item_id", "model", "method", "sample", "asked_as")}
    row |= {name: item[name] for name in conditions}
    row["outcome"] = verdict.outcome
    row["score"] = float(verdict.outcome == "correct")
    row["chosen"] = None if verdict.key is None else item["choices"][keys.index(verdict.key)]
    return row


def table_of(
    rows: Sequence[Mapping],
    asked: Sequence[tuple[Mapping, Mapping]],
    keys: Sequence[str],
    where: str,
) -> pd.DataFrame:
    """The scores table made of `rows`, checked, with the column `words` (see `words_of`) added.

    rows: of `scored`, one for each pair (item, response) of `asked`; where: what messages call the
    table. Warns if more than half of the answers to questions with options are unreadable, and
    `by_text` would read some of them. Errors: `InputError` if there are no rows or a check fails.
    """
    if not rows:
        raise InputError("responses: found no answers to score, expected at least one")
    words = []
    n_choosing = 0
    unreadable = []
    for row, (item, response) in zip(rows, asked, strict=True):
        words.append(words_of(item, response, row.get("chosen"), keys))
        if len(item["choices"]):
            n_choosing += 1
            if row["outcome"] == "unparsed":
                unreadable.append(named_by_text(item, response["response"], keys))
    n_by_text = len(unreadable) - unreadable.count(None)
    if n_by_text and 2 * len(unreadable) > n_choosing:
        warnings.warn(
            f"{where}: {len(unreadable):,} of {n_choosing:,} answers are unreadable; {n_by_text:,}"
            " of these are an option's text without its letter, which score(…, by_text=True) reads",
            stacklevel=3,
        )
    return check(pd.DataFrame(rows).assign(words=words), "scores", where)


def credited_unread_in_words(scores: pd.DataFrame) -> str:
    """A sentence that says how many answers the released rule credits although they are unreadable,
    cut off or refused here.
    """
    is_unread = scores["outcome"].isin(["unparsed", "truncated", "refused"])
    credited = int((is_unread & scores["by_released_rule"].eq(True)).sum())
    if credited == 0:
        return "It would credit none of the answers that are unreadable, cut off or refused here."
    return (
        f"It would credit {credited:,} more answers, which are unreadable, cut off or refused here."
    )


def words_of(item: Mapping, response: Mapping, chosen: str | None, keys: Sequence[str]) -> str:
    """Which option's words an answer has beside the letter of `chosen`, the option that it names:
    "same" (the words of `chosen`), "other" (those of another option of the item), "elsewhere"
    (those of an option of another question in the prompt; needs the response's `messages`) or ""
    (no option's words, or the answer names no option).
    """
    options = list(item["choices"])
    if chosen not in options:
        return ""
    answer, _ = visible(response["response"])
    texts = _beside_letter(answer, keys[options.index(chosen)], keys)
    for text in texts:
        option = _option_in(text, options)
        if option:
            return "same" if option == chosen else "other"
    prompt = str(response.get("messages")).replace("\\n", "\n")
    foreign = {_plain(option) for option in re.findall(_SHOWN, prompt)}
    foreign -= {_plain(option) for option in options}
    for text in texts:
        option = _option_in(text, foreign)
        # A word or two, such as "Yes", must be all that the sentence says.
        if option and (len(option.split()) >= FEW or option == _sentence(text)):
            return "elsewhere"
    return ""


# A letter that stands for an option, as in "(A)", "a)Mei", "**B**", "A: Yes" or "A" on its line;
# the braces are filled with the letters that there are.
_LETTER = r"""(?i)(?<![^\W_])([{}])(?:\)|[.:,*_`"'”’\]](?!\w)|\s*(?=\n|\Z|[-–—]\s))"""
_SHOWN = r"(?im)^\(?[a-d]\) *(.+?) *$"  # an option as prompts list it
_STOP = r"[.!?\n]"  # the end of a sentence
FEW = 3  # words; a shorter option is only looked for at the beginning of the text beside a letter


def _beside_letter(text: str, key: str, keys: Sequence[str]) -> list[str]:
    """For each place where the letter `key` stands in a text: the text after it up to the next
    letter, and the text before it in the same sentence.
    """
    pieces = re.split(_LETTER.format("".join(keys)), text)
    texts = pieces[::2]
    neighbours = []
    for number, letter in enumerate(pieces[1::2]):
        if letter.casefold() == key.casefold():
            neighbours.append(texts[number + 1])
            neighbours.append(re.split(_STOP, texts[number])[-1])
    return neighbours


def _option_in(text: str, options: Collection[str]) -> str | None:
    """The option whose words a text begins with. Otherwise, among options of at least `FEW` words,
    the longest in its first sentence if it contains all others found there; otherwise the one that
    the sentence repeats (`_repeated`), or None.
    """
    plain_options = {option: _plain(option) for option in options}
    longest_first = sorted(options, key=len, reverse=True)
    for option in longest_first:
        if f"{_plain(text)} ".startswith(f"{plain_options[option]} "):
            return option
    sentence = _sentence(text)
    long_enough = [o for o in longest_first if len(plain_options[o].split()) >= FEW]
    held = [option for option in long_enough if f" {plain_options[option]} " in f" {sentence} "]
    if held and all(plain_options[option] in plain_options[held[0]] for option in held):
        return held[0]
    words = {option: set(plain_options[option].split()) for option in long_enough}
    return _repeated(set(sentence.split()), words)


def _repeated(sentence: set[str], words_of_options: Mapping[str, set[str]]) -> str | None:
    """The option that a sentence repeats, or None. It must be the only option with words of its own
    (which no other option has) in the sentence, at least .6 of its words must stand there, and
    both or neither must have the word "not".

    words_of_options: the words of each option, by its text.
    """
    repeated = []
    for option, words in words_of_options.items():
        rest = [words_of_options[text] for text in words_of_options if text != option]
        own_words = words.difference(*rest)
        if own_words & sentence:
            repeated.append(option)
    if len(repeated) != 1:
        return None
    words = words_of_options[repeated[0]]
    denies_alike = ("not" in sentence) == ("not" in words)
    has_most = len(words & sentence) >= 0.6 * len(words)
    return repeated[0] if denies_alike and has_most else None


def _sentence(text: str) -> str:
    """The words of a text's first sentence, in lower case."""
    return _plain(re.split(_STOP, text.strip("*_`\"' \n"))[0])


@lru_cache(maxsize=20_000)  # the options of an item come back with each of its answers
def _plain(text: str) -> str:
    """The words of a text in lower case, without punctuation; "n't" becomes "not"."""
    text = re.sub(r"n['’]t\b", " not", text.casefold())
    return " ".join(re.findall(r"[^\W_]+(?:['’][^\W_]+)*", text))


def key_of(item: Mapping, text: str, keys: Sequence[str]) -> str:
    """The letter under which an option is shown."""
    return keys[list(item["choices"]).index(text)]


def demand_orders(orders_as: str) -> None:
    """Raise `InputError` if `orders_as` is no value that `run.orders_as` can have."""
    if orders_as not in (OURS, AS_RELEASED):
        raise InputError(f"orders_as: found {orders_as!r}, expected {OURS!r} or {AS_RELEASED!r}")


def shuffled(options: Sequence[str], seed: int, item_id: str) -> list[str]:
    """The options in a random order, the same whenever `seed` and the item's id are."""
    return random.Random(f"{seed}/{item_id}").sample(options, len(options))
