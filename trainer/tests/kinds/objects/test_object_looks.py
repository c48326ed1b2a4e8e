"""How pictures of any bands become what the detector reads."""

import numpy
import pytest
import tifffile
from conftest import events_of
from small_datasets import png

from trainer.data.pictures import bands
from trainer.errors import UserError
from trainer.kinds.objects import looks
from trainer.run_folder.events import Events


@pytest.fixture
def measured(tmp_path):
    """Three pictures of five bands of 16 bits."""
    chance, files = numpy.random.default_rng(1), []
    for i in range(3):
        files.append((tmp_path / f"{i}.tif", f"{i}.tif"))
        pixels = chance.integers(1000, 3000, (8, 12, 5)).astype(numpy.uint16)
        tifffile.imwrite(files[-1][0], pixels, photometric="minisblack", planarconfig="contig")
    return files


def test_measured_pictures_are_scaled_by_the_ranges_of_the_training_pictures(tmp_path, measured):
    ranges = looks.learnt(measured, Events(tmp_path / "events.jsonl", 1))
    assert looks.count(ranges) == 5
    assert {e.get("what") for e in events_of(tmp_path)} == {"bands"}
    assert bands.restored(ranges.described()) == ranges
    pixels = looks.read(*measured[0], ranges)
    assert pixels.shape == (8, 12, 5) and pixels.dtype == numpy.uint8
    assert pixels.min() < 20 and pixels.max() > 235


def test_a_picture_that_is_stored_in_another_way_is_refused_by_name(tmp_path, measured):
    plain = tmp_path / "plain.png"
    plain.write_bytes(png(numpy.zeros((8, 12, 3), numpy.uint8)))
    assert looks.learnt([(plain, "plain.png")], Events(tmp_path / "events.jsonl", 1)) is None
    assert looks.read(plain, "plain.png", None).shape == (8, 12, looks.count(None))
    ranges = looks.learnt(measured, Events(tmp_path / "events.jsonl", 1))
    for file, name, of in ((plain, "plain.png", ranges), (*measured[0], None)):
        with pytest.raises(UserError) as e:
            looks.read(file, name, of)
        assert e.value.code == "image_form" and name in e.value.what
