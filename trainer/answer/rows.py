"""From the inputs of a request to the examples that a model reads: the same reading of cells as in a training."""

import base64
import binascii
import io
import math
from dataclasses import dataclass

from trainer.core.example import Example
from trainer.core.kind import Kind
from trainer.data.columns import values
from trainer.data.columns.features import NUMBER
from trainer.data.columns.values import Style
from trainer.errors import some

MOST_ROWS = 64
MOST_CHARACTERS = 1_000_000  # of the texts of a request
MOST_IMAGE_BYTES = 10 << 20
TEXT, IMAGE = "text", "image"
_PLAIN = Style()


class Refused(Exception):
    """The request cannot be answered. The message is a sentence for its sender; ``status`` is the status of HTTP."""

    def __init__(self, message: str, status: int = 400):
        super().__init__(message)
        self.status = status


@dataclass(frozen=True)
class Column:
    """One input of a model: a tensor of BYTES, or of FP64 where the column holds numbers. A file is sent in base64."""

    name: str
    type: str  # text, image, number, category or what else a kind reads
    categories: tuple[str, ...] = ()
    is_file: bool = False

    @property
    def datatype(self) -> str:
        return "FP64" if self.type == NUMBER else "BYTES"


class Form:
    """What a model of ``kind`` reads: its columns, and how the cells of a request become examples."""

    def __init__(self, kind: Kind, columns: tuple[Column, ...], styles: dict[str, Style]):
        self.kind, self.columns, self._styles = kind, columns, styles

    def cells(self, inputs: list) -> dict[str, list]:
        """The cells of each input in a request, as they were sent. Raises Refused."""
        cells = _tensors(inputs)
        if strange := [name for name in cells if name not in {c.name for c in self.columns}]:
            raise Refused(f"The model has no input {some(strange, 3)}: it reads {some([c.name for c in self.columns], 20)}.")
        if not self.kind.inputs_may_lack and len(cells) < len(self.columns):
            raise Refused(f"The input {some([c.name for c in self.columns if c.name not in cells], 3)} is missing.")
        if not cells:
            raise Refused(f"There is no input: the model reads {some([c.name for c in self.columns], 20)}.")
        rows = {len(column) for column in cells.values()}
        if len(rows) > 1:
            raise Refused("All inputs must have the same number of rows.")
        if not 1 <= rows.pop() <= MOST_ROWS:
            raise Refused(f"A request has 1 to {MOST_ROWS} rows. Let the model answer for a dataset where there are more.")
        return cells

    def examples(self, inputs: list) -> list[Example]:
        """The examples in the ``inputs`` of a request. Raises Refused."""
        contents = self.kind.contents(self.cells(inputs), self.columns, self._styles)
        return [Example("request", i + 1, content, "") for i, content in enumerate(contents)]


def texts(cells: dict[str, list], columns: tuple[Column, ...]) -> list:
    """The texts of a request, or the pairs of texts. Raises Refused."""
    columns_of_texts = [[_text(cell) for cell in cells[column.name]] for column in columns]
    if sum(len(text) for column in columns_of_texts for text in column) > MOST_CHARACTERS:
        raise Refused(f"The texts have more than {MOST_CHARACTERS} characters.", 413)
    if not all(all(row) for row in zip(*columns_of_texts)):
        raise Refused("A text is empty.")
    return columns_of_texts[0] if len(columns_of_texts) == 1 else list(zip(*columns_of_texts))


def plain_texts(cells: list) -> list[str]:
    """The texts of one input as they were sent, where places in them are answered. Raises Refused."""
    if not all(isinstance(cell, str) for cell in cells):
        raise Refused("A text must be a string.")
    if sum(map(len, cells)) > MOST_CHARACTERS:
        raise Refused(f"The texts have more than {MOST_CHARACTERS} characters.", 413)
    return cells


def row_cells(cells: dict[str, list], columns: tuple[Column, ...], styles: dict[str, Style]) -> list[tuple[str, ...]]:
    """The rows of a table in a request, as a training reads them. Raises Refused."""
    count = len(next(iter(cells.values())))
    read = []
    for column in columns:
        sent = cells.get(column.name, [""] * count)
        if column.type == NUMBER:
            read.append(numbers(sent, column.name, styles.get(column.name, Style())))
        elif column.is_file:
            read.append([_file(cell) for cell in sent])
        else:
            read.append(["" if values.is_missing(c) else c.strip() for c in map(text_of, sent)])
    rows = list(zip(*read))
    if not all(any(row) for row in rows):
        raise Refused("A row has no value. Give it at least one that the model reads.")
    return rows


def _tensors(inputs) -> dict[str, list]:
    """The cells of each tensor by its name."""
    if not isinstance(inputs, list) or not all(isinstance(i, dict) and isinstance(i.get("name"), str) for i in inputs):
        raise Refused("inputs must be a list of tensors with name, datatype, shape and data.")
    found: dict[str, list] = {}
    for tensor in inputs:
        name, data = tensor["name"], tensor.get("data")
        if name in found:
            raise Refused(f"The input {some([name])} is there twice.")
        if not isinstance(data, list) or any(isinstance(cell, (list, dict)) for cell in data):
            raise Refused(f"The data of {some([name])} must be a flat list of values.")
        if tensor.get("shape") not in ([len(data)], [len(data), 1]):
            raise Refused(f"The shape of {some([name])} must be [{len(data)}], the number of its values.")
        found[name] = data
    return found


def text_of(cell) -> str:
    """A cell of a request as it would stand in a file."""
    if cell is None or (isinstance(cell, float) and math.isnan(cell)):
        return ""
    return cell if isinstance(cell, str) else repr(cell)


def numbers(cells: list, name: str, style: Style = _PLAIN) -> list[str]:
    """The cells as numbers. A text is written in the style of the training data; a number of JSON is one as it is. What stands for a
    gap is empty. Raises Refused."""
    found = []
    for cell in cells:
        text = text_of(cell)
        (number,) = values.as_numbers([text], style if isinstance(cell, str) else Style(fills=style.fills))
        if not number and not values.is_missing(text) and values.fast_number(text, style.comma) not in style.fills:
            raise Refused(f"{some([name])} must be a number, not {some([text])}.")
        found.append(number)
    return found


def _file(cell) -> str:
    """An image in base64, or an empty text where there is none. Raises Refused."""
    if text_of(cell).strip():
        image(cell)
    return text_of(cell).strip()


def _text(cell) -> str:
    if not isinstance(cell, str):
        raise Refused("A text must be a string.")
    return cell.strip()


def image(cell) -> io.BytesIO:
    """The bytes of an image in base64. Raises Refused."""
    if not isinstance(cell, str):
        raise Refused("An image must be a string in base64.")
    if len(cell) > MOST_IMAGE_BYTES * 4 // 3 + 4:
        raise Refused(f"The image is larger than {MOST_IMAGE_BYTES >> 20} MB.", 413)
    try:
        return io.BytesIO(base64.b64decode(cell, validate=True))
    except (binascii.Error, ValueError) as e:
        raise Refused("An image must be a string in base64.") from e
