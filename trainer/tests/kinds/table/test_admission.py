"""Which dates, texts, lists and names a model of a table reads: those that make the held-out loss smaller, with the sentence why."""

import math
import random
from types import SimpleNamespace

import numpy
import pytest

from trainer.config.options import options
from trainer.config.settings import DEFAULT, Settings
from trainer.core import registry
from trainer.core.example import Dataset, Example
from trainer.data.columns.features import CATEGORY, DATE, LIST, NAME, NUMBER, TEXT
from trainer.kinds.derived import part as parts
from trainer.kinds.table import admission, columns, encoded, held_out

TABLE = registry.of("table")


def settings() -> Settings:
    values = {n: o.default for n, o in options("train").items()} | {"seed": 1}
    return Settings(values, dict.fromkeys(values, DEFAULT))


def dataset(rows: list[tuple], types: dict[str, str], validation: int = 100) -> Dataset:
    """``rows`` have their cells and, last, their target."""
    examples = [Example("t.csv", i, tuple(map(str, row[:-1])), str(row[-1])) for i, row in enumerate(rows)]
    splits = {"train": examples[validation:], "validation": examples[:validation], "test": examples[:20]}
    classes = not isinstance(rows[0][-1], float)
    labels = tuple(sorted({e.target for e in examples})) if classes else ()
    task = "tabular-classification" if classes else "tabular-regression"
    return Dataset(task, TABLE, splits, ["t.csv"], tuple(types), "y", labels, dict(types))


def admitted(data: Dataset) -> tuple[Dataset, list[str]]:
    said: list[str] = []
    events = SimpleNamespace(decision=lambda what, choice, why: said.append(why))
    return admission.admitted(TABLE, data, settings(), events), said


def made(cell, target, sort: str, rows: int = 600) -> Dataset:
    """Rows of a number of chance, a column of ``sort`` and a target."""
    draw = random.Random(3)
    found = []
    for _ in range(rows):
        drawn = cell(draw)
        found.append((f"{draw.gauss(0, 1):.3f}", drawn, target(drawn, draw)))
    return dataset(found, {"a": NUMBER, "b": sort})


def day(draw) -> str:
    return f"{draw.randrange(2012, 2020)}-{draw.randrange(1, 13):02}-{draw.randrange(1, 29):02}"


def note(draw) -> str:
    return f"a {draw.choice(['dry', 'wet', 'burnt', 'mossy'])} {draw.choice(['slope', 'field', 'bank'])} seen by {draw.choice('abcdefg')}"


def town(draw) -> str:
    return f"town {draw.randrange(80)}"


def goods(draw) -> str:
    return "; ".join(draw.sample(["wool", "silk", "salt", "corn", "tin", "wax"], draw.randrange(1, 4)))


HELPFUL = [
    pytest.param(day, lambda c, d: 9 * math.sin(int(c[5:7]) / 2) + d.gauss(0, 1), DATE, id="the season of a date"),
    pytest.param(note, lambda c, d: "yes" if ("dry" in c) != (d.random() < 0.1) else "no", TEXT, id="a word of a text"),
    pytest.param(town, lambda c, d: int(c[5:]) * 7 % 11 + d.gauss(0, 1), NAME, id="a name"),
    pytest.param(goods, lambda c, d: "rich" if ("silk" in c) != (d.random() < 0.1) else "poor", LIST, id="an item of a list"),
]


@pytest.mark.parametrize(("cell", "target", "sort"), HELPFUL)
def test_a_column_that_helps_is_used(cell, target, sort):
    data, said = admitted(made(cell, target, sort))
    assert data.columns == ("a", "b") and set(data.learnt) == {"b"}
    assert len(said) == 1 and said[0].startswith(f"The {admission.WORDS[sort]} column b is used: the loss on held-out rows is ")
    train = data.splits["train"]
    read = columns.Columns.learn(data, train)
    assert {source for source, _ in read.sources} == {"a", "b"}
    assert read.cells(train).shape == (len(train), len(read.sources)) == (len(train), columns.width(data))
    again = columns.restored(read.columns)
    assert numpy.array_equal(again.cells(train[:50]), read.cells(train[:50]), equal_nan=True) and again.known == read.known
    encoder = encoded.of(data, TABLE.target(data), settings(), train).encoder
    assert (encoded.values(encoded.restored(encoder.columns), train[:50]) == encoded.values(encoder, train[:50])).all()


NOISE = [
    pytest.param(day, DATE, id="dates of chance"),
    pytest.param(lambda d: f"{d.randrange(1, 13):02}-{d.randrange(1, 13):02}-{d.randrange(10, 30)}", DATE, id="codes that look like dates"),
    pytest.param(note, TEXT, id="texts of chance"),
    pytest.param(town, NAME, id="names of chance"),
    pytest.param(goods, LIST, id="lists of chance"),
]


@pytest.mark.parametrize(("cell", "sort"), NOISE)
@pytest.mark.parametrize("target", [lambda c, d: d.gauss(0, 1), lambda c, d: d.choice(["x", "y"])], ids=["numbers", "classes"])
def test_a_column_of_chance_is_left_out(cell, sort, target):
    data, said = admitted(made(cell, target, sort))
    assert data.columns == ("a",) and data.types == {"a": NUMBER} and not data.learnt
    assert all(len(e.content) == 1 for rows in data.splits.values() for e in rows)
    assert len(said) == 1 and "column b is not used: the loss on held-out rows is " in said[0]


def test_numbers_and_categories_are_as_before():
    data = dataset([(i % 7, "ab"[i % 2], "xy"[i % 2]) for i in range(60)], {"a": NUMBER, "b": CATEGORY}, 20)
    assert admitted(data) == (data, [])


def test_many_columns_are_judged_by_their_sorts():
    draw = random.Random(1)
    rows = []
    for _ in range(400):
        days = [day(draw) for _ in range(8)]
        rows.append((f"{draw.random():.3f}", *days, town(draw), 8 * math.sin(int(days[3][5:7]) / 2) + draw.gauss(0, 1)))
    data, said = admitted(dataset(rows, {"a": NUMBER, **{f"d{i}": DATE for i in range(8)}, "town": NAME}))
    assert [s.split(" used")[0] for s in said] == ["The date columns d0, d1, d2, d3, d4, d5 and 2 more are", "The name column town is not"]
    assert data.columns == ("a", *(f"d{i}" for i in range(8)))


def test_too_few_rows_admit_nothing_unless_there_is_nothing_else():
    rows = [(i, f"2019-{1 + i % 12:02}-{1 + i % 28:02}", "xy"[i % 2]) for i in range(24)]
    data, said = admitted(dataset(rows, {"a": NUMBER, "b": DATE}, 4))
    assert data.columns == ("a",) and said == ["b is not used: there are too few held-out rows to judge by."]
    data, _ = admitted(dataset([row[1:] for row in rows], {"b": DATE}, 4))
    assert data.columns == ("b",) and "b" in data.learnt


def test_parts_are_learnt_from_training_rows_alone():
    data = made(*HELPFUL[0].values[:2], DATE)
    later = [Example("t.csv", 9, ("0.1", "2031-01-01"), "1.0")] * 5
    changed = Dataset(**{**vars(data), "splits": {**data.splits, "test": later}})
    assert admitted(changed)[0].learnt == admitted(data)[0].learnt


def test_dates_of_a_series_are_judged_by_its_later_rows():
    draw, level, rows = random.Random(2), 0.0, []
    for i in range(600):
        level += draw.gauss(0, 1)
        rows.append((f"{draw.random():.3f}", f"2019-{1 + i // 28 % 12:02}-{1 + i % 28:02} {i // 336:02}:00", level))
    data = dataset(rows[60:] + rows[:60], {"a": NUMBER, "b": DATE}, 0)
    times = {name: [Example(e.file, e.row, e.content, e.target, when=float(e.row)) for e in found] for name, found in data.splits.items()}
    data.splits = {"train": times["train"][:440], "validation": times["train"][440:540], "test": times["test"]}
    used, said = admitted(data)
    assert used.columns == ("a",), said
    assert held_out.turns(used, TABLE.target(used), settings()) is not None
    kept = Dataset(**{**vars(data), "learnt": {"b": parts.learn(DATE, [e.content[1] for e in data.splits["train"]])}})
    assert held_out.turns(kept, TABLE.target(kept), settings()) is None, "folds at random would flatter a model that reads dates"
