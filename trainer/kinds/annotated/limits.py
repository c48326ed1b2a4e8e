"""How much of a file of annotations is read, and the errors for what is too large or no annotation."""

import json
import math
from typing import Any

from trainer.core.input import Input
from trainer.errors import UserError, size_in_words

JSON_BYTES, XML_BYTES, TEXT_BYTES = 512 << 20, 64 << 20, 256 << 20
SHAPES = 2_000_000  # of a dataset
POINTS = 100_000  # of one ring
PIXELS = 80_000_000  # of one mask
RUNS = 4_000_000  # of one mask


def content(source: Input, most: int) -> bytes:
    """The bytes of a file. Raises UserError where there are more than ``most``, or where it cannot be read."""
    try:
        with open(source.file, "rb") as file:
            data = file.read(most + 1)
    except OSError as e:
        raise unreadable(source.name, e.strerror or "it cannot be opened") from e
    if len(data) > most:
        raise UserError(
            "annotations_too_large",
            f"The annotations in {source.name} are larger than {size_in_words(most)}.",
            "Divide them into several files, each with some of the pictures.",
        )
    return data


def text(source: Input, most: int = TEXT_BYTES) -> str:
    data = content(source, most)
    return data.decode("utf-16" if data[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig", "replace")


def document(source: Input) -> Any:
    """The value of a JSON file. Raises UserError."""
    try:
        return json.loads(text(source, JSON_BYTES))
    except (ValueError, RecursionError) as e:
        raise unreadable(source.name, f"it is no whole JSON document ({type(e).__name__})") from e


def unreadable(name: str, why: str) -> UserError:
    return UserError("annotations_unreadable", f"The annotations in {name} cannot be read.", "Export them again, then submit again.", f"{why}.")


def number(value: Any) -> float | None:
    """A finite number; None for anything else."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        read = float(value)
    except (ValueError, OverflowError):
        return None
    return read if math.isfinite(read) and abs(read) < 1e9 else None


def numbers(values: Any) -> list[float] | None:
    """A list of finite numbers; None where one of them is none."""
    if not isinstance(values, list | tuple):
        return None
    read = [number(v) for v in values]
    return None if None in read else read


def objects(value: Any) -> list[dict]:
    """The objects in a list, or among the values of an object."""
    listed = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return [v for v in listed if isinstance(v, dict)]


def size(value: Any) -> float:
    """A width or a height; 0 where it is none."""
    read = number(value)
    return read if read is not None and read >= 1 else 0
