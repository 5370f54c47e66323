"""LaTeX tables set in one document by pdflatex, where there is one."""

import shutil
import subprocess
from pathlib import Path

import pytest

from tomlab.reporting import tex

DOCUMENT = "\\documentclass{article}\n%s\n\\begin{document}\n%s\n\\end{document}\n"
# What would say that something stands outside the page, or under another's label.
FAULTS = ("!", "Overfull", "LaTeX Warning: Float too large", "LaTeX Warning: Label")


def faults(tables: list[str], folder: Path) -> list[str]:
    """The lines of the log that tell of an error, of what is off the page, of a label used twice.

    Skips the test where no pdflatex is installed. What is over by less than 2 pt is no fault.
    """
    if not shutil.which("pdflatex"):
        pytest.skip("needs pdflatex (Debian: texlive-latex-base, texlive-latex-recommended)")
    document = DOCUMENT % (f"{tex.PREAMBLE}\n\\hfuzz=2pt \\vfuzz=2pt", "\n".join(tables))
    (folder / "tables.tex").write_text(document, encoding="utf-8")
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "tables.tex"]
    for _ in range(2):  # a longtable's columns are known from the second time on
        subprocess.run(command, check=False, cwd=folder, capture_output=True, timeout=120)
    log = (folder / "tables.log").read_text(encoding="utf-8", errors="replace")
    return [line for line in log.splitlines() if line.startswith(FAULTS)]
