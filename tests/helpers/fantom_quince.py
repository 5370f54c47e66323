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


def own_set(set_id="12-0-1", /, **changes):
    """The same as a set of ours: with the record of who comes and goes, and our wordings."""
    record = question_set(set_id, source="authored")
    about = "what Ilse planted"
    unaware, claims = f"Bruno is unaware of {about}.", "Bruno believes Ilse planted a quince tree."
    record["beliefQAs"][0] |= {
        "question": f"What does Bruno believe about {about}?",
        "correct_answer": unaware,
        "wrong_answer": claims,
    }
    for order, who in (("second-order:cyclic", "Ilse"), ("second-order:acyclic", "Noor")):
        second = {
            "question": f"What does {who} think Bruno believes about {about}?",
            "correct_answer": f"{who} believes that {unaware}",
            "wrong_answer": f"{who} believes that {claims}",
            "tom_type": order,
        }
        record["beliefQAs"].append(record["beliefQAs"][0] | second)
    for family, words in (
        ("answerability", "the correct answer to this question"),
        ("infoAccessibility", "this information"),
    ):
        record[f"{family}QA_list"]["question"] = f"List all the characters who know {words}."
        for question in record[f"{family}QAs_binary"]:
            name = question["question"].split()[1]
            question["question"] = f"Does {name} know {words}?"
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
    # Petra is told nothing of the tree: she speaks in the full context alone.
    for family in ("answerability", "infoAccessibility"):
        names = ("Noor", "Bruno", "Ilse", "Petra")
        questions = {one["question"].split()[1]: one for one in record[f"{family}QAs_binary"]}
        record[f"{family}QAs_binary"] = [questions[name] for name in names]
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
