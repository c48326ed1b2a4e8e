"""GeoTIFF scenes: with masks as large as they are, with polygons over them, and what looks alike."""

import functools
import json
import tempfile
from pathlib import Path

import numpy
import tifffile

from trainer.tests.zoo.row import Reads, Refused, Row, write

SEGMENTS = "image-segmentation"
SIDE, SQUARE = 1024, 64
_PIXEL, _WEST, _NORTH = 2.0, 500_000.0, 4_000_000.0
# Keys of the reference system EPSG:32606: a projected one, pixels are areas, and its code.
_KEYS = (34735, "H", 16, (1, 1, 0, 3, 1024, 0, 1, 1, 1025, 0, 1, 1, 3072, 0, 1, 32606), True)
_PLACE = ((33550, "d", 3, (_PIXEL, _PIXEL, 0.0), True), (33922, "d", 6, (0.0, 0.0, 0.0, _WEST, _NORTH, 0.0), True))


@functools.cache
def _ground() -> tuple[numpy.ndarray, numpy.ndarray]:
    """A band of 16 bits, and the squares in it that are bright."""
    chance = numpy.random.default_rng(0)
    truth = numpy.kron(chance.random((SIDE // SQUARE,) * 2) < 0.3, numpy.ones((SQUARE, SQUARE), bool))
    return (1000 + 2000.0 * truth + chance.normal(0, 100, truth.shape)).astype(numpy.uint16), truth


def _tiff(folder, name, values, system=True):
    file = folder / name
    file.parent.mkdir(parents=True, exist_ok=True)
    tags = (*_PLACE, _KEYS) if system else _PLACE
    form = "rgb" if values.ndim == 3 else "minisblack"
    tifffile.imwrite(file, values, photometric=form, tile=(256, 256), compression="zlib", extratags=tags, metadata=None)


def _squares():
    """The bright squares in longitude and latitude, and in the plane of the scene."""
    from shapely.geometry import box

    rows, columns = numpy.nonzero(_ground()[1][::SQUARE, ::SQUARE])
    size = SQUARE * _PIXEL
    return [box(_WEST + c * size, _NORTH - (r + 1) * size, _WEST + (c + 1) * size, _NORTH - r * size) for r, c in zip(rows, columns)]


def _frame():
    import geopandas

    squares = _squares()
    return geopandas.GeoDataFrame(
        {"cover": ["ice", "water"] * (len(squares) // 2) + ["ice"] * (len(squares) % 2)}, geometry=squares, crs="EPSG:32606"
    )


def _mask(folder):
    pixels, truth = _ground()
    _tiff(folder, "east.tif", pixels)
    _tiff(folder, "what it shows.tif", truth.astype(numpy.uint8))


def _mask_in_colours(folder):
    pixels, truth = _ground()
    _tiff(folder, "east.tif", pixels)
    _tiff(folder, "classes of east.tif", numpy.asarray([(0, 0, 255), (250, 240, 230)], numpy.uint8)[truth.astype(int)])
    write(folder, "class_dict.csv", "name,r,g,b\nsea,0,0,255\nice,250,240,230\n")


def _mask_with_style(folder):
    _mask(folder)
    entries = "".join(f'<paletteEntry value="{v}" color="#0000f{v}" label="{name}" alpha="255"/>' for v, name in enumerate(("sea", "ice")))
    style = f'<qgis><pipe><rasterrenderer type="paletted"><colorPalette>{entries}</colorPalette></rasterrenderer></pipe></qgis>'
    write(folder, "what it shows.qml", style)


def _damaged(folder):
    _mask(folder)
    file = folder / "east.tif"
    with tifffile.TiffFile(file) as tiff:
        start, length = tiff.pages[0].dataoffsets[5], tiff.pages[0].databytecounts[5]
    data = file.read_bytes()
    file.write_bytes(data[: start + 10] + bytes(length - 10) + data[start + length :])


def _two_scenes(folder):
    chance = numpy.random.default_rng(1)
    for label, high in (("wet", 20_000), ("dry", 60_000)):
        for i in range(12):
            coarse = chance.integers(1000, high, (32, 32)).astype(numpy.uint16)
            _tiff(folder, f"{label}/{i}.tif", numpy.kron(coarse, numpy.ones((SIDE // 32,) * 2, numpy.uint16)))


def _polygons(folder, ending, system=True):
    pixels, _ = _ground()
    _tiff(folder, "scene.tif", pixels, system)
    with tempfile.TemporaryDirectory() as place:
        frame = _frame().to_crs("EPSG:4326") if ending == "geojson" else _frame()
        frame.to_file(Path(place) / f"fields.{ending}")
        for file in Path(place).iterdir():
            if file.suffix != ".shx":
                write(folder, file.name, file.read_bytes())


def _without_system(folder):
    _polygons(folder, "geojson", system=False)


def _elsewhere(folder):
    pixels, _ = _ground()
    _tiff(folder, "scene.tif", pixels)
    ring = [[10.0, 50.0], [10.1, 50.0], [10.1, 50.1], [10.0, 50.0]]
    shapes = [{"type": "Feature", "properties": {"cover": "ice"}, "geometry": {"type": "Polygon", "coordinates": [ring]}}] * 9
    write(folder, "fields.geojson", json.dumps({"type": "FeatureCollection", "features": shapes}))


def _two_attributes(folder):
    pixels, _ = _ground()
    _tiff(folder, "scene.tif", pixels)
    frame = _frame()
    frame["year seen"] = ["one", "two", "two"] * (len(frame) // 3) + ["one"] * (len(frame) % 3)
    with tempfile.TemporaryDirectory() as place:
        frame.to_file(Path(place) / "fields.gpkg")
        write(folder, "fields.gpkg", (Path(place) / "fields.gpkg").read_bytes())


_CLASSES = ("background", "ice", "water")
ROWS = (
    Row("scene-with-mask", "one GeoTIFF and another of the same size with few values", "PDG", "user reports", "a class for each pixel, by place",
        _mask, Reads(SEGMENTS, rows=64, classes=("background", "object"), says={"scenes": "blocks of the same scene"}), rule="masks of scenes"),
    Row("scene-with-mask-in-colours", "one GeoTIFF, another of the same size in two colours, and class_dict.csv", "QGIS users", "user reports",
        "the names of the colours", _mask_in_colours, Reads(SEGMENTS, rows=64, classes=("sea", "ice")), rule="masks of scenes"),
    Row("scene-with-style", "one GeoTIFF, its mask, and a style of QGIS", "QGIS users", "docs.qgis.org", "the names in the style", _mask_with_style,
        Reads(SEGMENTS, rows=64, classes=("sea", "ice"))),
    Row("scene-damaged", "a GeoTIFF with a damaged tile, and its mask", "everyone", "user reports", "what can be read", _damaged,
        Reads(SEGMENTS, rows=60, classes=("background", "object"), says={"damaged_scene": "at 256, 256 (256 x 256 pixels)"})),
    Row("scenes-of-one-size", "folders of GeoTIFF scenes of one size", "remote sensing", "user reports", "a classifier", _two_scenes,
        Reads("image-classification", classes=("dry", "wet")), spares="masks of scenes"),
    Row("scene-geojson", "a GeoTIFF scene and a GeoJSON in longitude and latitude", "PDG", "geojson.org", "a class for each pixel",
        lambda f: _polygons(f, "geojson"), Reads(SEGMENTS, classes=_CLASSES, says={"polygons": "cover", "labelled_area": "hull"}),
        rule="shapes over scenes"),
    Row("scene-shapefile", "a GeoTIFF scene and a shapefile without .shx", "PDG", "MAPLE writes them", "a class for each pixel",
        lambda f: _polygons(f, "shp"), Reads(SEGMENTS, classes=_CLASSES), rule="shapes over scenes"),
    Row("scene-geopackage", "a GeoTIFF scene and a GeoPackage", "QGIS users", "geopackage.org", "a class for each pixel",
        lambda f: _polygons(f, "gpkg"), Reads(SEGMENTS, classes=_CLASSES), rule="shapes over scenes"),
    Row("scene-without-system", "a TIFF without a reference system and a GeoJSON", "exports of viewers", "user reports", "what it lacks",
        _without_system, Refused("no_scenes", ("reference system",))),
    Row("scene-elsewhere", "a scene, and polygons of another place", "beginners", "user reports", "both bounds", _elsewhere,
        Refused("no_overlap", ("10",))),
    Row("scene-two-attributes", "polygons with two attributes that may be their class", "field teams", "user reports", "the question which",
        _two_attributes, Refused("which_column", ("cover", "year seen"))),
)  # fmt: skip
