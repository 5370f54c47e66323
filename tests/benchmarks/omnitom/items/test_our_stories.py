"""Our OmniToM stories: rules that their labels keep, and what the words give away.

What follows from the events stands in `tests/checks/test_keys.py`.
"""

import numpy as np
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.metrics import accuracy_score
from sklearn.model_selection import GroupKFold, cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC

from omnitom_stories import RECORDS
from tomlab.benchmarks.omnitom.items.records import DIMENSIONS, WORLD

BELIEFS = [(record, belief) for record in RECORDS for belief in record["beliefs"]]


def test_labels_that_go_together():
    for _, belief in BELIEFS:
        order, truth, access, stated, content, source, context = belief["labels"].values()
        is_world = belief["actor"] == WORLD
        rules = {
            "order 0 is the world's": (order == "0") == is_world,
            "the world's facts are narrated": (source == "Narration") == is_world,
            "the world's facts are true": not is_world or truth == "True",
            "the world's facts are explicit": not is_world or stated == "Explicit",
            "beliefs about beliefs are epistemic": order == "0"
            or (order == "1") == (content != "Epistemic"),
            "testimony is explicit": source != "Testimony" or stated == "Explicit",
            "what is imagined is not so": source != "Imagination" or context == "Counterfactual",
            "what is inferred silently is private": (source, stated) != ("Inference", "Implicit")
            or access == "Private",
        }
        assert [rule for rule, holds in rules.items() if not holds] == [], belief["belief"]


def test_the_words_of_a_belief_do_not_give_its_labels_away():
    authored = [pair for pair in BELIEFS if pair[0]["source"] == "authored"]
    stories = [record["story_id"] for record, _ in authored]
    texts = [belief["belief"] for _, belief in authored]
    words = TfidfVectorizer(token_pattern=r"[^\W_]+", sublinear_tf=True)
    reader = make_pipeline(words, LinearSVC(C=0.3))
    accuracies = []
    for dimension in DIMENSIONS:
        labels = [belief["labels"][dimension] for _, belief in authored]
        # A story is never in both parts.
        read = cross_val_predict(reader, texts, labels, groups=stories, cv=GroupKFold(5))
        accuracies.append(accuracy_score(labels, read))
    assert np.mean(accuracies) < 0.75
