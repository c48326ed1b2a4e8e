"""Which files of a dataset hold annotations of a format, and what they list."""

from collections.abc import Callable
from dataclasses import dataclass, field

from trainer.core.input import Input
from trainer.data import names
from trainer.data.annotations import (
    boxes,
    coco as looked_coco,
    label_studio as looked_studio,
    labelme as looked_labelme,
    mask_files as looked_files,
    numbered as looked_numbered,
    sniff,
    via as looked_via,
)
from trainer.data.images import Index
from trainer.data.sources import Sources
from trainer.errors import UserError
from trainer.kinds.annotated import box_tables, coco, cvat, label_studio, labelme, limits, mask_files, matching, numbered, via, voc, yolo
from trainer.kinds.annotated.shapes import LeftOut, Listed

COCO = ("COCO polygons or masks", "COCO boxes", "COCO")
VIA = ("regions of the VGG Image Annotator (VIA)", "regions of the VGG Image Annotator (VIA) 3")
YOLO, VOC, LABELME, LABEL_STUDIO, CVAT, TABLE = "YOLO", "Pascal VOC", "LabelMe", "Label Studio", "CVAT", "boxes in a table"
NUMBERED = looked_numbered.FORMAT
FILES = (looked_files.OBJECTS, looked_files.EITHER)
FORMATS = (*COCO, *VIA, YOLO, VOC, LABELME, LABEL_STUDIO, CVAT, TABLE, NUMBERED, *FILES)  # of objects, as trainer/data/annotations calls them
AREAS = looked_files.CLASSES  # a format that says the class of each pixel, and not which of them are one object
_DELIMITED = ("csv", "tsv", "tab", "txt")


@dataclass
class Read:
    """What the files of one format list, each with the file it is from."""

    listed: list[tuple[Input, Listed]] = field(default_factory=list)
    classes: list[str] = field(default_factory=list)
    files: list[str] = field(default_factory=list)
    shapes: int = 0
    left: LeftOut = field(default_factory=LeftOut)
    changed: LeftOut = field(default_factory=LeftOut)

    def add(self, source: Input, listed: list[Listed], classes: list[str]) -> None:
        """Note what a file lists. Raises UserError where that is too much."""
        self.listed += [(source, one) for one in listed]
        self.classes += classes
        self.files.append(source.name)
        self.shapes += sum(len(one.drawn) for one in listed)
        if self.shapes > limits.SHAPES:
            raise UserError("annotations_too_large", f"The dataset has more than {limits.SHAPES:,} annotations.", "Use fewer pictures.")


def _json(sources: Sources, looks: tuple, formats: tuple[str, ...]) -> list[Input]:
    """The JSON files of these formats."""
    chosen = []
    for source in (s for s in sources.tables if names.extension(s.name) == "json"):
        value, cut = sniff.document(source)
        if any((seen := look.find(source, value, cut)) is not None and seen.format in formats for look in looks):
            chosen.append(source)
    return chosen


def _of_coco(sources: Sources, class_name: str, read: Read) -> None:
    for source in _json(sources, (looked_coco,), COCO):
        listed, classes = coco.read(source, read.left, read.changed)
        read.add(source, listed, classes)


def _of_via(sources: Sources, class_name: str, read: Read) -> None:
    index = Index(sources.images)
    tables = [s for s in sources.tables if names.extension(s.name) in _DELIMITED]
    chosen = [s for s in tables if (seen := boxes.find(s, index)) is not None and seen.format in VIA]
    for source in chosen or _json(sources, (looked_via,), VIA):
        listed, classes = via.read(source, read.left, read.changed, class_name)
        read.add(source, listed, classes)


def _of_labelme(sources: Sources, class_name: str, read: Read) -> None:
    for source in _json(sources, (looked_labelme,), (LABELME,)):
        if (one := labelme.read(source, read.left)) is not None:
            read.add(source, [one], [])


def _of_label_studio(sources: Sources, class_name: str, read: Read) -> None:
    for source in _json(sources, (looked_studio,), (LABEL_STUDIO,)):
        read.add(source, label_studio.read(source, read.left), [])


def _of_xml(sources: Sources, class_name: str, read: Read) -> None:
    for source in (s for s in sources.others if names.extension(s.name) == "xml"):
        if (one := voc.read(source, read.left)) is not None:
            read.add(source, [one], [])


def _of_cvat(sources: Sources, class_name: str, read: Read) -> None:
    for source in (s for s in sources.others if names.extension(s.name) == "xml"):
        if sniff.elements(source).root == "annotations":
            read.add(source, *cvat.read(source, sources.images, read.left, read.changed))


def _of_yolo(sources: Sources, class_name: str, read: Read) -> None:
    named, files = yolo.class_names(sources.texts, sources.others)
    read.files += files
    read.classes += [named[i] for i in sorted(named)]
    lists = matching.listed_splits(sources.texts, [])[1]
    pictures = matching.Pictures(sources.images)
    texts = [s for s in sources.texts if s.name not in (*lists, *files) and s.name.rsplit("/", 1)[-1].lower() not in yolo.LISTS]
    paired = [s for s in texts if pictures.find(s, yolo.pictures_of(s.name)) is not None]
    for source in paired or texts:
        read.add(source, [yolo.read(source, read.left, named)], [])


def _of_tables(sources: Sources, class_name: str, read: Read) -> None:
    index = Index(sources.images)
    for source in (s for s in sources.tables if names.extension(s.name) in _DELIMITED):
        if (seen := boxes.find(source, index)) is not None and seen.format == TABLE:
            read.add(source, box_tables.read(source, index, read.left, class_name), [])


def _of_numbered(sources: Sources, class_name: str, read: Read) -> None:
    sides = looked_numbered.sides_of(sources.images)
    for picture, mask in zip(sides.pictures, sides.masks) if sides is not None else ():
        if (one := numbered.read(picture.name, mask, read.left)) is not None:
            read.add(mask, [one], [])
        else:
            read.files.append(mask.name)
    read.files += [m.name for m in sides.masks_alone] if sides is not None else []


def _of_files(form: str) -> Callable[[Sources, str, Read], None]:
    def add(sources: Sources, class_name: str, read: Read) -> None:
        listed, held = mask_files.read(sources.images, form, read.left, read.changed)
        pictures = {picture.name: picture for picture, _ in held.pictures}
        for one in listed:
            read.add(pictures[one.names[0]], [one], [])
        read.files[:] = held.files

    return add


READERS: dict[str, Callable[[Sources, str, Read], None]] = {
    **dict.fromkeys(COCO, _of_coco), **dict.fromkeys(VIA, _of_via), YOLO: _of_yolo, VOC: _of_xml, LABELME: _of_labelme,
    LABEL_STUDIO: _of_label_studio, CVAT: _of_cvat, TABLE: _of_tables, NUMBERED: _of_numbered,
    **{form: _of_files(form) for form in (looked_files.OBJECTS, looked_files.CLASSES)},
}  # fmt: skip
