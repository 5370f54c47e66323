"""OmniToM's stories for tests: ours, short ones made here, and what a baseline extracts from ours."""

import pandas as pd

from replies import of_baseline
from tomlab.benchmarks import omnitom
from tomlab.benchmarks.omnitom import scoring
from tomlab.benchmarks.omnitom.items import records
from tomlab.paths import DATA, ROOT

RECORDS = records.read_records(DATA / "omnitom" / "stories.jsonl")
SHARED = ROOT.parent / "shared" / "datasets"
WORKED = SHARED / "omnitom" / "worked_examples.jsonl"  # of App. E
EXACT = scoring.Judge("exact", 1.0)
STORY = "Ada puts the key in the bowl. Ben's sister Mrs Roy is out. It starts to rain."


def belief(actor, text, order="1", **labels):
    """A gold belief. labels: those that are not the usual ones."""
    usual = {
        "order": order,
        "truth_status": "True",
        "knowledge_access": "Private",
        "representation": "Implicit",
        "content_type": "Location",
        "mental_source": "Narration" if order == "0" else "Inference",
        "context": "Neutral",
    }
    return {"actor": actor, "belief": text, "labels": usual | labels}


BELIEFS = [
    belief("world", "Ada puts the key in the bowl", "0"),
    belief("Ada", "The key is in the bowl"),
    belief("Ada", "Ben does not know where the key is", "2"),
    belief("Ben", "The key is on the hook"),
]


def record(*beliefs, story_id=1, category="Hinting Task Test", story=STORY, source="authored"):
    """A short story, by default with the four beliefs above."""
    return {
        "story_id": story_id,
        "story_category": category,
        "story": story,
        "source": source,
        "beliefs": list(beliefs or BELIEFS),
    }


def answers(items: pd.DataFrame, policy: str) -> pd.DataFrame:
    """What a baseline extracts, one row a story."""
    return of_baseline(omnitom, items, policy, "stage1-L3")


def extraction_scores(policy: str) -> pd.DataFrame:
    """A baseline's scores on all of our stories, by exact matches."""
    items = omnitom.compose(RECORDS)
    return omnitom.score(items, answers(items, policy), judge=EXACT)
