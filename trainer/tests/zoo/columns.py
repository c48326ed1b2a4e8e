"""Rows about columns beside numbers and categories: dates, texts, lists, names with many values, and numbers with their unit."""

import math
import random

from trainer.tests.zoo.row import Reads, Row, write

DATES, TEXTS, LISTS, NAMES, UNITS = "dates are inputs", "a table with texts", "lists in cells", "names with many values", "numbers with a unit"
JUDGED = "columns_by_loss"
CLASSES, NUMBERS = "tabular-classification", "tabular-regression"
ROWS_OF_EACH = 360
_GOODS = ("wool", "silk", "salt", "corn", "tin", "wax")


def _table(header: str, row, rows: int = ROWS_OF_EACH):
    """Makes a table in no order; ``row`` makes the cells of one row from a source of chance."""

    def make(folder):
        chance = random.Random(7)
        lines = [",".join(map(str, row(chance))) for _ in range(rows)]
        write(folder, "t.csv", "\n".join([header, *lines]) + "\n")

    return make


def _date(chance) -> str:
    return f"{chance.randrange(2012, 2020)}-{chance.randrange(1, 13):02}-{chance.randrange(1, 29):02}"


def _season(form):
    """A number that follows the season of a date, whose cell ``form`` writes."""

    def row(chance):
        day = _date(chance)
        return form(day, chance), f"{chance.gauss(0, 1):.3f}", f"{9 * math.sin(int(day[5:7]) / 2) + chance.gauss(0, 1):.3f}"

    return row


def _far(day: str, chance) -> str:
    return chance.choice(["9999-12-31", "0015-07-04", ""]) if chance.random() < 0.02 else day


def _code(day: str, chance) -> str:
    return f"{chance.randrange(1, 13):02}-{chance.randrange(1, 29):02}-{chance.randrange(10, 30)}"


def _note(chance, word: str) -> str:
    return f"the {word} {chance.choice(['slope', 'field', 'bank'])} was seen by group {chance.choice('abcdefg')} on day {chance.randrange(90)}"


def _told(tells: bool, numbers: bool):
    """A class that follows from a word of a note, from two numbers, or from both."""

    def row(chance):
        word = chance.choice(["dry", "wet"])
        a, b = chance.gauss(0, 1), chance.gauss(0, 1)
        score = (word == "dry") * 3 * tells + 3 * (a > b) * numbers + chance.gauss(0, 1)
        return _note(chance, word), f"{a:.3f}", f"{b:.3f}", "high" if score > 1.5 * (tells + numbers) else "low"

    return row


def _goods(tells: bool):
    def row(chance):
        listed = chance.sample(_GOODS, chance.randrange(1, 4))
        return "; ".join(listed), f"{chance.gauss(0, 1):.3f}", f"{5 * ('silk' in listed) * tells + chance.gauss(0, 1):.3f}"

    return row


def _authors(chance):
    return (
        f'"{chance.choice("ABC")}. Nr{chance.randrange(10**6)}, {chance.choice("DEF")}. Nr{chance.randrange(10**6)}"',
        chance.random(),
        chance.gauss(0, 1),
    )


def _town(tells: bool):
    def row(chance):
        town = chance.randrange(70)
        return f"town {town}", f"{chance.gauss(0, 1):.3f}", f"{town * 7 % 11 * tells + chance.gauss(0, 1):.3f}"

    return row


def _weight(unit: str, blank: str = " "):
    def row(chance):
        weight = chance.randrange(10, 900)
        return f"{weight / 10}{blank}{unit}", f"{chance.gauss(0, 1):.3f}", f"{weight / 10 + chance.gauss(0, 3):.2f}"

    return row


def _seat(chance):
    return f"{chance.randrange(1, 9)}{chance.choice('AC')}", f"{chance.gauss(0, 1):.3f}", f"{chance.gauss(0, 1):.3f}"


def _reads(task: str, *columns: str, says: str = "", **facts) -> Reads:
    return Reads(task, columns=columns, says=({JUDGED: says} if says else {}) | facts, silent=() if says else (JUDGED,))


ROWS = (
    Row("dates-of-visits", "a date, and a number that follows its season", "ecologists", "tables.md 3", "the season is an input",
        _table("visited,x,y", _season(lambda day, _: day)),
        _reads(NUMBERS, "x", "visited", says="The date column visited is used"), DATES),
    Row("dates-with-9999", "the same, with a few 9999-12-31, 0015-07-04 and empty cells", "databases", "tables.md 7", "these count as empty",
        _table("visited,x,y", _season(_far)), _reads(NUMBERS, "x", "visited", says="The date column visited is used"), DATES),
    Row("codes-like-dates", "codes such as 07-12-21 that mean nothing", "archives", "made", "they are left out",
        _table("code,x,y", _season(_code)), _reads(NUMBERS, "x", says="The date column code is not used"), spares=DATES),
    Row("notes-and-numbers", "a note in words and two numbers, and both tell the class", "field work", "tables.md 2, volcanoes", "one model of all",
        _table("note,a,b,label", _told(True, True)), _reads(CLASSES, "a", "b", "note", says="is used", reading="read as a table"), TEXTS),
    Row("notes-alone-tell", "the same, where the numbers are of chance", "field work", "made", "a model of texts",
        _table("note,a,b,label", _told(True, False)), Reads("text-classification", columns=("note",), says={"reading": "read as texts"}),
        spares=TEXTS),
    Row("notes-of-chance", "the same, where the notes are of chance", "field work", "made", "a table without the notes",
        _table("note,a,b,label", _told(False, True)), _reads(CLASSES, "a", "b", says="is not used", reading="read as a table"), spares=TEXTS),
    Row("goods", "wool; silk; tin in one cell", "history", "made", "each of the goods is an input",
        _table("goods,x,y", _goods(True)), _reads(NUMBERS, "x", "goods", says="The list column goods is used"), LISTS),
    Row("goods-of-chance", "the same, and the number does not follow", "history", "made", "they are left out",
        _table("goods,x,y", _goods(False)), _reads(NUMBERS, "x", says="The list column goods is not used"), spares=LISTS),
    Row("pairs-of-authors", "names with a comma between them, of other people in each row", "libraries", "made", "no lists",
        _table("authors,x,y", _authors), Reads(NUMBERS, columns=("x",)), spares=LISTS),
    Row("many-towns", "70 towns", "surveys", "tables.md 3", "the towns are told apart",
        _table("town,x,y", _town(True)), _reads(NUMBERS, "x", "town", says="The name column town is used"), NAMES),
    Row("towns-of-chance", "70 towns that say nothing", "surveys", "made", "they are left out",
        _table("town,x,y", _town(False)), _reads(NUMBERS, "x", says="The name column town is not used"), spares=NAMES),
    Row("weights-in-kg", "12.5 kg", "shops", "made", "numbers", _table("weight,x,y", _weight("kg")),
        Reads(NUMBERS, columns=("weight", "x"), says={"numbers": "amounts in kg"}), UNITS),
    Row("speeds", "12.5km/h without a blank", "traffic", "made", "numbers", _table("speed,x,y", _weight("km/h", "")),
        Reads(NUMBERS, columns=("speed", "x"), says={"numbers": "amounts in km/h"}), UNITS),
    Row("seats", "seats such as 7A and 3C", "theatres", "made", "categories", _table("seat,x,y", _seat),
        Reads(NUMBERS, columns=("seat", "x"), silent=("numbers",)), spares=UNITS),
)  # fmt: skip
