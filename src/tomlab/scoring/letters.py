"""Bring the letters of options into one form: "(B)", whatever stands round a letter in an answer.

A letter is only changed where it can mean nothing but an option: in "$\\boxed{B}$", "**B**",
"b)", "option B", "I choose B" or "B is correct", but not in "plan B", "a bag" or "A person".
"""

import re
import unicodedata

# Letters in circles and squares, by code point: A to D from the first letter of each alphabet.
_ENCLOSED = {
    first + number: f"({letter})"
    for first in (0x24B6, 0x24D0, 0x1F130, 0x1F150, 0x1F170)
    for number, letter in enumerate("ABCD")
}
_TYPOGRAPHY = str.maketrans("“”„«»「」『』‘’【】〔〕", '"""""""""\'\'[][]')


def in_brackets(text: str, has_colon: bool = True) -> str:
    """`text` with each letter of an option as "(A)", "(B)", …, without emphasis.

    has_colon: whether "A" in "A: …" at the beginning of a line is an option's letter; it may also
    stand for "answer:".
    """
    if not text.isascii():
        text = unicodedata.normalize("NFKC", text.translate(_ENCLOSED)).translate(_TYPOGRAPHY)
    if "\\" in text or "$" in text:
        text = _without_latex(text)
    for signs, pattern, replacement in _STEPS:
        if any(sign in text for sign in signs):
            text = pattern.sub(replacement, text)
    text = (_LEADS_LINE if has_colon else _LEADS_LINE_WITHOUT_COLON).sub(_bracketed, text)
    if _BARE.search(text):
        for pattern in (_BEHIND_WORDS, _SUBJECT, _BESIDE, _BEFORE):
            text = pattern.sub(_bracketed, text)
    return text


def _bracketed(match: re.Match) -> str:
    """The replacement of a match: its group "keep", if it has one, and the letter in brackets."""
    words = match.groupdict().get("keep") or ""
    return f"{words}({match['key'].upper()})"


# "[B]", "{b}", "<B>", "( B )", "[B.]"; then "[(B)]" and "((B))"
_CLOSED = re.compile(r"[\[({<]\s*[*_`\"']*(?P<key>[A-Da-d])[.)]?[*_`\"']*\s*[\])}>]")
_CLOSED_TWICE = re.compile(r"[\[({<]{1,2}\s*(\([A-D]\))\s*[\])}>]{1,2}")
_UNCLOSED = re.compile(r"\((?P<key>[A-Da-d])\s*\Z")

_EMPHASIS = re.compile(r"\*+|`+|__+|(?<!\w)_|_(?!\w)")
# "**B**", "`B`", "*B.*"; an "A" or "a" only where no phrase goes on behind it
_EMPHASIZED = re.compile(
    r"(?<!\w)[*_`]+\s*(?P<key>[B-Db-d]|[Aa](?=[.:,)]?[*_`]+\s*(?:[.,;:!?)\]}\-–—]|\n|\Z|is\b)))"
    r"[.:,)]?[*_`]+(?!\w)"
)
_EMPHASIZED_FIRST = re.compile(r"\A\s*[*_`]+(?P<key>[Aa])[*_`]+(?!\w)")
_QUOTED = re.compile(r"(?<!\w)[\"'](?P<key>[A-Db-d]|(?<=: .)a)[.,]?[\"'](?!\w)")

# "b)", with no bracket open before it
_HALF_CLOSED = re.compile(r"(?<![\w(])(?P<key>[A-Da-d])\s?\)")


def _of_half_bracket(match: re.Match) -> str:
    """The letter of "b)" in brackets; unchanged if the bracket closes one that opened earlier."""
    beginning = match.string[max(0, match.start() - 200) : match.start()]
    if beginning.rfind("(") > beginning.rfind(")"):
        return match[0]  # "(plan B)"
    return _bracketed(match)


# "B. pay", "B, pay", "B - pay", "B because", "B" alone on its line; but not "B. B. King"
_LINE = r"(?m)^(?P<keep>[\s\"'>#•-]*)(?P<key>[A-Da-d])(?!\.\s?[A-Z]\.)"
_BEHIND = (
    r"\s?[.,;](?:\s|\Z)|[^\S\n]*(?:\n|\Z)|\s+[-–—]\s"
    r"|\s+(?:because|since|rather\sthan|instead\sof)\s"
)
_LEADS_LINE = re.compile(rf"{_LINE}(?={_BEHIND}|:(?!\w|\s*\([A-Da-d]\)))")
_LEADS_LINE_WITHOUT_COLON = re.compile(rf"{_LINE}(?={_BEHIND})")

# A letter by itself. A small "a" may be an article, so it counts only at the end of a line.
_LETTER = r"(?P<key>[A-Db-d]|a(?=[.)!\"']+\s*(?:\n|\Z)))(?!\.\w)(?![\w'-])"
_BARE = re.compile(rf"(?<![\w'(-]){_LETTER}")
_ENDS = (
    r"(?=\s*(?:[.,;:!?)\"'\]}/(&]|\n|\Z|[-–—]"
    r"|(?:because|since|as|over|or|and|nor|not|but|if|rather than|instead of|is|isn't|was|would"
    r"|can|cannot|can't|must|seems|fits|makes)\b))"
)
_NOUNS = "option|choice|answer|letter|key|alternative"
_RESULTS = f"{_NOUNS}|response|solution|selection|verdict|conclusion|pick"
_VERBS = (
    "choose|chose|choosing|pick|picked|picking|select|selected|selecting|go with|going with"
    "|goes with|went with|opt for|opting for|opted for|vote for|settle on|say|guess|prefer"
    "|not|neither|nor|rather than|instead of|rule out|eliminate|reject|exclude"
).replace(" ", r"\ ")
_BEHIND_WORDS = re.compile(
    rf"""(?P<keep>
      \b(?i:{_NOUNS})s?\s*[:=\#–—-]?\s*
    | \b(?i:{_RESULTS})\b[^.!?\n]{{0,80}}?(?:\b(?i:is|was|be|remains)\b|[:=]|->|→)\s*:?\s*
      (?i:(?:indeed|clearly|definitely|therefore|simply|probably|most\ likely|option|not)\s+)*
    | \b(?i:{_VERBS})\s+:?\s*
    | \b(?i:it's|it\ is|that's|that\ is|must\ be|should\ be|has\ to\ be|it\ must\ be)\s*:?\s+
    | \b(?i:so|hence|thus|therefore|definitely|clearly|final|finally|ans|actually|rather|no|wait)
      [,:.]*\s+(?=[A-Db-d]\s*[.!]?\s*(?:\n|\Z))
    ){_LETTER}{_ENDS}""",
    re.VERBOSE,
)
# "B is correct", at the beginning of a clause: not "plan B is correct"
_SUBJECT = re.compile(
    r"(?P<keep>(?:^|[.!?;:,(\n\"]\s*|\b(?i:that|think|believe|so|thus|hence|therefore|because|but"
    r"|and|while|although|though|whereas|only|if|since|as|then)\s+))(?P<key>[A-D]|[b-d])"
    r"(?=\s+(?:is|isn't|was|must\sbe|would\sbe|cannot|can't|can\snot)\b)"
    r"(?!\s+(?:is|was)\s+(?:a|an|at|in|on|his|her|the\s(?!answer|right|correct|best|most))\b)",
    re.MULTILINE,
)
# "(A) or B", "A or (B)": the second letter counts as well
_BESIDE = re.compile(
    r"(?P<keep>\([A-D]\)\s*(?:[,/&;]|,?\s*\b(?:or|and|nor|vs\.?|versus|not|but)\b)\s*"
    rf"(?:(?:maybe|perhaps|possibly|not|even|option)\s+)*){_LETTER}{_ENDS}"
)
_BEFORE = re.compile(
    rf"(?<![\w'(-]){_LETTER}(?=\s*(?:[/&]|,?\s*\b(?:or|and|nor|vs)\b)\s*\([A-D]\))"
)

_STRUCK = re.compile(r"~~[^~\n]*~~")
_TAGS = re.compile(r"<(?P<name>\w{1,20})(?:\s[^<>]{0,80})?>(?P<content>[^<>]*)</(?P=name)\s*>")
_LETTER_ALONE = re.compile(r"\A\s*\(?([A-Da-d])\)?\s*\Z")
_IN_BRACKETS = r"(\1)"
_CHOICES = frozenset(["option", "choice", "letter", "selection", "pick", "verdict", "label", "key"])


def _without_tags(match: re.Match) -> str:
    """The text between a pair of tags, after "answer:" if the tag's name is one of `_CHOICES`. If
    the text is only a letter, the letter is put in brackets.
    """
    if match["name"].lower() in _CHOICES:
        return f"\nanswer: {_LETTER_ALONE.sub(_IN_BRACKETS, match['content'])}\n"
    return _LETTER_ALONE.sub(_IN_BRACKETS, match["content"])


_STYLED = re.compile(
    r"\\(?:text\w*|math\w+|operatorname|bf|rm|it|mbox|emph|large|Large)\s*\{([^{}]*)\}"
)
_BOXED = re.compile(r"(?P<not>\bnot\s+)?\\(?:boxed|fbox|framebox)\s*\{?\s*(?P<content>[^{}\n]*)\}?")


def _without_latex(text: str) -> str:
    """`text` without LaTeX's commands; the content of a box is put after "answer:"."""
    text = re.sub(r"\$+|\\[()\[\]]|\\[,;! ]", " ", text)
    for _ in range(3):  # "\text{\textbf{B}}"
        text = _STYLED.sub(r"\1", text)
    return _BOXED.sub(_of_box, text)


def _of_box(match: re.Match) -> str:
    """The content of a box after "answer:", or after "not" where "not" stands before the box."""
    content = _LETTER_ALONE.sub(_IN_BRACKETS, match["content"].strip())
    return f"not {content}" if match["not"] else f"\nanswer: {content}\n"


# Replacements, made in this order: the signs, one of which a text must have for the replacement to
# be tried, the pattern, and what replaces its matches.
_STEPS = (
    (["</"], _TAGS, _without_tags),
    (["~~"], _STRUCK, " "),
    ("([{<", _CLOSED, _bracketed),
    ("([{<", _CLOSED_TWICE, r"\1"),
    ("([{<", _UNCLOSED, _bracketed),
    ("*_`", _EMPHASIZED_FIRST, _bracketed),
    ("*_`", _EMPHASIZED, _bracketed),
    ("*_`", _EMPHASIS, ""),
    ("\"'", _QUOTED, _bracketed),
    (")", _HALF_CLOSED, _of_half_bracket),
)
