"""`checks/same_results.py` finds every kind of difference, and none where there is none."""

import json
import subprocess
from hashlib import md5
from pathlib import Path

import pandas as pd
import pytest
import same_results as script
import yaml


@pytest.fixture
def recorded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A repository with a recorded run, which the script reads."""
    monkeypatch.setattr(script, "ROOT", tmp_path)
    lock(tmp_path)
    listing = json.dumps([{"relpath": "answers/bigtom/x.parquet", "md5": "k1"}])
    kept = [{"path": "data", "md5": put(tmp_path, listing.encode(), ".dir")}]
    (tmp_path / "data.dvc").write_text(yaml.safe_dump({"outs": kept}))
    for command in (["init", "-q"], ["add", "-A"], ["commit", "-qm", "recorded"]):
        name = ["-c", "user.name=t", "-c", "user.email=t@example.org"]
        subprocess.run(["git", *name, *command], cwd=tmp_path, check=True)


def put(root: Path, content: bytes, suffix: str = "") -> str:
    digest = md5(content).hexdigest() + suffix
    path = root / ".dvc/cache/files/md5" / digest[:2] / digest[2:]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return digest


def lock(root: Path, raw: str = "a1", keys: str = "xyz", **outs: str) -> None:
    """Records a folder with a file, a table of responses with `keys`, and further outs."""
    table = root / "table.parquet"
    pd.DataFrame({"request_key": [*keys]}).to_parquet(table)
    outs = {
        "raw/bigtom": put(root, json.dumps([{"relpath": "one", "md5": raw}]).encode(), ".dir"),
        "responses/bigtom/x.parquet": put(root, table.read_bytes()),
        "figures/bigtom": "f1.dir",
        **outs,
    }
    table.unlink()
    listed = [{"path": f"results/{name}", "md5": digest} for name, digest in outs.items()]
    (root / "dvc.lock").write_text(yaml.safe_dump({"stages": {"generation": {"outs": listed}}}))


def test_same_results_with_other_figures_are_the_same(recorded, tmp_path, capsys):
    lock(tmp_path, **{"figures/bigtom": "f2.dir"})
    assert script.main("HEAD") == 0
    assert "3 files of HEAD compared: 0 differ" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("change", "line"),
    [
        ({"raw": "b2"}, "results/raw/bigtom/one: changed"),
        ({"raw/bigtom": "unlisted.dir"}, "results/raw/bigtom/one: gone"),
        ({"scores/bigtom/x.parquet": "c3"}, "results/scores/bigtom/x.parquet: new"),
        ({"keys": "xyw"}, "x.parquet: changed, 2 request keys differ"),
        ({"keys": "xxyz"}, "x.parquet: changed, 0 request keys differ"),
    ],
)
def test_difference_is_named(change, line, recorded, tmp_path, capsys):
    lock(tmp_path, **change)
    assert script.main("HEAD") == 1
    assert line in capsys.readouterr().out
