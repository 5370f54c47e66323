"""Items whose right and wrong answer say the same, in the last run and in released files.

    python checks/same_keys.py                   items of the last run
    python checks/same_keys.py <released> …      released files, too: BigToM (.csv), FANToM (.json),
                                                 records of OmniToM (.jsonl), the folder of ToMBench
                                                 or of SimpleToM's questions

Two answers say the same if they are apart by nothing but case, spaces and punctuation. Prints each
item; an open desire question of BigToM is looked at, too, though no item asks it. It quotes nothing.
"""

import sys
from pathlib import Path

import pandas as pd

from tomlab import paths
from tomlab.benchmarks import bigtom, fantom, omnitom
from tomlab.benchmarks.bigtom.items.templates import read_templates
from tomlab.benchmarks.omnitom.items.records import read_tombench
from tomlab.benchmarks.simpletom.items.released import read_released as read_simpletom
from tomlab.records import tidy
from tomlab.scoring.same_keys import beside_reported, in_words, likeness_of, same_keys


def tombench(folder):
    """The questions of ToMBench as a table of items."""
    rows = []
    for number, story in enumerate(read_tombench(folder).to_dict("records")):
        for question in story["questions"]:
            row = {"item_id": f"{story['story_category']}/{question['source_row']}"}
            row |= {"group_id": str(number), "source": "released:tombench"}
            row |= {"question_type": "linked", "choices": question["choices"]}
            rows.append(row)
    return pd.DataFrame(rows)


def read(path):
    """The items of a released file or folder, and its benchmark."""
    if path.suffix == ".csv":
        return bigtom.read_released(path), "bigtom"
    if path.suffix == ".json":
        return fantom.read_released(path), "fantom"
    if path.suffix == ".jsonl":
        return omnitom.read_released(path), "omnitom"
    if (path / "mental-state-qa").is_dir():
        return read_simpletom(path), "simpletom"
    return tombench(path), "omnitom"


def tell(name, items, benchmark):
    pairs = same_keys(items)
    print(f"{name}: {in_words(pairs, items)} {beside_reported(pairs, items, benchmark)}".strip())
    for row in pairs.itertuples():
        print(f"  {row.item_id}: {row.likeness}")


def desires(path):
    """Templates of BigToM whose two answers to the desire question say the same."""
    templates = read_templates(path)
    answers = zip(
        templates["desire_answer_aware"], templates["desire_answer_not_aware"], strict=True
    )
    count = sum(likeness_of(aware, not_aware) != "" for aware, not_aware in answers)
    print(f"  desire question, which no item asks: {count} of {len(templates)} templates")


def main(*files):
    for path in sorted((paths.RESULTS / "items").glob("*.parquet")):
        tell(f"last run, {path.stem}", tidy.read("items", path), path.stem)
    for path in map(Path, files):
        items, benchmark = read(path)
        tell(path.name, items, benchmark)
        if benchmark == "bigtom":
            desires(path)
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
