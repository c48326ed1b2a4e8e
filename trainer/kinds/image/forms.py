"""Labels that the files of pictures tell without what is seen in them: one class is PNG and the other JPEG, or each class has a size of its own.

A network sees traces of this in the pixels, so its answers may rest on how a picture was stored, and say nothing about pictures that are stored in
another way.
"""

import collections
import math
from collections.abc import Sequence

from PIL import Image

from trainer.core.example import Example
from trainer.data.checks import Checks
from trainer.data.images import opened
from trainer.errors import some

CODE = "label_in_form"
_MOST = 2_000  # pictures, of which the beginning is read
_FEWEST, _OF_LABEL = 20, 5  # pictures, and pictures of each label
_RIGHT, _BETTER = 0.95, 0.2  # share of pictures whose form tells their label, and how much more that is than the share of the most frequent label
_MODEL = 272  # of EXIF: the name of the camera


def check(rows: Sequence[Example], checks: Checks) -> None:
    """Warn where how pictures are stored tells their labels nearly always."""
    rows = rows[:: max(1, math.ceil(len(rows) / _MOST))]
    counts = collections.Counter(e.target for e in rows)
    if len(rows) < _FEWEST or len(counts) < 2 or min(counts.values()) < _OF_LABEL:
        return
    forms = [_form(e.content) for e in rows]
    told = []
    for name in _NAMES:
        cells = [form.get(name, "none") for form in forms]
        if _tells(cells, [e.target for e in rows], counts):
            told.append(f"{name} ({_pairs(cells, rows)})")
    if told:
        checks.warning(
            CODE,
            f"How the pictures are stored tells their label: {some(told, 3)}. The model may have learnt that and not what is seen. Save all pictures "
            "in the same way before the training, or add pictures of each label from each source.",
        )
    else:
        checks.ok(CODE, "How the pictures are stored does not tell their labels.")


_NAMES = ("the format", "the size in pixels", "the colours", "the compression", "the camera")


def _form(file) -> dict[str, str]:
    """How a picture is stored, by ``_NAMES``; empty for one that cannot be read."""
    try:
        with opened(file) as image:
            form = {"the format": image.format or "", "the size in pixels": f"{image.width} x {image.height}", "the colours": image.mode}
            tables = getattr(image, "quantization", None)
            if tables:
                form["the compression"] = f"steps of {sum(map(sum, tables.values())) / sum(map(len, tables.values())):.0f}"
            if camera := str(image.getexif().get(_MODEL, "")).strip("\0 "):
                form["the camera"] = camera
            return form
    except (OSError, ValueError, SyntaxError, Image.DecompressionBombError):
        return {}


def _tells(cells: Sequence[str], targets: Sequence[str], counts: collections.Counter[str]) -> bool:
    """Whether the most frequent label of each value of ``cells`` is nearly always right. Values of few pictures tell nothing."""
    by_value: dict[str, collections.Counter[str]] = collections.defaultdict(collections.Counter)
    for cell, target in zip(cells, targets):
        by_value[cell][target] += 1
    most = max(counts.values())
    if not 2 <= len(by_value) <= len(targets) / _OF_LABEL:
        return False
    right = sum(max(of.values()) for of in by_value.values() if of.total() >= _OF_LABEL)
    return right >= _RIGHT * len(targets) and right - most >= _BETTER * len(targets)


def _pairs(cells: Sequence[str], rows: Sequence[Example]) -> str:
    """Labels with the value that most of their pictures have."""
    of_label: dict[str, collections.Counter[str]] = collections.defaultdict(collections.Counter)
    for cell, e in zip(cells, rows):
        of_label[e.target][cell] += 1
    return some([f"{label}: {of.most_common(1)[0][0]}" for label, of in sorted(of_label.items())], 4)
