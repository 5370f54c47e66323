"""The released FANToM protocol, written a second time and differently, to hold the project against.

Works on question sets in the released format and a dict of answers; no table of the project's.
"""

from collections import Counter, defaultdict
from collections.abc import Callable

from sklearn.metrics import f1_score

INACCESSIBLE, ACCESSIBLE = "inaccessible", "accessible"


def flat(record: dict, context: str) -> list[dict]:
    """All questions of a set with their key, type, scenario and gold, for one kind of context."""
    out = [{"key": "fact", "type": "fact", "scenario": None, "gold": record["factQA"]}]
    for i, belief in enumerate(record["beliefQAs"]):
        scenario = belief["missed_info_accessibility"]
        for kind in ("belief_dist", "belief_choice"):
            question = {"key": f"{kind}:{i}", "type": kind, "scenario": scenario, "gold": belief}
            out.append(question)
    for family, one, many in (
        ("answerability", "answerabilityQA_list", "answerabilityQAs_binary"),
        ("infoaccess", "infoAccessibilityQA_list", "infoAccessibilityQAs_binary"),
    ):
        scenario = record[one]["missed_info_accessibility"]
        if context == "full" and record[one]["wrong_answer"]:
            scenario = INACCESSIBLE
        kind = f"{family}_list"
        out.append({"key": kind, "type": kind, "scenario": scenario, "gold": record[one]})
        missed = any(q["correct_answer"] in ("no", "no:long") for q in record[many])
        for i, question in enumerate(record[many]):
            if context == "short":
                if question["correct_answer"] == "no:long":
                    continue
                scenario = question["missed_info_accessibility"]
            else:
                first = record[many][0]["missed_info_accessibility"]
                scenario = INACCESSIBLE if missed else first
            kind = f"{family}_yn"
            out.append({"key": f"{kind}:{i}", "type": kind, "scenario": scenario, "gold": question})
    return out


def f1(reference: str, said: str) -> float:
    a, b = Counter(reference.split()), Counter(said.split())
    common = sum(min(a[word], b[word]) for word in a)
    return 2 * common / (sum(a.values()) + sum(b.values())) if common else 0.0


def letter_is(letter: str, said: str) -> bool:
    said = said.lower()
    starts = [f"({letter})", f"{letter})", f"{letter}.", f"{letter}:", f"{letter},"]
    return any(said.startswith(s) for s in starts) or f"({letter})" in said or said == letter


def binary(said: str) -> int:
    said = said.lower().strip("'").strip('"')
    for value, inside, first in (
        (1, [" yes,", " yes ", " yes.", " knows "], ["yes", "true"]),
        (0, [" no,", " no ", " no.", " does not know ", " doesn't know "], ["no", "false"]),
    ):
        if any(i in said for i in inside) or any(said.startswith(f) for f in first):
            return value
    return -1


def verdict(question: dict, said: str, letter: str, closer: Callable[[str, str, str], bool]):
    """True or False, for facts an F1."""
    gold, kind = question["gold"], question["type"]
    if kind == "fact":
        return f1(gold["correct_answer"].lower(), said.lower())
    if kind == "belief_dist":
        return closer(said, gold["correct_answer"], gold["wrong_answer"])
    if kind == "belief_choice":
        return letter_is(letter, said)
    if kind.endswith("_list"):
        low = said.lower()
        return all(n.lower() in low for n in gold["correct_answer"]) and not any(
            n.lower() in low for n in gold["wrong_answer"]
        )
    return binary(said) == (1 if gold["correct_answer"] == "yes" else 0)


def columns(
    sets: list[dict], answers: dict, letters: dict, closer: Callable, context: str, scenario: str
) -> dict[str, float]:
    """The twelve columns of Table 9 and the two of Table 3 for one scenario, as shares of 1.

    answers, letters: by (set_id, key); letters: of the right option.
    """
    rows = []
    for record in sets:
        for question in flat(record, context):
            at = (record["set_id"], question["key"])
            result = verdict(question, answers[at], letters.get(at, ""), closer)
            rows.append({**question, "set": record["set_id"], "said": answers[at], "ok": result})
    facts = [r["ok"] for r in rows if r["type"] == "fact"]
    own = [r for r in rows if r["scenario"] == scenario]

    def mean(values):
        values = list(values)
        return sum(values) / len(values) if values else None

    def of(kind):
        return [r for r in own if r["type"] == kind]

    def every(*kinds, without=()):
        by_set = defaultdict(list)
        for r in own:
            if r["type"] in kinds and r["set"] not in without:
                by_set[r["set"]].append(r["ok"])
        return mean(all(v) for v in by_set.values())

    # Since May 2024 the control task's ALL and ALL* are of sets without an inaccessible question.
    mixed = set()
    if scenario == ACCESSIBLE:
        mixed = {r["set"] for r in rows if r["scenario"] == INACCESSIBLE}

    def weighted(kind):
        asked = of(kind)
        gold = [1 if r["gold"]["correct_answer"] == "yes" else 0 for r in asked]
        said = [binary(r["said"]) for r in asked]
        return f1_score(gold, said, average="weighted", zero_division=0) if asked else None

    lists, yn = ("answerability_list", "infoaccess_list"), ("answerability_yn", "infoaccess_yn")
    right = [r for r in of("belief_dist") if r["ok"]]
    return {
        "all_star": every("belief_dist", "belief_choice", *lists, *yn, without=mixed),
        "all": every("belief_choice", *lists, *yn, without=mixed),
        "belief_choice": mean(r["ok"] for r in of("belief_choice")),
        "belief_dist": mean(r["ok"] for r in of("belief_dist")),
        "belief_f1": mean(f1(r["gold"]["correct_answer"], r["said"]) for r in right),
        "answerability_all": every("answerability_list", "answerability_yn"),
        "answerability_list": mean(r["ok"] for r in of("answerability_list")),
        "answerability_yn": weighted("answerability_yn"),
        "infoaccess_all": every("infoaccess_list", "infoaccess_yn"),
        "infoaccess_list": mean(r["ok"] for r in of("infoaccess_list")),
        "infoaccess_yn": weighted("infoaccess_yn"),
        "fact_f1": mean(facts) if own else None,
        **_characters(own, mean),
    }


def _characters(own: list[dict], mean: Callable) -> dict[str, float]:
    ok, said = defaultdict(list), defaultdict(set)
    for r in own:
        question = r["gold"]["question"]
        if r["type"].startswith("belief"):
            ok[r["set"], question.lower().split("does ")[1].split()[0]].append(r["ok"])
        if r["type"].endswith("_yn"):
            who = question.removeprefix("Does ").split(" know")[0].lower()
            ok[r["set"], who].append(r["ok"])
            said[r["set"], who].add(binary(r["said"]))
            family = r["type"].removesuffix("_yn")
            for other in own:
                if other["set"] == r["set"] and other["type"] == f"{family}_list":
                    is_named = who in other["said"].lower()
                    ok[r["set"], who].append(is_named == (r["gold"]["correct_answer"] == "yes"))
                    said[r["set"], who].add(int(is_named))
    return {
        "all_characters": mean(all(v) for v in ok.values()),
        "consistency": mean(len(v) == 1 for v in said.values()),
    }
