"""`python -m tomlab.export` writes a run in the formats of others: see docs/exports.md."""

import shutil
import sys

from tomlab import paths
from tomlab.errors import InputError
from tomlab.export import every_eval_ever, inspect


def main() -> int:
    """Replace `results/exports/<format>`, each: 0, or 1 with one clear message."""
    try:
        for name, module in (("every-eval-ever", every_eval_ever), ("inspect", inspect)):
            folder = paths.RESULTS / "exports" / name
            shutil.rmtree(folder, ignore_errors=True)
            print(f"{folder}: {module.write(folder)}")
    except InputError as error:
        print(f"\n{error}\n", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
