"""Tables whose rows name pictures: what these look like is read beside the other columns, where it makes the loss smaller."""

import random

import numpy
import pytest
from conftest import events_of
from PIL import ExifTags, Image
from result_checks import check_success, predictions, result_of
from small_datasets import png, table

from trainer.core.input import Input
from trainer.data.formats.table import Table
from trainer.data.images import Index
from trainer.data.pictures import looks
from trainer.run import run
from trainer.run_folder.events import Events

ROWS = 90
FORM = {"task": "tabular-regression", "label_column": "yield", "model": "linear"}


def pixels(red: float, seed: int, side: int = 16) -> numpy.ndarray:
    chance = numpy.random.default_rng(seed)
    found = chance.integers(60, 120, size=(side, side, 3), dtype=numpy.uint8)
    found[..., 0] = numpy.clip(found[..., 0] + red, 0, 255)
    return found


def fields(told: bool = True, rows: int = ROWS) -> dict[str, bytes | str]:
    """A yield that depends on a number and, if it is ``told``, on how red a picture is. Two cells name no picture, and one a file that is none."""
    chance = random.Random(3)
    found: dict[str, bytes | str] = {}
    lines = []
    for i in range(rows):
        red, rain = chance.uniform(0, 120), chance.uniform(0, 10)
        name = "gone.png" if i == 4 else "" if i == 7 else f"plot{i}.png"
        if i not in (4, 7):
            found[name] = b"no picture" if i == 11 else png(pixels(red if told else 0, i))
        lines.append([name, round(rain, 3), round(5 * rain + (red if told else chance.uniform(0, 120)) + chance.gauss(0, 2), 2)])
    return {**found, "fields.csv": table(["photo", "rain", "yield"], lines)}


def decision(folder, what: str) -> dict:
    return next(e for e in events_of(folder) if e.get("what") == what)


def test_pictures_that_help_are_read_and_new_rows_answer_the_same(make_run, schemas):
    spec = make_run(fields(), **FORM)
    assert run(str(spec), "local") == 0
    result = check_success(spec.parent, schemas)
    said = decision(spec.parent, "picture_columns")["why"]
    assert said.endswith("read as 14 numbers. Of its cells 1 name no picture of the dataset and 1 name one that cannot be decoded: these are empty.")
    assert decision(spec.parent, "columns_by_loss")["why"].startswith("The picture column photo is used: the loss")
    assert "photo: mean red" in result["model"]["columns"] and "photo" not in result["model"]["columns"]
    assert result["metrics"]["test"]["r2"]["value"] > 0.9
    version = {"path": f"../{spec.parent.name}/out/model", "run": "r1", "name": "fields", "version": 1}
    later = make_run(fields(), run="later", kind="predict", more={"model": version})
    assert run(str(later), "local") == 0
    assert "1 name no picture" in decision(later.parent, "picture_columns")["why"]
    assert result_of(later.parent)["prediction"]["rows"] == ROWS
    answered = {row["row"]: row["predicted"] for row in predictions(later.parent)}
    assert all(answered[row["row"]] == row["predicted"] for row in predictions(spec.parent))
    gone = make_run({"fields.csv": fields()["fields.csv"]}, run="gone", kind="predict", more={"model": version})
    assert run(str(gone), "local") == 0
    assert f"{ROWS - 1} name no picture" in decision(gone.parent, "picture_columns")["why"]


def test_pictures_of_chance_are_left_out(make_run):
    spec = make_run(fields(told=False), **FORM)
    assert run(str(spec), "local") == 0
    assert decision(spec.parent, "columns_by_loss")["why"].startswith("The picture column photo is not used: the loss")
    assert result_of(spec.parent)["model"]["columns"] == ["rain"]


def test_the_numbers_of_a_picture():
    plain = looks.numbers(numpy.full((looks.SIDE, looks.SIDE, 3), 0.25, numpy.float32))
    assert len(plain) == len(looks.NAMES)
    assert plain.tolist() == pytest.approx([0.25] * 3 + [0] * 11)
    stripes = numpy.zeros((looks.SIDE, looks.SIDE, 3), numpy.float32)
    stripes[:, ::8] = 1
    of = dict(zip(looks.NAMES, looks.numbers(stripes), strict=True))
    assert of["edges across"] == pytest.approx(1) and of["edges down"] == 0
    turned = dict(zip(looks.NAMES, looks.numbers(stripes.transpose(1, 0, 2)), strict=True))
    assert turned["edges down"] == pytest.approx(1) and turned["edges across"] == 0
    middle = numpy.zeros((looks.SIDE, looks.SIDE, 3), numpy.float32)
    middle[16:48, 16:48, 1] = 1
    of = dict(zip(looks.NAMES, looks.numbers(middle), strict=True))
    assert (of["green of the middle less the border"], of["red of the middle less the border"]) == (1, 0)


def test_columns_of_pictures_are_known_by_their_names():
    names = [looks.column("photo: left", name) for name in looks.NAMES]
    assert {looks.source(n) for n in names} == {"photo: left"} and looks.source("photo: size") == looks.source("rain") == ""
    assert looks.grouped(["rain", *names]) == {"photo: left": tuple(names)}
    assert looks.grouped(names[1:]) == {}, "columns of a person that are called so"


def test_a_large_photo_is_decoded_at_a_fraction_of_its_size_and_upright(tmp_path):
    bright = numpy.zeros((800, 1200, 3), numpy.uint8)
    bright[:, :600, 1] = 200
    tag = Image.Exif()
    tag[ExifTags.Base.Orientation] = 6  # a quarter turn to the right: the bright half is at the top
    Image.fromarray(bright).save(tmp_path / "x.jpg", exif=tag)
    found = looks.small(tmp_path / "x.jpg")
    assert found[:24, :, 1].mean() > 0.7 and found[40:, :, 1].mean() < 0.1
    Image.fromarray(bright).rotate(-90, expand=True).save(tmp_path / "x.png")
    photo, same = ([float(n) for n in looks.of(tmp_path / name)] for name in ("x.jpg", "x.png"))
    assert photo == pytest.approx(same, abs=0.05)


@pytest.mark.parametrize("most", [0, 1])
def test_pictures_with_too_many_pixels_are_said_not_to_be_read(most, tmp_path, monkeypatch):
    monkeypatch.setattr(looks, "MOST", most)
    monkeypatch.setattr(looks, "_pixels", lambda file: 10**6)
    (tmp_path / "x.png").write_bytes(png(pixels(0, 1)))
    rows, said = Table("t.csv", ["photo", "rain"], [(2, ["x.png", "1"])]), Events(tmp_path / "events.jsonl", 1)
    looks.read([rows], Index([Input("x.png", tmp_path / "x.png", 1, "")]), (), said)
    assert (len(rows.columns) == 2) == (most == 0)


def test_what_is_no_picture_has_no_numbers(tmp_path):
    (tmp_path / "x.png").write_bytes(b"no picture")
    assert looks.of(tmp_path / "x.png") == ("",) * len(looks.NAMES) == looks.of(tmp_path / "none.png")
    assert not Index([]).holds(["x.png"])
