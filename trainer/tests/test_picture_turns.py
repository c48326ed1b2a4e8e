"""Turns of pictures: what lies on a picture moves as its pixels do."""

import itertools

import numpy
import pytest

from trainer.data.pictures.turns import NONE, Turn


@pytest.mark.parametrize(("quarters", "mirrored"), list(itertools.product(range(4), (False, True))))
def test_points_and_boxes_move_as_the_pixels_do(quarters, mirrored):
    turn, height, width = Turn(quarters, mirrored), 5, 8
    picture = numpy.arange(height * width).reshape(height, width)
    turned = turn.pixels(picture)
    assert turned.shape == ((width, height) if quarters % 2 else (height, width))
    rows, columns = numpy.indices(picture.shape)
    middles = numpy.stack([columns.ravel() + 0.5, rows.ravel() + 0.5], axis=1)
    x, y = (turn.points(middles, height, width) - 0.5).astype(int).T
    assert (turned[y, x] == picture.ravel()).all()
    left, top, right, bottom = turn.boxes(numpy.asarray([[2.0, 1, 6, 4]]), height, width)[0].astype(int)
    assert sorted(turned[top:bottom, left:right].ravel()) == sorted(picture[1:4, 2:6].ravel())


def test_all_eight_are_drawn_and_without_quarters_those_that_keep_the_size():
    random = numpy.random.default_rng(0)
    assert len({Turn.drawn(random) for _ in range(200)}) == 8
    kept = {Turn.drawn(random, quarters=False) for _ in range(100)}
    assert len(kept) == 4 and {t.quarters for t in kept} == {0, 2} and NONE in kept
