"""Prompts: plain text files, each replaceable by a user's own through `params.yaml`."""

import re
from collections.abc import Mapping
from functools import cache
from hashlib import sha256
from pathlib import Path

from tomlab.errors import InputError
from tomlab.paths import PACKAGE, ROOT


def load(name: str, replaced: Mapping[str, str] | None = None) -> str:
    """The text of prompt `name` (such as "bigtom/0-shot"), without the final newline.

    replaced: paths of a user's own files by prompt name, relative to the repository's root.
    """
    known, own = _known(), replaced or {}
    if unknown := [each for each in (*sorted(own), name) if each not in known]:
        raise InputError(f"no prompt {unknown[0]!r}; there are: {', '.join(sorted(known))}")
    path = ROOT / own[name] if name in own else known[name]
    try:
        return path.read_text(encoding="utf-8-sig").rstrip("\n")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"prompt {name!r}: cannot read {path} ({error})") from error


@cache
def _known() -> dict[str, Path]:
    """The prompts by name: whose they are, then the file, such as bigtom/instruction."""
    # Looked up once: a run asks for its prompts thousands of times.
    files = [*PACKAGE.glob("benchmarks/*/prompts/*.txt"), *PACKAGE.glob("judging/prompts/*.txt")]
    return {f"{p.parts[-3]}/{p.stem}".replace("judging/", "judges/"): p for p in files}


def filled(name: str, replaced: Mapping[str, str] | None = None, /, **fields: str) -> str:
    """Prompt `name` with each `{field}` in it replaced; every field must be there."""
    text = load(name, replaced)
    if missing := [field for field in fields if f"{{{field}}}" not in text]:
        raise InputError(f"prompt {name!r}: expected {{{missing[0]}}} in it, found none")
    return fill(text, fields)


def fill(text: str, fields: Mapping[str, str]) -> str:
    """`text` with fields replaced, all in one pass: braces in what is filled in are text."""
    return re.sub(r"\{(\w+)\}", lambda hit: fields.get(hit[1], hit[0]), text)


def prompt_hash(*texts: str) -> str:
    """The first 12 hex digits of SHA-256 over the prompts that went into a request."""
    return sha256("\0".join(texts).encode()).hexdigest()[:12]
