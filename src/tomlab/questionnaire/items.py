"""Which items people are asked, and what they see of each."""

import random
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

import pandas as pd
import pandera.pandas as pa

from tomlab import paths
from tomlab.errors import InputError, refuse
from tomlab.records import files, tidy

DEFAULTS = files.yaml_beside(__file__, "defaults.yaml")
CHECK = "check-"  # the beginning of the ids of attention checks


@dataclass(frozen=True)
class Item:
    """What a participant sees of an item. If it has no options, the answer is free text."""

    item_id: str
    question: str
    story: str = ""
    options: tuple[str, ...] = ()
    hint: str = ""
    group: str = ""  # items of a group are drawn and dealt out together
    answer: str = ""  # for attention checks only: what an attentive reader answers


def read_items(
    source: str, method: str = "", where: Mapping[str, Collection[str]] | None = None
) -> list[Item]:
    """The items of a source that people can be asked.

    source: the name of a benchmark in the last run; a Parquet file of items; or the user's own CSV
    (see `read_own_items`). method: the benchmark's method (its first one if empty), which decides
    which rows are asked and which text people read. where: by column, the values of which a row
    must have one. Errors: `InputError`.
    """
    if source.endswith(".csv"):
        if method or where:
            raise InputError(
                f"{source}: `method` and `where` are for tables of items, not for a CSV"
            )
        return read_own_items(source)
    is_name = (paths.PACKAGE / "benchmarks" / source / "__init__.py").is_file()
    path = paths.result("items", source) if is_name else Path(source)
    table = tidy.read("items", path)
    for column, values in (where or {}).items():
        if column not in table:
            raise InputError(f"{path}: found no column {column!r}, expected one of {[*table]}")
        present = table[column].astype(str)
        absent = sorted(set(values) - set(present))
        if absent:
            values_there = ", ".join(sorted(set(present))[:20])
            fault = f"found no {absent[0]!r}, only {values_there}"
            raise InputError(f"{path}: column {column!r}: {fault}")
        table = table[present.isin(values)]
    items = []
    for benchmark, rows in table.groupby("benchmark", sort=False):
        items += _items_of(benchmark, rows, method, path)
    if not items:
        raise InputError(f"{path}: found no rows that people can be asked with this choice of rows")
    return checked(items, str(path))


def _items_of(benchmark: str, table: pd.DataFrame, method: str, path: Path) -> list[Item]:
    """The items of one benchmark as this method asks them; its first method if `method` is empty.

    table: the benchmark's items; path: the table's file, for messages of errors.
    """
    face = import_module(f"tomlab.benchmarks.{benchmark}")
    settings = DEFAULTS["benchmarks"].get(benchmark, {})
    methods = settings.get("methods") or {next(iter(face.METHODS)): "story"}
    method = method or next(iter(methods))
    if method not in methods:
        expected = " or ".join(methods)
        raise InputError(f"method: found {method!r}, expected {expected} for {benchmark}")
    kinds = set(table["question_type"]) & set(settings.get("tables", []))
    if kinds:
        expected = "expected questions that have options or a short answer"
        found = f"found {', '.join(sorted(kinds))} items, whose answer is a table"
        raise InputError(f"{path}: {found}; {expected}")
    in_words = getattr(face, "in_words", None)
    items = []
    for row in face.asked(table, method).to_dict("records"):
        kind = row["question_type"]
        texts = in_words(row) if in_words else {}
        options = [*row["choices"]] or settings.get("options", {}).get(kind, [])
        items.append(
            Item(
                item_id=row["item_id"],
                question=texts.get("question", row["question"]),
                story=row[methods[method]],
                options=tuple(options),
                hint=settings.get("hints", {}).get(kind, DEFAULTS["hint"]),
                group=row["group_id"],
            )
        )
    return items


def read_own_items(path: Path | str, checks: bool = False) -> list[Item]:
    """The items of the user's own CSV. Its columns: `item_id`, `question`, perhaps `story` and
    `group`, and an option in each column whose name begins with "option". checks: whether the items
    are attention checks, which must have an `answer` too, and ids that begin with "check-". Errors:
    `InputError` that names row and field.
    """
    item_ids = files.text()
    if checks:
        item_ids = files.text(f"{CHECK}.+", f'an id that begins with "{CHECK}"')
    columns = {
        "item_id": item_ids,
        "question": files.text(),
        "story": files.text("(?s).*", required=False),
        "group": files.text("(?s).*", required=False),
        "answer": files.text(required=checks),
    }
    table = files.read_form(path, pa.DataFrameSchema(columns, unique=["item_id"]))
    option_columns = [name for name in table if name.startswith("option")]
    items = []
    for row in table.to_dict("records"):
        item = Item(
            item_id=row["item_id"],
            question=row["question"],
            story=row.get("story", ""),
            options=tuple(row[name] for name in option_columns if row[name]),
            hint=DEFAULTS["hint"],
            group=row.get("group") or row["item_id"],
            answer=row["answer"] if checks else "",
        )
        items.append(item)
    return checked(items, str(path), checks)


def default_checks(kind: str) -> list[Item]:
    """The attention checks that come with the project. kind: `answers` or `ratings`."""
    checks = []
    for check in DEFAULTS["checks"][kind]:
        options = tuple(check.get("options", ()))
        checks.append(Item(**check | {"options": options, "hint": DEFAULTS["hint"]}))
    return checks


def checked(items: Sequence[Item], where: str, are_checks: bool = False) -> list[Item]:
    """The items, unchanged. Errors: `InputError` that lists every item that can't be asked, or
    whose answers could not be read back. where: their source, for the message.
    """
    problems = []
    ids = set()
    for item in items:
        place = f"item {files.shown(item.item_id)}"
        if item.item_id in ids:
            problems.append(f"{place}: stands there twice, expected once")
        ids.add(item.item_id)
        if item.item_id.startswith(CHECK) and not are_checks:
            problems.append(f'{place}: ids that begin with "{CHECK}" are those of attention checks')
        problems += [f"{place}, {fault}" for fault in _faults(item)]
    refuse(problems, where)
    return list(items)


def _faults(item: Item) -> list[str]:
    """Why an item can't be asked, or why its answers could not be matched with options by text."""
    faults = []
    if item.item_id.strip().splitlines() != [item.item_id]:
        faults.append("item_id: expected one line, without white space around it")
    if not item.question.strip():
        faults.append("question: found nothing, expected a question that a person can answer")
    if not item.options:
        return faults
    options = [plain(option) for option in item.options]
    if len(options) == 1:
        faults.append("options: found 1, expected at least 2, or none for a free answer")
    if "" in options:
        faults.append("options: found one without text")
    if len(set(options)) < len(options):
        faults.append("options: found two that read alike, expected different ones")
    if item.answer and plain(item.answer) not in options:
        faults.append(f"answer: found {files.shown(item.answer)}, expected one of its options")
    return faults


def plain(text: str) -> str:
    """The text with each run of white space made one space, so that answers can be compared."""
    return " ".join(text.split())


def draw_items(items: Sequence[Item], n: int, seed: int) -> list[Item]:
    """`n` items, drawn at random: one of each group before a second one of any group. They come
    back in their former order. Errors: `InputError` if there are fewer than `n`.
    """
    if n > len(items):
        raise InputError(f"found {len(items)} items, expected at least {n}")
    shuffled = random.Random(f"{seed}/items").sample(items, len(items))
    groups = pd.Series([item.group for item in shuffled])
    # A stable sort keeps the random order among items of the same turn.
    turns = groups.groupby(groups).cumcount().sort_values(kind="stable")
    chosen = {shuffled[position].item_id for position in turns.index[:n]}
    return [item for item in items if item.item_id in chosen]


def draw_groups(items: Sequence[Item], n: int, seed: int) -> list[Item]:
    """All items of `n` groups that are drawn at random, in their former order. Errors: `InputError`
    if there are fewer groups.
    """
    groups = list(dict.fromkeys(item.group for item in items))
    if n > len(groups):
        raise InputError(f"found items of {len(groups)} groups, expected at least {n}")
    chosen = random.Random(f"{seed}/groups").sample(groups, n)
    return [item for item in items if item.group in chosen]


def named_items(items: Sequence[Item], path: Path | str) -> list[Item]:
    """The items whose ids a file lists, one a line, in the file's order. Errors: `InputError` for
    unknown or repeated ids, or none.
    """
    by_id = {item.item_id: item for item in items}
    chosen = []
    problems = []
    for number, line in enumerate(files.read_text(path).split("\n"), start=1):
        item_id = line.strip()
        if item_id in by_id:
            chosen.append(by_id[item_id])
        elif item_id:
            problems.append(f"line {number}: found {item_id!r}, expected the id of an item")
    refuse(problems, str(path))
    if not chosen:
        raise InputError(f"{path}: found no ids, expected at least one")
    return checked(chosen, str(path))
