"""Tables as LaTeX that plain pdflatex sets within the page, whatever stands in their cells."""

import re
from itertools import product
from textwrap import fill
from unicodedata import normalize

import numpy as np
import pandas as pd
from pandas.io.formats.style import Styler

PREAMBLE = r"\usepackage{booktabs,graphicx,longtable,pdflscape}"
# What a page takes, by `article` at 10 pt, the narrowest of the usual classes: printed lines, and
# points from margin to margin, upright and turned.
PAGE_LINES, UPRIGHT, TURNED = 45, 345, 550
SIZES = {r"\small": 9, r"\footnotesize": 8, r"\scriptsize": 7}  # points
CHARACTER = 0.55  # em: about the most that a character of a table takes on average, as measured
COLUMN_GAP = 6  # points
LONGEST_LINE = 40  # characters of a cell
# A float's width is not known before it is set: in a narrower column it is scaled down.
_FIT = r"\resizebox{\ifdim\width>\linewidth\linewidth\else\width\fi}{!}{%"

_MATH = {"<": "<", ">": ">", "−": "-", "×": r"\times", "∧": r"\wedge", "∨": r"\vee"}
_MATH |= {"≤": r"\leq", "≥": r"\geq", "≠": r"\neq", "≈": r"\approx", "±": r"\pm", "·": r"\cdot"}
_MATH |= {"→": r"\rightarrow", "←": r"\leftarrow", "∞": r"\infty", "Δ": r"\Delta"}
_MATH |= {"α": r"\alpha", "β": r"\beta", "κ": r"\kappa", "μ": r"\mu", "ρ": r"\rho"}
_TEXT = (
    {char: f"\\{char}" for char in "&%$#_{}"}
    | {char: f"${math}$" for char, math in _MATH.items()}
    | {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}
    | {"†": r"\textsuperscript{\dag}", "‡": r"\textsuperscript{\ddag}", "|": r"\textbar{}"}
    | {"–": "--", "—": "---", "…": r"\dots{}", "§": r"\S{}", "\n": " ", "\t": " ", "\xa0": "~"}
    | {"“": "``", "”": "''", '"': "''", "‘": "`", "’": "'"}
)
# Letters with accents that every encoding of pdflatex has.
_LETTERS = "".join(map(chr, range(0xC0, 0x100))).translate(dict.fromkeys(map(ord, "ÐÞ×÷ðþ")))
_UNKNOWN = re.compile(f"[^ -~{_LETTERS}{re.escape(''.join(_TEXT))}]")
_NUMBER = re.compile(r"−?[\d.,]*\d(?![\w-])|–|< ")


def table(printed: pd.DataFrame, caption: str, notes: list[str], label: str) -> str:
    """A table with caption, label and notes, ready to paste; its first line names the preamble.

    printed: strings, a line break in a cell as "\\n". The table takes the largest size in which it
    fits, as it is or with each interval below its number, upright or else turned; one that fits
    neither way is set in parts with all columns of words in each. Upright on one page it is a
    `table` float, otherwise a `longtable`, which takes a document of one column.
    """
    parts, size, is_turned = _laid_out(_wrapped(printed))
    setting = f"{size}\n\\setlength{{\\tabcolsep}}{{{COLUMN_GAP / 2:g}pt}}\n"
    told = "\\par\n".join(map(text, notes))
    under = f"\\par\\smallskip\n{{\\raggedright\n{told}\\par}}\n" if notes else ""
    needs = f"% preamble: {PREAMBLE}\n"
    if not is_turned and _lines(parts[0]) + _note_lines(notes) <= PAGE_LINES:
        body = _body(parts[0], caption, label, "table", position="tbp", position_float="centering")
        above = f"\\smallskip\n{setting}{_FIT}\n"
        body = body.replace("\\begin{tabular}", f"{above}\\begin{{tabular}}", 1)
        return needs + body.replace("\n\\end{table}", f"}}\n{under}\\end{{table}}")
    setting += "\\setlength{\\LTcapwidth}{\\linewidth}\n"
    total = len(parts)
    counted = [f" (part {k} of {total})" for k in range(1, total + 1)] if total > 1 else [""]
    labels = [label, *(f"{label}-{k}" for k in range(2, total + 1))]
    bodies = [
        _body(part, caption + count, name, "longtable")
        for part, count, name in zip(parts, counted, labels, strict=True)
    ]
    body = "\\addtocounter{table}{-1}\n".join(bodies)  # the parts of a table share its number
    needs += "% in a document of two columns: \\onecolumn before, \\twocolumn after\n"
    whole = f"{{{setting}{body}{under}}}\n"
    return needs + (f"\\begin{{landscape}}\n{whole}\\end{{landscape}}\n" if is_turned else whole)


def text(words: str) -> str:
    """Words as LaTeX reads them; a character that pdflatex has no letter for as "U+4E2D"."""
    known = _UNKNOWN.sub(lambda char: f"U+{ord(char[0]):04X}", normalize("NFC", words))
    return known.translate(str.maketrans(_TEXT)).replace("n = ", "n~=~")  # not over two lines


def block_starts(printed: pd.DataFrame) -> list[int]:
    """Rows with a label in the first column; the first alone where no label is ever repeated."""
    starts = [row for row, label in enumerate(printed.iloc[:, 0]) if label]
    return starts if len(starts) < len(printed) else starts[:1]


# ---- what fits -----------------------------------------------------------------------------------


def _laid_out(printed: pd.DataFrame) -> tuple[list[pd.DataFrame], str, bool]:
    """The table, or its parts, the largest size in which they fit, and whether they are turned."""
    narrow = _narrowed(printed)
    pages = product((UPRIGHT, TURNED), (printed, narrow))
    for page, frame in pages:
        for size, points in SIZES.items():
            if _width(frame, points) <= page:
                return [frame], size, page == TURNED
    size, points = list(SIZES.items())[-1]
    is_number = [any(map(_NUMBER.match, narrow[column])) for column in narrow]
    numbers = np.flatnonzero(is_number)
    parts = [narrow]
    for count in range(2, len(numbers) + 1):
        parts = [
            narrow.loc[:, [not number or place in some for place, number in enumerate(is_number)]]
            for some in np.array_split(numbers, count)
        ]
        if all(_width(part, points) <= TURNED for part in parts):
            break
    return parts, size, True


def _wrapped(printed: pd.DataFrame) -> pd.DataFrame:
    """With line breaks in words that are too long for a column."""

    def wrap(words: str) -> str:
        return "\n".join(fill(line, LONGEST_LINE) for line in words.split("\n"))

    return printed.map(wrap).rename(columns=wrap)


def _narrowed(printed: pd.DataFrame) -> pd.DataFrame:
    """Each interval below its number, and heads no wider than what stands below them."""
    cells = printed.map(lambda words: words.replace(" [", "\n["))
    below = [max(map(_longest, cells[column]), default=0) for column in cells]
    heads = zip(cells.columns, below, strict=True)
    return cells.set_axis(
        [fill(head, max(width, 5), break_long_words=False) for head, width in heads], axis=1
    )


def _longest(words: str) -> int:
    return max(map(len, words.split("\n")))


def _width(printed: pd.DataFrame, size: float) -> float:
    """About how wide a table is, in points, at a size in points."""
    widths = [max(map(_longest, [column, *printed[column]])) for column in printed]
    return CHARACTER * size * sum(widths) + COLUMN_GAP * len(widths)


def _lines(printed: pd.DataFrame) -> int:
    rows = printed.itertuples(index=False)
    return sum(1 + max(words.count("\n") for words in row) for row in rows)


def _note_lines(notes: list[str]) -> int:
    width = UPRIGHT / (CHARACTER * SIZES[r"\small"])
    return sum(1 + int(len(note) / width) for note in notes)


# ---- what is written -----------------------------------------------------------------------------


def _body(printed: pd.DataFrame, caption: str, label: str, environment: str, **options) -> str:
    cells = printed.map(_cell)
    starts = block_starts(printed)[1:]
    cells.iloc[starts, 0] = "\\midrule\n" + cells.iloc[starts, 0]
    styler = Styler(cells.reset_index(drop=True)).hide(axis="index")
    return styler.format_index(_cell, axis="columns").to_latex(
        column_format="l" * cells.shape[1],
        caption=text(caption),
        label=label,
        hrules=True,
        environment=environment,
        **options,
    )


def _cell(words: str) -> str:
    r"""A cell in its lines. A row or rule before it would read a first [ or * as its option."""
    lines = [text(line) for line in words.split("\n")]
    lines = [f"{{}}{line}" if line.lstrip().startswith(("[", "*")) else line for line in lines]
    joined = r" \\ ".join(lines)
    return rf"\begin{{tabular}}[t]{{@{{}}l@{{}}}}{joined}\end{{tabular}}" if lines[1:] else joined
