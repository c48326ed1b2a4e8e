"""General blocks, by which a kind describes its part of a report: facts, tables, charts, matrices, pictures and marked texts.

The service knows no kind. It checks, escapes and draws blocks, cuts those over its limits, and takes no HTML. The types are those of
internal/results/section/section.go.
"""

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

DATA, RESULT = "data", "result"  # places of sections
COUNT, NUMBER = "count", "number"  # forms of columns; other numbers are shares
Mark = Literal["", "right", "wrong", "shown"]


@dataclass(frozen=True)
class Fact:
    name: str
    value: str


@dataclass(frozen=True)
class Column:
    title: str
    form: str = ""


@dataclass(frozen=True)
class Cell:
    """A text, or a number with its 95 % interval."""

    text: str = ""
    value: float | None = None
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True)
class Axis:
    """``labels`` are words at 0, 1, 2 and so on. ``zero`` says that the axis has 0."""

    title: str
    log: bool = False
    zero: bool = False
    labels: Sequence[str] = ()


@dataclass(frozen=True)
class Series:
    """``points`` are x and y, or where a bar begins, where it ends and its height. ``ranges`` are x, low and high."""

    points: Sequence[Sequence[float]]
    name: str = ""
    ranges: Sequence[Sequence[float]] = ()


@dataclass(frozen=True)
class Rule:
    """A vertical line."""

    at: float
    label: str


@dataclass(frozen=True)
class Chart:
    """``same_unit`` says that only distances mean something. ``file`` names the picture that is delivered, without an ending."""

    form: Literal["line", "dots", "bars"]
    x: Axis
    y: Axis
    series: Sequence[Series]
    summary: str
    rules: Sequence[Rule] = ()
    same_unit: bool = False
    file: str = ""


@dataclass(frozen=True)
class Matrix:
    """``same`` says that rows and columns have the same labels, so that the diagonal is right."""

    row_title: str
    column_title: str
    row_labels: Sequence[str]
    column_labels: Sequence[str]
    counts: Sequence[Sequence[int]]
    same: bool = False


@dataclass(frozen=True)
class Overlay:
    """A box, in shares of the width and the height of its picture."""

    left: float
    top: float
    width: float
    height: float
    label: str = ""
    mark: Mark = ""


@dataclass(frozen=True)
class Picture:
    """A small PNG in base64."""

    png: str
    caption: str = ""
    overlays: Sequence[Overlay] = ()


@dataclass(frozen=True)
class Part:
    """Some words of a text; ``note`` stands beside marked ones."""

    text: str
    mark: Mark = ""
    note: str = ""


@dataclass(frozen=True)
class Marked:
    """A text in parts, and the row that it is."""

    parts: Sequence[Part]
    where: str = ""


@dataclass(frozen=True)
class Block:
    """One part of a section: ``text`` are paragraphs above its content, ``note`` is one below. The functions below make blocks."""

    type: str
    title: str = ""
    folded: bool = False
    text: Sequence[str] = ()
    note: str = ""
    facts: Sequence[Fact] = ()
    columns: Sequence[Column] = ()
    rows: Sequence[Sequence[Cell]] = ()
    chart: Chart | None = None
    matrix: Matrix | None = None
    pictures: Sequence[Picture] = ()
    examples: Sequence[Marked] = ()


@dataclass(frozen=True)
class Section:
    """``place`` is ``DATA``, behind the data, or ``RESULT``, behind the scores."""

    place: str
    title: str
    blocks: Sequence[Block]


def text(*paragraphs: str, title: str = "") -> Block:
    return Block("text", title, text=paragraphs)


def facts(pairs: Mapping[str, str], title: str = "") -> Block:
    """A list of names and what stands beside them; an empty value is left out."""
    return Block("facts", title, facts=[Fact(name, value) for name, value in pairs.items() if value])


def table(title: str, columns: Sequence[Column], rows: Sequence[Sequence[Cell]], **more: Any) -> Block:
    return Block("table", title, columns=columns, rows=rows, **more)


def chart(title: str, drawn: Chart, **more: Any) -> Block:
    return Block("chart", title, chart=drawn, **more)


def matrix(title: str, counted: Matrix, **more: Any) -> Block:
    return Block("matrix", title, matrix=counted, **more)


def pictures(title: str, shown: Sequence[Picture], **more: Any) -> Block:
    return Block("pictures", title, pictures=shown, **more)


def examples(title: str, shown: Sequence[Marked], **more: Any) -> Block:
    return Block("examples", title, examples=shown, **more)


def described(sections: Sequence[Section]) -> list[dict]:
    """``sections`` of result.json."""
    return [_plain(s) for s in sections]


def _plain(value: Any) -> Any:
    """``value`` as JSON, without fields that have their default."""
    if dataclasses.is_dataclass(value):
        kept = ((f, getattr(value, f.name)) for f in dataclasses.fields(value))
        return {f.name: _plain(v) for f, v in kept if f.default is dataclasses.MISSING or (v != f.default and not _empty(v))}
    if isinstance(value, list | tuple):
        return [_plain(v) for v in value]
    return value


def _empty(value: Any) -> bool:
    return isinstance(value, list | tuple) and not value
