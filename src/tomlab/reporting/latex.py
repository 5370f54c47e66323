"""A table as LaTeX to paste: `pandas.Styler` writes it, plain pdflatex sets it."""

import re
from collections.abc import Sequence

import pandas as pd
from pandas.io.formats.style import Styler

PREAMBLE = r"\usepackage{booktabs,graphicx}"
# What LaTeX gives a meaning of its own, and what its text fonts do not have.
_WORDS = {"\\": "textbackslash", "~": "textasciitilde", "^": "textasciicircum"}
_MATHS = {"∧": "wedge", "≤": "leq", "≥": "geq", "→": "rightarrow", "κ": "kappa", "Δ": "Delta"}
_SIGNS = {"−": "$-$", "<": "$<$", ">": "$>$", "\n": " "}
_SIGNS |= {sign: f"\\{sign}" for sign in "&%$#_{}"}
_SIGNS |= {sign: f"\\{word}{{}}" for sign, word in _WORDS.items()}
_SIGNS |= {sign: f"$\\{word}$" for sign, word in _MATHS.items()}


def escaped(text: str) -> str:
    """A text in which every character is set as it stands; one that has no sign becomes "?"."""
    printable = re.sub("[^\x00-\xff–—†‡…“”‘’∧≤≥→κΔ−]", "?", text)
    return "".join(_SIGNS.get(sign, sign) for sign in printable)


def table(texts: pd.DataFrame, caption: str, notes: Sequence[str], name: str) -> str:
    """A `table` float as wide as the text at most; its first line names the preamble it needs.
    name: such as "bigtom/table7", which gives the label "tab:bigtom-table7".
    """
    plain = texts.map(escaped).rename(columns=escaped)
    label = "tab:" + name.replace("/", "-").replace("_", "-")
    look = {"hrules": True, "position": "tbp", "column_format": "l" * plain.shape[1]}
    body = Styler(plain).hide(axis="index").to_latex(caption=escaped(caption), label=label, **look)
    fit = "\\resizebox{\\ifdim\\width>\\linewidth\\linewidth\\else\\width\\fi}{!}{%\n"
    body = body.replace("\\begin{tabular}", f"\\small\n{fit}\\begin{{tabular}}")
    under = "".join(f"\\par {escaped(note)}\n" for note in notes)
    body = body.replace("\\end{tabular}", f"\\end{{tabular}}}}\n{under}".rstrip())
    return f"% preamble: {PREAMBLE}\n{body}"
