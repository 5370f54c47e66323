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
    places = (ROOT / folder / "files" / "md5" for folder in (".dvc/cache", ".dvcstore"))
    return next((p for place in places if (p := place / md5[:2] / md5[2:]).is_file()), None)


def outs(read) -> dict[str, str]:
    """The MD5 of every file that is compared, by its path. read: gives the text of a file."""
    stages = yaml.safe_load(read("dvc.lock"))["stages"].values()
    named = [out for stage in stages for out in stage.get("outs", [])]
    named += yaml.safe_load(read("data.dvc"))["outs"]
    found = {}
    for path, md5 in ((out["path"], out["md5"]) for out in named):
        listed = stored(md5) if md5.endswith(".dir") else None
        files = json.loads(listed.read_text()) if listed else []
        found |= {f"{path}/{file['relpath']}": file["md5"] for file in files} or {path: md5}
    compared = (*(f"results/{kind}/" for kind in KINDS), "data/answers/")
    return {path: md5 for path, md5 in found.items() if path.startswith(compared)}


def keys(md5: str | None) -> set[str] | None:
    """The keys of the requests in a table of responses; None where DVC has it no more."""
    path = stored(md5) if md5 else None
    return None if path is None else set(pd.read_parquet(path, columns=["request_key"]).squeeze())


def differences(was: dict[str, str], now: dict[str, str]) -> list[str]:
    """What differs, a line each."""
    told = []
    for path in sorted(was.keys() | now.keys()):
        if path not in now or path not in was:
            told.append(f"{path}: {'new' if path in now else 'gone'}")
        elif was[path] != now[path]:
            told.append(f"{path}: changed")
            if path.startswith("results/responses/"):
                before, after = keys(was[path]), keys(now[path])
                known = before is not None and after is not None
                count = len(before ^ after) if known else "an unknown number of"
                told[-1] += f", {count} request keys differ"
    return told


def main(revision: str = FROZEN) -> int:
    """0 where nothing differs, else 1."""

    def recorded(name: str) -> str:
        command = ["git", "show", f"{revision}:{name}"]
        return subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout

    was, now = outs(recorded), outs(lambda name: (ROOT / name).read_text(encoding="utf-8"))
    told = differences(was, now)
    print(*told, f"{len(was)} files of {revision} compared: {len(told)} differ", sep="\n")
    return int(bool(told))


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:2]))
