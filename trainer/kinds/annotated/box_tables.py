"""Tables with a box in each row: four columns, or one with four numbers; also the lines path,x1,y1,x2,y2,class without a header."""

import csv
import io
import re

from trainer.core.input import Input
from trainer.data import names
from trainer.data.images import Index
from trainer.errors import UserError, some
from trainer.kinds.annotated import limits
from trainer.kinds.annotated.shapes import Box, Drawn, LeftOut, Listed

_CORNERS, _EXTENT, _MIDDLE = "corners", "extent", "middle"
_FORMS: tuple[tuple[tuple[str, ...], str], ...] = (
    (("xmin", "ymin", "xmax", "ymax"), _CORNERS), (("x1", "y1", "x2", "y2"), _CORNERS), (("left", "top", "right", "bottom"), _CORNERS),
    (("roix1", "roiy1", "roix2", "roiy2"), _CORNERS), (("left", "top", "width", "height"), _EXTENT),
    (("bboxx", "bboxy", "bboxwidth", "bboxheight"), _EXTENT), (("x", "y", "width", "height"), _EXTENT), (("x", "y", "w", "h"), _EXTENT),
    (("xcenter", "ycenter", "width", "height"), _MIDDLE),
)  # fmt: skip
_NAMED = ("class", "label", "name", "category", "classname", "labelname", "species")
_LIST = re.compile(r"-?[\d.]+(?:[eE][-+]?\d+)?")
OBJECT = "object"
_SHARE = 1.01  # the largest coordinate of boxes in shares of the picture


def read(source: Input, index: Index, left: LeftOut, class_column: str = "") -> list[Listed]:
    """The pictures of a table. ``class_column`` is the column with the class; empty to find it by its name. Raises UserError."""
    rows = _rows(source)
    header, body, picture = _head(source, rows, index)
    plain = [re.sub(r"[^a-z0-9]", "", name.lower()) for name in header]
    places, form = _boxes(plain, body)
    if form == "":
        raise limits.unreadable(source.name, "it has no four columns that are a box")
    label = _label_column(header, plain, picture, class_column, source.name)
    by_picture: dict[str, Listed] = {}
    boxes: list[tuple[Listed, str, list[float]]] = []
    for row in body:
        listed = by_picture.setdefault(row[picture], Listed((row[picture],), [], split=_split(plain, row, source.name)))
        cells = [row[p] for p in places] if len(places) == 4 else _LIST.findall(row[places[0]])
        if not any(c.strip() for c in cells):
            continue  # a picture without objects
        values = limits.numbers([c.strip() for c in cells])
        text = row[label].strip() if label is not None else OBJECT
        if values is None or len(values) != 4 or not text:
            left.add("the row has no class, or its box is no four numbers", source.name)
        else:
            boxes.append((listed, text, values))
    shares = bool(boxes) and max(max(v) for _, _, v in boxes) <= _SHARE and any(c % 1 for _, _, v in boxes for c in v)
    if len(places) == 1:
        form = _form_of_lists(source.name, [v for _, _, v in boxes])
    for listed, text, values in boxes:
        listed.shares = shares
        listed.drawn.append(Drawn(text, box=_box(values, form)))
    return list(by_picture.values())


def _rows(source: Input) -> list[list[str]]:
    text = limits.text(source)
    first = text.lstrip().partition("\n")[0]
    csv.field_size_limit(1 << 24)
    try:
        rows = [r for r in csv.reader(io.StringIO(text, newline=""), delimiter=max(",;\t|", key=first.count)) if r]
    except csv.Error as e:
        raise limits.unreadable(source.name, "it is no table") from e
    if len(rows) > limits.SHAPES:
        raise limits.unreadable(source.name, f"it has more than {limits.SHAPES:,} rows")
    return rows


def _head(source: Input, rows: list[list[str]], index: Index) -> tuple[list[str], list[list[str]], int]:
    """The header, the rows below it, and the column that names pictures; where there is no header, that of lines without one."""
    if rows and len(rows[0]) == 6 and index.find(rows[0][0]) is not None:
        return ["image", "xmin", "ymin", "xmax", "ymax", "class"], [r for r in rows if len(r) == 6], 0
    header, body = rows[0] if rows else [], [r for r in rows[1:] if len(r) == len(rows[0])]
    for i in range(len(header)):
        if body and index.holds(list(dict.fromkeys(r[i] for r in body))):
            return header, body, i
    raise limits.unreadable(source.name, "no column names pictures of the dataset")


def _boxes(plain: list[str], body: list[list[str]]) -> tuple[list[int], str]:
    """The columns of the box and their form; without a form where there are none."""
    for columns, form in _FORMS:
        if all(c in plain for c in columns):
            return [plain.index(c) for c in columns], form
    one = next((i for i, name in enumerate(plain) if "box" in name and all(len(_LIST.findall(r[i])) in (0, 4) for r in body)), None)
    return ([], "") if one is None else ([one], _EXTENT)


def _label_column(header: list[str], plain: list[str], picture: int, asked: str, name: str) -> int | None:
    """The column with the class; None where no column has its name."""
    if asked:
        if asked in header:
            return header.index(asked)
        raise UserError(
            "unknown_column", f"{name} has no column {asked}.", "Set label_column to the column with the class.", f"It has {some(header)}."
        )
    return next((plain.index(n) for n in _NAMED if n in plain and plain.index(n) != picture), None)


def _split(plain: list[str], row: list[str], name: str) -> str:
    column = next((plain.index(n) for n in names.SPLIT_COLUMNS if n in plain), None)
    return (names.split_of(f"{row[column]}.csv") if column is not None else names.split_of(name)) or ""


def _form_of_lists(name: str, boxes: list[list[float]]) -> str:
    """Whether lists of four numbers end with a corner or with an extent. Raises UserError where both are possible."""
    if not all(c > a and d > b for a, b, c, d in boxes):
        return _EXTENT
    if not all(c > 0 and d > 0 for _, _, c, d in boxes):
        return _CORNERS
    raise UserError(
        "ambiguous_boxes",
        f"The boxes in {name} may end with a corner or with a width and a height: both fit all of them.",
        "Write each box into four columns: xmin, ymin, xmax, ymax.",
    )


def _box(values: list[float], form: str) -> Box:
    a, b, c, d = values
    if form == _CORNERS:
        return a, b, c, d
    if form == _EXTENT:
        return a, b, a + c, b + d
    return a - c / 2, b - d / 2, a + c / 2, b + d / 2
