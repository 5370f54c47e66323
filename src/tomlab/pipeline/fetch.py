"""Fetch the data that `data.dvc` names, after every object in the store was verified.

    python -m tomlab.pipeline.fetch

DVC takes the list of a folder's files as it stands in the store. A list that somebody changed could
write anywhere, so its hash is checked first, and no path in it may leave `data/`.
"""

import json
import subprocess
import sys
from hashlib import file_digest
from pathlib import Path, PurePosixPath

import yaml

from tomlab.errors import InputError, refuse
from tomlab.paths import ROOT

_MEND = "fetch it again: git checkout -- .dvcstore (git fsck tells whether the clone is whole)"
_EDITED = (
    "To run on files of your own: keep them outside data/ and name them in params.yaml. "
    "To make these the project's: dvc add data. To undo: dvc checkout --force data.dvc"
)


def fetch(root: Path = ROOT) -> None:
    """Bring `data/` to what `data.dvc` pins. Errors: `InputError` that names objects that are
    missing or changed, and files that a user has edited or added, which DVC leaves alone.
    """
    pinned = yaml.safe_load((root / "data.dvc").read_text(encoding="utf-8"))["outs"][0]["md5"]
    entries = json.loads(_verified(root, {"the list of files": pinned})[0].read_text("utf-8"))
    files = {entry["relpath"]: entry["md5"] for entry in entries}
    strange = [p for p in map(PurePosixPath, files) if p.is_absolute() or ".." in p.parts]
    refuse([f"found the path {str(p)!r}, expected one within data/" for p in strange], "data.dvc")
    _verified(root, files)
    command = ["dvc", "pull", "data.dvc"]
    pulled = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)
    if pulled.returncode:
        raise InputError(f"dvc pull data.dvc: {pulled.stderr.strip()}\n{_EDITED}")


def _verified(root: Path, files: dict[str, str]) -> list[Path]:
    """Where the objects of files are in the store, each with the MD5 that is its name."""
    paths, problems = [], []
    for name, md5 in files.items():
        paths.append(path := root / ".dvcstore" / "files" / "md5" / md5[:2] / md5[2:])
        where = f"{path.relative_to(root)} ({name})"
        if not path.is_file():
            problems.append(f"{where}: not there; {_MEND}")
            continue
        with path.open("rb") as file:
            found = file_digest(file, "md5").hexdigest()
        if found != md5.removesuffix(".dir"):
            problems.append(f"{where}: found MD5 {found}, tampered with or cut; {_MEND}")
    refuse(problems, ".dvcstore")
    return paths


if __name__ == "__main__":
    try:
        fetch()
    except InputError as error:
        sys.exit(f"\n{error}\n")
