"""A question set in the released format to change at will: a quince tree that one person missed."""

import copy

SHORT = """\
Bruno: I have to fetch a parcel, back soon.
Noor: See you, Bruno!
Ilse: I planted a quince tree last week.
Noor: A quince tree, how rare!
Bruno: I'm back, what did I miss?
Noor: We are on to watering now.
Ilse: I water at dawn."""
FULL = f"""\
Noor: Shall we talk about our gardens?
{SHORT}
Petra: Hello all, may I join?
Ilse: Of course, Petra!"""


def question_set(set_id="12-0-1", /, **changes):
    """A set about a tree that Bruno missed and Petra never heard of, in the released format."""
    scenario = {"missed_info_accessibility": "inaccessible"}
    who = {"Noor": "yes", "Ilse": "yes", "Bruno": "no", "Petra": "no:long"}
    record = {
        "set_id": set_id,
        "short_context": SHORT,
        "full_context": FULL,
        "factQA": {
            "question": "What did Ilse plant?",
            "correct_answer": "Ilse planted a quince tree.",
            "wrong_answer": "There is no information on that.",
            "question_type": "fact",
        },
        "beliefQAs": [
            {
                "question": "What does Bruno believe that Ilse planted?",
                "correct_answer": "Bruno does not know of anything new in Ilse's garden.",
                "wrong_answer": "Bruno believes that Ilse planted a quince tree.",
                "question_type": "tom:belief:inaccessible",
                "tom_type": "first-order",
                **scenario,
            }
        ],
    }
    kinds = {"answerability": "answerability", "infoAccessibility": "info_accessibility"}
    for name, kind in kinds.items():
        record[f"{name}QA_list"] = {
            "question": "List all the characters who know this.",
            "correct_answer": ["Noor", "Ilse"],
            "wrong_answer": ["Bruno", "Petra"],
            "question_type": f"tom:{kind}:list",
            **scenario,
        }
        record[f"{name}QAs_binary"] = [
            {
                "question": f"Does {person} know this?",
                "correct_answer": answer,
                "question_type": f"tom:{kind}:binary",
                **scenario,
            }
            for person, answer in who.items()
        ]
    return changed(record, **changes)


def changed(record, /, **changes):
    """A copy with changes by path, such as `beliefQAs__0__question="Why?"`; None takes away."""
    record = copy.deepcopy(record)
    for path, value in changes.items():
        *steps, last = [int(step) if step.isdigit() else step for step in path.split("__")]
        place = record
        for step in steps:
            place = place[step]
        if value is None:
            del place[last]
        else:
            place[last] = value
    return record
