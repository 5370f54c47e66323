"""Which prompts are word for word as a paper or a release prints them, told by a hash of the text.

The printed texts are not ours to copy, so `data/published/prompts.csv` holds their SHA-256 alone,
after `normalised`. `python -m tomlab.asking.printed FILE` prints the hash of a text of yours;
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
        # Our placeholders in the order in which they stand in the text; "" where it has none.
        "placeholders": pa.Column(str),
        "sha256": pa.Column(str, pa.Check.str_matches("^[0-9a-f]{64}$")),
    },
    unique=["name", "version", "place"],
    strict=True,
)
_STRAIGHT = str.maketrans(dict.fromkeys("‘’‚‛´ʼ′", "'") | dict.fromkeys("“”„‟″", '"') | {"‐": "-"})
# Marks of Markdown, and characters that are not seen. A low line within a name is no mark.
_MARKS = re.compile(r"[*`#\\\u00ad\u200b-\u200f\u2060\ufeff]|(?<!\w)_+|_+(?!\w)")
# A line break that a paper prints as the two characters \n.
_PRINTED_BREAK = re.compile(r"\\n(?![a-z])")
# What opens an item of a list or a quotation, if it stands alone.
_BULLETS = re.compile(r"[-•>]+")
_PLACEHOLDER = re.compile(r"\{([\w\s]+)\}")


def confirmed(name: str, text: str) -> str:
    """Where `text` is printed word for word as prompt `name`, such as "paper, Fig. 9"; "" if it is
    not. A text with our placeholders must have them in the order of the printed one.
    """
    rows = published()
    rows = rows[(rows["name"] == name) & (rows["sha256"] == fingerprint(text))]
    names = placeholders(text)
    confirming = [not _has_exchanged(names, row) for row in rows.to_dict("records")]
    return places(rows.iloc[np.flatnonzero(confirming)])


def places(rows: pd.DataFrame) -> str:
    """Where rows of the table are printed, such as "paper, Fig. 4; preprint, Fig. 4"."""
    return "; ".join(rows["version"] + ", " + rows["place"])


def _has_exchanged(names: list[str], row: Mapping[str, str]) -> bool:
    """Whether a placeholder of ours stands where `row` has another of ours. Errors: `InputError` if
    the row names more or fewer than its text has.
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
    """A text without what differs between a page, a web page and a file that hold the same words.

    NFKC; straight quotes and hyphens; no marks of Markdown (emphasis, code, headings, bullets,
    backslashes) and no invisible characters; a single space between words, also for line breaks;
    placeholders in braces numbered by their place: {1}, {2}, …
    """
    parts = _PLACEHOLDER.split(_plain(text))
    # Texts and names of placeholders stand in turn.
    numbered = [parts[0]]
    for number, following in enumerate(parts[2::2], start=1):
        numbered.append(f"{{{number}}}{following}")
    return "".join(numbered)


def placeholders(text: str) -> list[str]:
    """The names in braces in a text, in their order."""
    return [name.strip() for name in _PLACEHOLDER.findall(_plain(text))]


def _plain(text: str) -> str:
    """`normalised`, with the placeholders as they are."""
    text = _PRINTED_BREAK.sub("\n", text)
    text = unicodedata.normalize("NFKC", text.translate(_STRAIGHT)).translate(_STRAIGHT)
    text = unicodedata.normalize("NFC", _MARKS.sub("", text))
    return " ".join(word for word in text.split() if not _BULLETS.fullmatch(word))


def is_there() -> bool:
    """Whether the file of hashes is there: one who has installed the package alone has none."""
    return PROMPTS.is_file()


def published() -> pd.DataFrame:
    """The printed prompts, a row each. Errors: `InputError` for a missing or wrong file."""
    if not is_there():
        raise InputError(f"{PROMPTS} is missing: `make data` pulls the hashes of printed prompts")
    return _read(PROMPTS)


@cache
def _read(path: Path) -> pd.DataFrame:
    return files.read_form(path, _FORM).reset_index(drop=True)


def main(paths: list[str]) -> int:
    """Print of each file its hash and placeholders, and where it is printed; 1 for a wrong file."""
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
