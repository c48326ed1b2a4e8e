"""Pascal VOC: an XML file for each picture with ``object`` and ``bndbox``. Its coordinates begin at 1."""

from trainer.core.input import Input
from trainer.data import names
from trainer.errors import UserError
from trainer.kinds.annotated import limits, outlines, xml_documents
from trainer.kinds.annotated.shapes import Drawn, LeftOut, Listed
from trainer.kinds.annotated.xml_documents import Element

_PICTURES = ("JPEGImages", "images", "imgs")
_SIDES = ("xmin", "ymin", "xmax", "ymax")


def read(source: Input, left: LeftOut) -> Listed | None:
    """The picture of a file with its objects; None where the file is another one. An XML file that cannot be read is left out by its name."""
    try:
        root = xml_documents.read(source)
    except UserError:
        left.add("the file of annotations cannot be read", source.name)
        return None
    if root.name != "annotation":
        return None
    drawn = []
    for element in root.all("object"):
        if (shape := _drawn(element)) is not None:
            drawn.append(shape)
        else:
            left.add("the object has no box, or its coordinates are no numbers", source.name)
    size = limits.size(root.value("size", "width")), limits.size(root.value("size", "height"))
    return Listed(_pictures_of(source.name, root.value("filename")), drawn, *size, split=names.split_of(source.name) or "")


def _drawn(element: Element) -> Drawn | None:
    box = limits.numbers([element.value("bndbox", side) for side in _SIDES])
    label = element.value("name")
    if box is None or not label:
        return None
    corners = (box[0] - 1, box[1] - 1, box[2], box[3])  # the first pixel is 1, and the last one is inside
    ring = _ring(element)
    return Drawn(label, () if ring is None else (ring,), corners, difficult=element.value("difficult") == "1")


def _ring(element: Element):
    """The polygon that some programs write beside the box: x1, y1, x2, y2 and so on."""
    polygon = next(iter(element.all("polygon")), None)
    if polygon is None:
        return None
    values = {e.name: e.text.strip() for e in polygon.inner}
    points = [(values[f"x{i}"], values[f"y{i}"]) for i in range(1, len(values) // 2 + 1) if f"x{i}" in values and f"y{i}" in values]
    ring = outlines.ring([x for x, _ in points], [y for _, y in points])
    return None if ring is None or len(ring) < outlines.FEW_POINTS else ring - 1


def _pictures_of(name: str, inside: str) -> tuple[str, ...]:
    """The names that the picture may have: by the name of the file first, for the name inside of it is often false."""
    folder, _, base = name.rpartition(".")[0].rpartition("/")
    above, _, last = folder.rpartition("/")
    start = f"{above}/" if above else ""
    beside = [f"{start}{pictures}/{base}" for pictures in _PICTURES] if last else []
    return (f"{folder}/{base}" if folder else base, *beside, base, *([inside] if inside else []))
