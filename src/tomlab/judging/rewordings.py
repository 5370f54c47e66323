"""Free-form answers to two-option items whose meaning is known by construction, to test graders of
unreadable answers (BigToM's released code, SimpleToM Sec. 4; as in OmniToM, App. B.4).

Options are rewritten by operations listed in `rewordings.yaml`. The operation is the label: it says
which option the answer means, if any. No person labelled these answers, as `source` says.
"""

import random
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import takewhile
from typing import NamedTuple

import pandas as pd

from tomlab.errors import InputError
from tomlab.judging.constructed import balanced, capital
from tomlab.records.files import yaml_beside
from tomlab.records.tidy import KNOWN
from tomlab.scoring.similarity import shared

NONE = "none"
_DATA = yaml_beside(__file__)
COMPLEMENTARY = [set(pair) for pair in _DATA["complementary"]]
# If the parts in which two options differ both have a number, or both are a thing or a place, other
# numbers, things or places are possible, so to deny one option is not to mean the other.
_NUMBER = re.compile(rf"\b({'|'.join(_DATA['numbers'])}|\d+)")
_THING = re.compile(r"(?:(?:at|by|for|from|in|on|to) )?(?:the|an?|her|his)(?: [\w-]+){1,3}")
_OPTION = re.compile(r"(?P<who>[^\W\d_][\w-]*) (?P<verb>believes|will)(?: that)? (?P<rest>.+)")
_UNLIKE = 0.5  # an answer from another template must share less than this with each option


class _Case(NamedTuple):
    """An option to be reworded, without its full stop."""

    option: str
    other: str  # the other option of the same item
    story: str
    stranger: "_Case | None"  # the case of another template
    draw: random.Random

    @property
    def parts(self) -> dict[str, str]:
        """The option's parts `who`, `verb` and `rest`; {} if it has another form."""
        match = _OPTION.fullmatch(self.option)
        return match.groupdict() if match else {}

    @property
    def differing(self) -> tuple[str, str]:
        """The words in which the option and the other one differ, between their shared beginning
        and end.
        """
        words = self.option.split()
        others = self.other.split()
        start = _shared_words(words, others)
        end = _shared_words(words[start:][::-1], others[start:][::-1])
        differing = words[start : len(words) - end]
        return " ".join(differing), " ".join(others[start : len(others) - end])

    def filled(self, wordings: Sequence[str] | Mapping[str, Sequence[str]]) -> str | None:
        """One of the wordings, filled in for this option; None if it lacks the parts they need."""
        parts = self.parts
        if isinstance(wordings, Mapping):
            wordings = wordings.get(parts.get("verb", ""), ())
        if not wordings or ("{who}" in "".join(wordings) and not parts):
            return None
        fields = {**parts, "Rest": capital(parts.get("rest", ""))}
        text = self.draw.choice(wordings)
        return capital(text.format(option=self.option, other=self.other, **fields))

    def beginning(self, sentences: int) -> str:
        """The first sentences of the story."""
        return " ".join(re.split(r"(?<=[.!?])\s+", self.story)[:sentences])

    def replaced(self, rules: Mapping[str, str]) -> str | None:
        """The option after one of the rules that apply to it, used once; None if none applies."""
        applicable = [pattern for pattern in rules if re.search(pattern, self.option)]
        if not applicable:
            return None
        pattern = self.draw.choice(applicable)
        return re.sub(pattern, rules[pattern], self.option, count=1) + "."


def _shared_words(one: Sequence[str], two: Sequence[str]) -> int:
    """How many words both begin with."""
    return len([*takewhile(lambda pair: pair[0] == pair[1], zip(one, two, strict=False))])


def _fragment(case: _Case) -> str | None:
    """The option from the first word on in which it differs from the other one."""
    words = case.option.split()
    fragment = " ".join(words[_shared_words(words, case.other.split()) :])
    return f"{capital(fragment)}." if fragment else None


def _other_denied(case: _Case) -> str | None:
    if set(case.differing) not in COMPLEMENTARY:
        return None
    return case._replace(option=case.other, other=case.option).filled(_DATA["denied"])


def _denied(case: _Case) -> str | None:
    has_number = [_NUMBER.search(words) is not None for words in case.differing]
    is_thing = [_THING.fullmatch(words) is not None for words in case.differing]
    return case.filled(_DATA["denied"]) if all(has_number) or all(is_thing) else None


def _of_another(case: _Case) -> str | None:
    """What somebody in another template believes or will do, said of the person in this one."""
    parts = case.parts
    strangers = case.stranger.parts if case.stranger else {}
    if not parts or parts["verb"] != strangers.get("verb"):
        return None
    for option in (case.option, case.other):
        if shared(strangers["rest"], _OPTION.sub(r"\g<rest>", option)) >= _UNLIKE:
            return None
    text = f"{parts['who']} {parts['verb']} {strangers['rest']}."
    return re.sub(rf"\b{re.escape(strangers['who'])}\b", parts["who"], text)


# The operations that are functions, not wordings; they return None if an option does not allow it.
_BY_RULE: dict[str, Callable[[_Case], str | None]] = {
    "verbatim": lambda case: case.option + ".",
    "contraction": lambda case: case.replaced(_DATA["contraction"]),
    "synonym": lambda case: case.replaced(_DATA["synonym"]),
    "fragment": _fragment,
    "complement denied": _other_denied,
    "one denied": _denied,
    "other template": lambda case: case.stranger and case.stranger.beginning(1),
    "other template's option": _of_another,
    "beginning of the story": lambda case: case.beginning(2),
}
# Wordings or a function by operation: those that mean an option, and those that mean neither.
MEANS, MEANS_NONE = (
    {operation: wordings or _BY_RULE[operation] for operation, wordings in _DATA[name].items()}
    for name in ("means", "means none")
)


def constructed(items: pd.DataFrame, n: int, seed: int) -> pd.DataFrame:
    """n answers known by construction, for `grading`: `unit, group` (template), `item_id, question,
    choices, answer, text, truth, operation, source`. No text occurs twice in one template.

    truth: "right" or "wrong", the option of the item that the answer means, or "none". Each makes
    up a third, and operations (`MEANS`, `MEANS_NONE`) are as equally frequent as options allow. An
    answer that denies one option means the other if the two are `COMPLEMENTARY`, and neither if
    there are more of their kind; other options are not denied. Errors: `InputError` if n answers
    cannot be made.
    """
    draw = random.Random(f"bigtom-grading/{seed}")
    asked = []
    for _, part in items.groupby(["group_id", "question_type"], sort=True):
        asked.append(draw.choice(part.to_dict("records")))
    if not asked:
        raise InputError("grading: found no items to make answers from")
    rows: list[dict] = []
    for item in asked:
        rows += _reworded(item, asked, draw)
    draw.shuffle(rows)
    return balanced(pd.DataFrame(rows).drop_duplicates(["group", "text"]), n, ["truth"])


def _reworded(item: Mapping, items: Sequence[Mapping], draw: random.Random) -> Iterator[dict]:
    """Yields the answers that the operations make from either option of an item."""
    keys = {name: item[name] for name in ("item_id", "question", "choices", "answer")}
    group = item["group_id"]
    kind = item["question_type"]
    right = _bare(item["answer"])
    [wrong] = [_bare(choice) for choice in item["choices"] if choice != item["answer"]]
    strangers = []
    for other in items:
        if other["group_id"] != group and other["question_type"] == kind:
            strangers.append(_Case(_bare(other["answer"]), "", other["story"], None, draw))
    makers = [(True, *maker) for maker in MEANS.items()]
    makers += [(False, *maker) for maker in MEANS_NONE.items()]
    for side, option, other_option in (("right", right, wrong), ("wrong", wrong, right)):
        for means_option, operation, make in makers:
            stranger = draw.choice(strangers) if strangers else None
            case = _Case(option, other_option, item["story"], stranger, draw)
            text = make(case) if callable(make) else case.filled(make)
            if text:
                yield {
                    "unit": f"{group}/{kind}/{operation}/{side}",
                    "group": group,
                    **keys,
                    "text": text,
                    "truth": side if means_option else NONE,
                    "operation": operation,
                    "source": KNOWN,
                }


def _bare(option: str) -> str:
    return option.strip().rstrip(".")
