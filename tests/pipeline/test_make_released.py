"""`make released` fetches what its table lists, continues it, and accepts nothing but what it expects;
`source: released` stands for what was fetched.
"""

import io
import json
import tarfile
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import datasets
import huggingface_hub
import pytest
import yaml

from simpletom_release import CONFIGS, write_release
from simpletom_stories import stories
from tomlab import params, paths
from tomlab.benchmarks import simpletom
from tomlab.errors import InputError
from tomlab.pipeline import released, settings

TEMPLATE, SECOND, *_ = (paths.DATA / "bigtom/bigtom.csv").read_bytes().splitlines(keepends=True)
CHANGED = TEMPLATE + SECOND
# From a host at which nothing listens.
NOWHERE = "http://127.0.0.1:9/bigtom.csv"


class Server(ThreadingHTTPServer):
    """Serves `files` by path, from the byte that is asked for. It keeps the ranges it was asked for,
    and closes the connection after `most` bytes.
    """

    daemon_threads = True

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.files: dict[str, bytes] = {}
        self.asked: list[str | None] = []
        self.most: int | None = None
        self.ranges = True

    def address(self, name: str) -> str:
        return f"http://127.0.0.1:{self.server_port}/{name}"


class Handler(BaseHTTPRequestHandler):
    server: Server

    def do_GET(self):
        wanted = self.headers["Range"]
        self.server.asked.append(wanted)
        content = self.server.files.get(self.path.removeprefix("/"))
        if content is None:
            self.send_error(404)
            return
        start = 0
        if wanted and self.server.ranges:
            start = int(wanted.removeprefix("bytes=").removesuffix("-"))
        if start >= len(content):
            self.send_error(416)
            return
        self.send_response(206 if start else 200)
        self.send_header("Content-Length", str(len(content) - start))
        self.end_headers()
        self.wfile.write(content[start:][: self.server.most])

    def log_message(self, *_):
        pass


@pytest.fixture
def server():
    with Server() as server:
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        yield server
        server.shutdown()


@pytest.fixture
def root(tmp_path, monkeypatch):
    """A project of its own, with an empty table."""
    monkeypatch.setattr(released, "TABLE", tmp_path / "released.yaml")
    monkeypatch.setattr(released, "LOCK", tmp_path / "released.lock.yaml")
    monkeypatch.setattr(released, "RELEASED", tmp_path / "released")
    monkeypatch.setattr(paths, "WORKSPACE", tmp_path)
    return tmp_path


def tabulate(**entries) -> None:
    """Write the table: entries by benchmark, as they differ from these."""
    entry = {"revision": "", "file": "bigtom.csv", "licence": "MIT", "sha256": ""}
    content = {name: entry | changes for name, changes in entries.items()}
    released.TABLE.write_text(yaml.safe_dump(content), encoding="utf-8")


def sha256(content: bytes, folder: Path) -> str:
    path = folder / "hashed"
    path.write_bytes(content)
    return paths.hash_of(path)


def records() -> dict:
    return yaml.safe_load(released.LOCK.read_text(encoding="utf-8"))


def archive(files: dict[str, bytes]) -> bytes:
    target = io.BytesIO()
    with tarfile.open(fileobj=target, mode="w:gz") as tar:
        for name, content in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            tar.addfile(member, io.BytesIO(content))
    return target.getvalue()


# Fetching


def test_the_projects_own_table_is_right():
    table = released.entries(released.TABLE, released.Release)
    assert [*table] == ["bigtom", "fantom", "omnitom", "simpletom"]
    for benchmark, release in table.items():
        assert released.address_of(benchmark, release)


def test_a_file_is_fetched_recorded_and_not_fetched_again(server, root, capsys):
    server.files = {"v1/bigtom.csv": TEMPLATE}
    tabulate(bigtom={"address": server.address("{revision}/bigtom.csv"), "revision": "v1"})
    assert released.main() == released.main() == 0
    assert server.asked == [None]
    assert (root / "released" / "bigtom" / "bigtom.csv").read_bytes() == TEMPLATE
    assert [*(root / "released" / "bigtom").iterdir()] == [root / "released/bigtom/bigtom.csv"]
    record = records()["bigtom"]
    assert record["sha256"] == sha256(TEMPLATE, root)
    assert record["bytes"] == len(TEMPLATE)
    first, second = capsys.readouterr().out.splitlines()
    assert first == second
    for part in ("bigtom", "MIT", f"{len(TEMPLATE):,} bytes", record["sha256"]):
        assert part in first


def test_what_was_interrupted_is_continued(server, root, capsys):
    server.files = {"bigtom.csv": TEMPLATE}
    tabulate(bigtom={"address": server.address("bigtom.csv")})
    server.most = 100
    assert released.main() == 1
    assert "run make released again" in capsys.readouterr().err
    server.most = None
    assert released.main() == 0
    assert server.asked == [None, "bytes=100-"]
    assert (root / "released/bigtom/bigtom.csv").read_bytes() == TEMPLATE


def test_a_server_that_does_not_continue_sends_all_of_it(server, root):
    server.files = {"bigtom.csv": TEMPLATE}
    server.ranges = False
    tabulate(bigtom={"address": server.address("bigtom.csv")})
    server.most = 100
    assert released.main() == 1
    server.most = None
    assert released.main() == 0
    assert (root / "released/bigtom/bigtom.csv").read_bytes() == TEMPLATE


def test_what_had_arrived_in_full_is_used(server, root):
    server.files = {"bigtom.csv": TEMPLATE}
    tabulate(bigtom={"address": server.address("bigtom.csv")})
    part = root / "released" / "bigtom" / "unfinished" / "bigtom.csv"
    part.parent.mkdir(parents=True)
    part.write_bytes(TEMPLATE)
    assert released.main() == 0
    assert server.asked == [f"bytes={len(TEMPLATE)}-"]


def test_of_an_archive_the_file_is_unpacked(server, root):
    [question_set] = json.loads((paths.DATA / "fantom" / "fantom.json").read_bytes())[:1]
    content = json.dumps([question_set]).encode()
    server.files = {"fantom.tar.gz": archive({"a/README": b"-", "a/fantom_v1.json": content})}
    entry = {
        "address": server.address("fantom.tar.gz"),
        "file": "fantom_v1.json",
        "archive_sha256": sha256(server.files["fantom.tar.gz"], root),
    }
    tabulate(fantom=entry)
    assert released.main() == 0
    assert (root / "released/fantom/fantom_v1.json").read_bytes() == content
    assert records()["fantom"]["sha256"] == sha256(content, root)


def test_a_hub_dataset_becomes_the_folder_that_the_reader_takes(root, monkeypatch):
    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", str(root / "cache"))
    hub = write_release(root / "hub", stories({}))
    configs = [
        {"config_name": config, "data_files": [{"split": "test", "path": f"{config}/test.jsonl"}]}
        for config in CONFIGS.values()
    ]
    card = f"---\n{yaml.safe_dump({'configs': configs})}---\n"
    (hub / "README.md").write_text(card, encoding="utf-8")
    entry = {"address": str(hub), "file": "questions", "configs": [*CONFIGS.values()]}
    tabulate(simpletom=entry)
    assert released.main() == 0
    items = simpletom.read_released(root / "released" / "simpletom" / "questions")
    expected = simpletom.read_released(hub)
    assert items.drop(columns="source").equals(expected.drop(columns="source"))


def test_a_dataset_has_the_commit_that_the_hub_says(server, monkeypatch):
    monkeypatch.setattr(huggingface_hub.constants, "ENDPOINT", server.address("hub"))
    server.files["hub/api/datasets/me/mine"] = b'{"id": "me/mine", "sha": "c0ffee"}'
    server.files["hub/api/datasets/me/mine/revision/v1"] = b'{"id": "me/mine", "sha": "decade"}'
    assert released.commit_of("me/mine", "") == "c0ffee"
    assert released.commit_of("me/mine", "v1") == "decade"
    with pytest.raises(InputError, match="404"):
        released.commit_of("me/other", "")
    monkeypatch.setattr(huggingface_hub.constants, "ENDPOINT", "http://127.0.0.1:9")
    with pytest.raises(InputError, match="refused"):
        released.commit_of("me/mine", "")


def test_a_record_without_a_commit_leaves_the_revision_to_the_table(root, monkeypatch):
    """Such is the record of a copy that was put there by hand."""
    revisions = []

    def commit_of(_, revision):
        revisions.append(revision)
        raise InputError("no network")

    monkeypatch.setattr(released, "commit_of", commit_of)
    origin = {"address": "me/mine", "revision": "v1", "sha256": ""}
    release = released.Release(**origin, file="questions", licence="MIT")
    record = released.Record(**origin, commit="", bytes=1)
    with pytest.raises(InputError, match="no network"):
        released.fetch("simpletom", release, record)
    assert revisions == ["v1"]


# What is refused


def test_without_network_each_benchmark_says_what_to_do_and_the_others_go_on(server, root, capsys):
    content = (paths.DATA / "omnitom" / "stories.jsonl").read_bytes().splitlines()[0]
    server.files = {"stories.jsonl": content}
    tabulate(
        bigtom={"address": NOWHERE},
        fantom={"address": server.address("{revision}/fantom.json"), "file": "fantom.json"},
        omnitom={"address": server.address("stories.jsonl"), "file": "stories.jsonl"},
    )
    assert released.main() == 1
    said = capsys.readouterr()
    no_network, no_revision = said.err.splitlines()
    assert no_network.startswith(f"bigtom: {NOWHERE} cannot be fetched")
    assert "released/bigtom/bigtom.csv" in no_network
    assert "released.yaml, field fantom.revision" in no_revision
    assert said.out.startswith("omnitom: ")


def test_a_file_that_a_user_puts_there_needs_no_network(root):
    tabulate(bigtom={"address": NOWHERE})
    place = root / "released" / "bigtom" / "bigtom.csv"
    place.parent.mkdir(parents=True)
    place.write_bytes(TEMPLATE)
    assert released.main() == 0
    assert records()["bigtom"]["sha256"] == sha256(TEMPLATE, root)


def test_a_user_s_file_with_another_hash_is_refused_and_stays(root, capsys):
    tabulate(bigtom={"address": NOWHERE, "sha256": "0" * 64})
    place = root / "released" / "bigtom" / "bigtom.csv"
    place.parent.mkdir(parents=True)
    place.write_bytes(TEMPLATE)
    assert released.main() == 1
    assert f"found SHA-256 {sha256(TEMPLATE, root)}, expected {'0' * 64}" in capsys.readouterr().err
    assert place.exists()
    assert not released.LOCK.exists()


PAGE = b"<html><body>503 Service Unavailable</body></html>"


@pytest.mark.parametrize("entry", [{}, {"sha256": "0" * 64}, {"archive_sha256": "0" * 64}])
def test_an_error_page_is_not_used(entry, server, root, capsys):
    server.files = {"bigtom.csv": PAGE}
    tabulate(bigtom={"address": server.address("bigtom.csv"), **entry})
    assert released.main() == 1
    assert "bigtom.csv" in capsys.readouterr().err
    assert [*(root / "released" / "bigtom").iterdir()] == []
    server.files = {"bigtom.csv": TEMPLATE}
    tabulate(bigtom={"address": server.address("bigtom.csv")})
    assert released.main() == 0
    assert server.asked == [None, None]


def test_an_archive_without_the_file_is_refused(server, root, capsys):
    server.files = {"fantom.tar.gz": archive({"README": b"-"})}
    hashed = sha256(server.files["fantom.tar.gz"], root)
    address = server.address("fantom.tar.gz")
    tabulate(fantom={"address": address, "file": "fantom_v1.json", "archive_sha256": hashed})
    assert released.main() == 1
    assert "fantom.tar.gz: found no fantom_v1.json" in capsys.readouterr().err


def test_another_file_at_the_address_is_refused(server, root, capsys):
    server.files = {"bigtom.csv": TEMPLATE}
    tabulate(bigtom={"address": server.address("bigtom.csv")})
    assert released.main() == 0
    place = root / "released" / "bigtom" / "bigtom.csv"
    place.unlink()
    server.files["bigtom.csv"] = CHANGED
    assert released.main() == 1
    found, expected = sha256(CHANGED, root), sha256(TEMPLATE, root)
    said = capsys.readouterr().err
    assert f"found SHA-256 {found}, expected {expected} (released.lock.yaml)" in said
    assert not place.exists()
    # The researcher says that the other is meant.
    tabulate(bigtom={"address": server.address("bigtom.csv"), "sha256": found})
    assert released.main() == 0
    assert records()["bigtom"]["sha256"] == found


def test_another_revision_is_fetched_in_place_of_the_first(server, root):
    server.files = {"v1/bigtom.csv": TEMPLATE, "v2/bigtom.csv": CHANGED}
    entry = {"address": server.address("{revision}/bigtom.csv"), "revision": "v1"}
    tabulate(bigtom=entry)
    assert released.main() == 0
    tabulate(bigtom=entry | {"revision": "v2"})
    with pytest.raises(InputError, match="run make released"):
        released.source_of("bigtom", "released")
    assert released.main() == 0
    assert (root / "released/bigtom/bigtom.csv").read_bytes() == CHANGED
    assert records()["bigtom"]["revision"] == "v2"


@pytest.mark.parametrize(
    ("benchmark", "changes", "message"),
    [
        (
            "bigtom",
            {"file": "../bigtom.csv"},
            "field file: found '../bigtom.csv', expected the name",
        ),
        ("bigtom", {"sha265": ""}, "did you mean 'sha256'"),
        ("bigtim", {}, "bigtim: found no benchmark"),
    ],
)
def test_a_faulty_table_is_refused(benchmark, changes, message, root):
    tabulate(**{benchmark: {"address": NOWHERE, **changes}})
    with pytest.raises(InputError, match=message):
        released.entries(released.TABLE, released.Release)


# `source: released`


@pytest.fixture
def fetched(root):
    """BigToM's file, put there by hand, and the parameters with `source: released`."""
    tabulate(bigtom={"address": NOWHERE})
    place = root / "released" / "bigtom" / "bigtom.csv"
    place.parent.mkdir(parents=True)
    place.write_bytes(TEMPLATE)
    content = params.load()
    content["run"]["benchmarks"] = {"bigtom": content["run"]["benchmarks"]["bigtom"]}
    content["run"]["benchmarks"]["bigtom"]["source"] = "released"
    path = root / "params.yaml"
    path.write_text(yaml.safe_dump(content), encoding="utf-8")
    return path, place


def test_a_stage_reads_what_was_fetched_and_its_hash(fetched, root):
    path, place = fetched
    with pytest.raises(InputError, match=r"released/bigtom/bigtom.csv: .* run make released"):
        settings.check(path)
    assert released.main() == 0
    read = settings.read_by_stages(settings.check(path))["1_generation/bigtom"]
    assert read["parameters"]["source"] == "released/bigtom/bigtom.csv"
    assert paths.user_path(read["parameters"]["source"]) == place
    assert read["files"]["released/bigtom/bigtom.csv"] == sha256(TEMPLATE, root)


def test_no_stage_reads_what_was_changed_since(fetched):
    path, place = fetched
    assert released.main() == 0
    place.write_bytes(CHANGED)
    with pytest.raises(InputError, match=r"found SHA-256 .* expected .*released.lock.yaml"):
        settings.check(path)


def test_a_benchmark_that_the_table_lacks_is_named(root):
    tabulate()
    with pytest.raises(InputError, match=r"released.yaml: bigtom: expected an entry"):
        released.source_of("bigtom", "released")
