"""Hold a run against a recorded one: has a refactoring changed a result?

    python checks/same_results.py REVISION

Compares what the pipeline last wrote in this checkout with what was committed at a git revision:

- `dvc.lock`: the MD5 of every out but executed notebooks;
- `docs/figures`, `docs/tables`, `docs/metrics`: every byte;
- `docs/notebooks`: markdown and outputs, cell by cell; the code in the cells may differ.

Prints what differs and exits with 1 if anything does. A file that bears another name but the same
content is told as renamed and does not count.
"""

import difflib
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from hashlib import md5
from pathlib import Path

import nbformat
import yaml

ROOT = Path(__file__).resolve().parents[1]
BYTES = ("docs/figures", "docs/tables", "docs/metrics")
MOST_LINES = 12  # of a difference between notebooks


def recorded(revision: str, folder: Path) -> Path:
    """The `dvc.lock` and `docs/` of a git revision, unpacked into `folder`."""
    archive = folder / "recorded.zip"
    command = ["git", "archive", "-o", str(archive), revision, "dvc.lock", "docs"]
    subprocess.run(command, cwd=ROOT, check=True)
    shutil.unpack_archive(archive, folder)
    return folder


def outs(root: Path) -> dict[str, str]:
    """The MD5 of every out of every stage but executed notebooks, by path."""
    stages = yaml.safe_load((root / "dvc.lock").read_text(encoding="utf-8"))["stages"]
    return {
        out["path"]: out["md5"]
        for stage in stages.values()
        for out in stage.get("outs", [])
        if "notebooks" not in out["path"]
    }


def files(root: Path, folders: Iterable[str]) -> dict[str, str]:
    """The MD5 of every file below the folders, by path."""
    paths = (p for folder in folders for p in sorted((root / folder).rglob("*")) if p.is_file())
    return {str(p.relative_to(root)): md5(p.read_bytes()).hexdigest() for p in paths}


def taken_apart(now: dict[str, str], was: dict[str, str]) -> dict[str, str]:
    """Outs as they are; a folder that was no out before, as the files in it."""
    new = [path for path, digest in now.items() if path not in was and digest.endswith(".dir")]
    kept = {path: digest for path, digest in now.items() if path not in new}
    return kept | files(ROOT, new)


def compare(was: dict[str, str], now: dict[str, str]) -> tuple[list[str], list[str]]:
    """Sentences on what differs, and on what was only renamed."""
    gone, new = set(was) - set(now), set(now) - set(was)
    by_content = {now[path]: path for path in sorted(new)}
    renamed = {path: by_content[was[path]] for path in gone if was[path] in by_content}
    faults = [f"{path}: changed" for path in sorted(set(was) & set(now)) if was[path] != now[path]]
    faults += [f"{path}: gone" for path in sorted(gone - set(renamed))]
    faults += [f"{path}: new" for path in sorted(new - set(renamed.values()))]
    return faults, [f"{old} is now {name}" for old, name in sorted(renamed.items())]


def shown(path: Path) -> list[str]:
    """What a reader sees of a notebook but its code: markdown and outputs, as lines."""
    lines: list[str] = []
    for cell in nbformat.read(path, as_version=4).cells:
        if cell.cell_type == "markdown":
            lines += cell.source.splitlines()
        for output in cell.get("outputs", []):
            content = output.get("data") or {"text": output.get("text", "")}
            for kind, text in sorted(content.items()):
                lines += [f"[{kind}] {line}" for line in str(text).splitlines()]
    return lines


def notebook_differences(was: Path, now: Path) -> list[str]:
    """The first lines that differ in each notebook that two `docs/notebooks` both hold."""
    found = []
    for path in sorted(was.rglob("*.ipynb")):
        twin = now / path.relative_to(was)
        if not twin.exists():
            found.append(f"docs/notebooks/{path.relative_to(was)}: gone")
            continue
        lines = difflib.unified_diff(shown(path), shown(twin), lineterm="", n=0)
        changed = [line for line in lines if not line.startswith(("---", "+++", "@@"))]
        if changed:
            told = [f"    {line[:160]}" for line in changed[:MOST_LINES]]
            more = [f"    … {len(changed) - MOST_LINES} more lines"] * (len(changed) > MOST_LINES)
            name = f"docs/notebooks/{path.relative_to(was)}: {len(changed)} lines differ"
            found.append("\n".join([name, *told, *more]))
    return found


def main(revision: str) -> int:
    """0 where nothing differs, else 1."""
    with tempfile.TemporaryDirectory() as folder:
        before = recorded(revision, Path(folder))
        was, documents = outs(before), files(before, BYTES)
        differing, renamed = compare(was, taken_apart(outs(ROOT), was))
        more, also = compare(documents, files(ROOT, BYTES))
        notebooks = notebook_differences(before / "docs/notebooks", ROOT / "docs/notebooks")
        compared = f"{len(was)} outs, {len(documents)} documents"
    for line in renamed + also:
        print(f"renamed: {line}")
    for line in differing + more + notebooks:
        print(line)
    faults = len(differing + more + notebooks)
    print(f"{compared} and the notebooks held against {revision}: {faults} differ")
    return 1 if faults else 0


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    sys.exit(main(sys.argv[1]))
