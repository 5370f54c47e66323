"""Our templates: what a reader of their surface gets is hardly more than a guess."""

import re

import numpy as np
import pandas as pd
import pytest
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GroupKFold, cross_val_score

from tomlab.benchmarks.bigtom.items.templates import read_templates
from tomlab.paths import DATA

OURS = DATA / "bigtom" / "bigtom.csv"
DENIAL = re.compile(r"(?i)\b(no|not|nor|never|neither|none|nobody|nothing|without|cannot)\b|n't")
HIGHEST = 0.6
EVENTS = ("event", "random_event")

pytestmark = pytest.mark.skipif(
    not OURS.is_file(), reason="data/bigtom is missing: `make data` pulls it"
)


@pytest.fixture(scope="module")
def ours():
    return read_templates(OURS)


def nameless(ours, field):
    pairs = zip(ours["agent"], ours[field], strict=True)
    return pd.Series([text.replace(agent, "") for agent, text in pairs])


def options(ours, kind):
    """The two options on each template, the new state's first, without the agent's name."""
    return [nameless(ours, f"{kind}_answer_{who}") for who in ("aware", "not_aware")]


@pytest.mark.parametrize("event", EVENTS)
def test_a_negation_tells_nothing_of_who_perceived_the_event(ours, event):
    aware, not_aware = (
        ours[f"{who}_of_{event}"].map(lambda text: bool(DENIAL.search(text)))
        for who in ("aware", "not_aware")
    )
    assert (aware.mean(), not_aware.mean()) == (0.5, 0.5)
    assert (not_aware & ~aware).mean() == 0.25, "negation: initial state, else the new one"


@pytest.mark.parametrize("kind", ["belief", "action"])
def test_words_of_the_options_do_not_tell_the_new_state_from_the_initial_one(ours, kind):
    """Which of a template's two is the new state, learned from the words of other templates."""
    new, initial = options(ours, kind)
    counts = CountVectorizer(token_pattern=r"\w+").fit([*new, *initial])
    difference = (counts.transform(new) - counts.transform(initial)).toarray()
    # Each pair also the other way round, so that neither side comes first.
    pairs = np.vstack([difference, -difference])
    is_new_first = np.repeat([1, 0], len(ours))
    templates = np.tile(np.arange(len(ours)), 2)
    model = LogisticRegression(fit_intercept=False)
    shares = cross_val_score(model, pairs, is_new_first, groups=templates, cv=GroupKFold(10))
    assert 1 - HIGHEST <= shares.mean() <= HIGHEST
