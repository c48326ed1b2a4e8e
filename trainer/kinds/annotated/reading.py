"""The annotated pictures of a dataset, whatever the format: read, matched with their pictures, cleaned and counted."""

import collections

from trainer.core.input import Input
from trainer.data import names
from trainer.data.annotations.held import Annotations
from trainer.data.sources import Sources
from trainer.errors import UserError, count, some
from trainer.kinds.annotated import geometry, matching, readers, turning, units
from trainer.kinds.annotated.readers import Read
from trainer.kinds.annotated.shapes import Annotated, LeftOut, Listed, Picture, Shape

_MISSING = 0.1  # share of the annotated pictures that are not in the dataset, from which it is refused
_OUTSIDE = 0.1  # share of the shapes that lie mostly outside of their pictures, likewise
_SAME_RATIO = 0.02  # of width to height, up to which a listed size is that of the same picture in another resolution
_SAME_OBJECT = 0.5  # intersection over union of two boxes with one label, of different lists
_ORDER = ("test", "validation", "train", "")  # where files put a picture into several splits, the first of these counts


def read(sources: Sources, annotations: Annotations, class_name: str = "") -> Annotated:
    """The pictures with their shapes. ``annotations`` is what the look found; ``class_name`` the attribute or column with the class, if the
    user named it. Raises UserError where the annotations must be changed first."""
    read = Read()
    readers.READERS[annotations.format](sources, class_name, read)
    units.take_shares(read)
    matched = _matched(sources, read)
    splits, files = matching.listed_splits(sources.texts, sources.others)
    pictures, outside, corners = [], 0, units.Corners()
    for image, entries in matched:
        picture, mostly = _picture(image, entries, splits, read, corners)
        outside += mostly
        if picture is not None:
            pictures.append(picture)
    corners.check(annotations.format)
    shapes = [s for p in pictures for s in p.shapes]
    if outside > _OUTSIDE * (len(shapes) + outside):
        raise _outside(outside, len(shapes) + outside, annotations.format)
    present = {s.label for s in shapes}
    if not present:
        raise _nothing(read.left, annotations)
    classes = [c for c in dict.fromkeys(read.classes) if c in present]
    classes += sorted(present - set(classes), key=names.natural)
    annotated = {p.source.name for p in pictures}
    rest = tuple(i for i in sources.images if i.name not in annotated and i.name not in read.files)
    return Annotated(annotations.format, pictures, tuple(classes), read.left, read.changed, frozenset((*read.files, *files)), rest)


def _matched(sources: Sources, read: Read) -> list[tuple[Input, list[Listed]]]:
    """The pictures of the dataset with their entries, in natural order. Raises UserError where too many are not there."""
    pictures = matching.Pictures(sources.images)
    by_image: dict[str, list[Listed]] = collections.defaultdict(list)
    named: dict[tuple[str, str], set[str]] = collections.defaultdict(set)
    found: list[tuple[Input, Input, Listed]] = []
    missing = []
    for source, listed in read.listed:
        image = pictures.find(source, listed.names)
        if image is None:
            missing.append(next(iter(listed.names), "") or source.name)
        else:
            named[source.name, image.name].add(listed.names[0])
            found.append((source, image, listed))
    if len(missing) > _MISSING * len(read.listed):
        raise _missing(missing, read, sources.images)
    for name in missing:
        read.left.add("the annotated picture is not in the dataset", name)
    images: dict[str, Input] = {}
    for source, image, listed in found:
        if len(named[source.name, image.name]) > 1:
            read.left.add("several annotated pictures have the name of this one", image.name)
        else:
            images[image.name] = image
            by_image[image.name].append(listed)
    return [(images[name], by_image[name]) for name in sorted(images, key=names.natural)]


def _picture(image: Input, entries: list[Listed], splits: dict[str, str], read: Read, corners: units.Corners) -> tuple[Picture | None, int]:
    """A picture with the shapes of all of its entries, each once, and how many of them lie mostly outside; None where it cannot be used."""
    try:
        width, height = matching.upright_size(image.file)
    except (OSError, ValueError, SyntaxError):
        read.left.add("the picture cannot be read", image.name)
        return None, 0
    shapes: dict[tuple, Shape] = {}
    outside = 0
    for listed in (_upright(e, image, width, height, read) for e in entries):
        before = [*shapes.values()]
        scale = _scale(listed, width, height, image.name, read)
        if scale is None:
            return None, 0
        corners.look(listed.drawn, width / scale[0], height / scale[1])
        for drawn in listed.drawn:
            cleaned = geometry.clean(drawn, image.name, width, height, scale, read.left, read.changed)
            outside += cleaned.mostly_outside
            if cleaned.shape is not None and _key(cleaned.shape) in shapes:
                read.left.add("the same object is annotated twice", image.name)
            elif cleaned.shape is not None and any(_is_same(cleaned.shape, other) for other in before):
                read.left.add("another list has the same object, as where two people annotated a picture", image.name)
            elif cleaned.shape is not None:
                shapes[_key(cleaned.shape)] = cleaned.shape
    chosen = names.chosen_split(image.name) or splits.get(names.stem(image.name)) or _split([e.split for e in entries], image, read)
    return Picture(image, width, height, chosen, list(shapes.values()), next((e.part for e in entries if e.part), "")), outside


def _upright(listed: Listed, image: Input, width: int, height: int, read: Read) -> Listed:
    """The entry in the frame of the upright picture: where only the picture as it is stored has the form that the entry tells, it is turned."""
    sized = listed.width > 0 and listed.height > 0
    if listed.shares or (sized and (_is_form(listed, width, height) or not _is_form(listed, height, width))):
        return listed
    orientation = matching.orientation(image.file)
    if orientation not in turning.SIDES:
        return listed
    if not sized:
        read.changed.add(turning.UNCLEAR, image.name)
        return listed
    read.changed.add("annotations of pictures as they are stored are turned as EXIF shows the pictures", image.name)
    return turning.turned(listed, orientation)


def _is_form(listed: Listed, width: int, height: int) -> bool:
    return abs(width * listed.height / (height * listed.width) - 1) <= _SAME_RATIO


def _is_same(a: Shape, b: Shape) -> bool:
    """Whether two lists of one picture mean the same object."""
    across, down = min(a.box[2], b.box[2]) - max(a.box[0], b.box[0]), min(a.box[3], b.box[3]) - max(a.box[1], b.box[1])
    if a.label != b.label or min(across, down) <= 0:
        return False
    sizes = sum((s.box[2] - s.box[0]) * (s.box[3] - s.box[1]) for s in (a, b))
    return across * down > _SAME_OBJECT * (sizes - across * down)


def _key(shape: Shape) -> tuple:
    """What is equal for two annotations of one object."""
    return shape.label, shape.crowd, sum(map(len, shape.rings)), tuple(round(c, 2) for c in shape.box)


def _split(listed: list[str], image: Input, read: Read) -> str:
    """The split of a picture: by its own name, else by the files that list it."""
    if own := names.split_of(image.name):
        return own
    differing = set(listed) - {""}
    if len(differing) > 1:
        read.changed.add("pictures are listed in several splits and used in one of them", image.name)
    return next((s for s in _ORDER if s in differing), "")


def _scale(listed: Listed, width: int, height: int, name: str, read: Read) -> tuple[float, float] | None:
    """What the coordinates of an entry are multiplied with; None where they belong to a picture of another form."""
    if listed.shares:
        return float(width), float(height)
    if not listed.width or not listed.height or (listed.width, listed.height) == (width, height):
        return 1.0, 1.0
    x, y = width / listed.width, height / listed.height
    if not _is_form(listed, width, height):
        read.left.add("the annotations are of a picture of another form", name)
        return None
    read.changed.add("annotations of pictures in another resolution are scaled", name)
    return x, y


def _missing(missing: list[str], read: Read, images: list[Input]) -> UserError:
    return UserError(
        "pictures_missing",
        f"{len(missing):,} of {count(len(read.listed), 'annotated picture')} are not in the dataset, for example {some(missing, 3)}.",
        "Add the pictures, or correct the names in the annotations.",
        f"The dataset has {some([i.name for i in images], 3)}." if images else "The dataset has no pictures.",
    )


def _outside(outside: int, total: int, form: str) -> UserError:
    return UserError(
        "annotations_outside",
        f"{outside:,} of {count(total, 'annotation')} ({form}) lie mostly outside of their pictures.",
        "Check whether the coordinates belong to these pictures: they may be those of larger ones.",
    )


def _nothing(left: LeftOut, annotations: Annotations) -> UserError:
    reasons = some([f"{reason} ({number:,} times)" for reason, number in left.counts.items()], 3)
    return UserError(
        "no_annotations",
        f"No annotation of the dataset ({annotations.format} in {some(annotations.files, 3)}) can be used.",
        "Annotate some objects with boxes or polygons, and export them again.",
        f"Left out: {reasons}." if reasons else "",
    )
