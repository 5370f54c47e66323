"""Croissant 1.1: the items of each benchmark as Parquet, described for machines in JSON-LD."""

import hashlib
import json
from importlib.metadata import version
from pathlib import Path

import mlcroissant as mlc
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from tomlab import params
from tomlab.errors import InputError
from tomlab.export.results import cited, dataset, items, writers

_FILE, _RECORDS = "items.parquet", "items"
_SPDX = "https://spdx.org/licenses"
_TYPES = {"bool": mlc.DataType.BOOL, "int64": mlc.DataType.INTEGER, "double": mlc.DataType.FLOAT}
_SAYS = {
    "item_id": "One item: a story with a question.",
    "group_id": "What intervals cluster on: a template, question set or story.",
    "choices": "The options in the order in which they are shown; none where answers are free.",
    "answer": "The right option or text.",
    "source": "Who wrote it: authored, grammar, llm:<model>, edited:<how> or released:<name>.",
}


def write(folder: Path) -> str:
    """Write `folder/<benchmark>/items.parquet` and `croissant.json` for the run, and read back all
    records by it; says what.

    Errors: `InputError` where there are no items, or they are not described or read as they are.
    """
    count = 0
    for name, table in items():
        path = folder / name / "croissant.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            _write(name, table, path)
            read = sum(1 for _ in mlc.Dataset(jsonld=path).records(record_set=_RECORDS))
        except (mlc.ValidationError, mlc.GenerationError) as error:
            raise InputError(f"{path}: {error}") from None
        if read != len(table):
            raise InputError(f"{path}: {read} items read of {len(table)} written")
        count += read
    return f"{count} items"


def _write(name: str, table: pd.DataFrame, path: Path) -> None:
    arrow = pa.Table.from_pandas(table, preserve_index=False).replace_schema_metadata(None)
    # A column of lists that are all empty is one of texts, too.
    types = [pa.list_(pa.string()) if pa.types.is_list(f.type) else f.type for f in arrow.schema]
    arrow = arrow.cast(pa.schema(list(zip(arrow.column_names, types, strict=True))))
    pq.write_table(arrow, path.with_name(_FILE))
    authors, paper = _authors(table), cited(name)
    file = mlc.FileObject(
        id=_FILE,
        name=_FILE,
        content_url=_FILE,
        encoding_formats=["application/x-parquet"],
        sha256=hashlib.sha256(path.with_name(_FILE).read_bytes()).hexdigest(),
    )
    fields = [_field(column) for column in arrow.schema]
    key = [f"{_RECORDS}/item_id"]
    metadata = mlc.Metadata(
        ctx=mlc.Context(conforms_to="http://mlcommons.org/croissant/1.1"),
        name=dataset(name, table),
        description=f"Items by the protocol of {paper}. Written by: {writers(table)}.",
        license=list(dict.fromkeys(authors.values())),
        cite_as=f"tomlab {version('tomlab')}; {paper}",
        creators=[mlc.Organization(name=name) for name in authors],
        in_language=["en"],
        version=version("tomlab"),
        distribution=[file],
        record_sets=[mlc.RecordSet(id=_RECORDS, name=_RECORDS, key=key, fields=fields)],
    )
    text = json.dumps(metadata.to_json(), indent=1, ensure_ascii=False, default=str)
    path.write_text(text + "\n", encoding="utf-8")


def _field(column: pa.Field) -> mlc.Field:
    several = {"is_array": True, "array_shape": "-1"} if pa.types.is_list(column.type) else {}
    return mlc.Field(
        id=f"{_RECORDS}/{column.name}",
        name=column.name,
        description=_SAYS.get(column.name, column.name.replace("_", " ")),
        data_types=_TYPES.get(str(column.type), mlc.DataType.TEXT),
        source=mlc.Source(file_object=_FILE, extract=mlc.Extract(column=column.name)),
        **several,
    )


def _authors(table: pd.DataFrame) -> dict[str, str]:
    """By author of items their terms: ours, a model's by its entry, a release's own."""
    registry, found = params.load().get("models") or {}, {}
    for who in sorted(table["source"].unique()):
        kind, _, name = who.partition(":")
        if kind == "released":
            found[f"the authors of {name}"] = f"that of {name}"
        elif name:
            told = registry.get(name, {}).get("licence")
            found[name] = f"{_SPDX}/{told}" if told else f"not stated for {name}"
        else:
            found["the tomlab authors"] = f"{_SPDX}/MIT"
    return found
