"""The offsets of classes make the mean IoU of known pixels larger, or are 0."""

import numpy
import pytest

from trainer.kinds.pixels import offsets


def pixels(shift: float, count: int = 4000):
    """Pixels of a frequent and a rare class, with logits that are ``shift`` too low for the rare one."""
    chance = numpy.random.default_rng(0)
    truth = (chance.random(count) < 0.2).astype(numpy.int64)
    right = numpy.where(truth == 1, 1.0, -1.0) + chance.normal(0, 1, count)
    return numpy.stack([numpy.zeros(count), right - shift], axis=1), truth


@pytest.mark.parametrize("shift", [0.0, 1.0])
def test_a_rare_class_is_answered_more_readily_where_that_pays(shift):
    logits, truth = pixels(shift)
    found = offsets.chosen(logits, truth)
    assert found[0] == 0 and abs(found[1] - shift) <= 0.5
    before, after = (offsets._score(truth, (logits + add).argmax(axis=1), 2) for add in (0, found))
    assert after > before + 0.05 if shift else after >= before


def test_little_gain_and_no_pixels_change_nothing():
    logits, truth = pixels(0.0)
    logits[:, 1] = numpy.where(truth == 1, 9.0, -9.0)
    assert not offsets.chosen(logits, truth).any()
    assert not offsets.chosen(logits[:0], truth[:0]).any()
