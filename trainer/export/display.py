"""Examples for display in a report or a table: short, on one line, images as thumbnails."""

import base64
import csv
import io
import itertools

from PIL import ImageOps

from trainer.data import Example
from trainer.data.images import opened
from trainer.kinds.language import forms
from trainer.targets.target import number

TEXT_LIMIT = 200  # characters
SIDE = 64  # pixels of a thumbnail
IMAGE_LIMIT = 24_000  # bytes of a thumbnail
_FORMULA = "=+-@\t\r"  # how formulas begin


def content(example: Example, kind: str, columns: tuple[str, ...] | list[str]) -> str:
    """What a model reads of an example, as one short line."""
    if kind == "image":
        return example.id if example.row else example.file  # a row of a table names its image
    if kind == "language":
        return short(forms.question(example.content))
    if kind == "table":
        return short(", ".join(f"{name} {cell or '(empty)'}" for name, cell in zip(columns, example.content, strict=False)))
    if kind == "tokens" and not isinstance(example.content, str):
        return short(" ".join(example.content))
    return short(example.content if isinstance(example.content, str) else " / ".join(example.content))


def short(text: str) -> str:
    text = " ".join(text[: 20 * TEXT_LIMIT].split())
    return text if len(text) <= TEXT_LIMIT else text[: TEXT_LIMIT - 1] + "…"


def entry(example: Example, kind: str, columns, **more) -> dict:
    """An example in a list of result.json."""
    found = {"file": example.file, "row": example.row, "content": content(example, kind, columns), **more}
    if kind == "image" and (picture := thumbnail(example)):
        found["image"] = picture
    return found


def thumbnail(example: Example) -> str | None:
    """A small PNG in base64; None where even that is large or the file cannot be read again."""
    try:
        with opened(example.content) as image:
            upright = ImageOps.exif_transpose(image).convert("RGB")
            upright.thumbnail((SIDE, SIDE))
            data = io.BytesIO()
            upright.save(data, "PNG", optimize=True)
    except (OSError, ValueError):
        return None
    return base64.b64encode(data.getvalue()).decode() if data.tell() <= IMAGE_LIMIT else None


def table(head: list[str], rows) -> str:
    """A CSV file that can be opened in a spreadsheet: see ``escape_formula``."""
    lines = io.StringIO()
    plain = csv.writer(lines, lineterminator="\n")
    quoted = csv.writer(lines, lineterminator="\n", quoting=csv.QUOTE_ALL)  # the other one puts no quotes around a carriage return
    for row in itertools.chain([head], rows):
        cells = row if row is head else [escape_formula(cell) for cell in row]
        returns = any(isinstance(cell, str) and "\r" in cell for cell in cells)
        (quoted if returns else plain).writerow(cells)
    return lines.getvalue()


def escape_formula(cell):
    """``cell`` with an apostrophe if a spreadsheet could read it as a formula, which may send data to others.

    Numbers and single characters stay as they are, and so does all that is not text.
    """
    if isinstance(cell, str) and len(cell) > 1 and cell[0] in _FORMULA and number(cell) is None:
        return "'" + cell
    return cell
