"""Large Parquet files: their cells are those of small ones, and only the columns are read that are needed."""

import datetime
import decimal
import io
import json
import random
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import loading
import pyarrow
import pyarrow.parquet
import pytest
from hypothesis import given, strategies as st

from trainer.archive.budget import Budget
from trainer.core.input import Input
from trainer.data.formats import parquet
from trainer.data.formats.arrow_table import ArrowTable
from trainer.data.formats.objects import cell
from trainer.data.formats.table import NotATable
from trainer.errors import UserError
from trainer.kinds.series import reading as of_series
from trainer.run_folder.events import Events


def parquet_file(folder: Path, rows: int = 7, **columns) -> Path:
    features = {"info": {"features": {"kind": {"_type": "ClassLabel", "names": ["north", "south"]}}}}
    table = pyarrow.table(columns).replace_schema_metadata({"huggingface": json.dumps(features)})
    pyarrow.parquet.write_table(table, folder / "t.parquet", row_group_size=rows)
    return folder / "t.parquet"


def test_large_parquet_files_have_the_cells_of_small_ones(tmp_path, monkeypatch):
    when = datetime.datetime(2026, 1, 2, 3, 4, 5)
    file = parquet_file(
        tmp_path, text=["a", None, "é", ""] * 5, whole=[1, None, -3, 4] * 5, real=[1.0, 2.5, None, float("nan")] * 5,
        truth=[True, False, None, True] * 5,
        time=[when, None, when, when] * 5, listed=[[1, 2], None, [], [3]] * 5, kind=[0, 1, -1, 0] * 5, blob=[b"\x00", b"x", None, b""] * 5,
        inner=[{"a": 1, "b": "x"}, {"a": None, "b": ""}, None, {"a": 2, "b": "y"}] * 5,
        truths=[None, True] * 10, single=pyarrow.array([0.1, None, -1e-7, 3.4e38] * 5, pyarrow.float32()),
        half=pyarrow.array([0.1, None, -1.0, 2.0] * 5, pyarrow.float64()).cast(pyarrow.float16()), gaps=pyarrow.nulls(20, pyarrow.float64()),
        coded=pyarrow.array(["p", "q", None, "p"] * 5).dictionary_encode(),
        day=[when.date(), None, when.date(), when.date()] * 5,
        zone=pyarrow.array([when, None, when, when] * 5, pyarrow.timestamp("us", "UTC")),
        nano=pyarrow.array([1, None, 10**9, 5] * 5, pyarrow.timestamp("ns")), second=pyarrow.array([10**9, None] * 10, pyarrow.timestamp("ns")),
        exact=[decimal.Decimal("1.50"), None, decimal.Decimal("2.00"), decimal.Decimal("-1.00")] * 5,
    )  # fmt: skip
    small = parquet.read("t.parquet", file, tmp_path)
    monkeypatch.setattr(parquet, "LARGE", 0)
    monkeypatch.setattr(parquet, "BATCH", 6)
    large = parquet.read("t.parquet", file, tmp_path)
    assert isinstance(large, ArrowTable) and not isinstance(small, ArrowTable)
    assert (large.columns, large.notes, list(large.rows)) == (small.columns, small.notes, small.rows)
    assert large.cells("kind") == small.cells("kind") == ["north", "south", "", "north"] * 5


@given(st.lists(st.none() | st.floats() | st.floats(width=32) | st.integers(-(10**17), 10**17).map(float) | st.sampled_from([-0.0, 1e10, 1e-4])))
def test_numbers_are_written_as_python_writes_them(numbers):
    assert parquet._column(pyarrow.array(numbers, pyarrow.float64()), []).to_pylist() == [cell(n) for n in numbers]


_TIMES = (
    st.none() | st.datetimes().map(lambda t: t.replace(microsecond=0)) | st.datetimes(datetime.datetime(1690, 1, 1), datetime.datetime(2210, 1, 1))
)


@given(st.lists(_TIMES, max_size=4), st.sampled_from(["s", "ms", "us"]))
def test_times_are_written_as_python_writes_them(times, unit):
    for of, values in (
        (pyarrow.timestamp(unit), [t and t.replace(microsecond=0 if unit == "s" else t.microsecond // 1000 * 1000) for t in times]),
        (pyarrow.date32(), [t and t.date() for t in times]),
    ):
        assert parquet._column(pyarrow.array(values, of), []).to_pylist() == ["" if v is None else str(v) for v in values]


class Counting(io.FileIO):
    """A file that counts the bytes that are read of it."""

    count = 0

    def readinto(self, into) -> int:
        found = super().readinto(into)
        self.count += found
        return found

    def read(self, size: int = -1) -> bytes:
        found = super().read(size)
        self.count += len(found)
        return found


def test_of_a_large_parquet_file_only_the_columns_are_read_that_are_needed(tmp_path):
    draw = random.Random(4)
    columns = {f"c{i}": [draw.random() for _ in range(60_000)] for i in range(39)} | {"kind": [0, 1] * 30_000}
    file, wanted = parquet_file(tmp_path, rows=20_000, **columns), {"c3", "c17", "kind"}
    groups = [pyarrow.parquet.ParquetFile(file).metadata.row_group(i) for i in range(3)]
    size = sum(c.total_compressed_size for g in groups for c in (g.column(i) for i in range(40)) if c.path_in_schema in wanted)
    with Counting(file) as counted:
        table = parquet.read("t.parquet", counted, tmp_path, wanted)
    assert counted.count <= 1.2 * size < 0.1 * file.stat().st_size
    assert table.columns == ["c3", "c17", "kind"] and table.cells("kind")[:2] == ["north", "south"]
    assert table.cells("c17") == [repr(v) for v in columns["c17"]]


def test_a_parquet_file_that_does_not_fit_is_refused_before_its_columns_are_read(tmp_path, monkeypatch):
    """The need follows from the rows in the footer and from the first cells of ids, not from the columns that nobody reads."""
    rows = 300_000
    columns = {f"c{i}": [float(i)] * rows for i in range(9)} | {"Plant": [f"p{i}" for i in range(rows)], "plot": ["a", "b"] * (rows // 2)}
    file, wanted = parquet_file(tmp_path, rows, **columns), {f"c{i}" for i in range(6)} | {"plant", "plot"}
    monkeypatch.setattr(parquet, "memory", lambda: 760_000_000)  # 300,000 rows need 0.75 GB, and with an id for each 0.80 GB
    assert isinstance(parquet.read("t.parquet", file, tmp_path, wanted, {"plot"}), ArrowTable)
    with pytest.raises(UserError) as refused:
        parquet.read("t.parquet", file, tmp_path, wanted, {"plant", "plot"})
    assert "It has about 0.3 million rows and needs 0.8 GB of memory; 0.8 GB are there." in str(refused.value)
    monkeypatch.setattr(parquet, "memory", lambda: 700_000_000)
    with Counting(file) as counted, pytest.raises(UserError):
        parquet.read("t.parquet", counted, tmp_path, wanted)
    assert counted.count < 0.2 * file.stat().st_size, "the footer alone"


def test_a_parquet_file_that_lies_is_no_table(tmp_path, monkeypatch):
    """Any byte of it changed, also of its footer: another table, or none, but no other error."""
    monkeypatch.setattr(parquet, "LARGE", 0)
    file = parquet_file(tmp_path, text=["some", "words", None] * 4, number=[1.5, None, 2.5] * 4)
    whole, draw = file.read_bytes(), random.Random(3)
    for _ in range(200):
        place = draw.randrange(4, len(whole))
        file.write_bytes(whole[:place] + bytes([draw.randrange(256)]) + whole[place + 1 :])
        parquet.look("t.parquet", file, (), ())
        try:
            table = parquet.read("t.parquet", file, tmp_path)
            assert all(isinstance(c, str) for _, row in table.rows for c in row)
        except (NotATable, UserError):
            pass
    assert not list(tmp_path.glob(".mapped-*"))


def bytes_read() -> int:
    """What this process has read of files until now."""
    return int(dict(line.split(": ") for line in Path("/proc/self/io").read_text().splitlines())["rchar"])


FOOTERS = 8 * 65536  # bytes at the end of the file, which Arrow reads at once, each time that something looks at the columns


def test_a_training_reads_only_the_columns_that_are_asked_for(tmp_path, monkeypatch):
    """The bytes that are read from the claims of all kinds to the splits, and the splits, which are those of a table with these columns alone."""
    monkeypatch.setattr(of_series, "_LARGEST", 0)  # a file of up to 20 MB is read once more, to look for a series
    draw = random.Random(5)
    columns = {f"c{i}": [draw.random() for _ in range(60_000)] for i in range(39)}
    columns["y"] = [int(a + b > 1) for a, b in zip(columns["c3"], columns["c17"])]
    wanted, alone = ["c3", "c17", "y"], tmp_path / "alone"
    alone.mkdir()
    for folder, names in ((tmp_path, list(columns)), (alone, wanted)):
        table = pyarrow.table({n: columns[n] for n in names})
        pyarrow.parquet.write_table(table, folder / "t.parquet", use_dictionary=["y"], row_group_size=30_000, data_page_size=1 << 14)
    metadata = pyarrow.parquet.ParquetFile(tmp_path / "t.parquet").metadata
    chunks = [metadata.row_group(i).column(j) for i in range(2) for j in range(40)]
    size = sum(c.total_compressed_size for c in chunks if c.path_in_schema in wanted)

    events = Events(tmp_path / "events.jsonl", 1)
    source = Input("t.parquet", tmp_path / "t.parquet", (tmp_path / "t.parquet").stat().st_size, "")
    spec = SimpleNamespace(inputs=(source,), not_read=(), folder=tmp_path, work=tmp_path / "work", budget=Budget())
    of_alone = SimpleNamespace(**{**vars(spec), "inputs": (replace(source, file=alone / "t.parquet"),)})
    same = loading.load(of_alone, Events(alone / "events.jsonl", 1), label_column="y")
    before = bytes_read()
    data = loading.load(spec, events, columns="C3, c17", label_column="y")
    assert size < bytes_read() - before <= 1.2 * size + FOOTERS < 0.1 * source.size
    assert data.columns == ("c3", "c17") and data.split_sha256 == same.split_sha256
    assert "Only c3, c17 and y are read, as requested" in events.path.read_text()
