"""Running a helper program on the files of a script, within the limits of a check."""

from collections.abc import Sequence

from trainer import bounded
from trainer.bounded import Failed as Failed

_MEMORY_BYTES, _OUTPUT_BYTES = 3 << 30, 64 << 20


def run(arguments: Sequence[str], given: bytes, seconds: float) -> bytes:
    """What Python prints with ``arguments`` and the standard input ``given``. Its exit code does not matter. Raises Failed."""
    return bounded.run(arguments, given, seconds, _MEMORY_BYTES, _OUTPUT_BYTES)
