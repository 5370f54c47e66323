"""Fresh SimpleToM stories, and what the tracker says of each item that composes from them."""

import random
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import pandas as pd

from tomlab.benchmarks.simpletom.items import compose, stories
from tomlab.fresh import draw
from tomlab.records.files import write_form, yaml_beside
from tomlab.scoring.tracker import beliefs

FILE = "simpletom.csv"
_TEXTS = yaml_beside(__file__)


def family(rng: random.Random, number: int) -> Iterator[dict]:
    """Four stories, two for each direction of a change. The first of two has a twin, at the end of
    which A, and not O, learns of it; at the end of the second, O does. `steps` are of both ends."""
    told, people = rng.choice(_TEXTS["scenarios"]), draw.scenes(rng)[0]
    texts = told["fields"] | _TEXTS["fields"]
    (knows, know), (misses, miss) = draw.ways(rng, _TEXTS["who"], told["kinds"])
    fields = {name: rng.choice(forms) for name, forms in texts.items()}
    fields |= {"aware_sentence": knows, "other_aware": misses}
    ends, set_id = rng.sample(told["ends"], 2), f"fresh-{number + 1:04d}"
    for (s1, s2), first, second in ((ends, "a", "b"), (ends[::-1], "c", "d")):
        row = people | {"s1": s1, "s2": s2, "set_id": set_id}
        for name, form in fields.items():
            row[name] = form.format(**row)
        yield row | {"story_id": set_id + first, "steps": (know[:-1], know)}
        row["second_sentence"] = f"{row['second_sentence'].removesuffix('.')}; {row['other_aware']}"
        yield row | {"story_id": set_id + second, "aware_sentence": "", "steps": (miss,)}


def write(rows: Sequence[Mapping], path: Path) -> None:
    write_form(stories.story_table([*rows]).drop(columns="source"), path)


def items(rows: Sequence[Mapping]) -> pd.DataFrame:
    """The questions of stories and twins, as one kind, with `family`. Errors: `InputError` with all
    items whose key is not what the tracker derives from its events."""
    found = compose.compose(stories.story_table([*rows])).query("variant in ['main', 'aware']")
    of = {row["story_id"]: row for row in rows}
    draw.check_keys("simpletom", found, found["story_id"].map(of), derived)
    return found.drop(columns="variant").assign(family=found["group_id"])


def derived(item: Mapping, row: Mapping) -> str:
    """The option that fits what person X believes after the events of an item."""
    steps = row["steps"][item["variant"] == compose.AWARE]
    believed = beliefs(draw.story(row, steps, "AOM"), order=1)[row["A"],][row["thing"]]
    if item["question_type"] == "behavior":
        return next(action for action in item["choices"] if believed in action)
    options = {"mental_state": ("No", "Yes"), "judgment": ("Reasonable", "Not reasonable")}
    return options[item["question_type"]][believed == row["s2"]]
