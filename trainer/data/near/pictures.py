"""Pictures that are nearly the same: copies that were turned, mirrored, lit, blurred, scaled or saved again, and neighbouring frames of a video.

Two pictures are nearly the same where their coarse light and their details correlate in one of the eight ways to turn and mirror a square.
"""

from collections.abc import Mapping, Sequence

import numpy

from trainer.core.example import SPLITS, Example
from trainer.data.checks import Checks
from trainer.data.images import opened
from trainer.data.near import copies
from trainer.data.ordered import Rule
from trainer.data.pictures import looks
from trainer.errors import UserError

COARSE, DETAIL = 0.95, 0.9  # least correlations of near copies
_FLAT = 0.01  # standard deviation of values from 0 to 1, below which there is nothing to compare
_SIDE, _CELLS = 32, 8  # of the compared picture, and its coarse cells side by side
_NEAREST = 24  # pictures that each one is compared with
_MOST, _MOST_PIXELS = 20_000, 1_000_000_000  # pictures, and pixels of all of them, which take a minute
_BLOCK = 256
_WAYS = [(turns, mirrored) for turns in range(4) for mirrored in (False, True)]
_WORDS = copies.Words("picture", "turned, mirrored, lit, scaled or saved again")


def together(
    given: Mapping[str, Sequence[Example]], by_target: bool, split: str, rule: Rule | None, checks: Checks
) -> tuple[dict[str, Sequence[Example]], Rule]:
    """Keep near copies of pictures, which are the contents of the examples, together, as ``copies.together`` does; very many are not compared."""
    rows = [e for name in SPLITS for e in given.get(name, ())]
    if len(rows) > _MOST or sum(_pixels(e.content) for e in rows) > _MOST_PIXELS:
        return {**given}, rule or Rule()
    return copies.together(given, _pairs, by_target, split, rule, _WORDS, checks)


def _pairs(rows: list[Example], targets: numpy.ndarray) -> numpy.ndarray:
    """Pairs of pictures of one target that are nearly the same (pairs x 2)."""
    coarse, detail, whole = _looks(rows)
    seen = numpy.flatnonzero(whole.any(axis=1))
    pairs: list[numpy.ndarray] = [numpy.zeros((0, 2), int)]
    for a, b in _near(whole[seen]):
        a, b = seen[a], seen[b]
        alike = targets[a] == targets[b]
        a, b = a[alike], b[alike]
        for way in _WAYS:
            light = (_turned(coarse[a], *way) * coarse[b]).sum((1, 2)) > COARSE
            near = numpy.flatnonzero(light)[(_turned(detail[a[light]], *way) * detail[b[light]]).sum((1, 2)) > DETAIL]
            pairs.append(numpy.stack([a[near], b[near]], axis=1))
    return numpy.concatenate(pairs)


def _near(whole: numpy.ndarray):
    """Pairs of pictures that may be near copies, in blocks: each with those whose picture is nearest where all ways to turn it are laid over each
    other, which is the same for all of them."""
    nearest = min(_NEAREST, len(whole) - 1)
    if nearest < 1:
        return
    for start in range(0, len(whole), _BLOCK):
        block = whole[start : start + _BLOCK]
        alike = block @ whole.T
        alike[numpy.arange(len(block)), numpy.arange(start, start + len(block))] = -numpy.inf
        others = numpy.argpartition(-alike, nearest - 1, axis=1)[:, :nearest]
        yield numpy.repeat(numpy.arange(start, start + len(block)), nearest), others.ravel()


def _looks(rows: Sequence[Example]) -> tuple[numpy.ndarray, numpy.ndarray, numpy.ndarray]:
    """For each picture its coarse light, its details, and all ways to turn it laid over each other; zeros where there is nothing to compare."""
    coarse, detail = (numpy.zeros((len(rows), side, side), numpy.float32) for side in (_CELLS, _SIDE))
    whole = numpy.zeros((len(rows), 4 * _CELLS**2), numpy.float32)
    for place, example in enumerate(rows):
        try:
            grey = _cells(looks.small(example.content).mean(axis=2), _SIDE)
        except (OSError, ValueError, UserError):
            continue
        cells = _cells(grey, _CELLS)
        fine = grey - numpy.kron(cells, numpy.ones((_SIDE // _CELLS,) * 2))
        if min(cells.std(), fine.std()) < _FLAT:
            continue
        finer = _cells(grey, 2 * _CELLS)[None]
        coarse[place], detail[place] = _unit(cells), _unit(fine)
        whole[place] = _unit(numpy.sum([_turned(finer, *way) for way in _WAYS], axis=0)).ravel()
    return coarse, detail, whole


def _cells(picture: numpy.ndarray, side: int) -> numpy.ndarray:
    """The means of side x side cells."""
    step = len(picture) // side
    return picture.reshape(side, step, side, step).mean((1, 3))


def _turned(pictures: numpy.ndarray, turns: int, mirrored: bool) -> numpy.ndarray:
    return numpy.rot90(pictures[:, :, ::-1] if mirrored else pictures, turns, (1, 2))


def _unit(values: numpy.ndarray) -> numpy.ndarray:
    centred = values - values.mean()
    return centred / (numpy.linalg.norm(centred) or 1)


def _pixels(file) -> int:
    """The pixels that are decoded of a picture."""
    try:
        with opened(file) as image:
            image.draft("RGB", (2 * looks.SIDE,) * 2)
            return image.width * image.height
    except (OSError, ValueError):
        return 0
