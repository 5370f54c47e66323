"""FANToM question sets put together in the released format (Sec. 3.2, App. A.2-A.4)."""

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

import yaml

Line = tuple[str, str]  # speaker, what they say

# The questions on who knows: by kind their field, list question and yes-or-no question.
_ACCESS = yaml.safe_load(Path(__file__).with_suffix(".yaml").read_bytes())
WORDINGS = tuple(kind[asked] for kind in _ACCESS.values() for asked in ("list", "yes_no"))


def written(lines: Sequence[Line]) -> str:
    """Utterances as a conversation shows them, "Name: text" on each line."""
    return "\n".join(f"{speaker}: {text}" for speaker, text in lines)


def question_set(
    set_id: str,
    contexts: tuple[Sequence[Line], Sequence[Line]],
    fact: tuple[str, str, str],
    beliefs: Sequence[Mapping],
    aware: Collection[str],
    source: str,
) -> dict:
    """One record of the released format, with `source`.

    contexts: the short and the full conversation; fact: the question, its full and its limited
    answer; beliefs: of `belief_question`; aware: who knows the full answer.
    """
    short, full = contexts
    asked = dict(zip(("question", "correct_answer", "wrong_answer"), fact, strict=True))
    return {
        "set_id": set_id,
        "short_context": written(short),
        "full_context": written(full),
        "factQA": asked | {"question_type": "fact"},
        "beliefQAs": list(beliefs),
        **_access_questions(aware, short, full),
        "source": source,
    }


def belief_question(question: str, right: str, wrong: str, order: str, scenario: str) -> dict:
    """One entry of `beliefQAs`. order: its `tom_type`; scenario: accessible or inaccessible."""
    return {
        "question": question,
        "correct_answer": right,
        "wrong_answer": wrong,
        "question_type": f"tom:belief:{scenario}",
        "tom_type": order,
        "missed_info_accessibility": scenario,
    }


def _access_questions(aware: Collection[str], short: Sequence[Line], full: Sequence[Line]) -> dict:
    """Answerability and information access, as lists and for everyone who speaks, in their order.

    The key of those who don't speak in the short context is "no:long". The scenario is these
    questions' own: somebody else of the part may have missed what PersonX heard.
    """
    there = {speaker for speaker, _ in short}
    keys = {name: "no" if name in there else "no:long" for name, _ in full}
    keys |= {name: "yes" for name in keys if name in aware}
    scenario = "inaccessible" if "no" in keys.values() else "accessible"
    of, questions = {"missed_info_accessibility": scenario}, {}
    for kind, asked in _ACCESS.items():
        questions[f"{asked['field']}QA_list"] = {
            "question": asked["list"],
            "correct_answer": [name for name in keys if name in aware],
            "wrong_answer": [name for name in keys if name not in aware],
            "question_type": f"tom:{kind}:list",
            **of,
        }
        about = {"question_type": f"tom:{kind}:binary", **of}
        questions[f"{asked['field']}QAs_binary"] = [
            {"question": asked["yes_no"].format(name=name), "correct_answer": key, **about}
            for name, key in keys.items()
        ]
    return questions
