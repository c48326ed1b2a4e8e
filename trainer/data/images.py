"""Images: which of them a table names, and which can be decoded. They are decoded in full later, by the workers."""

import collections
import contextlib
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from trainer.core.example import Example
from trainer.core.input import Input
from trainer.data import names
from trainer.data.checks import Checks
from trainer.errors import UserError, left_out, some

SAMPLE = 200
MAX_PIXELS = 80_000_000  # of one image; decoded, it is in memory some times over
_FORMATS = ("PNG", "JPEG", "GIF", "BMP", "WEBP", "TIFF")  # whatever a file is called: of others, some are given to programs to run
EVEN = 0.5  # ratio of two sorts of images, from which neither can be left out
MIN_MATCHES = 0.5  # of a column's cells, for it to hold the paths of images


class Index:
    """Finds an image of the dataset by its full name, the end of it, or its base name with or without the ending.

    Names are compared whatever their case, the form of their accents and blanks at their ends. Where an archive does not tell the code page
    of its names, that one counts in which a name is the one looked for.
    """

    def __init__(self, images: list[Input]):
        self._chosen = {image.file: split for image in images if (split := names.chosen_split(image.name))}
        self._by_base: dict[str, list[_Named]] = collections.defaultdict(list)
        self._by_alias: dict[str, list[_Named]] = collections.defaultdict(list)
        for image in images:
            for name, place in ((image.name, self._by_base), *((alias, self._by_alias) for alias in image.aliases)):
                path = _path(name)
                base = path.rpartition("/")[2].lower()
                for end in {base, base.rpartition(".")[0].rstrip()}:
                    place[end].append(_Named(path, image))

    def find(self, cell: str) -> Input | None:
        """The image that ``cell`` names, or None where there is none or more than one."""
        images = self._look(_path(cell))[0]
        return images[0] if len(images) == 1 else None

    def match(self, cells: list[str]) -> tuple[list[Input | None], set[str]]:
        """The image of each cell, and the cells that name one of several images, so that nobody can tell which.

        These are also cells with different folders and the same base name, of which the dataset has a single image without these folders.
        """
        looked = {cell: self._look(_path(cell)) for cell in set(cells) if cell.strip()}
        paths: dict[Path, dict[int, set[str]]] = collections.defaultdict(lambda: collections.defaultdict(set))
        for cell, (images, fit) in looked.items():
            if len(images) == 1:
                paths[images[0].file][fit].add(_path(cell).lower())
        unclear = {cell for cell, (images, fit) in looked.items() if len(images) > 1 or (images and _is_unclear(fit, paths[images[0].file]))}
        known = {cell: images[0] for cell, (images, _) in looked.items() if images and cell not in unclear}
        return [known.get(cell) for cell in cells], unclear

    def as_chosen(self, given: dict[str, list[Example]]) -> dict[str, list[Example]]:
        """The examples by split, those of images that a person chose for a split in that one, whatever the table says."""
        if not self._chosen:
            return given
        moved: dict[str, list[Example]] = {name: [] for name in given}
        for name, examples in given.items():
            for e in examples:
                moved[self._chosen.get(e.content, name)].append(e)
        return moved

    def holds(self, cells: list[str], repeated: bool = False) -> bool:
        """Whether most of ``cells`` name images, each its own: a label "7" is not the image 7.png. With ``repeated``, an image may be named
        by its whole name as often as there are rows about it."""
        cells = [c for c in cells if c.strip()][:SAMPLE] if self._by_base else []
        if repeated:
            whole = [c for c in cells if names.extension(c.strip()) in names.IMAGES]
            cells = [*dict.fromkeys(whole), *(c for c in cells if names.extension(c.strip()) not in names.IMAGES)]
        found = {image.file for image in self.match(cells)[0] if image is not None}
        return bool(found) and len(found) >= MIN_MATCHES * len(cells)

    def unclear(self, cells: list[str]) -> bool:
        """Whether most of ``cells`` name one of several images."""
        cells = [c for c in cells if c.strip()][:SAMPLE] if self._by_base else []
        unclear = self.match(cells)[1]
        return bool(unclear) and sum(c in unclear for c in cells) >= MIN_MATCHES * len(cells)

    def _look(self, path: str) -> tuple[list[Input], int]:
        """The images that ``path`` may name, and how well it fits them, as ``_fit`` says."""
        base = path.rpartition("/")[2].lower()
        named = self._by_base.get(base) or self._by_alias.get(base, [])
        fits = [_fit(path.lower(), n.path.lower()) for n in named]
        best = max(fits, default=0)
        fitting = [n for n, fit in zip(named, fits) if (fit > 0) == (best > 0)]
        if len({n.image.file for n in fitting}) > 1 and (same_case := [n for n in fitting if _fit(path, n.path) > 0]):
            fitting = same_case
        return list({n.image.file: n.image for n in fitting}.values()), best


@dataclass(frozen=True)
class _Named:
    """An image under one of its names, as ``_path`` writes it."""

    path: str
    image: Input


def _path(name: str) -> str:
    """A name or a cell so that equal names are equal: slashes, accents in one form, no blanks around the parts."""
    parts = (p.strip() for p in names.nfc(name).replace("\\", "/").split("/"))
    return "/".join(p for p in parts if p not in ("", "."))


def _fit(path: str, name: str) -> int:
    """How well ``path`` names the file ``name``: 2 in all its folders, 1 where it has more of them than the file, 0 by the base name alone."""
    bare = name.rpartition(".")[0].rstrip() if "." in name.rpartition("/")[2] else name
    if f"/{name}".endswith(f"/{path}") or f"/{bare}".endswith(f"/{path}"):
        return 2
    return int("/" in name and (f"/{path}".endswith(f"/{name}") or f"/{path}".endswith(f"/{bare}")))


def _is_unclear(fit: int, paths: dict[int, set[str]]) -> bool:
    """Whether another cell, with other folders, fits the same image as well as this one, or better; ``paths`` has those of the cells by their fit."""
    return fit < 2 and (fit < max(paths) or len(paths[fit]) > 1)


def without_broken(examples: list[Example], checks: Checks, every: bool = False) -> list[Example]:
    """The examples whose image can be decoded. Of all the beginning is read, and a sample over all labels is decoded in full.

    Where one has a fault, or ``every`` says so, all are decoded. Raises UserError where most of the sample cannot be.
    """
    sample = _over_labels(examples)
    broken = [e for e in sample if not decodes(e.content)]
    if not broken and all(decodes(e.content, whole=every) for e in examples):
        how = "decoded" if every else f"opened; {len(sample)} of them were decoded in full"
        checks.ok("images", f"All {len(examples)} images can be {how}.")
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


def _over_labels(examples: list[Example]) -> list[Example]:
    """At most SAMPLE examples, of all labels in turn."""
    by_label = collections.defaultdict(list)
    for e in examples:
        by_label[e.target].append(e)
    each = max(1, SAMPLE // max(1, len(by_label)))
    return [e for rows in by_label.values() for e in rows[:: -(-len(rows) // each)]][:SAMPLE]


def decodes(file: Path, whole: bool = True) -> bool:
    """Whether ``file`` is an image that can be decoded: to its end, or at least its beginning."""
    from trainer.data import rasters  # only where there are images

    try:
        if not rasters.form(file).plain:
            return not whole or rasters.values(file)[0].size > 0
        with opened(file) as image:
            if whole:
                image.draft("RGB", (64, 64))  # a JPEG is decoded at a fraction of its size, which finds the same faults
                image.load()
        return True
    except Exception:
        return False


def of_one_sort(examples: list[Example], checks: Checks) -> list[Example]:
    """The examples whose images are stored alike, as far as one model can read them: plain ones, or those with the same bands and numbers.

    The most frequent sort stays. Raises UserError where another one is about as frequent.
    """
    from trainer.data import rasters

    forms = [rasters.form(e.content) for e in examples]
    counts = collections.Counter(form.sort for form in forms)
    (most, number), *others = counts.most_common()
    if many := sum(form.pages > 1 for form in forms):
        checks.warning("pages", f"{many} of {len(forms)} images have more than one page or frame: the first of each is read.")
    if not others:
        return examples
    words = {form.sort: form.words for form in forms}
    if others[0][1] >= EVEN * number:
        raise UserError(
            "mixed_images",
            f"The images are stored in different ways: {some([f'{n} with {words[sort]}' for sort, n in counts.most_common()], 4)}.",
            "Save all of them in one way, or put only those of one sort into the dataset.",
        )
    left = [e.file for e, form in zip(examples, forms) if form.sort != most]
    checks.warning("image_forms", f"{left_out(len(left), 'image')}, not stored with {words[most]} as most are: {some(left, 6)}.")
    checks.drop("the image is not stored as most are", len(left))
    return [e for e, form in zip(examples, forms) if form.sort == most]


def undecodable(name: str, error: Exception) -> UserError:
    """The error for an image that turns out to be damaged after its beginning was read."""
    return UserError(
        "undecodable_image", f"The image {name or 'that was sent'} cannot be decoded.", "Remove or replace it, then submit again.", f"{error}."
    )


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
