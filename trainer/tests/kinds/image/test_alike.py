"""Numbers by which pictures of one plant are known: what they see that grey means do not, and that they raise no false alarm."""

import numpy
import pytest
from small_datasets import png

from trainer.core import registry
from trainer.core.example import Example
from trainer.core.likened import Likened
from trainer.kinds.image import alike
from trainer.measure import other_split

GROUPS, EACH, SIDE = 40, 8, 64


def picture(chance: numpy.random.Generator, hue: float, angle: float, waves: float) -> numpy.ndarray:
    """A colour with waves in a direction. All are as bright as each other, so that grey means are the same."""
    y, x = numpy.mgrid[:SIDE, :SIDE] / SIDE
    wave = 0.12 * numpy.sin(2 * numpy.pi * waves * (x * numpy.cos(angle) + y * numpy.sin(angle)) + chance.uniform(0, 6.28))
    colour = 0.5 + 0.25 * numpy.cos(hue + numpy.array([0, 2.09, 4.19]))
    return numpy.clip(colour + wave[:, :, None] + chance.normal(0, 0.05, (SIDE, SIDE, 1)), 0, 1)


def of_plants(plants_differ: bool, seed: int) -> tuple[list[numpy.ndarray], numpy.ndarray]:
    """Pictures in the order of their plants, and their labels. Either each plant has its own look and mostly its own label, or the direction of the
    waves tells the label and the plant tells nothing."""
    chance = numpy.random.default_rng(seed)
    found, labels = [], []
    for _ in range(GROUPS):
        hue, angle, waves, ill = chance.uniform(0, 6.28), chance.uniform(0, 3.14), chance.uniform(2, 8), chance.random() < 0.5
        for _ in range(EACH):
            if plants_differ:
                label = ill == (chance.random() < 0.92)
                found.append(picture(chance, hue + chance.normal(0, 0.1), angle + chance.normal(0, 0.05), waves))
            else:
                label = chance.random() < 0.5
                found.append(picture(chance, hue, (0.4 if label else 1.9) + chance.normal(0, 0.3), chance.uniform(2, 8)))
            labels.append(int(label))
    return found, numpy.asarray(labels)


@pytest.mark.parametrize("plants_differ", [True, False])
def test_a_warning_comes_where_plants_are_recognised_and_only_there(plants_differ, tmp_path):
    pictures, labels = of_plants(plants_differ, 0)
    examples = []
    for i, pixels in enumerate(pictures):
        (tmp_path / f"{i}.png").write_bytes(png((pixels * 255).astype(numpy.uint8)))
        examples.append(Example(f"{i}.png", 0, tmp_path / f"{i}.png", ""))
    kind = registry.of("image")
    assert isinstance(kind, Likened)
    looks = kind.looks(examples)
    assert looks is not None and looks.shape == (len(pictures), alike.WIDTH)
    groups, wanted = numpy.repeat(numpy.arange(GROUPS), EACH), numpy.eye(2)[labels]
    compared = other_split.by_groups(looks, wanted, groups, 42)
    grey = numpy.stack([p.mean(axis=2).reshape(8, 8, 8, 8).mean((1, 3)).ravel() for p in pictures])
    before = other_split.by_groups(grey, wanted, groups, 42)
    assert compared is not None and before is not None
    assert compared.falls == plants_differ and not before.falls, "grey means see neither"
    if not plants_differ:
        assert (compared.other.argmax(1) == labels[compared.rows]).mean() > 0.85, "the small model reads the label"


def test_broken_pictures_are_zeros_and_very_many_pixels_are_not_looked_at(tmp_path, monkeypatch):
    (tmp_path / "a.png").write_bytes(png(numpy.full((8, 8, 3), 90, numpy.uint8)))
    (tmp_path / "b.png").write_bytes(b"no picture")
    examples = [Example(n, 0, tmp_path / n, "") for n in ("a.png", "b.png")]
    found = alike.of(examples)
    assert found is not None and found[0].any() and not found[1].any()
    monkeypatch.setattr(alike, "_MOST", 60)
    assert alike.of(examples) is None
