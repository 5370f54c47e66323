"""Pin what is in `data/`, push it to DVC's default remote, and take out of `.dvcstore` what
`data.dvc` no longer names.

    python -m tomlab.pipeline.keep

Git's history still has removed files: with an old commit, git checks out the store of its time.
"""

import sys
from pathlib import Path

from dvc.repo import Repo
from dvc_data.hashfile.gc import gc

from tomlab.errors import InputError
from tomlab.paths import ROOT
from tomlab.pipeline.fetch import check_no_conflict


def keep(root: Path = ROOT) -> int:
    """Pin, push and remove. Returns the number of removed files. Errors: `InputError` if git's
    conflict marks are in `data.dvc`, or DVC cannot read, push or remove files.
    """
    pin = root / "data.dvc"
    check_no_conflict(pin)
    try:
        with Repo(root) as repo:
            repo.scm_context.quiet = True  # the last line of `make keep` says what to add to git
            repo.add([str(root / "data")])
            repo.push([str(pin)])
        return remove_superseded(root)
    except Exception as error:  # noqa: BLE001 - each kind of remote has errors of its own
        raise InputError(f"data.dvc: {error}") from None


def remove_superseded(root: Path = ROOT, *, dry: bool = False) -> int:
    """Remove the files of `.dvcstore` that `data.dvc` does not name, and return their number. With
    `dry` they are only counted. If DVC's default remote is any other place, nothing is removed: its
    files may be needed by others.
    """
    with Repo(root) as repo:
        remote = repo.cloud.get_remote_odb()
        is_local = remote.fs.protocol == "local"
        # Links are followed, so that a store that is a link to a shared folder counts as another.
        own_store = root.resolve() / ".dvcstore" / "files" / "md5"
        if not is_local or Path(remote.path).resolve() != own_store:
            return 0
        [data] = repo.find_outs_by_path(str(root / "data"))
        # The hashes of the files and of their list.
        [hashes] = data.get_used_objs().values()
        return gc(remote, hashes, dry=dry)


if __name__ == "__main__":
    try:
        removed = keep()
    except InputError as error:
        sys.exit(f"\n{error}\n")
    if removed:
        print(f"Files of earlier data that left .dvcstore (git's history has them): {removed}")
