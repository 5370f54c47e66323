"""Templates to test with: the paper's own, and the same under other names."""

from string import ascii_lowercase

import pandas as pd

from tomlab.benchmarks.bigtom.items.templates import template_table

# Fig. 5 of the paper, with the full stop that its last line lacks.
MEI = {
    "template_id": "mei",
    "source": "released:fig5",
    "agent": "Mei",
    "context": "Mei is a pearl diver in a small coastal village in Japan.",
    "desire": "Mei wants to find a perfect pearl to give to her grandmother for her birthday.",
    "percept": "Mei spots an oyster at the bottom of the sea that looks to be the right size and "
    "age to contain a pearl.",
    "belief": "Mei believes that the oyster she spotted contains a pearl.",
    "causal_event": "A curious octopus opens the oyster, revealing that there is no pearl inside, "
    "and then swims away.",
    "aware_of_event": "Mei notices the octopus opening the oyster.",
    "not_aware_of_event": "Mei does not notice the octopus opening the oyster.",
    "action_new_state": "Mei searches for another oyster.",
    "action_initial_state": "Mei dives down to collect the oyster.",
    "belief_question": "Does Mei believe the oyster she spotted contains a pearl or that it is "
    "empty?",
    "desire_question": "Does Mei want to collect the oyster she spotted, or does she want to "
    "search for another one?",
    "action_question": "What will Mei do?",
    "belief_answer_aware": "Mei believes the oyster she spotted is empty.",
    "desire_answer_aware": "Mei wants to search for another oyster.",
    "action_answer_aware": "Mei will search for another oyster.",
    "belief_answer_not_aware": "Mei believes the oyster she spotted contains a pearl.",
    "desire_answer_not_aware": "Mei wants to collect the oyster she spotted.",
    "action_answer_not_aware": "Mei will dive down to collect the oyster.",
    "random_event": "A school of brightly colored fish swims past Mei.",
    "aware_of_random_event": "Mei sees the school of brightly colored fish.",
    "not_aware_of_random_event": "Mei does not notice the school of brightly colored fish.",
    "state": "",
    "mechanism": "",
    "medium": "",
}


def divers(count: int, **changes: str) -> pd.DataFrame:
    """Templates like Mei's of so many divers of other names, by which they are called."""
    rows = []
    for letter in ascii_lowercase[:count]:
        row = {field: text.replace("Mei", f"Mei{letter}") for field, text in MEI.items()}
        rows.append(row | {"template_id": f"Mei{letter}"} | changes)
    return template_table(rows)
