"""What a baseline extracts from OmniToM's own stories, and its scores by exact matches."""

import pandas as pd

from tomlab.benchmarks import omnitom
from tomlab.benchmarks.omnitom import scoring
from tomlab.benchmarks.omnitom.items import records
from tomlab.paths import DATA

RECORDS = records.read_records(DATA / "omnitom" / "stories.jsonl")
EXACT = scoring.Judge("exact", 1.0)


def answers(items: pd.DataFrame, policy: str) -> pd.DataFrame:
    """Its tables, one row a story."""
    rows = [
        {"item_id": i["item_id"], "model": policy, "method": "stage1-L3", "sample": 0}
        | {"response": omnitom.reference(i, "stage1-L3", 0)[policy]}
        for i in omnitom.asked(items, "stage1-L3").to_dict("records")
    ]
    return pd.DataFrame(rows)


def extraction_scores(policy: str) -> pd.DataFrame:
    items = omnitom.compose(RECORDS)
    return omnitom.score(items, answers(items, policy), judge=EXACT)
