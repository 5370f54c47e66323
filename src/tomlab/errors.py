"""`InputError`, the exception for mistakes in what a user supplies, and helpers to raise it."""

from collections.abc import Iterator
from contextlib import contextmanager


class InputError(ValueError):
    """A user's mistake. The message names the file, row and field, what was found there and what
    was expected. The notebook runner prints it without a traceback.
    """


@contextmanager
def extra(name: str) -> Iterator[None]:
    """Wrap imports of packages that tomlab's extra `name` installs. Errors: `InputError` that says
    how to install a package if it is missing.
    """
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
