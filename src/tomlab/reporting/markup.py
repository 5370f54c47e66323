"""Texts of others (models, servers, people) as a page in Markdown shows them: never as markup."""

import re
from html import escape

# A "_" within a word is no mark.
_MARKS = re.compile(r"([\\`*\[\]{}|~#!$]|(?<![A-Za-z0-9])_|_(?![A-Za-z0-9]))")


def markdown(text: str, longest: int = 200) -> str:
    """A text in one line, each of its characters as it is, in a table's cell as well. longest: its
    characters; of a longer one the beginning is shown.
    """
    line = " ".join(text.split())
    if len(line) > longest:
        line = f"{line[:longest]}…"
    printable = "".join(character for character in line if character.isprintable())
    return _MARKS.sub(r"\\\1", escape(printable, quote=False))
