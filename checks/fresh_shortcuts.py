"""What readers get on fresh items who see some of a story's surface, and do not follow who knows what.

    python checks/fresh_shortcuts.py            5,000 pairs: 1,000 of each order, 4,000 beside controls
    python checks/fresh_shortcuts.py <pairs>    so many

A reader is told where the thing is, and has only to say whether the belief that is asked about fits
that. It learns this by logistic regression from the stories of other scenes. Every reader but those
of order must get .55 at most (balanced accuracy); ends with 1 if one gets more. Questions of order 0
are controls: their key is the same in both twins, so they are in no reader's number.
"""

import re
import sys
from collections.abc import Iterator

import numpy as np
import pandas as pd
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import balanced_accuracy_score
from sklearn.model_selection import GroupKFold, cross_val_predict

from tomlab.fresh import items, sets

SEED = "an open seed, for this check"
MOST = 0.55
FOLDS = 10


def sentences_of(story: str) -> list[str]:
    return re.split(r"(?<=[.?!]) ", story)


def masked(text: str, names: dict[str, str]) -> str:
    """A text in which other words stand for names, by name."""
    return re.sub(r"\w+", lambda word: names.get(word[0], word[0].lower()), text)


def roles_of(item: dict) -> dict[str, str]:
    """The people of a story by the part that they have in the question."""
    roles = dict.fromkeys(item["record"].people, "SOMEBODY")
    roles[item["chain"][0]] = "WHOSE"
    roles[item["chain"][-1]] = "LOOKS"
    return roles


def place_of_fact(item: dict) -> int:
    """The number of the first sentence that names the container the thing is not in at first."""
    start = item["record"].things[item["thing"]]
    second = next(name for name in item["containers"] if name != start)
    texts = sentences_of(item["story"])
    return next(number for number, text in enumerate(texts) if second in text)


def by_sentence(item: dict) -> str:
    """Each word of a story with the roles of those who are named in its sentence."""
    words = []
    for sentence in sentences_of(item["story"]):
        text = masked(sentence, roles_of(item))
        roles = "".join(sorted(set(re.findall(r"[A-Z]{2,}", text))))
        words += [f"{roles}_{word}" for word in text.split()]
    return " ".join(words)


def readers(questions: list[dict]) -> Iterator[tuple[str, bool, list[str], int]]:
    """The name of each reader, whether it sees the order of names, what it sees of each question, and
    how many words in a row it takes together.
    """
    stories = [item["story"] for item in questions]
    nameless = [masked(item["story"], dict.fromkeys(roles_of(item), "NAME")) for item in questions]
    by_role = [masked(item["story"], roles_of(item)) for item in questions]
    last = [sentences_of(story)[-1] for story in stories]
    options = [" ".join(item["choices"]) for item in questions]
    asked = [f"{item['question']} {' '.join(item['choices'])}" for item in questions]
    yield "learned words", False, stories, 1
    yield "learned words, names by role", False, by_role, 1
    yield "pairs of words, names masked", False, nameless, 2
    yield "last sentence", False, last, 2
    yield "number of sentences", False, [f"n{len(sentences_of(story))}" for story in stories], 1
    yield "number of words", False, [f"n{len(story.split())}" for story in stories], 1
    yield "place of the fact", False, [f"n{place_of_fact(item)}" for item in questions], 1
    yield "options alone", False, options, 2
    yield "question and options", False, asked, 2
    yield "order: pairs of words, names by role", True, by_role, 2
    yield "order: words with who is in their sentence", True, map(by_sentence, questions), 1


def told_apart(
    texts: list[str], longest: int, is_true: np.ndarray, scenes: pd.Series
) -> np.ndarray:
    """What a reader says of each question, who has learned from other scenes: is the belief true?"""
    vectorizer = CountVectorizer(
        token_pattern=r"\w+", ngram_range=(1, longest), min_df=2, lowercase=False
    )
    features = vectorizer.fit_transform(texts)
    model = LogisticRegression(solver="liblinear")
    folds = GroupKFold(FOLDS)
    margin = cross_val_predict(
        model, features, is_true, groups=scenes, cv=folds, method="decision_function"
    )
    return np.round(margin, 9) > 0


def table_of_readers(pairs: int) -> pd.DataFrame:
    """Balanced accuracy by reader (`is_order`: of order), for all orders together and for each."""
    table = items.table(sets.drawn(SEED, pairs))
    table = table[~table["control"]].reset_index(drop=True)
    is_true = table["condition"].eq("true_belief").to_numpy()
    rows = []
    for name, is_order, texts, longest in readers(table.to_dict("records")):
        says = told_apart(texts, longest, is_true, table["family"])
        row = {"reader": name, "is_order": is_order, "all": balanced_accuracy_score(is_true, says)}
        for order, part in table.groupby("order"):
            row[f"order {order}"] = balanced_accuracy_score(is_true[part.index], says[part.index])
        rows.append(row)
    return pd.DataFrame(rows)


def main(pairs: str = "5000") -> int:
    table = table_of_readers(int(pairs))
    print(table.round(3).to_string(index=False))
    numbers = table[~table["is_order"]].drop(columns=["reader", "is_order"])
    highest = numbers.to_numpy().max()
    print(f"The most that a reader gets who does not see the order of names: {highest:.3f}")
    return int(highest > MOST)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
