"""The wheel in an empty environment: no extras, no compiler, no checkout."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from fantom_sets import question_set
from simpletom_stories import OATS
from tomlab.benchmarks import bigtom
from tomlab.paths import DATA, ROOT

RELEASED = (ROOT / "../shared/datasets").resolve()
# Each benchmark's face on a released file, answered rightly; then answers that take an encoder.
FACES = """
import importlib
import json
import sys
import pandas as pd
from tomlab import paths
from tomlab.errors import InputError

def answered(face, items, method):
    rows = []
    for item in face.asked(items, method).to_dict("records"):
        assert face.messages(item, method)[-1]["role"] == "user"
        row = {"item_id": item["item_id"], "model": "m", "method": method}
        rows.append(row | {"response": face.reference(item, method, 0)["gold"]})
    return pd.DataFrame(rows)

means = {}
for name, (source, method) in json.loads(sys.argv[1]).items():
    face = importlib.import_module(f"tomlab.benchmarks.{name}")
    items = face.read_released(source)
    items = items[items["group_id"].isin(items["group_id"].unique()[:20])]
    scores = face.score(items, answered(face, items, method))
    means[name] = scores["score"].mean(), len(face.metrics(scores)) > 0
    if name == "omnitom":
        both = pd.concat([answered(face, items, "stage1-L3"), answered(face, items, method)])
        try:
            face.score(items, both)
        except InputError as error:
            means["asked for"] = str(error)
        stages = set(face.score(items, both, embedder=None)["stage"])
        means["without"] = sorted(map(int, stages))
means["root"] = str(paths.ROOT)
print(json.dumps(means))
"""


def run(*command: str | Path, **options) -> subprocess.CompletedProcess:
    hidden = ("TOMLAB_ROOT", "PYTHONPATH", "VIRTUAL_ENV")
    env = {name: value for name, value in os.environ.items() if name not in hidden}
    env |= {"UV_SYSTEM_CERTS": "1"}
    options |= {"env": env, "capture_output": True, "text": True}
    return subprocess.run([*command], check=False, **options)


@pytest.fixture(scope="module")
def python(tmp_path_factory) -> Path:
    """The interpreter of an environment into which the wheel alone was installed."""
    folder = tmp_path_factory.mktemp("wheel")
    build = (sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", folder)
    assert run(*build, cwd=ROOT).returncode == 0
    [wheel] = folder.glob("*.whl")
    interpreter = folder / "venv" / "bin" / "python"
    uv = shutil.which("uv")
    options = ["--without-pip"] if uv else []
    run(sys.executable, "-m", "venv", *options, folder / "venv")
    pip = [uv, "pip"] if uv else [interpreter, "-m", "pip"]
    pip += ["install", "--python", interpreter] if uv else ["install"]
    pyyaml = run(*pip, "--quiet", "--no-deps", "pyyaml")
    if pyyaml.returncode:
        pytest.skip(f"no package registry: {pyyaml.stderr[-200:]}")
    lock = (ROOT / "requirements.lock").read_text(encoding="utf-8")
    pins = folder / "pins.txt"
    pins.write_text("\n".join(re.findall(r"^([^\s#-][^\\\n]*?) *\\?$", lock, re.MULTILINE)))
    # Nothing is built.
    installed = run(*pip, "--quiet", "--only-binary", ":all:", "-c", pins, wheel)
    assert installed.returncode == 0, installed.stderr
    return interpreter


@pytest.fixture
def sources(tmp_path) -> dict[str, tuple[str, str]]:
    """A released file of each benchmark, or one in its format, and a method."""
    fantom = tmp_path / "fantom.json"
    fantom.write_text(json.dumps([question_set()]))
    simpletom = tmp_path / "simpletom"
    questions = {"mental-state-qa": "aware", "behavior-qa": "action", "judgment-qa": "judge"}
    for config, end in questions.items():
        row = {
            "id": f"{OATS['story_id']}_{end}",
            "story": OATS["key_information"],
            "question": "Which?",
            "scenario_name": OATS["scenario"],
            "answerKey": "B",
            "choices": {"text": ["This", "That"], "label": ["A", "B"]},
        }
        (simpletom / config).mkdir(parents=True)
        (simpletom / config / "test.jsonl").write_text(json.dumps(row))
    folder, stories = (RELEASED, "gold_sample") if RELEASED.is_dir() else (DATA, "stories")
    return {
        "bigtom": (str(folder / "bigtom/bigtom.csv"), "0-shot"),
        "fantom": (str(fantom), "full"),
        "omnitom": (str(folder / f"omnitom/{stories}.jsonl"), "stage2-L3"),
        "simpletom": (str(simpletom), "none"),
    }


def test_the_four_faces_work_without_extras_and_without_the_repository(python, sources, tmp_path):
    process = run(python, "-I", "-c", FACES, json.dumps(sources), cwd=tmp_path)
    assert process.returncode == 0, process.stderr
    means = json.loads(process.stdout)
    assert {name: means[name] for name in sources} == {key: [1, True] for key in sources}
    assert means["root"] == str(tmp_path.resolve())
    # Extracted tables are compared by an encoder, which comes with the repository alone.
    assert "all-minilm-l6-v2" in means["asked for"]
    assert "embedder=EmbeddedModel(" in means["asked for"]
    assert "embedder=None" in means["asked for"]
    assert means["without"] == [2]


def test_the_readme_s_three_functions_do_what_they_say(python, sources, tmp_path):
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    [snippet] = re.findall(r"```python\n(.*?read_released.*?)```", readme, re.DOTALL)
    (tmp_path / "bigtom.csv").symlink_to(sources["bigtom"][0])
    items = bigtom.read_released(sources["bigtom"][0])
    answers = items[["item_id"]].assign(model="m", method="0-shot", response="Answer: a)")
    answers.to_csv(tmp_path / "answers.csv")
    shown = "\nprint(len(items), len(scores), len(bigtom.metrics(scores)) > 10)"
    process = run(python, "-I", "-c", f"{snippet}{shown}", cwd=tmp_path)
    assert process.returncode == 0, process.stderr
    assert process.stdout.split() == [str(len(items)), str(len(answers)), "True"]
    if RELEASED.is_dir():
        assert f"# {len(items):,} items" in snippet


@pytest.mark.parametrize(
    ("call", "message"),
    [
        ("simpletom.read_released('allenai/SimpleToM')", "datasets.*extra `compendium`"),
        ("embeddings.embed(['a'], spec)", "openai.*extra `embedded`"),
    ],
)
def test_what_takes_an_extra_names_it(python, tmp_path, call, message):
    code = "from tomlab.benchmarks import simpletom\nfrom tomlab.scoring import embeddings\n"
    code += "from tomlab.models.specs import OpenAIModel\n"
    code += "spec = OpenAIModel(name='m', provider='openai', model='m')\n"
    process = run(python, "-I", "-c", code + call, cwd=tmp_path)
    assert re.search(f"InputError: .*{message}", process.stderr)
