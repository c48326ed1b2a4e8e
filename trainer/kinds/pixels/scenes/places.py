"""Scenes in blocks of place: how large they are, which of them are held out, and the gap around those."""

import hashlib
import math
from dataclasses import dataclass, replace

from trainer.core.example import SPLITS, Example
from trainer.data import names, ordered, splits
from trainer.data.checks import Checks
from trainer.data.cut import Cut
from trainer.data.keys import Keys, Sum
from trainer.errors import UserError, count

SIDES = (1024, 512, 256, 128)  # of blocks, the largest of which a scene has enough
_ENOUGH, _FEWEST = 36, 12  # blocks, for the next smaller side not to be taken, and at least
_GAP = 256  # pixels around a held-out block, at most a quarter of its side
_MANY = 10  # scenes, from which scenes are held out and not blocks
_FEWEST_KNOWN = 0.02  # share of the pixels of a block with a known class, for it to be used
_ONE = (
    "Training and test are blocks of the same {scenes}, {side} pixels wide, with a gap of {gap} pixels between them: the metrics are better than "
    "for scenes that the model has not seen. Put other scenes into a folder test to measure that."
)


@dataclass(frozen=True)
class Block:
    """A block of a scene, whose number is ``scene``. ``filled`` says that it has more than the first class."""

    scene: int
    top: int
    left: int
    height: int
    width: int
    filled: bool = False

    @property
    def place(self) -> tuple[slice, slice]:
        return slice(self.top, self.top + self.height), slice(self.left, self.left + self.width)


def side(sizes: list[tuple[int, int]]) -> int:
    """The side of the blocks of scenes of these heights and widths. Raises UserError where they are too small."""
    for found in SIDES:
        number = sum(len(blocks(0, height, width, found)) for height, width in sizes)
        if number >= (_ENOUGH if found > SIDES[-1] else _FEWEST):
            return found
    raise UserError(
        "too_few_pictures", f"The scenes are too small: they have fewer than {_FEWEST} blocks of {SIDES[-1]} x {SIDES[-1]} pixels.",
        "Add larger scenes, or more of them.",
    )  # fmt: skip


def gap(side: int) -> int:
    """Pixels between a held-out block and the training blocks around it."""
    return min(_GAP, side // 4)


def blocks(scene: int, height: int, width: int, side: int) -> list[Block]:
    """The blocks of a scene. The last ones of a row or column are as much larger as what is left over, or stand alone if that is half of one."""
    rows, columns = (_edges(n, side) for n in (height, width))
    return [Block(scene, a, c, b - a, d - c) for a, b in zip(rows, rows[1:]) for c, d in zip(columns, columns[1:])]


def _edges(length: int, side: int) -> list[int]:
    number = max(1, math.floor(length / side + 0.5))
    return [*range(0, number * side, side), length]


def is_used(known: int, block: Block) -> bool:
    """Whether enough of a block is labelled."""
    return known >= max(1, _FEWEST_KNOWN * block.height * block.width)


def split(
    found: list[Block], scenes: list[tuple[str, str]], sizes: list[tuple[int, int]], of_side: int, settings, checks: Checks
) -> dict[str, list[Block]]:
    """The blocks by split: as folders say of the scenes, else by scene where there are many, else by place with a gap. ``scenes`` are their names
    and sums, ``sizes`` heights and widths. Raises UserError."""
    given: dict[str, list[Example]] = {name: [] for name in SPLITS}
    together = len({b.scene for b in found}) >= _MANY
    for block in found:
        name, digest = scenes[block.scene]
        example = Example(name, 0, (block, digest), "filled" if block.filled else "bare", group=name if together else "")
        given[names.split_of(name) or "train"].append(example)
    if min(sum(e.target == t for e in given["train"]) for t in ("filled", "bare")) < splits.MIN_UNITS:
        given["train"] = [replace(e, target="filled") for e in given["train"]]
    even = f"{len(scenes)} scenes, whose blocks stay together" if together else "blocks with and without rare classes"
    keys = Keys(_key)
    cut = splits.hold_out(given, keys, settings, f"blocks of {of_side} x {of_side} pixels", even, "Folders", checks, ordered.SCENES)
    if not cut["train"] or not cut["validation"]:
        raise UserError("too_few_pictures", "No blocks are left for validation, which chooses the model.", "Add scenes, or label more of them.")
    trained = {e.file for e in cut["train"]}
    parts = {name: [e.content[0] for e in rows] for name, rows in cut.items()}
    shared = {e.content[0].scene for name in ("validation", "test") for e in cut[name] if e.file in trained}
    if shared and checks.cut.by == ordered.RANDOM:
        checks.cut = Cut(ordered.GROUP, "parts of the same scenes")
    if shared:
        free = gap(of_side)
        for name in ("validation", "test"):
            parts[name] = [_inner(b, free, sizes[b.scene]) if b.scene in shared else b for b in parts[name]]
        said = count(len(shared), "scene") if len(shared) > 1 else "scene"
        checks.warning("scenes", _ONE.format(scenes=said, side=of_side, gap=free))
    return parts


def _key(example: Example) -> str:
    block, digest = example.content
    return Sum(hashlib.sha256(f"{digest} {block.top} {block.left}".encode()).hexdigest())


def _inner(block: Block, free: int, size: tuple[int, int]) -> Block:
    """A block without a strip along each side behind which the scene goes on."""
    height, width = size
    top, left = (0 if at == 0 else free for at in (block.top, block.left))
    bottom = 0 if block.top + block.height == height else free
    right = 0 if block.left + block.width == width else free
    return replace(block, top=block.top + top, left=block.left + left, height=block.height - top - bottom, width=block.width - left - right)
