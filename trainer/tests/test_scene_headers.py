"""What is read of a scene before GDAL opens it, and what GDAL may open."""

import struct

import numpy
import pytest
import rasterio
import tifffile
from hypothesis import HealthCheck, example, given, settings, strategies

from trainer.data.scenes import headers, opening


def tiff(file, values, **more):
    tifffile.imwrite(file, values, **more)
    return file


def declared(file, width, height, more):
    """A TIFF that claims a size and has no pixels."""
    tags = {256: width, 257: height, 258: 8, 259: 1, 262: 1, 273: 8, 277: 1, 278: height, 279: 100} | more
    entries = b"".join(struct.pack("<HHII", tag, 4, 1, value) for tag, value in sorted(tags.items()))
    file.write_bytes(b"II*\0" + struct.pack("<IH", 8, len(tags)) + entries + bytes(4))
    return file


@pytest.mark.parametrize(
    ("width", "height", "more", "words"),
    [
        (1_000_000, 1_000_000, {}, "more than 100 thousand million"),
        (100, 100, {277: 65}, "65 bands"),
        (100_000, 100_000, {}, "TILED=YES"),
        (100, 100, {279: 1_000_000}, "cut off"),
    ],
)
def test_a_header_over_a_limit_is_refused_before_a_pixel_is_read(tmp_path, width, height, more, words):
    with pytest.raises(ValueError, match=words):
        headers.header(declared(tmp_path / "a.tif", width, height, more))


def test_a_cut_scene_and_one_with_several_pages_are_refused(tmp_path):
    whole = tiff(tmp_path / "a.tif", numpy.zeros((512, 512), numpy.uint8), tile=(128, 128))
    whole.write_bytes(whole.read_bytes()[:-2000])
    with pytest.raises(ValueError, match="cut off"):
        headers.header(whole)
    with tifffile.TiffWriter(tmp_path / "b.tif") as made:
        for _ in range(3):
            made.write(numpy.zeros((64, 64), numpy.uint8), contiguous=False)
    with pytest.raises(ValueError, match="more than one full-size page"):
        headers.header(tmp_path / "b.tif")


def test_overviews_and_masks_are_no_pages(tmp_path):
    with (
        rasterio.Env(GDAL_TIFF_INTERNAL_MASK=True),
        rasterio.open(
            tmp_path / "a.tif", "w", driver="GTiff", width=256, height=256, count=1, dtype="uint8", crs="EPSG:3413",
            transform=rasterio.Affine(2, 0, 5, 0, -2, 9),
        ) as made,
    ):  # fmt: skip
        made.write(numpy.ones((1, 256, 256), numpy.uint8))
        made.write_mask(numpy.eye(256, dtype=numpy.uint8) * 255)
        made.build_overviews([2, 4])
    found = opening.scene(tmp_path / "a.tif")
    assert (found.masked, found.bands, found.transform) == (True, 1, (2, 0, 5, 0, -2, 9))
    with opening.opened(found.file) as dataset:
        pixels, holds = opening.read(dataset, found, (slice(0, 9), slice(0, 300)))
    assert pixels.shape == (9, 256, 1) and holds[..., 0].sum() == 9


def test_files_beside_a_scene_are_not_read(tmp_path):
    file = tiff(tmp_path / "a.tif", numpy.zeros((8, 8), numpy.uint8))
    (tmp_path / "a.tfw").write_text("10\n0\n0\n-10\n500\n600\n")
    (tmp_path / "a.tif.aux.xml").write_text("<PAMDataset><SRS>EPSG:3413</SRS></PAMDataset>")
    found = opening.scene(file)
    assert (found.crs, found.transform[0]) == ("", 1.0)
    with rasterio.open(file) as careless:
        assert careless.crs is not None  # that is what is kept from it


def test_other_formats_are_not_opened(tmp_path):
    (tmp_path / "a.tif").write_text("<VRTDataset rasterXSize='1' rasterYSize='1'></VRTDataset>")
    with pytest.raises(ValueError, match="readable TIFF"):
        opening.scene(tmp_path / "a.tif")


@example(changes=[(126, 0)], length=0)  # the unit of its resolution, of which GDAL complains late
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(strategies.lists(strategies.tuples(strategies.integers(0, 3000), strategies.integers(0, 255)), max_size=12), strategies.integers(0, 3000))
def test_damaged_scenes_give_errors_that_are_known(tmp_path, changes, length):
    file = tiff(tmp_path / "a.tif", numpy.arange(4096, dtype=numpy.uint16).reshape(64, 64), tile=(16, 16), compression="zlib")
    data = bytearray(file.read_bytes())
    for place, value in changes:
        data[place % len(data)] = value
    file.write_bytes(bytes(data[: max(8, len(data) - length)] if length % 2 else data))
    try:
        found = opening.scene(file)
        with opening.opened(file) as dataset:
            assert opening.read(dataset, found, (slice(0, 64), slice(0, 64)))[0].size
    except (ValueError, OSError):
        pass
