"""What blind and shallow readers go by: each reader, and the features of texts that it uses.

A reader is a liking for each option. What it has to learn, it learns from other groups than those
it answers.
"""

import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy import sparse
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GroupKFold, cross_val_predict
from threadpoolctl import threadpool_limits

FOLDS = 10
FEW_TEXTS = 4  # where options have more different texts, none of them is a constant answer
# Readers that tell two versions of a story apart by words, sentences or speakers.
BY_VERSION = (
    "number of sentences",
    "words of the last sentence",
    "word pairs of the last sentence",
    "words of the last sentence, by role",
    "word pairs of the last sentence, by role",
    "words of the story",
    "word pairs of the story",
    "who speaks near the fact knows",
    "words of the lines near the fact",
    "word pairs of the lines near the fact",
)
_NO = r"(?i)\b(?:no|not|never|nothing|nobody|none|nor|neither|cannot|without|unaware)\b|n['’]t\b"
_ASKED, _OTHER = "asked_person", "other_person"


class Reader(NamedTuple):
    """A reader of one kind of question."""

    name: str
    is_blind: bool
    sees: str
    liking: np.ndarray  # how much it likes each option
    # Above 0 where it takes the omniscient answer to be right, which is what versions differ in.
    version: np.ndarray | None = None


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
    place = options["at"].to_numpy()
    sees = "options only"
    if texts.nunique() <= FEW_TEXTS:
        for text in sorted(texts.unique()):
            yield Reader(f"always “{text}”", True, sees, texts.eq(text).to_numpy(float))
    if options["is_shown"].all():
        length = texts.str.len().to_numpy()
        yield Reader("first option", True, sees, -place)
        yield Reader("last option", True, sees, place)
        yield Reader("longer option", True, sees, length)
        yield Reader("shorter option", True, sees, -length)
        yield Reader("words of the options", True, sees, _learned(counts(texts), options))
    denies = texts.str.contains(_NO).to_numpy(float)
    for name, longest in (("words", 1), ("word pairs", 2)):
        asked = sparse.diags(denies) @ counts(options["question"], longest)
        features = sparse.hstack([counts(texts, longest), asked])
        liking = _learned(features, options)
        yield Reader(f"{name} of question and options", True, "question and options only", liking)


def _negation_readers(options: pd.DataFrame) -> Iterator[Reader]:
    """Readers who look for a negation in the last sentence, and two who look for shared words."""
    sentences = options["sentences"]
    shared = _shared(options["text"], sentences.str[-1:])
    sees = "options, last sentence"
    yield Reader("more words of the last sentence", False, sees, shared)
    yield Reader("fewer words of the last sentence", False, sees, -shared)
    turn = np.where(sentences.str[-1].str.contains(_NO), -1.0, 1.0)
    event = _shared(options["own_words"], sentences.str[-2:-1])
    earlier = _shared(options["own_words"], sentences.str[:-2])
    sees = "options, last two sentences"
    yield Reader("negation, words before it", False, sees, event * turn, turn)
    sees = "options, all sentences"
    yield Reader("negation, new words before it", False, sees, (event - earlier) * turn, turn)
    turned = sparse.diags(turn) @ counts(options["text"])
    sees = "options, a negation in the last sentence"
    liking = _learned(turned, options)
    yield Reader("words of the options, turned by a negation", False, sees, liking, turn)


def _sentence_readers(options: pd.DataFrame) -> Iterator[Reader]:
    """Readers who tell the version from sentences, and answer accordingly."""
    questions = options.drop_duplicates("item_id").set_index("item_id")
    last = questions["sentences"].str[-1]
    tagged = _by_roles(last, questions, _tagged)
    whole = _by_roles(questions["story"], questions, _masked)
    number = questions["sentences"].str.len().map("sentences{}".format)
    seen = [
        ("number of sentences", number, 1),
        ("last sentence", last, 1),
        ("last sentence", last, 2),
        ("last sentence, names by role", tagged, 1),
        ("last sentence, names by role", tagged, 2),
        ("all sentences, names by role", whole, 1),
        ("all sentences, names by role", whole, 2),
    ]
    for name, (sees, text, longest) in zip(BY_VERSION, seen, strict=False):
        version = held_out_version(text, questions, longest)
        turn = np.sign(version.loc[options["item_id"]].to_numpy())
        yield Reader(name, False, sees, _answers_by(turn, options), turn)


def _answers_by(turn: np.ndarray, options: pd.DataFrame) -> np.ndarray:
    """How much each option is liked by a reader who takes a version for one (1) or the other (-1),
    and has learned which of the two goes with the option that `_leaning` names.
    """
    leaning = sparse.csr_matrix((turn * _leaning(options))[:, None])
    return _learned(leaning, options)


def _conversation_readers(
    options: pd.DataFrame, by_lines: Mapping[str, pd.Series]
) -> Iterator[Reader]:
    """Readers of conversations: who speaks near a fact, in which words, where it stands."""
    denies = options["text"].str.contains(_NO).to_numpy(float)
    place = _place_of_fact(options)
    steps = denies[:, None] * (place[:, None] >= np.arange(0, 1, 0.02))
    liking = _learned(sparse.csr_matrix(steps), options)
    yield Reader("place of the fact", False, "where the fact stands", liking)
    if options["person"].all():
        first = [words_of(story)[0] for story in options["story"]]
        turn = np.where(options["asked"] == first, -1.0, 1.0)
        yield Reader("who speaks first does not know", False, "first speaker", -denies * turn, turn)
        near = [_speaks_near(row) for row in options.to_dict("records")]
        turn = np.where(near, 1.0, -1.0)
        sees = "speakers from one line before the fact to two after it"
        yield Reader("who speaks near the fact knows", False, sees, -denies * turn, turn)
        for name, versions in by_lines.items():
            turn = versions.loc[options["item_id"]].to_numpy()
            sees = "the lines with the person nearest to the fact"
            yield Reader(name, False, sees, -denies * turn, turn)


# --- what readers see ----------------------------------------------------------------------------


@lru_cache(1 << 14)  # the options of a question have one story
def words_of(text: str) -> list[str]:
    return re.findall(r"\w+", text.lower())


@lru_cache(1 << 10)
def speakers_of(conversation: str) -> frozenset[str]:
    """Who speaks in a conversation, in lower case."""
    return frozenset(line.partition(":")[0].lower() for line in conversation.split("\n"))


def _shared(texts: Sequence[str], sentences: Sequence[list[str]]) -> np.ndarray:
    """How many words each text shares with some sentences."""
    shared = []
    for text, own_sentences in zip(texts, sentences, strict=True):
        words = set(words_of(" ".join(own_sentences)))
        shared.append(len(words & set(words_of(text))))
    return np.array(shared)


def counts(texts: Sequence[str], longest: int = 1) -> sparse.csr_matrix:
    """Which words each text has; longest: 2 for pairs of neighbouring words, too."""
    vectorizer = CountVectorizer(
        binary=True, tokenizer=words_of, token_pattern=None, ngram_range=(1, longest)
    )
    return vectorizer.fit_transform(texts)


def _leaning(options: pd.DataFrame) -> np.ndarray:
    """Which option a reader takes who believes that everybody knows everything: 1, others -1.

    Where one option of each question denies something, it is the other one. Elsewhere it is the one
    with new words in the sentence before the last; if that does not decide, the one that is named
    last before the last sentence.
    """
    denies = options["text"].str.contains(_NO)
    if denies.groupby(options["item_id"].to_numpy()).nunique().eq(2).all():
        return np.where(denies, -1.0, 1.0)
    sentences = options["sentences"]
    event = _shared(options["own_words"], sentences.str[-2:-1])
    earlier = _shared(options["own_words"], sentences.str[:-2])
    cues = pd.DataFrame({"new": event - earlier, "place": _last_places(options)})
    middle = cues.groupby(options["item_id"].to_numpy()).transform("mean")
    apart = np.sign(cues - middle)
    return np.where(apart["new"] != 0, apart["new"], apart["place"])


def _last_places(options: pd.DataFrame) -> list[int]:
    """Where an option's own words stand for the last time before the last sentence; -1: nowhere."""
    last_places = []
    for own_words, sentences in zip(options["own_words"], options["sentences"], strict=True):
        own = own_words.split()
        before = words_of(" ".join(sentences[:-1]))
        places = [place for place, word in enumerate(before) if word in own]
        last_places.append(max(places, default=-1))
    return last_places


def _by_roles(texts: pd.Series, questions: pd.DataFrame, tell: Callable) -> pd.Series:
    """Texts in which names are roles: the person asked about, and others."""
    told = []
    for text, story, asked in zip(texts, questions["story"], questions["asked"], strict=True):
        told.append(tell(text, asked, _people(story, asked)))
    return pd.Series(told, index=texts.index)


@lru_cache(1 << 14)
def _people(story: str, asked: str) -> frozenset[str]:
    """Names in a story: words with a capital letter that somewhere begin no sentence."""
    names = re.findall(r"(?<![.!?:”\"\n])[ “\"(]([^\W\d_a-z]\w+)", story)
    return frozenset({name.lower() for name in names} | {asked})


def _roles(text: str, asked: str, people: frozenset[str]) -> Iterator[str]:
    """The words of a text, with roles for names."""
    for word in words_of(text):
        if word == asked:
            yield _ASKED
        elif word in people:
            yield _OTHER
        else:
            yield word


def _masked(text: str, asked: str, people: frozenset[str]) -> str:
    """A text with roles for names."""
    return " ".join(_roles(text, asked, people))


def _tagged(text: str, asked: str, people: frozenset[str]) -> str:
    """The words of a text, each with the role of the person who was named last before it."""
    role = "nobody"
    words = []
    for word in _roles(text, asked, people):
        if word in (_ASKED, _OTHER):
            role = word
        words.append(f"{role}_{word}")
    return " ".join(words)


@lru_cache(1 << 10)
def _fact_line(story: str, fact: str) -> int:
    """The number of the line that has most words of a fact."""
    words = set(words_of(fact))
    shared = [len(words & set(words_of(line))) for line in story.split("\n")]
    return shared.index(max(shared))


def _speaks_near(question: dict) -> bool:
    """Whether a person speaks from one line before the fact to two lines after it."""
    fact_line = _fact_line(question["story"], question["fact"])
    near = question["story"].split("\n")[max(fact_line - 1, 0) : fact_line + 3]
    return question["asked"] in speakers_of("\n".join(near))


def _place_of_fact(options: pd.DataFrame) -> np.ndarray:
    """Where in the story the sentence stands that has most words of the fact, from 0 to 1."""
    places = []
    for fact, sentences in zip(options["fact"], options["sentences"], strict=True):
        fact_words = set(words_of(fact))
        shared = [len(fact_words & set(words_of(sentence))) for sentence in sentences]
        places.append(shared.index(max(shared)) / len(shared))
    return np.array(places)


def _lines_near(question: dict) -> str:
    """The words of the line with the fact, of the last one before it and of the first one after it
    that a person speaks or is named in; with roles for names, and marked by where they stand.
    """
    asked = question["asked"]
    lines = question["story"].split("\n")
    people = speakers_of(question["story"])
    fact_line = _fact_line(question["story"], question["fact"])
    before = [line for line in lines[:fact_line] if asked in words_of(line)]
    after = [line for line in lines[fact_line + 1 :] if asked in words_of(line)]
    parts = {"before": before[-1:], "fact": [lines[fact_line]], "after": after[:1]}
    words = []
    for place, chosen in parts.items():
        for line in chosen:
            words += [f"{place}_{word}" for word in _roles(line, asked, people)]
    return " ".join(words)


# --- learning ------------------------------------------------------------------------------------


def versions_by_lines(every: pd.DataFrame) -> dict[str, pd.Series]:
    """By reader, whether the person asked about knows a fact, by the lines near it; none where no
    question has a fact. All kinds of question are learned from at once: it is the same in all.
    """
    questions = every[(every["asked"] != "") & (every["fact"] != "")]
    if questions.empty:
        return {}
    questions = questions.drop_duplicates("item_id").set_index("item_id")
    texts = pd.Series([_lines_near(row) for row in questions.to_dict("records")], questions.index)
    return {
        "words of the lines near the fact": held_out_version(texts, questions, 1),
        "word pairs of the lines near the fact": held_out_version(texts, questions, 2),
    }


def held_out_version(texts: pd.Series, questions: pd.DataFrame, longest: int) -> pd.Series:
    """How far a logistic regression on words takes the omniscient answer to be right; questions on
    which it is and on which it is not have the same weight.
    """
    groups_of_side = questions[~questions["control"]].groupby("side")["group"].nunique()
    groups_of_fold = math.ceil(questions["group"].nunique() / FOLDS)
    if len(groups_of_side) < 2 or groups_of_side.min() <= groups_of_fold:
        # One side might be missing among those that are learned from.
        return pd.Series(0.0, index=texts.index)
    size = questions.groupby(["control", "side"])["group"].transform("size")
    weight = (len(questions) / 2 / size).where(~questions["control"], 0).to_numpy()
    how = {"method": "decision_function", "params": {"sample_weight": weight}}
    model = LogisticRegression(solver="liblinear")
    features = counts(texts, longest)
    version = held_out(model, features, questions["side"], questions["group"], **how)
    return pd.Series(version, index=texts.index)


def _learned(features: sparse.spmatrix, options: pd.DataFrame) -> np.ndarray:
    """How far a logistic regression takes each option to be right, by how it differs from the
    question's other ones, both sides of balanced accuracy having the same weight.
    """
    codes = pd.factorize(options["item_id"])[0]
    of = sparse.csr_matrix((np.ones(len(options)), (np.arange(len(options)), codes)))
    apart = features - of @ sparse.diags(1 / np.bincount(codes)) @ (of.T @ features)
    size = options.groupby(["control", "side"])["at"].transform("size")
    weight = (len(options) / size).where(~options["control"], 0).to_numpy()
    how = {"method": "decision_function", "params": {"sample_weight": weight}}
    model = LogisticRegression(fit_intercept=False, solver="liblinear")
    return held_out(model, sparse.csr_matrix(apart), options["right"], options["group"], **how)


def held_out(model, features, right: pd.Series, groups: pd.Series, **how) -> np.ndarray:
    """What a model says of each row that learned from other groups; 0 where there are none."""
    if groups.nunique() < 2:
        return np.zeros(len(groups))
    folds = GroupKFold(min(FOLDS, groups.nunique()))
    # Sums of long vectors by several threads take three times as long, and differ in last digits.
    with threadpool_limits(1):
        return cross_val_predict(model, features, right, groups=groups, cv=folds, **how)
