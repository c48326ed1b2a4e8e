"""What is read otherwise than it stands in the file: each with its count, for the log and the report."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Repair:
    """``code`` is the name of the decision, ``count`` how many lines, rows or columns it is about, and ``text`` a sentence.

    ``dropped`` says why rows of data were left out; empty where none were. ``is_doubt`` marks a warning:
    nothing was changed, and a person should look.
    """

    code: str
    count: int
    text: str
    dropped: str = ""
    is_doubt: bool = False


def lines(count: int) -> str:
    return f"{count} {'line' if count == 1 else 'lines'}"


def rows(count: int) -> str:
    return f"{count} {'row' if count == 1 else 'rows'}"
