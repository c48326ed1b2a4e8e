"""From the inputs of a request to the examples that a model reads: the same reading of cells as in a training."""

import base64
import binascii
import io
import math
from dataclasses import dataclass

from trainer.core import saved_model
from trainer.data import Example
from trainer.data.columns import values
from trainer.data.columns.features import NUMBER
from trainer.data.columns.values import Style
from trainer.data.rows import PAIR
from trainer.errors import some

MOST_ROWS = 64
MOST_CHARACTERS = 1_000_000  # of the texts of a request
MOST_IMAGE_BYTES = 10 << 20
TEXT, IMAGE = "text", "image"


class Refused(Exception):
    """The request cannot be answered. The message is a sentence for its sender; ``status`` is the status of HTTP."""

    def __init__(self, message: str, status: int = 400):
        super().__init__(message)
        self.status = status


@dataclass(frozen=True)
class Column:
    """One input of a model: a tensor of BYTES, or of FP64 where the column holds numbers."""

    name: str
    type: str  # text, image, number or category
    categories: tuple[str, ...] = ()

    @property
    def datatype(self) -> str:
        return "FP64" if self.type == NUMBER else "BYTES"


class Form:
    """What a model reads: its columns, and how the cells of a request become examples."""

    def __init__(self, described: dict, categories: dict[str, list[str]]):
        self.kind, self._styles = described["kind"], saved_model.styles(described)
        types = described["types"]
        if self.kind == "table":
            self.columns = tuple(Column(c, types[c], tuple(categories.get(c, ()))) for c in described["columns"])
        elif self.kind == "image":
            self.columns = (Column(IMAGE, IMAGE),)
        else:
            second = [c for c in described["columns"] if types.get(c) == PAIR]
            self.columns = (Column(TEXT, TEXT), *(Column(c, TEXT) for c in second))

    def examples(self, inputs: list) -> list[Example]:
        """The examples in the ``inputs`` of a request. Raises Refused."""
        given = _tensors(inputs)
        if strange := [name for name in given if name not in {c.name for c in self.columns}]:
            raise Refused(f"The model has no input {some(strange, 3)}: it reads {some([c.name for c in self.columns], 20)}.")
        if self.kind != "table" and len(given) < len(self.columns):
            raise Refused(f"The input {some([c.name for c in self.columns if c.name not in given], 3)} is missing.")
        if not given:
            raise Refused(f"There is no input: the model reads {some([c.name for c in self.columns], 20)}.")
        rows = {len(cells) for cells in given.values()}
        if len(rows) > 1:
            raise Refused("All inputs must have the same number of rows.")
        count = rows.pop()
        if not 1 <= count <= MOST_ROWS:
            raise Refused(f"A request has 1 to {MOST_ROWS} rows. Let the model answer for a dataset where there are more.")
        return [Example("request", i + 1, content, "") for i, content in enumerate(self._contents(given, count))]

    def plain(self, inputs: list) -> list[str]:
        """The texts of a request as they were sent, where places in them are answered. Raises Refused."""
        given = _tensors(inputs)
        if list(given) != [TEXT] or not 1 <= len(given[TEXT]) <= MOST_ROWS:
            raise Refused(f"The model reads one input, {TEXT}, with 1 to {MOST_ROWS} rows.")
        if not all(isinstance(cell, str) for cell in given[TEXT]):
            raise Refused("A text must be a string.")
        if sum(map(len, given[TEXT])) > MOST_CHARACTERS:
            raise Refused(f"The texts have more than {MOST_CHARACTERS} characters.", 413)
        return given[TEXT]

    def _contents(self, given: dict[str, list], count: int) -> list:
        if self.kind == "image":
            return [_image(cell) for cell in given[IMAGE]]
        if self.kind == "text":
            return self._texts(given)
        columns = []
        for column in self.columns:
            cells = given.get(column.name, [""] * count)
            if column.type == NUMBER:
                columns.append(_numbers(cells, column.name, self._styles.get(column.name, Style())))
            else:
                columns.append(["" if values.is_missing(c) else c.strip() for c in map(_cell, cells)])
        found = list(zip(*columns))
        if not all(any(row) for row in found):
            raise Refused("A row has no value. Give it at least one that the model reads.")
        return found

    def _texts(self, given: dict[str, list]) -> list:
        texts = [[_text(cell) for cell in given[column.name]] for column in self.columns]
        if sum(len(text) for column in texts for text in column) > MOST_CHARACTERS:
            raise Refused(f"The texts have more than {MOST_CHARACTERS} characters.", 413)
        if not all(all(row) for row in zip(*texts)):
            raise Refused("A text is empty.")
        return texts[0] if len(texts) == 1 else list(zip(*texts))


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


def _cell(cell) -> str:
    """A cell of a request as it would stand in a file."""
    if cell is None or (isinstance(cell, float) and math.isnan(cell)):
        return ""
    return cell if isinstance(cell, str) else repr(cell)


def _numbers(cells: list, name: str, style: Style) -> list[str]:
    """The cells as numbers. A text is written in the style of the training data; a number of JSON is one as it is."""
    found = []
    for cell in cells:
        text = _cell(cell)
        (number,) = values.as_numbers([text], style if isinstance(cell, str) else Style())
        if not number and not values.is_missing(text):
            raise Refused(f"{some([name])} must be a number, not {some([text])}.")
        found.append(number)
    return found


def _text(cell) -> str:
    if not isinstance(cell, str):
        raise Refused("A text must be a string.")
    return cell.strip()


def _image(cell) -> io.BytesIO:
    if not isinstance(cell, str):
        raise Refused("An image must be a string in base64.")
    if len(cell) > MOST_IMAGE_BYTES * 4 // 3 + 4:
        raise Refused(f"The image is larger than {MOST_IMAGE_BYTES >> 20} MB.", 413)
    try:
        return io.BytesIO(base64.b64decode(cell, validate=True))
    except (binascii.Error, ValueError) as e:
        raise Refused("An image must be a string in base64.") from e
