"""Files that name the classes of masks: by the values in their pixels, or by their colours. The bytes are not trusted."""

import re
from dataclasses import dataclass, field

import numpy

from trainer.core.input import Input
from trainer.data import names
from trainer.data.annotations import sniff
from trainer.data.sources import Sources
from trainer.kinds.pixels import codings
from trainer.kinds.pixels.drawn import SEPARATOR

_VALUES = ("classes", "labels", "names", "class_names", "classnames", "codes")
_COLOURS = (*_VALUES, "class_dict", "labelmap", "label_colors", "label_colours", "colors", "colours", "colormap", "palette")
_LONGEST = 1 << 16  # bytes
_NUMBER = r"(\d{1,3})"
_COLOUR = rf"{_NUMBER}[\s,;]+{_NUMBER}[\s,;]+{_NUMBER}"
_NAME_FIRST, _COLOUR_FIRST = re.compile(rf"(.*?\S)\s*[,;:\t ]\s*{_COLOUR}\s*(?:[:,;].*)?"), re.compile(rf"{_COLOUR}[\s,;:]+(\S.*)")
_VALUE_FIRST, _WHOLE = re.compile(rf"{_NUMBER}\s*[,;:=\t ]\s*(\D.*)"), re.compile(r"(\d{1,9})(?:\.0+)?")
_HEXADECIMAL = re.compile(r"#([0-9a-fA-F]{6})")
_ENTRIES = "pipe/rasterrenderer/colorPalette/paletteEntry"
_TABLES = ("labels", "names", "codes")  # a table of this name may say what is in pictures, by their numbers
_LARGEST = 255
_NO_CLASS = frozenset("unlabelled unlabeled unannotated notlabelled notlabeled nolabel unclassified ignore ignored nodata".split())
_BETWEEN = re.compile(r"[\W_]+")


@dataclass(frozen=True)
class Named:
    """The names of classes by value, or by packed colour, and the file that says them; empty where there is none. A ``partial`` one need not name all
    values, and may be about other pictures."""

    values: dict[int, str] = field(default_factory=dict)
    colours: dict[int, str] = field(default_factory=dict)
    file: str = ""
    partial: bool = False

    def colour(self, packed: int) -> str:
        """The name of a colour that is near one of the file; empty without one."""
        listed = numpy.asarray(list(self.colours), numpy.int64)
        apart = numpy.abs(codings.unpacked(listed) - codings.unpacked(numpy.asarray(packed))).max(axis=-1)
        return self.colours[int(listed[apart.argmin()])] if len(listed) and apart.min() <= codings.NEAR_COLOUR else ""


def find(sources: Sources) -> Named:
    """What a file of the dataset says: a name in each line, a value and its name, or a name and its red, green and blue; else a style of QGIS."""
    for source in (*sources.texts, *sources.tables, *sources.others):
        stem, ending = names.stem(source.name), names.extension(source.name)
        if stem not in _COLOURS or ending not in ("txt", "names", "csv") or source.size > _LONGEST:
            continue
        lines = [line.strip() for line in source.file.read_text("utf-8-sig", "replace").splitlines()]
        lines = [line for line in lines if line and not line.startswith("#")]
        if colours := _of_colours(lines):
            return Named(colours=colours, file=source.name)
        if (values := _of_values(lines)) and (ending != "csv" or stem not in _TABLES):
            return Named(values, file=source.name)
        if stem in _VALUES and ending != "csv" and 2 <= len(lines) <= codings.MOST:
            return Named({i: _clean(line) for i, line in enumerate(lines)}, file=source.name)
    return next((named for source in sources.others if names.extension(source.name) == "qml" and (named := _of_style(source)) is not None), Named())


def _of_style(source: Input) -> Named | None:
    """The names and colours of values in a style of QGIS for a raster of classes; None for other styles."""
    entries = sniff.elements(source).attributes.get(_ENTRIES, ()) if source.size <= sniff.XML else ()
    values, colours = {}, {}
    for entry in entries[: codings.MOST]:
        name, colour = _clean(entry.get("label", "")), _HEXADECIMAL.fullmatch(entry.get("color", ""))
        if name and (value := _WHOLE.fullmatch(entry.get("value", ""))):
            values[int(value[1])] = name
            if colour:
                colours[int(colour[1], 16)] = name
    return Named(values, colours, source.name, True) if len(values) > 1 else None


def _of_values(lines: list[str]) -> dict[int, str]:
    """The names by value; none where a line but the first, which may be a header, has no value and name, or where two are alike."""
    found: dict[int, str] = {}
    for number, line in enumerate(lines):
        if (match := _VALUE_FIRST.fullmatch(line)) is not None and int(match[1]) not in found:
            found[int(match[1])] = _clean(match[2])
        elif number:
            return {}
    return found if 2 <= len(found) <= codings.MOST and len(set(found.values())) == len(found) else {}


def _of_colours(lines: list[str]) -> dict[int, str]:
    """The names by packed colour; none where a line but the first, which may be a header, has no name and colour."""
    found: dict[int, str] = {}
    for number, line in enumerate(lines):
        name, colour = "", []
        if (match := _NAME_FIRST.fullmatch(line)) is not None:
            name, *colour = match.groups()
        elif (match := _COLOUR_FIRST.fullmatch(line)) is not None:
            *colour, name = match.groups()
        red, green, blue = map(int, colour or (_LARGEST + 1,) * 3)
        if max(red, green, blue) <= _LARGEST:
            found[red << 16 | green << 8 | blue] = _clean(name)
        elif number:
            return {}
    return found if 2 <= len(found) <= codings.MOST else {}


def is_no_class(label: str) -> bool:
    """Whether the name of a class says that nobody knows what its pixels show."""
    return _BETWEEN.sub("", label.lower()) in _NO_CLASS


def _clean(name: str) -> str:
    return name.strip().strip('"').strip().replace(SEPARATOR.strip(), ",")
