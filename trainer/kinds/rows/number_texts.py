"""Text files that hold columns of numbers, such as spectra: no texts for a model that reads words."""

import re

from trainer.core.input import Input
from trainer.errors import UserError, some

_SAMPLE = 20  # files
_HEAD = 20_000  # bytes of each
_LINES = 3  # at least
_MOSTLY = 0.8  # of the lines hold numbers alone
_NUMBER = re.compile(r"[+-]?(\d+([.,]\d*)?|[.,]\d+)([eE][+-]?\d+)?|nan", re.IGNORECASE)
_BETWEEN = re.compile(r"[\s;|]+|,\s+|,(?=[+-]?\d+\.)")


def check(sources: list[Input]) -> None:
    """Raise UserError where most of these texts are columns of numbers."""
    chosen = sources[:: max(1, len(sources) // _SAMPLE)][:_SAMPLE]
    numeric = [s.name for s in chosen if _holds_numbers(s)]
    if 2 * len(numeric) <= len(chosen):
        return
    raise UserError(
        "numbers_in_texts",
        f"The text files hold columns of numbers, as spectra and series do, and no texts to read: {some(numeric, 3)}.",
        "Make one table with a row for each file, its numbers in columns and its label in a column. To read them as texts all the same, set task.",
    )


def _holds_numbers(source: Input) -> bool:
    with open(source.file, "rb") as file:
        head = file.read(_HEAD)
    lines = [line.strip() for line in head.decode("utf-8-sig", "replace").splitlines() if line.strip()]
    if len(head) == _HEAD:
        lines = lines[:-1]
    numeric = sum(all(_NUMBER.fullmatch(part) for part in _BETWEEN.split(line.strip(",;|")) if part) for line in lines)
    return len(lines) >= _LINES and numeric >= _MOSTLY * len(lines)
