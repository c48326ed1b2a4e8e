"""The parts of the results: how examples are displayed, which license is named, and which files count as delivered."""

import base64
import csv
import hashlib
import io
from types import SimpleNamespace

import numpy
import pytest
from PIL import Image
from small_datasets import png

from trainer.core import registry
from trainer.core.example import Example
from trainer.data import origins
from trainer.data.pictures import thumbnails
from trainer.export import display, examples, results, training_results
from trainer.kinds.image import results as image_results
from trainer.measure.predictions import Predictions
from trainer.models import license
from trainer.targets.classes import Classes
from trainer.targets.number import Number


@pytest.mark.parametrize(
    ("content", "kind", "shown"),
    [
        pytest.param("one\ttwo \n three", "text", "one two three", id="a text on one line"),
        pytest.param("x" * 300, "text", "x" * 199 + "…", id="a long text"),
        pytest.param(("first", "second"), "text", "first / second", id="a pair of texts"),
        pytest.param(("1", "", "red"), "table", "a 1, b (empty), c red", id="cells with their columns"),
    ],
)
def test_an_example_is_displayed_as_one_short_line(content, kind, shown):
    assert registry.of(kind).content(Example("f.csv", 2, content, "label"), ("a", "b", "c")) == shown


def test_an_image_is_displayed_by_its_file_or_by_its_name_in_the_table(tmp_path):
    assert registry.of("image").content(Example("cats/1.png", 0, tmp_path, "cat"), ()) == "cats/1.png"
    assert registry.of("image").content(Example("table.csv", 7, tmp_path, "cat", id="1.png"), ()) == "1.png"


def test_a_thumbnail_is_a_small_upright_png(tmp_path):
    upright = Image.fromarray(numpy.zeros((200, 400, 3), numpy.uint8))
    exif = Image.Exif()
    exif[0x0112] = 6  # the camera was turned by a quarter
    upright.save(tmp_path / "a.jpg", exif=exif)
    data = base64.b64decode(thumbnails.of(tmp_path / "a.jpg"))
    with Image.open(io.BytesIO(data)) as image:
        assert (image.format, image.size) == ("PNG", (32, 64))


def test_an_image_that_vanished_has_no_thumbnail(tmp_path):
    example = Example("a.png", 0, tmp_path / "a.png", "x")
    assert thumbnails.of(example.content) is None
    assert display.entry(example, registry.of("image"), (), label="x") == {"file": "a.png", "row": 0, "content": "a.png", "label": "x"}


def test_a_noisy_thumbnail_is_left_out_if_it_is_too_large(tmp_path, monkeypatch):
    pixels = numpy.random.default_rng(0).integers(0, 255, size=(64, 64, 3), dtype=numpy.uint8)
    (tmp_path / "a.png").write_bytes(png(pixels))
    example = Example("a.png", 0, tmp_path / "a.png", "x")
    assert thumbnails.of(example.content) is not None
    monkeypatch.setattr(thumbnails, "MOST_BYTES", 5000)
    assert thumbnails.of(example.content) is None


@pytest.mark.parametrize(
    ("cards", "found"),
    [
        pytest.param({}, "", id="no card"),
        pytest.param({"README.md": "---\nlicense: apache-2.0\n---\n"}, "apache-2.0", id="the head of a README"),
        pytest.param({"README.md": "---\nlicense_name: 'my-license'\n"}, "my-license", id="a license with a name of its own"),
        pytest.param({"CARD.yaml": "license: mit\n", "README.md": "license: gpl\n"}, "mit", id="the first card wins"),
        pytest.param({"README.md": "# A model\nIts license: unclear\n"}, "", id="a sentence about a license"),
        pytest.param({"README.md": "x" * 30_000 + "\nlicense: mit\n"}, "", id="beyond the head of the card"),
    ],
)
def test_the_license_is_read_from_the_card(tmp_path, cards, found):
    for name, text in cards.items():
        (tmp_path / name).write_text(text)
    assert license.of(tmp_path) == found
    assert license.of(None) == ""


@pytest.mark.parametrize(
    ("change", "whole"),
    [
        pytest.param({}, True, id="as listed"),
        pytest.param({"size": 4}, False, id="another size"),
        pytest.param({"sha256": "0" * 64}, False, id="another content"),
        pytest.param({"path": "log.txt"}, False, id="outside out"),
        pytest.param({"path": "out/../log.txt"}, False, id="a way out"),
        pytest.param({"path": "out"}, False, id="a folder"),
    ],
)
def test_a_delivered_file_must_be_as_listed(tmp_path, change, whole):
    (tmp_path / "out").mkdir()
    for name in ("out/a.csv", "log.txt"):
        (tmp_path / name).write_bytes(b"abc")
    artifact = {"path": "out/a.csv", "size": 3, "sha256": hashlib.sha256(b"abc").hexdigest(), **change}
    assert results._is_whole(tmp_path, artifact) is whole


def _data(targets: list[str], **more) -> SimpleNamespace:
    examples = [Example("f.csv", i, f"text {i}", t, **more) for i, t in enumerate(targets, 2)]
    return SimpleNamespace(splits={"train": examples, "test": examples}, kind=registry.of("text"), columns=("text",))


def test_the_samples_show_different_labels_first():
    samples = training_results._samples(_data(["a"] * 6 + ["b", "c"]))
    assert [s["label"] for s in samples] == ["a", "b", "c", "a", "a"]


def _rows(data, target, test) -> list[dict]:
    finished = SimpleNamespace(
        data=data, prepared=SimpleNamespace(plan=SimpleNamespace(target=target)), outcome=SimpleNamespace(answers={"test": test}), origins=origins.ONE
    )
    return list(csv.DictReader(io.StringIO("".join(training_results._predictions(finished)))))


def test_predictions_of_classes_have_confidence_and_probability():
    truth, probabilities = numpy.array([0, 1]), numpy.array([[0.9, 0.1], [0.6, 0.4]])
    answered = Classes(("a", "b")).answers(probabilities, truth)
    rows = _rows(_data(["a", "b"], id="=x"), Classes(("a", "b")), answered)
    assert [(r["label"], r["predicted"], r["confidence"], r["probability of label"]) for r in rows] == [
        ("a", "a", "0.9000", "0.9000"),
        ("b", "a", "0.6000", "0.4000"),
    ]
    assert rows[0]["id"] == "'=x"  # no spreadsheet reads it as a formula


def test_predictions_of_numbers_have_no_confidence():
    rows = _rows(_data(["1", "2"]), Number(0.0, 1.0), Predictions(numpy.array([1.0, 2.0]), numpy.array([1.25, 2e6])))
    assert list(rows[0]) == ["file", "row", "content", "label", "predicted"]
    assert [r["predicted"] for r in rows] == ["1.25", "2e+06"]


@pytest.mark.parametrize(
    ("score", "linear", "wins"),
    [(0.9, object(), True), (0.8, object(), True), (0.7, object(), False), (None, object(), False), (0.9, None, False)],
)
def test_the_linear_model_is_delivered_if_it_is_as_good(score, linear, wins):
    baselines = SimpleNamespace(linear=linear, score=lambda _: score)
    assert training_results._baseline_wins({"accuracy": {"value": 0.8}}, baselines) is wins


def test_whole_rows_are_kept_to_try_a_model_with():
    rows = [
        Example("a.csv", i + 1, text, label)
        for i, (text, label) in enumerate([("good", "yes"), ("x" * 3000, "yes"), ("bad", "no"), ("so", "no"), ("fine", "yes")])
    ]
    test = Predictions(numpy.array([1, 1, 0, 0, 1]), numpy.array([1, 1, 1, 0, 1]), numpy.array([0.9, 0.9, 0.8, 0.51, 0.95]))
    target = Classes(("no", "yes"))
    found = examples.examples(rows, registry.of("text"), ["text"], target, test)
    assert [(e["as"], e["input"]["text"], e["predicted"]) for e in found] == [
        ("right", "fine", "yes"),
        ("wrong", "bad", "yes"),
        ("unsure", "so", "no"),
        ("unsure", "good", "yes"),
    ]
    cells = [Example("a.csv", 1, ("1.5", "", "red"), "2.5")]
    numbers = examples.examples(
        cells, registry.of("table"), ["size", "age", "colour"], Number(2.0, 1.0), Predictions(numpy.array([2.5]), numpy.array([2.25]))
    )
    assert numbers == [{"as": "row", "input": {"size": "1.5", "colour": "red"}, "label": "2.5", "predicted": "2.25"}]
    assert examples.examples(cells, registry.of("graph"), [], target, test) is None


def test_small_images_are_kept_as_they_are(tmp_path):
    for name, content in {"a.png": b"a" * 10, "b.png": b"b" * (image_results.INPUT_BYTES + 1), "c.jpg": b"c", "d.png": b"d"}.items():
        (tmp_path / name).write_bytes(content)
    rows = [Example(name, 0, tmp_path / name, "yes") for name in ("b.png", "a.png", "gone.png", "c.jpg", "d.png")]
    test = Predictions(numpy.array([1, 1, 1, 1, 1]), numpy.array([1, 1, 1, 0, 1]), numpy.array([0.99, 0.9, 0.8, 0.7, 0.6]))
    found = examples.examples(rows, registry.of("image"), [], Classes(("no", "yes")), test)
    assert [(e["as"], base64.b64decode(e["input"]["image"])) for e in found] == [("right", b"a" * 10), ("wrong", b"c"), ("unsure", b"d")]
