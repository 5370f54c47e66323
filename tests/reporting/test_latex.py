"""A table as LaTeX: every sign can be set, and pdflatex sets it where it is installed."""

import shutil
import subprocess

import pandas as pd
import pytest

from tomlab.reporting import latex

ODD = r"a_b & 50 % of $x$ {y} ~ ^ \ # “q” − × ≤ ∧ κ † 心"


def test_odd_signs_are_set_as_they_stand():
    text = latex.escaped(ODD)
    for sign in (
        "\\_",
        "\\&",
        "\\%",
        "\\$",
        "\\{",
        "\\#",
        "\\textbackslash{}",
        "$\\leq$",
        "×",
        "†",
    ):
        assert sign in text
    assert text.endswith("?")


def test_the_label_names_the_benchmark_and_the_notes_stand_below():
    frame = pd.DataFrame({"Model": ["a_b"], "Accuracy": [".50 [.40, .60]"]})
    text = latex.table(frame, "What?", ["A note."], "bigtom/table_7")
    assert "\\label{tab:bigtom-table-7}" in text
    assert text.index("\\end{tabular}") < text.index("A note.") < text.index("\\end{table}")


def test_pdflatex_sets_it_within_the_page(tmp_path):
    if not shutil.which("pdflatex"):
        pytest.skip("needs pdflatex (Debian: texlive-latex-base, texlive-latex-recommended)")
    frame = pd.DataFrame({f"{ODD} {n}": [ODD] * 3 for n in range(4)})
    text = latex.table(frame, ODD, [ODD], "toy/odd")
    page = f"\\documentclass{{article}}\n{latex.PREAMBLE}\n\\begin{{document}}\n{text}\\end{{document}}"
    (tmp_path / "t.tex").write_text(page, encoding="utf-8")
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "t.tex"]
    process = subprocess.run(command, cwd=tmp_path, capture_output=True, check=False, timeout=120)
    assert process.returncode == 0, process.stdout.decode(errors="replace")[-800:]
    assert b"Overfull" not in process.stdout
