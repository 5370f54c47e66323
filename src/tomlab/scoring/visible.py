"""What of a model's text is its answer: no thinking, no calls of tools, no later turn of a chat.

Models and servers mark these in many ways: `<think>…</think>`, `[THINK]…[/THINK]`,
`◁think▷…◁/think▷`, `<|begin_of_thought|>…<|end_of_thought|>`, channels, a fence named "thinking".
A mark is known by the words in its name, whatever brackets stand around it. The words are data.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


# A mark with one of these words stands around what is no answer.
THOUGHTS = _set(
    "think thinking thought thoughts reason reasoning reasons reflection reflect scratchpad"
    " analysis analyze rationale monologue deliberation cot inner internal plan planning draft"
    " critique commentary details tool tools function functions call calls invoke action"
    " observation search information"
)
# One with these, and none of the above, stands around the answer.
ANSWERS = _set("answer answers final solution response output result conclusion")
# One with these ends the answer: a turn of the chat is over, or somebody else's begins.
TURNS = _set(
    "s eos bos eot eom eod endoftext return turn end user human system assistant inst sys im"
    " sentence text header"
)
# Words that say which end of a block a mark is.
BEGINS = _set("begin start prefix")
ENDS = _set("end suffix")
# A turn with one of these is not the model's.
OTHERS = _set("user human system inst sys")

# A text without one of these has no mark.
_HINTS = ("<", "[", "◁", "```", "~~~", "assistant", "analysis", "response", "Response", "RESPONSE")
_HINTS += ("process", "Process", "PROCESS")
_MARK = re.compile(
    r"""
      (?:<\|channel\|>|\A)\s*(?P<channel>analysis|commentary|final)\b(?:[^<]|<\|constrain\|>)*<\|message\|>
    # The same, its special tokens taken out:
    | (?-i:assistant(?P<glued>final|analysis|commentary))
    | \A\s*(?-i:(?P<opened>analysis)(?=[A-Z"'(*]))
    | <\|channel>(?P<open_channel>\s*\w*)
    | <(?P<close_channel>channel)\|>
    | <\|(?:im_start|start|start_header_id)\|>[^\S\n]*(?P<role>\w*)(?:<\|end_header_id\|>)?
    | \[unused1(?P<unused>[67])\]
    | <(?P<pipe>[|｜]?)\s*(?P<slash>/?)\s*(?P<angle>[A-Za-z][\w:.▁-]{0,40}(?:\ \w+){0,3})
      (?:\s+\w+=[^<>]{0,80})?\s*[|｜]?>
    | \[(?P<square_slash>/?)(?P<square>[A-Za-z]\w*(?:\ \w+){0,3})\]
    | ◁(?P<triangle_slash>/?)(?P<triangle>\w+)▷
    | (?P<fence>```|~~~)[^\S\n]*(?P<language>\w*)
    | \A\W*(?P<process>here(?:['’]s|\ is)\ my\ thought\ process\W{0,4}:[*_]*)
    | (?P<reply>here(?:['’]s|\ is)\ my\ response\W{0,4}:[*_]*)
    """,
    re.VERBOSE | re.IGNORECASE,
)


class _Mark(NamedTuple):
    start: int
    end: int
    # "thought", "fence" (a bare one), "answer", "final" (all before was none), "turn", "nothing"
    kind: str
    closes: bool
    name: str


def visible(text: str) -> tuple[str, bool]:
    """The answer in `text`, and whether thinking was left open. Open thinking, and what stands
    before a closing mark that none opened, is never an answer. Where a section is marked as the
    answer, it alone is.
    """
    if not any(hint in text for hint in _HINTS):
        return text.strip(), False
    scan = _Scan()
    position = 0
    for mark in _marks(text):
        scan.add(text[position : mark.start])
        position = mark.end
        if mark.kind == "turn":
            scan.close_channel()
            if scan.has_text() or mark.name == "other":
                break
        elif mark.kind == "final":
            scan.restart()
        elif mark.kind == "answer":
            scan.at_section(mark)
        elif mark.kind == "fence" and scan.thought != mark.name:
            scan.add(text[mark.start : mark.end])
        elif mark.kind in ("thought", "fence") and mark.closes:
            scan.close(mark.name)
        elif mark.kind == "thought":
            scan.open(mark.name)
    else:
        scan.add(text[position:])
    return scan.answer()


class _Scan:
    """The text outside of thoughts, as it is read from mark to mark."""

    def __init__(self) -> None:
        self.restart()

    def restart(self) -> None:
        self.outside: list[str] = []  # the text outside of thoughts
        self.sections: list[list[str]] = []  # of this, what was marked as the answer
        self.in_section = False
        self.thought = ""  # the name of the open one
        self.within: list[str] = []  # names that were opened in it
        self.last_words: list[str] | None = None  # a section in an open thought, at its end

    def add(self, piece: str) -> None:
        if self.thought:
            if self.last_words is not None and self.in_section:
                self.last_words.append(piece)
            elif piece.strip():
                self.last_words = None
            return
        self.outside.append(piece)
        if self.in_section:
            self.sections[-1].append(piece)

    def has_text(self) -> bool:
        return not self.thought and bool("".join(self.outside).strip())

    def open(self, name: str) -> None:
        if self.thought:
            self.within.append(name)
        else:
            self.thought = name

    def close(self, name: str) -> None:
        """A thought ends: the open one, one within it, or one that began before the text did."""
        if name == self.thought:
            self.thought = ""
            self.within = []
            self.last_words = None
            self.in_section = False
        elif self.thought and name in self.within:
            self.within.remove(name)
        else:
            self.restart()

    def close_channel(self) -> None:
        if self.thought == "channel":
            self.close("channel")

    def at_section(self, mark: _Mark) -> None:
        if self.thought:
            if not mark.closes:
                self.last_words = []
            self.in_section = not mark.closes and self.last_words is not None
        elif mark.closes:
            self.in_section = False
        elif not _LABEL.search(self.outside[-1][-200:]):
            self.in_section = True
            self.sections.append([])

    def answer(self) -> tuple[str, bool]:
        if self.thought and self.last_words and not self.in_section:
            return "".join(self.last_words).strip(), False
        texts = ["".join(section).strip(" \n\t:") for section in self.sections]
        texts = [text for text in dict.fromkeys(texts) if text]
        if not texts:
            texts = ["".join(self.outside)]
        return "\n".join(texts).strip(), bool(self.thought)


# "Answer: b)" on the line before `<answer>`: that is a gap of the prompt, copied.
_LABEL = re.compile(r"answer\W{0,4}:[^\n]*\w[^\n]*\Z", re.IGNORECASE)


def _marks(text: str) -> Iterator[_Mark]:
    for match in _MARK.finditer(text):
        mark = _mark(match, text)
        if mark is not None:
            yield mark


def _mark(match: re.Match, text: str) -> _Mark | None:
    """What a match of `_MARK` stands for; None if it is part of the text."""
    start, end = match.span()
    channel = match["channel"] or match["glued"] or match["opened"]
    if channel:
        kind = "final" if channel.lower() == "final" else "thought"
        return _Mark(start, end, kind, closes=False, name="channel")
    if match["open_channel"] is not None or match["close_channel"]:
        return _Mark(start, end, "thought", closes=bool(match["close_channel"]), name="channel")
    if match["unused"]:
        return _Mark(start, end, "thought", closes=match["unused"] == "7", name="unused")
    if match["role"] is not None:
        return _of_role(start, end, match["role"].lower())
    if match["process"]:
        return _Mark(start, end, "thought", closes=False, name="process")
    if match["reply"]:
        return _Mark(start, end, "final", closes=False, name="process")
    if match["fence"]:
        return _of_fence(match)
    return _of_tag(match, text)


def _of_role(start: int, end: int, role: str) -> _Mark:
    """The mark of a token such as <|im_start|> with the role behind it."""
    if role in THOUGHTS:
        return _Mark(start, end, "thought", closes=False, name="role")
    if role in ANSWERS:
        return _Mark(start, end, "final", closes=False, name="role")
    return _Mark(start, end, "turn", closes=False, name="other" if role in OTHERS else "model")


def _of_fence(match: re.Match) -> _Mark | None:
    """A fence named as a thought opens one; a bare one may close it."""
    if not match["language"]:
        return _Mark(*match.span(), "fence", closes=True, name=match["fence"])
    if THOUGHTS.isdisjoint(_words(match["language"])):
        return None
    return _Mark(*match.span(), "thought", closes=False, name=match["fence"])


def _of_tag(match: re.Match, text: str) -> _Mark | None:
    """The mark of a name in brackets of any kind."""
    name = match["angle"] or match["square"] or match["triangle"]
    words = _words(name)
    closes = bool(match["slash"] or match["square_slash"] or match["triangle_slash"])
    if match["square"] and not closes and not name.isupper() and f"[/{name}]" not in text:
        return None  # "[reason]" is a gap to fill
    known = THOUGHTS | ANSWERS | TURNS | BEGINS | ENDS
    if " " in name and not known.issuperset(words):
        return None
    names = [word for word in words if word not in BEGINS | ENDS]
    begins = not BEGINS.isdisjoint(words)
    closes = closes or not ENDS.isdisjoint(words)
    if not THOUGHTS.isdisjoint(names):
        return _Mark(*match.span(), "thought", closes, "/".join(names))
    if not ANSWERS.isdisjoint(names):
        return _Mark(*match.span(), "final" if begins else "answer", closes, "answer")
    if not TURNS.isdisjoint(words):
        is_other = not closes and not OTHERS.isdisjoint(words)
        return _Mark(*match.span(), "turn", closes, "other" if is_other else "model")
    if match["pipe"]:
        return _Mark(*match.span(), "nothing", closes, name)
    return None


def _words(name: str) -> list[str]:
    words = re.split(r"[\W_▁]+", name.lower())
    return [word for word in words if word not in ("", "of", "id")]
