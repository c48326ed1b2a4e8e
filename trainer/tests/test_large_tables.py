"""Large plain tables are read in another way than small ones, and come to the same: cells, splits, sentences. Here small ones are read as if they
were large."""

import errno
import json
import os
import random
import resource
import subprocess
import sys
from pathlib import Path

import loading
import pyarrow
import pyarrow.parquet
import pytest
from hypothesis import HealthCheck, given, settings as limits, strategies as st
from test_data_load import spec_of

from trainer.core import column_files, mapped
from trainer.core.columnar import Columnar
from trainer.core.input import Input
from trainer.data import keys
from trainer.data.formats import parquet, plain, tables
from trainer.data.formats.arrow_table import ArrowTable
from trainer.data.formats.table import NotATable
from trainer.errors import UserError
from trainer.estimators import folds
from trainer.kinds.rows import reading
from trainer.kinds.table import held_out
from trainer.run_folder.events import Events

NEVER = 1 << 62


def rows(count: int, seed: int = 0, numbers: int = 3, label=lambda x: "yes" if x > 0 else "no") -> list[list[str]]:
    draw = random.Random(seed)
    found = []
    for _ in range(count):
        xs = [draw.gauss(0, 1) for _ in range(numbers)]
        found.append([*(f"{x:.4f}" for x in xs), draw.choice(["north", "south", "east"]), label(xs[0])])
    return found


def text(lines: list[list[str]], delimiter: str = ",", end: str = "\n") -> str:
    return "".join(delimiter.join(line) + end for line in lines)


HEAD = ["a", "b", "c", "site", "y"]


def read(folder: Path, content: bytes, large: int, name: str = "t.csv", **values):
    """What is read of a file: the table and the events, or the exception. ``large`` is the size from which it counts as large."""
    before, plain.LARGE = plain.LARGE, large
    file, log = folder / "file", folder / "events.jsonl"
    file.write_bytes(content)
    log.unlink(missing_ok=True)
    try:
        table = tables.read(Input(name, file, len(content), ""), set(), loading.settings_of("train", values), Events(log, 1))
    except (NotATable, UserError) as e:
        return type(e), str(e), None
    finally:
        plain.LARGE = before
    said = [{k: v for k, v in json.loads(line).items() if k != "time"} for line in log.read_text().splitlines()]
    return (table.columns, [(n, list(row)) for n, row in table.rows], table.has_header, table.bad_rows, table.notes, said), "", type(table)


CELL = st.text(st.sampled_from("ab 1.\t\x0b\x1c\xa0é-"), max_size=4) | st.sampled_from(["total", "North total", "Sum", "1", "2.5", "", " ", "name"])
LINE_END = st.sampled_from(["\n", "\n", "\n", "\r\n", "\r", "\n\n"])


@limits(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.sampled_from([",", "\t", ";", "|"]),
    st.lists(st.tuples(st.lists(CELL, min_size=3, max_size=3), LINE_END), min_size=1, max_size=8),
    st.lists(st.sampled_from(['"', '"a,b"', "x", "# no", "a,b", "a,b,c,d", " ", "\x00", "\ufeff", "name,b,c", "n,1,2", "total,3,4"]), max_size=2),
    st.booleans(),
)
def test_whatever_is_read_is_what_ours_reads(tmp_path, delimiter, lines, odd, last_end):
    """Cells with blanks of many sorts, empty lines, lone carriage returns, odd lines, sums and comments."""
    written = "name,b,c\n".replace(",", delimiter) + "".join(f"n{i},{i},{i / 3:.2f}\n".replace(",", delimiter) for i in range(9))
    for cells, end in lines:
        written += delimiter.join(cells) + end
    written += "".join(f"{line.replace(',', delimiter)}\n" for line in odd)
    content = (written if last_end else written.rstrip("\n")).encode()
    ours, of_arrow = read(tmp_path, content, NEVER), read(tmp_path, content, 0)
    assert ours[:2] == of_arrow[:2]


@pytest.mark.parametrize(
    ("lines", "is_plain"),
    [
        pytest.param([HEAD, *rows(50)], True, id="plain"),
        pytest.param(rows(50), True, id="no names of columns"),
        pytest.param([HEAD, *rows(20), HEAD, *rows(20, 1)], True, id="the names again between the rows"),
        pytest.param([HEAD, *rows(20), ["", " ", "", "", ""], *rows(20, 1)], True, id="a row of empty cells"),
        pytest.param([HEAD, ["m", "m/s", "kg", "", ""], *rows(50)], False, id="a row of units"),
        pytest.param([HEAD, *rows(30), ["1", "2"], *rows(30, 1), [" "], *rows(9)], True, id="rows that lack cells"),
        pytest.param([HEAD, *rows(30), ['"1', "2", "3", "4", 'y"'], *rows(30, 1)], True, id="quotation marks"),
        pytest.param([[f"__label__{'ab'[i % 2]} word {i}", "more"] for i in range(60)], False, id="classes of fastText"),
        pytest.param([HEAD, *rows(30), []], True, id="an empty line at the end"),
        pytest.param([HEAD, *rows(30), [], *rows(9)], True, id="an empty line between the rows"),
        pytest.param([["# by a logger"], HEAD, *rows(30)], False, id="a comment"),
        pytest.param([["site", "n"], *([f"s{i}", "1"] for i in range(30)), ["Total", "30"]], False, id="a sum at the end"),
        pytest.param(
            [["site", "n"], ["A", "1"], ["B", "2"], ["A total", "3"], ["C", "4"], ["D", "5"], ["C total", "9"], *([f"s{i}", "1"] for i in range(30))],
            False, id="sums of groups",
        ),
    ],
)  # fmt: skip
def test_only_plain_tables_are_read_by_arrow(tmp_path, lines, is_plain):
    ours, of_arrow = read(tmp_path, text(lines).encode(), NEVER), read(tmp_path, text(lines).encode(), 0)
    assert ours[:2] == of_arrow[:2]
    assert (of_arrow[2] is ArrowTable) is is_plain
    assert not list(tmp_path.glob(".mapped-*"))


def test_a_file_that_is_longer_than_what_is_looked_at_first(tmp_path, monkeypatch):
    monkeypatch.setattr(plain, "_ROWS", 20)
    monkeypatch.setattr(plain, "_ENDS", (300, 2000))
    monkeypatch.setattr(plain, "BLOCK", 512)
    for end in ("\n", "\r\n"):
        content = text([HEAD, *rows(300)], end=end).encode()
        assert read(tmp_path, content, 0)[2] is ArrowTable
        assert read(tmp_path, content, NEVER)[:2] == read(tmp_path, content, 0)[:2]


def test_a_line_that_is_longer_than_a_block_is_left_to_ours(tmp_path, monkeypatch):
    monkeypatch.setattr(plain, "BLOCK", 512)
    content = text([HEAD, *rows(30), ["1", "2", "3", "x" * 2000, "yes"], *rows(30, 1)]).encode()
    assert read(tmp_path, content, NEVER)[:2] == read(tmp_path, content, 0)[:2]


def test_a_file_of_one_endless_line_is_refused_from_its_first_bytes(tmp_path, monkeypatch):
    """3 GB without a line end: neither reader takes more of it than it looks at."""
    monkeypatch.setattr(tables, "memory", lambda: 4 << 30)
    with open(tmp_path / "t.csv", "wb") as opened:
        opened.write(b"1.5," * (1 << 18))
        opened.truncate(3_000_000_000)  # the rest is a hole, which takes no disk
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(UserError) as refused:
        tables.read(Input("t.csv", tmp_path / "t.csv", 1, ""), set(), loading.settings_of("train", {}), Events(tmp_path / "events.jsonl", 1))
    assert refused.value.code == "too_large" and "GB of memory; 4.3 GB are there." in str(refused.value)
    assert (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * 1024 < 300e6


def test_a_process_that_is_killed_while_it_writes_cells_leaves_no_file(tmp_path):
    there = []

    def write(file) -> None:
        file.write(b"cells")
        there.extend(tmp_path.iterdir())

    assert bytes(mapped.file(write, tmp_path)) == b"cells" and there == []


@pytest.mark.parametrize(
    ("size", "most", "files"),
    [
        pytest.param(900, 900, 1, id="small"),
        pytest.param(2500, 900, 2, id="two or three columns in a file"),
        pytest.param(10**6, 900, 5, id="one for each column"),
        pytest.param(10**6, 0, 1, id="many open files"),
    ],
)
def test_a_large_table_has_few_columns_in_each_file(tmp_path, monkeypatch, size, most, files):
    monkeypatch.setattr(column_files, "_EACH", 1000)
    monkeypatch.setattr(column_files, "_MOST", most)
    made, of = [], mapped.files
    monkeypatch.setattr(mapped, "files", lambda write, count, folder: made.append(count) or of(write, count, folder))
    whole = pyarrow.table(dict(zip(HEAD, map(list, zip(*rows(50), strict=True)), strict=True)))
    assert column_files.written(whole.to_batches(20), whole.schema, size, tmp_path) == whole
    assert made == [files] and not list(tmp_path.iterdir())


@pytest.mark.parametrize("name", ["t.csv", "t.parquet"])
def test_a_full_disk_is_said_and_nothing_is_left(tmp_path, monkeypatch, name):
    monkeypatch.setattr(plain, "LARGE", 0)
    monkeypatch.setattr(parquet, "LARGE", 0)
    monkeypatch.setattr(column_files, "_EACH", 1000)
    monkeypatch.setattr(mapped.tempfile, "mkstemp", lambda **_: (os.open("/dev/full", os.O_RDWR), str(tmp_path / ".mapped-1")))
    lines = rows(3000)
    if name == "t.csv":
        (tmp_path / name).write_text(text([HEAD, *lines]))
    else:
        pyarrow.parquet.write_table(pyarrow.table(dict(zip(HEAD, map(list, zip(*lines, strict=True)), strict=True))), tmp_path / name)
    with pytest.raises(OSError, match="No space left") as caught:
        tables.read(Input(name, tmp_path / name, 1, ""), set(), loading.settings_of("train", {}), Events(tmp_path / "events.jsonl", 1))
    assert caught.value.errno == errno.ENOSPC
    assert not list(tmp_path.glob(".mapped-*"))


def loaded(folder: Path, files: dict, monkeypatch, large: bool, **values):
    """The data of a training, and what was said."""
    monkeypatch.setattr(plain, "LARGE", 0 if large else NEVER)
    monkeypatch.setattr(reading, "FEW", 0 if large else NEVER)
    monkeypatch.setattr(keys, "_LARGE", 0)
    monkeypatch.setattr(column_files, "_EACH", 1000)  # several files of columns
    log = folder / "events.jsonl"
    log.unlink(missing_ok=True)
    try:
        data = loading.load(spec_of(folder, files), Events(log, 1), **values)
    except UserError as e:
        return None, str(e)
    return data, [{k: v for k, v in json.loads(line).items() if k != "time"} for line in log.read_text().splitlines()]


def changed(lines: list[list[str]], row: int, place: int, cell: str) -> list[list[str]]:
    return [[cell if (i, j) == (row, place) else c for j, c in enumerate(line)] for i, line in enumerate(lines)]


NUMBERS = rows(90, label=lambda x: f"{x * 3 + 1:.3f}")
DATASETS = {
    "classes": ({"t.csv": text([HEAD, *rows(120)])}, {}),
    "copies with other labels": ({"t.csv": text([HEAD, *rows(80), *rows(9, label=lambda x: "no")])}, {}),
    "copies that are dropped": ({"t.csv": text([HEAD, *rows(80), *rows(9), *rows(9)])}, {"duplicates": "drop"}),
    "numbers": ({"t.csv": text([HEAD, *NUMBERS])}, {"task": "tabular-regression"}),
    "a number that is text in a late row": ({"t.csv": text(changed([HEAD, *NUMBERS], 85, 1, "broken"))}, {"task": "tabular-regression"}),
    "a target that is text in a late row": ({"t.csv": text(changed([HEAD, *NUMBERS], 85, 4, "broken"))}, {"task": "tabular-regression"}),
    "blanks, gaps and signs for them": (
        {"t.csv": text(changed(changed(changed(changed([HEAD, *rows(90)], 7, 0, " 1.5"), 9, 1, "NA"), 12, 3, " north "), 14, 4, ""))},
        {},
    ),
    "blanks around numbers alone": ({"t.csv": text(changed([HEAD, *rows(90)], 7, 0, " 1.5 "))}, {}),
    "fill values": ({"t.csv": text(changed(changed([HEAD, *rows(90)], 7, 0, "-9999"), 8, 0, "-9999"))}, {}),
    "decimal commas": ({"t.csv": text([[c.replace(".", ",") for c in line] for line in [HEAD, *rows(90)]], ";")}, {}),
    "amounts": ({"t.csv": text([HEAD, *([f"${line[0].strip('-')}", *line[1:]] for line in rows(90))])}, {}),
    "groups": ({"t.csv": text([[*HEAD, "plot"], *([*line, f"p{i // 5}"] for i, line in enumerate(rows(120)))])}, {"group_column": "plot"}),
    "ids": ({"t.csv": text([["id", *HEAD], *([f"r{i} ", *line] for i, line in enumerate(rows(90)))])}, {"id_column": "id"}),
    "times": (
        {"t.csv": text([["date", *HEAD], *([f"2020-{1 + i // 28 % 12:02d}-{1 + i % 28:02d}", *line] for i, line in enumerate(rows(200)))])},
        {"split": "time"},
    ),
    "a column of splits": (
        {"t.csv": text([[*HEAD, "split"], *([*line, ("train", "train", "test", "validation")[i % 4]] for i, line in enumerate(rows(120)))])},
        {},
    ),
    "files of splits": ({"train.csv": text([HEAD, *rows(90)]), "test.csv": text([HEAD, *rows(30, 1), *rows(4)])}, {}),
    "a plain file and a quoted one": (
        {"a.csv": text([HEAD, *rows(60)]), "b.csv": text([HEAD[::-1], *(['"yes"', *line[-2::-1]] for line in rows(30, 1))])},
        {},
    ),
    "all cells quoted": ({"t.csv": "\ufeff" + text([[f'"{c}"' for c in line] for line in [HEAD, *rows(120)]], end="\r\n")}, {}),
    "fewer examples": ({"t.csv": text([HEAD, *rows(200)])}, {"max_examples": 60}),
    "categories alone": ({"t.csv": text([HEAD[3:], *(line[3:] for line in rows(90))])}, {}),
    "no label": ({"t.csv": text([HEAD[:3], *(line[:3] for line in rows(90))])}, {"task": "tabular-classification"}),
    "texts": ({"t.csv": text([["text", "y"], *([f"these are words of the row {line[0]}", line[4]] for line in rows(90))])}, {}),
}  # fmt: skip


@pytest.mark.parametrize("name", DATASETS)
def test_datasets_come_to_the_same(tmp_path, monkeypatch, name):
    files, values = DATASETS[name]
    small, said = loaded(tmp_path, files, monkeypatch, large=False, **values)
    large, also_said = loaded(tmp_path, files, monkeypatch, large=True, **values)
    assert also_said == said
    if small is None:
        return
    assert isinstance(large.splits["train"], Columnar) is (small.kind.name == "table")
    assert {n: list(rows) for n, rows in large.splits.items()} == small.splits
    for field in ("task", "columns", "labels", "types", "styles", "dropped", "not_read", "checks", "split_sha256"):
        assert getattr(large, field) == getattr(small, field), field
    assert large.counts() == small.counts()


@pytest.mark.parametrize("large", [False, True])
def test_cells_of_late_rows_that_are_no_numbers_are_named(tmp_path, monkeypatch, large):
    lines = changed(changed(changed([HEAD, *rows(120)], 118, 1, "broken"), 119, 1, "awry"), 117, 2, "n/a")
    assert loaded(tmp_path, {"t.csv": text(lines)}, monkeypatch, large)[0].types["b"] == "number"
    said = (tmp_path / "events.jsonl").read_text()
    assert "Cells that are no numbers count as empty: 2 cells of b (such as awry)." in said


_PEAK = """
import resource, sys
from pathlib import Path
import loading, pyarrow.csv, pyarrow.compute
from test_large_tables import spec_of
from trainer.estimators import folds
from trainer.kinds.rows import reading
from trainer.kinds.table import held_out
from trainer.run_folder.events import Events
folder = Path(sys.argv[1])
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
data = loading.load(spec_of(folder, {"t.csv": (folder / "t.csv").read_bytes()}), Events(folder / "events.jsonl", 1))
print(len(data.splits["train"]), (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * 1024)
"""


def test_memory_is_a_small_multiple_of_a_table(tmp_path):
    """As objects, rows took 15 times the size of their file."""
    lines = rows(1000, numbers=12)
    draw = random.Random(1)
    content = text([[*(f"n{i}" for i in range(12)), "site", "y"]])
    for _ in range(120):
        content += text([[*(f"{float(c) + draw.random():.6f}" for c in line[:12]), *line[12:]] for line in lines])
    (tmp_path / "t.csv").write_text(content)
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run([sys.executable, "-c", _PEAK, str(tmp_path)], env=env, capture_output=True, text=True, check=True)
    count, grown = map(int, done.stdout.splitlines()[-1].split())
    assert count > 80_000
    assert grown < 9 * len(content), f"{grown / len(content):.1f} times the size of the file"


def test_examples_that_folds_judge_have_an_identity():
    """Held-out examples are told from others by identity, which those of a list have."""
    assert max(held_out.MOST, folds.MOST) < reading.FEW
