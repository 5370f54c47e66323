"""Tells by a hash whether a prompt is word for word as a paper or a release prints it.

We may not copy the printed texts, so `data/published/prompts.csv` holds only the SHA-256 of each
text after `normalised`. `python -m tomlab.asking.printed FILE` prints the hash of your own file.
docs/prompts.md says where each prompt is printed and how to use it.
"""

import re
import sys
import unicodedata
from collections.abc import Mapping
from functools import cache
from hashlib import sha256
from pathlib import Path

import numpy as np
import pandas as pd
import pandera.pandas as pa

from tomlab.errors import InputError
from tomlab.paths import PUBLISHED
from tomlab.records import files

PROMPTS = PUBLISHED / "prompts.csv"
VERSIONS = ("paper", "preprint", "release")
_FORM = pa.DataFrameSchema(
    {
        "name": files.text(),  # the name under which `run.prompts` takes the prompt
        "benchmark": files.text(),
        "version": files.one_of(VERSIONS),
        "place": files.text(),  # where it is printed: a section, a figure, a file of a release
        # The names of our placeholders, in the order of the printed text; "" if it has none.
        "placeholders": pa.Column(str),
        "sha256": pa.Column(str, pa.Check.str_matches("^[0-9a-f]{64}$")),
    },
    unique=["name", "version", "place"],
    strict=True,
)
_STRAIGHT = str.maketrans(dict.fromkeys("‘’‚‛´ʼ′", "'") | dict.fromkeys("“”„‟″", '"') | {"‐": "-"})
# Marks of Markdown, and invisible characters. An underscore within a word is no mark.
_MARKS = re.compile(r"[*`#\\\u00ad\u200b-\u200f\u2060\ufeff]|(?<!\w)_+|_+(?!\w)")
# A line break that a paper prints as the two characters \n.
_PRINTED_BREAK = re.compile(r"\\n(?![a-z])")
# A word of these characters alone opens an item of a list, or a quotation.
_BULLETS = re.compile(r"[-•>]+")
_PLACEHOLDER = re.compile(r"\{([\w\s]+)\}")


def confirmed(name: str, text: str) -> str:
    """Where prompt `name` is printed word for word as `text`, such as "paper, Fig. 9", or "".

    If `text` has our placeholders, they must stand in the order of the printed text.
    """
    rows = published()
    rows = rows[(rows["name"] == name) & (rows["sha256"] == fingerprint(text))]
    names = placeholders(text)
    confirming = [not _has_exchanged(names, row) for row in rows.to_dict("records")]
    return places(rows.iloc[np.flatnonzero(confirming)])


def places(rows: pd.DataFrame) -> str:
    """The places in some rows of `published`, such as "paper, Fig. 4; preprint, Fig. 4"."""
    return "; ".join(rows["version"] + ", " + rows["place"])


def _has_exchanged(names: list[str], row: Mapping[str, str]) -> bool:
    """Whether a placeholder of ours stands where the printed text has another one of ours.

    names: placeholders of the text; row: of `published`, with the text's hash. Errors: `InputError`
    if `row` names more or fewer placeholders than the text has.
    """
    expected = row["placeholders"].split()
    if len(names) != len(expected):
        where = f"{PROMPTS}: {row['name']}, {row['version']}, {row['place']}, field placeholders"
        raise InputError(
            f"{where}: found {len(expected)} names, expected {len(names)} as the text has"
        )
    pairs = zip(names, expected, strict=True)
    return any(name != right and name in expected for name, right in pairs)


def fingerprint(text: str) -> str:
    """The SHA-256 of a text after `normalised`, in hexadecimal digits."""
    return sha256(normalised(text).encode()).hexdigest()


def normalised(text: str) -> str:
    """A text without what may differ when a page, a web page and a file print the same words.

    NFKC; straight quotes and hyphens; no marks of Markdown (emphasis, code, headings, bullets,
    backslashes) and no invisible characters; a single space between words, also for line breaks;
    placeholders in braces numbered by their place: {1}, {2}, …
    """
    parts = _PLACEHOLDER.split(_plain(text))
    # `parts` alternates between text and the name of a placeholder.
    numbered = [parts[0]]
    for number, following in enumerate(parts[2::2], start=1):
        numbered.append(f"{{{number}}}{following}")
    return "".join(numbered)


def placeholders(text: str) -> list[str]:
    """The names that stand in braces in a text, in the order of the text."""
    return [name.strip() for name in _PLACEHOLDER.findall(_plain(text))]


def _plain(text: str) -> str:
    """The text as in `normalised`, except that placeholders keep their names."""
    text = _PRINTED_BREAK.sub("\n", text)
    text = unicodedata.normalize("NFKC", text.translate(_STRAIGHT)).translate(_STRAIGHT)
    text = unicodedata.normalize("NFC", _MARKS.sub("", text))
    return " ".join(word for word in text.split() if not _BULLETS.fullmatch(word))


def is_there() -> bool:
    """Whether the file of hashes exists: installing the package alone does not bring it."""
    return PROMPTS.is_file()


def published() -> pd.DataFrame:
    """A table with a row for each printed prompt, with the columns of `_FORM`.

    Errors: `InputError` for a missing or wrong file.
    """
    if not is_there():
        raise InputError(f"{PROMPTS} is missing: `make data` pulls the hashes of printed prompts")
    return _read(PROMPTS)


@cache
def _read(path: Path) -> pd.DataFrame:
    return files.read_form(path, _FORM).reset_index(drop=True)


def main(paths: list[str]) -> int:
    """Prints the hash, the placeholders and the printed places of each file.

    Returns the exit code: 1 if a file cannot be read, else 0.
    """
    try:
        for path in paths:
            text = files.read_text(path)
            rows = published().query("sha256 == @fingerprint(@text)")
            print(path)
            print(f"  sha256: {fingerprint(text)}")
            print(f"  placeholders: {' '.join(placeholders(text)) or 'none'}")
            for row in rows.itertuples():
                print(f"  as printed: {row.name} ({row.version}, {row.place})")
            if rows.empty:
                print(f"  as printed: no row of {PROMPTS.name} has this hash")
    except InputError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
