"""The released FANToM protocol, written a second time and differently, to hold the project against.

Works on question sets in the released format and a dict of answers; no table of the project's.
"""

from collections import Counter
from collections.abc import Callable, Iterator

import pandas as pd
from sklearn.metrics import f1_score

INACCESSIBLE = "inaccessible"
FIELDS = {"answerability": "answerability", "infoaccess": "infoAccessibility"}
LISTS = ["answerability_list", "infoaccess_list"]
YES_NO = ["answerability_yn", "infoaccess_yn"]


def flat(record: dict, context: str) -> list[dict]:
    """All questions of a set with their key, type, scenario and gold, for one kind of context."""
    return [
        {"key": key, "type": key.partition(":")[0], "scenario": scenario, "gold": gold}
        for key, scenario, gold in _questions(record, context)
    ]


def _questions(record: dict, context: str) -> Iterator[tuple[str, str, dict]]:
    yield "fact", "", record["factQA"]
    for n, belief in enumerate(record["beliefQAs"]):
        yield f"belief_dist:{n}", belief["missed_info_accessibility"], belief
        yield f"belief_choice:{n}", belief["missed_info_accessibility"], belief
    for family, field in FIELDS.items():
        who = record[f"{field}QA_list"]
        scenario = who["missed_info_accessibility"]
        if context == "full" and who["wrong_answer"]:
            scenario = INACCESSIBLE
        yield f"{family}_list", scenario, who
        yes_no = record[f"{field}QAs_binary"]
        is_missed = any(question["correct_answer"] != "yes" for question in yes_no)
        for n, question in enumerate(yes_no):
            scenario = question["missed_info_accessibility"]
            if context == "short" and question["correct_answer"] == "no:long":
                continue
            if context == "full":
                first = yes_no[0]["missed_info_accessibility"]
                scenario = INACCESSIBLE if is_missed else first
            yield f"{family}_yn:{n}", scenario, question


def f1(reference: str, answer: str) -> float:
    expected = Counter(reference.split())
    words = Counter(answer.split())
    common = sum(min(expected[word], words[word]) for word in expected)
    return 2 * common / (len(reference.split()) + len(answer.split())) if common else 0.0


def letter_is(letter: str, answer: str) -> bool:
    answer = answer.lower()
    openings = (f"({letter})", f"{letter})", f"{letter}.", f"{letter}:", f"{letter},")
    return answer.startswith(openings) or f"({letter})" in answer or answer == letter


def binary(answer: str) -> int:
    answer = answer.lower().strip("'").strip('"')
    yes = (" yes,", " yes ", " yes.", " knows ")
    if answer.startswith(("yes", "true")) or any(sign in answer for sign in yes):
        return 1
    no = (" no,", " no ", " no.", " does not know ", " doesn't know ")
    if answer.startswith(("no", "false")) or any(sign in answer for sign in no):
        return 0
    return -1


def verdict(question: dict, answer: str, letter: str, closer: Callable[[str, str, str], bool]):
    """True or False, for facts an F1."""
    gold = question["gold"]
    kind = question["type"]
    if kind == "fact":
        return f1(gold["correct_answer"].lower(), answer.lower())
    if kind == "belief_dist":
        return closer(answer, gold["correct_answer"], gold["wrong_answer"])
    if kind == "belief_choice":
        return letter_is(letter, answer)
    if kind in LISTS:
        answer = answer.lower()
        has_aware = all(name.lower() in answer for name in gold["correct_answer"])
        return has_aware and not any(name.lower() in answer for name in gold["wrong_answer"])
    return binary(answer) == (gold["correct_answer"] == "yes")


def columns(
    sets: list[dict], answers: dict, letters: dict, closer: Callable, context: str, scenario: str
) -> dict[str, float]:
    """The twelve columns of Table 9 and the two of Table 3 for one scenario, as shares of 1; nan
    where nothing was asked.

    answers, letters: by (set_id, key); letters: of the right option.
    """
    rows = []
    for record in sets:
        for question in flat(record, context):
            key = (record["set_id"], question["key"])
            right = float(verdict(question, answers[key], letters.get(key, ""), closer))
            rows.append({**question, "set": key[0], "answer": answers[key], "right": right})
    table = pd.DataFrame(rows)
    cell = table[table["scenario"] == scenario]
    # Since May 2024 the control task's ALL and ALL* are of sets without an inaccessible question.
    whole_sets = cell
    if scenario != INACCESSIBLE:
        mixed = table.loc[table["scenario"] == INACCESSIBLE, "set"]
        whole_sets = cell[~cell["set"].isin(mixed)]
    values = {
        "all_star": _all(whole_sets, ["belief_dist", "belief_choice", *LISTS, *YES_NO]),
        "all": _all(whole_sets, ["belief_choice", *LISTS, *YES_NO]),
        "fact_f1": table.loc[table["type"] == "fact", "right"].mean(),
        **_characters(cell),
    }
    for kind in ("belief_choice", "belief_dist", *LISTS):
        values[kind] = cell.loc[cell["type"] == kind, "right"].mean()
    beliefs = cell[(cell["type"] == "belief_dist") & (cell["right"] == 1)]
    overlaps = [f1(row.gold["correct_answer"], row.answer) for row in beliefs.itertuples()]
    values["belief_f1"] = pd.Series(overlaps, dtype=float).mean()
    for family in FIELDS:
        values[f"{family}_all"] = _all(cell, [f"{family}_list", f"{family}_yn"])
        yes_no = cell[cell["type"] == f"{family}_yn"]
        gold = [int(question["correct_answer"] == "yes") for question in yes_no["gold"]]
        readings = yes_no["answer"].map(binary)
        if gold:
            score = f1_score(gold, readings, average="weighted", zero_division=0)
            values[f"{family}_yn"] = score
    return values


def _all(cell: pd.DataFrame, kinds: list[str]) -> float:
    return cell[cell["type"].isin(kinds)].groupby("set")["right"].all().mean()


def _characters(cell: pd.DataFrame) -> dict[str, float]:
    rows = []
    for question in cell.itertuples():
        text = question.gold["question"].lower()
        family = question.type.removesuffix("_yn")
        if question.type.startswith("belief"):
            name = text.split("does ")[1].split()[0]
            rows.append((question.set, name, question.right, None))
        if question.type in YES_NO:
            name = text.removeprefix("does ").split(" know")[0]
            rows.append((question.set, name, question.right, binary(question.answer)))
            lists = cell[(cell["set"] == question.set) & (cell["type"] == f"{family}_list")]
            for answer in lists["answer"]:
                is_named = name in answer.lower()
                is_right = is_named == (question.gold["correct_answer"] == "yes")
                rows.append((question.set, name, is_right, int(is_named)))
    table = pd.DataFrame(rows, columns=["set", "name", "right", "reading"])
    people = table.astype({"right": bool}).groupby(["set", "name"])
    compared = table.dropna(subset="reading").groupby(["set", "name"])
    return {
        "all_characters": people["right"].all().mean(),
        "consistency": (compared["reading"].nunique() == 1).mean(),
    }
