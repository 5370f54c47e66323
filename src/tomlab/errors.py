"""The one exception that means: the input is at fault, and the message says where and how."""

from collections.abc import Iterator
from contextlib import contextmanager


class InputError(ValueError):
    """A user's mistake; the message names file, row and field, what was found and expected. The
    notebook runner prints it without a traceback.
    """


@contextmanager
def extra(name: str) -> Iterator[None]:
    """What is imported within comes with an extra of this package; `InputError` without it."""
    try:
        yield
    except ModuleNotFoundError as error:
        told = f"pip install {error.name}, or install tomlab with its extra `{name}`"
        raise InputError(f"the package {error.name} is not installed: {told}") from None


def refuse(problems: list[str], where: str, limit: int = 20) -> None:
    """Raise one `InputError` that lists `problems` (at most `limit` in full), if there are any."""
    if problems:
        more = [f"… and {len(problems) - limit} more"] if len(problems) > limit else []
        count = "1 problem" if len(problems) == 1 else f"{len(problems)} problems"
        raise InputError("\n  ".join([f"{where}: {count}", *problems[:limit], *more]))
