"""Requests for answers: what becomes an example, and each refusal as its sender reads it."""

import base64
import math
from pathlib import Path

import pytest

from trainer.answer.rows import MOST_CHARACTERS, MOST_IMAGE_BYTES, MOST_ROWS, TEXT as INPUT, Form, Refused, plain_texts
from trainer.core import registry
from trainer.data.columns.values import Style


def form(kind: str, columns=(), types=None, styles=None, categories=None) -> Form:
    encoder = {"columns": [{"name": name, "categories": values} for name, values in (categories or {}).items()]}
    reads = registry.of(kind)
    described = {"task": reads.tasks[0], "columns": list(columns), "types": types or {}, "encoder": encoder}
    return Form(reads, reads.inputs(described, Path("gone")), styles or {})


TEXT = form("text", ["review"])
PAIR = form("text", ["premise", "hypothesis"], {"hypothesis": "pair"})
TABLE = form("table", ["price", "colour"], {"price": "number", "colour": "category"}, {"price": Style(True, "€")}, {"colour": ["blue", "red"]})
IMAGE = form("image")
TOKENS = form("tokens", ["tokens"])


def tensor(name: str, data, **more) -> dict:
    return {"name": name, "datatype": "BYTES", "shape": [len(data)] if isinstance(data, list) else [1], "data": data, **more}


def contents(reads: Form, *tensors) -> list:
    found = reads.examples(list(tensors))
    assert [(e.file, e.row, e.target) for e in found] == [("request", i + 1, "") for i in range(len(found))]
    return [e.content for e in found]


FEW = f"A request has 1 to {MOST_ROWS} rows. Let the model answer for a dataset where there are more."


@pytest.mark.parametrize(
    ("reads", "columns"),
    [
        (TEXT, [("text", "text", "BYTES", ())]),
        (PAIR, [("text", "text", "BYTES", ()), ("hypothesis", "text", "BYTES", ())]),
        (TABLE, [("price", "number", "FP64", ()), ("colour", "category", "BYTES", ("blue", "red"))]),
        (IMAGE, [("image", "image", "BYTES", ())]),
    ],
)
def test_the_inputs_of_a_model(reads, columns):
    assert [(c.name, c.type, c.datatype, c.categories) for c in reads.columns] == columns


def test_texts_are_read_without_the_space_around_them():
    assert contents(TEXT, tensor("text", [" good ", "bad\n"])) == ["good", "bad"]
    assert contents(PAIR, tensor("hypothesis", ["b"]), tensor("text", ["a"])) == [("a", "b")]


@pytest.mark.parametrize(
    ("price", "colour", "row"),
    [
        (1.5, "red", ("1.5", "red")),
        (3, " red ", ("3", "red")),
        (1.234, "red", ("1.234", "red")),
        ("1.234", "red", ("1234.0", "red")),
        ("1,5 €", "red", ("1.5", "red")),
        ("1.500", "", ("1500.0", "")),
        (None, "red", ("", "red")),
        (math.nan, "red", ("", "red")),
        ("NA", "red", ("", "red")),
        (2.5, None, ("2.5", "")),
        (2.5, "n/a", ("2.5", "")),
        (2.5, 7, ("2.5", "7")),
        (2.5, True, ("2.5", "True")),
    ],
)
def test_a_row_of_a_table_is_read_as_in_its_training(price, colour, row):
    (found,) = contents(TABLE, tensor("price", [price]), tensor("colour", [colour]))
    assert found == row


def test_a_column_that_is_not_sent_is_empty():
    assert contents(TABLE, tensor("colour", ["red", "blue"])) == [("", "red"), ("", "blue")]


def test_an_image_is_its_bytes():
    (found,) = contents(IMAGE, tensor("image", [base64.b64encode(b"png").decode()]))
    assert found.read() == b"png"


MANY = "x" * (MOST_CHARACTERS // 2 + 1)


@pytest.mark.parametrize(
    ("reads", "inputs", "sentence", "status"),
    [
        pytest.param(TEXT, None, "inputs must be a list of tensors with name, datatype, shape and data.", 400, id="no list"),
        pytest.param(TEXT, ["text"], "inputs must be a list of tensors with name, datatype, shape and data.", 400, id="no tensor"),
        pytest.param(TEXT, [{"name": 5}], "inputs must be a list of tensors with name, datatype, shape and data.", 400, id="a name that is a number"),
        pytest.param(TEXT, [], "The input text is missing.", 400, id="nothing for a text"),
        pytest.param(TABLE, [], "There is no input: the model reads price and colour.", 400, id="nothing for a table"),
        pytest.param(PAIR, [tensor("text", ["a"])], "The input hypothesis is missing.", 400, id="half a pair"),
        pytest.param(TEXT, [tensor("title", ["a"])], "The model has no input title: it reads text.", 400, id="another input"),
        pytest.param(TEXT, [tensor("text", ["a"]), tensor("text", ["b"])], "The input text is there twice.", 400, id="twice"),
        pytest.param(TEXT, [{"name": "text"}], "The data of text must be a flat list of values.", 400, id="no data"),
        pytest.param(TEXT, [tensor("text", [["a"]])], "The data of text must be a flat list of values.", 400, id="nested data"),
        pytest.param(TEXT, [tensor("text", ["a"], shape=[2])], "The shape of text must be [1], the number of its values.", 400, id="a wrong shape"),
        pytest.param(TEXT, [tensor("text", [])], FEW, 400,
                     id="no row"),
        pytest.param(TEXT, [tensor("text", ["a"] * 65)],
                     FEW, 400, id="65 rows"),
        pytest.param(TEXT, [tensor("text", [5])], "A text must be a string.", 400, id="a number for a text"),
        pytest.param(TEXT, [tensor("text", ["a", " "])], "A text is empty.", 400, id="an empty text"),
        pytest.param(PAIR, [tensor("text", ["a", "b"]), tensor("hypothesis", ["c"])], "All inputs must have the same number of rows.", 400,
                     id="different lengths"),
        pytest.param(TEXT, [tensor("text", [MANY, MANY])], "The texts have more than 1000000 characters.", 413, id="too long together"),
        pytest.param(TABLE, [tensor("price", ["much"])], "price must be a number, not much.", 400, id="no number"),
        pytest.param(TABLE, [tensor("price", ["5 $"])], "price must be a number, not 5 $.", 400, id="another currency"),
        pytest.param(TABLE, [tensor("price", [None])], "A row has no value. Give it at least one that the model reads.", 400, id="a row of nothing"),
        pytest.param(IMAGE, [tensor("image", [5])], "An image must be a string in base64.", 400, id="a number for an image"),
        pytest.param(IMAGE, [tensor("image", ["???"])], "An image must be a string in base64.", 400, id="no base64"),
        pytest.param(IMAGE, [tensor("image", ["é"])], "An image must be a string in base64.", 400, id="no ASCII"),
        pytest.param(IMAGE, [tensor("image", ["A" * (MOST_IMAGE_BYTES * 4 // 3 + 5)])], "The image is larger than 10 MB.", 413, id="a huge image"),
    ],
)  # fmt: skip
def test_a_request_that_cannot_be_answered_is_refused_in_one_sentence(reads, inputs, sentence, status):
    with pytest.raises(Refused) as refused:
        reads.examples(inputs)
    assert (str(refused.value), refused.value.status) == (sentence, status)


def test_as_many_rows_and_characters_as_allowed_are_answered():
    assert len(contents(TEXT, tensor("text", ["a"] * MOST_ROWS))) == MOST_ROWS
    assert contents(TEXT, tensor("text", ["x" * MOST_CHARACTERS]))


def texts_with_places(inputs: list) -> list[str]:
    return plain_texts(TOKENS.cells(inputs)[INPUT])


def test_texts_with_places_come_as_they_were_sent():
    assert texts_with_places([tensor("text", [" Ada Lovelace "])]) == [" Ada Lovelace "]


@pytest.mark.parametrize(
    ("inputs", "sentence", "status"),
    [
        ([], "The input text is missing.", 400),
        ([tensor("tokens", ["a"])], "The model has no input tokens: it reads text.", 400),
        ([tensor("text", ["a"] * 65)], FEW, 400),
        ([tensor("text", [None])], "A text must be a string.", 400),
        ([tensor("text", [MANY, MANY])], "The texts have more than 1000000 characters.", 413),
    ],
)
def test_texts_with_places_are_refused_like_others(inputs, sentence, status):
    with pytest.raises(Refused) as refused:
        texts_with_places(inputs)
    assert (str(refused.value), refused.value.status) == (sentence, status)
