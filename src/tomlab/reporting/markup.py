"""Escape texts of others (models, servers, people) for Markdown, so that none acts as markup."""

import re
from html import escape

# Characters with a meaning in Markdown; "_" within a word has none.
_MARKS = re.compile(r"([\\`*\[\]{}|~#!$]|(?<![A-Za-z0-9])_|_(?![A-Za-z0-9]))")


def markdown(text: str, longest: int = 200) -> str:
    """A text escaped for Markdown, in one line; safe in a table's cell too. longest: how many
    characters are kept; the rest is replaced by "…".
    """
    line = " ".join(text.split())
    if len(line) > longest:
        line = f"{line[:longest]}…"
    printable = "".join(character for character in line if character.isprintable())
    return _MARKS.sub(r"\\\1", escape(printable, quote=False))
