"""Methods of two calls that fit any benchmark: a step that theory of mind takes, then the question.

perspective: first what the person in question knows of the story, then the question on that alone
(SimToM: Wilf et al., 2024). perception: first who perceives each piece, then the question on the
pieces that the person perceives (PercepToM: Jung et al., 2024). decomposition: first simpler
questions with their answers, then the question on story and answers (Zhou et al., 2023; Sarangi et
al., 2025). The prompts are ours; docs/methods.md has the titles and tells what differs.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from tomlab.asking import prompts
from tomlab.errors import InputError

TECHNIQUES = ("perspective", "perception", "decomposition")
FIRST_TOKENS = 256  # the limit of a first call
# A piece of the text with those who perceive it, perhaps as an item of a list.
_PIECE = re.compile(r"(?m)^\s*(?:[-*•]|\d+[.):])?\s*(\S.*?\[([^\]\n]*)\])\s*$")


@dataclass(frozen=True)
class TwoStep:
    """One call of a technique on top of a plain method, which says all that is not said here."""

    technique: str
    base: str  # the name of the plain method
    plain: Any
    first: str | None  # the method of the first call, None where this is it
    max_tokens: int
    keeps_story: bool  # whether the second call shows the story, too
    also: tuple[str, ...]  # further prompts of the first call

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):  # what copying looks for before there is a plain method
            raise AttributeError(name)
        return getattr(self.plain, name)

    @property
    def prompts(self) -> tuple[str, ...]:
        if self.first is None:
            return (*self.also, f"techniques/{self.technique}-first")
        return (*self.plain.prompts, f"techniques/{self.technique}-second")

    def messages(
        self, ask: Callable, item: Mapping, asks: str, replaced: Mapping[str, str] | None
    ) -> list[dict[str, str]]:
        """The chat messages of the call. ask: the benchmark's `messages`; asks: what is asked."""
        if self.first is None:
            instruction = prompts.load(f"techniques/{self.technique}-first", replaced)
            return [{"role": "user", "content": f"{item['story']}\n\n{asks}\n\n{instruction}"}]
        if "reasoning" not in item:
            raise InputError(f"{item['benchmark']}: {self.first} has to be answered before")
        reasoning = item["reasoning"]
        if self.technique == "perception":
            reasoning = perceived(reasoning, asks.rpartition("Question:")[2])
        story = prompts.filled(f"techniques/{self.technique}-second", replaced, said=reasoning)
        if self.keeps_story:
            story = f"{item['story']}\n\n{story}"
        return ask({**item, "story": story}, self.base, replaced)

    def shared_prefix(self, begin: Callable, item: Mapping) -> str:
        """What siblings share of the message's beginning. begin: the benchmark's own function."""
        if self.first is None:
            return item.get("background") or f"{item['story']}\n\n"
        return begin(item, self.base) if self.keeps_story else ""


def methods(
    base: str, plain: Any, prefix: str = "", keeps_story: bool = False, also: tuple[str, ...] = ()
) -> dict[str, TwoStep]:
    """Both calls of each technique by name, on top of the method `plain` of the name `base`."""
    calls = {}
    for technique in TECHNIQUES:
        name = f"{prefix}{technique}"
        first = f"{name}-first"
        keeps = keeps_story or technique == "decomposition"
        calls[name] = TwoStep(technique, base, plain, first, plain.max_tokens, keeps, also)
        calls[first] = TwoStep(technique, base, plain, None, FIRST_TOKENS, keeps, also)
    return calls


def perceived(text: str, question: str) -> str:
    """The pieces of a text that the person perceives whom the question names first, else it all."""
    pieces = []
    for piece, names in _PIECE.findall(text):
        pieces.append((piece, [name.strip().casefold() for name in names.split(",")]))
    places = {}
    for _, names in pieces:
        for name in filter(None, names):
            match = re.search(rf"\b{re.escape(name)}\b", question.casefold())
            if match:
                places[name] = match.start()
    if not places:
        return text
    person = min(places, key=lambda name: (places[name], name))
    return "\n".join(piece for piece, names in pieces if person in names)
