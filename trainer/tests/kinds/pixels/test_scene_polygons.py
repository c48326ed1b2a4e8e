"""Polygons of a map that is read in strips, and areas of pixels."""

import numpy
import pytest
from rasterio.transform import Affine
from scene_files import write

from trainer.data.scenes import opening
from trainer.kinds.pixels.scenes import areas, polygons


def test_polygons_go_on_over_strips_and_large_ones_are_cut(monkeypatch):
    chance = numpy.random.default_rng(1)
    values = (numpy.kron(chance.integers(0, 3, (30, 20)), numpy.ones((10, 10)))).astype(numpy.uint8)
    scores = numpy.full(values.shape, 100, numpy.uint8)

    def found(rows):
        cut = [(values[t : t + rows], scores[t : t + rows]) for t in range(0, len(values), rows)]
        return [p for some in polygons.polygons(cut, 3) for p in zip(some.geometries, some.classes, some.pixels, some.scores)]

    once, several = found(300), found(7)
    assert len(once) == len(several) > 50

    def area(listed):
        return sorted((int(c), g.area) for g, c, _, _ in listed)

    assert area(once) == area(several)
    assert all(g.is_valid and g.area == pixels and score == 100 for g, _, pixels, score in several)
    monkeypatch.setattr(polygons, "MOST_CORNERS", 40)
    assert len(found(7)) > len(once)
    assert sum(g.area for g, *_ in found(7)) == sum(g.area for g, *_ in once)


@pytest.mark.parametrize(
    ("crs", "step", "expected"),
    [
        ("EPSG:32606", 2.0, 4.0),
        ("EPSG:4326", 1e-4, 42.6),  # 11.157 m to the north, and 3.8188 m to the east at 70 degrees
        ("EPSG:4326", 0.01, 0.0),  # two degrees of latitude, over which pixels differ by a tenth
        (None, 2.0, 0.0),
    ],
)
def test_the_area_of_a_pixel(tmp_path, crs, step, expected):
    file = write(tmp_path / "a.tif", numpy.zeros((200, 300), numpy.uint8), crs=crs, transform=Affine(step, 0, -150, 0, -step, 70))
    assert areas.of_pixel(opening.scene(file)) == pytest.approx(expected, rel=2e-3)
