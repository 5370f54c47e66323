"""The runner: what a notebook declares and is given, and what is left when it ran or failed."""

from pathlib import Path

import nbformat
import pytest
import yaml
from nbformat import NotebookNode, v4

from tomlab import params
from tomlab.errors import InputError
from tomlab.pipeline import run_notebook
from tomlab.pipeline.run_notebook import assignments, declared, main, parameters, scrub

CONTENT = {
    "run": {"seed": 3, "models": ["a", "b"]},
    "bigtom": {"methods": ["0-shot"], "seed": 4},
    "limits": None,
}


def notebook(*cells: str, tagged: str | None = "seed = 0\nmodel = ''") -> NotebookNode:
    """A source notebook of code cells, the parameters first if there are any."""
    first = [v4.new_code_cell(tagged, metadata={"tags": ["parameters"]})] if tagged else []
    kernel = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}
    return v4.new_notebook(cells=first + [v4.new_code_cell(c) for c in cells], metadata=kernel)


# What a notebook declares


def test_names_come_with_their_literals():
    source = "seed = 0  # the run's\nprompts = {}\nmethods = ['0-shot']\nlow = -1"
    assert declared(notebook(tagged=source), "x.ipynb") == {
        "seed": 0,
        "prompts": {},
        "methods": ["0-shot"],
        "low": -1,
    }


@pytest.mark.parametrize(
    "line",
    [
        "twice = 2 * seed",
        "path = Path('data')",
        "import json",
        "a = b = 1",
        "a, b = 1, 2",
        "seed: int = 0",
        "odd = {[]: 1}",
    ],
)
def test_cell_that_derives_a_value_is_refused_with_the_line(line):
    with pytest.raises(InputError, match=r"x\.ipynb: .*only `name = literal`") as caught:
        declared(notebook(tagged=f"seed = 0\n{line}"), "x.ipynb")
    assert line.split(" = ")[0] in str(caught.value)


def test_cell_that_is_not_python_is_refused():
    with pytest.raises(InputError, match=r"x\.ipynb: the parameters cell is not Python"):
        declared(notebook(tagged="seed ="), "x.ipynb")


def test_one_cell_is_tagged_parameters():
    with pytest.raises(InputError, match=r"x\.ipynb: found 0 cells tagged `parameters`"):
        declared(notebook("1", tagged=None), "x.ipynb")
    two = notebook("seed = 0")
    two.cells[1].metadata["tags"] = ["parameters"]
    with pytest.raises(InputError, match=r"x\.ipynb: found 2 cells tagged `parameters`"):
        declared(two, "x.ipynb")


# What it is given


def test_each_name_gets_its_value_from_its_section_or_by_hand():
    names = {"models": [], "methods": [], "model": ""}
    values = parameters(names, CONTENT, ["run", "bigtom"], {"model": "b"})
    assert values == {"models": ["a", "b"], "methods": ["0-shot"], "model": "b"}


def test_value_by_hand_goes_before_the_file():
    assert parameters({"seed": 0}, CONTENT, ["run", "bigtom"], {"seed": 9}) == {"seed": 9}


@pytest.mark.parametrize(
    ("names", "sections", "given", "said"),
    [
        ({"seed": 0}, ["run"], {"sede": 1}, "no parameter 'sede' in the notebook; it takes: seed"),
        ({"sede": 0}, ["run"], {}, "parameter 'sede': .* sections run of .* found in none"),
        ({"seed": 0}, ["run", "bigtom"], {}, "parameter 'seed': .* found in run and bigtom"),
        ({"seed": 0}, ["fantom"], {}, "no section 'fantom'; there are: run, bigtom, limits"),
        ({"seed": 0}, ["limits"], {}, "no section 'limits'"),
    ],
    ids=["unknown name", "missing name", "two sections", "unknown section", "empty section"],
)
def test_value_that_is_not_settled_is_named(names, sections, given, said):
    with pytest.raises(InputError, match=said):
        parameters(names, CONTENT, sections, given)


def test_values_by_hand_are_read_as_yaml():
    assert assignments(["model=gpt-4o", "seed=7", "prompts={a: b=c}"]) == {
        "model": "gpt-4o",
        "seed": 7,
        "prompts": {"a": "b=c"},
    }


@pytest.mark.parametrize("entry", ["model", "methods=[0-shot"])
def test_value_by_hand_that_cannot_be_read_is_named(entry):
    with pytest.raises(InputError) as caught:
        assignments([entry])
    assert entry in str(caught.value)


# What is left of a run


def test_scrub_takes_out_times_and_random_ids():
    run = notebook("1", "2")
    run.metadata["papermill"] = {"duration": 1.5}
    for cell in run.cells:
        cell.metadata |= {"papermill": {"duration": 0.5}, "execution": {"iopub.status.busy": "…"}}
    scrubbed = scrub(run)
    assert set(scrubbed.metadata) == {"kernelspec"}
    assert [cell.id for cell in scrubbed.cells] == ["cell-00", "cell-01", "cell-02"]
    assert [dict(cell.metadata) for cell in scrubbed.cells] == [{"tags": ["parameters"]}, {}, {}]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Run a notebook through the command line; its exit code and where the copy goes."""
    monkeypatch.setattr(run_notebook, "PARAMS", tmp_path / "params.yaml")
    content = params.load(run_notebook.ROOT / "params.yaml")
    content["run"]["seed"] = 3
    (tmp_path / "params.yaml").write_text(yaml.safe_dump(content))

    def through_main(source: NotebookNode, name: str = "out.ipynb") -> tuple[int, Path]:
        nbformat.write(source, tmp_path / "source.ipynb")
        output = tmp_path / "deep" / name
        given = ["--section", "run", "--set", "model=gpt-4o"]
        return main([str(tmp_path / "source.ipynb"), str(output), *given]), output

    return through_main


NOISY = """\
import os, sys
os.write(2, b"progress by the engine\\n")
print("progress bar", file=sys.__stderr__, flush=True)
print(model, seed, {"kitchen", "attic", "closet", "drawer"})
"""


def test_two_runs_of_one_notebook_write_the_same_bytes_and_no_progress(run, capfd):
    source = notebook(NOISY, "os.getcwd()")
    outputs = []
    for name in ("first.ipynb", "second.ipynb"):
        code, output = run(source, name)
        assert code == 0
        outputs.append(output.read_bytes())
    assert outputs[0] == outputs[1]
    assert b"papermill" not in outputs[0]
    assert b"iopub" not in outputs[0]
    assert {path.name for path in output.parent.iterdir()} == {"first.ipynb", "second.ipynb"}

    *_, given, noisy, where = nbformat.reads(outputs[0].decode(), as_version=4).cells
    assert given.source == '# Parameters\nseed = 3\nmodel = "gpt-4o"\n'
    [printed] = noisy.outputs
    assert printed.name == "stdout"
    assert printed.text.startswith("gpt-4o 3 {")
    assert where.outputs[0].data["text/plain"] == repr(str(run_notebook.ROOT))
    shown = capfd.readouterr().err
    assert "progress by the engine" in shown
    assert "progress bar" in shown


def test_users_mistake_is_told_without_a_traceback(run, capfd):
    fault = (
        "from tomlab.errors import InputError\n"
        'raise InputError("templates.csv: 2 problems\\n  row 3\\n  row 5")'
    )
    code, output = run(notebook("1 + 1", fault))
    said = capfd.readouterr().err
    assert code == 1
    assert "source.ipynb: templates.csv: 2 problems\n  row 3\n  row 5\n" in said
    assert "Traceback" not in said
    assert not output.exists()
    assert output.with_name("out.failed.ipynb").exists()


def test_any_other_fault_shows_its_traceback_and_where_to_look(run, capfd):
    code, output = run(notebook("share = 1 / 0"))
    said = capfd.readouterr().err
    assert code == 1
    assert "share = 1 / 0" in said
    assert "ZeroDivisionError" in said
    assert str(output.with_name("out.failed.ipynb")) in said
    assert not output.exists()


def test_failed_run_leaves_no_earlier_output(run, tmp_path):
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "out.ipynb").write_text("of an earlier run")
    code, output = run(notebook("raise SystemError"))
    assert code == 1
    assert not output.exists()


def test_notebook_that_is_not_there_is_named(tmp_path, capfd):
    assert main([str(tmp_path / "no.ipynb"), str(tmp_path / "out.ipynb")]) == 1
    assert "no.ipynb: no such notebook" in capfd.readouterr().err
