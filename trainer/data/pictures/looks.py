"""What pictures look like as a few numbers: colours and edges. Models of tables read them of columns that name pictures of the dataset."""

from collections.abc import Sequence
from pathlib import Path

import numpy
from PIL import Image, ImageOps

from trainer.data import rasters
from trainer.data.formats.table import Table
from trainer.data.images import Index, opened
from trainer.data.pictures import named
from trainer.errors import some
from trainer.run_folder.events import Events

SIDE = 64  # pixels of the picture that is looked at
MOST = 2_000  # million pixels that are decoded of all pictures of a training: about two minutes
_DRAFT = (2 * SIDE, 2 * SIDE)
_COLOURS = ("red", "green", "blue")
_DIRECTIONS = ("across", "rising", "down", "falling")  # of edges
_BORDER = SIDE // 4
NAMES = (
    *(f"mean {c}" for c in _COLOURS), *(f"deviation of {c}" for c in _COLOURS), *(f"{c} of the middle less the border" for c in _COLOURS),
    "edges", *(f"edges {d}" for d in _DIRECTIONS),
)  # fmt: skip
_BETWEEN = ": "  # the column with the names of pictures, and one of ``NAMES``


def column(pictures: str, name: str) -> str:
    """The name of the column with one number of the pictures that the column ``pictures`` names."""
    return f"{pictures}{_BETWEEN}{name}"


def source(name: str) -> str:
    """The column with the names of pictures that the column ``name`` tells a number of; empty where it does not."""
    pictures, _, what = name.rpartition(_BETWEEN)
    return pictures if what in NAMES else ""


def grouped(columns: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """The columns of numbers of pictures among ``columns``, by the column that names the pictures."""
    found = {pictures: tuple(column(pictures, name) for name in NAMES) for name in columns if (pictures := source(name))}
    return {pictures: names for pictures, names in found.items() if set(names) <= set(columns)}


def read(tables: Sequence[Table], index: Index, wanted: Sequence[str], events: Events, seen: Sequence[str] = ()) -> None:
    """Add the numbers of pictures to ``tables``: of the columns that name pictures of the dataset, or of those that ``wanted`` columns tell of.
    Nothing is added to a training whose pictures have too many pixels together. Of ``seen`` columns the pictures themselves are read later."""
    for table in tables:
        for column_seen in [c for c in table.columns if c.lower() in {n.lower() for n in seen}]:
            _match(table, column_seen, index)
    tables = [t for t in tables if type(t) is Table]  # the cells of large ones stay in files
    names = {n.lower() for n in map(source, wanted) if n}
    if seen and not names:
        return
    if not names:
        names = {c.lower() for t in tables for c in t.columns if index.holds(t.sample(c), repeated=True)}
        if (millions := _millions(tables, names, index)) > MOST:
            why = f"The pictures have {millions:,.0f} million pixels together, more than {MOST:,}, so what they look like is not read."
            return events.decision("picture_columns", [], why)
    for table in tables:
        for name in [c for c in table.columns if c.lower() in names]:
            missing, broken = add(table, name, index)
            lost = [f"{n} {what}" for n, what in ((missing, "name no picture of the dataset"), (broken, "name one that cannot be decoded")) if n]
            empty = f" Of its cells {some(lost)}: these are empty." if lost else ""
            events.decision(
                "picture_columns", name, f"{name} of {table.name} names pictures: their colours and edges are read as {len(NAMES)} numbers.{empty}"
            )


def _millions(tables: Sequence[Table], names: set[str], index: Index) -> float:
    """The pixels that are decoded of the pictures that these columns name, in millions."""
    files = {i.file for t in tables for c in t.columns if c.lower() in names for i in index.match(t.cells(c))[0] if i is not None}
    return sum(map(_pixels, files)) / 1e6


def _pixels(file: Path) -> int:
    try:
        with opened(file) as image:
            image.draft("RGB", _DRAFT)
            return image.width * image.height
    except (OSError, ValueError):
        return 0


def add(table: Table, pictures: str, index: Index) -> tuple[int, int]:
    """Add the numbers of the pictures that a column names to ``table``, and return how many cells name none, and how many one that cannot be decoded.
    Their numbers are empty."""
    files = _match(table, pictures, index)
    known: dict[Path, tuple[str, ...]] = {}
    nothing = ("",) * len(NAMES)
    found = [nothing if file is None else known.setdefault(file, known.get(file) or of(file)) for file in files]
    table.columns += [column(pictures, name) for name in NAMES]
    for (_, row), cells in zip(table.rows, found):
        row += cells
    unknown = [c for c, file in zip(table.cells(pictures), files) if file is None and c.strip()]
    return len(unknown), sum(file is not None and not cells[0] for file, cells in zip(files, found))


def _match(table: Table, pictures: str, index: Index) -> list[Path | None]:
    """The files of the pictures that a column names, which is remembered for those who read the pictures later."""
    cells = table.cells(pictures)
    files = [None if image is None else image.file for image in index.match(cells)[0]]
    named.remember(cells, files)
    return files


def of(file) -> tuple[str, ...]:
    """The numbers of a picture, written like those of a table; empty for one that cannot be decoded."""
    try:
        return tuple(f"{value:.6g}" for value in numbers(small(file)))
    except Exception:  # whatever a decoder raises for a damaged file
        return ("",) * len(NAMES)


def numbers(picture: numpy.ndarray) -> numpy.ndarray:
    """The numbers ``NAMES`` of a picture as ``small`` gives it."""
    picture = picture.astype(numpy.float64)
    middle = picture[_BORDER:-_BORDER, _BORDER:-_BORDER].mean((0, 1))
    border = (picture.sum((0, 1)) - middle * (SIDE - 2 * _BORDER) ** 2) / (SIDE**2 - (SIDE - 2 * _BORDER) ** 2)
    down, right = numpy.gradient(picture.mean(axis=2))
    strength, count = numpy.hypot(down, right), len(_DIRECTIONS)
    direction = numpy.floor(numpy.arctan2(down, right) / numpy.pi * count + 0.5).astype(int) % count
    edges = numpy.bincount(direction.ravel(), strength.ravel(), count) / (strength.sum() or 1.0)
    return numpy.concatenate([picture.mean((0, 1)), picture.std((0, 1)), middle - border, [strength.mean()], edges])


def small(file) -> numpy.ndarray:
    """The picture (side x side x 3) from 0 to 1; of measured pictures the first three bands, each over its own range. Raises OSError, ValueError or
    UserError for one that cannot be decoded."""
    if rasters.form(file).plain:
        image = _draft(file) or rasters.seen(file)
        image.thumbnail(_DRAFT, Image.Resampling.BOX)
        return numpy.asarray(image.convert("RGB").resize((SIDE, SIDE), Image.Resampling.BOX), numpy.float32) / 255
    pixels, _ = rasters.values(file)
    rows, columns = (numpy.linspace(0, size - 1, SIDE).round().astype(int) for size in pixels.shape[:2])
    bands = numpy.nan_to_num(pixels[numpy.ix_(rows, columns)].astype(numpy.float64), posinf=0, neginf=0)[:, :, :3]
    low, high = bands.min((0, 1)), bands.max((0, 1))
    scaled = (bands - low) / numpy.where(high > low, high - low, 1)
    return numpy.resize(scaled.transpose(2, 0, 1), (3, SIDE, SIDE)).transpose(1, 2, 0).astype(numpy.float32)


def _draft(file) -> Image.Image | None:
    """A JPEG, upright and decoded at a fraction of its size, which takes a tenth of the time; None for other pictures."""
    with opened(rasters.rewound(file)) as image:
        if image.format != "JPEG":
            return None
        image.draft("RGB", _DRAFT)
        return ImageOps.exif_transpose(image).convert("RGB")
