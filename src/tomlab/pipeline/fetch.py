"""Fetch the data that `data.dvc` names; DVC verifies each file by its hash.

    python -m tomlab.pipeline.fetch

DVC trusts the remote's list of the files in `data/`. A list that somebody changed could make DVC
write anywhere. So this module first checks the list's hash, and that no path in it leaves `data/`.
"""

import json
import sys
from hashlib import md5
from pathlib import Path, PurePosixPath

from dvc.repo import Repo

from tomlab.errors import InputError
from tomlab.paths import ROOT

CONFLICT = """data.dvc: found git's conflict marks, expected one version: \
git checkout --ours data.dvc (or --theirs) and make data; docs/sharing.md says how to have both"""
HELP = """
- Files of data/ were edited or added: make keep makes them the project's, and dvc checkout --force
  data.dvc undoes the changes. Keep files that are yours alone outside data/, see params.yaml.
- A file is missing or was changed where DVC fetches it. From .dvcstore: git checkout -- .dvcstore
  (git fsck tells whether the clone is whole). If data.dvc is new, its author runs make keep."""


def fetch(root: Path = ROOT) -> None:
    """Make `data/` hold the version that `data.dvc` names. Errors: `InputError` if files of the
    remote are missing or changed, or if a user edited or added files in `data/`, which DVC leaves
    alone.
    """
    pin = root / "data.dvc"
    check_no_conflict(pin)
    try:
        with Repo(root) as repo:
            repo.fetch([str(pin)])
            check_listing(repo, root / "data")
            repo.checkout([str(pin)])
    except Exception as error:  # noqa: BLE001 - each kind of remote has errors of its own
        raise InputError(f"data.dvc: {error}{HELP}") from None


def check_no_conflict(pin: Path) -> None:
    """Errors: `InputError` if git has written the marks of a conflict into `data.dvc`."""
    if pin.is_file() and b"\n=======\n" in pin.read_bytes():
        raise InputError(CONFLICT)


def check_listing(repo: Repo, folder: Path) -> None:
    """Check DVC's list of a folder's files. Errors: `InputError` if its hash is not the one in
    `data.dvc`, or if it names a path outside the folder.
    """
    [output] = repo.find_outs_by_path(str(folder))
    pinned = output.hash_info.value
    listing = Path(repo.cache.local.oid_to_path(pinned))
    if not listing.is_file():
        raise InputError("its list of files is missing or was changed")
    content = listing.read_bytes()
    if md5(content).hexdigest() != pinned.removesuffix(".dir"):
        raise InputError("its list of files is missing or was changed")
    for entry in json.loads(content):
        path = PurePosixPath(entry["relpath"])
        if path.is_absolute() or ".." in path.parts:
            raise InputError(f"found the path '{path}', expected one in data/")


if __name__ == "__main__":
    try:
        fetch()
    except InputError as error:
        sys.exit(f"\n{error}\n")
