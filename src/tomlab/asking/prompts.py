"""Prompts: plain text files, each replaceable by a user's own through `params.yaml`."""

import re
from collections.abc import Iterable, Mapping
from contextlib import suppress
from functools import cache
from pathlib import Path

import pandas as pd
import yaml

from tomlab.asking import printed
from tomlab.errors import InputError, refuse
from tomlab.paths import PACKAGE, from_root
from tomlab.records.files import read_text

_FIELD = re.compile(r"\{(\w+)\}")
# Where a prompt's wording comes from: values of the column `prompt_wording`, also shown on pages.
AS_PRINTED = "as printed, confirmed"
OURS = "our wording"
OTHER = "other wording"  # a user's file replaces our prompt
NOT_COMPARED = "not compared with the printed one"  # because the file of hashes is missing
SAID = {
    AS_PRINTED: "word for word as printed, confirmed by a hash",
    OURS: "in our wording",
    OTHER: "in the wording of a file that run.prompts or run.wordings names",
    NOT_COMPARED: "not compared with the printed text",
}


def load(name: str, replaced: Mapping[str, str] | None = None) -> str:
    """The text of prompt `name` (such as "bigtom/0-shot"), without the final newline.

    replaced: paths of a user's own files by prompt name, relative to the repository's root. Each
    file needs the fields of our prompt, such as `{story}`, and no others. It may leave out those
    named in `fields.yaml` beside our prompt; a text confirmed as printed may leave out any.
    Errors: `InputError` for an unknown prompt, and for a file that does not fit.
    """
    files = replaced or {}
    for used_name in (*files, name):
        if used_name not in _ours():
            where = files.get(used_name, "prompts")
            names = ", ".join(sorted(_ours()))
            raise InputError(f"{where}: no prompt {used_name!r}; there are: {names}")
    if name not in files:
        return _ours()[name]
    path = Path(files[name])
    if not path.is_absolute():  # checked first, as a plan calls this thousands of times
        path = from_root(path)
    version = None
    with suppress(OSError):  # `_users_own` reports what is wrong
        status = path.stat()
        version = (status.st_mtime_ns, status.st_size)
    return _users_own(name, path, version)


@cache
def _users_own(name: str, path: Path, _: tuple[int, int] | None) -> str:
    """A user's text for a prompt of ours. The cache reads it again if its time or size changes."""
    try:
        text = read_text(path).rstrip("\n")
    except InputError as error:
        raise InputError(f"prompt {name!r}: {error}") from None
    expected_fields = set(_FIELD.findall(_ours()[name]))
    fields = set(_FIELD.findall(text))
    problems = []
    if not text.strip():
        problems.append("found nothing, expected some text")
    missing = _in_braces(expected_fields - fields - _may_lack(name))
    if missing and not printed.confirmed(name, text):
        problems += [f"expected {field} in it, found none" for field in missing]
    allowed = ", ".join(_in_braces(expected_fields)) or "no field"
    strange = _in_braces(fields - expected_fields)
    problems += [f"found {field}, expected {allowed}" for field in strange]
    refuse(problems, f"prompt {name!r}: {path}")
    return text


def _in_braces(fields: set[str]) -> list[str]:
    return [f"{{{field}}}" for field in sorted(fields)]


def origins(names: Iterable[str], replaced: Mapping[str, str] | None = None) -> pd.DataFrame:
    """Where the wording of each prompt comes from, one row for each name. replaced: as for `load`.

    Columns: `prompt`; `prompt_wording`, a key of `SAID`; `printed_in`, where a paper or a release
    prints this text or, if this text differs, the prompt that it replaces.
    """
    rows = []
    for name in dict.fromkeys(names):
        wording, places = _wording_of(name, load(name, replaced))
        rows.append({"prompt": name, "prompt_wording": wording, "printed_in": places})
    return pd.DataFrame(rows, columns=["prompt", "prompt_wording", "printed_in"])


def _wording_of(name: str, text: str) -> tuple[str, str]:
    """Where the wording of a prompt's text comes from, and where the prompt is printed."""
    if not printed.is_there():
        return NOT_COMPARED, f"{printed.PROMPTS} is missing"
    if places := printed.confirmed(name, text):
        return AS_PRINTED, places
    table = printed.published()
    places = printed.places(table[table["name"] == name])
    wording = OURS if text == load(name) else OTHER
    return wording, places or "not printed"


def in_words(origins: pd.DataFrame) -> str:
    """A sentence that counts the prompts of `origins` by where their wording comes from."""
    counts = origins["prompt_wording"].value_counts()
    if len(origins) == 1:
        return f"This prompt is {SAID[counts.index[0]]}."
    parts = [f"{n} {'is' if n == 1 else 'are'} {SAID[wording]}" for wording, n in counts.items()]
    return f"Of {len(origins)} prompts, {'; '.join(parts)}."


def wording(folder: Path | str) -> tuple[str, dict[str, str]]:
    """The name of another wording, and the paths of its files by prompt name.

    folder: `<name>/<benchmark>`, which holds files `<prompt>.txt`. Errors: `InputError` if there is
    no file, or if one does not fit.
    """
    path = from_root(folder)
    files = {}
    problems = []
    for file in sorted(path.glob("[!.]*")):
        name = f"{path.name}/{file.name.removesuffix('.txt')}"
        files[name] = str(file)
        try:
            load(name, {name: str(file)})
        except InputError as error:
            problems.append(str(error))
    if not files:
        problems.append(f"{path}: found no file, expected <prompt>.txt")
    refuse(problems, f"wording {path.parent.name!r}")
    return path.parent.name, files


@cache  # a run asks for prompts thousands of times
def _ours() -> dict[str, str]:
    """The texts of our prompts by name."""
    return {name: read_text(path).rstrip("\n") for name, path in _files().items()}


@cache
def _files() -> dict[str, Path]:
    """Our prompt files by name: the owning package, then the file, such as bigtom/instruction."""
    files = {}
    for folder in ("benchmarks/*", "asking/*", "judging", "fresh"):
        for path in PACKAGE.glob(f"{folder}/prompts/*.txt"):
            owner = path.parts[-3].replace("judging", "judges")
            files[f"{owner}/{path.stem}"] = path
    return files


@cache
def _may_lack(name: str) -> set[str]:
    """The fields of our prompt `name` that a user's own text may leave out."""
    prompt = _files()[name]
    fields = prompt.with_name("fields.yaml")
    if not fields.is_file():
        return set()
    return set(yaml.safe_load(read_text(fields)).get(prompt.stem, []))


def filled(name: str, replaced: Mapping[str, str] | None = None, /, **fields: str) -> str:
    """Prompt `name` with each `{field}` in it replaced."""
    return fill(load(name, replaced), fields)


def fill(text: str, fields: Mapping[str, str]) -> str:
    """`text` with each `{field}` replaced by its value, in one pass: braces in values stay text."""
    return _FIELD.sub(lambda hit: fields.get(hit[1], hit[0]), text)
