"""Examples in reports and tables: short, on one line, never a formula, and images as thumbnails."""

import base64
import csv
import io

import numpy
import pytest
from hypothesis import given, settings, strategies as st
from PIL import Image

from trainer.core import registry
from trainer.core.example import Example
from trainer.data.origins import Origins
from trainer.data.pictures import thumbnails
from trainer.export import display
from trainer.models import license


def example(content, row: int = 1, **more) -> Example:
    return Example("a.csv", row, content, "", **more)


@pytest.mark.parametrize(
    ("one", "kind", "columns", "shown"),
    [
        (example("a\n b"), "text", (), "a b"),
        (example(("a", "b")), "text", (), "a / b"),
        (example(("1", "")), "table", ("x", "y"), "x 1, y (empty)"),
        (example(("Ada", "codes")), "tokens", (), "Ada codes"),
        (example("Ada codes"), "tokens", (), "Ada codes"),
        (example("p", row=0), "image", (), "a.csv"),
        (example("p", row=3, id="7.png"), "image", (), "7.png"),
    ],
)
def test_an_example_as_one_line(one, kind, columns, shown):
    assert registry.of(kind).content(one, columns) == shown


@pytest.mark.parametrize(("length", "shown"), [(0, 0), (200, 200), (201, 200), (10**6, 200)])
def test_a_long_text_is_cut(length, shown):
    found = display.short("x" * length)
    assert len(found) == shown
    assert found.endswith("…") == (length > 200)


def test_spaces_are_joined_before_a_text_is_cut():
    assert display.short("a " * 100) == " ".join("a" * 100)
    assert display.short("a" + " " * 4000 + "b") == "a"


@pytest.mark.parametrize(
    ("cell", "written"),
    [
        ("=1+1", "'=1+1"), ("+cmd", "'+cmd"), ("-cmd", "'-cmd"), ("@x", "'@x"), ("\tx", "'\tx"), ("\rx", "'\rx"), ("-5", "-5"), ("+1.5e3", "+1.5e3"),
        ("=", "="), ("-", "-"), ("", ""), ("a=1", "a=1"), (-5, -5), (None, None), ("-inf", "'-inf"), ("-nan", "'-nan"),
    ],
)  # fmt: skip
def test_a_cell_is_never_a_formula(cell, written):
    assert display.escape_formula(cell) == written


@settings(max_examples=200, deadline=None)
@given(st.lists(st.lists(st.text(st.characters(exclude_categories=["Cs"]), max_size=8), min_size=2, max_size=2), max_size=5))
def test_a_table_is_read_back_by_csv(rows):
    text = display.table(["a", "b"], rows)
    read = list(csv.reader(io.StringIO(text, newline="")))
    assert read[0] == ["a", "b"]
    assert read[1:] == [[display.escape_formula(c) for c in row] for row in rows]
    for row in read[1:]:
        assert not any(len(c) > 1 and c[0] in "=@" for c in row)


def image(tmp_path, size, mode="RGB", name="a.png", **more) -> Example:
    Image.new(mode, size, 120).save(tmp_path / name, **more)
    return Example(name, 0, tmp_path / name, "")


@pytest.mark.parametrize(
    ("size", "mode", "shown"),
    [((640, 320), "RGB", (64, 32)), ((1, 1), "L", (1, 1)), ((10, 1000), "RGBA", (1, 64)), ((64, 64), "P", (64, 64)), ((65, 65), "1", (64, 64))],
)
def test_a_thumbnail_keeps_the_shape_of_its_image(tmp_path, size, mode, shown):
    small = Image.open(io.BytesIO(base64.b64decode(thumbnails.of(image(tmp_path, size, mode).content))))
    assert (small.size, small.mode, small.format) == (shown, "RGB", "PNG")


def test_a_thumbnail_stands_upright(tmp_path):
    exif = Image.Exif()
    exif[0x0112] = 6  # turned by 90 degrees
    small = Image.open(io.BytesIO(base64.b64decode(thumbnails.of(image(tmp_path, (40, 20), name="a.jpg", exif=exif).content))))
    assert small.size == (20, 40)


@pytest.mark.parametrize("data", [b"", b"no image", b"\x89PNG\r\n\x1a\n"])
def test_a_file_that_is_no_image_has_no_thumbnail(tmp_path, data):
    (tmp_path / "a.png").write_bytes(data)
    assert thumbnails.of(tmp_path / "a.png") is None
    assert "image" not in display.entry(Example("a.png", 0, tmp_path / "a.png", ""), registry.of("image"), ())


def test_an_image_that_is_gone_or_stays_large_has_no_thumbnail(tmp_path, monkeypatch):
    assert thumbnails.of(tmp_path / "gone.png") is None
    noise = numpy.random.default_rng(1).integers(0, 256, (64, 64, 3), numpy.uint8)
    Image.fromarray(noise).save(tmp_path / "noise.png")
    one = Example("noise.png", 0, tmp_path / "noise.png", "")
    assert thumbnails.of(one.content) is not None
    monkeypatch.setattr(thumbnails, "MOST_BYTES", 1000)
    assert thumbnails.of(one.content) is None


@pytest.mark.parametrize(
    ("files", "found"),
    [
        ({}, ""),
        ({"model.json": '{"license": "mit"}'}, "mit"),
        ({"model.json": '{"license": 5}', "README.md": "license: apache-2.0"}, "apache-2.0"),
        ({"model.json": "[]", "README.md": "license: apache-2.0"}, "apache-2.0"),
        ({"model.json": "{", "README.md": "license: apache-2.0"}, "apache-2.0"),
        ({"README.md": "---\nlicense: mit\n---"}, "mit"),
        ({"README.md": "license: 'cc-by-4.0'  "}, "cc-by-4.0"),
        ({"README.md": "license_name: llama3"}, "llama3"),
        ({"README.md": "license: [mit, apache-2.0]"}, "mit, apache-2.0"),
        ({"README.md": "license:\n- mit\n- \"bsd\"\ntags:\n- x"}, "mit, bsd"),
        ({"README.md": "The license: mit"}, ""),
        ({"README.md": "license:"}, ""),
        ({"README.md": "x" * 20_000 + "\nlicense: mit"}, ""),
        ({"CARD.yaml": "license: a", "README.md": "license: b"}, "a"),
        ({"model_card.md": "license: c"}, "c"),
        ({"model.json": '{"license": "' + "x" * 300 + '"}'}, "x" * 200),
        ({"README.md": b"\xff\xfe\nlicense: mit"}, "mit"),
    ],
)  # fmt: skip
def test_the_license_of_a_model(tmp_path, files, found):
    for name, content in files.items():
        (tmp_path / name).write_bytes(content if isinstance(content, bytes) else content.encode())
    assert license.of(tmp_path) == found


def test_a_model_from_scratch_has_no_license():
    assert license.of(None) == ""


def test_a_run_of_several_datasets_tells_the_dataset_of_each_line():
    head, rows = ["file", "row", "content"], [["plot 1/a.csv", 2, "x,y"], ["own.csv", 3, "=1+1"], ["=plot/b.csv", 4, "a\r\nb"]]
    origins = Origins(frozenset({"plot 1", "=plot"}), "Reviews")
    assert list(csv.reader(io.StringIO(display.table(head, rows, origins), newline=""))) == [
        ["file", "dataset", "row", "content"],
        ["plot 1/a.csv", "plot 1", "2", "x,y"],
        ["own.csv", "Reviews", "3", "'=1+1"],
        ["'=plot/b.csv", "'=plot", "4", "a\r\nb"],
    ]
    assert display.table(head, rows).splitlines()[0] == "file,row,content"
