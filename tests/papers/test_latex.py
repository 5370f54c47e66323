"""All tables of all four papers in LaTeX: labels, captions, and how they are set in one document."""

import re
from collections import Counter

import pytest

import bigtom_metrics
import fantom_metrics
import omnitom_metrics
import simpletom_metrics
from tomlab.papers.bigtom import tables as bigtom
from tomlab.papers.fantom import tables as fantom
from tomlab.papers.omnitom import judge_tables
from tomlab.papers.omnitom import tables as omnitom
from tomlab.papers.simpletom import tables as simpletom
from tomlab.reporting import printed
from typeset import faults

MODELS = ("smollm2-135m", "random", "a-provider/with_a-long-name:70B")
LONGEST_CAPTION = 60  # words


def tables():
    run = bigtom_metrics.metrics(*MODELS)
    for made in (bigtom.table2, bigtom.table7, bigtom.table8, bigtom.table9):
        yield "bigtom", made(run)
    yield "bigtom", bigtom.table_circularity("it has one model")
    run = fantom_metrics.metrics(*MODELS)
    for made in (fantom.table1, fantom.table2, fantom.table3, fantom.table4, fantom.table9):
        yield "fantom", made(run)
    yield "fantom", fantom.table9(run, scenario="accessible")
    run = omnitom_metrics.metrics(*MODELS)
    for made in (omnitom.table3, omnitom.table10, judge_tables.table9, judge_tables.table11):
        yield "omnitom", made(run)
    yield "omnitom", judge_tables.table12(run)
    yield "omnitom", judge_tables.table5(run)
    yield "omnitom", judge_tables.table6()
    run = simpletom_metrics.metrics(*MODELS)
    for made in (simpletom.table2, simpletom.table3, simpletom.table4, simpletom.table5):
        yield "simpletom", made(run)
    yield "simpletom", simpletom.tokens(run)


@pytest.fixture(scope="module")
def made():
    return list(tables())


def test_no_label_is_there_twice(made):
    texts = [printed.latex(table, benchmark) for benchmark, table in made]
    labels = Counter(re.findall(r"\\label\{(.*?)\}", "".join(texts)))
    assert labels["tab:bigtom-table9"] == labels["tab:fantom-table9"] == 1
    assert max(labels.values()) == 1


def test_captions_are_short_and_have_the_n_of_this_run(made):
    for benchmark, table in made:
        caption = printed.captioned(table)
        assert 3 < len(caption.split()) <= LONGEST_CAPTION, (benchmark, table.name, caption)
        run = table.tidy[table.tidy["source"] == printed.RUN]
        assert ("n = " in caption) == run["n"].notna().any(), (benchmark, table.name)


def test_all_tables_are_set_within_the_page_in_one_document(made, tmp_path):
    assert faults([printed.latex(table, benchmark) for benchmark, table in made], tmp_path) == []
