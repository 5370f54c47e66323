"""Write a run in a format of others, checked by its own library.

    python -m tomlab.export every-eval-ever   # metrics with intervals, a record for each answer
    python -m tomlab.export inspect           # a log for each benchmark, model and method
    python -m tomlab.export croissant         # the items, described for machines

Writes `results/exports/<format>` anew, or a new folder (`--to FOLDER`); see docs/exports.md.
"""

import argparse
import shutil
import sys
from importlib import import_module
from pathlib import Path

from tomlab import paths
from tomlab.errors import InputError

LIBRARIES = ("every_eval_ever", "inspect_ai", "mlcroissant")
FORMATS = dict(zip(("every-eval-ever", "inspect", "croissant"), LIBRARIES, strict=True))


def main(arguments: list[str] | None = None) -> int:
    """The command line: 0, or 1 with one clear message."""
    about = __doc__.split("\n", 1)[0]
    parser = argparse.ArgumentParser(prog="python -m tomlab.export", description=about)
    parser.add_argument("format", choices=FORMATS)
    parser.add_argument("--to", type=Path, metavar="FOLDER", help="a new or an empty folder")
    args = parser.parse_args(arguments)
    own = paths.RESULTS / "exports" / args.format
    folder = args.to or own
    try:
        try:
            import_module(FORMATS[args.format])
        except ImportError as error:
            how = "`make exports` installs it in .venv-export and writes all three"
            raise InputError(f"{args.format}: {error}; {how}") from None
        if args.to and paths.kind(folder) and (folder.is_file() or any(folder.iterdir())):
            raise InputError(f"--to {folder}: expected a new or an empty folder")
        if not args.to and own.exists():
            shutil.rmtree(own)
        folder.mkdir(parents=True, exist_ok=True)
        written = import_module(f"tomlab.export.{args.format.replace('-', '_')}").write(folder)
        print(f"{folder}: {written}, checked by {FORMATS[args.format]}")
    except InputError as error:
        print(f"\n{error}\n", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
