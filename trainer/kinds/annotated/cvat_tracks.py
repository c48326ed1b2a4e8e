"""Tracks of CVAT for videos: an object over many frames, which are pictures of the dataset with their numbers at the end of their names."""

import bisect
import collections
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from trainer.core.input import Input
from trainer.data import names
from trainer.errors import UserError, some
from trainer.kinds.annotated import cvat_keyframes, limits
from trainer.kinds.annotated.shapes import Drawn, LeftOut, Listed
from trainer.kinds.annotated.xml_documents import Element

_NUMBER = re.compile(r"(\d+)$")
_STEP = re.compile(r"step=(\d+)")
_MOST = 1_000_000  # frames
_PARTS, _LEAST = 20, 3  # of a video, whose frames stay together, and frames of the smallest
_FEW = 10  # parts from which some can be held out
COUNTED_FROM_1 = "the pictures of a video are numbered from 1, and its frames from 0"

Shapes = Mapping[str, Callable[[Element, float, float], Drawn | None]]


@dataclass(frozen=True)
class _Video:
    """The frames that were annotated, by their numbers; the last one is None where the file does not say it."""

    first: int
    step: int
    last: int | None
    width: float
    height: float


@dataclass
class _Frames:
    """The objects of each frame, and the frames of which nobody knows what is in them. ``numbers`` are the annotated frames that are pictures, in
    order. With ``listed`` the file lists all frames in which an object is, and not keyframes alone."""

    numbers: list[int]
    listed: bool
    drawn: dict[int, list[Drawn]] = field(default_factory=lambda: collections.defaultdict(list))
    unknown: set[int] = field(default_factory=set)


def read(root: Element, source: Input, shapes: Shapes, images: list[Input], left: LeftOut, changed: LeftOut) -> list[Listed]:
    """The frames that are pictures of the dataset. ``shapes`` read elements by their names. Raises UserError."""
    tracks = root.all("track")
    if len({t.attributes.get("task_id", "") for t in tracks}) > 1:
        raise UserError(
            "annotations", f"{source.name} has the tracks of several videos.", "Export each task on its own, with CVAT for video.",
            "Their frames have the same numbers.",
        )  # fmt: skip
    listed = [[(number, s) for s in t.inner if s.name in shapes and (number := _frame(s)) is not None] for t in tracks]
    video = _video(root, max((number for track in listed for number, _ in track), default=0))
    pictures = _pictures(source, root, video, images, changed)
    every = any(s.attributes.get("keyframe") == "0" for track in listed for _, s in track)
    last = max(pictures) if video.last is None else video.last
    annotated = range(video.first, last + 1, video.step)
    found = _Frames([number for number in sorted(pictures) if number in annotated], every)
    for element, track in zip(tracks, listed):
        if element.inner and not track:
            left.add("a track has lines, points or bodies in space alone, or no numbers of frames", source.name)
        _add(element, sorted(track, key=lambda s: s[0]), last, video, shapes, found, left, source.name)
    if lacking := {number for number, drawn in found.drawn.items() if drawn} - pictures.keys():
        left.add("a frame with objects has no picture in the dataset", source.name, len(lacking))
    for number in sorted(found.unknown & pictures.keys()):
        left.add("a frame lies between keyframes of an outline whose points do not match, and its place there is not known", pictures[number].name)
    known = [number for number in found.numbers if number not in found.unknown]
    parts = min(_PARTS, len(known) // _LEAST)
    split = names.split_of(source.name) or ""
    return [
        Listed(
            (pictures[number].name,), found.drawn.get(number, []), video.width, video.height, split=split,
            part=f"{source.name} {place * parts // len(known)}" if parts >= _FEW else source.name,
        )
        for place, number in enumerate(known)
    ]  # fmt: skip


def _video(root: Element, latest: int) -> _Video:
    """What the file says of the video. ``latest`` is the last frame with an object."""
    about = [part for meta in root.all("meta") for name in ("task", "job") for part in meta.all(name)]
    meta = about[0] if about else Element("")
    first, size, stop = (_whole(meta.value(name)) for name in ("start_frame", "size", "stop_frame"))
    step = _STEP.search(meta.value("frame_filter"))
    each = max(1, int(step[1]) if step else 1)
    last = (first or 0) + (size - 1) * each if size else stop
    sizes = [limits.size(part.value("original_size", side)) for part in (*about, *root.all("meta")) for side in ("width", "height")]
    width, height = next(((w, h) for w, h in zip(sizes[::2], sizes[1::2]) if w and h), (0.0, 0.0))
    return _Video(first or 0, each, None if last is None else min(_MOST, max(last, latest)), width, height)


def _whole(text: str) -> int | None:
    return int(text) if text.isdecimal() and text.isascii() and len(text) < 10 else None


def _frame(shape: Element) -> int | None:
    number = _whole(shape.attributes.get("frame", ""))
    return number if number is not None and number <= _MOST else None


def _pictures(source: Input, root: Element, video: _Video, images: list[Input], changed: LeftOut) -> dict[int, Input]:
    """The pictures by the numbers of their frames. Raises UserError where these are not certain."""
    by_number: dict[int, list[Input]] = collections.defaultdict(list)
    for image in _near(source, root, images):
        if match := _NUMBER.search(names.stem(image.name)):
            by_number[int(match[1])].append(image)
    if not by_number:
        raise UserError(
            "pictures_missing", f"{source.name} has the tracks of a video, and no picture has the number of a frame at the end of its name.",
            "Add the frames as pictures with the names that CVAT gives them: frame_000000.png for the first, frame_000001.png and so on.",
            f"The dataset has {some([i.name for i in images], 3)}." if images else "",
        )  # fmt: skip
    if several := [listed for listed in by_number.values() if len(listed) > 1]:
        raise UserError(
            "pictures_missing", f"Several pictures may be the same frame of {source.name}: {some([i.name for i in several[0]], 3)}.",
            "Put the frames of each video into a folder with the name of its file of annotations, without its ending.",
        )  # fmt: skip
    pictures = {number: listed[0] for number, listed in by_number.items()}
    if 0 in pictures or video.first > 0 or 1 not in pictures:
        return pictures
    if video.last is not None and video.step == 1 and set(pictures) == set(range(1, video.last + 2)):
        changed.add(COUNTED_FROM_1, pictures[1].name)
        return {number - 1: image for number, image in pictures.items()}
    raise UserError(
        "frames_unclear", f"{pictures[1].name} may be the first or the second frame of {source.name}: CVAT counts from 0, and no picture has 0.",
        "Give the pictures the names of CVAT: frame_000000.png for the first frame. Or add all frames, numbered from 1 on.",
    )  # fmt: skip


def _near(source: Input, root: Element, images: list[Input]) -> list[Input]:
    """The pictures that may be frames of a file: in a folder called like it or like its video, else below its own folder, else all."""
    called = {names.stem(source.name)}
    for meta in root.all("meta"):
        called |= {names.stem(e.text.strip()) for part in (meta, *meta.all("task"), *meta.all("job")) for e in part.all("source")}
    folder = source.name.rpartition("/")[0]
    ways = (
        [i for i in images if called & {part.lower() for part in i.name.split("/")[:-1]}],
        [i for i in images if i.name.startswith(f"{folder}/")],
    )
    return next((near for near in ways if near), images)


def _add(
    track: Element, listed: list[tuple[int, Element]], last: int, video: _Video, shapes: Shapes, found: _Frames, left: LeftOut, name: str
) -> None:
    """Note where an object is: at the frames that the file lists, and between them, where these are keyframes."""
    label = track.attributes.get("label", "")
    for (number, shape), after in zip(listed, [*listed[1:], None]):
        if shape.attributes.get("outside") == "1":
            continue
        drawn = shapes[shape.name](shape, video.width, video.height)
        if drawn is None:
            left.add("the shape cannot be read", name)
            found.unknown.add(number)
            continue
        drawn = replace(drawn, label=label or drawn.label)
        found.drawn[number].append(drawn)
        until = after[0] if after else last + 1
        between = found.numbers[bisect.bisect_right(found.numbers, number) : bisect.bisect_left(found.numbers, until)]
        if not between or (found.listed and after is None):
            continue
        stays = after is None or after[1].attributes.get("outside") == "1"
        way = None if after is None or stays else cvat_keyframes.way(shape, after[1])
        for frame in between:
            moved = way and shapes[shape.name](way((frame - number) / (until - number)), video.width, video.height)
            held = drawn if stays else moved
            if held is None or found.listed:
                found.unknown.add(frame)
            else:
                found.drawn[frame].append(replace(held, label=drawn.label))
