"""Rows about masks and shapes over scenes, and folders of classes that look like them; and about hostile TIFF files."""

import io
import json
import struct

import numpy
import tifffile
from PIL import Image

from trainer.tests.zoo.annotations import CODE, COUNT
from trainer.tests.zoo.pictures import noise, png
from trainer.tests.zoo.row import NotRefused, Reads, Refused, Row, write

TRAINED = "a class for each pixel"
SEGMENTS = "image-segmentation"


def _mask(seed, side=24):
    pixels = numpy.zeros((side, side), numpy.uint8)
    top, left = numpy.random.default_rng(seed).integers(0, side // 2, size=2)
    pixels[top : top + 8, left : left + 8] = 255
    return pixels


def _habitat(folder):
    for split in ("train", "val", "test"):
        for i in range(10):
            write(folder, f"imgs/{split}/{i}.png", png(noise(i + 100 * len(split))))
            write(folder, f"masks/{split}/{i}.png", png(_mask(i + 100 * len(split))))


def _masks_numbered(folder):
    for i in range(COUNT):
        write(folder, f"image/img_{i:03}.png", png(noise(i)))
        write(folder, f"label/mask_{i}.png", png(_mask(i) // 255 * (1 + i % 3)))


def _masks_beside(folder):
    for i in range(COUNT):
        write(folder, f"data/scene{i}.png", png(noise(i)))
        write(folder, f"data/scene{i}_mask.png", png(_mask(i)))


def _masks_as_jpeg(folder):
    for i in range(COUNT):
        write(folder, f"images/{i}.jpg", png(noise(i, 48), "JPEG"))
        write(folder, f"masks/{i}.jpg", png(numpy.kron(_mask(i), numpy.ones((2, 2), numpy.uint8)), "JPEG"))


def _same_numbers(folder):
    for c, name in enumerate(("cat", "dog")):
        for i in range(COUNT):
            write(folder, f"{name}/{i}.png", png(noise(c * 100 + i, high=120 + 100 * c)))


def _images_and_labels_as_classes(folder):
    for c, name in enumerate(("images", "labels")):
        for i in range(COUNT):
            write(folder, f"{name}/scan_{i}.png", png(noise(c * 100 + i, high=120 + 100 * c)))


def _drawings(folder):
    for c, name in enumerate(("circle", "square")):
        for i in range(COUNT):
            write(folder, f"{name}/{i}.png", png(_mask(i + 100 * c)))


def _thumbnails(folder):
    for i in range(COUNT):
        kind = "wet" if i % 2 else "dry"
        write(folder, f"{kind}/plot{i}.png", png(noise(i, high=120 + 100 * (i % 2))))
        write(folder, f"{kind}/plot{i}_small.png", png(numpy.zeros((8, 8, 3), numpy.uint8) + i % 2))


def _layers(seed, side=24):
    """Three classes in bands across a picture."""
    pixels = numpy.zeros((side, side), numpy.uint8)
    first, second = sorted(numpy.random.default_rng(seed).integers(4, side - 4, size=2))
    pixels[first:], pixels[second:] = 1, 2
    pixels[-2:] = 2
    pixels[-4:-2] = 1
    return pixels


def _masked(folder, mask, count=COUNT, side=24):
    """Pictures, and ``mask`` of each number as the bytes of a file."""
    for i in range(count):
        write(folder, f"images/{i}.png", png(noise(i, side)))
        write(folder, f"masks/{i}.png", mask(i))


_RED_GREEN = numpy.array([[0, 0, 0], [0, 255, 0], [255, 0, 0]], numpy.uint8)


def _masks_with_border(folder):
    def mask(i):
        pixels = _layers(i)
        pixels[:, :2] = 255
        return png(pixels)

    _masked(folder, mask)


def _palette(folder):
    def mask(i):
        image = Image.fromarray(_layers(i))
        image.putpalette([0, 0, 0, 255, 255, 255, 9, 9, 9, *bytes(3 * 253)])
        data = io.BytesIO()
        image.save(data, "PNG")
        return data.getvalue()

    _masked(folder, mask)


def _colours(folder):
    _masked(folder, lambda i: png(_RED_GREEN[_layers(i)]))


def _shades(folder):
    _masked(folder, lambda i: png(numpy.repeat(_layers(i)[..., None], 3, axis=2)))


def _with_names(folder):
    _masked(folder, lambda i: png(_layers(i)))
    write(folder, "classes.txt", "soil\nice\nwater\n")


def _beyond_names(folder):
    _masked(folder, lambda i: png(_layers(i)))
    write(folder, "classes.txt", "soil\nice\n")


def _blended(folder):
    def mask(i):
        pixels = _RED_GREEN[_layers(i, 48)]
        pixels[:, ::8] = noise(i, 48)[:, ::8]
        return png(pixels)

    _masked(folder, mask, side=48)


def _jpeg_colours(folder):
    for i in range(COUNT):
        write(folder, f"images/{i}.jpg", png(noise(i, 192), "JPEG"))
        write(folder, f"masks/{i}.jpg", png(numpy.kron(_RED_GREEN[2 * (_mask(i) // 255)], numpy.ones((8, 8, 1), numpy.uint8)), "JPEG"))


def _one_class(folder):
    _masked(folder, lambda i: png(numpy.full((24, 24), 3, numpy.uint8)))


def _without_pictures(folder):
    _masked(folder, lambda i: png(_mask(i)))
    for i in range(10):
        write(folder, f"masks/{50 + i}.png", png(_mask(i)))


def _one_without(folder):
    _masked(folder, lambda i: png(_mask(i)))
    write(folder, "images/99.png", png(noise(99)))


def _other_size(folder):
    _masked(folder, lambda i: png(_mask(i, 24 if i else 12 + 8)))


def _half_size(folder):
    _masked(folder, lambda i: png(_mask(i)), side=48)


def _float_tiff(seed, bands=1):
    data = io.BytesIO()
    pixels = numpy.random.default_rng(seed).uniform(0, 30, (24, 24, bands)).astype(numpy.float32)
    tifffile.imwrite(data, pixels.squeeze(), photometric="minisblack")
    return data.getvalue()


def _heights(folder):
    for i in range(COUNT):
        write(folder, f"images/{i}.png", png(noise(i)))
        write(folder, f"heights/{i}.tif", _float_tiff(i))


def _reflectance(folder):
    for i in range(COUNT):
        write(folder, f"red/{i}.tif", _float_tiff(i))
        write(folder, f"infrared/{i}.tif", _float_tiff(i + 100))


def _stereo(folder):
    for i in range(COUNT):
        write(folder, f"left/{i}.png", png(noise(i)))
        write(folder, f"right/{i}.png", png(noise(i + 100)))


def _unpaired_masks(folder):
    for i in range(COUNT):
        write(folder, f"photos/DSC{i + 400}.png", png(noise(i)))
        write(folder, f"outlines/o{chr(97 + i)}.png", png(_mask(i)))


def _features(count=20):
    shape = {"type": "Polygon", "coordinates": [[[10, 50], [11, 50], [11, 51], [10, 50]]]}
    features = [{"type": "Feature", "properties": {"crop": "ab"[i % 2], "area": i * 1.5}, "geometry": shape} for i in range(count)]
    return json.dumps({"type": "FeatureCollection", "features": features})


def _geojson_alone(folder):
    write(folder, "fields.geojson", _features(60))


def _geojson_and_photos(folder):
    _same_numbers(folder)
    write(folder, "area.geojson", _features(2))


def _many_pages(folder):
    for name in ("wet", "dry"):
        for i in range(COUNT):
            data = io.BytesIO()
            with tifffile.TiffWriter(data) as tiff:
                for page in range(60):
                    tiff.write(noise(i + page, side=8, high=120 if name == "dry" else 255, bands=1), contiguous=False)
            write(folder, f"{name}/{i}.tif", data.getvalue())


def _terapixels(folder):
    _same_numbers(folder)
    entries = (
        (256, 4, 1_000_000),
        (257, 4, 1_000_000),
        (258, 3, 8),
        (259, 3, 1),
        (262, 3, 1),
        (273, 4, 8),
        (277, 3, 1),
        (278, 4, 1_000_000),
        (279, 4, 100),
    )
    table = b"".join(struct.pack("<HHII", tag, kind, 1, value) for tag, kind, value in entries)
    header = b"II*\0" + struct.pack("<IH", 8, len(entries)) + table + bytes(4)
    write(folder, "cat/huge.tif", header)


ROWS = (
    Row("mask-folders", "imgs and masks, each with train, val and test", "PDG HABITAT", "github.com/PermafrostDiscoveryGateway/HABITAT", TRAINED,
        _habitat, Reads(SEGMENTS, rows=30, classes=("background", "object"), splits=(10, 10, 10)), rule="mask folders"),
    Row("masks-by-number", "image/img_007.png and label/mask_7.png", "segmentation", "user reports", TRAINED, _masks_numbered,
        Reads(SEGMENTS, rows=COUNT, classes=("0", "1", "2", "3")), rule="mask folders"),
    Row("masks-as-jpeg", "masks of two values saved as JPEG", "beginners", "user reports", "two classes, with a warning", _masks_as_jpeg,
        Reads(SEGMENTS, rows=COUNT, classes=("background", "object"), says={"masks_jpeg": "from 128 on"}), rule="mask folders"),
    Row("masks-beside", "x.png and x_mask.png in one folder", "segmentation", "user reports", TRAINED, _masks_beside,
        Reads(SEGMENTS, rows=COUNT, classes=("background", "object")), rule="masks beside pictures"),
    Row("masks-with-a-border", "255 beside the numbers of classes", "Pascal VOC users", "host.robots.ox.ac.uk/pascal/VOC", "255 has no class",
        _masks_with_border, Reads(SEGMENTS, rows=COUNT, classes=("0", "1", "2"), says={"mask_classes": "255: those have no class"}), rule="nodata"),
    Row("masks-of-0-and-255", "masks of 0 and 255 alone", "segmentation", "user reports", "255 is a class", _masks_beside,
        Reads(SEGMENTS, classes=("background", "object")), spares="nodata"),
    Row("masks-of-a-palette", "PNG with a palette", "Pascal VOC users", "host.robots.ox.ac.uk/pascal/VOC", "the places of the palette", _palette,
        Reads(SEGMENTS, rows=COUNT, classes=("0", "1", "2"))),
    Row("masks-in-colours", "PNG of three colours", "CamVid users", "user reports", "a class for each colour", _colours,
        Reads(SEGMENTS, rows=COUNT, classes=("#000000", "#00ff00", "#ff0000")), rule="colours of masks"),
    Row("masks-in-shades", "PNG of three bands whose values are equal", "image editors", "user reports", "the values", _shades,
        Reads(SEGMENTS, rows=COUNT, classes=("0", "1", "2")), spares="colours of masks"),
    Row("masks-with-names", "classes.txt with a name in each line", "segmentation", "user reports", "the names", _with_names,
        Reads(SEGMENTS, rows=COUNT, classes=("soil", "ice", "water")), rule="names of classes"),
    Row("masks-beyond-the-names", "classes.txt with fewer names than masks have values", "beginners", "user reports", "the value and the file",
        _beyond_names, Refused("unknown_class", ("value 2", "classes.txt")), spares="names of classes"),
    Row("masks-blended", "PNG in colours with blended edges everywhere", "image editors", "user reports", "what to export instead", _blended,
        Refused("masks_blended", ("#ff0000", "anti-aliasing")), settings={"task": SEGMENTS}),
    Row("masks-as-jpeg-in-colours", "masks in colours saved as JPEG", "beginners", "user reports", "what to export instead", _jpeg_colours,
        Refused("masks_jpeg", ("PNG or TIFF",)), settings={"task": SEGMENTS}),
    Row("masks-all-of-one-class", "masks without an object", "exports that failed", "user reports", "nothing to learn", _one_class,
        Refused("one_class", ("nothing to learn",))),
    Row("masks-without-pictures", "twice as many masks as pictures", "half an upload", "user reports", "how many, and what to do", _without_pictures,
        Refused("masks_alone", ("10 of 22 masks", "name of its picture"))),
    Row("a-picture-without-mask", "one picture too many", "field teams", "user reports", "left out by name, never background", _one_without,
        Reads(SEGMENTS, rows=COUNT, says={"pictures_alone": "99.png"})),
    Row("one-mask-of-another-size", "one mask of half the size", "exports of several programs", "user reports", "left out by name", _other_size,
        Reads(SEGMENTS, rows=COUNT - 1, says={"mask_sizes": "0.png"})),
    Row("masks-all-of-half-size", "all masks of half the size", "exports of one program", "user reports", "both sizes, and what to do",
        _half_size, Refused("mask_sizes", ("nearest neighbour", "48 x 48")), settings={"task": SEGMENTS}),
    Row("heights", "TIFF of heights with fractions beside pictures", "PDG", "user reports", "a number for each pixel", _heights,
        Reads("pixel-regression", rows=COUNT, classes=()), rule="numbers for each pixel"),
    Row("two-sorts-of-reflectance", "folders of float TIFF with the same names", "remote sensing", "user reports", "no masks", _reflectance,
        Reads("image-classification", classes=("infrared", "red")), spares="numbers for each pixel"),
    Row("stereo", "left and right, photos with the same names", "robotics", "user reports", "the question what they are", _stereo,
        Refused("ambiguous_pictures"), spares="mask folders"),
    Row("thumbnails-beside", "x.png and x_small.png in class folders", "camera users", "user reports", "a classifier", _thumbnails,
        Reads("image-classification", classes=("dry", "wet")), spares="masks beside pictures"),
    Row("same-numbers", "cat/1.png and dog/1.png", "camera users", "user reports", "a classifier of cat and dog", _same_numbers,
        Reads("image-classification", classes=("cat", "dog")), spares="mask folders"),
    Row("classes-called-images-and-labels", "photos of pictures and of labels", "herbaria", "user reports", "a classifier",
        _images_and_labels_as_classes, Reads("image-classification", classes=("images", "labels")), spares="mask folders"),
    Row("drawings", "drawings of two values in folders of classes, with the same numbers", "handwriting", "user reports", "a classifier", _drawings,
        Reads("image-classification", classes=("circle", "square")), spares="two values"),
    Row("masks-that-do-not-pair", "photos and outlines without common names", "labs", "user reports", "the question whether they are masks",
        _unpaired_masks, Refused("ambiguous_pictures", ("outlines", "image-classification")), rule="two values"),
    Row("masks-called-classes", "imgs and masks, with task set", "anyone who means it", "user reports", "the setting wins", _habitat,
        Reads("image-classification", classes=("imgs", "masks")), settings={"task": "image-classification"}, spares="mask folders"),
    Row("geojson-alone", "a GeoJSON without pictures", "attribute tables", "geojson.org", "not taken for annotations of pictures", _geojson_alone,
        NotRefused(CODE), spares="shapes over scenes"),
    Row("geojson-beside-classes", "class folders and a GeoJSON of the area", "field teams", "user reports", "a classifier", _geojson_and_photos,
        Reads("image-classification", classes=("cat", "dog")), spares="shapes over scenes"),
    Row("many-pages", "TIFF files of 60 pages in class folders", "microscopes", "OME", "the first page, in seconds", _many_pages,
        Reads("image-classification", rows=2 * COUNT, classes=("dry", "wet"))),
    Row("terapixels", "a TIFF that claims a million million pixels", "attackers", "user reports", "left out by name", _terapixels,
        Reads("image-classification", rows=24, says={"images": "cat/huge.tif"})),
)  # fmt: skip
