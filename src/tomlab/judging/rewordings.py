"""Answers to two-option items in free words whose meaning is known by construction (for graders of
what names no option: BigToM's released code, SimpleToM Sec. 4; as in OmniToM, App. B.4).

Options are rewritten by listed operations, and the operation is the label: it says which option the
answer means, or that it means neither. Nobody judged these answers; their column `source` says so.
"""

import random
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import pandas as pd

from tomlab.errors import InputError
from tomlab.judging.constructed import KNOWN, balanced, capital
from tomlab.scoring.similarity import shared

NONE = "none"
_Wordings = Sequence[str] | Mapping[str, Sequence[str]]

# What is said of an option by the verb that it is put with: of what somebody believes, or will do.
_OTHER_VERB = {
    "believes": ("{who} thinks that {rest}.", "{who} is of the opinion that {rest}."),
    "will": ("{who} is going to {rest}.", "{who} is about to {rest}."),
}
_CONVINCED = {
    "believes": ("{who} is convinced that {rest}.", "{who} is sure that {rest}."),
    "will": ("{who} intends to {rest}.", "{who} is determined to {rest}."),
}
_TURNED = {
    "believes": ("That {rest} is what {who} believes.", "{Rest}, {who} believes."),
    "will": ("What {who} will do is {rest}.", "To {rest} is what {who} will do."),
}
_DENIED = {
    "believes": ("{who} does not believe that {rest}.", "{who} does not think that {rest}."),
}
_CONTRACTIONS = ((r"^(\w+) will ", r"\1'll "), (r"(?<=\w) (?:is|has(?= been))(?= \w)", "'s"))
# One saying for another that means the same in such options.
_SYNONYMS = (
    (r"\basleep\b", "sleeping"),
    (r"\bis taken$", "is occupied"),
    (r"\bsupple\b", "flexible"),
    (r"\bstiff\b", "rigid"),
    (r"\bslack\b", "loose"),
    (r"\btight\b", "taut"),
    (r"\bfoul\b", "nasty"),
    (r"\bout of order\b", "broken down"),
    (r"\bhas stopped\b", "has come to a halt"),
    (r"\bstanding still\b", "not moving"),
    (r"\bin good condition\b", "in good shape"),
    (r"\bin perfect condition\b", "in flawless condition"),
    (r"\bis perfect for\b", "is ideal for"),
    (r"\bhealthy$", "in good health"),
    (r"\bbegins\b", "starts"),
    (r"\bwill start\b", "will begin"),
    (r"\bstart to\b", "begin to"),
    (r"\bprepare to\b", "get ready to"),
    (r"\bcosts\b", "is priced at"),
    (r"\bcontains\b", "holds"),
    (r"\bis filled with\b", "is full of"),
    (r"\bis in (?=the|room)", "can be found in "),
    (r"\blook for\b", "search for"),
    (r"\b(will|to) search for\b", r"\1 look for"),
    (r"\bcarry\b", "take"),
    (r"\bbring\b", "take"),
    (r"\bbuy\b", "purchase"),
    (r"\bgather\b", "collect"),
    (r"\bmend\b", "repair"),
)
_LONGER = (
    "From what the story tells us, {option}, and nothing in it speaks against that.",
    "When I put together everything that is said, my answer is that {option}.",
    "Given how the story goes, {option}, which is what one would expect of anybody there.",
)
_HEDGED = (
    "I am not entirely sure, but it seems that {option}.",
    "My best guess would be that {option}.",
    "Probably {option}, as far as one can tell.",
)
_BOTH = (
    "Either {option}, or {other}; the story allows both.",
    "It may be that {option}, and it may just as well be that {other}.",
    "{option}. Or perhaps {other}.",
)
_DECLINED = (
    "I cannot say.",
    "There is not enough information to tell.",
    "The story leaves this open.",
    "It is impossible to know what goes on in the mind of {who}.",
    "I do not know; {who} might do or think anything.",
)
# Words in which two options differ and of which one holds where the other does not, so that to deny
# the one is to say the other.
COMPLEMENTARY = tuple(
    frozenset(pair)
    for pair in (
        ("awake", "asleep"),
        ("ripe", "unripe"),
        ("open", "closed"),
        ("empty", "taken"),
        ("running", "out of order"),
        ("is running", "has stopped"),
        ("moving", "standing still"),
        ("locked", "unlocked"),
        ("on", "off"),
        ("intact", "cracked"),
        ("intact", "broken"),
    )
)
# Where both differing parts have a number, or both are a thing or a place, there are more of their
# kind, so that to deny the one is not to say the other.
_NUMBER = re.compile(
    r"\b(two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|twenty|thirty|forty|fifty|sixty"
    r"|seventy|eighty|ninety|hundred|\d+)"
)
_THING = re.compile(r"(?:(?:at|by|for|from|in|on|to) )?(?:the|an?|her|his)(?: [\w-]+){1,3}")
_OPTION = re.compile(r"(?P<who>[^\W\d_][\w-]*) (?P<verb>believes|will)(?: that)? (?P<rest>.+)")
# An answer of another template is none of this one's if it shares less than this with each option.
_UNLIKE = 0.5


@dataclass(frozen=True)
class _Case:
    """An option to be reworded: without its full stop, beside the other one, its item's story, and
    the case of another template.
    """

    option: str
    other: str
    story: str
    stranger: "_Case | None"
    draw: random.Random

    @property
    def parts(self) -> dict[str, str]:
        """who, verb and rest of the option; {} where it is put in another way."""
        found = _OPTION.fullmatch(self.option)
        return found.groupdict() if found else {}

    @property
    def differing(self) -> tuple[str, str]:
        """The words between what both options begin and end with."""
        one, two = self.option.split(), self.other.split()
        start = _shared_words(one, two)
        end = _shared_words(one[start:][::-1], two[start:][::-1])
        return tuple(" ".join(words[start : len(words) - end]) for words in (one, two))

    def filled(self, wordings: _Wordings) -> str | None:
        """One of the wordings about this option; None where it has no such parts."""
        parts = self.parts
        if isinstance(wordings, Mapping):
            wordings = wordings.get(parts.get("verb"), ())
        if not wordings or ("{who}" in "".join(wordings) and not parts):
            return None
        more = {"Rest": capital(parts["rest"])} if parts else {}
        text = self.draw.choice(wordings)
        return capital(text.format(option=self.option, other=self.other, **parts, **more))


def _shared_words(one: Sequence[str], two: Sequence[str]) -> int:
    both = enumerate(zip(one, two, strict=False))
    return next((i for i, (a, b) in both if a != b), min(len(one), len(two)))


def _first_rule(case: _Case, rules: Sequence[tuple[str, str]]) -> str | None:
    """The option with one of the rules that apply carried out once."""
    able = [rule for rule in rules if re.search(rule[0], case.option)]
    return re.sub(*case.draw.choice(able), case.option, count=1) + "." if able else None


def _fragment(case: _Case) -> str | None:
    """The option from the first word on that the other one has not."""
    one, two = case.option.split(), case.other.split()
    words = " ".join(one[_shared_words(one, two) :])
    return capital(words) + "." if words else None


def _other_denied(case: _Case) -> str | None:
    if frozenset(case.differing) not in COMPLEMENTARY:
        return None
    return _Case(case.other, case.option, case.story, None, case.draw).filled(_DENIED)


def _denied(case: _Case) -> str | None:
    alike = any(all(map(many, case.differing)) for many in (_NUMBER.search, _THING.fullmatch))
    return case.filled(_DENIED) if alike else None


def _of_another(case: _Case) -> str | None:
    """What somebody in another template believes or will do, said of the person in this one."""
    own, theirs = case.parts, case.stranger.parts if case.stranger else {}
    if not own or own["verb"] != theirs.get("verb"):
        return None
    text = f"{own['who']} {own['verb']} {theirs['rest']}"
    rests = [_OPTION.sub(r"\g<rest>", option) for option in (case.option, case.other)]
    alike = max(shared(theirs["rest"], rest) for rest in rests)
    fitted = re.sub(rf"\b{re.escape(theirs['who'])}\b", own["who"], text)
    return fitted + "." if alike < _UNLIKE else None


def _sentences(story: str, count: int) -> str:
    return " ".join(re.split(r"(?<=[.!?])\s+", story)[:count])


# How an answer is made that means an option, and how one that means neither: by one of some
# wordings, or by a function (None: not of this one).
MEANS: dict[str, _Wordings | Callable[[_Case], str | None]] = {
    "verbatim": lambda case: case.option + ".",
    "other verb": _OTHER_VERB,
    "convinced": _CONVINCED,
    "clause order": _TURNED,
    "contraction": lambda case: _first_rule(case, _CONTRACTIONS),
    "synonym": lambda case: _first_rule(case, _SYNONYMS),
    "fragment": _fragment,
    "longer sentence": _LONGER,
    "hedged": _HEDGED,
    "complement denied": _other_denied,
}
MEANS_NONE: dict[str, _Wordings | Callable[[_Case], str | None]] = {
    "both options": _BOTH,
    "one denied": _denied,
    "cannot say": _DECLINED,
    "other template": lambda case: case.stranger and _sentences(case.stranger.story, 1),
    "other template's option": _of_another,
    "beginning of the story": lambda case: _sentences(case.story, 2),
}


def constructed(items: pd.DataFrame, n: int, seed: int) -> pd.DataFrame:
    """n answers known by construction: `unit, group` (template), `item_id, text, truth, operation,
    source`.

    truth: "right" or "wrong", the option of the item that the answer means, or "none"; a third
    each, and operations (`MEANS`, `MEANS_NONE`) as equally as options allow. To deny one option
    means the other if they are `COMPLEMENTARY`, and neither if both are one of many of a kind; no
    others are denied. No text stands twice in one template.
    Errors: `InputError` if so many cannot be made.
    """
    draw = random.Random(f"bigtom-grading/{seed}")
    asked = [
        draw.choice(same.to_dict("records"))
        for _, same in items.groupby(["group_id", "question_type"], sort=True)
    ]
    if not asked:
        raise InputError("grading: found no items to make answers from")
    rows = [row for item in asked for row in _rewritten(item, asked, draw)]
    draw.shuffle(rows)
    made = pd.DataFrame(rows)
    return balanced(made.drop_duplicates(["group", "text"]), n, ["truth"])


def _rewritten(item: Mapping, items: Sequence[Mapping], draw: random.Random) -> list[dict]:
    """What the operations make of either option of an item."""
    right = item["answer"]
    [wrong] = [choice for choice in item["choices"] if choice != right]
    strangers = [
        _Case(_bare(other["answer"]), "", other["story"], None, draw)
        for other in items
        if other["group_id"] != item["group_id"] and other["question_type"] == item["question_type"]
    ]
    about, rows = f"{item['group_id']}/{item['question_type']}", []
    for meant, options in (("right", (right, wrong)), ("wrong", (wrong, right))):
        makers = [(meant, *made) for made in MEANS.items()]
        makers += [(NONE, *made) for made in MEANS_NONE.items()]
        for truth, operation, make in makers:
            stranger = draw.choice(strangers) if strangers else None
            case = _Case(*map(_bare, options), item["story"], stranger, draw)
            if text := make(case) if callable(make) else case.filled(make):
                unit = f"{about}/{operation}/{meant}"
                keys = {"unit": unit, "group": item["group_id"], "item_id": item["item_id"]}
                told = {"text": text, "truth": truth, "operation": operation, "source": KNOWN}
                rows.append(keys | told)
    return rows


def _bare(option: str) -> str:
    return option.strip().rstrip(".")
