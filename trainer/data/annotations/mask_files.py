"""Several masks of two values for each picture: one for each class, or one for each object. Which picture a mask belongs to, names say."""

import collections
import itertools
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from trainer.core.input import Input
from trainer.data import names
from trainer.data.annotations import masks, sniff
from trainer.data.annotations.held import Annotations

CLASSES, OBJECTS, EITHER = "a mask for each class", "a mask for each object", "masks with numbers"
OBJECT = "object"
_PAIRED = 0.5  # share of the masks that belong to a picture
_MOSTLY = 0.9  # share of a sample for which something holds
_MOST = 64  # names of classes
_SIBLINGS, _LEVELS = 24, 4  # names in a level of folders that are compared with each other, and levels
_VALUES = 2  # of a mask
_LOOKS = 5  # in each folder that may have masks
_CUT = re.compile(r"[_. -]+")
_NUMBER = re.compile(r"[_. -]*0*(\d+)$")
_DIGITS = re.compile(r"\d+")
_OF_MASKS = frozenset("mask masks seg segmentation gt label labels annotation ann object obj instance inst".split())
_OF_CLASSES = frozenset("class classes cls category cat".split())

Found = dict[str, list[tuple[str, Input]]]  # the masks of pictures by their names, each with what its own name says


@dataclass(frozen=True)
class Masks:
    """Pictures with their masks, each with the class that its name says. ``alone`` are masks without a picture, ``form`` is one of ``CLASSES``,
    ``OBJECTS`` and ``EITHER``; of the last one, ``classes`` are the numbers. ``by_number`` says that names have nothing but a number in common."""

    form: str
    pictures: list[tuple[Input, list[tuple[str, Input]]]]
    alone: list[Input]
    by_number: bool = False

    @property
    def files(self) -> tuple[str, ...]:
        """The names of all masks."""
        return (*(m.name for _, listed in self.pictures for _, m in listed), *(m.name for m in self.alone))


@dataclass(frozen=True)
class _Way:
    """One way in which names pair pictures and masks. ``by_folders`` says that folders tell the masks of one picture apart, ``strict`` that the
    names alone do not tell masks from other pictures, so that their sizes must; ``by_number`` is that of ``Masks``."""

    pictures: dict[str, Input]
    found: Found
    alone: list[Input]
    by_folders: bool = False
    strict: bool = False
    by_number: bool = False


def find(images: list[Input]) -> Annotations | None:
    """What a dataset has; None where it has no such masks."""
    held = of(images)
    if held is None:
        return None
    classes = tuple(sorted({word for _, listed in held.pictures for word, _ in listed}, key=names.natural))
    return Annotations(held.form, held.files, sum(len(listed) for _, listed in held.pictures), classes)


def of(images: list[Input]) -> Masks | None:
    """The pictures with their masks; None where no names pair them, or where the pixels are not those of masks."""
    for way in _ways(images):
        number = sum(map(len, way.found.values()))
        if len(way.found) < masks.FEW or number < _PAIRED * (number + len(way.alone)) or (told := _told(way)) is None:
            continue
        form, found = told
        if (form == CLASSES or not way.by_number) and _are_masks(way):
            return Masks(form, [(way.pictures[name], found[name]) for name in sorted(found, key=names.natural)], way.alone, way.by_number)
    return None


def _ways(images: list[Input]) -> Iterator[_Way]:
    split = [(i, i.name.split("/")[:-1], names.stem(i.name)) for i in images]
    for level in range(min(_LEVELS, 1 + max((len(parts) for _, parts, _ in split), default=0))):
        by_name: dict[str, list[tuple[Input, tuple[str, ...], str]]] = collections.defaultdict(list)
        for image, parts, stem in split:
            if len(parts) >= level:
                by_name[parts[level] if len(parts) > level else ""].append((image, (*parts[:level], *parts[level + 1 :]), stem))
        if not 1 < len(by_name) <= _SIBLINGS:
            continue
        masked = [name for name in sorted(by_name) if name and _have_two_values([i for i, _, _ in by_name[name]])]
        for name in sorted(by_name.keys() - set(masked)) if masked else ():
            yield from _beside(by_name, name, masked)
            for other in masked:
                yield from _apart(by_name[name], by_name[other])
            yield from _by_numbers(by_name, name, masked)
    yield from _by_endings(split)


def _apart(pictures: list, others: list) -> Iterator[_Way]:
    """Masks in another folder than their pictures: below a folder of their class or of their picture, or with more in their names."""
    by_key = _by_key(pictures)
    in_folder = collections.Counter(folders for _, folders, _ in pictures)
    only = {folders: image for image, folders, _ in pictures if in_folder[folders] == 1 and folders}

    def inner(folders: tuple[str, ...], stem: str) -> tuple[Input | None, str]:
        if (image := by_key.get(tuple(f.lower() for f in folders))) is None:
            image = only.get(folders)
            image = None if image is None or names.stem(image.name) == stem else image
        return image, stem

    def ending(folders: tuple[str, ...], stem: str) -> tuple[Input | None, str]:
        if (*(f.lower() for f in folders), stem) in by_key:  # of field_flip.png, and not of field.png
            return None, ""
        for cut in _CUT.finditer(stem):
            if (image := by_key.get((*(f.lower() for f in folders), stem[: cut.start()]))) is not None:
                return image, stem[cut.end() :]
        return None, ""

    def folder(folders: tuple[str, ...], stem: str) -> tuple[Input | None, str]:
        for place in range(len(folders) - 1, -1, -1):
            key = (*(f.lower() for f in folders[:place] + folders[place + 1 :]), stem)
            if (image := by_key.get(key)) is not None and names.split_of(f"{folders[place]}/x") is None:
                return image, folders[place]
        return None, ""

    for find_one in (inner, folder, ending):
        found = [(m, *find_one(folders, stem)) for m, folders, stem in others]
        yield _way(pictures, found, by_folders=find_one is folder, strict=find_one is ending)


def _by_key(pictures: list) -> dict[tuple[str, ...], Input]:
    """The pictures by their folders and stems; those of which two are alike are in none."""
    counts = collections.Counter((*folders, stem) for _, folders, stem in pictures)
    return {(*(f.lower() for f in folders), stem): i for i, folders, stem in pictures if counts[(*folders, stem)] == 1}


def _beside(by_name: dict[str, list], name: str, masked: list[str]) -> Iterator[_Way]:
    """Folders of classes beside the folder ``name`` of the pictures."""
    by_key = _by_key(by_name[name])
    found: list[tuple[Input, Input | None, str]] = []
    folders = 0
    for other in masked:
        listed = [(m, by_key.get((*(f.lower() for f in parts), stem)), other) for m, parts, stem in by_name[other]]
        if sum(image is not None for _, image, _ in listed) >= max(1, _PAIRED * len(listed)) and names.split_of(f"{other}/x") is None:
            found, folders = found + listed, folders + 1
    if folders > 1:
        yield _way(by_name[name], found, by_folders=True, strict=True)


def _by_numbers(by_name: dict[str, list], name: str, masked: list[str]) -> Iterator[_Way]:
    """Masks of classes that have nothing but a number in common with their pictures: img_001.png with water/1.png or water_1.png."""
    by_key = {(*(f.lower() for f in folders), _only_number(stem)): image for image, folders, stem in by_name[name]}
    if len(by_key) < len(by_name[name]) or any(key[-1] is None for key in by_key):
        return
    above = {folder for other in masked for _, folders, _ in by_name[other] for folder in folders}
    numbered = _tell_apart(above), _tell_apart(set(masked))
    for where in ("above", "in its name", "beside"):
        found: list[tuple[Input, Input | None, str]] = []
        for mask, folders, stem, beside in ((*m, other) for other in masked for m in by_name[other]):
            number, lower = _only_number(stem), tuple(f.lower() for f in folders)
            ways = [(lower[:i] + lower[i + 1 :], folder) for i, folder in enumerate(folders)]
            if where != "above":
                ways = [(lower, beside if where == "beside" else _bare(_DIGITS.sub("", stem)))]
            with_digits = numbered[where == "beside"] and where != "in its name"
            own = [(mask, by_key.get((*key, number)), word) for key, word in ways if _can_be_class(word, with_digits)]
            if not own:  # a mask whose class no name says
                break
            found.append(next((one for one in own if one[1] is not None), own[0]))
        else:
            once = {(image.name, word) for _, image, word in found if image is not None}
            several = where != "beside" or len({word for _, word in once}) > 1
            if once and several and len(once) == sum(image is not None for _, image, _ in found):
                yield replace(_way(by_name[name], found, by_folders=where != "in its name", strict=True), by_number=True)


def _only_number(stem: str) -> str | None:
    """The only number in a name, without zeros before it; None where there is none, or more than one."""
    found = _DIGITS.findall(stem)
    return found[0].lstrip("0") or "0" if len(found) == 1 else None


def _can_be_class(word: str, with_digits: bool) -> bool:
    """Whether a word names a class. ``with_digits`` allows these in it."""
    return bool(_bare(word)) and (with_digits or not _DIGITS.search(word)) and names.split_of(f"{word}/x") is None


def _tell_apart(folders: set[str]) -> bool:
    """Whether folders have names of their own besides their numbers, as ice2 and water have. Those that differ in numbers alone (site1, site2) may be
    places, people or objects."""
    left = [_bare(_DIGITS.sub("", folder)).lower() for folder in folders if names.split_of(f"{folder}/x") is None]
    return len(left) > 1 and all(left) and len(set(left)) == len(left)


def _by_endings(split: list) -> Iterator[_Way]:
    """Masks in the folder of their pictures: x_river.png and x_road.png beside x.png."""
    by_place: dict[tuple, list[Input]] = collections.defaultdict(list)
    for image, parts, stem in split:
        by_place[(*parts, stem)].append(image)
    found = []
    for image, parts, stem in split:
        places = ((by_place.get((*parts, stem[: c.start()]), []), stem[c.end() :]) for c in _CUT.finditer(stem))
        pictures, word = next(((p, word) for p, word in places if len(p) == 1), ([], ""))
        if pictures:
            found.append((image, pictures[0], word))
    own = {image.name for image, _, _ in found}
    yield _way([s for s in split if s[0].name not in own], [f for f in found if f[1].name not in own], strict=True)


def _way(pictures: list, listed: Sequence[tuple[Input, Input | None, str]], by_folders: bool = False, strict: bool = False) -> _Way:
    found: Found = collections.defaultdict(list)
    for mask, image, word in listed:
        if image is not None:
            found[image.name].append((word, mask))
    return _Way({i.name: i for i, _, _ in pictures}, dict(found), [m for m, image, _ in listed if image is None], by_folders, strict)


def _told(way: _Way) -> tuple[str, Found] | None:
    """What the masks are by what their names say: classes repeat, and objects are numbered or have names of their own. None for one mask of each
    picture that is found by its name alone, which others read, and for more words than there can be classes."""
    if way.by_folders:
        return (CLASSES, way.found) if len({w for listed in way.found.values() for w, _ in listed}) <= _MOST else None
    words = {name: [_bare(word) for word, _ in listed] for name, listed in way.found.items()}
    every = [w for listed in words.values() for w in listed]
    repeat = 2 * len(set(every)) <= len(every)
    if all(len(listed) == 1 for listed in words.values()):
        if way.strict and (not repeat or len(set(every)) == 1):
            return None
        return _named(CLASSES, way.found, words if repeat else {})
    numbered = {name: [_NUMBER.search(w) for w in listed] for name, listed in words.items()}
    if sum(m is not None for listed in numbered.values() for m in listed) < _MOSTLY * len(every):
        return _named(CLASSES, way.found, words) if repeat else _named(OBJECTS, way.found, {})
    kinds = {name: [w[: m.start()] if m else w for w, m in zip(words[name], listed)] for name, listed in numbered.items()}
    if not repeat or (len({tuple(sorted(listed)) for listed in words.values()}) > 1 and not _say_class(kinds) and _count_up(numbered, kinds)):
        few = 2 * len({k for listed in kinds.values() for k in listed}) <= len(every)
        return _named(OBJECTS, way.found, kinds if few else {})
    return _named(EITHER, way.found, words)


def _named(form: str, found: Found, words: dict[str, list[str]]) -> tuple[str, Found] | None:
    """The masks with their classes by ``words``, and ``OBJECT`` where these say none; None where there are too many."""
    named = {name: [(w or OBJECT, m) for w, (_, m) in zip(words.get(name) or itertools.repeat(""), listed)] for name, listed in found.items()}
    return (form, named) if len({w for listed in named.values() for w, _ in listed}) <= _MOST else None


def kind(word: str) -> str:
    """The class of an object by a name that ends with its number."""
    return _NUMBER.sub("", word) or OBJECT


def _bare(word: str) -> str:
    """What a name says besides that it is of a mask."""
    return "_".join(part for part in _CUT.split(word) if part and part.lower() not in _OF_MASKS)


def _say_class(kinds: dict[str, list[str]]) -> bool:
    return any(part.lower() in _OF_CLASSES for listed in kinds.values() for word in listed for part in _CUT.split(word))


def _count_up(numbered: dict[str, list], kinds: dict[str, list[str]]) -> bool:
    """Whether the numbers of nearly every picture go up without a gap, over all of its masks or over those of one word, as those of objects do; where
    a class is missing in a picture, there is a gap."""

    def whole(numbers: list[int]) -> bool:
        return len(set(numbers)) == len(numbers) and max(numbers) - min(numbers) + 1 == len(numbers) and min(numbers) <= 1

    good = 0
    for name, matches in numbered.items():
        pairs = [(kind, int(m[1])) for kind, m in zip(kinds[name], matches) if m]
        by_kind = [[n for k, n in pairs if k == kind] for kind in {k for k, _ in pairs}]
        good += bool(pairs) and (whole([n for _, n in pairs]) or all(map(whole, by_kind)))
    return good >= _MOSTLY * len(numbered)


def _have_two_values(files: list[Input]) -> bool:
    """Whether a sample has at most two values in each file. Files that cannot be read say nothing."""
    seen = [look for f in sniff.spread(files, _LOOKS) if (look := masks.look(f.file)) is not None]
    return bool(seen) and all(map(_is_mask, seen))


def _is_mask(look: masks.Look) -> bool:
    return look.is_few and (look.values <= _VALUES or look.is_extreme)


def _are_masks(way: _Way) -> bool:
    """Whether in a sample the masks have two values and the pictures more, and of a ``strict`` way both are of the same size."""
    sample = [(way.pictures[name], listed[i % len(listed)][1]) for i, (name, listed) in enumerate(sniff.spread(list(way.found.items())))]
    looks = [(p, m) for picture, mask in sample if (m := masks.look(mask.file)) is not None and (p := masks.look(picture.file)) is not None]
    good = sum(_is_mask(m) and not p.is_few and (not way.strict or p.size == m.size) for p, m in looks)
    return 2 * len(looks) >= max(1, len(sample)) and good >= _MOSTLY * len(looks)
