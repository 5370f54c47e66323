"""`params.yaml`: everything a user swaps, read and checked."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from tomlab.errors import InputError
from tomlab.paths import PARAMS


def load(path: Path | str = PARAMS) -> dict[str, Any]:
    """The whole file as a mapping. Errors: `InputError` for what is not YAML or not a mapping."""
    try:
        content = yaml.safe_load(Path(path).read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise InputError(f"{path}: no such file") from None
    except yaml.YAMLError as error:
        raise InputError(f"{path}: not YAML: {' '.join(str(error).split())}") from None
    if not isinstance(content, Mapping):
        raise InputError(f"{path}: found {type(content).__name__}, expected sections")
    return dict(content)


def section(content: Mapping[str, Any], name: str) -> dict[str, Any]:
    """The section `name` of what `load` gave; dots lead into sections within sections."""
    found: Any = content
    for part in name.split("."):
        found = found.get(part)
        if not isinstance(found, Mapping):
            raise InputError(f"params.yaml: no section {name!r}; there are: {', '.join(content)}")
    return dict(found)
