"""The one exception that means: the input is at fault, and the message says where and how."""


class InputError(ValueError):
    """A user's mistake; the message names file, row and field, what was found and expected. The
    notebook runner prints it without a traceback.
    """


def refuse(problems: list[str], where: str, limit: int = 20) -> None:
    """Raise one `InputError` that lists `problems` (at most `limit` in full), if there are any."""
    if not problems:
        return
    shown = "\n".join(f"  {problem}" for problem in problems[:limit])
    more = f"\n  … and {len(problems) - limit} more" if len(problems) > limit else ""
    count = "1 problem" if len(problems) == 1 else f"{len(problems)} problems"
    raise InputError(f"{where}: {count}\n{shown}{more}")
