"""The head of a run: one at a time, ended in order by a signal, and a last line on what it asked."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import nbformat
import pandas as pd
import pytest
import yaml
from nbformat import v4

from faulty_server import COMPLETION_TOKENS, PROMPT_TOKENS, Act, FaultyServer
from tomlab.paths import ROOT

RUN = [sys.executable, "-m", "tomlab.pipeline.run"]
STAGE = [sys.executable, "-m", "tomlab.pipeline.run_notebook"]
SLEEPS = """\
import os, time
from pathlib import Path
Path(place).write_text(str(os.getpid()))
time.sleep(60)
"""

# One table with all answers, as an evaluation writes it.
ASKS = """\
import asyncio, sys
import pandas as pd
from tomlab import paths
from tomlab.models import specs
from tomlab.models.ask import ask
requests = [specs.Request(({"role": "user", "content": text},), 8) for text in sys.argv[1:]]
found = asyncio.run(ask(requests, specs.model("toy"), limits=specs.limits(), progress=False))
rows = [{"request_key": r.request_key, "prompt_tokens": r.reply.prompt_tokens} for r in found]
path = paths.result("responses", "bigtom", "toy")
path.parent.mkdir(parents=True)
pd.DataFrame(rows).to_parquet(path)
"""


def stage(folder: Path, code: str, out: str = "out.ipynb", **parameters: object) -> list[str]:
    """The command of a stage whose notebook runs `code`."""
    defaults = "\n".join(f"{name} = {value!r}" for name, value in parameters.items())
    tagged = v4.new_code_cell(defaults, metadata={"tags": ["parameters"]})
    kernel = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}
    source = folder / "source.ipynb"
    nbformat.write(v4.new_notebook(cells=[tagged, v4.new_code_cell(code)], metadata=kernel), source)
    settings = folder / "settings.json"
    settings.write_text(json.dumps({"parameters": parameters}))
    return [*STAGE, str(source), str(folder / out), str(settings)]


def ended(pid: int, seconds: float = 10) -> bool:
    """Whether a process is gone within this time; one that nobody waits for counts as gone."""
    for _ in range(round(10 * seconds)):
        try:
            if Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z":
                return True
        except FileNotFoundError:
            return True
        time.sleep(0.1)
    return False


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_signal_to_the_head_ends_the_command_the_stages_and_their_kernels(tmp_path, number):
    place = tmp_path / "pid"
    head = subprocess.Popen([*RUN, *stage(tmp_path, SLEEPS, place=str(place))])
    while not (place.is_file() and place.read_text()):
        assert head.poll() is None
        time.sleep(0.1)
    head.send_signal(number)
    assert head.wait(60) == 130
    assert ended(int(place.read_text()))


def test_stage_ends_when_its_client_is_killed(tmp_path):
    place, client = tmp_path / "pid", tmp_path / "client"
    script = f"echo $$ > {client}; exec {' '.join(stage(tmp_path, SLEEPS, place=str(place)))}"
    head = subprocess.Popen([*RUN, "sh", "-c", script])
    while not (place.is_file() and place.read_text()):
        assert head.poll() is None
        time.sleep(0.1)
    os.kill(int(client.read_text()), signal.SIGKILL)
    assert head.wait(60)
    assert ended(int(place.read_text()))


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere, no process waits to fork")
def test_process_that_waits_to_fork_kernels_ends_when_the_head_is_killed():
    waits = [sys.executable, "-c", "import time; print('runs', flush=True); time.sleep(60)"]
    head = subprocess.Popen([*RUN, *waits], stdout=subprocess.PIPE, text=True)
    assert head.stdout.readline() == "runs\n"
    children = Path(f"/proc/{head.pid}/task/{head.pid}/children").read_text().split()
    [forking] = [pid for pid in children if b"tomlab.pipeline.kernels" in command(pid)]
    [waiting] = {*children} - {forking}
    head.kill()
    head.wait()
    assert ended(int(forking))
    assert not ended(int(waiting), seconds=0.1)  # a stage may finish what it is at
    os.kill(int(waiting), signal.SIGKILL)


def command(pid: str) -> bytes:
    return Path(f"/proc/{pid}/cmdline").read_bytes()


@pytest.mark.parametrize("is_stopped", [False, True])
def test_run_ends_with_what_it_asked_and_spent(tmp_path, monkeypatch, is_stopped):
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    monkeypatch.setenv("TOMLAB_ROOT", str(tmp_path))
    content = yaml.safe_load((ROOT / "params.yaml").read_text(encoding="utf-8"))
    content["run"] |= {"models": ["toy"], "answers": []}
    answering = [sys.executable, "-c", ASKS]
    with FaultyServer() as server:
        entry = {"provider": "openai", "model": "toy", "base_url": f"{server.url}/v1"}
        content["models"]["toy"] = entry | {"price": {"input": 1e5, "output": 1e5}}
        content["models"]["toy"]["max_concurrency"] = 1
        (tmp_path / "params.yaml").write_text(yaml.safe_dump(content))
        subprocess.run([*answering, "old"], check=True)
        kept = tmp_path / "results" / "responses" / "bigtom" / "toy.parquet"
        before = pd.read_parquet(kept)
        kept.unlink()
        kept.parent.rmdir()
        server.script = [Act(), Act(), Act(wait=60 * is_stopped)]
        head = [*RUN, *answering, "old", "new", "newer", "last"]
        head = subprocess.Popen(head, stdout=subprocess.PIPE, text=True)
        if is_stopped:
            while len(server.asked) < 4:
                assert head.poll() is None
                time.sleep(0.1)
            kept.parent.mkdir(parents=True)
            before.to_parquet(kept)
            head.send_signal(signal.SIGINT)
        [line] = head.communicate(timeout=60)[0].splitlines()
    asked, each = 2 if is_stopped else 3, PROMPT_TOKENS + COMPLETION_TOKENS
    assert f"{asked} answers ({asked * each} tokens, ${asked * each / 10:.2f} " in line
    assert "Kept before, in results/responses: 1 answers" in line


def test_a_second_run_in_the_same_folder_is_refused_in_one_sentence(tmp_path):
    waits = [sys.executable, "-c", "import time; print('runs', flush=True); time.sleep(30)"]
    env = {**os.environ, "TOMLAB_ROOT": str(tmp_path)}
    first = subprocess.Popen([*RUN, *waits], env=env, stdout=subprocess.PIPE, text=True)
    try:
        assert first.stdout.readline() == "runs\n"
        second = subprocess.run(
            [*RUN, "true"], env=env, capture_output=True, text=True, check=False
        )
    finally:
        first.terminate()
        first.wait()
    assert second.returncode == 1
    assert second.stderr.strip().startswith("Another run is under way in this folder.")
