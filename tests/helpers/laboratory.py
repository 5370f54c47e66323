"""A folder in which the pipeline's stages run as they do in the repository."""

import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import nbformat
import yaml
from dvc.repo import Repo
from dvc.stage import PipelineStage

from tomlab.paths import ROOT


class Laboratory:
    """`root` with its own `params.yaml`; the commands and what they write are read from `dvc.yaml`.

    `root` holds data, notebooks and src already, as copies or links.
    """

    def __init__(self, root: Path, content: dict):
        self.root = root
        shutil.copyfile(ROOT / "dvc.yaml", root / "dvc.yaml")
        (root / ".dvc").mkdir()
        (root / ".dvc" / "config").write_text("[core]\n    no_scm = true\n    analytics = false\n")
        (root / "params.yaml").write_text(yaml.safe_dump(content), encoding="utf-8")
        with Repo(root) as repo:
            stages = repo.index.stages
        self.stages = {s.name: s for s in stages if isinstance(s, PipelineStage)}
        code = {"TOMLAB_ROOT": str(root), "PYTHONPATH": str(root / "src")}
        self.environment = {**os.environ, **code}

    def run(self, stage: str) -> None:
        """Run one stage's command, whose Python is this one."""
        command = shlex.split(self.stages[stage].cmd)
        assert command[0] == "python"
        subprocess.run(
            [sys.executable, *command[1:]], cwd=self.root, env=self.environment, check=True
        )

    def written(self, stage: str) -> list[Path]:
        """The files and folders that a stage promises to write."""
        return [self.root / out.def_path for out in self.stages[stage].outs]

    def executed(self, stage: str) -> nbformat.NotebookNode:
        [path] = [path for path in self.written(stage) if path.suffix == ".ipynb"]
        return nbformat.read(path, as_version=4)
