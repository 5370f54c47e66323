"""SimpleToM's released questions, from the hub or from a folder in its layout.

Three configs, each `<config>/test.jsonl`, with rows `{id, story, question, scenario_name,
choices: {text, label}, answerKey}`; the id ends in `_sev<1|2|3>_<aware|action|judge>`.
"""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

import pandas as pd

from tomlab.benchmarks.simpletom.items.stories import ENTITIES, read_stories
from tomlab.errors import InputError, refuse
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
    folder, local = Path(source), Path(source).is_dir()
    rows, problems, first = [], [], {}
    for config, end, kind in CONFIGS:
        where = f"{config}/test.jsonl"
        loaded = _from_folder(folder / where) if local else _from_hub(str(source), config, revision)
        for number, row in enumerate(loaded, start=1):
            faults = list(_faults(row, end))
            if not faults and first.setdefault(row["id"], number) != number:
                faults = [f"field id: {row['id']!r} stands in row {first[row['id']]}"]
            problems += [f"{where}, row {number}, {fault}" for fault in faults]
            if not faults:
                rows.append(_item(row, kind, f"released:{folder.resolve().name}"))
    refuse(problems, str(source))
    items = pd.DataFrame(rows)
    counts = items.groupby("question_type")["story_id"].nunique()
    found = {kind: int(counts.get(kind, 0)) for _, _, kind in CONFIGS}
    expected = stories or (max(found.values()) if local else STORIES)
    if set(found.values()) != {expected} or len(items) != expected * len(CONFIGS):
        raise InputError(f"{source}: found {found} stories a question, expected {expected} of each")
    return check(items, "items", str(source))


def _from_folder(path: Path) -> list[dict]:
    import datasets

    if not path.is_file():
        raise InputError(f"{path}: no such file")
    try:
        return datasets.Dataset.from_json(str(path), keep_in_memory=True).to_list()
    except StopIteration:
        raise InputError(f"{path}: no row in it") from None
    except (datasets.exceptions.DatasetGenerationError, ValueError) as error:
        raise InputError(f"{path}: not JSON lines ({error.__cause__ or error})") from None


def _from_hub(name: str, config: str, revision: str | None) -> list[dict]:
    import datasets

    try:
        return datasets.load_dataset(name, config, split="test", revision=revision).to_list()
    except (OSError, ValueError, datasets.exceptions.DatasetsError) as error:
        what = f"neither a folder nor to be had from the hub ({' '.join(str(error).split())[:200]})"
        raise InputError(f"{name}, {config}: {what}") from None


def _faults(row: Mapping, end: str) -> Iterator[str]:
    for name in _FIELDS:
        kind, expected = (dict, "texts and labels") if name == "choices" else (str, "text")
        if not row.get(name):
            yield f"field {name}: found nothing"
        elif not isinstance(row[name], kind):
            yield f"field {name}: found {row[name]!r}, expected {expected}"
    named, choices, key = (row.get(name) for name in ("id", "choices", "answerKey"))
    if isinstance(named, str) and not (_ID.fullmatch(named) and named.endswith(f"_{end}")):
        yield f"field id: found {named!r}, expected …_sev<1|2|3>_{end}"
    if not isinstance(choices, dict):
        return
    texts, labels = choices.get("text") or [], choices.get("label") or []
    if len(texts) not in (2, 3) or labels != list("ABC"[: len(texts)]):
        yield f"field choices: found labels {labels!r} for {len(texts)} texts, expected A, B"
    elif key and key not in labels:
        yield f"field answerKey: found {key!r}, expected one of {', '.join(labels)}"
    if len(set(map(str, texts))) < len(texts):
        yield f"field choices: found one text twice in {texts!r}"


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


def read_source(path: Path) -> tuple[pd.DataFrame, str]:
    """What the parameter `run.benchmarks.simpletom.source` names: our story file as a story table,
    or a folder of released questions as items; and which of its columns names the sets of entities.
    """
    if path.is_dir():
        return read_released(path), "group_id"
    return read_stories(path), "set_id"
