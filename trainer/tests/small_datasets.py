"""Small datasets that tests make themselves, as files of a run."""

import csv
import io
import math
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


def magnitudes(rows: int = 160) -> str:
    """A number over four orders of magnitude, of which two others and chance are factors."""
    chance = random.Random(5)
    lines = []
    for _ in range(rows):
        size, age = chance.gauss(0, 1), chance.gauss(0, 1)
        lines.append([round(size, 3), round(age, 3), round(math.exp(5 + 1.6 * size + age + chance.gauss(0, 0.2)), 2)])
    return table(["size", "age", "price"], lines)


def buyers(rows: int = 1500) -> str:
    """One row in twelve is a yes, which a number makes likelier, but never likelier than a no."""
    chance = random.Random(4)
    lines = []
    for _ in range(rows):
        age, visits = chance.random(), chance.random()
        likely = 0.3 if age > 0.75 else 0.01
        lines.append([round(age, 3), round(visits, 3), "yes" if chance.random() < likely else "no"])
    return table(["age", "visits", "bought"], lines)


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


def masked(count: int = 40, side: int = 64, with_masks: bool = True, values: tuple[int, int] = (0, 255)) -> dict[str, bytes]:
    """Noisy pictures with a bright square each, and masks of the squares."""
    chance = numpy.random.default_rng(6)
    found = {}
    for i in range(count):
        pixels = chance.integers(0, 90, size=(side, side, 3), dtype=numpy.uint8)
        top, left = chance.integers(0, side // 2, size=2)
        place = slice(top, top + side // 2), slice(left, left + side // 2)
        pixels[place] += 120
        mask = numpy.full((side, side), values[0], numpy.uint8)
        mask[place] = values[1]
        found[f"images/plot-{i:03d}.png"] = png(pixels)
        if with_masks:
            found[f"masks/plot-{i:03d}.png"] = png(mask)
    return found


def in_folders(pictures: dict[str, bytes]) -> dict[str, bytes]:
    """The pictures in folders that are called as their names begin."""
    return {f"{name.split('-')[0]}/{name}": data for name, data in pictures.items()}


def signals(rows: int = 120) -> str:
    """Readings of four sensors, each the larger the nearer it faces the direction that is to be told. The format is that of trainer/tests/toy."""
    chance = random.Random(5)
    lines = ["toy 1"]
    for _ in range(rows):
        direction = chance.uniform(0, 360)
        readings = (math.cos(math.radians(direction - at)) + chance.gauss(0, 0.05) for at in (0, 90, 180, 270))
        lines.append(f"{' '.join(f'{r:.3f}' for r in readings)} -> {direction:.1f}")
    return "\n".join(lines) + "\n"


def visits(numbers: bool, notes: int = 9) -> str:
    """A table of a date, a note, a town and goods, which all tell the last column. There are
    at most so many different ``notes`` of a sort."""
    draw = random.Random(5)
    lines = []
    for _ in range(420):
        month, word, town, goods = draw.randrange(1, 13), draw.choice(["dry", "wet"]), draw.randrange(60), draw.sample(["wool", "silk", "tin"], 2)
        score = 3 * math.sin(month / 2) + 3 * (word == "dry") + town * 7 % 5 + 2 * ("silk" in goods) + draw.gauss(0, 0.5)
        day = f"{draw.randrange(1, 29)} {'Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec'.split()[month - 1]} {draw.randrange(2011, 2020)}"
        empty = draw.random() < 0.03
        note = f"a {word} {draw.choice(['slope', 'field'])} no. {draw.randrange(notes)}"
        cells = ["" if empty else day, note, f"town {town}", "; ".join(goods), f"{draw.gauss(0, 1):.2f}"]
        lines.append([*cells, f"{score:.3f}" if numbers else "high" if score > 5 else "low"])
    return table(["visited", "note", "town", "goods", "x", "outcome"], lines)
