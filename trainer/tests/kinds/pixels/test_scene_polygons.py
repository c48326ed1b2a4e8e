"""Polygons of a map that is read in strips."""

import numpy

from trainer.kinds.pixels.scenes import polygons


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
