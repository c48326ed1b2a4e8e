"""Why a single answer: what the parts of a row, of a text and of a picture bring, by the Open Inference Protocol."""

import io
import json
import math
from types import SimpleNamespace

import numpy
import pytest
from PIL import Image
from test_importance import NAMES, TABLE, fields, fitted  # noqa: F401

from trainer.answer import server, why
from trainer.answer.rows import Column, Form, Refused
from trainer.core import registry
from trainer.core.example import Example
from trainer.targets.classes import Classes
from trainer.targets.number import Number

AB = Classes(("a", "b"))


def said(kind: str, content, columns, outputs, target=AB) -> dict[str, dict]:
    form = Form(registry.of(kind), tuple(Column(c, "text") for c in columns), {})
    return {t["name"]: t for t in why.tensors(form, target, [Example("request", 1, content, "")], outputs)}


def by_letters(examples) -> numpy.ndarray:
    """The class b is as likely as there are letters b in a text."""
    share = numpy.asarray([min(0.9, 0.1 + 0.2 * str(e.content).count("b")) for e in examples])
    return numpy.stack([1 - share, share], axis=1)


def test_words_bring_what_the_answer_falls_by_without_them():
    found = said("text", "Bb it is, and it is b", ("text",), by_letters)
    assert found[why.PART]["data"] == ["Bb", "it", "is", "and", "b"]
    assert found[why.RAISED]["data"] == pytest.approx([-math.log(7 / 3), 0, 0, 0, -math.log(7 / 3)]), "the odds were one to one"
    assert found[why.RAISED]["parameters"] == {"answer": "a"}


def test_a_word_is_left_out_wherever_it_stands_in_a_pair_of_texts():
    _, parts = registry.of("text").without_parts(Example("request", 1, ("One two", "two, THREE"), ""), ("text", "other"), 2)
    assert [(less.name, less.example.content) for less in parts] == [("One", (" two", "two, THREE")), ("two", ("One ", ", THREE"))]


def test_cells_bring_what_the_answer_falls_by_without_them():
    heavy = lambda examples: numpy.asarray([3.0 * float(e.content[0] or 0) - float(e.content[2] or 0) for e in examples])  # noqa: E731
    found = said("table", ("2", "", "5"), ("x", "y", "z"), heavy, Number(0, 1))
    assert found[why.PART]["data"] == ["x", "z"], "an empty cell brings nothing"
    assert found[why.RAISED]["data"] == [6.0, -5.0]
    assert found[why.RAISED]["parameters"] == {"answer": "the number"}


def test_cells_of_a_linear_model_bring_their_weight_times_their_distance_from_the_mean(fitted):  # noqa: F811
    data, target, models = fitted
    model = models["linear"]
    if target.labels:
        pytest.skip("probabilities are not linear")
    example = data.splits["test"][3]
    found = said("table", example.content, NAMES, model.outputs, target)
    raised = dict(zip(found[why.PART]["data"], found[why.RAISED]["data"], strict=True))
    place = NAMES.index("rain")
    column, block = model.encoder.columns[place], model.encoder.blocks[place]
    exact = (float(example.content[place]) - column["mean"]) / column["std"] * float(model.weights[block, 0][0])
    assert raised["rain"] == pytest.approx(exact, rel=1e-4)


def png(side: int = 90, mode: str = "RGB") -> bytes:
    picture = Image.new(mode, (side, side), "black")
    picture.paste("white", (0, 0, side // 3, side // 3))
    picture.save(content := io.BytesIO(), "PNG")
    return content.getvalue()


def by_light(examples) -> numpy.ndarray:
    """The class b is as likely as the first ninth of a picture is bright."""
    share = []
    for e in examples:
        with Image.open(e.content) as image:
            pixels = numpy.asarray(image.convert("L"), numpy.float64) / 255
        share.append(pixels[: len(pixels) // 3, : len(pixels) // 3].mean())
    share = 0.9 * numpy.asarray(share)
    return numpy.stack([1 - share, share], axis=1)


@pytest.mark.parametrize("mode", ["RGB", "L"])
def test_squares_of_a_picture_bring_what_the_answer_falls_by_without_them(mode, monkeypatch):
    monkeypatch.setattr(why, "_MOST", 9)
    found = said("image", io.BytesIO(png(mode=mode)), ("image",), by_light)
    raised = numpy.asarray(found[why.RAISED]["data"])
    assert raised.argmax() == 0 and raised[0] > 0.3 and numpy.abs(raised[1:]).max() < 0.01
    assert found[why.BOX]["shape"] == [9, 4] and found[why.BOX]["data"][:8] == pytest.approx([0, 0, 1 / 3, 1 / 3, 1 / 3, 0, 1 / 3, 1 / 3])


def test_where_answers_take_long_there_are_fewer_parts(monkeypatch):
    monkeypatch.setattr(why, "_SECONDS", 0.0)
    assert len(said("text", "one two three four five six", ("text",), by_letters)[why.PART]["data"]) == 4


@pytest.mark.parametrize(
    ("kind", "content", "target", "what"),
    [
        pytest.param("text", "word", AB, "do not say why", id="one word"),
        pytest.param("table", ("1", ""), AB, "do not say why", id="one cell"),
        pytest.param("series", "x", AB, "do not say why", id="a kind without parts"),
        pytest.param("text", "two words", object(), "do not say why", id="a target that says nothing"),
        pytest.param("image", io.BytesIO(png(mode="RGBA")), AB, "do not say why", id="a picture with an alpha channel"),
    ],
)
def test_what_cannot_be_said_is_refused(kind, content, target, what):
    with pytest.raises(Refused, match=what):
        said(kind, content, ("x", "y"), by_letters, target)


def test_several_rows_are_refused():
    with pytest.raises(Refused, match="one row at a time"):
        why.tensors(None, AB, [None, None], by_letters)


def test_the_protocol_asks_by_a_parameter():
    asked = []
    model = SimpleNamespace(answer=lambda inputs, says_why: asked.append(says_why) or [])
    source, loaded = SimpleNamespace(place=lambda *_: SimpleNamespace(version="1")), SimpleNamespace(get=lambda _: model)
    for parameters in ({"why": True}, {"why": "yes"}, {}, None, []):
        body = json.dumps({"inputs": [], "parameters": parameters}).encode()
        assert server.route(source, loaded, "POST", "/v2/models/reviews/infer", body)[0] == 200
    assert asked == [True, False, False, False, False]
