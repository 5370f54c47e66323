"""Finds the answer in a model's text, without thinking, calls of tools and later turns of a chat.

Models and servers mark these in many ways: `<think>…</think>`, `[THINK]…[/THINK]`,
`◁think▷…◁/think▷`, `<|begin_of_thought|>…<|end_of_thought|>`, channels, a fence named "thinking".
A mark is recognised by the words in its name, whatever brackets stand around it.
"""

import re
from typing import NamedTuple


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


# A mark whose name has one of these words encloses text that is not part of the answer.
THOUGHTS = _set(
    "think thinking thought thoughts reason reasoning reasons reflection reflect scratchpad"
    " analysis analyze rationale monologue deliberation cot inner internal plan planning draft"
    " critique commentary details tool tools function functions call calls invoke action"
    " observation search information"
)
# A mark with one of these words, and none of the above, encloses the answer.
ANSWERS = _set("answer answers final solution response output result conclusion")
# A mark with one of these ends the answer: a turn of the chat is over, or somebody else's begins.
TURNS = _set(
    "s eos bos eot eom eod endoftext return turn end user human system assistant inst sys im"
    " sentence text header"
)
# Words that say whether a mark begins or ends a block.
BEGINS = _set("begin start prefix")
ENDS = _set("end suffix")
# A turn whose mark has one of these words is not the model's.
OTHERS = _set("user human system inst sys")
_KNOWN = THOUGHTS | ANSWERS | TURNS | BEGINS | ENDS

# A text without any of these has no mark.
_HINTS = (
    *("<", "[", "◁", "```", "~~~", "assistant", "analysis"),
    *("response", "Response", "RESPONSE", "process", "Process", "PROCESS"),
)
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
    # "thought", "answer", "turn", "nothing", "fence" (one without a name), or "final": the answer
    # begins here, and no text before belongs to it.
    kind: str
    name: str
    closes: bool = False


def visible(text: str) -> tuple[str, bool]:
    """The answer in `text`, and whether a thought is still open at its end. Text before a closing
    mark that has no opening one is not part of the answer, nor is an open thought, unless a section
    marked as the answer ends it. If sections are marked as the answer, the answer is these alone.
    """
    if not any(hint in text for hint in _HINTS):
        return text.strip(), False
    scan = _Scan()
    position = 0
    for match in _MARK.finditer(text):
        mark = _mark(match, text)
        if mark is None:
            continue
        scan.add(text[position : match.start()])
        position = match.end()
        if mark.kind == "fence" and scan.thought != mark.name:
            scan.add(match[0])  # a block of code
        elif mark.kind == "turn":
            scan.close_channel()
            if scan.has_text() or mark.name == "other":
                return scan.answer()
        else:
            scan.at_mark(mark)
    scan.add(text[position:])
    return scan.answer()


class _Scan:
    """Collects the text outside of thoughts while a text is read from mark to mark."""

    def __init__(self) -> None:
        self.restart()

    def restart(self) -> None:
        """Drops all text so far, none of which is part of the answer."""
        self.outside: list[str] = []  # the text outside of thoughts
        self.sections: list[list[str]] = []  # the parts of it that are marked as the answer
        self.in_section = False
        self.thought = ""  # the name of the open thought, "" if none is open
        self.nested: list[str] = []  # the names of thoughts that are open within it
        self.last_words: list[str] | None = None  # the answer section that ends an open thought

    def add(self, piece: str) -> None:
        """Adds the text between two marks to the part in which it stands."""
        if not self.thought:
            self.outside.append(piece)
            if self.in_section:
                self.sections[-1].append(piece)
        elif self.last_words is not None and self.in_section:
            self.last_words.append(piece)
        elif piece.strip():
            self.last_words = None

    def has_text(self) -> bool:
        return not self.thought and bool("".join(self.outside).strip())

    def at_mark(self, mark: _Mark) -> None:
        """Opens or closes the thought or section that a mark stands for."""
        if mark.kind == "final":
            self.restart()
        elif mark.kind == "answer":
            self._at_section(mark.closes)
        elif mark.closes and mark.kind in ("thought", "fence"):
            self._close(mark.name)
        elif mark.kind == "thought" and self.thought:
            self.nested.append(mark.name)
        elif mark.kind == "thought":
            self.thought = mark.name

    def _at_section(self, closes: bool) -> None:
        if self.thought:
            if not closes:
                self.last_words = []
            self.in_section = not closes
        elif closes:
            self.in_section = False
        elif not _LABEL.search(self.outside[-1][-200:]):
            self.in_section = True
            self.sections.append([])

    def _close(self, name: str) -> None:
        """Ends a thought: the open one, one within it, or one that began before the text did."""
        if name == self.thought:
            self.thought = ""
            self.nested = []
            self.last_words = None
            self.in_section = False
        elif self.thought and name in self.nested:
            self.nested.remove(name)
        else:
            self.restart()

    def close_channel(self) -> None:
        if self.thought == "channel":
            self._close("channel")

    def answer(self) -> tuple[str, bool]:
        """The answer in the text so far, and whether a thought is open, as `visible` returns."""
        if self.thought and self.last_words and not self.in_section:
            return "".join(self.last_words).strip(), False
        texts = []
        for section in self.sections:
            text = "".join(section).strip(" \n\t:")
            if text and text not in texts:
                texts.append(text)
        if not texts:
            texts = ["".join(self.outside)]
        return "\n".join(texts).strip(), bool(self.thought)


# After "Answer: b)" on the same line, `<answer>` is a placeholder copied from the prompt.
_LABEL = re.compile(r"answer\W{0,4}:[^\n]*\w[^\n]*\Z", re.IGNORECASE)


def _mark(match: re.Match, text: str) -> _Mark | None:
    """What a match of `_MARK` stands for; None if it is part of the text."""
    channel = match["channel"] or match["glued"] or match["opened"]
    if channel:
        return _Mark("final" if channel.lower() == "final" else "thought", "channel")
    if match["open_channel"] is not None:
        return _Mark("thought", "channel")
    if match["close_channel"]:
        return _Mark("thought", "channel", closes=True)
    if match["unused"]:
        return _Mark("thought", "unused", closes=match["unused"] == "7")
    if match["role"] is not None:
        return _of_role(match["role"].lower())
    if match["process"]:
        return _Mark("thought", "process")
    if match["reply"]:
        return _Mark("final", "process")
    if match["fence"]:
        return _of_fence(match)
    return _of_tag(match, text)


def _of_role(role: str) -> _Mark:
    """The mark of a token such as <|im_start|> that is followed by `role`."""
    if role in THOUGHTS:
        return _Mark("thought", "role")
    if role in ANSWERS:
        return _Mark("final", "role")
    return _Mark("turn", "other" if role in OTHERS else "model")


def _of_fence(match: re.Match) -> _Mark | None:
    """The mark of a fence: one named as a thought opens a thought, and one without a name may close
    it. None for other names, which open a block of code.
    """
    if not match["language"]:
        return _Mark("fence", match["fence"], closes=True)
    if THOUGHTS.isdisjoint(_words(match["language"])):
        return None
    return _Mark("thought", match["fence"])


def _of_tag(match: re.Match, text: str) -> _Mark | None:
    """The mark of a name in brackets of any kind; None if it is part of the text."""
    name = match["angle"] or match["square"] or match["triangle"]
    words = _words(name)
    closes = bool(match["slash"] or match["square_slash"] or match["triangle_slash"])
    is_phrase = " " in name and not _KNOWN.issuperset(words)
    # "[reason]" without a closing "[/reason]" is a placeholder.
    is_gap = match["square"] and not closes and not name.isupper() and f"[/{name}]" not in text
    if is_phrase or is_gap:
        return None
    mark = _of_words(words, closes)
    if mark is None and match["pipe"]:
        return _Mark("nothing", name)
    return mark


def _of_words(words: list[str], closes: bool) -> _Mark | None:
    """The mark whose name has these words; None if none of them is known as a mark's."""
    topics = [word for word in words if word not in BEGINS | ENDS]
    if not ENDS.isdisjoint(words):
        closes = True
    if not THOUGHTS.isdisjoint(topics):
        return _Mark("thought", "/".join(topics), closes)
    if not ANSWERS.isdisjoint(topics):
        return _Mark("answer" if BEGINS.isdisjoint(words) else "final", "answer", closes)
    if TURNS.isdisjoint(words):
        return None
    is_other = not closes and not OTHERS.isdisjoint(words)
    return _Mark("turn", "other" if is_other else "model", closes)


def _words(name: str) -> list[str]:
    words = re.split(r"[\W_▁]+", name.lower())
    return [word for word in words if word not in ("", "of", "id")]


def reasoning_of(response: str, method: str) -> str:
    """What the second call of any method takes from the first response: its `visible` answer."""
    return visible(response)[0]
