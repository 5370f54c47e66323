"""Methods of two calls that fit any benchmark: first a theory-of-mind step, then the question.

perspective: the model first says what the person in question knows of the story, then answers from
that alone (SimToM: Wilf et al., 2024). perception: it first says who perceives each piece, then
answers from the pieces that the person perceives (PercepToM: Jung et al., 2024). decomposition: it
first asks and answers simpler questions, then answers from the story and these (Zhou et al., 2023;
Sarangi et al., 2025). The prompts are ours; docs/methods.md has titles and says what differs.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from tomlab.asking import prompts
from tomlab.errors import InputError

TECHNIQUES = ("perspective", "perception", "decomposition")
FIRST_TOKENS = 256  # the limit of tokens in the answer to a first call
# A line with a piece of the story, then the names of those who perceive it in square brackets.
_PIECE = re.compile(r"(?m)^\s*(?:[-*•]|\d+[.):])?\s*(\S.*?\[([^\]\n]*)\])\s*$")


@dataclass(frozen=True)
class TwoStep:
    """One of a technique's two calls, based on a plain method. Other attributes are `plain`'s."""

    technique: str
    base: str  # the name of the plain method
    plain: Any
    first: str | None  # the name of the first call's method; None if this is the first
    max_tokens: int
    keeps_story: bool  # whether the second call shows the story, too
    also: tuple[str, ...]  # further prompts of the first call

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):  # copying asks for such names before `plain` is set
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
        """The chat messages of the call. ask: the benchmark's `messages`; asks: the question.

        Errors: `InputError` for a second call if the item has no `reasoning`.
        """
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
        """The beginning that siblings' messages share. begin: the benchmark's `shared_prefix`."""
        if self.first is None:
            return item.get("background") or f"{item['story']}\n\n"
        return begin(item, self.base) if self.keeps_story else ""


def methods(
    base: str, plain: Any, prefix: str = "", keeps_story: bool = False, also: tuple[str, ...] = ()
) -> dict[str, TwoStep]:
    """Both calls of each technique by method name, based on the method `plain` with name `base`."""
    calls = {}
    for technique in TECHNIQUES:
        name = f"{prefix}{technique}"
        first = f"{name}-first"
        keeps = keeps_story or technique == "decomposition"
        calls[name] = TwoStep(technique, base, plain, first, plain.max_tokens, keeps, also)
        calls[first] = TwoStep(technique, base, plain, None, FIRST_TOKENS, keeps, also)
    return calls


def perceived(text: str, question: str) -> str:
    """The pieces perceived by the person whom the question names first.

    text: the first call's answer; it comes back whole if the question names no perceiver in it.
    """
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
