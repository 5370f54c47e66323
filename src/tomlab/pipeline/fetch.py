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


def fetch(root: Path = ROOT) -> None:
    """Bring `data/` to what `data.dvc` pins. Errors: `InputError` that names objects that are
    missing or changed and what a user has edited; nothing was written then.
    """
    pinned = yaml.safe_load((root / "data.dvc").read_text(encoding="utf-8"))["outs"][0]["md5"]
    refuse(_faults(root, {"the list of files": pinned}), "data.dvc")
    entries = json.loads(_object(root, pinned).read_text(encoding="utf-8"))
    files = {entry["relpath"]: entry["md5"] for entry in entries}
    strange = [p for p in map(PurePosixPath, files) if p.is_absolute() or ".." in p.parts]
    refuse([f"found the path {str(p)!r}, expected one within data/" for p in strange], "data.dvc")
    refuse(_faults(root, files), ".dvcstore")
    data = root / "data"
    there = {path.relative_to(data).as_posix(): path for path in data.rglob("*") if path.is_file()}
    edited = [n for n, path in there.items() if n in files and _md5(path) != files[n]]
    problems = [f"data/{name}: edited since it was fetched" for name in sorted(edited)]
    added = sorted({*there} - {*files})
    problems += [f"data/{name}: not among the project's files" for name in added]
    if problems:
        problems.append(
            "To run on files of your own: keep them outside data/ and name them in params.yaml. "
            "To make these the project's: dvc add data. To undo: dvc checkout --force data.dvc"
        )
        refuse(problems, "data/ is not as data.dvc pins it")
    command = ["dvc", "pull", "--quiet", "data.dvc"]
    pulled = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)
    if pulled.returncode:
        raise InputError(f"dvc pull data.dvc failed: {pulled.stderr + pulled.stdout}".strip())


def _object(root: Path, md5: str) -> Path:
    return root / ".dvcstore" / "files" / "md5" / md5[:2] / md5[2:]


def _md5(path: Path) -> str:
    with path.open("rb") as file:
        return file_digest(file, "md5").hexdigest()


def _faults(root: Path, files: dict[str, str]) -> list[str]:
    problems = []
    for name, md5 in files.items():
        where = f"{(path := _object(root, md5)).relative_to(root)} ({name})"
        if not path.is_file():
            problems.append(f"{where}: not there; {_MEND}")
        elif (found := _md5(path)) != md5.removesuffix(".dir"):
            problems.append(f"{where}: found MD5 {found}, tampered with or cut; {_MEND}")
    return problems


def main() -> int:
    """0 if the data is there, 1 with the reason if not."""
    try:
        fetch()
    except InputError as error:
        print(f"\n{error}\n", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
