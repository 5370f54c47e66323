"""Write a table as LaTeX to paste, by `pandas.Styler`; plain pdflatex can set it."""

import re
from collections.abc import Sequence

import pandas as pd
from pandas.io.formats.style import Styler

PREAMBLE = r"\usepackage{booktabs,graphicx}"
# Characters that are special in LaTeX or missing from its text fonts, and their commands.
_WORDS = {"\\": "textbackslash", "~": "textasciitilde", "^": "textasciicircum"}
_MATHS = {"∧": "wedge", "≤": "leq", "≥": "geq", "→": "rightarrow", "κ": "kappa", "Δ": "Delta"}
_SIGNS = {"−": "$-$", "<": "$<$", ">": "$>$", "\n": " "}
_SIGNS |= {sign: f"\\{sign}" for sign in "&%$#_{}"}
_SIGNS |= {sign: f"\\{word}{{}}" for sign, word in _WORDS.items()}
_SIGNS |= {sign: f"$\\{word}$" for sign, word in _MATHS.items()}


def escaped(text: str) -> str:
    """A text with special characters escaped for LaTeX; those that it can't print become "?"."""
    printable = re.sub("[^\x00-\xff–—†‡…“”‘’∧≤≥→κΔ−]", "?", text)
    return "".join(_SIGNS.get(sign, sign) for sign in printable)


def table(texts: pd.DataFrame, caption: str, notes: Sequence[str], name: str) -> str:
    """A LaTeX `table` float, at most as wide as the text; a comment in its first line gives the
    preamble that it needs. name: such as "bigtom/table7", for the label "tab:bigtom-table7".
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
