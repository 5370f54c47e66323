"""Our own items: no story is told twice, in one benchmark or two, nor after a released one.

Told by words, since a run's filters hold each benchmark's stories against each other by the embedder
and that one hears names: a plot under other names has a cosine of .54 to .84 there, where unrelated
stories reach .60. Here names don't count, so such a plot has 1; two severities of one SimpleToM set,
which share one sentence of two, have .57 to .92, two stories of ours .34 at most, an authored and
a released one .33 at most, one told by rule and a released one .50.
"""

import numpy as np
import pandas as pd
import pytest
from sklearn.feature_extraction.text import TfidfVectorizer

from simpletom_stories import OURS, our_stories
from tomlab.benchmarks.bigtom.items import templates as bigtom
from tomlab.benchmarks.omnitom.items.records import read_records, read_tombench
from tomlab.paths import DATA, ROOT

SHARED = ROOT.parent / "shared" / "datasets"
SAME_WORDS = 0.5

pytestmark = pytest.mark.skipif(not OURS.is_dir(), reason="data is missing: `make data` pulls it")


def same_words(stories: pd.Series, others: pd.Series) -> set[tuple[str, str]]:
    """The pairs of ids of stories in the same words."""
    # Words in lower case alone: names are none.
    vectorizer = TfidfVectorizer(
        lowercase=False, token_pattern=r"\b[a-z]{2,}\b", stop_words="english", sublinear_tf=True
    )
    vectors = vectorizer.fit_transform([*stories, *others])
    cosines = (vectors[: len(stories)] @ vectors[len(stories) :].T).toarray()
    return {(stories.index[a], others.index[b]) for a, b in np.argwhere(cosines >= SAME_WORDS)}


def omnitom_stories(source: str) -> dict[str, str]:
    records = read_records(DATA / "omnitom" / "stories.jsonl")
    return {str(r["story_id"]): r["story"] for r in records if r["source"] == source}


@pytest.fixture(scope="module")
def ours() -> pd.Series:
    """Every authored story by its id, all severities of SimpleToM's."""
    templates = bigtom.read_templates(DATA / "bigtom" / "bigtom.csv")
    of_bigtom = pd.Series(bigtom.stories(templates), templates["template_id"])
    of_simpletom = our_stories().set_index("story_id")["story"]
    return pd.concat([of_bigtom, of_simpletom, pd.Series(omnitom_stories("authored"))])


def test_no_two_stories_of_ours_are_told_in_the_same_words(ours):
    plots = ours.rename(lambda name: name.partition("_sev")[0])
    assert {pair for pair in same_words(plots, plots) if pair[0] != pair[1]} == set()


@pytest.mark.parametrize("name", ["bigtom", "tombench"])
def test_no_story_of_ours_is_told_in_the_words_of_a_released_one(ours, name):
    if not (SHARED / name).is_dir():
        pytest.skip(f"the released {name} is not beside the repository")
    if name == "bigtom":
        released = pd.Series(
            bigtom.stories(bigtom.read_templates(SHARED / "bigtom" / "bigtom.csv"))
        )
    else:
        released = read_tombench(SHARED / "tombench")["story"]
    from_grammar = pd.Series(omnitom_stories("grammar"))
    assert same_words(pd.concat([ours, from_grammar]), released) == set()
