"""The picture of answers that the service shows: its size, its legend, and the letters in it."""

import io

import numpy
import pytest
from PIL import Image

from trainer.export import sheet
from trainer.export.sheet import Panel

RED = (213, 94, 0)


def panel(width: int, height: int, words: str = "a.png") -> Panel:
    return Panel(Image.new("RGB", (width, height), RED), words)


def drawn(tmp_path, panels, columns, legend=((RED, "pond"),)) -> numpy.ndarray:
    about = sheet.write(tmp_path, panels, columns, legend, "What is seen.")
    assert about == {"out/overlay.png": {"title": "Overlay", "text": "What is seen.", "shown": True}}
    data = (tmp_path / sheet.FILE).read_bytes()
    sheet.write(tmp_path, panels, columns, legend, "What is seen.")
    assert (tmp_path / sheet.FILE).read_bytes() == data, "the same bytes each time"
    return numpy.asarray(Image.open(io.BytesIO(data)).convert("RGB"))


@pytest.mark.parametrize(
    ("size", "number", "columns"),
    [((1, 1), 1, 1), ((64, 64), 6, 2), ((5000, 3), 2, 2), ((3, 5000), 3, 2), ((640, 480), 1, 1)],
)
def test_pictures_of_any_size_are_on_a_sheet_of_bounded_size(size, number, columns, tmp_path):
    seen = drawn(tmp_path, [panel(*size)] * number, columns)
    assert 512 <= seen.shape[1] <= sheet.WIDTH and seen.shape[0] < 2200
    assert (numpy.abs(seen.astype(int) - RED).max(axis=2) < 8).sum() >= number


def test_small_pictures_keep_their_pixels_as_squares(tmp_path):
    pixels = numpy.zeros((8, 8, 3), numpy.uint8)
    pixels[:, 4:] = 255
    seen = drawn(tmp_path, [Panel(Image.fromarray(pixels), "")], 1, [])
    dark = numpy.flatnonzero((seen == 0).all(axis=2).any(axis=0))
    assert len(dark) == 4 * 4 and dark[-1] - dark[0] == len(dark) - 1


@pytest.mark.parametrize(("name", "expected"), [("Größe", "Gro?e"), ("étang", "etang"), ("水", ""), ("a\x00\nb", "a??b"), ("x" * 300, "x" * 200)])
def test_names_are_in_letters_of_the_font(name, expected):
    assert sheet._plain(name) == expected


def test_a_legend_of_many_and_long_names_stays_inside(tmp_path):
    font = sheet.ImageFont.load_default(17)
    placed = sheet._placed([(RED, "W" * 90)] * 40, font, 700)
    assert len(placed) == sheet._ENTRIES + 1 and placed[-1][3] == "and 22 more"
    assert max(left + 24 + font.getlength(name) for left, _, _, name in placed) <= 700
    drawn(tmp_path, [panel(9, 9)], 1, [(RED, "水")] * 3)


def test_without_panels_there_is_no_picture(tmp_path):
    assert sheet.write(tmp_path, [], 1, [], "") == {}
    assert not list(tmp_path.iterdir())
