"""The runner: what is left when a notebook ran or failed."""

import json
from pathlib import Path

import nbformat
import pytest
from nbformat import NotebookNode, v4

from tomlab.errors import InputError
from tomlab.pipeline import run_notebook
from tomlab.pipeline.run_notebook import main, scrub


def notebook(*cells: str, tagged: str | None = "seed = 0\nmodel = ''") -> NotebookNode:
    """A source notebook of code cells, the parameters first if there are any."""
    first = [v4.new_code_cell(tagged, metadata={"tags": ["parameters"]})] if tagged else []
    kernel = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}
    return v4.new_notebook(cells=first + [v4.new_code_cell(c) for c in cells], metadata=kernel)


# What is left of a run


def test_scrub_takes_out_times_random_ids_and_the_version_of_python():
    run = notebook("1", "2")
    run.metadata["papermill"] = {"duration": 1.5}
    run.metadata["language_info"] = {"name": "python", "version": "3.11.2"}
    for cell in run.cells:
        cell.metadata |= {"papermill": {"duration": 0.5}, "execution": {"iopub.status.busy": "…"}}
    scrubbed = scrub(run)
    assert set(scrubbed.metadata) == {"kernelspec", "language_info"}
    assert scrubbed.metadata["language_info"] == {"name": "python"}
    assert [cell.id for cell in scrubbed.cells] == ["cell-00", "cell-01", "cell-02"]
    assert [dict(cell.metadata) for cell in scrubbed.cells] == [{"tags": ["parameters"]}, {}, {}]


@pytest.fixture
def run(tmp_path: Path):
    """Run a notebook through the command line; its exit code and where the copy goes."""
    settings = tmp_path / "settings.json"
    settings.write_text(json.dumps({"parameters": {"seed": 3, "model": "gpt-4o"}}))

    def through_main(source: NotebookNode, name: str = "out.ipynb") -> tuple[int, Path]:
        nbformat.write(source, tmp_path / "source.ipynb")
        output = tmp_path / "deep" / name
        return main([str(tmp_path / "source.ipynb"), str(output), str(settings)]), output

    return through_main


def test_a_long_stage_shows_how_many_cells_are_done(run, monkeypatch, capfd):
    monkeypatch.setattr(run_notebook, "LONG", 0.5)
    code, _ = run(notebook("import time; time.sleep(2)", "1"))
    assert code == 0
    assert "source.ipynb: " in capfd.readouterr().err


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


WHOLE = nbformat.writes(nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell("seed = 0")]))
MERGED = '{\n<<<<<<< HEAD\n "cells": [],\n=======\n "cells": [1],\n>>>>>>> theirs\n}\n'


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (MERGED, "conflict marks"),
        (WHOLE[:100], "found no notebook"),
        (b"\xff\xfe", "UTF-8"),
    ],
    ids=range(3),
)
def test_a_notebook_that_is_none_is_named(text, message, tmp_path):
    path = tmp_path / "mine.ipynb"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(InputError, match=rf"mine\.ipynb: .*{message}"):
        run_notebook.declared(path)


def test_users_mistake_is_told_without_a_traceback(run, capfd):
    fault = (
        "from tomlab.errors import InputError\n"
        'raise InputError("templates.csv: 2 problems\\n  row 3\\n  row 5")'
    )
    code, output = run(notebook("1 + 1", fault))
    message = capfd.readouterr().err
    assert code == 1
    assert "source.ipynb: templates.csv: 2 problems\n  row 3\n  row 5\n" in message
    assert "Traceback" not in message
    assert not output.exists()
    assert output.with_name("out.failed.ipynb").exists()


def test_any_other_fault_shows_its_traceback_and_leaves_no_earlier_output(run, tmp_path, capfd):
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "out.ipynb").write_text("of an earlier run")
    code, output = run(notebook("share = 1 / 0"))
    message = capfd.readouterr().err
    assert code == 1
    assert "share = 1 / 0" in message
    assert "ZeroDivisionError" in message
    assert str(output.with_name("out.failed.ipynb")) in message
    assert not output.exists()


def test_a_kernel_that_dies_is_told_without_a_traceback(run, capfd):
    code, output = run(notebook("import os; os._exit(1)"))
    message = capfd.readouterr().err
    assert code == 1
    assert "Kernel died" in message
    assert "Traceback" not in message
    assert output.with_name("out.failed.ipynb").exists()


def test_settings_of_another_notebook_are_refused(run, capfd):
    code, output = run(notebook("1", tagged="seed = 0\njudge = ''"))
    assert code == 1
    assert "settings.json: found seed, model, expected seed, judge; `make params`" in (
        capfd.readouterr().err
    )
    assert not output.exists()
