"""Images: which of them a table names, and which can be decoded. They are decoded in full later, by the workers."""

import collections
import contextlib
import warnings
from pathlib import Path
from typing import BinaryIO

from trainer.core.example import Example
from trainer.core.input import Input
from trainer.data.checks import Checks
from trainer.errors import UserError, left_out, some

SAMPLE = 200
MAX_PIXELS = 80_000_000  # of one image; decoded, it is in memory some times over
_FORMATS = ("PNG", "JPEG", "GIF", "BMP", "WEBP", "TIFF")  # whatever a file is called: of others, some are given to programs to run
MIN_MATCHES = 0.5  # of a column's cells, for it to hold the paths of images


class Index:
    """Finds an image of the dataset by its full name, the end of it, or its base name with or without the ending."""

    def __init__(self, images: list[Input]):
        self._by_base: dict[str, list[Input]] = collections.defaultdict(list)
        for image in images:
            base = image.name.rsplit("/", 1)[-1].lower()
            for name in {base, base.rpartition(".")[0]}:
                self._by_base[name].append(image)

    def find(self, cell: str) -> Input | None:
        """The image that ``cell`` names, or None where there is none or more than one."""
        path = "/".join(p for p in cell.strip().lower().replace("\\", "/").split("/") if p not in ("", "."))
        found = self._by_base.get(path.rpartition("/")[2], [])
        if len(found) <= 1:
            return found[0] if found else None
        ends = [i for i in found if f"/{i.name.lower()}".endswith(f"/{path}") or f"/{path}".endswith(f"/{i.name.lower()}")]
        return ends[0] if len(ends) == 1 else None

    def holds(self, cells: list[str]) -> bool:
        """Whether most of ``cells`` name images, each its own: a label "7" is not the image 7.png."""
        cells = [c for c in cells if c.strip()][:SAMPLE] if self._by_base else []
        found = {image.file for c in cells if (image := self.find(c))}
        return bool(found) and len(found) >= MIN_MATCHES * len(cells)


def without_broken(examples: list[Example], checks: Checks) -> list[Example]:
    """The examples whose image can be decoded. Of all the beginning is read, and a sample over all labels is decoded in full.

    Where one has a fault, all are decoded. Raises UserError where most of the sample cannot be.
    """
    sample = _spread(examples)
    broken = [e for e in sample if not decodes(e.content)]
    if not broken and all(decodes(e.content, whole=False) for e in examples):
        checks.ok("images", f"All {len(examples)} images can be opened; {len(sample)} of them were decoded in full.")
        return examples
    if len(broken) * 2 > len(sample):
        raise UserError(
            "broken_images",
            f"{len(broken)} of {len(sample)} images that were checked cannot be decoded, for example {some([e.file for e in broken], 3)}.",
            "Replace them with PNG or JPEG images that an ordinary viewer can show.",
        )
    checked = {id(e) for e in sample}
    broken += [e for e in examples if id(e) not in checked and not decodes(e.content)]
    checks.warning("images", f"{left_out(len(broken), 'image')} that cannot be decoded: {some([e.file for e in broken], 6)}.")
    checks.drop("the image cannot be decoded", len(broken))
    left = {id(e) for e in broken}
    return [e for e in examples if id(e) not in left]


def _spread(examples: list[Example]) -> list[Example]:
    """At most SAMPLE examples, of all labels in turn."""
    by_label = collections.defaultdict(list)
    for e in examples:
        by_label[e.target].append(e)
    each = max(1, SAMPLE // max(1, len(by_label)))
    return [e for rows in by_label.values() for e in rows[:: -(-len(rows) // each)]][:SAMPLE]


def decodes(file: Path, whole: bool = True) -> bool:
    """Whether ``file`` is an image that can be decoded: to its end, or at least its beginning."""
    try:
        with opened(file) as image:
            if whole:
                image.draft("RGB", (64, 64))  # a JPEG is decoded at a fraction of its size, which finds the same faults
                image.load()
        return True
    except Exception:
        return False


@contextlib.contextmanager
def opened(file: Path | BinaryIO):
    """The image in ``file``, of which only the beginning has been read. Raises OSError or ValueError for one that is of no kind that is
    read, or has more than MAX_PIXELS."""
    from PIL import Image  # only where there are images

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", Image.DecompressionBombWarning)  # the limit here is lower
            image = Image.open(file, formats=_FORMATS)
    except Image.DecompressionBombError as e:
        raise ValueError(str(e)) from e
    with image:
        if image.width * image.height > MAX_PIXELS:
            raise ValueError(f"it has {image.width} x {image.height} pixels, more than {MAX_PIXELS / 1e6:.0f} million")
        yield image
