"""Fetch the data that `data.dvc` names; DVC verifies each file by its hash.

    python -m tomlab.pipeline.fetch

DVC takes the list of a folder's files as it stands in the store. A list that somebody changed could
write anywhere, so its hash is checked first, and no path in it may leave `data/`.
"""

import json
import subprocess
import sys
from hashlib import md5
from pathlib import Path, PurePosixPath

import yaml

from tomlab.errors import InputError
from tomlab.paths import ROOT

_MEND = "fetch it again: git checkout -- .dvcstore (git fsck tells whether the clone is whole)"
_HELP = f"""
- A file of .dvcstore is missing or was changed: {_MEND}.
- Files of data/ were edited or added. To run on files of your own: keep them outside data/ and name
  them in params.yaml. To make these the project's: dvc add data. To undo: dvc checkout --force
"""


def fetch(root: Path = ROOT) -> None:
    """Bring `data/` to what `data.dvc` pins. Errors: `InputError` where files of the store are
    missing or changed, or where a user has edited or added any in `data/`, which DVC leaves alone.
    """
    pinned = yaml.safe_load((root / "data.dvc").read_text(encoding="utf-8"))["outs"][0]["md5"]
    listing = root / ".dvcstore" / "files" / "md5" / pinned[:2] / pinned[2:]
    text = listing.read_bytes() if listing.is_file() else b""
    if md5(text).hexdigest() != pinned.removesuffix(".dir"):
        raise InputError(f"{listing}: the list of files is missing or was changed; {_MEND}")
    for name in (PurePosixPath(entry["relpath"]) for entry in json.loads(text)):
        if name.is_absolute() or ".." in name.parts:
            raise InputError(f"data.dvc: found the path '{name}', expected one within data/")
    command = ["dvc", "pull", "data.dvc"]
    pulled = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)
    if pulled.returncode:
        raise InputError(f"dvc pull data.dvc: {pulled.stderr.strip()}\n{_HELP}")


if __name__ == "__main__":
    try:
        fetch()
    except InputError as error:
        sys.exit(f"\n{error}\n")
