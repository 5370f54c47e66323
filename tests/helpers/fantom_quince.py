"""A question set in the released format to change at will: a quince tree that one person missed."""

import copy

from tomlab.benchmarks.fantom.items.attendance import who_knows

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


def own_set(set_id="12-0-1", /, **changes):
    """The same as a set of ours: with the record of who comes and goes, and our wordings."""
    record = question_set(set_id, source="authored")
    about = "what Ilse planted"
    unaware = f"Bruno is unaware of {about}."
    claims = "Bruno believes Ilse planted a quince tree."
    record["beliefQAs"][0] |= {
        "question": f"What does Bruno believe about {about}?",
        "correct_answer": unaware,
        "wrong_answer": claims,
    }
    for order, name in (("second-order:cyclic", "Ilse"), ("second-order:acyclic", "Noor")):
        second = {
            "question": f"What does {name} think Bruno believes about {about}?",
            "correct_answer": f"{name} believes that {unaware}",
            "wrong_answer": f"{name} believes that {claims}",
            "tom_type": order,
        }
        record["beliefQAs"].append(record["beliefQAs"][0] | second)
    # Petra is told nothing of the tree: she speaks in the full context alone.
    record |= who_knows(SHORT, FULL, {"Noor", "Ilse"})
    record["record"] = {
        "author": "somebody",
        "topic": "gardens",
        "person_x": "Bruno",
        "owner": "Ilse",
        "about": about,
        "claim": "Ilse planted a quince tree",
        "start": 2,
        "end": 8,
        "told": [4],
        "there": ["Noor", "Bruno", "Ilse"],
        "events": [
            {"turn": 2, "event": "leaves", "name": "Bruno", "reason": "fetch a parcel"},
            {"turn": 6, "event": "returns", "name": "Bruno"},
            {"turn": 9, "event": "joins", "name": "Petra"},
        ],
    }
    return changed(record, **changes)


def changed(record, /, **changes):
    """A copy with changes by path, such as `beliefQAs__0__question="Why?"`; None takes away."""
    record = copy.deepcopy(record)
    for path, value in changes.items():
        *steps, last = [int(step) if step.isdigit() else step for step in path.split("__")]
        part = record
        for step in steps:
            part = part[step]
        if value is None:
            del part[last]
        else:
            part[last] = value
    return record
