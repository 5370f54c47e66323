"""`checks/same_results.py` finds every kind of difference, and none where there is none."""

import subprocess
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import nbformat
import pytest
import yaml
from nbformat import v4

from tomlab.paths import ROOT


@pytest.fixture
def held(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """A repository with a recorded run, and the script for it."""
    spec = spec_from_file_location("same_results", ROOT / "checks" / "same_results.py")
    script = module_from_spec(spec)
    spec.loader.exec_module(script)
    monkeypatch.setattr(script, "ROOT", tmp_path)
    lock(tmp_path, raw="a1")
    for folder in ("figures", "tables", "metrics", "notebooks"):
        (tmp_path / "docs" / folder).mkdir(parents=True)
    (tmp_path / "docs/tables/one.csv").write_text("1\n")
    notebook(tmp_path, code="1 + 1", said="2")
    for command in (["init", "-q"], ["add", "-A"], ["commit", "-qm", "recorded"]):
        name = ["-c", "user.name=t", "-c", "user.email=t@example.org"]
        subprocess.run(["git", *name, *command], cwd=tmp_path, check=True)
    return script


def lock(root: Path, **outs: str) -> None:
    listed = [{"path": f"results/{name}", "md5": digest} for name, digest in outs.items()]
    (root / "dvc.lock").write_text(yaml.safe_dump({"stages": {"generation": {"outs": listed}}}))


def notebook(root: Path, code: str, said: str) -> None:
    output = v4.new_output("stream", text=said)
    made = v4.new_notebook(cells=[v4.new_code_cell(code, outputs=[output])])
    nbformat.write(made, root / "docs/notebooks/page.ipynb")


def test_same_run_with_other_code_is_the_same(held, tmp_path, capsys):
    notebook(tmp_path, code="2", said="2")
    assert held.main("HEAD") == 0
    assert "1 outs, 1 documents and the notebooks held against HEAD: 0 differ" in (
        capsys.readouterr().out
    )


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda root: lock(root, raw="b2"), "results/raw: changed"),
        (lambda root: lock(root), "results/raw: gone"),
        (lambda root: lock(root, raw="a1", more="c3"), "results/more: new"),
        (lambda root: (root / "docs/tables/one.csv").write_text("2\n"), "one.csv: changed"),
        (lambda root: notebook(root, code="1 + 1", said="3"), "page.ipynb: 2 lines differ"),
        (lambda root: (root / "docs/notebooks/page.ipynb").unlink(), "page.ipynb: gone"),
    ],
)
def test_difference_is_named(change, told, held, tmp_path, capsys):
    change(tmp_path)
    assert held.main("HEAD") == 1
    assert told in capsys.readouterr().out


def test_same_content_under_another_name_is_told_and_does_not_count(held, tmp_path, capsys):
    lock(tmp_path, templates="a1")
    assert held.main("HEAD") == 0
    assert "renamed: results/raw is now results/templates" in capsys.readouterr().out
