"""Rows about pictures as instruments make them: bits, bands, fractions, nodata, transparency, frames."""

import io
import struct
import zlib

import numpy
import tifffile
from PIL import Image

from trainer.tests.zoo.pictures import noise, png
from trainer.tests.zoo.row import Reads, Refused, Row, write

COUNT = 12
CLASSES = ("dry", "wet")
NODATA, EXTRA = 42113, 338


def tiff(pixels: numpy.ndarray, nodata: str = "", **options) -> bytes:
    """``pixels`` (height x width, or height x width x bands) as a TIFF."""
    data = io.BytesIO()
    tags = [(NODATA, "s", 0, nodata, True)] if nodata else []
    planar = {"planarconfig": "contig"} if pixels.ndim == 3 else {}
    tifffile.imwrite(data, pixels, **{"photometric": "minisblack", "extratags": tags, **planar, **options})
    return data.getvalue()


def levels(seed: int, shape, low: float, high: float, dtype) -> numpy.ndarray:
    """A picture with values from ``low`` to ``high``."""
    return (numpy.random.default_rng(seed).random(shape) * (high - low) + low).astype(dtype)


def _classes(folder, picture, ending="tif"):
    """``picture`` gives the bytes of a file for a seed and the number of its class."""
    for c, name in enumerate(CLASSES):
        for i in range(COUNT):
            write(folder, f"{name}/{i}.{ending}", picture(c * 100 + i, c))


def _saved(pixels, kind="PNG", **options) -> bytes:
    data = io.BytesIO()
    Image.fromarray(pixels).save(data, kind, **options)
    return data.getvalue()


def _png16(folder):
    _classes(folder, lambda seed, c: _saved(levels(seed, (24, 24), 300, 2000 + 2000 * c, numpy.uint16)), "png")


def colours16(pixels: numpy.ndarray) -> bytes:
    """Pixels of 16 bits in two to four bands as a PNG, which Pillow cannot write."""

    def chunk(name: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))

    height, width, bands = pixels.shape
    rows = pixels.astype(">u2").reshape(height, -1).view(numpy.uint8).reshape(height, width, -1)
    left = numpy.concatenate([numpy.zeros_like(rows[:, :1]), rows[:, :-1]], axis=1)
    filtered = b"".join(b"\1" + row.tobytes() for row in rows - left)
    head = struct.pack(">IIBBBBB", width, height, 16, {2: 4, 3: 2, 4: 6}[bands], 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(filtered)) + chunk(b"IEND", b"")


def _png16_colours(folder):
    _classes(folder, lambda seed, c: colours16(levels(seed, (24, 24, 3), 0, 120 + 100 * c, numpy.uint16)), "png")


def _tiff16(folder):
    _classes(folder, lambda seed, c: tiff(levels(seed, (24, 24), 300, 2000 + 2000 * c, numpy.uint16)))


def _tiff16_lzw(folder):
    _classes(folder, lambda seed, c: _saved(levels(seed, (24, 24), 300, 2000 + 2000 * c, numpy.uint16), "TIFF", compression="tiff_lzw"))


def _png8(folder):
    _classes(folder, lambda seed, c: png(noise(seed, high=120 + 100 * c, bands=1)), "png")


def _reflectance(folder):
    _classes(folder, lambda seed, c: tiff(levels(seed, (24, 24, 5), 0, 0.4 + 0.4 * c, numpy.float32)))


def _signed(folder):
    _classes(folder, lambda seed, c: tiff(levels(seed, (24, 24), -500, 500 + 400 * c, numpy.int16)))


def _near_infrared(folder):
    _classes(folder, lambda seed, c: tiff(noise(seed, high=120 + 100 * c, bands=4), photometric="rgb", extrasamples=["unspecified"]))


def _near_infrared_as_alpha(folder):
    place = (33922, "d", 6, (0.0, 0.0, 0.0, 10.0, 51.0, 0.0), True)
    _classes(
        folder, lambda seed, c: tiff(noise(seed, high=120 + 100 * c, bands=4), photometric="rgb", extrasamples=["unassalpha"], extratags=[place])
    )


def _twenty_bands(folder):
    _classes(folder, lambda seed, c: tiff(levels(seed, (24, 24, 20), 0, 900 + 300 * c, numpy.uint16), compression="zlib", predictor=True))


def _cutouts(folder):
    def picture(seed, c):
        pixels = noise(seed, high=120 + 100 * c, bands=4)
        pixels[..., 3] = 255
        pixels[:8, :, 3] = 0
        return png(pixels)

    _classes(folder, picture, "png")


def _opaque(folder):
    def picture(seed, c):
        pixels = noise(seed, high=120 + 100 * c, bands=4)
        pixels[..., 3] = 255
        return png(pixels)

    _classes(folder, picture, "png")


def _palette(folder):
    def picture(seed, c):
        image = Image.fromarray(noise(seed, high=120 + 100 * c)).quantize(16)
        data = io.BytesIO()
        image.save(data, "PNG")
        return data.getvalue()

    _classes(folder, picture, "png")


def _cmyk(folder):
    def picture(seed, c):
        data = io.BytesIO()
        Image.fromarray(noise(seed, high=120 + 100 * c)).convert("CMYK").save(data, "JPEG")
        return data.getvalue()

    _classes(folder, picture, "jpg")


def _animated(folder):
    def picture(seed, c):
        data = io.BytesIO()
        frames = [Image.fromarray(noise(seed + n, high=120 + 100 * c)) for n in range(3)]
        frames[0].save(data, "GIF", save_all=True, append_images=frames[1:])
        return data.getvalue()

    _classes(folder, picture, "gif")


def _gap(seed, c, dtype, value):
    pixels = levels(seed, (24, 24), 100, 900 + 300 * c, dtype)
    pixels[:6] = value
    return pixels


def _nodata(folder):
    _classes(folder, lambda seed, c: tiff(_gap(seed, c, numpy.int16, -9999), nodata="-9999"))


def _nodata_nan(folder):
    _classes(folder, lambda seed, c: tiff(_gap(seed, c, numpy.float32, numpy.nan), nodata="nan"))


def _nodata_colours(folder):
    def picture(seed, c):
        pixels = noise(seed, low=10, high=120 + 100 * c)
        pixels[:6] = 0
        return tiff(pixels, nodata="0", photometric="rgb")

    _classes(folder, picture)


def _masked(folder):
    def picture(seed, c):
        data = io.BytesIO()
        mask = numpy.ones((24, 24), bool)
        mask[:6] = False
        with tifffile.TiffWriter(data) as writer:
            writer.write(levels(seed, (24, 24), 100, 900 + 300 * c, numpy.uint16), photometric="minisblack")
            writer.write(mask, photometric="mask", subfiletype=4)
        return data.getvalue()

    _classes(folder, picture)


def _mixed(folder):
    _tiff16(folder)
    write(folder, "dry/photo.png", png(noise(5)))


def _halves(folder):
    for i in range(COUNT):
        write(folder, f"dry/{i}.tif", tiff(levels(i, (24, 24), 0, 4000, numpy.uint16)))
        write(folder, f"wet/{i}.png", png(noise(i)))


def _flat(folder):
    _classes(folder, lambda seed, c: png(numpy.full((24, 24, 3), c, numpy.uint8) + (numpy.arange(24)[:, None, None] == seed % 24)), "png")


def _jpeg2000_tiff(folder):
    _classes(
        folder,
        lambda seed, c: tiff(levels(seed, (24, 24, 6), 0, 900, numpy.uint16)).replace(
            b"\x03\x01\x03\x00\x01\x00\x00\x00\x01\x00", b"\x03\x01\x03\x00\x01\x00\x00\x00\x98\x87"
        ),
    )


ROWS = (
    Row("png-16-bit", "class folders of grey PNG files with 16 bits (0 to 4000)", "microscopes, thermal cameras", "Pillow 274", "the bits count",
        _png16, Reads("image-classification", rows=24, says={"bands": "1 band of 16 bits"}, silent=("images_alike",), encoder={"bands": 1}),
        rule="bits"),
    Row("png-16-bit-colours", "PNG files with 16 bits in three colours (0 to 220)", "microscopes", "Pillow 1888", "the lower bits count too",
        _png16_colours, Reads("image-classification", rows=24, says={"bands": "3 bands of 16 bits"}, silent=("images_alike",), encoder={"bands": 3}),
        rule="bits"),
    Row("tiff-16-bit", "the same as TIFF", "microscopes", "Pillow 2574", "the bits are used", _tiff16,
        Reads("image-classification", says={"bands": "1 band of 16 bits"}, encoder={"bands": 1}), rule="bits"),
    Row("tiff-16-bit-lzw", "the same, compressed with LZW", "ImageJ", "imagej.net", "the bits are used", _tiff16_lzw,
        Reads("image-classification", encoder={"bands": 1, "dtype": "uint16"}), rule="bits"),
    Row("png-8-bit-grey", "grey PNG files with 8 bits", "scanners", "user reports", "read as always", _png8,
        Reads("image-classification", silent=("bands", "images_alike"), encoder={"bands": None, "mean": [0.5, 0.5, 0.5]}), spares="bits"),
    Row("reflectance", "TIFF with five bands of fractions from 0 to 1", "drones, PlanetScope", "Pillow 5114", "all bands, scaled", _reflectance,
        Reads("image-classification", says={"bands": "5 bands of 32 bits with fractions"}, encoder={"bands": 5}), rule="bands"),
    Row("signed", "TIFF of 16 bits with a sign", "heights", "GDAL Int16", "scaled", _signed,
        Reads("image-classification", encoder={"dtype": "int16"}), rule="bits"),
    Row("near-infrared", "TIFF of 8 bits with red, green, blue and near infrared", "NAIP", "users of drones", "all four bands", _near_infrared,
        Reads("image-classification", encoder={"bands": 4, "dtype": "uint8"}), rule="bands"),
    Row("near-infrared-as-alpha", "a GeoTIFF whose fourth band GDAL calls alpha", "NAIP", "gdal.org GTiff, ALPHA", "the fourth band is a band",
        _near_infrared_as_alpha, Reads("image-classification", encoder={"bands": 4}), rule="bands"),
    Row("twenty-bands", "TIFF with 20 bands of 16 bits, Deflate with differences", "hyperspectral cameras", "TERRA-REF", "all bands", _twenty_bands,
        Reads("image-classification", says={"bands": "20 bands"}, encoder={"bands": 20}), rule="bands"),
    Row("cut-outs", "PNG files with clear surroundings", "PlantCV", "plantcv.readthedocs.io", "hidden colours are not learnt", _cutouts,
        Reads("image-classification", says={"clear": "images have clear"}, encoder={"clear": 127}), rule="clear"),
    Row("opaque-alpha", "PNG files with an alpha band that is 255 everywhere", "screenshots", "user reports", "read as always", _opaque,
        Reads("image-classification", silent=("clear",), encoder={"clear": None, "bands": None}), spares="clear"),
    Row("palette", "PNG files with a palette", "web", "user reports", "their colours", _palette,
        Reads("image-classification", encoder={"bands": None}), spares="bands"),
    Row("cmyk", "JPEG files for printing", "journals", "user reports", "their colours", _cmyk,
        Reads("image-classification", encoder={"bands": None}), spares="bands"),
    Row("animated", "GIF files with three frames", "web", "user reports", "the first frame, and a word", _animated,
        Reads("image-classification", says={"pages": "24 of 24"}, encoder={}), rule="frames"),
    Row("nodata", "GeoTIFF of 16 bits with a sign, nodata -9999", "PDG, GIS", "gdal.org GDAL_NODATA", "-9999 sets no range", _nodata,
        Reads("image-classification", says={"bands": "25.0% of the values hold no data"}, encoder={"bands": 1}), rule="nodata"),
    Row("nodata-nan", "TIFF of fractions with NaN", "GIS", "gdal.org GDAL_NODATA", "NaN is no value", _nodata_nan,
        Reads("image-classification", says={"bands": "25.0% of the values hold no data"}, encoder={"bands": 1}), rule="nodata"),
    Row("nodata-in-colours", "GeoTIFF of 8 bits in colours with nodata 0", "orthophotos", "gdal.org GDAL_NODATA", "the border is grey",
        _nodata_colours, Reads("image-classification", says={"clear": "images have clear"}, encoder={"clear": 127}), rule="nodata"),
    Row("masked", "GeoTIFF with a page that is its mask", "orthophotos", "gdal.org internal masks", "what is masked is left out", _masked,
        Reads("image-classification", says={"bands": "25.0% of the values hold no data"}, silent=("pages",), encoder={"bands": 1}), rule="nodata",
        spares="frames"),
    Row("black-border", "grey pictures of 16 bits without nodata", "microscopes", "user reports", "all values count", _tiff16,
        Reads("image-classification", silent=("clear",), encoder={"bands": 1}), spares="nodata"),
    Row("mixed-bits", "24 TIFF files of 16 bits and a PNG of 8", "labs", "user reports", "the odd one is left out by name", _mixed,
        Reads("image-classification", rows=24, says={"image_forms": "dry/photo.png"}, encoder={"bands": 1}), rule="one sort"),
    Row("half-and-half", "one class of 16 bits, the other of 8", "two instruments", "user reports", "asked back: the bits tell the class", _halves,
        Refused("mixed_images", ("12 with",)), rule="one sort"),
    Row("one-sort", "all files of one sort", "labs", "user reports", "nothing is said", _tiff16,
        Reads("image-classification", silent=("image_forms",), encoder={}), spares="one sort"),
    Row("cut-values", "8-bit pictures with values 0 to 2", "measurements saved as PNG", "user reports", "a warning before the training", _flat,
        Reads("image-classification", says={"images_alike": "hardly differ"}, encoder={"bands": None})),
    Row("tiff-jpeg-2000", "TIFF of six bands compressed with JPEG 2000", "satellites", "user reports", "how to save it", _jpeg2000_tiff,
        Refused("broken_images")),
)  # fmt: skip
