"""The files by which others meet the repository: versions, workflows, containers, metadata."""

import json
import os
import re
import tomllib

import pytest
import yaml

from tomlab.paths import ROOT
from tomlab.pipeline import publish

WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
DEVCONTAINER = json.loads((ROOT / ".devcontainer/devcontainer.json").read_text(encoding="utf-8"))
CITATION = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
CODEMETA = json.loads((ROOT / "codemeta.json").read_text(encoding="utf-8"))
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
MAKEFILE = (ROOT / "Makefile").read_text(encoding="utf-8")
TARGETS = set(re.findall(r"^([a-z][a-z-]*):", MAKEFILE, re.MULTILINE))


def made(commands: str) -> set[str]:
    """The targets that commands make."""
    return set(re.findall(r"\bmake ([a-z][a-z-]*)", commands))


def test_every_file_names_the_same_version():
    changes = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    newest = re.findall(r"^## (\d+\.\d+\.\d+)", changes, re.MULTILINE)[0]
    versions = {newest, CITATION["version"], CODEMETA["version"], PROJECT["version"]}
    assert len(versions) == 1


def test_papers_of_the_two_citation_files_are_the_same():
    titles = {paper["title"] for paper in CITATION["references"]}
    assert titles == {paper["name"] for paper in CODEMETA["referencePublication"]}


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_workflow_makes_what_the_makefile_has_and_may_write_only_to_pages(path):
    workflow = yaml.safe_load(path.read_text(encoding="utf-8"))
    assert workflow["permissions"] == {"contents": "read"}
    targets = set()
    for name, job in workflow["jobs"].items():
        assert job["timeout-minutes"] <= 60, name
        if "permissions" in job:
            assert job["permissions"] == {"pages": "write", "id-token": "write"}
        for step in job["steps"]:
            if "uses" in step:
                assert re.fullmatch(r"actions/[\w-]+@v\d+", step["uses"])
            else:
                targets |= made(step["run"])
    assert targets
    assert targets <= TARGETS
    assert "secrets." not in path.read_text(encoding="utf-8")


def test_both_commands_of_the_readme_are_run_for_a_fork():
    commands = (ROOT / ".github/workflows/ci.yml").read_text(encoding="utf-8")
    assert {"figures", "test", "lint"} <= made(commands)


def test_container_makes_what_the_makefile_has():
    commands = {DEVCONTAINER["postCreateCommand"], DEVCONTAINER["postAttachCommand"]}
    assert commands == {"make data", "make lab"}
    assert made(" ".join(commands)) <= TARGETS


def test_binder_has_the_locked_jupyterlab_and_nothing_of_the_project():
    lines = (ROOT / ".binder/requirements.txt").read_text(encoding="utf-8").splitlines()
    [requirement] = [line for line in lines if not line.startswith("#")]
    lock = (ROOT / "requirements.lock").read_text(encoding="utf-8")
    assert f"{requirement} \\\n" in lock
    assert requirement.startswith("jupyterlab==")
    assert os.access(ROOT / ".binder/postBuild", os.X_OK)


def test_lab_opens_a_page_that_git_holds():
    [page] = re.findall(r"default_url=/lab/tree/(\S+)", MAKEFILE)
    assert page == "docs/notebooks/00_index.ipynb"
    assert (ROOT / page).is_file()


def test_metadata_of_the_results_list_the_folders_that_are_there(tmp_path):
    for name in ("scores", "tables", "scratch"):
        (tmp_path / name).mkdir()
    publish.describe(tmp_path)
    content = json.loads((tmp_path / "ro-crate-metadata.json").read_text(encoding="utf-8"))
    entities = {entity["@id"]: entity for entity in content["@graph"]}
    root = entities["./"]
    assert {part["@id"] for part in root["hasPart"]} == {"scores/", "tables/"}
    assert {"name", "description", "license", "datePublished"} <= root.keys()
    assert entities["scores/"]["description"] == publish.CONTENTS["scores"]
    assert entities["ro-crate-metadata.json"]["about"] == {"@id": "./"}
