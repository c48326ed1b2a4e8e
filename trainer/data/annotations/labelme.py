"""LabelMe: for each picture an object with ``shapes`` of ``points``, and ``imagePath``."""

from typing import Any

from trainer.core.input import Input
from trainer.data.annotations.held import Annotations


def find(source: Input, value: Any, cut: bool) -> Annotations | None:
    """The annotations in the JSON ``value`` of a file; None where it is another one."""
    shapes = value.get("shapes") if isinstance(value, dict) else None
    if not isinstance(shapes, list) or not ("imagePath" in value or "imageData" in value or cut):
        return None
    ours = [s for s in shapes if isinstance(s, dict) and "points" in s and "label" in s]
    if len(ours) < len(shapes) - cut or (cut and not ours):
        return None
    return Annotations("LabelMe", (source.name,), len(ours), tuple(sorted({str(s["label"]) for s in ours})))
