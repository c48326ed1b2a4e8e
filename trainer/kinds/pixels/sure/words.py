"""What reports say of how sure answers for single pixels are."""

from typing import Any

import numpy

from trainer.core import blocks
from trainer.core.blocks import RESULT, Block, Cell, Column, Section
from trainer.kinds.pixels.numbers import PixelNumbers
from trainer.kinds.pixels.sure import levels
from trainer.kinds.pixels.target import PixelClasses
from trainer.measure import intervals
from trainer.run_folder.events import Events
from trainer.targets.promise import percent

_TITLE = "How sure answers for single pixels are"
_LISTED = 20
_WARNED = 10  # test pictures of a group from which a broken promise is warned of
_MEANT = (
    "The share is that of the pixels of a picture, as the mean over pictures: pixels of one picture are wrong together, so of some pictures it is "
    "less. It was set on {count} held-out pictures and holds for pictures like these. With few of them more is possible than must be."
)
_BROKEN = (
    "Of the pixels of the test pictures, what is promised for single pixels holds for less than {promised} ({groups}). The test pictures differ from "
    "the validation pictures; expect the same of new ones."
)


def sections(target: PixelClasses | PixelNumbers, sure: Any, seed: int, events: Events) -> list[Section]:
    """The section of a training's report. ``sure`` is that of the test pictures (see ``looking.Sure``)."""
    promised = target.of_pixels
    if promised is None:
        return [Section(RESULT, _TITLE, [blocks.text(f"Nothing is promised of single pixels. {sure.why}")])] if sure is not None and sure.why else []
    found: list[Block] = [blocks.facts(_facts(target, sure)), blocks.text(sentence(target), _MEANT.format(count=f"{promised.rows:,}"))]
    if table := _kept(target, sure, seed, events):
        found.append(table)
    return [Section(RESULT, _TITLE, found)]


def answers(target: Any) -> list[Section]:
    """The section of a prediction's report."""
    promised = target.of_pixels
    return [] if promised is None else [Section(RESULT, _TITLE, [blocks.text(sentence(target), _MEANT.format(count=f"{promised.rows:,}"))])]


def sentence(target: PixelClasses | PixelNumbers) -> str:
    """What is promised of single pixels."""
    assert target.of_pixels is not None
    share, limits = percent(target.of_pixels.coverage), target.of_pixels.limits
    if isinstance(target, PixelClasses):
        least = [f"{label} from {_least(limit)} on" for label, limit in zip(target.labels, limits)]
        said = f"A class is possible for a pixel where its probability is high enough ({', '.join(least[:_LISTED])}), or where it is answered."
        return f"{said} The right class is possible for {share} of the pixels of {_each(target)}."
    parts = [f"{limit:.4g} ({of})" for limit, of in zip(limits, _ranges(target))]
    same = f"{limits[0]:.4g}" if len(set(limits)) == 1 else ", ".join(parts)
    return f"The answer for a pixel is off by at most {same} for {share} of the pixels of {_each(target)}."


def _least(limit: float) -> str:
    """A probability near 0 or 1 in words that are neither of these."""
    return percent(round(limit, 4) if limit > 0.99 else float(f"{limit:.2g}"))


def _each(target: PixelClasses | PixelNumbers) -> str:
    assert target.of_pixels is not None
    if isinstance(target, PixelClasses):
        return levels.of_each(target.of_pixels, target.labels, "each class")
    return levels.of_each(target.of_pixels, _ranges(target), "each range of answers")


def _facts(target: PixelClasses | PixelNumbers, sure: Any) -> dict[str, str]:
    assert target.of_pixels is not None
    share = percent(target.of_pixels.coverage)
    if not isinstance(target, PixelClasses):
        return {"Promised": f"{share} of the pixels of {_each(target)} have their number in the interval around the answer"}
    size = f"{float(sure.possible.mean()):.2f} of {len(target.labels)} classes are possible for a pixel" if len(sure.possible) else ""
    return {"Promised": f"{share} of the pixels of {_each(target)} have it among their possible classes", "Size of an answer": size}


def _kept(target: PixelClasses | PixelNumbers, sure: Any, seed: int, events: Events) -> Block | None:
    """The promised and the measured share of each group; None without test pictures."""
    assert target.of_pixels is not None
    limits, coverage = target.of_pixels.limits, target.of_pixels.coverage
    classes = isinstance(target, PixelClasses)
    names = target.labels if isinstance(target, PixelClasses) else _ranges(target)
    rows, broken = [], []
    for group, (name, limit) in enumerate(zip(names, limits)):
        level = levels.level_of_probability(limit) if isinstance(target, PixelClasses) else levels.level_of_error(limit, target.std)
        inside = levels.shares(sure.counts, numpy.asarray([group]))[:, level]
        if not len(inside):
            rows.append([Cell(name), Cell(f"{limit:.3g}"), Cell("in no test picture"), Cell("0")])
            continue
        low, high = intervals.percentiles(intervals.resampled_means(inside[:, None], seed)[:, 0], float(inside.mean()))
        rows.append([Cell(name), Cell(f"{limit:.3g}"), Cell(value=float(inside.mean()), low=low, high=high), Cell(f"{len(inside):,}")])
        if high < coverage and len(inside) >= _WARNED:
            broken.append(f"{name}: {percent(round(float(inside.mean()), 3))}")
    if not any(cells[2].value is not None for cells in rows):
        return None
    if broken:
        events.warning("coverage", _BROKEN.format(promised=percent(coverage), groups=", ".join(broken)))
    columns = [
        Column("Class" if classes else "Answers"),
        Column("Possible from" if classes else "Half the interval"),
        Column("Kept"),
        Column("Pictures"),
    ]
    return blocks.table("Pixels of the test pictures", columns, rows, note=f"Kept: {percent(coverage)} are promised. Intervals are over pictures.")


def _ranges(target: PixelNumbers) -> list[str]:
    """The groups of answered numbers, in words."""
    ends = [f"{target.mean + target.std * end:.4g}" for end in levels.RANGES]
    return [f"below {ends[0]}", *(f"{low} to {high}" for low, high in zip(ends, ends[1:])), f"from {ends[-1]} on"]
