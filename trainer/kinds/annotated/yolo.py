"""YOLO: a text file for each picture, with a box or a polygon in each line, in shares of the picture. An empty file is a picture without objects."""

import re

import numpy
import yaml

from trainer.core.input import Input
from trainer.data import names
from trainer.errors import UserError, some
from trainer.kinds.annotated import limits
from trainer.kinds.annotated.shapes import Drawn, LeftOut, Listed

LISTS = ("classes.txt", "obj.names", "predefined_classes.txt", "_darknet.labels")
_OF_THE_PROGRAM = "predefined_classes.txt"  # what LabelImg offers, which counts where there is nothing else
_LABELS = re.compile(r"^(labels?|annotations?)$", re.IGNORECASE)
_PICTURES = ("images", "image", "imgs", "JPEGImages")
_YAML_BYTES = 1 << 20
_VISIBLE = 2  # value of a point of a pose, which no share of a picture has


def class_names(texts: list[Input], others: list[Input]) -> tuple[dict[int, str], tuple[str, ...]]:
    """The names of the classes by their numbers, and the files that were read. Raises UserError for data of poses."""
    found: list[tuple[str, dict[int, str]]] = []
    for source in others:
        if names.extension(source.name) in ("yaml", "yml") and (listed := _of_yaml(source)):
            found.append((source.name, listed))
    for source in (*texts, *others):
        if source.name.rsplit("/", 1)[-1].lower() in LISTS or names.extension(source.name) == "names":
            lines = [line.strip() for line in limits.text(source, _YAML_BYTES).splitlines()]
            found.append((source.name, dict(enumerate(line for line in lines if line))))
    chosen = [f for f in found if not f[0].endswith(_OF_THE_PROGRAM)] or found
    if not chosen:
        return {}, ()
    first, named = chosen[0]
    for other, listed in chosen[1:]:
        if differ := [n for n in named if n in listed and named[n].lower() != listed[n].lower()]:
            raise UserError(
                "ambiguous_classes",
                f"{first} and {other} name the classes differently: {differ[0]} is {named[differ[0]]} in one and {listed[differ[0]]} in the other.",
                "Remove the list that is wrong, and submit again.",
            )
    return named, (first,)


def _of_yaml(source: Input) -> dict[int, str]:
    try:
        value = yaml.safe_load(limits.text(source, _YAML_BYTES))
    except (yaml.YAMLError, ValueError, RecursionError):
        return {}
    if not isinstance(value, dict):
        return {}
    if "kpt_shape" in value:
        raise _poses(source.name)
    listed = value.get("names")
    if isinstance(listed, list):
        return {i: str(n) for i, n in enumerate(listed)}
    if isinstance(listed, dict):
        return {int(i): str(n) for i, n in listed.items() if str(i).isdecimal()}
    return {}


def read(source: Input, left: LeftOut, named: dict[int, str]) -> Listed | None:
    """The picture that a file of labels belongs to; None for a file with other lines. Raises UserError for poses, predictions and unknown classes."""
    drawn: list[Drawn] = []
    for line in limits.text(source).splitlines():
        words = line.split()
        if not words:
            continue
        values = limits.numbers(words)
        if values is None or len(values) < 5 or not words[0].isdecimal():
            left.add("the line is no box and no polygon", source.name)
            continue
        coordinates = values[1:]
        if len(coordinates) == 5:
            raise UserError(
                "annotations_unclear",
                f"The lines of {source.name} have six numbers: boxes with a confidence, as a detector answers, or boxes with something else.",
                "Remove the last number of each line if the boxes are true, then submit again.",
            )
        if (len(coordinates) > 4 and len(coordinates) % 2) or _VISIBLE in coordinates:
            raise _poses(source.name)
        drawn.append(_drawn(_label(source, int(words[0]), named), coordinates))
    return Listed(pictures_of(source.name), drawn, split=names.split_of(source.name) or "", shares=True)


def _drawn(label: str, values: list[float]) -> Drawn:
    if len(values) == 4:
        x, y, width, height = values
        return Drawn(label, box=(x - width / 2, y - height / 2, x + width / 2, y + height / 2), extent=(x, y, width, height))
    return Drawn(label, (numpy.asarray(values, numpy.float64).reshape(-1, 2),))


def _label(source: Input, number: int, named: dict[int, str]) -> str:
    if not named:
        return str(number)
    if number not in named:
        raise UserError(
            "unknown_class",
            f"{source.name} has the class {number}, which the list of classes does not name.",
            "Add its name to the list, or correct the file.",
            f"The list names {some([f'{i} ({n})' for i, n in named.items()], 8)}.",
        )
    return named[number]


def _poses(name: str) -> UserError:
    return UserError(
        "annotations",
        f"{name} describes poses: boxes with points of the body.",
        "Export boxes or polygons, or train with a script of your own, with ncsa.ray.script.",
        "Points are not trained on here.",
    )


def pictures_of(name: str) -> tuple[str, ...]:
    """The names that the picture of a file of labels may have, without an ending."""
    bare = name.rpartition(".")[0]
    parts = bare.split("/")
    places = [i for i, part in enumerate(parts[:-1]) if _LABELS.match(part)]
    swapped = ["/".join([*parts[:i], folder, *parts[i + 1 :]]) for i in reversed(places) for folder in _PICTURES]
    return (*swapped, bare, parts[-1])
