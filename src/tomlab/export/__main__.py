"""Write a run in the published formats of others.

    python -m tomlab.export                   # both
    python -m tomlab.export every-eval-ever   # metrics with intervals, a record for each answer
    python -m tomlab.export inspect           # a log for each benchmark, model and method

Each replaces `results/exports/<format>`; see docs/exports.md.
"""

import argparse
import shutil
import sys

from tomlab import paths
from tomlab.errors import InputError
from tomlab.export import every_eval_ever, inspect

FORMATS = {"every-eval-ever": every_eval_ever, "inspect": inspect}


def main(arguments: list[str] | None = None) -> int:
    """The command line: 0, or 1 with one clear message."""
    about = __doc__.split("\n", 1)[0]
    parser = argparse.ArgumentParser(prog="python -m tomlab.export", description=about)
    parser.add_argument("format", choices=FORMATS, nargs="?", help="both by default")
    named = parser.parse_args(arguments).format
    try:
        for name in [named] if named else FORMATS:
            folder = paths.RESULTS / "exports" / name
            shutil.rmtree(folder, ignore_errors=True)
            print(f"{folder}: {FORMATS[name].write(folder)}")
    except InputError as error:
        print(f"\n{error}\n", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
