"""Our OmniToM stories: rules that their labels keep.

What follows from the events stands in `tests/checks/test_keys.py`.
"""

from omnitom_stories import RECORDS
from tomlab.benchmarks.omnitom.items.records import WORLD


def test_labels_that_go_together():
    for belief in (belief for record in RECORDS for belief in record["beliefs"]):
        order, truth, access, stated, content, source, context = belief["labels"].values()
        is_world = belief["actor"] == WORLD
        rules = {
            "order 0 is the world's": (order == "0") == is_world,
            "the world's facts are narrated": (source == "Narration") == is_world,
            "the world's facts are true": not is_world or truth == "True",
            "the world's facts are explicit": not is_world or stated == "Explicit",
            "beliefs about beliefs are epistemic": order == "0"
            or (order == "1") == (content != "Epistemic"),
            "testimony is explicit": source != "Testimony" or stated == "Explicit",
            "what is imagined is not so": source != "Imagination" or context == "Counterfactual",
            "what is inferred silently is private": (source, stated) != ("Inference", "Implicit")
            or access == "Private",
        }
        assert [rule for rule, holds in rules.items() if not holds] == [], belief["belief"]
