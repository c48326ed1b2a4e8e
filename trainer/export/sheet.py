"""One picture that shows what a model answers: some pictures with words above them and a legend below. The service shows it where the results are."""

import base64
import io
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from PIL import Image, ImageDraw, ImageFont

from trainer.core import blocks
from trainer.export import display, results

FILE = "overlay.png"
WIDTH = 1024  # pixels at most
MOST = 3  # pictures that are shown
_HIGHEST = 640  # pixels of a picture in it
_NARROWEST, _OF_WORDS = 512, 320  # pixels of the sheet, and of a column, so that words fit
_LARGER = 4  # times that a small picture is enlarged, at most
_GAP, _LINE, _LETTERS, _PATCH = 12, 26, 17, 16  # pixels between pictures, and of a line, a letter and a patch of colour
_ENTRIES = 18  # of a legend
_LETTERS_OF_A_NAME = 200
_COLOURS, _GREYS = 256, 8  # of the file, and those of them that are kept for letters
_CUT = "..."
_REPORTED, _COLOURS_REPORTED, _BYTES_REPORTED = (480, 360, 240, 160), 64, 30_000  # pixels of the longer side in a report, colours, and bytes
_WHITE, _INK = (255, 255, 255), (34, 34, 34)

Colour = tuple[int, int, int]


@dataclass(frozen=True)
class Panel:
    """A picture with the words above it."""

    picture: Image.Image
    words: str


def in_report(title: str, drawn: Iterable[tuple[Image.Image, str]], text: str) -> list[blocks.Block]:
    """The pictures ``drawn``, each with its caption, as one block of a report with ``text``; nothing where a report takes none of them."""
    found = [shown for picture, caption in drawn if (shown := _shown(picture, caption)) is not None]
    return [blocks.pictures(title, found, text=[text])] if found else []


def _shown(picture: Image.Image, caption: str) -> blocks.Picture | None:
    """A picture in few colours and as large as a report takes it; None where it is large even so."""
    for side in _REPORTED:
        shown = picture.convert("RGB")
        shown.thumbnail((side, side), Image.Resampling.BOX)
        data = io.BytesIO()
        shown.quantize(_COLOURS_REPORTED, dither=Image.Dither.NONE).save(data, "PNG", optimize=True)
        if data.tell() <= _BYTES_REPORTED:
            return blocks.Picture(base64.b64encode(data.getvalue()).decode(), display.short(caption))
    return None


def write(out: Path, panels: Sequence[Panel], columns: int, legend: Sequence[tuple[Colour, str]], text: str) -> dict[str, dict]:
    """Write the picture into ``out``, the folder of the results, and return what is told of it, by its path in result.json. Nothing without panels.

    ``columns`` panels are beside each other. ``legend`` has a colour and a name for each entry. ``text`` says what is seen.
    """
    if not panels:
        return {}
    _of_few_colours(_drawn(panels, columns, legend), [colour for colour, _ in legend[:_ENTRIES]]).save(out / FILE, "PNG", optimize=True)
    return {f"{results.OUT}/{FILE}": {"title": "Overlay", "text": text, "shown": True}}


def _of_few_colours(sheet: Image.Image, legend: Sequence[Colour]) -> Image.Image:
    """``sheet`` as a picture with a palette, in which the colours of the legend and of letters are kept as they are: they are few of all pixels."""
    greys = [tuple(round(ink + (paper - ink) * i / (_GREYS - 1)) for ink, paper in zip(_INK, _WHITE)) for i in range(_GREYS)]
    kept = [*dict.fromkeys([*legend, *greys])]
    others = sheet.quantize(_COLOURS - len(kept), dither=Image.Dither.NONE).getpalette() or []
    palette = Image.new("P", (1, 1))
    palette.putpalette([*others[: 3 * (_COLOURS - len(kept))], *(part for colour in kept for part in colour)])
    return sheet.quantize(palette=palette, dither=Image.Dither.NONE)


def _drawn(panels: Sequence[Panel], columns: int, legend: Sequence[tuple[Colour, str]]) -> Image.Image:
    font = ImageFont.load_default(_LETTERS)
    most = (WIDTH - _GAP * (columns + 1)) // columns
    fitted = [_fitted(p.picture, most) for p in panels]
    wide = max(*(p.width for p in fitted), min(most, _OF_WORDS))
    width = max(_NARROWEST, _GAP + columns * (wide + _GAP))
    rows = [range(i, min(len(panels), i + columns)) for i in range(0, len(panels), columns)]
    highs = [_LINE + max(fitted[i].height for i in row) + _GAP for row in rows]
    entries = _placed(legend, font, width)
    last = entries[-1][1] + _LINE if entries else 0
    sheet = Image.new("RGB", (width, _GAP + sum(highs) + last + _GAP), _WHITE)
    pen = ImageDraw.Draw(sheet)
    top = _GAP
    for row, high in zip(rows, highs):
        for column, i in enumerate(row):
            left = _GAP + column * (wide + _GAP)
            pen.text((left, top), _cut(_plain(panels[i].words), wide, font), _INK, font)
            sheet.paste(fitted[i], (left, top + _LINE))
        top += high
    for left, below, colour, name in entries:
        pen.rectangle((left, top + below + 2, left + _PATCH, top + below + 2 + _PATCH), colour, _INK)
        pen.text((left + _PATCH + 8, top + below), name, _INK, font)
    return sheet


def _fitted(picture: Image.Image, wide: int) -> Image.Image:
    """A picture as large as its place allows. Enlarged pixels stay squares."""
    scale = min(wide / picture.width, _HIGHEST / picture.height, _LARGER)
    size = max(1, round(picture.width * scale)), max(1, round(picture.height * scale))
    return picture.convert("RGB").resize(size, Image.Resampling.NEAREST if scale > 1 else Image.Resampling.BOX)


def _placed(legend: Sequence[tuple[Colour, str]], font, width: int) -> list[tuple[int, int, Colour, str]]:
    """The entries of a legend on a sheet of this ``width``, with the place of each: pixels from the left, and below its top."""
    named = [(colour, _cut(_plain(name) or f"class {i}", width // 2, font)) for i, (colour, name) in enumerate(legend[:_ENTRIES], 1)]
    if len(legend) > _ENTRIES:
        named.append((_WHITE, f"and {len(legend) - _ENTRIES} more"))
    placed = []
    left, below = _GAP, 0
    for colour, name in named:
        needed = _PATCH + 8 + int(font.getlength(name)) + 2 * _GAP
        if left + needed > width and left > _GAP:
            left, below = _GAP, below + _LINE
        placed.append((left, below, colour, name))
        left += needed
    return placed


def _plain(words: str) -> str:
    """``words`` in the letters that the font has; empty where it has none of them."""
    folded = unicodedata.normalize("NFKD", words[:_LETTERS_OF_A_NAME])
    found = "".join(c if c.isascii() and c.isprintable() else "" if unicodedata.combining(c) else "?" for c in folded)
    return found if any(c.isalnum() for c in found) else ""


def _cut(words: str, wide: int, font) -> str:
    """As much of ``words`` as fits into ``wide`` pixels: their beginning and their end, since names differ in their ends."""
    kept = len(words)
    found = words
    while kept and font.getlength(found) > wide:
        kept -= 1
        found = f"{words[: kept - kept // 2]}{_CUT}{words[len(words) - kept // 2 :]}"
    return found
