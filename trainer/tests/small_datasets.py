"""Small datasets that tests make themselves, as files of a run."""

import csv
import io
import random

import numpy
from PIL import Image

WORDS = "river stone lamp cloud paper green window quiet morning table road winter bread garden".split()


def table(head, rows) -> str:
    lines = io.StringIO()
    writer = csv.writer(lines, lineterminator="\n")
    writer.writerow(head)
    writer.writerows(rows)
    return lines.getvalue()


def prices(rows: int = 160) -> str:
    """Short advertisements whose price, in the thousands, stands in their words."""
    chance = random.Random(1)
    worth = {"small": 1000, "plain": 3000, "large": 6000, "grand": 9000}
    lines = []
    for i in range(rows):
        word = list(worth)[i % 4]
        lines.append([f"a {word} {chance.choice(WORDS)} house near the {chance.choice(WORDS)} {i}", worth[word] + chance.random() * 100])
    return table(["text", "price"], lines)


def flowers(rows: int = 150) -> str:
    """Three kinds that two numbers and a colour tell apart; some cells are empty."""
    chance = random.Random(2)
    lines = []
    for i in range(rows):
        kind = i % 3
        colour = ["red", "white", "blue"][kind] if chance.random() < 0.8 else "red"
        length = "" if i % 25 == 7 else round(kind + chance.gauss(0, 0.2), 3)
        lines.append([length, round(5 - kind + chance.gauss(0, 0.2), 3), colour, ["a", "b", "c"][kind]])
    return table(["length", "width", "colour", "species"], lines)


def yields(rows: int = 160) -> str:
    """A number, some hundreds large, that is almost linear in two others."""
    chance = random.Random(3)
    lines = []
    for _ in range(rows):
        rain, heat = chance.uniform(0, 10), chance.uniform(10, 30)
        lines.append([round(rain, 3), round(heat, 3), round(500 + 20 * rain - 5 * heat + chance.gauss(0, 3), 3)])
    return table(["rain", "heat", "harvest"], lines)


def png(pixels: numpy.ndarray) -> bytes:
    data = io.BytesIO()
    Image.fromarray(pixels).save(data, "PNG")
    return data.getvalue()


def squares(count: int = 60, side: int = 24) -> dict[str, bytes]:
    """Noisy pictures that are bright at the left or at the right, by name without a folder."""
    chance = numpy.random.default_rng(4)
    found = {}
    for i in range(count):
        pixels = chance.integers(0, 90, size=(side, side, 3), dtype=numpy.uint8)
        half = slice(0, side // 2) if i % 2 else slice(side // 2, side)
        pixels[:, half] += 120
        found[f"{'left' if i % 2 else 'right'}-{i:03d}.png"] = png(pixels)
    return found


def in_folders(pictures: dict[str, bytes]) -> dict[str, bytes]:
    """The pictures in folders that are called as their names begin."""
    return {f"{name.split('-')[0]}/{name}": data for name, data in pictures.items()}
