"""`python -m tomlab.export`: where it writes, and what it says where it can't."""

import os
import subprocess
import sys

import yaml

import exported
from tomlab import export as command
from tomlab import params, paths


def test_items_without_answers_are_no_results(results, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(paths, "RESULTS", tmp_path)
    monkeypatch.setattr(params, "load", lambda *_: exported.PARAMS)
    assert command.main() == 1
    (tmp_path / "items").symlink_to(results / "items")
    assert command.main() == 1
    told = "no answers of this run yet; run `make figures` first"
    assert capsys.readouterr().err.count(told) == 2


def test_an_earlier_export_is_replaced(results):
    gone = results / "exports" / "inspect" / "gone" / "old.eval"
    gone.parent.mkdir(parents=True)
    gone.touch()
    assert command.main() == 0
    assert not gone.exists()


def test_answer_without_a_score_is_named(results, tmp_path, monkeypatch, capsys):
    exported.write(tmp_path)
    path = tmp_path / "responses" / "bigtom" / "mine.parquet"
    told = exported.tidy.read("responses", path)
    told.loc[3, "item_id"] = "nobody"
    told.to_parquet(path)
    monkeypatch.setattr(paths, "RESULTS", tmp_path)
    assert command.main() == 1
    assert "mine.parquet: no score of 'nobody'; run `make figures`" in capsys.readouterr().err


def test_it_runs_by_its_name_and_tells_what_it_wrote(tmp_path):
    exported.write(tmp_path / "results")
    (tmp_path / "params.yaml").write_text(yaml.safe_dump(exported.PARAMS), encoding="utf-8")
    environment = {**os.environ, "TOMLAB_ROOT": str(tmp_path)}
    order = [sys.executable, "-m", "tomlab.export"]
    said = subprocess.run(order, env=environment, capture_output=True, text=True, check=True)
    assert said.stdout.splitlines()[-1].endswith("results/exports/inspect: 10 logs")
    assert (tmp_path / "results/exports/inspect/bigtom/mine_0-shot.eval").exists()
