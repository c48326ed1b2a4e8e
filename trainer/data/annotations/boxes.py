"""Annotations in a delimited table: boxes of pictures, the CSV of VIA, and masks as run lengths."""

import csv
import re
from collections import Counter

from trainer.core.input import Input
from trainer.data.annotations import sniff
from trainer.data.annotations.held import Annotations
from trainer.data.images import Index

_CORNERS: tuple[tuple[str, ...], ...] = (
    ("xmin", "ymin", "xmax", "ymax"), ("x1", "y1", "x2", "y2"), ("left", "top", "right", "bottom"), ("left", "top", "width", "height"),
    ("bboxx", "bboxy", "bboxwidth", "bboxheight"), ("x", "y", "width", "height"), ("x", "y", "w", "h"), ("roix1", "roiy1", "roix2", "roiy2"),
    ("xcenter", "ycenter", "width", "height"),
)  # fmt: skip
_VIA = ("regionshapeattributes", "regionattributes")
_LIST = re.compile(r"\[?\s*-?[\d.]+(\s*[,; ]\s*-?[\d.]+){3}\s*\]?")
_RUNS = re.compile(r"\d+ \d+( \d+ \d+)*")
_LONG_RUN = 6  # numbers of a cell from which it is a list of run lengths
_REPEATED = 0.05  # share of the rows that name a picture again, from which the rows are objects and not pictures
_FEW_VALUES = 0.5  # a column has classes where it has fewer different values than this share of its rows


def find(source: Input, index: Index) -> Annotations | None:
    """The boxes or masks in a table that names pictures of the dataset; None where it is another one.

    A table with one row for each picture and a class is none: it is trained on by its class.
    """
    listed = sniff.lines(source)
    if len(listed) < 3:
        return None
    delimiter = max(",;\t|", key=listed[0].count)
    rows = [r for r in csv.reader(listed, delimiter=delimiter) if r]
    header = [re.sub(r"[^a-z0-9]", "", name.lower()) for name in rows[0]]
    body = [r for r in rows[1:] if len(r) == len(header)]
    cut = source.size > sniff.LINES
    if not body:
        return None
    columns = dict(zip(header, map(list, zip(*body))))
    if all(name in columns for name in _VIA):
        return Annotations("regions of the VGG Image Annotator (VIA)", (source.name,), len(body), cut=cut)
    pictures = next((n for n, cells in columns.items() if index.holds(list(dict.fromkeys(cells)))), "")
    if not pictures:
        return _without_header(source, rows, index, cut)
    if any(_is_runs(cells) for n, cells in columns.items() if n != pictures):
        return Annotations("masks as run lengths", (source.name,), len(body), cut=cut)
    boxes: tuple[str, ...] = next((c for c in _CORNERS if all(n in columns and _are_numbers(columns[n]) for n in c)), ())
    if not boxes:
        boxes = tuple(n for n, cells in columns.items() if "box" in n and _mostly(_LIST, cells))
    others = {n: cells for n, cells in columns.items() if n not in (pictures, *boxes)}
    if not boxes:
        return _without_header(source, rows, index, cut)
    if not _are_objects(columns[pictures], others):
        return None
    return Annotations("boxes in a table", (source.name,), len(body), _classes(others), cut)


def _without_header(source: Input, rows: list[list[str]], index: Index, cut: bool) -> Annotations | None:
    """Lines with a picture, four numbers and a class."""
    columns = list(zip(*(r for r in rows if len(r) == 6)))
    if len(columns) != 6 or not index.holds(list(dict.fromkeys(columns[0]))) or not all(_are_numbers(list(c)) for c in columns[1:5]):
        return None
    return Annotations("boxes in a table", (source.name,), len(columns[0]), tuple(sorted(set(columns[5])))[:100], cut)


def _are_objects(pictures: list[str], others: dict[str, list[str]]) -> bool:
    """Whether rows are objects in pictures: pictures repeat, or nothing but the box tells of them."""
    repeated = 1 - len(set(pictures)) / len(pictures)
    return repeated >= _REPEATED or not any(1 < len(set(cells)) <= max(2, _FEW_VALUES * len(cells)) for cells in others.values())


def _classes(others: dict[str, list[str]]) -> tuple[str, ...]:
    named = [n for n in others if n in ("class", "label", "name", "category", "classname", "labelname", "species")]
    few = [n for n, cells in others.items() if not _are_numbers(cells) and len(set(cells)) <= max(2, _FEW_VALUES * len(cells))]
    return tuple(sorted(set(others[(named or few)[0]])))[:100] if named or few else ()


def _are_numbers(cells: list[str]) -> bool:
    return _mostly(re.compile(r"\s*-?\d+(\.\d*)?\s*"), cells)


def _is_runs(cells: list[str]) -> bool:
    counted = Counter(len(c.split()) >= _LONG_RUN for c in cells if c.strip() and c.strip() != "-1")
    return bool(counted[True]) and counted[True] >= 0.5 * counted.total() and _mostly(_RUNS, [c.strip() for c in cells])


def _mostly(pattern: re.Pattern, cells: list[str]) -> bool:
    held = [c for c in cells if c.strip() and c.strip() != "-1"]
    return bool(held) and sum(pattern.fullmatch(c) is not None for c in held) >= 0.9 * len(held)
