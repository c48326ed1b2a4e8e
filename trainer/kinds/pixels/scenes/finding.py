"""Which large files are scenes, and which are their masks: their sizes and their pixels tell it, because two scenes have no names to compare."""

import collections
from collections.abc import Iterator
from dataclasses import dataclass

import numpy

from trainer.core.input import Input
from trainer.data import names
from trainer.data.scenes import opening
from trainer.data.scenes.opening import Scene
from trainer.errors import UserError
from trainer.kinds.pixels.scenes import masks

_VALUES = 64  # of a mask at most
_LOOKS, _LOOK = 16, 256  # windows all over a scene, and pixels of a side, whose values are counted


@dataclass(frozen=True)
class Looked:
    """A file with what a look at some windows tells: ``few`` values or colours, which can be classes, or ``fractions`` in one band."""

    source: Input
    scene: Scene
    few: bool
    fractions: bool


def look(source: Input) -> Looked | None:
    """What some windows of a scene tell; None where it cannot be read."""
    try:
        scene = opening.scene(source.file)
        if scene.bands != 1:
            return Looked(source, scene, masks.in_colours(scene) and _has_few_colours(source, scene), False)
        values: set[float] = set()
        fractions = seen = False
        for pixels, holds in _windows(source, scene):
            known, seen = pixels if holds is None else pixels[holds], True
            fractions = fractions or bool(known.dtype.kind == "f" and (known != numpy.rint(known)).any())
            if len(values) <= _VALUES:
                values.update(numpy.unique(known).tolist())
        return Looked(source, scene, len(values) <= _VALUES and not fractions, fractions) if seen else None
    except (OSError, ValueError):
        return None


def _windows(source: Input, scene: Scene) -> Iterator[tuple[numpy.ndarray, numpy.ndarray | None]]:
    """The values of some windows from all over a scene, and which of them hold data."""
    with opening.opened(source.file) as dataset:
        side = int(_LOOKS**0.5)
        for number in range(_LOOKS):
            top, left = (max(0, n * (2 * k + 1) // (2 * side) - _LOOK // 2) for n, k in zip((scene.height, scene.width), divmod(number, side)))
            try:
                yield opening.read(dataset, scene, (slice(top, top + _LOOK), slice(left, left + _LOOK)))
            except OSError:  # a damaged tile: the others tell
                continue


def _has_few_colours(source: Input, scene: Scene) -> bool:
    """Whether a file of three bands has as few colours as a mask that is drawn for people. Raises OSError or ValueError."""
    found: set[bytes] = set()
    for pixels, holds in _windows(source, scene):
        known = pixels.reshape(-1, pixels.shape[-1]) if holds is None else pixels[holds.all(axis=2)]
        found.update(row.tobytes() for row in numpy.unique(known, axis=0)[: _VALUES + 1])
        if len(found) > _VALUES:
            return False
    return len(found) > 1


def pairs(sources: list[Input], measured: bool) -> list[tuple[Looked, Looked]]:
    """Scenes with their masks: files of one size (and one place, where both have one), of which one has few values, or numbers with fractions
    where ``measured``, and the other has not. Where several have a size, names that begin alike tell which belong together."""
    looked = [one for s in sources if (one := look(s)) is not None]
    groups: dict[tuple, list[Looked]] = collections.defaultdict(list)
    for each in looked:
        groups[(each.scene.width, each.scene.height)].append(each)
    found: list[tuple[Looked, Looked]] = []
    for group in groups.values():
        truths = [g for g in group if (g.fractions and g.scene.bands == 1 if measured else g.few)]
        scenes = [g for g in group if g not in truths]
        if len(truths) == len(scenes) == 1:
            found += [(scenes[0], truths[0])] if _same_place(scenes[0].scene, truths[0].scene) else []
            continue
        for mask in truths:
            fitting = [s for s in scenes if _same_place(s.scene, mask.scene) and _alike(s.source.name, mask.source.name)]
            if len(fitting) == 1:
                found.append((fitting[0], mask))
    return found


def masks_of(sources: list[Input], measured: bool) -> dict[str, Input]:
    """The masks among large files, by the names of their scenes."""
    if len(sources) < 2:
        return {}
    return {scene.source.name: mask.source for scene, mask in pairs(sources, measured)}


def check_mask(large: list[Input], measured: bool) -> None:
    """Raise UserError where two large files would be a scene and its mask if they had one size."""
    seen = [one for i in large if (one := look(i)) is not None] if len(large) == 2 else []
    if len(seen) == 2 and sum(one.fractions if measured else one.few for one in seen) == 1:
        first, second = seen
        raise UserError(
            "mask_sizes", f"The mask has another size than the scene: {first.source.name} is {first.scene.width} x {first.scene.height} and "
            f"{second.source.name} {second.scene.width} x {second.scene.height} pixels, or they lie at different places.",
            "Save the mask on the grid of the scene, by nearest neighbour, which keeps the values of classes.",
        )  # fmt: skip


def _same_place(scene: Scene, mask: Scene) -> bool:
    """Whether both are at one place, as far as they say where they are."""
    if not scene.crs or not mask.crs:
        return True
    size = max(abs(scene.transform[0]), abs(scene.transform[1]), 1e-12)
    return all(abs(a - b) <= size / 2 for a, b in zip(scene.transform, mask.transform))


def _alike(scene: str, mask: str) -> bool:
    """Whether the stem of the mask begins or ends with that of the scene."""
    a, b = names.stem(scene), names.stem(mask)
    return b.startswith(a) or b.endswith(a)
