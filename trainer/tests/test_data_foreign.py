"""Files of other programs: dBase, GeoJSON and JSON by record as tables, the others refused with what they are."""

import json
import random
import struct

import pytest
from table_files import read, rows_of

from trainer.data import foreign, names
from trainer.data.formats.table import NotATable


def dbf(rows: list[tuple], fields=(("NAME", "C", 10), ("VAL", "N", 8), ("DAY", "D", 8), ("YES", "L", 1))) -> bytes:
    width = 1 + sum(f[2] for f in fields)
    head = struct.pack("<BBBBIHH20x", 3, 120, 1, 1, len(rows), 33 + 32 * len(fields), width)
    listed = b"".join(n.encode().ljust(11, b"\0") + k.encode() + bytes(4) + bytes([length, 0]) + bytes(14) for n, k, length in fields)
    records = b"".join(row[0] + b"".join(str(c).encode("cp1252").rjust(f[2])[: f[2]] for c, f in zip(row[1:], fields)) for row in rows)
    return head + listed + b"\r" + records + b"\x1a"


DBF = dbf([(b" ", f"Süd {i}", i * 1.5, "20200131", "T") for i in range(6)] + [(b"*", "gone", 1, "", "?"), (b" ", "last", "********", "", "?")])


def test_a_dbase_file_is_a_table(tmp_path):
    table, decisions = read(tmp_path, "a.dbf", DBF)
    assert table.columns == ["NAME", "VAL", "DAY", "YES"]
    assert rows_of(table)[1] == ["Süd 1", "1.5", "2020-01-31", "T"]
    assert rows_of(table)[-1] == ["last", "", "", ""]
    assert decisions["deleted_records"] == 1


@pytest.mark.parametrize("seed", range(20))
def test_mutated_dbase_files_are_read_or_refused(tmp_path, seed):
    chance = random.Random(seed)
    for _ in range(30):
        data = bytearray(DBF)
        for _ in range(chance.randrange(1, 12)):
            data[chance.randrange(len(data) if chance.random() < 0.5 else 160)] = chance.randrange(256)
        try:
            table, _ = read(tmp_path, "a.dbf", bytes(data[: chance.choice([len(data), chance.randrange(len(data))])]))
        except NotATable:
            continue
        assert all(len(row) == len(table.columns) for _, row in table.rows)


POINTS = {
    "type": "FeatureCollection",
    "features": [
        {"type": "Feature", "properties": {"n": i, "kind": "ab"[i % 2]}, "geometry": {"type": "Point", "coordinates": [i, 2 * i]}} for i in range(5)
    ],
}
SHAPES = {**POINTS, "features": [{**f, "geometry": {"type": "Polygon", "coordinates": [[[0, 0]]]}} for f in POINTS["features"]]}


@pytest.mark.parametrize(
    ("value", "columns", "first"),
    [
        pytest.param(POINTS, ["n", "kind", "longitude", "latitude"], ["0", "a", "0", "0"], id="points"),
        pytest.param(SHAPES, ["n", "kind"], ["0", "a"], id="shapes"),
        pytest.param({f"p{i}": {"a": i, "b": "xy"[i % 2]} for i in range(9)}, ["key", "a", "b"], ["p0", "0", "x"], id="records by name"),
        pytest.param({str(i): {"a": i, "b": "xy"[i % 2]} for i in range(9)}, ["a", "b"], ["0", "x"], id="records by number"),
        pytest.param({"a": {str(i): i for i in range(9)}, "b": {str(i): "x" for i in range(9)}}, ["a", "b"], ["0", "x"], id="columns by number"),
        pytest.param({"a": {f"r{i}": i for i in range(9)}, "b": {f"r{i}": "x" for i in range(9)}}, ["a", "b"], ["0", "x"], id="columns by name"),
        pytest.param({"a": {f"r{i}": i for i in range(9)}, "b": {f"r{i}": i for i in range(9)}}, ["a", "b"], ["0", "0"], id="columns of one type"),
        pytest.param({f"r{i}": {"a": i, "b": i} for i in range(9)}, ["key", "a", "b"], ["r0", "0", "0"], id="records of one type"),
    ],
)
def test_json_by_record_by_column_and_of_maps(tmp_path, value, columns, first):
    table, _ = read(tmp_path, "a.json", json.dumps(value))
    assert (table.columns, rows_of(table)[0]) == (columns, first)


@pytest.mark.parametrize("seed", range(20))
def test_mutated_json_is_read_or_refused(tmp_path, seed):
    chance = random.Random(seed)
    sources = [json.dumps(v) for v in (POINTS, {f"p{i}": {"a": i, "b": None} for i in range(4)}, {"a": {"0": 1}, "b": {"0": {}}})]
    for _ in range(40):
        text = list(chance.choice(sources))
        for _ in range(chance.randrange(1, 8)):
            at = chance.randrange(len(text))
            text[at : at + chance.choice([0, 1, 9])] = chance.choice(["", "{", "}", "[", "]", '"', ":", ",", "null", "1"])
        try:
            table, _ = read(tmp_path, "a.geojson", "".join(text))
        except NotATable:
            continue
        assert all(len(row) == len(table.columns) for _, row in table.rows)


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"\x89HDF\r\n\x1a\n" + bytes(90), "HDF5 or NumPy: it may be damaged"), (b"CDF\x05" + bytes(90), "CDF-5"),
        (b"MATLAB 5.0 MAT-file" + bytes(90), "MATLAB"),
        (b"$FL2" + bytes(90), "SPSS"), (b"<stata_dta>" + bytes(90), "Stata"), (b"\x93NUMPY" + bytes(90), "never loaded"), (b"%PDF-1.7", "document"),
        (b"\x1f\x8b" + bytes(90), ".csv.gz"), (b"PAR1" + bytes(90), ".parquet"), (b"\x00\x01\x02" * 99, "not a text file"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("name", ["a.dat", "a", "a.data"])
def test_a_binary_file_is_refused_with_what_it_is(tmp_path, name, content, says):
    with pytest.raises(NotATable, match=says):
        read(tmp_path, name, content)


@pytest.mark.parametrize("ending", ["mat", "rds", "sav", "dta", "sas7bdat", "fits", "grib", "shp", "gpkg", "sqlite", "las", "pdf"])
def test_every_format_that_is_not_read_says_what_it_is_and_what_to_do(ending):
    why = foreign.by_ending(ending)
    assert why.startswith(("a ", "an "))
    assert names.not_read(f"data.{ending}") == why
