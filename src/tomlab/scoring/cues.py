"""What blind and shallow readers go by: each reader, and the features of texts that it uses.

A reader is a liking for each option. What it has to learn, it learns from other groups than those
it answers.
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
FEW_TEXTS = 4  # where options have more different texts, none of them is a constant answer
_NO = r"(?i)\b(?:no|not|never|nothing|nobody|none|nor|neither|cannot|without|unaware)\b|n['’]t\b"
_ASKED = "asked_person"
_OTHER = "other_person"


class Reader(NamedTuple):
    """A reader of one kind of question."""

    name: str
    sees: str
    liking: np.ndarray  # how much it likes each option
    # Above 0 where it takes the omniscient answer to be right, which is what versions differ in.
    version: np.ndarray | None = None
    is_blind: bool = False


def readers_of(options: pd.DataFrame, by_lines: Mapping[str, pd.Series]) -> Iterator[Reader]:
    """All readers of one kind of question. by_lines: what `versions_by_lines` gives."""
    yield from _blind_readers(options)
    if options["is_shown"].all():
        yield from _negation_readers(options)
    if options["fact"].all():
        yield from _conversation_readers(options, by_lines)
    else:
        yield from _sentence_readers(options)


def _blind_readers(options: pd.DataFrame) -> Iterator[Reader]:
    """Readers who see question and options only."""
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
    """Readers who look for a negation in the last sentence, and two who look for shared words."""
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
    """Readers who tell the version from sentences, and answer accordingly."""
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
        # Which of two options goes with a version is learned, too.
        liking = _learned(sparse.csr_matrix((turn * leaning)[:, None]), options)
        yield Reader(name, sees, liking, turn)


def _conversation_readers(
    options: pd.DataFrame, by_lines: Mapping[str, pd.Series]
) -> Iterator[Reader]:
    """Readers of conversations, which guess whether the person asked about knows the fact: by where
    the fact stands, and where it asks about a person, by who speaks first, who speaks near the
    fact, and the words of the lines near it.
    """
    denies = _denies(options["text"])  # 1 for an option that says that somebody does not know
    # From which place on the fact stands in a conversation, at 50 places; learned for what denies.
    stands_later = _place_of_fact(options)[:, None] >= np.arange(0, 1, 0.02)
    liking = _learned(sparse.csr_matrix(denies[:, None] * stands_later), options)
    yield Reader("place of the fact", "where the fact stands", liking)
    if not options["person"].all():
        return
    first_speaker = [words_of(story)[0] for story in options["story"]]
    speaks_near = [_speaks_near(row) for row in options.to_dict("records")]
    # 1 where the person is taken to know the fact, -1 where not: then what denies it is liked.
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


@lru_cache(1 << 14)  # the options of a question have one story
def words_of(text: str) -> list[str]:
    return re.findall(r"\w+", text.lower())


@lru_cache(1 << 10)
def speakers_of(conversation: str) -> frozenset[str]:
    """Who speaks in a conversation, in lower case."""
    return frozenset(line.partition(":")[0].lower() for line in conversation.split("\n"))


def counts(texts: Sequence[str], longest: int = 1) -> sparse.csr_matrix:
    """Which words each text has; longest: 2 for pairs of neighbouring words, too."""
    vectorizer = CountVectorizer(
        binary=True, tokenizer=words_of, token_pattern=None, ngram_range=(1, longest)
    )
    return vectorizer.fit_transform(texts)


def _denies(texts: pd.Series) -> np.ndarray:
    return texts.str.contains(_NO).to_numpy(float)


def _n_shared(text: str, sentence: str) -> int:
    return len(set(words_of(text)) & set(words_of(sentence)))


def _shared_words(texts: Sequence[str], sentences: Sequence[list[str]]) -> np.ndarray:
    """How many words each text shares with some sentences."""
    pairs = zip(texts, sentences, strict=True)
    return np.array([_n_shared(text, " ".join(parts)) for text, parts in pairs])


def _leaning(options: pd.DataFrame) -> np.ndarray:
    """Which option a reader takes who believes that everybody knows everything: 1, others -1.

    Where one option of each question denies something, it is the other one. Elsewhere it is the one
    with new words in the sentence before the last; if that does not decide, the one that is named
    last before the last sentence.
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
    """How many words of its own each option has in the sentence before the last, less those that it
    has in earlier sentences.
    """
    own_words = options["own_words"]
    event = _shared_words(own_words, options["sentences"].str[-2:-1])
    return event - _shared_words(own_words, options["sentences"].str[:-2])


@lru_cache(1 << 14)
def _people(story: str, asked: str) -> frozenset[str]:
    """Names in a story: words with a capital letter that somewhere begin no sentence."""
    names = re.findall(r"(?<![.!?:”\"\n])[ “\"(]([^\W\d_a-z]\w+)", story)
    return frozenset([asked, *(name.lower() for name in names)])


def _with_roles(text: str, asked: str, people: Collection[str]) -> list[str]:
    """The words of a text, in which names are roles: the person asked about, and others."""
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
    """Words, each with the role of the person who was named last before it."""
    role = "nobody"
    tagged = []
    for word in words:
        if word in (_ASKED, _OTHER):
            role = word
        tagged.append(f"{role}_{word}")
    return " ".join(tagged)


def _nearest(fact: str, texts: Sequence[str]) -> int:
    """The number of the text that has most words of a fact."""
    shared = [_n_shared(fact, text) for text in texts]
    return shared.index(max(shared))


def _place_of_fact(options: pd.DataFrame) -> np.ndarray:
    """Where in the story the sentence stands that has most words of the fact, from 0 to 1."""
    pairs = zip(options["fact"], options["sentences"], strict=True)
    return np.array([_nearest(fact, sentences) / len(sentences) for fact, sentences in pairs])


def _speaks_near(question: Mapping) -> bool:
    """Whether a person speaks from one line before the fact to two lines after it."""
    lines = question["story"].split("\n")
    fact_line = _nearest(question["fact"], lines)
    nearest_lines = lines[max(fact_line - 1, 0) : fact_line + 3]
    return question["asked"] in speakers_of("\n".join(nearest_lines))


def _lines_near(question: Mapping) -> str:
    """The words of the line with the fact, of the last one before it and of the first one after it
    that a person speaks or is named in; with roles for names, and marked by where they stand.
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
    """By reader, whether the person asked about knows a fact, by the lines near it; none where no
    question has a fact. All kinds of question are learned from at once: it is the same in all.
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
    """How far a logistic regression on words takes the omniscient answer to be right; questions on
    which it is and on which it is not have the same weight.
    """
    groups_of_side = questions[~questions["control"]].groupby("side")["group"].nunique()
    groups_of_fold = math.ceil(questions["group"].nunique() / FOLDS)
    if len(groups_of_side) < 2 or groups_of_side.min() <= groups_of_fold:
        # One side might be missing among those that are learned from.
        return pd.Series(0.0, index=questions.index)
    size = questions.groupby(["control", "side"])["group"].transform("size")
    weight = len(questions) / 2 / size
    model = LogisticRegression(solver="liblinear")
    version = _decision(model, counts(texts, longest), questions["side"], questions, weight)
    return pd.Series(version, index=questions.index)


def _learned(features: sparse.spmatrix, options: pd.DataFrame) -> np.ndarray:
    """How far a logistic regression takes each option to be right, by how it differs from the
    question's other ones, both sides of balanced accuracy having the same weight.
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
    """What a regression that never learns from controls decides, above 0 for right."""
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
    """What a model says of each row that learned from other groups; 0 where there are none."""
    if groups.nunique() < 2:
        return np.zeros(len(groups))
    right = right.to_numpy()
    folds = GroupKFold(min(FOLDS, groups.nunique())).split(right, groups=groups)
    results = []
    places = []
    # Sums of long vectors by several threads take three times as long, and differ in last digits.
    # Without checks of what it is given, scikit-learn is twice as fast.
    with threadpool_limits(1), config_context(assume_finite=True, skip_parameter_validation=True):
        for train, test in folds:
            weights = {} if weight is None else {"sample_weight": weight[train]}
            model.fit(features[train], right[train], **weights)
            results.append(getattr(model, method)(features[test]))
            places.append(test)
    return np.concatenate(results)[np.argsort(np.concatenate(places))]
