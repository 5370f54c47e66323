"""The blind and shallow readers of `scoring.readers`, and the features of texts that they use.

A reader gives each option a number, its liking, and chooses the option with the highest. A reader
that has to learn from right answers learns from other groups than those whose questions it answers.
Functions that take `options` expect a row for each option of each question, and columns as made by
`readers._options`.
"""

import math
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy import sparse
from sklearn import config_context
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GroupKFold
from threadpoolctl import threadpool_limits

FOLDS = 10
FEW_TEXTS = 4  # if options have more different texts, no reader always gives the same one
# Negations.
_NO = r"(?i)\b(?:no|not|never|nothing|nobody|none|nor|neither|cannot|without|unaware)\b|n['’]t\b"
_ASKED = "asked_person"
_OTHER = "other_person"


class Reader(NamedTuple):
    """A reader of one kind of question."""

    name: str
    sees: str  # the part of the item that it uses, in words
    liking: np.ndarray  # how much it likes each option, one number per row of the options
    # Above 0 where it takes the omniscient answer to be right, below 0 where not; the versions of a
    # question differ in this. None for readers that do not tell versions apart.
    version: np.ndarray | None = None
    is_blind: bool = False


def readers_of(options: pd.DataFrame, by_lines: Mapping[str, pd.Series]) -> Iterator[Reader]:
    """Yield all readers of one kind of question. by_lines: what `versions_by_lines` returns."""
    yield from _blind_readers(options)
    if options["is_shown"].all():
        yield from _negation_readers(options)
    if options["fact"].all():
        yield from _conversation_readers(options, by_lines)
    else:
        yield from _sentence_readers(options)


def _blind_readers(options: pd.DataFrame) -> Iterator[Reader]:
    """Yield the readers that see only question and options."""
    texts = options["text"]
    denies = _denies(texts)
    likings = {}
    if texts.nunique() <= FEW_TEXTS:
        for text in sorted(texts.unique()):
            likings[f"always “{text}”"] = texts.eq(text).to_numpy(float)
    if options["is_shown"].all():
        place = options["at"].to_numpy()
        length = texts.str.len().to_numpy()
        likings["first option"] = -place
        likings["last option"] = place
        likings["longer option"] = length
        likings["shorter option"] = -length
        likings["words of the options"] = _learned(counts(texts), options)
    for name, liking in likings.items():
        yield Reader(name, "options only", liking, is_blind=True)
    for name, longest in (("words", 1), ("word pairs", 2)):
        question = sparse.diags(denies) @ counts(options["question"], longest)
        liking = _learned(sparse.hstack([counts(texts, longest), question]), options)
        name = f"{name} of question and options"
        yield Reader(name, "question and options only", liking, is_blind=True)


def _negation_readers(options: pd.DataFrame) -> Iterator[Reader]:
    """Yield readers that look for a negation in the last sentence, and two readers that count the
    words which an option shares with the last sentence.
    """
    sentences = options["sentences"]
    shared = _shared_words(options["text"], sentences.str[-1:])
    sees = "options, last sentence"
    yield Reader("more words of the last sentence", sees, shared)
    yield Reader("fewer words of the last sentence", sees, -shared)
    turn = np.where(sentences.str[-1].str.contains(_NO), -1.0, 1.0)
    sees = "options, last two sentences"
    event = _shared_words(options["own_words"], sentences.str[-2:-1])
    yield Reader("negation, words before it", sees, event * turn, turn)
    sees = "options, all sentences"
    yield Reader("negation, new words before it", sees, _new_words(options) * turn, turn)
    liking = _learned(sparse.diags(turn) @ counts(options["text"]), options)
    sees = "options, a negation in the last sentence"
    yield Reader("words of the options, turned by a negation", sees, liking, turn)


def _sentence_readers(options: pd.DataFrame) -> Iterator[Reader]:
    """Yield readers that tell from the story's sentences which version of a question they see, and
    answer accordingly.
    """
    questions = options.drop_duplicates("item_id").set_index("item_id")
    last = questions["sentences"].str[-1]
    number = questions["sentences"].str.len().map("sentences{}".format)
    tagged = []
    masked = []
    for question in questions.to_dict("records"):
        asked = question["asked"]
        people = _people(question["story"], asked)
        tagged.append(_tagged(_with_roles(question["sentences"][-1], asked, people)))
        masked.append(" ".join(_with_roles(question["story"], asked, people)))
    leaning = _leaning(options)
    by_role = "last sentence, names by role"
    whole = "all sentences, names by role"
    for name, sees, texts, longest in [
        ("number of sentences", "number of sentences", number, 1),
        ("words of the last sentence", "last sentence", last, 1),
        ("word pairs of the last sentence", "last sentence", last, 2),
        ("words of the last sentence, by role", by_role, tagged, 1),
        ("word pairs of the last sentence, by role", by_role, tagged, 2),
        ("words of the story", whole, masked, 1),
        ("word pairs of the story", whole, masked, 2),
    ]:
        version = _held_out_version(texts, questions, longest)
        turn = np.sign(version.loc[options["item_id"]].to_numpy())
        # The reader also learns which of two options is right in which version.
        liking = _learned(sparse.csr_matrix((turn * leaning)[:, None]), options)
        yield Reader(name, sees, liking, turn)


def _conversation_readers(
    options: pd.DataFrame, by_lines: Mapping[str, pd.Series]
) -> Iterator[Reader]:
    """Yield the readers of conversations, which guess whether the person asked about knows the
    fact. One goes by the place of the fact. If all questions ask about a person, others go by who
    speaks first, by who speaks near the fact, and by the words of the lines near the fact.
    """
    denies = _denies(options["text"])  # 1 for an option that says that somebody does not know
    # Whether the fact stands at or after each of 50 places in the conversation; the reader learns
    # what that says of options that deny.
    stands_later = _place_of_fact(options)[:, None] >= np.arange(0, 1, 0.02)
    liking = _learned(sparse.csr_matrix(denies[:, None] * stands_later), options)
    yield Reader("place of the fact", "where the fact stands", liking)
    if not options["person"].all():
        return
    first_speaker = [words_of(story)[0] for story in options["story"]]
    speaks_near = [_speaks_near(row) for row in options.to_dict("records")]
    # 1 where the reader takes the person to know the fact, -1 where not: then it likes the options
    # that deny the knowledge.
    knows = np.where(options["asked"] == first_speaker, -1.0, 1.0)
    yield Reader("who speaks first does not know", "first speaker", -denies * knows, knows)
    knows = np.where(speaks_near, 1.0, -1.0)
    sees = "speakers from one line before the fact to two after it"
    yield Reader("who speaks near the fact knows", sees, -denies * knows, knows)
    sees = "the lines with the person nearest to the fact"
    for name, versions in by_lines.items():
        knows = versions.loc[options["item_id"]].to_numpy()
        yield Reader(name, sees, -denies * knows, knows)


# --- what readers see ----------------------------------------------------------------------------


@lru_cache(1 << 14)  # all options of a question have the same story
def words_of(text: str) -> list[str]:
    """The words of a text, in lower case and in order."""
    return re.findall(r"\w+", text.lower())


@lru_cache(1 << 10)
def speakers_of(conversation: str) -> frozenset[str]:
    """Who speaks in a conversation, in lower case."""
    return frozenset(line.partition(":")[0].lower() for line in conversation.split("\n"))


def counts(texts: Sequence[str], longest: int = 1) -> sparse.csr_matrix:
    """Which words each text has: 1 or 0, shape (texts, words). longest: 2 for pairs of neighbouring
    words as well.
    """
    vectorizer = CountVectorizer(
        binary=True, tokenizer=words_of, token_pattern=None, ngram_range=(1, longest)
    )
    return vectorizer.fit_transform(texts)


def _denies(texts: pd.Series) -> np.ndarray:
    """1 for each text that has a negation, 0 for others."""
    return texts.str.contains(_NO).to_numpy(float)


def _n_shared(text: str, sentence: str) -> int:
    return len(set(words_of(text)) & set(words_of(sentence)))


def _shared_words(texts: Sequence[str], sentences: Sequence[list[str]]) -> np.ndarray:
    """How many words each text shares with its sentences, given as one list for each text."""
    pairs = zip(texts, sentences, strict=True)
    return np.array([_n_shared(text, " ".join(parts)) for text, parts in pairs])


def _leaning(options: pd.DataFrame) -> np.ndarray:
    """1 for the option that fits the belief that everybody knows everything, -1 for the other one;
    0 where nothing below decides.

    If each question has an option with a negation and one without, the one without fits. Otherwise
    the option fits that has more new words in the sentence before the last (`_new_words`). If both
    have as many, the one fits whose own words occur last before the last sentence.
    """
    item_ids = options["item_id"].to_numpy()
    denies = options["text"].str.contains(_NO)
    if denies.groupby(item_ids).nunique().eq(2).all():
        return np.where(denies, -1.0, 1.0)
    last_positions = []
    for own_words, sentences in zip(options["own_words"], options["sentences"], strict=True):
        words = own_words.split()
        earlier_words = words_of(" ".join(sentences[:-1]))
        positions = [position for position, word in enumerate(earlier_words) if word in words]
        last_positions.append(max(positions, default=-1))
    cues = pd.DataFrame({"new": _new_words(options), "position": last_positions})
    apart = np.sign(cues - cues.groupby(item_ids).transform("mean"))
    return np.where(apart["new"] != 0, apart["new"], apart["position"])


def _new_words(options: pd.DataFrame) -> np.ndarray:
    """For each option, how many of its own words (which no other option has) stand in the sentence
    before the last, minus how many stand in earlier sentences.
    """
    own_words = options["own_words"]
    event = _shared_words(own_words, options["sentences"].str[-2:-1])
    return event - _shared_words(own_words, options["sentences"].str[:-2])


@lru_cache(1 << 14)
def _people(story: str, asked: str) -> frozenset[str]:
    """The names in a story, in lower case: `asked`, and words that have a capital letter at a place
    where no sentence begins.
    """
    names = re.findall(r"(?<![.!?:”\"\n])[ “\"(]([^\W\d_a-z]\w+)", story)
    return frozenset([asked, *(name.lower() for name in names)])


def _with_roles(text: str, asked: str, people: Collection[str]) -> list[str]:
    """The words of a text, in which roles replace names: one role for the person asked about,
    another for all other `people`.
    """
    words = []
    for word in words_of(text):
        if word == asked:
            words.append(_ASKED)
        elif word in people:
            words.append(_OTHER)
        else:
            words.append(word)
    return words


def _tagged(words: Sequence[str]) -> str:
    """The words as one text, each marked with the role of the person named last up to it."""
    role = "nobody"
    tagged = []
    for word in words:
        if word in (_ASKED, _OTHER):
            role = word
        tagged.append(f"{role}_{word}")
    return " ".join(tagged)


def _nearest(fact: str, texts: Sequence[str]) -> int:
    """The index of the text that shares most words with a fact; the first one in a tie."""
    shared = [_n_shared(fact, text) for text in texts]
    return shared.index(max(shared))


def _place_of_fact(options: pd.DataFrame) -> np.ndarray:
    """The place in the story, from 0 to 1, of the sentence that shares most words with the fact."""
    pairs = zip(options["fact"], options["sentences"], strict=True)
    return np.array([_nearest(fact, sentences) / len(sentences) for fact, sentences in pairs])


def _speaks_near(question: Mapping) -> bool:
    """Whether the person asked about speaks between one line before the fact and two after it."""
    lines = question["story"].split("\n")
    fact_line = _nearest(question["fact"], lines)
    nearest_lines = lines[max(fact_line - 1, 0) : fact_line + 3]
    return question["asked"] in speakers_of("\n".join(nearest_lines))


def _lines_near(question: Mapping) -> str:
    """The words of three lines as one text: the line with the fact, and the nearest line before and
    after it in which the person asked about speaks or is named. Roles replace speakers' names, and
    each word is marked with its line: "before", "fact" or "after".
    """
    asked = question["asked"]
    lines = question["story"].split("\n")
    fact_line = _nearest(question["fact"], lines)
    lines_before = [line for line in lines[:fact_line] if asked in words_of(line)]
    lines_after = [line for line in lines[fact_line + 1 :] if asked in words_of(line)]
    nearest_lines = [("before", line) for line in lines_before[-1:]]
    nearest_lines.append(("fact", lines[fact_line]))
    nearest_lines += [("after", line) for line in lines_after[:1]]
    words = []
    for place, line in nearest_lines:
        for word in _with_roles(line, asked, speakers_of(question["story"])):
            words.append(f"{place}_{word}")
    return " ".join(words)


# --- learning ------------------------------------------------------------------------------------


def versions_by_lines(options: pd.DataFrame) -> dict[str, pd.Series]:
    """How far two readers take the person asked about to know the fact, judging by the lines near
    it: by the reader's name, a number for each `item_id`, above 0 for knowing. They learn from all
    kinds of question at once, as the task is the same in all. Empty if no question has a fact.
    """
    questions = options[(options["asked"] != "") & (options["fact"] != "")]
    if questions.empty:
        return {}
    questions = questions.drop_duplicates("item_id").set_index("item_id")
    texts = [_lines_near(question) for question in questions.to_dict("records")]
    return {
        "words of the lines near the fact": _held_out_version(texts, questions, 1),
        "word pairs of the lines near the fact": _held_out_version(texts, questions, 2),
    }


def _held_out_version(texts: Sequence[str], questions: pd.DataFrame, longest: int) -> pd.Series:
    """For each question, how far a logistic regression on the words of its text takes the
    omniscient answer to be right: above 0 for right, 0 for all if too few groups are there to learn
    from. Questions whose omniscient answer is right and those whose is wrong weigh the same in sum.
    """
    groups_of_side = questions[~questions["control"]].groupby("side")["group"].nunique()
    groups_of_fold = math.ceil(questions["group"].nunique() / FOLDS)
    if len(groups_of_side) < 2 or groups_of_side.min() <= groups_of_fold:
        # The questions to learn from might all be on one side in some fold.
        return pd.Series(0.0, index=questions.index)
    size = questions.groupby(["control", "side"])["group"].transform("size")
    weight = len(questions) / 2 / size
    model = LogisticRegression(solver="liblinear")
    version = _decision(model, counts(texts, longest), questions["side"], questions, weight)
    return pd.Series(version, index=questions.index)


def _learned(features: sparse.spmatrix, options: pd.DataFrame) -> np.ndarray:
    """How far a logistic regression takes each option to be right (above 0: right), judging by how
    its features differ from the mean over the question's options. Questions whose omniscient answer
    is right and those whose is wrong, the two sides of balanced accuracy, weigh the same in sum.

    features: a row for each option.
    """
    codes = pd.factorize(options["item_id"])[0]
    of_item = sparse.csr_matrix((np.ones(len(options)), (np.arange(len(options)), codes)))
    means = of_item @ sparse.diags(1 / np.bincount(codes)) @ (of_item.T @ features)
    weight = len(options) / options.groupby(["control", "side"])["at"].transform("size")
    model = LogisticRegression(fit_intercept=False, solver="liblinear")
    features = sparse.csr_matrix(features - means)
    return _decision(model, features, options["right"], options, weight)


def _decision(
    model: LogisticRegression,
    features: sparse.spmatrix,
    right: pd.Series,
    rows: pd.DataFrame,
    weight: pd.Series,
) -> np.ndarray:
    """The decision value of a regression for each row, above 0 for right. It learns from other
    groups (`held_out`), and never from control questions.
    """
    weight = weight.where(~rows["control"], 0).to_numpy()
    features = sparse.csr_matrix(features, dtype=float)
    return held_out(model, features, right, rows["group"], "decision_function", weight)


def held_out(
    model,
    features,
    right: pd.Series,
    groups: pd.Series,
    method: str = "predict",
    weight: np.ndarray | None = None,
) -> np.ndarray:
    """What a scikit-learn `model` predicts for each row when it has learned from other groups only
    (cross-validation); 0 for all rows if there is just one group.

    right: what to predict; method: the model's method that predicts; weight: of each row.
    """
    if groups.nunique() < 2:
        return np.zeros(len(groups))
    right = right.to_numpy()
    folds = GroupKFold(min(FOLDS, groups.nunique())).split(right, groups=groups)
    results = []
    places = []
    # Several threads take three times as long to sum long vectors, and change the last digits.
    # scikit-learn is twice as fast if it does not check its input.
    with threadpool_limits(1), config_context(assume_finite=True, skip_parameter_validation=True):
        for train, test in folds:
            weights = {} if weight is None else {"sample_weight": weight[train]}
            model.fit(features[train], right[train], **weights)
            results.append(getattr(model, method)(features[test]))
            places.append(test)
    return np.concatenate(results)[np.argsort(np.concatenate(places))]
