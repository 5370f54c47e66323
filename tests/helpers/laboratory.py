"""A folder in which the pipeline's stages run as they do in the repository."""

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import nbformat
import pandas as pd
import yaml
from dvc.repo import Repo
from dvc.stage import PipelineStage

from tomlab.paths import DATA, ROOT
from tomlab.scoring.embeddings import VECTORS


def environment(root: Path) -> dict[str, str]:
    """That of commands in a folder in the place of the repository, by this Python."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    return {**os.environ, "TOMLAB_ROOT": str(root), "PATH": path}


def start(commands: Sequence[str], env: Mapping[str, str]) -> None:
    """Run commands in turn in the folder of `env`, their stages started as by `make figures`."""
    one = [sys.executable, "-m", "tomlab.pipeline.run", "sh", "-ec", "\n".join(commands)]
    subprocess.run(one, cwd=env["TOMLAB_ROOT"], env=env, check=True)


class Laboratory:
    """`root` with its own `params.yaml`; the commands and what they write are read from `dvc.yaml`.

    `root` holds book, data, notebooks and src already, as copies or links.
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
        assert all(stage.cmd.startswith("python ") for stage in self.stages.values())
        self.environment = environment(root) | {"PYTHONPATH": str(root / "src")}
        # No notebook; what it says on success is not for a test.
        options = {"cwd": root, "env": self.environment, "stdout": subprocess.DEVNULL}
        subprocess.run(["sh", "-c", self.stages["settings"].cmd], check=True, **options)

    def run(self, *stages: str) -> None:
        """Run stages' commands in turn."""
        start([self.stages[stage].cmd for stage in stages], self.environment)

    def written(self, stage: str) -> list[Path]:
        """The files and folders that a stage promises to write."""
        return [self.root / out.def_path for out in self.stages[stage].outs]

    def executed(self, stage: str) -> nbformat.NotebookNode:
        [path] = [path for path in self.written(stage) if path.suffix == ".ipynb"]
        return nbformat.read(path, as_version=4)


def laboratory(root: Path, change: Callable[[dict], None]) -> Laboratory:
    """The repository's notebooks, code and kept embeddings, a part of its items, and its parameters
    changed for a short run.
    """
    for name in ("book", "forms", "notebooks", "src"):
        (root / name).symlink_to(ROOT / name)
    shutil.copytree(DATA, root / "data", copy_function=os.symlink)
    _draw_items(root / "data")
    (root / "docs").mkdir()
    # What the pages on readers and on logs read.
    for name in ("docs/readers_released.csv", "docs/logs"):
        (root / name).symlink_to(ROOT / name)
    VECTORS.mkdir(parents=True, exist_ok=True)
    (root / VECTORS.parent.name).mkdir()
    (root / VECTORS.relative_to(ROOT)).symlink_to(VECTORS)
    content = yaml.safe_load((ROOT / "params.yaml").read_text(encoding="utf-8"))
    content["run"] |= {"models": ["omniscient"]}
    content["bigtom"]["generation"]["writers"] = ["authored"]
    content["bigtom"]["evaluation"]["methods"] = ["0-shot"]
    content["fantom"]["generation"]["writers"] = ["authored"]
    content["fantom"]["evaluation"]["methods"] = ["short", "full"]
    content["fantom"]["judges"]["answers_made"] = 240
    content["omnitom"]["generation"] |= {"writers": ["authored"]}
    content["omnitom"]["evaluation"]["methods"] = ["stage1-L3", "stage2-L3"]
    content["omnitom"]["judges"] |= {"llm_levels": [], "tables_made": 21}
    content["simpletom"]["generation"]["writers"] = ["authored"]
    content["simpletom"]["filtering"]["llm_annotated"] = 0
    for name in ("bigtom", "simpletom"):
        content[name]["judges"] |= {"llm_answers": 0, "answers_made": 120}
    content["fresh"] |= {"models": ["omniscient"], "questions": 48, "budget": 500}
    change(content)
    return Laboratory(root, content)


def without_code(page: Path) -> None:
    """A page that is beside the point of a test, in the place of the link, with its texts alone."""
    notebook = nbformat.read(page, as_version=4)
    notebook.cells = [
        cell
        for cell in notebook.cells
        if cell.cell_type == "markdown" or "parameters" in cell.metadata.get("tags", [])
    ]
    _replace(page, nbformat.writes(notebook))


def with_results_of(front: Path, folder: str, page: Path) -> None:
    """A page that only copies the figures and tables that it wrote to `folder` in `front`."""
    without_code(page)
    notebook = nbformat.read(page, as_version=4)
    code = "import shutil\n\nfrom tomlab import paths\n"
    for kind in ("figures", "tables"):
        results = str(front / "results" / kind / folder)
        target = f"paths.RESULTS / '{kind}/{folder}'"
        code += f"shutil.copytree({results!r}, {target}, dirs_exist_ok=True)\n"
    notebook.cells.append(nbformat.v4.new_code_cell(code, id="copies"))
    _replace(page, nbformat.writes(notebook))


def _draw_items(data: Path) -> None:
    """Every third template, six conversations, three sets of entities a scenario and four stories a
    category, so that a run's time does not grow with our files.
    """
    templates, records = data / "bigtom/bigtom.csv", data / "omnitom/stories.jsonl"
    lines = templates.read_text(encoding="utf-8").splitlines(keepends=True)
    _replace(templates, "".join(lines[::3]))
    conversations = data / "fantom" / "fantom.json"
    sets = json.loads(conversations.read_text(encoding="utf-8"))
    first = list(dict.fromkeys(one["set_id"].split("-")[0] for one in sets))[:6]
    drawn = [one for one in sets if one["set_id"].split("-")[0] in first]
    _replace(conversations, json.dumps(drawn))
    for questions in (data / "simpletom" / "questions").glob("*/test.jsonl"):
        lines = questions.read_text(encoding="utf-8").splitlines()
        first = [
            line for line in lines if re.search(r'"id": "authored-\d\d-[123](-twin)?_sev', line)
        ]
        _replace(questions, "\n".join(first) + "\n")
    table = pd.DataFrame({"line": records.read_text(encoding="utf-8").splitlines()})
    category = table["line"].map(lambda line: json.loads(line)["story_category"])
    _replace(records, "\n".join(table.groupby(category).head(4)["line"]) + "\n")


def _replace(path: Path, text: str) -> None:
    """A file in the place of the link, which is left alone."""
    path.unlink()
    path.write_text(text, encoding="utf-8")
