"""What holds for the stages of every benchmark, and for what they draw, print and judge."""

import json

import pandas as pd
from matplotlib.image import imread

from laboratory import Laboratory


def check_stages(lab: Laboratory, *stages: str) -> None:
    """Each wrote what the pipeline says, all its cells ran, and no fault was reported."""
    for stage in stages:
        assert [path for path in lab.written(stage) if not path.exists()] == []
        cells = [cell for cell in lab.executed(stage).cells if cell.cell_type == "code"]
        assert all(cell.execution_count for cell in cells if cell.source)
        outputs = [output for cell in cells for output in cell.outputs]
        assert outputs
        faults = [o for o in outputs if o.output_type == "error" or o.get("name") == "stderr"]
        assert faults == [], stage


def check_figures_and_tables(lab: Laboratory, benchmark: str, empty: set[str]) -> None:
    """Figures can be seen and tables read. empty: the tables that may have no rows."""
    pictures = sorted((lab.root / "results/figures" / benchmark).glob("*.png"))
    assert pictures
    for path in pictures:
        pixels = imread(path)
        assert 200 < pixels.shape[1] < 4000
        assert pixels.std() > 0.02, f"{path.name} is blank"
        assert path.with_suffix(".pdf").read_bytes().startswith(b"%PDF")
    tables = sorted((lab.root / "results/tables" / benchmark).glob("*.csv"))
    assert tables
    assert {path.stem for path in tables if not len(pd.read_csv(path))} <= empty


def check_judges(lab: Laboratory, benchmark: str) -> None:
    """The best judge is named, and people have a form that is still empty."""
    folder = lab.root / "results/judges" / benchmark
    winner = json.loads((folder / "winner.json").read_text(encoding="utf-8"))
    agreement = pd.read_csv(folder / "agreement.csv").set_index("judge")
    assert winner["truth"] == "known by construction"
    assert agreement.loc[winner["judge"], "agreement"] == agreement["agreement"].max()
    form = pd.read_csv(folder / "to_label.csv")
    assert "annotator" in form and form["annotator"].isna().all()
    # Copies of an option hang on no judge; of OmniToM's tables only people could tell.
    assert pd.read_csv(folder / "judge_error.csv").empty
