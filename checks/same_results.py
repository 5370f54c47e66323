"""Has a change of the code changed a result? Compares a run with one that git recorded.

    python checks/same_results.py [REVISION]

Without a revision it is the frozen one. By the hashes in `dvc.lock` and `data.dvc` these are
compared, file by file where DVC still has the list of a folder:

- results/{raw,items,responses,scores,metrics};
- the kept answers in data/answers, and with them the key of every request that was asked;
- where a table of responses is another one, the keys of its requests.

Prints what differs and exits with 1 if anything does.
"""

import json
import subprocess
import sys
from pathlib import Path

import pandas as pd
import yaml

ROOT = Path(__file__).resolve().parents[1]
FROZEN = "2f72832"
KINDS = ("raw", "items", "responses", "scores", "metrics")


def stored(md5: str) -> Path | None:
    """Where DVC has an object: in the cache or in the repository's own store."""
    for folder in (".dvc/cache", ".dvcstore"):
        path = ROOT / folder / "files" / "md5" / md5[:2] / md5[2:]
        if path.is_file():
            return path
    return None


def outs(read) -> dict[str, str]:
    """The MD5 of every file that is compared, by its path. read: gives the text of a file."""
    outs_of_run = yaml.safe_load(read("data.dvc"))["outs"]
    for stage in yaml.safe_load(read("dvc.lock"))["stages"].values():
        outs_of_run += stage.get("outs", [])
    hashes = {}
    for out in outs_of_run:
        path = out["path"]
        listing = stored(out["md5"]) if out["md5"].endswith(".dir") else None
        if listing is None:
            hashes[path] = out["md5"]
        else:
            for file in json.loads(listing.read_text()):
                hashes[f"{path}/{file['relpath']}"] = file["md5"]
    compared = (*(f"results/{kind}/" for kind in KINDS), "data/answers/")
    return {path: md5 for path, md5 in hashes.items() if path.startswith(compared)}


def keys(md5: str) -> set[str] | None:
    """The keys of the requests in a table of responses; None where DVC has it no more."""
    path = stored(md5)
    return None if path is None else set(pd.read_parquet(path, columns=["request_key"]).squeeze())


def differences(was: dict[str, str], now: dict[str, str]) -> list[str]:
    """What differs, a line each."""
    lines = []
    for path in sorted(was.keys() | now.keys()):
        if path not in now:
            lines.append(f"{path}: gone")
        elif path not in was:
            lines.append(f"{path}: new")
        elif was[path] != now[path]:
            line = f"{path}: changed"
            if path.startswith("results/responses/"):
                line += f", {number_of_keys(was[path], now[path])} request keys differ"
            lines.append(line)
    return lines


def number_of_keys(old_md5: str, new_md5: str) -> int | str:
    """How many requests stand in one of two tables of responses alone."""
    old_keys = keys(old_md5)
    new_keys = keys(new_md5)
    if old_keys is None or new_keys is None:
        return "an unknown number of"
    return len(old_keys ^ new_keys)


def main(revision: str = FROZEN) -> int:
    """0 where nothing differs, else 1."""

    def recorded(name: str) -> str:
        command = ["git", "show", f"{revision}:{name}"]
        return subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout

    was = outs(recorded)
    now = outs(lambda name: (ROOT / name).read_text(encoding="utf-8"))
    lines = differences(was, now)
    print(*lines, f"{len(was)} files of {revision} compared: {len(lines)} differ", sep="\n")
    return int(bool(lines))


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:2]))
