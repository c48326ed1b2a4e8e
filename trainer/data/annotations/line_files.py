"""Annotations in a text file for each picture: YOLO, KITTI and DOTA."""

import re

from trainer.core.input import Input
from trainer.data import names
from trainer.data.annotations import sniff
from trainer.data.annotations.held import Annotations

_SAMPLE = 50
_PAIRED, _VALID = 0.5, 0.9  # share of the texts that belong to a picture, and of those that hold nothing else
_FEW = 5  # texts from which they are known without their pictures
_COUNTED = 3  # lines from which numbers that count up tell something
_LISTS = ("classes.txt", "obj.names", "predefined_classes.txt", "_darknet.labels")
_NAMES = re.compile(r"^names:[ \t]*(\[[^\]]*\])?((?:\n[ \t]*(?:-|\d+[ \t]*:)[ \t]*[^\n]+)*)", re.MULTILINE)
_WORD = re.compile(r"[\w .()/+&'-]+")


def find(texts: list[Input], images: list[Input], others: list[Input]) -> Annotations | None:
    """The annotations in ``texts``; ``others`` may hold the names of their classes."""
    pictures = {names.stem(i.name) for i in images}
    candidates = [t for t in texts if t.name.rsplit("/", 1)[-1].lower() not in _LISTS]
    paired = [t for t in candidates if names.stem(t.name) in pictures]
    apart = len(paired) < _PAIRED * len(candidates)
    chosen = candidates if apart else paired
    if not chosen or (apart and len(chosen) < _FEW):
        return None
    sample = [(t, held) for t in sniff.spread(chosen, _SAMPLE) if (held := sniff.lines(t))]
    for form, holds in _FORMS.items():
        valid = [t for t, held in sample if all(holds(line.split()) for line in held)]
        if valid and len(valid) >= _VALID * len(sample) and not (apart and _are_series([held for _, held in sample])):
            number = sum(len(held) for _, held in sample)
            return Annotations(form, tuple(t.name for t in chosen[:3]), number, _classes(texts, others), len(sample) < len(chosen))
    return None


def _are_series(texts: list[list[str]]) -> bool:
    """Whether the first column of most ``texts`` only numbers their lines, as in series of measures; classes repeat or leave gaps."""
    counting = 0
    for held in texts:
        first = [line.split()[0] for line in held]
        counting += len(first) >= _COUNTED and first[0] in ("0", "1") and first == [str(int(first[0]) + i) for i in range(len(first))]
    return counting > len(texts) / 2


def _numbers(words: list[str]) -> list[float] | None:
    try:
        return [float(w) for w in words]
    except ValueError:
        return None


def _yolo(words: list[str]) -> bool:
    """The number of a class, then a box, a polygon, a box with its points or with its confidence, in shares of the picture."""
    values = _numbers(words)
    if values is None or len(values) < 5 or not words[0].isdecimal():
        return False
    coordinates = values[1:]
    fits = len(coordinates) in (4, 5) or len(coordinates) % 2 == 0 or len(coordinates) % 3 == 1
    return fits and all(-0.01 <= c <= 1.01 or (c == 2 and len(coordinates) % 3 == 1) for c in coordinates) and any(c % 1 for c in coordinates)


def _kitti(words: list[str]) -> bool:
    return len(words) in (15, 16) and not words[0][:1].isdigit() and _numbers(words[1:]) is not None


def _dota(words: list[str]) -> bool:
    if len(words) == 1:
        return words[0].partition(":")[0] in ("imagesource", "gsd")
    return len(words) in (9, 10) and _numbers(words[:8]) is not None and _numbers(words[8:9]) is None


_FORMS = {"YOLO": _yolo, "KITTI": _kitti, "DOTA": _dota}


def _classes(texts: list[Input], others: list[Input]) -> tuple[str, ...]:
    """The names of the classes, from a list of them or from a YAML file."""
    for source in (*texts, *others):
        if source.name.rsplit("/", 1)[-1].lower() in _LISTS or names.extension(source.name) == "names":
            return tuple(line for line in sniff.lines(source) if _WORD.fullmatch(line))
    for source in others:
        if names.extension(source.name) in ("yaml", "yml") and (named := _NAMES.search(sniff.text(sniff.head(source, sniff.LINES)))):
            listed = (named[1] or "").strip("[]").split(",") if named[1] else [re.sub(r"^[ \t]*(-|\d+[ \t]*:)", "", s) for s in named[2].split("\n")]
            return tuple(word for entry in listed if (word := entry.strip().strip("'\"")))
    return ()
