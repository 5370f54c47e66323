"""Tables as files: what LaTeX, HTML and CSV must hold, on one small table."""

from html.parser import HTMLParser
from re import findall

import pandas as pd
import pytest

from tomlab.reporting import printed as report

ROWS = [("paper", 0.68, None, None, 200, 200, "*"), ("this run", 0.52, 0.31, 0.72, 25, 25, "")]
PRINTED = pd.DataFrame(
    {
        "Model": ["gpt_4 & co", "", "a<b>"],
        "0-shot": [".68*† .43‡", "TB ∧ FB", ".52 [.31, .72]†\n.48 [.29, .67]‡"],
    }
)


def table(printed: pd.DataFrame = PRINTED, **changes) -> report.Table:
    tidy = pd.DataFrame(ROWS, columns=list(report.TIDY_COLUMNS))
    parts = {"caption": "Accuracy, 95 % & more", "notes": ["n_items = 25", "p < .05 – §4"]}
    return report.Table("small", tidy, printed, **(parts | changes))


class Balance(HTMLParser):
    """Raises at the first closing tag that does not close the last one opened."""

    def __init__(self):
        super().__init__()
        self.open = []
        self.text = []

    def handle_starttag(self, tag, attrs):
        self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        assert tag == "br"

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text.append(data)


def environments(latex: str) -> list[str]:
    """Environments in the order in which they are opened; fails if one is not closed in turn."""
    opened, stack = [], []
    for kind, name in findall(r"\\(begin|end)\{(\w+)\}", latex):
        if kind == "begin":
            opened.append(name)
            stack.append(name)
        else:
            assert stack.pop() == name
    assert not stack
    return opened


def test_a_published_share_is_printed_as_in_the_paper():
    assert report.cell(0.68, float("nan"), float("nan")) == ".68"
    assert report.cell(1.0, float("nan"), float("nan"), "*") == "1.00*"


def test_a_share_of_this_run_has_its_interval():
    assert report.cell(0.52, 0.31, 0.72) == ".52 [.31, .72]"


def test_an_absent_share_is_a_dash():
    assert report.cell(float("nan"), float("nan"), float("nan")) == "–"


@pytest.mark.parametrize(
    ("counts", "printed"), [([25, 25], "25"), ([18, 25], "18–25"), ([None], "–")]
)
def test_counts_are_a_number_or_a_range(counts, printed):
    assert report.span(pd.Series(counts, dtype="Int64")) == printed


def test_coefficients_have_a_minus_sign_and_no_minus_zero():
    assert [report.signed(b) for b in (1.07, -0.13, -1e-9)] == ["1.07", "−0.13", "0.00"]


def test_p_values_have_a_floor():
    assert report.p_value(0.62) == ".620"
    assert report.p_value(1e-9) == "< .001"
    assert report.p_value(0.001, is_bound=True) == "< .001"


def test_labels_are_printed_once_a_block():
    rows = pd.DataFrame({"Model": list("aaab"), "Condition": ["x", "x", "y", "y"]})
    printed = report.once(rows, [["Model"], ["Condition"]])
    assert list(printed["Model"]) == ["a", "", "", "b"]
    assert list(printed["Condition"]) == ["x", "", "y", "y"]


def test_shares_without_a_verdict_are_told_by_model():
    cases = [("smol", "0-shot", "unparsed", 0.25), ("smol", "0-shot", "error", 0.05)]
    cases += [("smol", "1-shot", "unparsed", 0.10), ("random", "0-shot", "correct", 1.0)]
    rates = pd.DataFrame(cases, columns=["model", "method", "condition", "value"])
    [sentence] = report.unscored(rates)
    assert sentence.endswith("smol .10–.30, random .00.")
    assert report.unscored(rates[:0]) == []


def test_latex_is_one_table_float_with_caption_label_and_notes():
    latex = report.latex(table(), "demo")
    assert environments(latex) == [
        "table",
        "tabular",
        "tabular",
    ]  # the inner one is a two-line cell
    assert r"\caption{Accuracy, 95 \% \& more This run: n~=~25, from 25 groups.}" in latex
    assert r"\label{tab:demo-small}" in latex
    assert latex.index(r"\bottomrule") < latex.index(r"n\_items = 25") < latex.index(r"\end{table}")
    for rule in (r"\toprule", r"\midrule", r"\bottomrule"):
        assert rule in latex


def test_latex_escapes_what_latex_reads_as_code():
    latex = report.latex(table(), "demo")
    assert r"gpt\_4 \& co" in latex
    assert r".68*\textsuperscript{\dag} .43\textsuperscript{\ddag}" in latex
    assert r"TB $\wedge$ FB" in latex
    assert "a$<$b$>$" in latex
    assert r"p $<$ .05 -- \S{}4" in latex
    assert not set(latex) & set("∧†‡–§")
    assert latex.count("{") == latex.count("}")


def test_a_table_longer_than_a_page_breaks_over_pages():
    latex = report.latex(table(pd.concat([PRINTED] * 20)), "demo")
    assert set(environments(latex)) == {"longtable", "tabular"}
    assert r"\label{tab:demo-small}" in latex
    assert latex.index(r"\end{longtable}") < latex.index(r"n\_items = 25")


def test_a_caption_has_the_n_of_this_run_unless_it_says_so_itself_or_there_is_none():
    assert report.captioned(table()).endswith("This run: n = 25, from 25 groups.")
    assert report.captioned(table(caption="Of n = 3")) == "Of n = 3"
    made = table()
    assert report.with_n("Theirs", made.tidy.query("source == 'paper'")) == "Theirs"
    assert report.with_n("Ours", made.tidy.assign(n_groups=None)) == "Ours This run: n = 25."


def test_a_rule_stands_above_each_block_only():
    body = report.latex(table(), "demo").split(r"\midrule", 1)[1]
    assert body.count(r"\midrule") == 1
    unrepeated = report.latex(table(PRINTED.iloc[[0, 2]]), "demo").split(r"\midrule", 1)[1]
    assert unrepeated.count(r"\midrule") == 0


def test_html_is_well_formed_and_escaped():
    html = report.html(table())
    page = Balance()
    page.feed(html)
    assert page.open == []
    text = "".join(page.text)
    for shown in ("gpt_4 & co", "a<b>", "Accuracy, 95 % & more", "n_items = 25", "p < .05 – §4"):
        assert shown in text
    assert ".52 [.31, .72]†<br />.48 [.29, .67]‡" in html


def test_show_is_what_jupyter_displays():
    assert report.show(table())._repr_html_() == report.html(table())


def test_saved_files_are_the_same_in_every_run(tmp_path):
    first = report.save(table(), tmp_path / "a/demo")
    second = report.save(table(), tmp_path / "b/demo")
    assert [path.name for path in first] == ["small.csv", "small.tex", "small.html"]
    assert [path.read_bytes() for path in first] == [path.read_bytes() for path in second]


def test_the_csv_holds_the_numbers(tmp_path):
    read = pd.read_csv(report.save(table(), tmp_path)[0])
    assert list(read["value"]) == [0.68, 0.52]
    assert list(read["source"]) == ["paper", "this run"]


def test_a_tidy_frame_without_its_columns_is_refused():
    with pytest.raises(ValueError, match="lacks ci_low"):
        report.Table("t", pd.DataFrame({"source": [], "value": []}), PRINTED, "", [])


def test_a_table_is_saved_and_handed_to_the_notebook(tmp_path):
    shown = report.tabulate(tmp_path, table())
    assert shown.data == (tmp_path / "small.html").read_text(encoding="utf-8")


def test_rows_of_this_run_bear_a_class_beside_that_of_a_block():
    columns = dict.fromkeys(report.TIDY_COLUMNS, [""] * 3)
    shown = pd.DataFrame({"Model": ["a", "", "b"], "Source": ["paper", report.RUN, report.RUN]})
    page = report.html(report.Table("t", pd.DataFrame(columns), shown, "", []))
    found = findall(r'<td class="([^"]*)"', page)
    assert ["run" in classes.split() for classes in found] == [False] * 2 + [True] * 4
    assert ["block" in classes.split() for classes in found] == [
        True,
        True,
        False,
        False,
        True,
        True,
    ]
