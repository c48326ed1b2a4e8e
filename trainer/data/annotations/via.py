"""VGG Image Annotator: versions 1 and 2 (an object of pictures with ``regions``, also inside a project) and 3 (``metadata`` with ``xy``).

Their CSV is among the tables of boxes.py.
"""

from collections import Counter
from typing import Any

from trainer.core.input import Input
from trainer.data.annotations.held import Annotations

_PROJECT = "_via_img_metadata"
MOST_CLASSES = 100


def find(source: Input, value: Any, cut: bool) -> Annotations | None:
    """The annotations in the JSON ``value`` of a file; None where it is another one."""
    if not isinstance(value, dict):
        return None
    return _third(source, value, cut) or _second(source, value.get(_PROJECT, value), cut)


def _second(source: Input, value: Any, cut: bool) -> Annotations | None:
    pictures = [v for v in value.values() if isinstance(v, dict)] if isinstance(value, dict) else []
    ours = [p for p in pictures if "filename" in p and isinstance(p.get("regions"), dict | list)]
    if not ours or len(ours) < len(pictures) - cut:
        return None
    regions = [r for p in ours for r in (p["regions"].values() if isinstance(p["regions"], dict) else p["regions"]) if isinstance(r, dict)]
    if regions and not any("shape_attributes" in r for r in regions):
        return None
    attributes = [r["region_attributes"] for r in regions if isinstance(r.get("region_attributes"), dict)]
    return Annotations("regions of the VGG Image Annotator (VIA)", (source.name,), len(regions), _classes(attributes), cut)


def _third(source: Input, value: dict, cut: bool) -> Annotations | None:
    listed = value.get("metadata")
    regions = [m for m in listed.values() if isinstance(m, dict) and "vid" in m and "xy" in m] if isinstance(listed, dict) else []
    if not regions or not ("file" in value or "project" in value):
        return None
    attributes = [m["av"] for m in regions if isinstance(m.get("av"), dict)]
    return Annotations("regions of the VGG Image Annotator (VIA) 3", (source.name,), len(regions), _classes(attributes), cut)


def _classes(attributes: list[dict]) -> tuple[str, ...]:
    """The values of the attribute that repeats its values most."""
    by_name = {name: Counter(str(a[name]) for a in attributes if name in a) for name in dict.fromkeys(n for a in attributes for n in a)}
    best = min(by_name.values(), key=lambda c: len(c) / max(1, c.total()), default=Counter())
    return tuple(sorted(best)) if len(best) <= MOST_CLASSES else ()
