"""Which code, packages and parameters a book is of: at the foot of its pages and in the terminal.

    python -m tomlab.pipeline.versions

Each page loads the lines from one small script, which DVC ignores (`.dvcignore`). So a new commit
changes no file that DVC or git knows, and makes no stage out of date.
"""

import json
import platform
import subprocess
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path

from tomlab.paths import RESULTS, ROOT

# What computes answers, numbers and figures.
PACKAGES = ("numpy", "pandas", "scipy", "scikit-learn", "statsmodels", "seaborn", "xllamacpp")
# What a run itself writes to files that git holds is no local change.
WRITTEN = ("dvc.lock", "docs/figures", "docs/metrics", "docs/notebooks", "docs/tables")
SCRIPT = RESULTS / "book" / "_static" / "versions.js"


def lines(root: Path = ROOT) -> list[str]:
    """Two lines: the commit and the parameters; Python and the main packages. The date is that of
    the commit, so it is the same on every machine. The parameters' hash is the beginning of the
    SHA-256 of `params.yaml`.
    """
    parameters = sha256((root / "params.yaml").read_bytes()).hexdigest()[:12]
    packages = [f"{name} {version(name)}" for name in PACKAGES]
    return [
        f"tomlab {version('tomlab')}, {commit(root)}, params.yaml sha256:{parameters}",
        f"Python {platform.python_version()}, {', '.join(packages)}",
    ]


def commit(root: Path) -> str:
    """The commit with its date, and whether files differ from it, such as "commit 0123456789ab of
    2026-01-31, with local changes"; or that there is none, as in a downloaded archive.
    """
    head = _git(root, "log", "-1", "--no-show-signature", "--abbrev=12", "--format=%h of %cs")
    if head is None:
        return "without a git commit"
    written = [f":!{name}" for name in WRITTEN]
    changes = _git(root, "status", "--porcelain", "--", ".", *written)
    return f"commit {head}, with local changes" if changes else f"commit {head}"


def _git(root: Path, *arguments: str) -> str | None:
    """What git prints; None if it is not installed, or `root` is not the root of a repository."""
    # An archive may be unpacked within another repository, whose commit says nothing of it.
    if not (root / ".git").exists():
        return None
    command = ["git", *arguments]
    try:
        process = subprocess.run(command, cwd=root, capture_output=True, text=True, check=True)
    except (FileNotFoundError, subprocess.CalledProcessError):
        return None
    return process.stdout.strip()


def write(script: Path = SCRIPT, root: Path = ROOT) -> None:
    """Write the script that shows the lines at the foot of each page."""
    text = json.dumps(" · ".join(lines(root)))
    code = f"document.querySelector('.versions').textContent = {text};\n"
    script.write_text(code, encoding="utf-8")


if __name__ == "__main__":
    write()
    print("\n".join(lines()))
