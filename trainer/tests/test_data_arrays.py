"""NetCDF, HDF5, NumPy, Arrow and ARFF files as tables: what their cells become, and that hostile ones are refused with bounded memory."""

import io
import os
import random
import resource
import signal

import numpy
import pyarrow
import pyarrow.feather
import pytest
from array_files import along, hdf5, netcdf, npy
from table_files import read, rows_of

from trainer import bounded
from trainer.data.formats import arrays
from trainer.data.formats.table import NotATable
from trainer.errors import UserError

N = 24
COUNT = numpy.arange(N)


def _times(units: str, **attributes) -> bytes:
    return netcdf(lambda t: along(t, "t", {"when": COUNT * 1.0, "x": COUNT * 2.0}, {"when": {"units": units, **attributes}}))


@pytest.mark.parametrize(
    ("units", "attributes", "second"),
    [
        ("days since 2000-01-01", {}, "2000-01-02 00:00:00"),
        ("hours since 1990-1-5 12:30:00.0 UTC", {}, "1990-01-05 13:30:00"),
        ("seconds since 1970-01-01T00:00:00Z", {"calendar": "proleptic_gregorian"}, "1970-01-01 00:00:01"),
        ("days since 2000-01-01", {"calendar": "noleap"}, "1"),
        ("days since 0001-01-01", {}, "1"),
        ("hours since 2000-01-01 00:00 +02:00", {}, "1"),
        ("meters", {}, "1"),
    ],
)
def test_times_of_netcdf_are_dates_where_everybody_agrees_on_the_calendar(tmp_path, units, attributes, second):
    table, _ = read(tmp_path, "a.nc", _times(units, **attributes))
    assert table.columns == ["when", "x"] and rows_of(table)[1][0] == second


@pytest.mark.parametrize(
    ("values", "attributes", "cells"),
    [
        pytest.param(numpy.array([0.1, -99.5], "f4"), {"_FillValue": numpy.float32(-99.5)}, ["0.1", ""], id="a fill value"),
        pytest.param(numpy.array([1, 2], "h"), {"missing_value": numpy.int16(2)}, ["1", ""], id="a missing value"),
        pytest.param(numpy.array([10, 11], "h"), {"scale_factor": 0.1, "add_offset": 273.15}, ["274.15", "274.25"], id="packed numbers"),
        pytest.param(numpy.array([numpy.nan, 2.5]), {}, ["", "2.5"], id="not a number"),
        pytest.param(numpy.array([b"ab", b"c"]), {}, ["ab", "c"], id="characters"),
    ],
)
def test_cells_of_netcdf(tmp_path, values, attributes, cells):
    whole = numpy.concatenate([values] * 3)
    table, _ = read(tmp_path, "a.nc", netcdf(lambda t: along(t, "t", {"v": whole, "x": COUNT[:6] * 1.0}, {"v": attributes})))
    assert [row[0] for row in rows_of(table)][:2] == cells


def _datasets(**columns):
    return lambda target: [target.create_dataset(name, data=values) for name, values in columns.items()]


def _links(target) -> None:
    import h5py

    target["elsewhere"] = h5py.ExternalLink("/etc/hostname", "/x")
    target["again"] = h5py.SoftLink("/again")
    target["a"] = COUNT
    target["b"] = COUNT * 0.5


@pytest.mark.parametrize(
    ("fill", "columns", "first"),
    [
        pytest.param(_datasets(a=COUNT, b=COUNT > 3), ["a", "b"], ["0", "false"], id="numbers and yes or no"),
        pytest.param(_datasets(**{"run/a": COUNT, "run/b": COUNT * 0.5}), ["a", "b"], ["0", "0"], id="one group"),
        pytest.param(_datasets(**{"r/a": COUNT, "s/b": COUNT * 0.5}), ["r/a", "s/b"], ["0", "0"], id="two groups"),
        pytest.param(_links, ["a", "b"], ["0", "0"], id="links are not followed"),
    ],
)
def test_datasets_of_hdf5(tmp_path, fill, columns, first):
    table, _ = read(tmp_path, "a.h5", hdf5(fill))
    assert (table.columns, rows_of(table)[0], len(table.rows)) == (columns, first, N)


def test_an_enumeration_is_read_by_its_names_and_only_an_own_order_counts(tmp_path):
    import h5py

    def fill(target):
        target.create_dataset("state", data=COUNT % 2, dtype=h5py.enum_dtype({"wet": 0, "dry": 1}, basetype="i1"))
        target.create_dataset("a", data=COUNT)

    by_name, own = (read(tmp_path, "a.h5", hdf5(fill, track_order=tracked))[0] for tracked in (False, True))
    assert (by_name.columns, rows_of(by_name)[1], by_name.in_order) == (["a", "state"], ["1", "dry"], False)
    assert (own.columns, own.in_order) == (["state", "a"], True)


def _virtual(target) -> None:
    import h5py

    layout = h5py.VirtualLayout((N,), "f8")
    layout[:] = h5py.VirtualSource("/etc/hostname", "x", (N,))
    target.create_virtual_dataset("a", layout)


def _huge(target) -> None:
    target.create_dataset("a", (10**12,), dtype="f4", chunks=(10**6,), compression="gzip")


def _bomb() -> bytes:
    packed = io.BytesIO()
    table = pyarrow.table({"a": numpy.zeros(5_000_000, "i1")})
    pyarrow.feather.write_feather(table, packed, compression="zstd", chunksize=1 << 30)
    return packed.getvalue()


@pytest.mark.parametrize(
    ("name", "content", "why"),
    [
        pytest.param("a.h5", hdf5(_virtual), "in another file", id="values of another file"),
        pytest.param("a.h5", hdf5(_huge), "1000000000000 rows", id="a billion empty rows"),
        pytest.param("a.h5", hdf5(lambda t: t.attrs.__setitem__("pandas_type", "frame")), "pandas.read_hdf", id="a store of pandas"),
        pytest.param("a.h5", hdf5(lambda t: None), "no variables", id="nothing"),
        pytest.param("a.npy", npy(numpy.zeros((3, 4, 5))), "3 × 4 × 5", id="three dimensions"),
        pytest.param("a.npy", npy(numpy.zeros((2, 2)))[:-8], "damaged", id="a file that broke off"),
        pytest.param("a.orc", b"ORC" + bytes(99), "damaged", id="a damaged file of ORC"),
        pytest.param("a.hdf", b"\x0e\x03\x13\x01" + bytes(99), "HDF4", id="HDF4"),
        pytest.param("a.cdf", b"\xcd\xf3\x00\x01" + bytes(99), "NASA", id="CDF"),
        pytest.param("a.arff", "@relation a\n@attribute b relational\n@data\n1\n", "no column of plain values", id="tables in cells"),
        pytest.param("a.arff", "a,b\n1,2\n", "@attribute", id="no ARFF"),
    ],
)
def test_what_is_no_table_is_refused_with_the_reason_and_bounded(tmp_path, name, content, why):
    began, before = sum(os.times()[:4]), resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    with pytest.raises((NotATable, UserError), match=why) as refused:
        read(tmp_path, name, content)
    assert sum(os.times()[:4]) - began < 60 and str(refused.value)  # seconds of the processor
    assert resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss <= max(before, 4 << 20)  # kilobytes


@pytest.mark.parametrize(("number", "refused"), [(signal.SIGSEGV, bounded.Crashed), (signal.SIGKILL, bounded.Failed)])
def test_a_program_that_crashes_is_told_from_one_that_a_limit_ends(number, refused):
    with pytest.raises(bounded.Failed) as failed:
        bounded.run(["-c", f"import os; os.kill(os.getpid(), {int(number)})"], b"", 30, 1 << 30, 1000)
    assert type(failed.value) is refused


def test_a_file_whose_reading_crashes_is_damaged(tmp_path, monkeypatch):
    def crashes(*_):
        raise bounded.Crashed("it was ended by signal 11")

    monkeypatch.setattr(bounded, "run", crashes)
    with pytest.raises(NotATable, match="is damaged"):
        read(tmp_path, "a.h5", hdf5(_links))


def test_a_small_file_that_unpacks_to_more_than_fits_is_refused(tmp_path, monkeypatch):
    content = _bomb()
    assert len(content) < 100_000
    monkeypatch.setattr(arrays, "memory", lambda: 1 << 30)
    with pytest.raises(UserError, match="more than"):
        read(tmp_path, "a.feather", content)


def test_columns_of_one_name_stay_apart_in_all_parts_of_a_file(tmp_path):
    whole = pyarrow.table([pyarrow.array(range(4)), pyarrow.array("wxyz"), pyarrow.array([5.0, 6, 7, 8])], names=["a", "a", "b"])
    packed = io.BytesIO()
    with pyarrow.ipc.new_file(packed, whole.schema) as written:
        written.write_table(whole, max_chunksize=2)
    table, _ = read(tmp_path, "a.arrow", packed.getvalue())
    assert table.columns == ["a", "a 2", "b"]
    assert rows_of(table) == [["0", "w", "5"], ["1", "x", "6"], ["2", "y", "7"], ["3", "z", "8"]]


def test_rows_of_arff(tmp_path):
    head = "% of lakes\n@RELATION lakes\n@attribute 'mean depth' numeric\n@attribute class {x, 'y z'}\n@DATA\n"
    table, _ = read(tmp_path, "a.arff", head + "1.5, x\n?, 'y z'\n% a comment\n\n2, 'it\\'s'\n1,2,3\n")
    assert table.columns == ["mean depth", "class"]
    assert rows_of(table) == [["1.5", "x"], ["?", "y z"], ["2", "it's"]]
    assert (table.bad_rows, table.first_bad) == (1, 11)


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.nc", netcdf(lambda t: along(t, "t", {"a": COUNT * 1.0, "b": numpy.array([b"xy", b"z"] * 12)}))),
        ("a.h5", hdf5(_datasets(a=COUNT, b=COUNT * 0.5))),
        ("a.npy", npy(numpy.zeros((9, 3)))),
    ],
)
def test_mutated_files_are_read_or_refused(tmp_path, name, content, seed):
    chance = random.Random(seed)
    data = bytearray(content)
    for _ in range(chance.randrange(1, 12)):
        data[chance.randrange(min(len(data), 600))] = chance.randrange(256)
    try:
        table, _ = read(tmp_path, name, bytes(data))
    except (NotATable, UserError):
        return
    assert all(len(row) == len(table.columns) for _, row in table.rows)
