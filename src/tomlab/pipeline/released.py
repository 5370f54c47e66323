"""Fetch the benchmarks' releases, which `released.yaml` lists, into `released/`, and check them.

    python -m tomlab.pipeline.released

`released.lock.yaml` records what was fetched first. A file that has neither the hash in
`released.yaml` nor, where that has none, the recorded one is refused, here and wherever
`source: released` in `params.yaml` names it.
"""

import json
import shutil
import sys
import tarfile
import warnings
from importlib import import_module
from pathlib import Path
from typing import Annotated, TypeVar

from pydantic import Field
from ruamel.yaml import YAML

from tomlab import params
from tomlab.errors import InputError, extra
from tomlab.paths import PACKAGE, RELEASED, ROOT, WORKSPACE, from_root, hash_of

TABLE = ROOT / "released.yaml"
LOCK = WORKSPACE / "released.lock.yaml"

Row = TypeVar("Row", bound=params.Section)
FileName = Annotated[str, params.matches(r"\w[\w.-]*", "the name of a file or folder")]


class Release(params.Section):
    """An entry of `released.yaml`, which explains the fields."""

    address: str
    revision: str
    file: FileName
    licence: str
    sha256: str
    archive_sha256: str = ""
    configs: list[FileName] = Field(default_factory=list)


class Record(params.Section):
    """An entry of `released.lock.yaml`: address and revision as in `released.yaml`, the commit on
    the hub, and the size and SHA-256 of the file or folder (see `paths.hash_of`).
    """

    address: str
    revision: str
    commit: str
    bytes: int
    sha256: str


def main() -> int:
    """Fetch all releases and say for each what it is, or what is wrong. Returns the exit code."""
    code = 0
    records = recorded()
    for benchmark, release in entries(TABLE, Release).items():
        try:
            record = fetch(benchmark, release, records.get(benchmark))
        except InputError as error:
            print(f"{benchmark}: {error}", file=sys.stderr)
            code = 1
            continue
        records[benchmark] = record
        _write(records)
        print(
            f"{benchmark}: {_shown(place_of(benchmark, release))}, {release.licence}, "
            f"{record.bytes:,} bytes, SHA-256 {record.sha256}"
        )
    return code


def source_of(benchmark: str, source: str) -> str:
    """The source that a benchmark's items are made from: the fetched file or folder, as seen from
    the root, if `source` is `released`, and else `source`. Errors: `InputError` if it was not
    fetched or is not the recorded one.
    """
    if source != params.RELEASED:
        return source
    release = entries(TABLE, Release).get(benchmark)
    if release is None:
        raise InputError(f"{TABLE.name}: {benchmark}: expected an entry")
    place = place_of(benchmark, release)
    record = recorded().get(benchmark)
    if not place.exists() or record is None or not is_of(record, release):
        raise InputError(f"{_shown(place)}: not there as {TABLE.name} has it; run make released")
    check_hash(place, release, record)
    return _shown(place)


def recorded() -> dict[str, Record]:
    """The records of `released.lock.yaml` by benchmark; none before the first fetch."""
    return entries(LOCK, Record) if LOCK.exists() else {}


def entries(path: Path, kind: type[Row]) -> dict[str, Row]:
    """The entries of a file by benchmark. Errors: `InputError` that names file, entry and field."""
    rows = {}
    for benchmark, content in params.load(path).items():
        where = f"{path.name}: {benchmark}"
        if not (PACKAGE / "benchmarks" / str(benchmark) / "__init__.py").exists():
            raise InputError(f"{where}: found no benchmark of this name")
        rows[benchmark] = params.checked(kind.model_validate, content, where)
    return rows


def place_of(benchmark: str, release: Release) -> Path:
    """Where the released file or folder stands, or will stand."""
    return RELEASED / benchmark / release.file


def is_of(record: Record, release: Release) -> bool:
    """Whether a record is about the address and revision that `released.yaml` has now."""
    return record.address == release.address and record.revision == release.revision


def fetch(benchmark: str, release: Release, record: Record | None) -> Record:
    """Fetch a release, unless it is there, and check it. Returns its record.

    record: of an earlier fetch, if any. Errors: `InputError` if it cannot be fetched, where what
    has arrived stays and is continued; if a user must enter an address or revision; if it is not
    the expected one; or if the benchmark cannot read it. A refused download is removed; a file
    that was already there stays.
    """
    place = place_of(benchmark, release)
    if record is not None and not is_of(record, release):
        record = None  # so that the file, of another revision, is fetched anew
    elif place.exists():
        return checked(benchmark, release, place, record)
    address = address_of(benchmark, release)
    unfinished = place.parent / "unfinished"
    unfinished.mkdir(parents=True, exist_ok=True)
    commit = ""
    try:
        if address.startswith("http"):
            file = download(address, unfinished)
        else:
            recorded_commit = record.commit if record else ""
            commit = commit_of(address, recorded_commit or release.revision)
            file = from_hub(release, commit, unfinished)
    except InputError as error:
        advice = f"run make released again, or put it at {_shown(place)} by hand"
        raise InputError(f"{address} cannot be fetched: {error}; {advice}") from None
    try:
        file = unpacked(file, release)
        new_record = checked(benchmark, release, file, record)
    except InputError as error:
        shutil.rmtree(unfinished)
        raise InputError(f"{address}: refused and removed: {error}") from None
    if place.is_dir():
        shutil.rmtree(place)
    file.replace(place)
    shutil.rmtree(unfinished)
    return new_record.model_copy(update={"commit": commit})


def address_of(benchmark: str, release: Release) -> str:
    """The address of a release with its revision. Errors: `InputError` if a user must enter one."""
    if not release.address:
        raise InputError(f"{TABLE.name}, field {benchmark}.address: found nothing, expected one")
    if "{revision}" in release.address and not release.revision:
        raise InputError(f"{TABLE.name}, field {benchmark}.revision: found nothing, expected one")
    return release.address.replace("{revision}", release.revision)


def download(address: str, folder: Path) -> Path:
    """Download a file into a folder; what has arrived of it is continued. Errors: `InputError`."""
    with extra("compendium"):
        import httpx2

    path = folder / address.rpartition("/")[2]
    # Unpacked on the way, a file could not be continued.
    headers = {"Accept-Encoding": "identity"}
    client = httpx2.Client(timeout=30, follow_redirects=True)
    if path.exists():
        headers["Range"] = f"bytes={path.stat().st_size}-"
    try:
        with client, client.stream("GET", address, headers=headers) as response:
            if response.status_code == httpx2.codes.RANGE_NOT_SATISFIABLE:
                return path  # nothing was lacking
            response.raise_for_status()
            is_continued = response.status_code == httpx2.codes.PARTIAL_CONTENT
            with path.open("ab" if is_continued else "wb") as file:
                for part in response.iter_bytes():
                    file.write(part)
    except (OSError, httpx2.HTTPError, httpx2.InvalidURL) as error:
        raise InputError(one_line(error)) from None
    return path


def commit_of(dataset: str, revision: str) -> str:
    """The commit of a dataset's revision on the hub, of its newest if `revision` is ""; "" if
    `dataset` is a folder. Errors: `InputError`.
    """
    with extra("compendium"):
        import httpx2
        import huggingface_hub

    if from_root(dataset).is_dir():
        return ""
    try:
        return huggingface_hub.HfApi().dataset_info(dataset, revision=revision or None).sha or ""
    except (OSError, ValueError, httpx2.HTTPError) as error:
        raise InputError(one_line(error)) from None


def from_hub(release: Release, commit: str, folder: Path) -> Path:
    """Fetch a dataset at a commit of the hub (or from a folder, see `commit_of`) and write its
    configs, as `<config>/test.jsonl`, into a folder in `folder`, which is returned. Files that
    have arrived are in the hub's cache. Errors: `InputError`.
    """
    with extra("compendium"):
        import datasets  # takes seconds
        import httpx2

    address = release.address if commit else str(from_root(release.address))
    target = folder / release.file
    for config in release.configs:
        try:
            rows = datasets.load_dataset(address, config, split="test", revision=commit or None)
        except (OSError, ValueError, httpx2.HTTPError, datasets.exceptions.DatasetsError) as error:
            raise InputError(f"{config}: {one_line(error)}") from None
        lines = [json.dumps(row, ensure_ascii=False) + "\n" for row in rows]
        path = target / config / "test.jsonl"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("".join(lines), encoding="utf-8")
    return target


def unpacked(archive: Path, release: Release) -> Path:
    """The file of an archive that `release.file` names, unpacked beside it; what is no archive is
    returned as it is. Errors: `InputError` if the archive is not the expected one.
    """
    if archive.is_dir() or not tarfile.is_tarfile(archive):
        return archive
    sha256 = hash_of(archive)
    if release.archive_sha256 and sha256 != release.archive_sha256:
        expected = f"expected {release.archive_sha256} ({TABLE.name})"
        raise InputError(f"{archive.name}: found SHA-256 {sha256}, {expected}")
    target = archive.with_name(release.file)
    with tarfile.open(archive) as tar:
        for member in tar:
            content = tar.extractfile(member)
            if content is not None and Path(member.name).name == release.file:
                target.write_bytes(content.read())
                return target
    raise InputError(f"{archive.name}: found no {release.file} in it")


def checked(benchmark: str, release: Release, file: Path, record: Record | None) -> Record:
    """Check a file or folder and return its record, without a commit unless `record` has one.
    Errors: `InputError` if it is not the expected one, or if the benchmark cannot read it.
    """
    sha256 = check_hash(file, release, record)
    if record is not None and record.sha256 == sha256:
        return record
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the notebook of the generation shows them
        import_module(f"tomlab.benchmarks.{benchmark}").read_released(file)
    files = [file] if file.is_file() else file.rglob("*.jsonl")
    return Record(
        address=release.address,
        revision=release.revision,
        commit=record.commit if record else "",
        bytes=sum(path.stat().st_size for path in files),
        sha256=sha256,
    )


def check_hash(file: Path, release: Release, record: Record | None) -> str:
    """The SHA-256 of a file or folder. Errors: `InputError` if it is not the expected one."""
    sha256 = hash_of(file)
    expected = release.sha256
    origin = TABLE.name
    if not expected and record is not None:
        expected = record.sha256
        origin = LOCK.name
    if expected and sha256 != expected:
        raise InputError(
            f"{_shown(file)}: found SHA-256 {sha256}, expected {expected} ({origin}); enter it as "
            f"sha256 in {TABLE.name} if it is meant, or remove the file and run make released"
        )
    return sha256


def one_line(error: Exception) -> str:
    """The beginning of an error's message."""
    return " ".join(str(error).split())[:200]


def _shown(path: Path) -> str:
    return path.relative_to(RELEASED.parent).as_posix()


def _write(records: dict[str, Record]) -> None:
    yaml = YAML(typ="safe", pure=True)
    yaml.default_flow_style = False
    content = {benchmark: record.model_dump() for benchmark, record in records.items()}
    yaml.dump(content, LOCK)


if __name__ == "__main__":
    try:
        sys.exit(main())
    except InputError as error:
        sys.exit(f"\n{error}\n")
