"""Prompts: plain text files, each replaceable by a user's own through `params.yaml`."""

import re
from collections.abc import Mapping
from contextlib import suppress
from functools import cache
from pathlib import Path

import yaml

from tomlab.errors import InputError, refuse
from tomlab.paths import PACKAGE, from_root
from tomlab.records.files import read_text

_FIELD = re.compile(r"\{(\w+)\}")


def load(name: str, replaced: Mapping[str, str] | None = None) -> str:
    """The text of prompt `name` (such as "bigtom/0-shot"), without the final newline.

    replaced: paths of a user's own files by prompt name, relative to the repository's root; each
    needs the fields of ours, such as `{story}`, and no others. Those that `fields.yaml` beside the
    prompt names it may leave out.
    """
    own = replaced or {}
    for each in (*own, name):
        if each not in _ours():
            where, known = own.get(each, "prompts"), ", ".join(sorted(_ours()))
            raise InputError(f"{where}: no prompt {each!r}; there are: {known}")
    if name not in own:
        return _ours()[name]
    path, now = from_root(own[name]), None
    with suppress(OSError):  # `_users_own` tells what is wrong
        now = path.stat()
    return _users_own(name, path, now and (now.st_mtime_ns, now.st_size))


@cache
def _users_own(name: str, path: Path, _: tuple[int, int] | None) -> str:
    """A user's own text for a prompt of ours, read once for each time and size of its file."""
    try:
        text = read_text(path).rstrip("\n")
    except InputError as error:
        raise InputError(f"prompt {name!r}: {error}") from None
    wanted, found = (set(_FIELD.findall(one)) for one in (_ours()[name], text))
    problems = [] if text.strip() else ["found nothing, expected some text"]
    missing = wanted - found - _may_lack(name)
    problems += [f"expected {{{field}}} in it, found none" for field in sorted(missing)]
    known = ", ".join(f"{{{field}}}" for field in sorted(wanted)) or "no field"
    problems += [f"found {{{field}}}, expected {known}" for field in sorted(found - wanted)]
    refuse(problems, f"prompt {name!r}: {path}")
    return text


def wording(folder: Path | str) -> tuple[str, dict[str, str]]:
    """The name of another wording of prompts, and its files, `<name>/<benchmark>/<prompt>.txt`, by
    prompt name. folder: of the benchmark. Errors: `InputError` for no file or a wrong one.
    """
    path = from_root(folder)
    found = sorted(path.glob("[!.]*"))
    files = {f"{path.name}/{file.name.removesuffix('.txt')}": str(file) for file in found}
    problems = [] if files else [f"{path}: found no file, expected <prompt>.txt"]
    for name, file in files.items():
        try:
            load(name, {name: file})
        except InputError as error:
            problems.append(str(error))
    refuse(problems, f"wording {path.parent.name!r}")
    return path.parent.name, files


@cache  # a run asks for prompts thousands of times
def _ours() -> dict[str, str]:
    """The prompts by name: whose they are, then the file, such as bigtom/instruction."""
    folders = ("benchmarks/*", "asking/*", "judging")
    files = {path: path.parts[-3] for f in folders for path in PACKAGE.glob(f"{f}/prompts/*.txt")}
    names = {path: f"{whose}/{path.stem}" for path, whose in files.items()}
    return {n.replace("judging/", "judges/"): read_text(p).rstrip("\n") for p, n in names.items()}


@cache
def _may_lack(name: str) -> set[str]:
    """The fields of a prompt of ours that a user's own may leave out."""
    whose, _, prompt = name.partition("/")
    folders = {"judges": "judging", "techniques": "asking/techniques"}
    path = PACKAGE / folders.get(whose, f"benchmarks/{whose}") / "prompts" / "fields.yaml"
    if not path.is_file():
        return set()
    return set(yaml.safe_load(read_text(path)).get(prompt, []))


def filled(name: str, replaced: Mapping[str, str] | None = None, /, **fields: str) -> str:
    """Prompt `name` with each `{field}` in it replaced."""
    return fill(load(name, replaced), fields)


def fill(text: str, fields: Mapping[str, str]) -> str:
    """`text` with fields replaced, all in one pass: braces in what is filled in are text."""
    return _FIELD.sub(lambda hit: fields.get(hit[1], hit[0]), text)
