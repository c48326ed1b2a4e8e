"""Whole test rows for *Try it* in the studio: some that the model gets right, some that it gets wrong, and some that it is unsure of."""

import base64
from pathlib import Path

import numpy

from trainer.data import Example
from trainer.measure import mistakes
from trainer.run_folder import files
from trainer.targets.target import Classes, Labels

EACH = {"text": 2, "table": 2, "image": 1}  # of a sort, by kind
_LOOKED = 200  # rows are looked at until there are enough that are short
_CHARACTERS = 2000  # of a row: a longer one is left out, since a part of it would get another answer
IMAGE_LIMIT = 64_000  # bytes of an image: a larger one is left out, since a smaller copy could get another answer


def examples(rows: list[Example], kind: str, columns, target, test) -> list[dict] | None:
    """The list ``examples`` of result.json; None for kinds of data whose rows are no texts, no cells and no images."""
    if kind not in EACH or isinstance(target, Labels):
        return None
    if isinstance(target, Classes):
        right = numpy.flatnonzero(test.truth == test.predicted)
        sorts = {"wrong": mistakes.mistakes(test, _LOOKED), "unsure": mistakes.unsure(test, _LOOKED), "right": right[:_LOOKED]}
    else:
        sorts = {"row": numpy.arange(min(len(rows), _LOOKED))}
    found: dict[int, dict] = {}
    for name, numbers in sorts.items():
        fitting = ((int(i), given) for i in numbers if int(i) not in found and (given := _input(rows[i], kind, columns)))
        for (i, given), _ in zip(fitting, range(EACH[kind]), strict=False):
            found[i] = {"as": name, "input": given, "label": rows[i].target, "predicted": target.text(test.predicted[i])}
    order = ("right", "wrong", "unsure", "row")
    return sorted(found.values(), key=lambda e: order.index(e["as"]))


def _input(example: Example, kind: str, columns) -> dict[str, str] | None:
    """The fields of a row by their names, as the answer process calls them; None for a row that is too long."""
    if kind == "image":
        return _image(example.content)
    if kind == "table":
        given = {name: cell for name, cell in zip(columns, example.content, strict=False) if cell}
    elif isinstance(example.content, str):
        given = {"text": example.content}
    else:
        given = {"text": example.content[0], **dict(zip(columns[1:], example.content[1:], strict=False))}
    return given if given and sum(len(name) + len(cell) for name, cell in given.items()) <= _CHARACTERS else None


def _image(path: Path) -> dict[str, str] | None:
    """The file as it is, in base64."""
    try:
        return {"image": base64.b64encode(files.read_bytes(path, IMAGE_LIMIT)).decode()}
    except (OSError, ValueError):
        return None
