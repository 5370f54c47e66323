"""The data that is fetched is the data that is pinned, and an edit is never lost or passed over."""

import json
import shutil
import subprocess
import sys
from hashlib import md5
from pathlib import Path

import pytest
import yaml
from dvc.exceptions import DvcException

from tomlab.errors import InputError
from tomlab.pipeline import fetch, keep

STORE = "['remote \"store\"']\n    url = ../.dvcstore\n    verify = true\n"
FILES = {"bigtom/bigtom.csv": b"story\n", "fantom/fantom.json": b"[]\n"}


def put(root: Path, content: bytes, suffix: str = "") -> str:
    """An object in the store under the name that its content gives it."""
    name = md5(content).hexdigest() + suffix
    path = root / ".dvcstore" / "files" / "md5" / name[:2] / name[2:]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return name


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A repository with DVC's files, a store on the side and no data yet."""
    return repository(
        tmp_path / "clone", {name: put(tmp_path / "clone", c) for name, c in FILES.items()}
    )


def repository(root: Path, hashes: dict[str, str]) -> Path:
    listing = [{"md5": digest, "relpath": name} for name, digest in sorted(hashes.items())]
    pinned = put(root, json.dumps(listing).encode(), ".dir")
    (root / ".dvc").mkdir(exist_ok=True)
    config = "[core]\n    no_scm = true\n    analytics = false\n    remote = store\n"
    (root / ".dvc" / "config").write_text(config + STORE)
    out = {"md5": pinned, "nfiles": len(hashes), "hash": "md5", "path": "data"}
    (root / "data.dvc").write_text(yaml.safe_dump({"outs": [out]}))
    return root


def command(root: Path) -> subprocess.CompletedProcess:
    """`make data` without the Makefile."""
    fetched = [sys.executable, "-m", "tomlab.pipeline.fetch"]
    env = {"TOMLAB_ROOT": str(root), "PYTHONPATH": ":".join(sys.path)}
    return subprocess.run(fetched, env=env, capture_output=True, text=True, check=False)


def objects(root: Path) -> list[Path]:
    return files(root / ".dvcstore")


def files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.is_file())


def test_data_is_fetched_and_fetched_again(root):
    fetch.fetch(root)
    assert {name: (root / "data" / name).read_bytes() for name in FILES} == FILES
    (root / "data" / "bigtom" / "bigtom.csv").unlink()
    fetch.fetch(root)
    assert (root / "data" / "bigtom" / "bigtom.csv").read_bytes() == b"story\n"


@pytest.mark.parametrize("change", [lambda path: path.write_bytes(b"x"), Path.unlink])
def test_object_that_is_missing_or_was_changed_is_told(root, change):
    change(objects(root)[0])
    with pytest.raises(
        InputError, match=r"(?s)is missing or was changed.*git checkout -- \.dvcstore"
    ):
        fetch.fetch(root)
    assert not (root / "data").exists()


@pytest.mark.parametrize("name", ["bigtom/bigtom.csv", "bigtom/mine.csv"])
def test_edit_is_kept_and_told_what_to_do(root, name):
    fetch.fetch(root)
    path = root / "data" / name
    path.unlink(missing_ok=True)  # a link into DVC's cache
    path.write_text("mine\n")
    with pytest.raises(InputError, match=rf"(?s){name}.*make keep.*outside data/"):
        fetch.fetch(root)
    assert path.read_text() == "mine\n"


def test_command_says_what_is_wrong(root):
    """Run as the Makefile runs it, in a clone whose list of files is gone."""
    shutil.rmtree(root / ".dvcstore")
    process = command(root)
    assert process.returncode == 1
    assert "git checkout -- .dvcstore" in process.stderr
    assert "Traceback" not in process.stderr


# What `make keep` removes


def test_files_that_the_data_no_longer_names_are_removed_from_the_store(root):
    needed = objects(root)
    put(root, b"an earlier story\n")
    put(root, b"[]", ".dir")
    assert keep.remove_superseded(root, dry=True) == 2
    assert len(objects(root)) == len(needed) + 2
    assert keep.remove_superseded(root) == 2
    assert objects(root) == needed
    fetch.fetch(root)


def another_folder(root: Path) -> Path:
    """The default remote is a folder that others use too."""
    shared = shutil.copytree(root / ".dvcstore", root.parent / "shared")
    config = root / ".dvc" / "config"
    config.write_text(config.read_text().replace("../.dvcstore", str(shared)))
    return shared


def a_link(root: Path) -> Path:
    """The store is a link to a folder that others use too."""
    shared = (root / ".dvcstore").rename(root.parent / "shared")
    (root / ".dvcstore").symlink_to(shared)
    return shared


def local_setting(root: Path) -> Path:
    """As `another_folder`, in the settings that git does not hold."""
    shared = shutil.copytree(root / ".dvcstore", root.parent / "shared")
    config = f"[core]\n    remote = shared\n['remote \"shared\"']\n    url = {shared}\n"
    (root / ".dvc" / "config.local").write_text(config)
    return shared


@pytest.mark.parametrize("remote", [another_folder, a_link, local_setting])
def test_nothing_is_removed_from_a_remote_that_is_not_the_repositorys_store(root, remote):
    put(root, b"an earlier story\n")
    shared = remote(root)
    before = {folder: files(folder) for folder in (shared, root / ".dvcstore")}
    assert keep.remove_superseded(root) == 0
    assert {folder: files(folder) for folder in before} == before
    assert len(before[shared]) == len(FILES) + 2


def test_nothing_is_removed_if_the_list_of_files_is_gone(root):
    for listing in (root / ".dvcstore").rglob("*.dir"):
        listing.unlink()
    before = objects(root)
    with pytest.raises(DvcException):
        keep.remove_superseded(root)
    assert objects(root) == before
