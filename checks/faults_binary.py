"""What is no text and yet handed in, broken: the archive of FANToM's release, Parquet tables."""

import gzip
import io
import tarfile
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from typing import Any

import pandas as pd
from faults_samples import Case, samples

from tomlab.benchmarks import bigtom
from tomlab.benchmarks.fantom.items import sets
from tomlab.paths import DATA
from tomlab.records import tidy

# Archives


def archives(folder: Path) -> Iterator[Case]:
    """fantom.tar.gz in every bad form; as the released one and as any archive."""
    [good] = [one for name, one in samples().items() if name == "fantom_v1.json"]
    content = good.files[good.path]

    def member(name: str, body: bytes = content, **kind: Any) -> tuple[tarfile.TarInfo, bytes]:
        info = tarfile.TarInfo(name)
        info.size = len(body)
        for option, value in kind.items():
            setattr(info, option, value)
        return info, body

    def packed(*members: tuple[tarfile.TarInfo, bytes]) -> bytes:
        raw = io.BytesIO()
        with tarfile.open(fileobj=raw, mode="w:gz") as tar:
            for info, body in members:
                tar.addfile(info, io.BytesIO(body))
        return raw.getvalue()

    link = {"type": tarfile.SYMTYPE, "linkname": "/etc/passwd", "size": 0}
    hard = {"type": tarfile.LNKTYPE, "linkname": "../x", "size": 0}
    whole = packed(member("fantom/fantom_v1.json"))
    bomb = gzip.compress(bytes(512), 9)
    odd = {
        "cut": whole[: len(whole) // 2],
        "cut by a byte": whole[:-1],
        "a wrong sum": whole[:-8] + bytes(8),
        "not gzip": content,
        "a gzip without a tar": gzip.compress(content),
        "empty": packed(),
        "a link": packed(member("fantom_v1.json", b"", **link)),
        "a hard link": packed(member("fantom_v1.json", b"", **hard)),
        "a device": packed(member("fantom_v1.json", b"", type=tarfile.CHRTYPE)),
        "a folder": packed(member("fantom_v1.json", b"", type=tarfile.DIRTYPE)),
        "two of the name": packed(member("a/fantom_v1.json"), member("b/fantom_v1.json")),
        "no JSON": packed(member("readme.txt")),
        "bad JSON": packed(member("fantom_v1.json", content[:-9])),
        "a bomb": packed(member("fantom_v1.json", bytes(600_000_000))),
        "noise after gzip's head": bomb[:10] + Random(0).randbytes(500),
    }
    for what, archive in odd.items():

        def read(archive: bytes = archive) -> Any:
            folder.mkdir(exist_ok=True)
            path = folder / "fantom.tar.gz"
            path.write_bytes(archive)
            return sets.read_sets(path)

        yield Case(f"fantom.tar.gz: {what}", read, ("fantom.tar.gz",))

    def outside() -> None:
        """Paths that lead out are read where they are, and nothing is written."""
        folder.mkdir(exist_ok=True)
        path = folder / "fantom.tar.gz"
        members = [member("../../evil.json"), member("/tmp/evil-fantom.json")]
        path.write_bytes(packed(*members))
        before = {*folder.parent.rglob("*")}
        try:
            sets.read_sets(path)
        finally:
            assert before == {*folder.parent.rglob("*")}
            assert not Path("/tmp/evil-fantom.json").exists()

    yield Case("any fantom.tar.gz: paths that lead out", outside, ("fantom.tar.gz",))


# Parquet


def parquet(folder: Path) -> Iterator[Case]:
    """Tables between stages that somebody changed."""
    items = bigtom.read_released(DATA / "bigtom/templates.csv").head(6).astype({"answer": str})
    answer = ["b1", "m", "0-shot", 0]
    score = pd.DataFrame(
        [[*answer, "g", "correct", 1.0], ["b2", *answer[1:], "g", "wrong", 0.0]],
        columns=["item_id", "model", "method", "sample", "group_id", "outcome", "score"],
    )
    metric = pd.DataFrame(
        [["bigtom", "m", "0-shot", "accuracy", "all", 0.5, 0.4, 0.6, "Clopper-Pearson", 9, 3]],
        columns=[*tidy.SCHEMAS["metrics"].columns],
    )

    def handed_in(kind: str, found: pd.DataFrame | bytes) -> Callable[[], Any]:
        def read() -> Any:
            folder.mkdir(exist_ok=True)
            path = folder / f"{kind}.parquet"
            path.unlink(missing_ok=True)
            if isinstance(found, bytes):
                path.write_bytes(found)
            else:
                found.to_parquet(path, index=False)
            return tidy.read(kind, path)

        return read

    for kind, good in {"items": items, "scores": score, "metrics": metric}.items():
        raw = good.to_parquet(index=False)
        odd: dict[str, Any] = {
            "empty file": b"",
            "cut": raw[: len(raw) // 2],
            "cut at its end": raw[:-3],
            "noise in it": raw[:40] + Random(0).randbytes(300) + raw[340:],
            "CSV": good.to_csv().encode(),
            "doubled rows": pd.concat([good, good]),
        }
        for column in [name for name in good if name in tidy.SCHEMAS[kind].columns]:
            odd[f"{column} missing"] = good.drop(columns=column)
            odd[f"{column} misspelt"] = good.rename(columns={column: f"{column}x"})
            if column not in ("choices", "answer"):
                odd[f"{column} null"] = good.assign(**{column: None})
                numbers = pd.api.types.is_numeric_dtype(good[column])
                odd[f"{column} of another type"] = good.assign(**{column: "7" if numbers else 7})
                if numbers:
                    odd[f"{column} infinite"] = good.assign(**{column: float("inf")})
                    odd[f"{column} NaN"] = good.assign(**{column: float("nan")})
                    if column not in ("value", "ci_low", "ci_high"):
                        odd[f"{column} negative"] = good.assign(**{column: -good[column] - 1})
        for what, found in odd.items():
            column = what.split()[0] if what.split()[0] in good else ""
            yield Case(
                f"{kind}.parquet: {what}", handed_in(kind, found), (f"{kind}.parquet", column)
            )
