"""Fetch the data that `data.dvc` names, after every object in the store was verified.

    python -m tomlab.pipeline.fetch

DVC takes the list of a folder's files as it stands in the store; a list that was tampered with
could write anywhere, so it is held against its hash first, and no path may leave `data/`.
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


def listed(root: Path) -> dict[str, str]:
    """The MD5 of every file of `data/` by its path in there, as `data.dvc` pins them.

    Errors: `InputError` that names each object that is missing or is not what its name says, and
    paths that lead out of the folder.
    """
    pinned = yaml.safe_load((root / "data.dvc").read_text(encoding="utf-8"))["outs"][0]["md5"]
    refuse(_faults(root, {"the list of files": pinned}), "data.dvc")
    entries = json.loads(_object(root, pinned).read_text(encoding="utf-8"))
    files = {entry["relpath"]: entry["md5"] for entry in entries}
    refuse(
        [
            f"found the path {path!r}, expected one within data/"
            for path in files
            if PurePosixPath(path).is_absolute() or ".." in PurePosixPath(path).parts
        ],
        str(_object(root, pinned)),
    )
    refuse(_faults(root, files), ".dvcstore")
    return files


def _object(root: Path, md5: str) -> Path:
    return root / ".dvcstore" / "files" / "md5" / md5[:2] / md5[2:]


def _md5(path: Path) -> str:
    with path.open("rb") as file:
        return file_digest(file, "md5").hexdigest()


def _faults(root: Path, files: dict[str, str]) -> list[str]:
    problems = []
    for name, md5 in files.items():
        path = _object(root, md5)
        where = f"{path.relative_to(root)} ({name})"
        if not path.is_file():
            problems.append(f"{where}: not there; {_MEND}")
        elif (found := _md5(path)) != md5.removesuffix(".dir"):
            problems.append(
                f"{where}: found content with MD5 {found}, tampered with or cut; {_MEND}"
            )
    return problems


def changed(root: Path, files: dict[str, str]) -> list[str]:
    """What a user has edited in `data/` or added to it, a sentence each."""
    data = root / "data"
    there = {path.relative_to(data).as_posix(): path for path in data.rglob("*") if path.is_file()}
    edited = [name for name, path in there.items() if name in files and _md5(path) != files[name]]
    return [
        *(f"data/{name}: edited since it was fetched" for name in sorted(edited)),
        *(f"data/{name}: not among the project's files" for name in sorted({*there} - {*files})),
    ]


def fetch(root: Path = ROOT) -> None:
    """Bring `data/` to what `data.dvc` pins. Errors: `InputError`; nothing was written then."""
    files = listed(root)
    if problems := changed(root, files):
        problems.append(
            "To run on files of your own: keep them outside data/ and name them in params.yaml. "
            "To make these the project's: dvc add data. To undo: dvc checkout --force data.dvc"
        )
        refuse(problems, "data/ is not as data.dvc pins it")
    command = ["dvc", "pull", "--quiet", "data.dvc"]
    pulled = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)
    if pulled.returncode:
        said = (pulled.stderr + pulled.stdout).strip() or "it gave no reason"
        raise InputError(f"dvc pull data.dvc failed: {said}")


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
