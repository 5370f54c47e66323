"""Blind and shallow readers: what is right by the options alone, or by surface features of a story.

A *blind* reader sees question and options only. A *shallow* reader also sees some of the story's
surface: words, a negation, the number of sentences, who speaks near a fact. Neither follows who
knows what. What a reader has to learn, it learns from other groups than those it answers.
"""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy import sparse

from tomlab.asking.protocol import Benchmark
from tomlab.scoring.choices import options_of
from tomlab.scoring.stats import cluster_interval, interval_of_sums
from tomlab.scoring.surface import (
    DENIAL,
    by_roles,
    counts,
    held_out_version,
    leaning_of,
    learned,
    masked,
    places_of_facts,
    shared_words,
    speakers_of,
    speaks_near,
    tagged,
    versions_by_lines,
    words_of,
)

NAME = "shallow reader"
STATED = ("not stated", "stated")
# The widest unit that items have: readers learn from some groups and answer others.
GROUPS = ("family", "conversation_id", "group_id")
KINDS = ("question_type", "variable", "variant", "tom_order")  # readers are compared within one
TWINS = ("main", "aware")  # SimpleToM: two versions of one question, not two kinds of question
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
KEYS = ["kind", "control", "initial_belief", "reader"]


class Reader(NamedTuple):
    """A reader of one kind of question."""

    name: str
    is_blind: bool
    sees: str
    liking: np.ndarray  # how much it likes each option
    # Above 0 where it takes the omniscient answer to be right, which is what versions differ in.
    version: np.ndarray | None = None


def reader(
    benchmark: Benchmark, items: pd.DataFrame, method: str
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The `table` of all readers, and the scores of `NAME`, a model that answers each kind of
    question as the best reader does. A list names those of whom it says "yes" one by one.
    """
    chosen = choices(benchmark, items, method)
    results = table(chosen)
    best = results.loc[results["best"], ["kind", "reader"]].drop_duplicates()
    answers = chosen.merge(best).set_index("item_id")["text"].to_dict()
    questions = benchmark.asked(items, method).to_dict("records")
    knowers = _knowers(questions, answers)
    rows = []
    for item in questions:
        people = [*item.get("aware", []), *item.get("unaware", [])]
        answer = answers.get(item["item_id"])
        if people:
            asked_about = _set_of(item)
            named = [name for name in people if (asked_about, name.lower()) in knowers]
            answer = ", ".join(named) or "Nobody"
        if answer:
            response = benchmark.reference(item | {"answer": answer}, method, 0)["gold"]
            rows.append({"item_id": item["item_id"], "response": response})
    responses = pd.DataFrame(rows).assign(model=NAME, method=method)
    return results, benchmark.score(items, responses)


def table(chosen: pd.DataFrame) -> pd.DataFrame:
    """What each reader gets, from `choices`, by kind of question, control and initial belief.

    value: balanced accuracy, with its interval; version: how often the reader tells the version
    (balanced accuracy; nan for readers that give the same answer to all versions); both_right: the
    share of pairs of versions, or of lists of people, in which all answers are right; a reader that
    likes several options alike gets none of these. best: the highest `value` of a kind, controls
    aside; as the best of several it is a bit too high.
    """
    rows = []
    for key, answers in chosen.groupby(KEYS, sort=False):
        size = answers.groupby("side")["credit"].transform("size")
        weighted = pd.DataFrame({"sum": answers["credit"] / size, "count": 1 / size})
        sums = weighted.groupby(answers["group"]).sum()
        interval = interval_of_sums(sums, n=len(answers))
        row = dict(zip(KEYS, key, strict=True))
        row |= {"is_blind": answers["is_blind"].iloc[0], "sees": answers["sees"].iloc[0]}
        row |= {"accuracy": answers["credit"].mean(), **vars(interval)}
        row["version"] = answers.groupby("side")["version_credit"].mean().mean()
        rows.append(row | _both_right(answers))
    results = pd.DataFrame(rows)
    tried = results[~results["control"]].groupby(["kind", "reader"], sort=False)["value"].mean()
    best = tried.reset_index().sort_values("value", ascending=False, kind="stable")
    best = best.drop_duplicates("kind").set_index("kind")["reader"]
    return results.assign(best=results["reader"] == results["kind"].map(best))


def _both_right(answers: pd.DataFrame) -> dict:
    """The share of pairs, or lists, of which all answers are right, with its interval."""
    together = answers[answers["together"] != ""]
    whole = together.groupby("together").agg(credit=("credit", "min"), group=("group", "first"))
    names = ["both_right", "both_low", "both_high", "n_together"]
    if whole.empty:
        return dict(zip(names, [np.nan, np.nan, np.nan, 0], strict=True))
    interval = cluster_interval(whole["credit"].eq(1).astype(float), whole["group"])
    values = [interval.value, interval.ci_low, interval.ci_high, len(whole)]
    return dict(zip(names, values, strict=True))


def choices(benchmark: Benchmark, items: pd.DataFrame, method: str) -> pd.DataFrame:
    """The option that each reader chooses, of questions that a method asks and that have options or
    are answered by "yes" or "no". No reader learns from items with `control`, if they have it.

    side: whether the omniscient baseline is right, two kinds of question that count alike in
    balanced accuracy; credit: what the choice earns, on average if a reader likes several options
    most; version_credit: the same for telling on which side a question is; together: the pair or
    list that a question belongs to, or "".
    """
    options = _options(benchmark, items, method)
    columns = ["item_id", "kind", "group", "control", "initial_belief", "side", "together"]
    columns += ["text", "right"]
    results = []
    for _, of_kind in options.groupby("kind"):
        of_kind = of_kind.reset_index(drop=True)
        # Between options that a reader likes alike a lot decides, the same for all versions.
        lot = pd.util.hash_pandas_object(
            of_kind["group"].astype(str) + of_kind["text"], index=False
        )
        for one in _readers(of_kind, options):
            liked = of_kind[columns].assign(reader=one.name, is_blind=one.is_blind, sees=one.sees)
            liked = liked.assign(liking=np.round(one.liking, 9), lot=lot, version_credit=np.nan)
            if one.version is not None:
                guess = np.sign(np.round(one.version, 9))
                liked["version_credit"] = (1 + guess * np.where(of_kind["side"], 1, -1)) / 2
            most = liked.groupby("item_id")["liking"].transform("max")
            liked = liked[liked["liking"] == most]
            liked["credit"] = liked.groupby("item_id")["right"].transform("mean")
            results.append(liked.sort_values("lot").drop_duplicates("item_id"))
    return pd.concat(results, ignore_index=True)


def _options(benchmark: Benchmark, items: pd.DataFrame, method: str) -> pd.DataFrame:
    """A row for each option of each question, with all that readers see."""
    group = next(name for name in GROUPS if name in items)
    rows = []
    for item in benchmark.asked(items, method).sort_values("item_id").to_dict("records"):
        texts = options_of(item)
        if not texts:
            continue
        reference = benchmark.reference(item, method, 0)
        question = {
            "item_id": item["item_id"],
            "group": item[group],
            "kind": _kind(item),
            "control": bool(item.get("control", False)),
            "initial_belief": _initial_belief(item),
            "together": _together(item),
            "side": reference.get("omniscient") == reference["gold"],
            "is_shown": len(item["choices"]) > 0,
            "answer": item["answer"],
            "story": item["story"].strip(),
            "sentences": re.split(r"(?<=[.!?])\s+", item["story"].strip()),
            "fact": item.get("fact_answer", ""),
            "person": item.get("character", ""),
            "asked": _asked_person(item, texts),
        }
        in_words = getattr(benchmark, "in_words", dict)(item)
        question["question"] = in_words.get("question", item["question"])
        for at, text in enumerate(texts):
            other_words = {word for other in texts if other != text for word in words_of(other)}
            own_words = " ".join(set(words_of(text)) - other_words)
            rows.append(question | {"at": at, "text": text, "own_words": own_words})
    options = pd.DataFrame(rows)
    pairs = options.groupby("together")["item_id"].transform("nunique")
    return options.assign(
        right=options["text"] == options["answer"],
        together=options["together"].where(pairs > 1, ""),
    )


def _kind(item: dict) -> str:
    """The kind of a question, as "belief/forward_belief" or "belief_choice/first-order"."""
    parts = []
    for name in KINDS:
        part = str(item.get(name) or "").partition(":")[0]
        if part and part not in TWINS:
            parts.append(part)
    return "/".join(parts)


def _initial_belief(item: dict) -> str:
    """Whether the story states the initial belief (BigToM); "" elsewhere."""
    if "initial_belief" not in item:
        return ""
    return STATED[int(item["initial_belief"])]


def _together(item: dict) -> str:
    """What is right only together: the true- and false-belief version of a BigToM question, the
    unaware and aware story of a SimpleToM question, what FANToM asks about each person of a set.
    """
    kind = _kind(item)
    if "condition" in item:
        control = item["condition"].endswith("control")
        return f"{item['group_id']}/{kind}/{item['initial_belief']}/{control}"
    if "story_id" in item:
        return f"{item['story_id']}/{kind}"
    if item.get("question_type", "").endswith("_yn"):
        return _set_of(item)
    return ""


def _set_of(item: dict) -> str:
    """The question set and the family of questions: "0-0-0/infoaccess"."""
    return item["item_id"].rpartition("_")[0]


def _asked_person(item: dict, options: Sequence[str]) -> str:
    """The person whose knowledge decides the answer, in lower case: in a second-order question it
    is the second person that the options name.
    """
    if item.get("tom_order", "").startswith(("first-order", "second-order")):
        people = speakers_of(item["full_story"])
        named = [word for word in words_of(options[0]) if word in people]
        is_second = item["tom_order"].startswith("second") and len(named) > 1
        return named[1] if is_second else item["character"]
    if item.get("character"):
        return item["character"]
    if item.get("person_x"):
        return item["person_x"].split()[0].lower()
    names = re.findall(r"\w+", item["question"])[1:]
    capitalised = [name for name in names if name[0].isupper() and name in item["story"]]
    return capitalised[0].lower() if capitalised else ""


def _knowers(questions: Sequence[dict], answers: dict) -> set[tuple[str, str]]:
    """The question sets, with their family of questions, and the persons who are said to know."""
    says_yes = [item for item in questions if answers.get(item["item_id"]) == "yes"]
    return {(_set_of(item), item.get("character")) for item in says_yes}


# --- the readers ---------------------------------------------------------------------------------


def _readers(options: pd.DataFrame, every: pd.DataFrame) -> Iterator[Reader]:
    """All readers of one kind of question. every: the options of all kinds of a benchmark."""
    yield from _blind_readers(options)
    if options["is_shown"].all():
        yield from _negation_readers(options)
    if options["fact"].all():
        yield from _conversation_readers(options, every)
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
        yield Reader("words of the options", True, sees, learned(counts(texts), options))
    denies = texts.str.contains(DENIAL).to_numpy(float)
    for name, longest in (("words", 1), ("word pairs", 2)):
        asked = sparse.diags(denies) @ counts(options["question"], longest)
        features = sparse.hstack([counts(texts, longest), asked])
        liking = learned(features, options)
        yield Reader(f"{name} of question and options", True, "question and options only", liking)


def _negation_readers(options: pd.DataFrame) -> Iterator[Reader]:
    """Readers who look for a negation in the last sentence, and two who look for shared words."""
    sentences = options["sentences"]
    shared = shared_words(options["text"], sentences.str[-1:])
    sees = "options, last sentence"
    yield Reader("more words of the last sentence", False, sees, shared)
    yield Reader("fewer words of the last sentence", False, sees, -shared)
    turn = np.where(sentences.str[-1].str.contains(DENIAL), -1.0, 1.0)
    event = shared_words(options["own_words"], sentences.str[-2:-1])
    earlier = shared_words(options["own_words"], sentences.str[:-2])
    sees = "options, last two sentences"
    yield Reader("negation, words before it", False, sees, event * turn, turn)
    sees = "options, all sentences"
    yield Reader("negation, new words before it", False, sees, (event - earlier) * turn, turn)
    turned = sparse.diags(turn) @ counts(options["text"])
    sees = "options, a negation in the last sentence"
    liking = learned(turned, options)
    yield Reader("words of the options, turned by a negation", False, sees, liking, turn)


def _sentence_readers(options: pd.DataFrame) -> Iterator[Reader]:
    """Readers who tell the version from sentences, and answer accordingly."""
    questions = options.drop_duplicates("item_id").set_index("item_id")
    last = questions["sentences"].str[-1]
    last_by_role = by_roles(last, questions, tagged)
    whole = by_roles(questions["story"], questions, masked)
    number = questions["sentences"].str.len().map("sentences{}".format)
    seen = [
        ("number of sentences", number, 1),
        ("last sentence", last, 1),
        ("last sentence", last, 2),
        ("last sentence, names by role", last_by_role, 1),
        ("last sentence, names by role", last_by_role, 2),
        ("all sentences, names by role", whole, 1),
        ("all sentences, names by role", whole, 2),
    ]
    for name, (sees, text, longest) in zip(BY_VERSION, seen, strict=False):
        version = held_out_version(text, questions, longest)
        turn = np.sign(version.loc[options["item_id"]].to_numpy())
        yield Reader(name, False, sees, _answers_by(turn, options), turn)


def _answers_by(turn: np.ndarray, options: pd.DataFrame) -> np.ndarray:
    """How much each option is liked by a reader who takes a version for one (1) or the other (-1),
    and has learned which of the two goes with the option that `leaning_of` names.
    """
    leaning = sparse.csr_matrix((turn * leaning_of(options))[:, None])
    return learned(leaning, options)


def _conversation_readers(options: pd.DataFrame, every: pd.DataFrame) -> Iterator[Reader]:
    """Readers of conversations: who speaks near a fact, in which words, where it stands."""
    denies = options["text"].str.contains(DENIAL).to_numpy(float)
    place = places_of_facts(options)
    steps = denies[:, None] * (place[:, None] >= np.arange(0, 1, 0.02))
    liking = learned(sparse.csr_matrix(steps), options)
    yield Reader("place of the fact", False, "where the fact stands", liking)
    if options["person"].all():
        first = [words_of(story)[0] for story in options["story"]]
        turn = np.where(options["asked"] == first, -1.0, 1.0)
        yield Reader("who speaks first does not know", False, "first speaker", -denies * turn, turn)
        near = [speaks_near(row) for row in options.to_dict("records")]
        turn = np.where(near, 1.0, -1.0)
        sees = "speakers from one line before the fact to two after it"
        yield Reader("who speaks near the fact knows", False, sees, -denies * turn, turn)
        for name, longest in (("words", 1), ("word pairs", 2)):
            versions = versions_by_lines(every, longest)
            turn = versions.loc[options["item_id"]].to_numpy()
            sees = "the lines with the person nearest to the fact"
            yield Reader(f"{name} of the lines near the fact", False, sees, -denies * turn, turn)
