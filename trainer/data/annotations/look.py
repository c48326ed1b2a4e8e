"""Whether a dataset holds annotations of pictures, of whatever format."""

import collections

from trainer.core.input import Input
from trainer.data import folders, names
from trainer.data.annotations import boxes, coco, label_studio, labelme, line_files, mask_files, numbered, sniff, vectors, via, xml_files
from trainer.data.annotations.held import Annotations
from trainer.data.images import Index
from trainer.data.sources import Sources
from trainer.errors import UserError

_JSON = (coco, via, labelme, label_studio)
_DELIMITED = ("csv", "tsv", "tab", "txt")
_NO_LABELS = ("json", "geojson", "dbf", "")  # maps with the table of their shapes, and files such as README
_LARGE = 5  # of the largest files, beside those from all over the list


def find(found: Sources) -> Annotations | None:
    """The annotations in the files of a dataset; None where there are none."""
    images, index = found.images, Index(found.images)
    by_ending: dict[str, list[Input]] = collections.defaultdict(list)
    for source in (*found.tables, *found.others):
        by_ending[names.extension(source.name)].append(source)
    return (
        _all(_chosen(by_ending["json"]), _of_json)
        or _all(_chosen(by_ending["xml"]), xml_files.find)
        or line_files.find(found.texts, images, found.others)
        or (_all(_chosen([s for ending in _DELIMITED for s in by_ending[ending]]), lambda s: boxes.find(s, index)) if images else None)
        or mask_files.find(found.images)
        or numbered.find(found)
        or (vectors.find([*by_ending["json"], *by_ending["geojson"]], found.others, images) if images and not _have_labels(found) else None)
    )


def _chosen(sources: list[Input]) -> list[Input]:
    """A sample from all over the files, with the largest ones."""
    largest = sorted(sources, key=lambda s: -s.size)[:_LARGE]
    return [*largest, *(s for s in sniff.spread(sources) if s not in largest)]


def _all(sources: list[Input], find_one) -> Annotations | None:
    """What is in all files together, in the format of the first one."""
    first: Annotations | None = None
    for source in sources:
        held = find_one(source)
        if held is not None and (first is None or held.format == first.format):
            first = held if first is None else first.joined(held)
    return first


def _of_json(source: Input) -> Annotations | None:
    value, cut = sniff.document(source)
    return next((held for form in _JSON if (held := form.find(source, value, cut)) is not None), None)


def _have_labels(found: Sources) -> bool:
    """Whether folders or a table may say what the pictures are."""
    tables = [t for t in found.tables if names.extension(t.name) not in _NO_LABELS]
    try:
        return bool(tables) or bool(folders.read(found.images, ""))
    except UserError:
        return True
