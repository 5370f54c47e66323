"""`python -m tomlab.export`: where it writes, and what it says where it can't."""

import os
import subprocess
import sys

import pytest
import yaml

import exported
from tomlab import params, paths
from tomlab.export import __main__ as command

LIBRARIES = command.FORMATS.items()


@pytest.mark.parametrize(("name", "library"), LIBRARIES)
def test_absent_library_is_named(name, library, monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, library, None)
    assert command.main([name]) == 1
    said = capsys.readouterr().err
    assert f"{name}: import of {library} halted" in said
    assert "make exports" in said


@pytest.mark.parametrize(("name", "library"), LIBRARIES)
def test_without_results_it_says_what_makes_them(name, library, tmp_path, monkeypatch, capsys):
    pytest.importorskip(library, reason=exported.ABSENT)
    monkeypatch.setattr(paths, "RESULTS", tmp_path)
    monkeypatch.setattr(params, "load", lambda *_: exported.PARAMS)
    assert command.main([name]) == 1
    assert "run `make figures` first" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["every-eval-ever", "inspect"])
def test_items_without_answers_are_no_results(name, results, tmp_path, monkeypatch, capsys):
    pytest.importorskip(command.FORMATS[name], reason=exported.ABSENT)
    (tmp_path / "items").symlink_to(results / "items")
    monkeypatch.setattr(paths, "RESULTS", tmp_path)
    assert command.main([name]) == 1
    assert "no answers of this run yet" in capsys.readouterr().err


def test_somebodys_folder_is_left_alone(tmp_path, results, capsys):
    pytest.importorskip("mlcroissant", reason=exported.ABSENT)
    (tmp_path / "thesis.txt").write_text("mine")
    assert command.main(["croissant", "--to", str(tmp_path)]) == 1
    assert "expected a new or an empty folder" in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.txt"]


def test_an_earlier_export_is_replaced(results):
    pytest.importorskip("mlcroissant", reason=exported.ABSENT)
    gone = results / "exports" / "croissant" / "gone" / "items.parquet"
    gone.parent.mkdir(parents=True)
    gone.touch()
    assert command.main(["croissant"]) == 0
    assert not gone.exists()


def test_answer_without_a_score_is_named(results, tmp_path, monkeypatch, capsys):
    pytest.importorskip("inspect_ai", reason=exported.ABSENT)
    exported.write(tmp_path)
    path = tmp_path / "responses" / "bigtom" / "mine.parquet"
    told = exported.tidy.read("responses", path)
    told.loc[3, "item_id"] = "nobody"
    told.to_parquet(path)
    monkeypatch.setattr(paths, "RESULTS", tmp_path)
    assert command.main(["inspect"]) == 1
    assert "mine.parquet: no score of 'nobody'; run `make figures`" in capsys.readouterr().err


def test_it_runs_by_its_name_and_tells_what_it_wrote(tmp_path):
    pytest.importorskip("mlcroissant", reason=exported.ABSENT)
    exported.write(tmp_path / "results")
    (tmp_path / "params.yaml").write_text(yaml.safe_dump(exported.PARAMS), encoding="utf-8")
    order = [sys.executable, "-m", "tomlab.export", "croissant", "--to", str(tmp_path / "mine")]
    environment = {**os.environ, "TOMLAB_ROOT": str(tmp_path)}
    said = subprocess.run(order, env=environment, capture_output=True, text=True, check=True)
    n = sum(map(len, exported.ITEMS.values()))
    assert said.stdout == f"{tmp_path / 'mine'}: {n} items, checked by mlcroissant\n"
    assert (tmp_path / "mine" / "bigtom" / "croissant.json").exists()
