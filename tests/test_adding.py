"""The worked example of `docs/adding.md`: a fifth benchmark by its own files alone.

Each block of the document becomes the file that it names, beside copies of the repository's code.
"""

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import nbformat
import pandas as pd
import pytest
import yaml
from nbformat import v4

from laboratory import Laboratory, with_results_of, without_code
from tomlab.paths import ROOT
from tomlab.records import tidy

BLOCK = re.compile(r"^`([\w./]+)`\n\n```\w+\n(.*?)```$", re.MULTILINE | re.DOTALL)
FILES = dict(BLOCK.findall((ROOT / "docs" / "adding.md").read_text(encoding="utf-8")))
PARAMS = yaml.safe_load(FILES.pop("params.yaml"))
CHAIN = ["generation", "filtering", "evaluation", "judge_calibration", "figures"]
CHAIN = [f"{s}@doors-omniscient" if s == "evaluation" else f"{s}@doors" for s in CHAIN]
CHAPTERS = [Path(name) for name in FILES if name.endswith(".ipynb")]
CENTRAL = ("src", "notebooks", "tests")
# Somebody who has followed the document has doors in the repository, too.
OURS = ("doors", "doors.ipynb")
RUBBISH = shutil.ignore_patterns("__pycache__", ".ipynb_checkpoints", "*.egg-info", *OURS)

# Tests of the house that look at all benchmarks at once, and what a benchmark's own ones are about.
FOR_ALL = ["is_of_a_module_that_is_there", "imports_upwards", "knows_another", "imports_itself"]
FOR_ALL += ["too_long", "verdicts_are_no_dependency", "run_by_a_stage", "read_by_one_stage"]
FOR_EACH = ["has_the_files", "face_has", "declared_parameters", "prompts_that_are_there"]
FOR_EACH += [
    "source_notebook",
    "one_title",
    "every_link",
    "takes_its_parameters",
    "runs_again_when_code",
    "names_no_folder",
]


def notebook(code: str) -> str:
    """The notebook of which the document shows the cells."""
    _, *parts = re.split(r"^# %%( \[markdown\])?\n", code, flags=re.MULTILINE)
    made = v4.new_notebook()
    for is_text, part in zip(parts[::2], parts[1::2], strict=True):
        text = re.sub(r"^# ", "", part, flags=re.MULTILINE) if is_text else part
        made.cells.append((v4.new_markdown_cell if is_text else v4.new_code_cell)(text.strip()))
    parameters = next(cell for cell in made.cells if cell.cell_type == "code")
    parameters.metadata["tags"] = ["parameters"]
    return nbformat.writes(made)


@pytest.fixture(scope="module")
def lab(tmp_path_factory) -> Laboratory:
    """The repository with the example in it, its five stages run for the omniscient baseline."""
    root = tmp_path_factory.mktemp("adding")
    for name in (*CENTRAL, "book", "docs"):
        shutil.copytree(ROOT / name, root / name, ignore=RUBBISH)
    shutil.copyfile(ROOT / "README.md", root / "README.md")
    (root / "data" / "published").mkdir(parents=True)
    for name in (*(f"data/{p.name}" for p in (ROOT / "data").iterdir()), "pyproject.toml"):
        if name not in ("data/published", "data/doors"):
            (root / name).symlink_to(ROOT / name)
    for folder in ("data/published", "forms"):
        (root / folder).mkdir(exist_ok=True)
        for path in (path for path in (ROOT / folder).iterdir() if path.name not in OURS):
            (root / folder / path.name).symlink_to(path)
    for name, text in FILES.items():
        path = root / name
        assert not path.exists(), f"{name}: the example is to add files, not to change them"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(notebook(text) if path.suffix == ".ipynb" else text, encoding="utf-8")
    content = yaml.safe_load((ROOT / "params.yaml").read_text(encoding="utf-8"))
    content["run"]["benchmarks"] |= PARAMS["run"]["benchmarks"]
    content |= {"doors": PARAMS["doors"]}
    content["run"]["models"] = ["omniscient"]
    made = Laboratory(root, content)
    made.run(*CHAIN)
    return made


@pytest.fixture(scope="module")
def book(lab, front) -> Path:
    """The book of a run of doors alone."""
    path = lab.root / "params.yaml"
    before = path.read_text(encoding="utf-8")
    alone = yaml.safe_load(before)
    alone["run"]["benchmarks"] = PARAMS["run"]["benchmarks"]
    path.write_text(yaml.safe_dump(alone), encoding="utf-8")
    # Pages on the four benchmarks, which have tests of their own.
    notebooks = lab.root / "notebooks"
    pages = {page: page.read_bytes() for page in notebooks.glob("[01][0-9]_*.ipynb")}
    del pages[notebooks / "00_index.ipynb"]
    for page in pages:
        without_code(page)
    # The front page shows what these write.
    with_results_of(front, "real_models", notebooks / "05_real_models.ipynb")
    with_results_of(front, "knowing", notebooks / "08_knowing.ipynb")
    lab.run("documents")
    path.write_text(before, encoding="utf-8")
    for page, content in pages.items():
        page.write_bytes(content)
    return lab.root / "results/book"


def contents(folder: Path) -> dict[str, bytes]:
    """The files of a folder that are the repository's own, by their path."""
    paths = [
        path for path in folder.rglob("*") if path.suffix in (".py", ".txt", ".yaml", ".ipynb")
    ]
    paths = [path for path in paths if not {"__pycache__", ".ipynb_checkpoints"} & {*path.parts}]
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in paths}


def test_nothing_central_is_edited(lab):
    for name in CENTRAL:
        there, before = contents(lab.root / name), contents(ROOT / name)
        added = {path.removeprefix(f"{name}/") for path in FILES if path.startswith(f"{name}/")}
        assert there == before | {path: there[path] for path in added}
    assert (lab.root / "dvc.yaml").read_bytes() == (ROOT / "dvc.yaml").read_bytes()
    doors = re.compile(r"(src/tomlab/benchmarks|data)/doors/.+|notebooks/\w+/doors\.ipynb")
    assert [name for name in FILES if not doors.fullmatch(name)] == []
    assert len(FILES) == 8


def test_stages_find_what_they_depend_on_write_what_they_promise_and_report_no_fault(lab):
    for stage in CHAIN:
        needed = [lab.root / dep.def_path for dep in lab.stages[stage].deps]
        assert [path for path in [*needed, *lab.written(stage)] if not path.exists()] == []
        outputs = [o for cell in lab.executed(stage).cells for o in cell.get("outputs", [])]
        assert [o for o in outputs if o.output_type == "error" or o.get("name") == "stderr"] == []


def test_omniscient_is_right_on_true_and_wrong_on_false_beliefs(lab):
    scores = tidy.read("scores", lab.root / "results/scores/doors/omniscient.parquet")
    assert set(scores["outcome"]) == {"correct", "wrong"}
    right = scores.groupby("condition")["score"].agg(["min", "max"])
    assert right.T.to_dict("list") == {"false_belief": [0.0, 0.0], "true_belief": [1.0, 1.0]}


def test_figures_tables_and_headline_numbers_are_there(lab):
    accuracies = pd.read_csv(lab.root / "results/tables/doors/accuracy.csv")
    of_omniscient = accuracies[accuracies["model"] == "omniscient"].set_index("condition")
    assert of_omniscient["value"].to_dict() == {"false_belief": 0, "true_belief": 1}
    assert accuracies["ci_high"].notna().all()
    picture = lab.root / "results/figures/doors/outcomes.png"
    assert picture.read_bytes().startswith(b"\x89PNG")
    headline = lab.root / "docs/metrics/doors/omniscient/plain_false-belief.json"
    assert json.loads(headline.read_text(encoding="utf-8"))["value"] == 0


def test_book_has_its_chapters_its_answers_and_a_front_page_that_leads_to_them(book):
    front = (book / "index.html").read_text(encoding="utf-8")
    assert "nothing is concluded" in front  # as only a baseline was asked
    pages = ["doors", "browse/doors", *(f"{path.parent.name}/doors" for path in CHAPTERS)]
    pages[pages.index("3_evaluation/doors")] += "-omniscient"
    assert [page for page in pages if not (book / f"{page}.html").is_file()] == []
    assert [page for page in pages if f'href="{page}.html"' not in front] == []


def test_what_holds_a_benchmark_to_the_house_holds_for_the_example(lab):
    house = ["test_house.py", "asking/test_protocol.py"]
    house += ["pipeline/test_dvc_stages.py", "pipeline/test_notebooks.py"]
    done = subprocess.run(
        [
            *(sys.executable, "-m", "pytest", "-vv", "-p", "no:cacheprovider"),
            *("-k", " or ".join(["doors", "bigtom", *FOR_ALL])),
            *(f"tests/{path}" for path in house),
        ],
        cwd=lab.root,
        env=lab.environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout
    passed = set(re.findall(r"::test_(\S+) PASSED", done.stdout))
    of_example = {each for each in passed if "doors" in each}
    assert of_example == {each.replace("bigtom", "doors") for each in passed if "bigtom" in each}
    assert [name for name in FOR_EACH if not any(name in each for each in of_example)] == []
    assert [name for name in FOR_ALL if not any(name in each for each in passed)] == []
