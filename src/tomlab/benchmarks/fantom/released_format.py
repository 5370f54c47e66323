"""FANToM question sets put together in the released format (Sec. 3.2, App. A.2-A.4)."""

from collections.abc import Collection, Mapping, Sequence

Line = tuple[str, str]  # speaker, what they say

_LIST = "List all the characters who know "
# Kind of question, its fields, the list question and the yes-or-no question.
_ACCESS = (
    (
        "answerability",
        "answerability",
        f"{_LIST}the correct answer to this question.",
        "Does {name} know the correct answer to this question?",
    ),
    (
        "info_accessibility",
        "infoAccessibility",
        f"{_LIST}this information.",
        "Does {name} know this information?",
    ),
)
WORDINGS = tuple(wording for *_, listed, asked in _ACCESS for wording in (listed, asked))


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
    question, right, wrong = fact
    return {
        "set_id": set_id,
        "short_context": written(short),
        "full_context": written(full),
        "factQA": {
            "question": question,
            "correct_answer": right,
            "wrong_answer": wrong,
            "question_type": "fact",
        },
        "beliefQAs": list(beliefs),
        **_access_questions(aware, _speakers(short), _speakers(full)),
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


def _speakers(lines: Sequence[Line]) -> list[str]:
    """Everyone who speaks, in the order in which they first do."""
    return list(dict.fromkeys(speaker for speaker, _ in lines))


def _access_questions(
    aware: Collection[str], short: Collection[str], everyone: Sequence[str]
) -> dict:
    """Answerability and information access, as lists and for each name of `everyone`.

    short: who speaks in the short context; the others' key is "no:long". The scenario is these
    questions' own: somebody else of the part may have missed what PersonX heard.
    """
    keys = {name: "no" if name in short else "no:long" for name in everyone}
    keys |= dict.fromkeys(aware, "yes")
    scenario = "inaccessible" if "no" in keys.values() else "accessible"
    of, questions = {"missed_info_accessibility": scenario}, {}
    for kind, field, listed, asked in _ACCESS:
        questions[f"{field}QA_list"] = {
            "question": listed,
            "correct_answer": [name for name in everyone if name in aware],
            "wrong_answer": [name for name in everyone if name not in aware],
            "question_type": f"tom:{kind}:list",
        } | of
        questions[f"{field}QAs_binary"] = [
            {
                "question": asked.format(name=name),
                "correct_answer": keys[name],
                "question_type": f"tom:{kind}:binary",
            }
            | of
            for name in everyone
        ]
    return questions
