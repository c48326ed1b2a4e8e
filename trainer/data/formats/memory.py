"""Limits for what fits into the memory of the driver's machine."""

from trainer.errors import UserError

MEMORY_SHARE = 4  # a file takes at least so many times its size: its bytes, its text, and the cells
CELL_BYTES = 64  # of an empty cell in memory, at least


def too_large(name: str, why: str) -> UserError:
    return UserError(
        "too_large", f"The file {name} is too large for the machine that reads it.", "Use fewer rows, or ask the administrator for more memory.", why
    )
