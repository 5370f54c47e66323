"""SimpleToM's released questions, from the hub or from a folder in its layout.

Three configs, each `<config>/test.jsonl`, with rows `{id, story, question, scenario_name,
choices: {text, label}, answerKey}`; the id ends in `_sev<1|2|3>_<aware|action|judge>`.
"""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from tomlab import paths
from tomlab.benchmarks.simpletom.items.stories import ENTITIES
from tomlab.errors import InputError, refuse
from tomlab.records import files
from tomlab.records.files import is_text, shown
from tomlab.records.tidy import check

HUB_ID = "allenai/SimpleToM"
# Config, the end of its ids, the question type it holds.
CONFIGS = (
    ("mental-state-qa", "aware", "mental_state"),
    ("behavior-qa", "action", "behavior"),
    ("judgment-qa", "judge", "judgment"),
)
STORIES = 1147  # Sec. 3.2
_FIELDS = ("id", "story", "question", "scenario_name", "choices", "answerKey")
_ID = re.compile(r"(?P<story>(?P<set>.+)_sev(?P<severity>[123]))_(aware|action|judge)")


def read_released(
    source: Path | str = HUB_ID, revision: str | None = None, stories: int | None = None
) -> pd.DataFrame:
    """The released questions as an items table, with the columns of `simpletom.compose`.

    source: a folder in the hub's layout, or a hub id (give the commit as `revision` to pin it).
    stories: how many are expected of each question; 1,147 from the hub, any equal number from a
    folder. Errors: `InputError` that names file, row and field of everything at fault.
    """
    folder, local = Path(source), paths.kind(source) == "folder"
    rows, problems, first = [], [], {}
    for config, end, kind in CONFIGS:
        where = f"{config}/test.jsonl"
        if local:
            loaded, odd = files.json_lines(files.read_text(folder / where))
            problems += [f"{where}, {what}" for what in odd]
            problems += [] if loaded or odd else [f"{where}: no row in it"]
        else:
            loaded = enumerate(_from_hub(str(source), config, revision), start=1)
        for number, row in loaded:
            faults = list(_faults(row, end))
            if not faults and first.setdefault(row["id"], number) != number:
                faults = [f"field id: {row['id']!r} stands in row {first[row['id']]}"]
            problems += [f"{where}, row {number}, {fault}" for fault in faults]
            if not faults:
                rows.append(_item(row, kind, f"released:{folder.resolve().name}"))
    refuse(problems, str(source))
    items = pd.DataFrame(rows)
    asked = items.groupby("story_id", sort=False)["question_type"].nunique()
    lone = asked.index[asked < len(CONFIGS)]
    refuse([f"story {shown(id)}: expected all three questions on it" for id in lone], str(source))
    expected = stories or (len(asked) if local else STORIES)
    if len(asked) != expected:
        raise InputError(f"{source}: found {len(asked)} stories, expected {expected}")
    return check(items, "items", str(source))


def _from_hub(name: str, config: str, revision: str | None) -> list[dict]:
    import datasets

    try:
        return datasets.load_dataset(name, config, split="test", revision=revision).to_list()
    except (OSError, ValueError, datasets.exceptions.DatasetsError) as error:
        what = f"neither a folder nor to be had from the hub ({' '.join(str(error).split())[:200]})"
        raise InputError(f"{name}, {config}: {what}") from None


def _faults(row: Any, end: str) -> Iterator[str]:
    if not isinstance(row, dict):
        yield f"found {shown(row)}, expected an object"
        return
    for name in _FIELDS:
        if not (isinstance(row.get(name), dict) if name == "choices" else is_text(row.get(name))):
            expected = "texts and labels" if name == "choices" else "text"
            yield f"field {name}: found {shown(row.get(name, ''))}, expected {expected}"
    named, choices, key = (row.get(name) for name in ("id", "choices", "answerKey"))
    if is_text(named) and not (_ID.fullmatch(named) and named.endswith(f"_{end}")):
        yield f"field id: found {shown(named)}, expected …_sev<1|2|3>_{end}"
    if not isinstance(choices, dict):
        return
    texts, labels = choices.get("text", ""), choices.get("label", "")
    if not isinstance(texts, list) or not all(map(is_text, texts)):
        yield f"field choices: found {shown(texts)}, expected a list of texts"
    elif labels not in (["A", "B"], ["A", "B", "C"]) or len(set(texts)) != len(labels):
        found = f"labels {shown(labels)} for {shown(texts)}"
        yield f"field choices: found {found}, expected A, B and as many different texts"
    elif is_text(key) and key not in labels:
        yield f"field answerKey: found {shown(key)}, expected one of {', '.join(labels)}"


def _item(row: Mapping, kind: str, source: str) -> dict:
    parts, texts = _ID.fullmatch(row["id"]), list(row["choices"]["text"])
    right = texts["ABC".index(row["answerKey"])]
    return {
        "benchmark": "simpletom",
        "item_id": row["id"],
        "group_id": parts["set"],
        "question_type": kind,
        "story": row["story"],
        "question": row["question"],
        "choices": texts,
        "answer": right,
        "source": source,
        "scenario": row["scenario_name"],
        "severity": int(parts["severity"]),
        "story_id": parts["story"],
        # The questions do not tell who is who.
        **dict.fromkeys(ENTITIES, ""),
        "variant": "main",
        "reality": next(text for text in texts if text != right),
    }
