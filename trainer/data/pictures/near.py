"""Pictures that are nearly the same: copies that were turned, mirrored, lit, blurred, scaled or saved again, and neighbouring frames of a video.

Where such copies are in training and in the test, a model that only remembers pictures has a high score. Copies of one picture are therefore kept in
one split. Two pictures are nearly the same where their coarse light and their details correlate in one of the eight ways to turn and mirror a square.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy

from trainer.core.example import SPLITS, Example
from trainer.data.checks import Checks
from trainer.data.images import opened
from trainer.data.ordered import ORIGINALS, RANDOM, Rule
from trainer.data.pictures import looks
from trainer.errors import UserError, count

CODE = "near_copies"
COARSE, DETAIL = 0.95, 0.9  # least correlations of near copies
MOST_OF_ALL = 0.2  # share of the pictures (of a target) up to which those that look the same are copies
_FEW = 2  # pictures that look the same and are copies in any case
_SHARE = 0.05  # of the pictures of a given split, above which copies make its metrics too good
_FLAT = 0.01  # standard deviation of values from 0 to 1, below which there is nothing to compare
_SIDE, _CELLS = 32, 8  # of the compared picture, and its coarse cells side by side
_NEAREST = 24  # pictures that each one is compared with
_MOST, _MOST_PIXELS = 20_000, 1_000_000_000  # pictures, and pixels of all of them, which take a minute
_BLOCK = 256
_WAYS = [(turns, mirrored) for turns in range(4) for mirrored in (False, True)]


def together(
    given: Mapping[str, Sequence[Example]], by_target: bool, split: str, rule: Rule | None, checks: Checks
) -> tuple[dict[str, Sequence[Example]], Rule]:
    """The examples, whose contents are pictures, with the group of each training picture that has near copies, and how they are to be split.

    With ``by_target`` only pictures with the same target are copies of each other. ``split`` is the setting of that name. Near copies between given
    splits are warned of.
    """
    rule = rule or Rule()
    rows = [e for name in SPLITS for e in given.get(name, ())]
    if not 1 < len(rows) <= _MOST or sum(_pixels(e.content) for e in rows) > _MOST_PIXELS:
        return {**given}, rule
    different = {e.content: e for e in rows}  # several rows of a table may name one picture
    of_picture = dict(zip(different, groups([*different.values()], by_target).tolist()))
    codes = numpy.array([of_picture[e.content] for e in rows])
    parts = numpy.repeat(SPLITS, [len(given.get(name, ())) for name in SPLITS])
    _check_between(rows, codes, parts, checks)
    kept = numpy.flatnonzero((parts == "train") & (codes >= 0))
    if not len(kept) or all(len(given.get(name, ())) for name in SPLITS):
        return {**given}, rule
    train = _named([e for e, part in zip(rows, parts) if part == "train"], codes[parts == "train"])
    copy = next((i for i in kept[1:] if codes[i] == codes[kept[0]] and rows[i].content != rows[kept[0]].content), kept[0])
    what = (
        f"{count(len(kept), 'picture')} are nearly the same as others, for example {_name(rows[kept[0]])} and {_name(rows[copy])}: turned, mirrored, "
        "lit, scaled or saved again."
    )
    if split == RANDOM:
        checks.warning(CODE, f"{what} As data.split is random, copies are in training and in the test: the metrics are too good.")
        return {**given}, rule
    checks.events.decision(CODE, len(kept), f"{what} Near copies stay in one split.")
    return {**given, "train": train}, rule if rule.new or rule.whole else replace(rule, new=ORIGINALS)


def groups(rows: Sequence[Example], by_target: bool) -> numpy.ndarray:
    """A number for each picture, the same for near copies; -1 for pictures without any. Where very many look the same, as before a fixed camera or as
    handwritten digits do, they are no copies."""
    from scipy import sparse  # takes a second to import

    coarse, detail, whole = _looks(rows)
    seen = numpy.flatnonzero(whole.any(axis=1))
    targets = numpy.unique([e.target for e in rows], return_inverse=True)[1] if by_target else numpy.zeros(len(rows), int)
    pairs: list[numpy.ndarray] = [numpy.zeros((0, 2), int)]
    for a, b in _near(whole[seen]):
        a, b = seen[a], seen[b]
        alike = targets[a] == targets[b]
        a, b = a[alike], b[alike]
        for way in _WAYS:
            light = (_turned(coarse[a], *way) * coarse[b]).sum((1, 2)) > COARSE
            near = numpy.flatnonzero(light)[(_turned(detail[a[light]], *way) * detail[b[light]]).sum((1, 2)) > DETAIL]
            pairs.append(numpy.stack([a[near], b[near]], axis=1))
    found = numpy.concatenate(pairs)
    edges = sparse.coo_array((numpy.ones(len(found)), (found[:, 0], found[:, 1])), shape=(len(rows), len(rows)))
    codes = sparse.csgraph.connected_components(edges, directed=False)[1]
    sizes = numpy.bincount(codes)[codes]
    many = sizes > numpy.maximum(_FEW, MOST_OF_ALL * numpy.bincount(targets)[targets])
    copied = (sizes > 1) & ~many
    return numpy.where(copied & (many.sum() <= copied.sum()), codes, -1)


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


def _check_between(rows: Sequence[Example], codes: numpy.ndarray, parts: numpy.ndarray, checks: Checks) -> None:
    """Say how many pictures of a given split have near copies in training."""
    training = (codes >= 0) & numpy.isin(codes, codes[parts == "train"])
    for name in ("test", "validation"):
        found = numpy.flatnonzero((parts == name) & training)
        if not len(found):
            continue
        copy = numpy.flatnonzero((parts == "train") & (codes == codes[found[0]]))[0]
        is_or_are, total = "is" if len(found) == 1 else "are", int((parts == name).sum())
        say = checks.warning if len(found) > _SHARE * total else checks.ok
        say(
            CODE,
            f"{len(found)} of {total} {name} pictures {is_or_are} nearly the same as training pictures, for example {_name(rows[found[0]])} and "
            f"{_name(rows[copy])}: turned, mirrored, lit, scaled or saved again. The {name} metrics are too good. Keep copies in one split.",
        )


def _name(e: Example) -> str:
    return e.id if e.row else e.file


def _named(rows: Sequence[Example], codes: numpy.ndarray) -> list[Example]:
    """The examples with one group for near copies (of one code, none where it is negative), and for those that share a group with one of them."""
    from scipy import sparse

    names = [f"group {e.group}" if e.group else "" for e in rows]
    labels = {name: number for number, name in enumerate(dict.fromkeys([*filter(None, names), *(int(c) for c in codes if c >= 0)]))}
    edges = [(labels[name], labels[int(code)]) for name, code in zip(names, codes) if name and code >= 0]
    a, b = numpy.array(edges or [(0, 0)]).T
    joined = sparse.csgraph.connected_components(sparse.coo_array((numpy.ones(len(a)), (a, b)), shape=(len(labels),) * 2), directed=False)[1]
    first: dict[int, str] = {}
    found = []
    for e, name, code in zip(rows, names, codes):
        label = name or (int(code) if code >= 0 else None)
        found.append(e if label is None else replace(e, group=first.setdefault(int(joined[labels[label]]), e.group or e.file)))
    return found
