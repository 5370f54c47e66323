"""Question sets to test with: one that reads like the paper's Figure 1, and random ones."""

import random

NAMES = ("Linda", "Kailey", "David", "Sally", "Alec")
BREED = "the breed of Linda's dog"


def question_set(set_id: str = "0-0-0", scenario: str = "inaccessible") -> dict:
    """Kailey is away while Linda tells David of her dog; Sally came only later."""
    missed = scenario == "inaccessible"
    centric = f"Kailey does not know anything about {BREED}."
    omniscient = "Kailey believes that Linda's dog is a golden retriever."
    right, wrong = (centric, omniscient) if missed else (omniscient, centric)
    aware = ["Linda", "David"] if missed else ["Linda", "David", "Kailey"]
    unaware = ["Kailey", "Sally"] if missed else ["Sally"]
    keys = dict.fromkeys(aware, "yes") | {"Sally": "no:long"}
    keys |= {} if "Kailey" in aware else {"Kailey": "no"}
    short = "Linda: My dog is a golden retriever.\nDavid: Lovely!\nKailey: I am back!"

    def yes_no(words: str, kind: str) -> list[dict]:
        return [
            {
                "question": f"Does {name} know {words}?",
                "correct_answer": key,
                "question_type": f"tom:{kind}:binary",
                "missed_info_accessibility": scenario,
            }
            for name, key in keys.items()
        ]

    def who(words: str, kind: str) -> dict:
        return {
            "question": f"List all the characters who know {words}.",
            "correct_answer": aware,
            "wrong_answer": unaware,
            "question_type": f"tom:{kind}:list",
            "missed_info_accessibility": scenario,
        }

    return {
        "set_id": set_id,
        "short_context": short,
        "full_context": f"{short}\nSally: What is this about?",
        "factQA": {
            "question": "What breed is Linda's dog?",
            "correct_answer": "Linda's dog is a golden retriever.",
            "wrong_answer": f"There is no information on {BREED}.",
            "question_type": "fact",
        },
        "beliefQAs": [
            {
                "question": f"What does Kailey believe about {BREED}?",
                "correct_answer": right,
                "wrong_answer": wrong,
                "question_type": f"tom:belief:{scenario}",
                "tom_type": "first-order",
                "missed_info_accessibility": scenario,
            },
            {
                "question": f"What does Linda think about Kailey's belief on {BREED}?",
                "correct_answer": f"Linda believes that {right}",
                "wrong_answer": f"Linda believes that {wrong}",
                "question_type": f"tom:belief:{scenario}",
                "tom_type": "second-order:cyclic",
                "missed_info_accessibility": scenario,
            },
        ],
        "answerabilityQA_list": who("the correct answer to this question", "answerability"),
        "infoAccessibilityQA_list": who("this information", "info_accessibility"),
        "answerabilityQAs_binary": yes_no("the correct answer to this question", "answerability"),
        "infoAccessibilityQAs_binary": yes_no("this information", "info_accessibility"),
    }


def random_sets(seed: int, conversations: int = 4) -> list[dict]:
    """Sets with golds by lot: any mix of scenarios, aware people and keys that the format allows."""
    draw = random.Random(seed)
    sets = []
    for number in range(conversations * 4):
        record = question_set(f"{number // 4}-{number % 4 // 2}-{number % 2}")
        people = draw.sample(NAMES, draw.randint(2, 5))
        aware = draw.sample(people, draw.randint(1, len(people)))
        unaware = [name for name in people if name not in aware]
        scenario = draw.choice(["inaccessible", "accessible"])
        for belief in record["beliefQAs"]:
            belief["missed_info_accessibility"] = scenario
            belief["question_type"] = f"tom:belief:{scenario}"
            belief["question"] = belief["question"].replace("Linda", draw.choice(NAMES), 1)
        for family in ("answerability", "infoAccessibility"):
            who_knows = draw.choice([scenario, "inaccessible", "accessible"])
            names = {"correct_answer": aware, "wrong_answer": unaware}
            names["missed_info_accessibility"] = who_knows
            record[f"{family}QA_list"] |= names
            yes_no = []
            for name in people:
                question = record[f"{family}QAs_binary"][0].copy()
                question["question"] = f"Does {name} know this?"
                question["missed_info_accessibility"] = who_knows
                question["correct_answer"] = "yes"
                if name not in aware:
                    question["correct_answer"] = draw.choice(["no", "no:long"])
                yes_no.append(question)
            record[f"{family}QAs_binary"] = yes_no
        sets.append(record)
    return sets


# Answers as models give them, good and bad.
SAID = (
    "(a)",
    "b",
    "a. Because I say so.",
    "The answer is (b)",
    "(a) or (b)",
    "yes",
    "Yes, she does.",
    "No, she does not know that.",
    "True",
    "false.",
    "not sure",
    "David knows it.",
    "I think he does know",
    "Linda and David",
    "Linda, David, Kailey, Sally, Alec",
    "Answer: Linda",
    "Kailey does not know the breed.",
    "Kailey believes it is a golden retriever.",
    "There is no information.",
    "'Yes'",
    "?",
)
