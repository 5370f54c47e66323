"""What a reader who tracks no mind gets of SimpleToM's stories and twins, X unaware and X aware.

    python checks/own_shortcuts_simpletom.py              our questions
    python checks/own_shortcuts_simpletom.py <folder> …   other folders with twins

A counting reader calls a text a twin above (or below) the number that suits it best: the threshold
is chosen on the texts that are told, which favours the reader. A learned reader is a logistic
regression on words, learned on other entity sets. Options alone: which option of the behavior
question is right, of stories alone, and of stories and twins, where the same two options are right
in turn, so that it is .50 by design. Balanced accuracy, with intervals over entity sets. Ends with
1 if a counting reader gets more than .60.
"""

import re
import sys

import numpy as np
import pandas as pd
from sklearn.linear_model import LogisticRegression

from tomlab import paths
from tomlab.benchmarks import simpletom
from tomlab.scoring.cues import counts, held_out
from tomlab.scoring.stats import balanced_interval

MOST = 0.6
VERSIONS = ("main", "aware")


def sentences(text):
    return re.split(r"(?<=[.!?])\s+", text.strip())


def by_count(numbers, is_twin):
    """Whether each text is told right by the one threshold, and the side, that tell most."""
    best = np.zeros(len(numbers), bool)
    for threshold in np.unique(numbers):
        for says_twin in (numbers >= threshold, numbers < threshold):
            right = says_twin == is_twin
            if balanced(right, is_twin) > balanced(best, is_twin):
                best = right
    return best


def balanced(right, kinds):
    return np.mean([right[kinds == kind].mean() for kind in np.unique(kinds)])


def by_words(texts, is_twin, groups, longest=1):
    """Whether each text is told right by what was learned on the words of other sets."""
    model = LogisticRegression(solver="liblinear")
    return held_out(model, counts(texts, longest), is_twin, groups) == is_twin


def by_options(questions):
    """Whether the right option is found by what was learned on the words of other sets' options."""
    words = counts([*questions["answer"], *questions["wrong"]])
    apart = words[: len(questions)] - words[len(questions) :]
    # The right option stands first in every other question, so that its place says nothing.
    side = np.where(np.arange(len(questions)) % 2, 1, -1)
    model = LogisticRegression(fit_intercept=False, solver="liblinear")
    features = apart.multiply(side[:, None]).tocsr()
    return held_out(model, features, pd.Series(side), questions["group_id"]) == side


def table(items):
    """One row a reader: balanced accuracy with its interval."""
    items = items[items["variant"].isin(VERSIONS)]
    has_twin = items.loc[items["variant"] == "aware", "story_id"].unique()
    pairs = items[items["story_id"].isin(has_twin)].reset_index(drop=True)
    texts = pairs[pairs["question_type"] == "judgment"].reset_index(drop=True)
    is_twin = texts["variant"].eq("aware")
    last = texts["story"].map(lambda text: sentences(text)[-1])
    numbers = {
        "number of sentences": texts["story"].map(lambda text: len(sentences(text))),
        "number of words": texts["story"].str.split().str.len(),
        "number of letters": texts["story"].str.len(),
        "number of commas": texts["story"].str.count(","),
    }
    rows = []
    for reader, number in numbers.items():
        right = by_count(number.to_numpy(), is_twin.to_numpy())
        rows.append((reader, right, texts["variant"], texts["group_id"]))
    for reader, longest in {"words": 1, "words and word pairs": 2}.items():
        right = by_words(last, is_twin, texts["group_id"], longest)
        name = f"{reader} of the last sentence, learned"
        rows.append((name, right, texts["variant"], texts["group_id"]))
    choices = pairs[pairs["question_type"] == "behavior"].reset_index(drop=True)
    answers = zip(choices["choices"], choices["answer"], strict=True)
    choices["wrong"] = [next(o for o in options if o != answer) for options, answer in answers]
    for reader, kinds in {
        "options alone, stories": ["main"],
        "options alone, both": VERSIONS,
    }.items():
        asked = choices[choices["variant"].isin(kinds)].reset_index(drop=True)
        rows.append((reader, by_options(asked), asked["variant"], asked["group_id"]))
    results = []
    for reader, right, kinds, groups in rows:
        interval = balanced_interval(pd.Series(np.asarray(right, float)), kinds, groups)
        results.append({"reader": reader, **vars(interval)})
    columns = ["reader", "value", "ci_low", "ci_high", "n", "n_groups", "ci_method"]
    return pd.DataFrame(results)[columns]


def main(folders):
    is_told = False
    for folder in folders or [paths.DATA / "simpletom" / "questions"]:
        readers = table(simpletom.read_released(folder))
        print(f"{folder}\n{readers.round(3).to_string(index=False)}")
        is_told |= readers["reader"].str.startswith("number").mul(readers["value"] > MOST).any()
    return int(is_told)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
