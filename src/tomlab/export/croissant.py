"""Croissant 1.1: the items of each benchmark as Parquet, described for machines in JSON-LD."""

import hashlib
import json
from importlib.metadata import version
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from tomlab import params
from tomlab.export.results import cited, dataset, items, writers

_FILE = "items.parquet"
_SPDX = "https://spdx.org/licenses"
_TYPES = {"bool": "sc:Boolean", "int64": "sc:Integer", "double": "sc:Float"}
# The JSON-LD context that the format prescribes.
_NAMES = """arrayShape citeAs column containedIn equivalentProperty extract field fileProperty
    fileObject fileSet format includes isArray isLiveDataset jsonPath key md5 parentField path
    recordSet references regex repeated replace samplingRate separator source subField transform"""
_CONTEXT = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "sc": "https://schema.org/",
    "cr": "http://mlcommons.org/croissant/",
    "rai": "http://mlcommons.org/croissant/RAI/",
    "dct": "http://purl.org/dc/terms/",
    "conformsTo": "dct:conformsTo",
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    **{name: f"cr:{name}" for name in _NAMES.split()},
    **{name: {"@id": f"cr:{name}", "@type": "@json"} for name in ("data", "examples")},
    **{name: {"@container": "@language"} for name in ("name", "description")},
}
_SAYS = {
    "item_id": "One item: a story with a question.",
    "group_id": "What intervals cluster on: a template, question set or story.",
    "choices": "The options in the order in which they are shown; none where answers are free.",
    "answer": "The right option or text.",
    "source": "Who wrote it: authored, grammar, llm:<model>, edited:<how> or released:<name>.",
}


def write(folder: Path) -> str:
    """Write `folder/<benchmark>/items.parquet` and `croissant.json`, and say what was written.

    Errors: `InputError` where the run has no items.
    """
    count = 0
    for name, table in items():
        path = folder / name / _FILE
        path.parent.mkdir(parents=True)
        arrow = pa.Table.from_pandas(table, preserve_index=False).replace_schema_metadata(None)
        # A column of lists that are all empty is one of texts, too.
        types = [
            pa.list_(pa.string()) if pa.types.is_list(f.type) else f.type for f in arrow.schema
        ]
        arrow = arrow.cast(pa.schema(list(zip(arrow.column_names, types, strict=True))))
        pq.write_table(arrow, path)
        told = json.dumps(_described(name, table, arrow.schema, path), indent=1, ensure_ascii=False)
        path.with_name("croissant.json").write_text(told + "\n", encoding="utf-8")
        count += len(table)
    return f"{count} items"


def _described(name: str, table: pd.DataFrame, schema: pa.Schema, path: Path) -> dict:
    terms, paper = _terms(table), cited(name)
    licences = list(dict.fromkeys(terms.values()))
    file = {"@type": "cr:FileObject", "@id": _FILE, "name": _FILE, "contentUrl": _FILE}
    file |= {"encodingFormat": "application/x-parquet"}
    file |= {"sha256": hashlib.sha256(path.read_bytes()).hexdigest()}
    records = {"@type": "cr:RecordSet", "@id": "items", "name": "items"}
    records |= {"key": {"@id": "items/item_id"}, "field": [_field(column) for column in schema]}
    return {
        "@context": _CONTEXT,
        "@type": "sc:Dataset",
        "name": dataset(name, table),
        "description": f"Items by the protocol of {paper}. Written by: {writers(table)}.",
        "conformsTo": "http://mlcommons.org/croissant/1.1",
        "citeAs": f"tomlab {version('tomlab')}; {paper}",
        "creator": [{"@type": "sc:Organization", "name": name} for name in terms],
        "inLanguage": "en",
        "license": licences if len(licences) > 1 else licences[0],
        "version": version("tomlab"),
        "distribution": [file],
        "recordSet": [records],
    }


def _field(column: pa.Field) -> dict:
    several = {"isArray": True, "arrayShape": "-1"} if pa.types.is_list(column.type) else {}
    return several | {
        "@type": "cr:Field",
        "@id": f"items/{column.name}",
        "name": column.name,
        "description": _SAYS.get(column.name, column.name.replace("_", " ")),
        "dataType": _TYPES.get(str(column.type), "sc:Text"),
        "source": {"fileObject": {"@id": _FILE}, "extract": {"column": column.name}},
    }


def _terms(table: pd.DataFrame) -> dict[str, str]:
    """The terms of the items by who wrote them: ours, a model's by its entry, a release's own."""
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
