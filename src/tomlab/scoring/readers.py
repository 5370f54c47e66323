"""Blind and shallow readers: how many questions the options or a story's surface alone get right.

A *blind* reader sees question and options only. A *shallow* reader also sees some of the story's
surface: words, a negation, the number of sentences, who speaks near a fact. Neither follows who
knows what. A reader that learns is trained on other groups of items than those it answers.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import ModuleType

import numpy as np
import pandas as pd

from tomlab import paths
from tomlab.records.asked import options_of
from tomlab.scoring.cues import readers_of, speakers_of, versions_by_lines, words_of
from tomlab.scoring.stats import balanced_interval, cluster_interval

NAME = "shallow reader"
STATED = ("not stated", "stated")
# The first of these columns that items have names their group, the widest unit: readers learn from
# some groups and answer others.
GROUPS = ("family", "conversation_id", "group_id")
# The columns whose values make up the kind of a question; readers are compared within one kind.
KINDS = ("question_type", "variable", "variant", "tom_order")
TWINS = ("main", "aware")  # SimpleToM: two versions of one question, not two kinds of question
KEYS = ["kind", "control", "initial_belief", "reader"]


def reader(
    benchmark: ModuleType, items: pd.DataFrame, method: str
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The `table` of all readers, and the `scores` of the best reader of each kind of question."""
    chosen = choices(benchmark, items, method)
    results = table(chosen)
    return results, scores(benchmark, items, method, best_answers(chosen, results))


def keep(benchmark: ModuleType, items: pd.DataFrame, method: str) -> None:
    """Write the `table` of all readers and the best readers' answers to the files `kept` reads."""
    chosen = choices(benchmark, items, method)
    results = table(chosen)
    results_file, answers_file = _files(benchmark.NAME, method)
    results.to_parquet(paths.writable(results_file))
    best_answers(chosen, results).to_frame().to_parquet(paths.writable(answers_file))


def kept(benchmark: str, method: str) -> tuple[pd.DataFrame, pd.Series]:
    """Read the files that `keep` wrote: the `table` of all readers, and the `best_answers`."""
    results_file, answers_file = _files(benchmark, method)
    return pd.read_parquet(results_file), pd.read_parquet(answers_file)["text"]


def _files(benchmark: str, method: str) -> tuple[Path, Path]:
    folder = paths.RESULTS / "baselines" / benchmark / "readers"
    return folder / f"{method}.parquet", folder / f"{method}_answers.parquet"


def best_answers(chosen: pd.DataFrame, results: pd.DataFrame) -> pd.Series:
    """The text of the option that the best reader of each kind of question chooses, by `item_id`.

    chosen: what `choices` returns; results: what `table` returns.
    """
    best = results.loc[results["best"], ["kind", "reader"]].drop_duplicates()
    return chosen.merge(best).set_index("item_id")["text"]


def scores(
    benchmark: ModuleType, items: pd.DataFrame, method: str, answers: pd.Series
) -> pd.DataFrame:
    """The benchmark's scores of a model called `NAME` that gives `answers` (of `best_answers`). If
    a question asks for a list of people, the model lists everybody about whom it answers "yes" when
    asked about that person alone.
    """
    answers = answers.to_dict()
    questions = benchmark.asked(items, method).to_dict("records")
    knowers = set()
    for item in questions:
        if answers.get(item["item_id"]) == "yes":
            knowers.add((_set_of(item), item.get("character")))
    rows = []
    for item in questions:
        answer = answers.get(item["item_id"])
        people = [*item.get("aware", []), *item.get("unaware", [])]
        if people:
            listed = [name for name in people if (_set_of(item), name.lower()) in knowers]
            answer = ", ".join(listed) or "Nobody"
        if answer:
            response = benchmark.reference(item | {"answer": answer}, method, 0)["gold"]
            rows.append({"item_id": item["item_id"], "response": response})
    responses = pd.DataFrame(rows).assign(model=NAME, method=method)
    return benchmark.score(items, responses)


def table(chosen: pd.DataFrame) -> pd.DataFrame:
    """How well each reader answers: a row for each kind of question, control, initial belief and
    reader (`KEYS`). chosen: what `choices` returns.

    value: balanced accuracy, with its interval; version: how often the reader tells the version of
    the story (balanced accuracy; nan for readers that do not try); both_right: the share of pairs
    of versions, or of lists of people, in which all answers are right, where a tie with a wrong
    option is not right. best: whether the reader has the highest mean `value` for this kind of
    question, controls left out; as the highest of several, that value is a bit too high.
    """
    # Grouping by numbers gives the same sums in the same order as by names, and is much faster.
    numbers = {name: pd.factorize(chosen[name], sort=True)[0] for name in ("group", "together")}
    is_together = chosen["together"] != ""
    rows = []
    for keys, answers in chosen.assign(**numbers, is_together=is_together).groupby(
        KEYS, sort=False
    ):
        interval = balanced_interval(answers["credit"], answers["side"], answers["group"])
        row = dict(zip(KEYS, keys, strict=True))
        row |= answers[["is_blind", "sees"]].iloc[0].to_dict()
        row["accuracy"] = answers["credit"].mean()
        row |= vars(interval)
        row["version"] = answers.groupby("side")["version_credit"].mean().mean()
        rows.append(row | _both_right(answers))
    results = pd.DataFrame(rows)
    tried = results[~results["control"]].groupby(["kind", "reader"], sort=False)["value"].mean()
    ranked = tried.reset_index().sort_values("value", ascending=False, kind="stable")
    best_of_kind = ranked.drop_duplicates("kind").set_index("kind")["reader"]
    return results.assign(best=results["reader"] == results["kind"].map(best_of_kind))


def _both_right(answers: pd.DataFrame) -> dict:
    """The share of pairs, or lists, in which all answers are right, with its interval."""
    together = answers[answers["is_together"]].groupby("together")
    together = together.agg(credit=("credit", "min"), group=("group", "first"))
    interval = cluster_interval(together["credit"].eq(1).astype(float), together["group"])
    return {
        "both_right": interval.value,
        "both_low": interval.ci_low,
        "both_high": interval.ci_high,
        "n_together": len(together),
    }


def choices(benchmark: ModuleType, items: pd.DataFrame, method: str) -> pd.DataFrame:
    """The option that each reader chooses, a row for each reader and question. Only those questions
    count that the method asks and that have options or are answered by "yes" or "no". No reader
    learns from items whose `control` is true.

    side: whether the omniscient baseline is right (questions where it is right and questions where
    it is wrong count alike in balanced accuracy); credit: 1 for the right option, 0 for a wrong
    one, the average if several tie; version_credit: the same for telling the question's `side`;
    together: the key of the pair or list that the question belongs to, or "".
    """
    options = _options(benchmark, items, method)
    columns = ["item_id", "kind", "group", "control", "initial_belief", "side", "together"]
    columns += ["text", "right"]
    by_lines = versions_by_lines(options)
    results = []
    for _, of_kind in options.groupby("kind"):
        of_kind = of_kind.reset_index(drop=True)
        # A hash of group and text breaks ties between options, alike in all versions of a story.
        texts = of_kind["group"].astype(str) + of_kind["text"]
        lot = pd.util.hash_pandas_object(texts, index=False)
        question = pd.factorize(of_kind["item_id"])[0]  # grouping by numbers is faster
        side = np.where(of_kind["side"], 1, -1)
        for reader in readers_of(of_kind, by_lines):
            liking = pd.Series(np.round(reader.liking, 9))
            liked = liking == liking.groupby(question).transform("max")
            credit = of_kind["right"].where(liked).astype(float).groupby(question).transform("mean")
            lots = pd.DataFrame({"question": question, "lot": lot})[liked].sort_values("lot")
            drawn = lots.drop_duplicates("question").index
            version_credit = pd.Series(np.nan, of_kind.index)
            if reader.version is not None:
                version_credit = (1 + np.sign(np.round(reader.version, 9)) * side) / 2
            rows = of_kind[columns].assign(
                reader=reader.name,
                is_blind=reader.is_blind,
                sees=reader.sees,
                version_credit=version_credit,
                credit=credit,
            )
            results.append(rows.loc[drawn])
    return pd.concat(results, ignore_index=True)


def _options(benchmark: ModuleType, items: pd.DataFrame, method: str) -> pd.DataFrame:
    """A row for each option of each question, with all that readers see."""
    group = next(name for name in GROUPS if name in items)
    rows = []
    for item in benchmark.asked(items, method).sort_values("item_id").to_dict("records"):
        texts = options_of(item)
        if not texts:
            continue
        question = _question(benchmark, item, method, texts)
        question["group"] = item[group]
        for place, (text, own_words) in enumerate(zip(texts, _own_words(texts), strict=True)):
            rows.append(question | {"at": place, "text": text, "own_words": own_words})
    options = pd.DataFrame(rows)
    items_together = options.groupby("together")["item_id"].transform("nunique")
    return options.assign(
        right=options["text"] == options["answer"],
        together=options["together"].where(items_together > 1, ""),
    )


def _question(benchmark: ModuleType, item: Mapping, method: str, texts: Sequence[str]) -> dict:
    """What readers see of a question, and the columns by which questions are grouped."""
    reference = benchmark.reference(item, method, 0)
    wording = item
    if hasattr(benchmark, "in_words"):
        wording = item | benchmark.in_words(item)
    story = item["story"].strip()
    return {
        "item_id": item["item_id"],
        "kind": _kind(item),
        "control": bool(item.get("control", False)),
        "initial_belief": _initial_belief(item),
        "together": _together(item),
        "side": reference.get("omniscient") == reference["gold"],
        "is_shown": len(item["choices"]) > 0,
        "answer": item["answer"],
        "question": wording["question"],
        "story": story,
        "sentences": re.split(r"(?<=[.!?])\s+", story),
        "fact": item.get("fact_answer", ""),
        "person": item.get("character", ""),
        "asked": _asked_person(item, texts),
    }


def _own_words(texts: Sequence[str]) -> Iterator[str]:
    """For each option, the words that no other option has, joined by spaces."""
    for text in texts:
        rest = " ".join(option for option in texts if option != text)
        yield " ".join(set(words_of(text)).difference(words_of(rest)))


def _kind(item: Mapping) -> str:
    """The kind of a question, as "belief/forward_belief" or "belief_choice/first-order"."""
    parts = []
    for name in KINDS:
        part = str(item.get(name) or "").partition(":")[0]
        if part and part not in TWINS:
            parts.append(part)
    return "/".join(parts)


def _initial_belief(item: Mapping) -> str:
    """Whether the story states the initial belief (BigToM); "" elsewhere."""
    if "initial_belief" not in item:
        return ""
    return STATED[int(item["initial_belief"])]


def _together(item: Mapping) -> str:
    """The key that groups questions which count as right only if all of them are right: the true-
    and false-belief version of a BigToM question, the unaware and aware story of a SimpleToM
    question, FANToM's yes/no questions about each person of a question set. "" for others.
    """
    kind = _kind(item)
    if "condition" in item:
        control = item["condition"].endswith("control")
        return f"{item['group_id']}/{kind}/{item.get('initial_belief', '')}/{control}"
    if "story_id" in item:
        return f"{item['story_id']}/{kind}"
    if item.get("question_type", "").endswith("_yn"):
        return _set_of(item)
    return ""


def _set_of(item: Mapping) -> str:
    """The question set and the family of an item's question, such as "0-0-0/infoaccess"."""
    return item["item_id"].rpartition("_")[0]


def _asked_person(item: Mapping, options: Sequence[str]) -> str:
    """The person whose knowledge decides the answer, in lower case; "" if none is found. In a
    second-order question it is the second person that the first option names.
    """
    if item.get("tom_order", "").startswith(("first-order", "second-order")):
        speakers = speakers_of(item["full_story"])
        people = [word for word in words_of(options[0]) if word in speakers]
        if item["tom_order"].startswith("second") and len(people) > 1:
            return people[1]
        return item["character"]
    if item.get("character"):
        return item["character"]
    if item.get("person_x"):
        return item["person_x"].split()[0].lower()
    for name in re.findall(r"\w+", item["question"])[1:]:
        if name[0].isupper() and name in item["story"]:
            return name.lower()
    return ""
