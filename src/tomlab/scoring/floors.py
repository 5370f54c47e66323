"""Floors: what a reader gets who skips the story and goes by a rule about the surface of a text.

What a rule has to learn, it learns from other groups than those it answers.
"""

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache

import numpy as np
import pandas as pd
from scipy import sparse
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GroupKFold, cross_val_predict

from tomlab.asking.protocol import Benchmark
from tomlab.scoring.choices import options_of
from tomlab.scoring.stats import Interval, balanced_interval

NAME, FOLDS = "floor", 10
# The widest unit that items have: rules learn from some groups and answer others.
GROUPS = ("family", "conversation_id", "group_id")
KINDS = ("question_type", "variable", "variant", "tom_order")  # a rule is learned within one kind
FEW_TEXTS = 4  # where options have more different texts, none of them is a constant answer
_NO = r"(?i)\b(?:no|not|never|nothing|nobody|none|nor|neither|cannot|without|unaware)\b|n['’]t\b"


def choices(benchmark: Benchmark, items: pd.DataFrame, method: str) -> pd.DataFrame:
    """The option that each `rule` chooses, of questions that a method asks and that have options or
    are answered by "yes" or "no". No rule learns from items with `control`, if they have it.

    side: whether the omniscient baseline is right, two kinds of question that count alike in
    balanced accuracy; credit: what the choice earns, on average if a rule likes several most.
    """
    group, rows = next(name for name in GROUPS if name in items), []
    for item in benchmark.asked(items, method).sort_values("item_id").to_dict("records"):
        texts = options_of(item)
        own = {"fact_answer": "", "character": "", "control": False} | item
        kind = [str(item[name]).partition(":")[0] for name in KINDS if item.get(name)]
        own |= {"group": item[group], "kind": "/".join(kind), "is_shown": len(item["choices"]) > 0}
        own["sentences"] = re.split(r"(?<=[.!?])\s+", item["story"].strip())
        if len(texts):
            said = benchmark.reference(item, method, 0)
            own["side"] = said.get("omniscient") == said["gold"]
            own |= getattr(benchmark, "in_words", dict)(item)
        for at, text in enumerate(texts):
            others = {word for other in texts if other != text for word in _words(other)}
            only = " ".join({*_words(text)} - others)
            rows.append(own | {"at": at, "text": text, "only": only})
    found, kept = [], ["item_id", "kind", "group", "control", "side", "weight"]
    kept += ["text", "right"]
    for _, options in pd.DataFrame(rows).groupby("kind"):
        options = options.reset_index(drop=True)
        options["right"] = options["text"] == options["answer"]
        options["weight"] = 1 / options.groupby(["control", "side"])["at"].transform("size")
        # Between options that a rule likes alike, the item decides, as a lot would.
        lot = pd.util.hash_pandas_object(options["item_id"] + options["text"], index=False)
        for rule, liking in _rules(options):
            told = options[kept].assign(rule=rule, liking=np.round(liking, 9), lot=lot)
            told = told[told["liking"] == told.groupby("item_id")["liking"].transform("max")]
            told["credit"] = told.groupby("item_id")["right"].transform("mean")
            found.append(told.sort_values("lot").drop_duplicates("item_id"))
    return pd.concat(found, ignore_index=True)


@lru_cache(1 << 12)  # the options of a question have one story
def _words(text: str) -> list[str]:
    return re.findall(r"\w+", text.lower())


def _shared(texts: Sequence[str], told: Sequence[list[str]]) -> np.ndarray:
    """How many words each text shares with some sentences."""
    pairs = zip(texts, told, strict=True)
    return np.array([len({*_words(text)} & {*_words(" ".join(own))}) for text, own in pairs])


def counts(texts: Sequence[str]) -> sparse.csr_matrix:
    """Which words each text has."""
    return CountVectorizer(binary=True, tokenizer=_words, token_pattern=None).fit_transform(texts)


def _rules(rows: pd.DataFrame) -> Iterator[tuple[str, np.ndarray]]:
    """The rules for one kind of question: a name, and how much each option is liked."""
    texts, told, at = rows["text"], rows["sentences"], rows["at"].to_numpy()
    words, denies = counts(texts), texts.str.contains(_NO).to_numpy(float)
    for text in sorted(texts.unique()) if texts.nunique() <= FEW_TEXTS else ():
        yield f"always “{text}”", texts.eq(text).to_numpy(float)
    if rows["is_shown"].all():
        length, shared = texts.str.len().to_numpy(), _shared(texts, told.str[-1:])
        yield from (("first option", -at), ("last option", at))
        yield from (("longer option", length), ("shorter option", -length))
        yield "more words of the last sentence", shared
        yield "fewer words of the last sentence", -shared
        # What has become so is told in the sentence before the last, and not earlier.
        new = _shared(rows["only"], told.str[-2:-1]) - _shared(rows["only"], told.str[:-2])
        turn = np.where(told.str[-1].str.contains(_NO), -1.0, 1.0)
        yield "negation in the last sentence", new * turn
        yield "words of the options", _learned(words, rows)
        turned = sparse.diags(turn) @ words
        yield "words of the options, turned by a negation", _learned(turned, rows)
    if rows["fact_answer"].all():
        facts = zip(rows["fact_answer"], told, strict=True)
        near = [_shared([fact] * len(own), [[each] for each in own]) for fact, own in facts]
        place = np.array([[shared.argmax() / len(shared)] for shared in near])
        steps = denies[:, None] * (place >= np.arange(0, 1, 0.02))
        yield "place of the fact", _learned(sparse.csr_matrix(steps), rows)
    if rows["character"].all():
        opens = zip(told.str[0].str.lower(), rows["character"], strict=True)
        is_first = [sentence.startswith(who) for sentence, who in opens]
        yield "who speaks first does not know", denies * np.where(is_first, 1, -1)
    asked = sparse.diags(denies) @ counts(rows["question"])
    yield "question and options", _learned(sparse.hstack([words, asked]), rows)


def _learned(features: sparse.spmatrix, rows: pd.DataFrame) -> np.ndarray:
    """How far a logistic regression takes each option to be right, by how it differs from the
    question's other ones, both sides of balanced accuracy having the same weight.
    """
    codes = pd.factorize(rows["item_id"])[0]
    of = sparse.csr_matrix((np.ones(len(rows)), (np.arange(len(rows)), codes)))
    apart = features - of @ sparse.diags(1 / np.bincount(codes)) @ (of.T @ features)
    weight = (rows["weight"].where(~rows["control"], 0) * len(rows)).to_numpy()
    how = {"method": "decision_function", "params": {"sample_weight": weight}}
    model = LogisticRegression(fit_intercept=False, solver="liblinear")
    return held_out(model, sparse.csr_matrix(apart), rows["right"], rows["group"], **how)


def held_out(model, features, right: pd.Series, groups: pd.Series, **how) -> np.ndarray:
    """What a model says of each row that learned from other groups; 0 where there are none."""
    if groups.nunique() < 2:
        return np.zeros(len(groups))
    folds = GroupKFold(min(FOLDS, groups.nunique()))
    return cross_val_predict(model, features, right, groups=groups, cv=folds, **how)


def table(found: pd.DataFrame) -> pd.DataFrame:
    """Of `choices` by kind and rule: balanced accuracy (`value`) with its interval, and the `best`,
    controls aside, which as the best of several is a bit too high."""
    keys, told = ["kind", "control", "rule"], []
    for whose, rows in found.groupby(keys, sort=False):
        value = balanced_interval(rows["credit"], rows["side"], rows["group"])
        told.append([*whose, rows["credit"].mean(), *vars(value).values()])
    floors = pd.DataFrame(told, columns=[*keys, "accuracy", *Interval.__annotations__])
    tried = floors[~floors["control"]].sort_values("value", ascending=False, kind="stable")
    rule = tried.drop_duplicates("kind").set_index("kind")["rule"]
    return floors.assign(best=floors["rule"] == floors["kind"].map(rule))


def reader(
    benchmark: Benchmark, items: pd.DataFrame, method: str
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The `table` of all rules, and the scores of `NAME`, a model that goes by the best rule for
    each kind of question. A list names those of whom it says "yes" when asked about each.
    """
    found, rows = choices(benchmark, items, method), []
    floors = table(found)
    found = found.merge(floors.loc[floors["best"], ["kind", "control", "rule"]])
    said = found.set_index("item_id")["text"].to_dict()
    asked = benchmark.asked(items, method).to_dict("records")
    # The question sets, families of questions and persons of which the reader says "yes".
    says_yes = [item for item in asked if said.get(item["item_id"]) == "yes"]
    knows = {(i["item_id"].rpartition("_")[0], i.get("character")) for i in says_yes}
    for item in asked:
        names = [*item.get("aware", []), *item.get("unaware", [])]
        of = item["item_id"].rpartition("_")[0]
        listed = ", ".join(name for name in names if (of, name.lower()) in knows) or "Nobody"
        if answer := listed if names else said.get(item["item_id"]):
            response = benchmark.reference(item | {"answer": answer}, method, 0)["gold"]
            rows.append({"item_id": item["item_id"], "response": response})
    responses = pd.DataFrame(rows).assign(model=NAME, method=method)
    return floors, benchmark.score(items, responses)
