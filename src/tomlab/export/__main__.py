"""`python -m tomlab.export` writes a run as logs of Inspect: see docs/exports.md."""

import shutil
import sys

from tomlab import paths
from tomlab.errors import InputError
from tomlab.export import inspect


def main() -> int:
    """Replace `results/exports/inspect`: 0, or 1 with one clear message."""
    folder = paths.RESULTS / "exports" / "inspect"
    try:
        shutil.rmtree(folder, ignore_errors=True)
        print(f"{folder}: {inspect.write(folder)}")
    except InputError as error:
        print(f"\n{error}\n", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
