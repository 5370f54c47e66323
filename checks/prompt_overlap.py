"""How much of a prompt of ours is word for word a printed one.

    python checks/prompt_overlap.py PROMPT PRINTED.txt   # such as omnitom/extract-L3 printed.txt

PRINTED.txt holds the printed text alone, copied from the paper. The number is the `ratio` of
Python's difflib on lower-case words, letters and digits only: twice the words that both texts have
in common and in one order, divided by the words of both. 0: nothing in common, 1: the same words.
"""

import argparse
import re
import sys
from difflib import SequenceMatcher

from tomlab.asking import prompts
from tomlab.errors import InputError
from tomlab.records.files import read_text


def words(text: str) -> list[str]:
    """The words of a text in lower case, without punctuation."""
    return re.findall(r"[^\W_]+", text.lower())


def overlap(text: str, printed: str) -> float:
    """How alike two texts are, from 0 to 1."""
    return SequenceMatcher(None, words(printed), words(text), autojunk=False).ratio()


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("prompt")
    parser.add_argument("printed")
    args = parser.parse_args(arguments)
    try:
        value = overlap(prompts.load(args.prompt), read_text(args.printed))
    except InputError as error:
        print(error, file=sys.stderr)
        return 1
    print(f"{args.prompt}: {value:.2f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
