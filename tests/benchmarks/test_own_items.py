"""Our own items: no story is told twice, in one benchmark or two, nor after a released one.

Told by words, since a run's filters hold each benchmark's stories against each other by the embedder
and that one hears names: a plot under other names has a cosine of .54 to .84 there, where unrelated
stories reach .60. Here names don't count, so such a plot has 1; two severities of one SimpleToM set,
which share one sentence of two, have .57 to .92, two stories of ours .34 at most, an authored and
a released one .33 at most, one told by rule and a released one .50.
"""

import numpy as np
import pytest
from sklearn.feature_extraction.text import TfidfVectorizer

from simpletom_stories import OURS, our_stories
from tomlab.benchmarks.bigtom.items import templates as bigtom
from tomlab.benchmarks.omnitom.items.records import read_records, read_tombench
from tomlab.paths import DATA, ROOT

SHARED = ROOT.parent / "shared" / "datasets"
TEMPLATES = DATA / "bigtom" / "bigtom.csv"
RECORDS = DATA / "omnitom" / "stories.jsonl"

SAME_WORDS = 0.5

pytestmark = pytest.mark.skipif(
    not (TEMPLATES.is_file() and OURS.is_dir() and RECORDS.is_file()),
    reason="data is missing: `make data` pulls it",
)


def told_twice(ours: dict[str, str], others: dict[str, str] | None = None) -> list[tuple]:
    """Pairs of stories in the same words: their ids and the cosine. Severities are one story."""
    vectorizer = TfidfVectorizer(
        # Words in lower case alone: names are none.
        lowercase=False,
        token_pattern=r"\b[a-z]{2,}\b",
        stop_words="english",
        sublinear_tf=True,
    )
    beside = ours if others is None else others
    vectors = vectorizer.fit_transform([*ours.values(), *beside.values()])
    cosines = (vectors[: len(ours)] @ vectors[len(ours) :].T).toarray()
    if others is None:
        plots = np.array([name.split("_sev")[0] for name in ours])
        cosines[np.tri(len(ours), dtype=bool) | (plots[:, None] == plots)] = 0
    names, found = (list(ours), list(beside)), np.argwhere(cosines >= SAME_WORDS)
    return [(names[0][a], names[1][b], round(float(cosines[a, b]), 2)) for a, b in found]


@pytest.fixture(scope="module")
def templates():
    return bigtom.read_templates(TEMPLATES)


@pytest.fixture(scope="module")
def ours(templates) -> dict[str, str]:
    """Every authored story by its id, all severities of SimpleToM's."""
    sets = our_stories().to_dict("records")
    found = dict(zip("bigtom " + templates["template_id"], bigtom.stories(templates), strict=True))
    found |= {f"simpletom {story['story_id']}": story["story"] for story in sets}
    return found | omnitom_stories("authored")


def omnitom_stories(source: str) -> dict[str, str]:
    records = [record for record in read_records(RECORDS) if record["source"] == source]
    return {f"omnitom {record['story_id']}": record["story"] for record in records}


def test_a_plot_under_other_names_and_a_sentence_told_again_are_found(ours, templates):
    agents = dict(zip("bigtom " + templates["template_id"], templates["agent"], strict=True))
    renamed = {f"{n} again": ours[n].replace(agent, "Xan") for n, agent in agents.items()}
    assert {(a, f"{a} again") for a in agents} == {pair[:2] for pair in told_twice(ours, renamed)}
    severities = {n: ours[n] for n in ours if n.endswith("_sev1")}
    others = {n: ours[n] for n in ours if n.endswith("_sev2")}
    found = told_twice(severities, others)
    assert {(a[:-1], b[:-1]) for a, b, _ in found} == {(name[:-1],) * 2 for name in severities}


def test_no_two_stories_of_ours_are_told_in_the_same_words(ours):
    assert told_twice(ours) == []


@pytest.mark.parametrize("name", ["bigtom", "tombench"])
def test_no_story_of_ours_is_told_in_the_words_of_a_released_one(ours, name):
    if not (SHARED / name).is_dir():
        pytest.skip(f"the released {name} is not beside the repository")
    if name == "bigtom":
        table = bigtom.read_templates(SHARED / "bigtom" / "bigtom.csv")
        released = dict(zip(table["template_id"], bigtom.stories(table), strict=True))
    else:
        released = dict(enumerate(read_tombench(SHARED / "tombench")["story"]))
    assert told_twice(ours | omnitom_stories("grammar"), released) == []
