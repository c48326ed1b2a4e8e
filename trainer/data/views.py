"""Pictures that belong together: the views, bands, times or masks of the same things, which look like classes but are none."""

import re

from trainer.data import names

PAIRED = 0.9  # share of the smallest side that has pictures of the same names on the others
FEWEST = 3  # pairs
_FEW_SIDES = 3  # without names of views: in a set of many classes, each may have a picture by every writer or speaker
_DENSE = 0.5  # share of the numbers from the first to the last that are there, from which names only count
_COLOURS = frozenset("red green blue".split())
_GROUPS = (
    frozenset("left right center centre middle front back rear top bottom side".split()),
    frozenset("pre post before after".split()),
    frozenset(
        "rgb rgbd depth disparity ir nir swir tir mir pan thermal lwir rededge edge vis uv ndvi dem dsm dtm chm sar vv vh hh hv dapi gfp rfp cfp yfp "
        "fitc brightfield bf grey gray mono color colour".split()
    ) | _COLOURS,
)  # fmt: skip
_PICTURES = frozenset("img imgs image images photo photos picture pictures pic pics".split())
_TRUTHS = frozenset("mask masks gt groundtruth truth annotation annotations seg segs segmentation segmentations".split())
_NUMBERED = re.compile(r"(b|band|ch|channel|view|cam|camera|t|time)0*1?\d[ab]?")
_MARKS = re.compile(r"[\s_.,;+()-]+")
_DIGITS = re.compile(r"\d+")


def are_views(words: list[str]) -> bool:
    """Whether the names of folders, or parts of names, say that they are views, bands, times or masks of the same things."""
    split = [[p for p in _MARKS.split(w.lower()) if p] for w in words]
    common = set.intersection(*map(set, split))
    bare = ["".join(p for p in parts if p not in common) or "".join(parts) for parts in split]
    if all(w in _PICTURES | _TRUTHS for w in bare):
        return any(w in _TRUTHS for w in bare)
    return any(all(w in group or _NUMBERED.fullmatch(w) for w in bare) for group in _GROUPS)


def are_colours(words: list[str]) -> bool:
    """Whether ``words`` are colours, which are bands in one place and classes in another."""
    return all(w.lower() in _COLOURS for w in words)


def pair_up(sides: list[set[str]], alike: bool = True) -> bool:
    """Whether nearly all names of the smallest side are on every other one as well; ``alike`` sides are of about the same size."""
    smallest = min(map(len, sides))
    paired = smallest >= FEWEST and len(set.intersection(*sides)) >= PAIRED * smallest
    return paired and (not alike or 2 * smallest >= max(map(len, sides)))


def belong_together(sides: dict[str, list[str]]) -> bool:
    """Whether the pictures in some folders are views of the same things. ``sides`` has their names below each folder.

    Equal names tell it, unless they only count or there are many folders. Names that count do where the folders are called after views.
    """
    bare = [{f"{n.rpartition('/')[0]}/{names.stem(n)}" for n in side} for side in sides.values()]
    if len(sides) < 2 or not pair_up(bare, alike=False):
        return False
    if are_views(list(sides)) and not are_colours(list(sides)):
        return True  # of some pictures alone there may be a mask, or another view
    if not pair_up(bare):
        return False
    return len(sides) <= _FEW_SIDES and not _only_count({name.rpartition("/")[2] for name in set.intersection(*bare)})


def _only_count(stems: set[str]) -> bool:
    """Whether names differ in one number alone, which goes from a first to a last one, of which some may lack."""
    if len({tuple(_DIGITS.split(s)) for s in stems}) > 1:
        return False
    columns = [set(map(int, column)) for column in zip(*map(_DIGITS.findall, stems))]
    varying = [c for c in columns if len(c) > 1]
    return len(varying) <= 1 and all(len(c) >= _DENSE * (max(c) - min(c) + 1) for c in varying)
