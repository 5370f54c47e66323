"""Draw a set of fresh items from a secret seed, or check a set by its card.

python -m tomlab.fresh draw --seed-env TOMLAB_SEED --pairs 200 --out DIR
python -m tomlab.fresh check --seed-env TOMLAB_SEED DIR/fresh.card.json
"""

import argparse
import os
import sys
from pathlib import Path

from tomlab.errors import InputError
from tomlab.fresh import sets


def main(arguments: list[str] | None = None) -> int:
    """Run the command line. Returns 0 if the set was drawn, or is what the seed draws; otherwise
    prints a message and returns 1.
    """
    parser = argparse.ArgumentParser("python -m tomlab.fresh", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    draw = commands.add_parser("draw")
    check = commands.add_parser("check")
    for command in (draw, check):
        # The seed itself is not an argument, since shells keep a history and other users of the
        # machine can see the arguments of running commands.
        variable = "the variable of the environment that has the seed"
        command.add_argument("--seed-env", required=True, help=variable)
    draw.add_argument("--pairs", type=int, default=200, help="pairs of stories (default: 200)")
    draw.add_argument("--out", type=Path, required=True, help="the folder to write to")
    check.add_argument("card", type=Path)
    args = parser.parse_args(arguments)
    try:
        if args.seed_env not in os.environ:
            raise InputError(f"{args.seed_env}: no such variable in the environment")
        seed = os.environ[args.seed_env]
        if args.command == "check":
            print(sets.check(seed, args.card), "is what the seed draws")
        else:
            print(sets.write_set(seed, args.pairs, args.out))
    except (InputError, OSError) as error:
        print(f"\nfresh: {error}\n", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
