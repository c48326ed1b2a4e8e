"""Workbooks: which sheet is the table, what its cells are as texts, and what is refused within seconds."""

import io
import os
import random
import resource
import zipfile

import pytest
from table_files import DATE, read, read_all, rows_of, workbook

from trainer.data.formats.table import NotATable
from trainer.errors import UserError

HEADER = ["site", "depth", "class"]
DATA = [[f"s{i}", i + 0.5, "xy"[i % 2]] for i in range(12)]
NOTES = [["key", "meaning"], ["depth", "metres"]]


@pytest.mark.parametrize(
    ("sheets", "merged", "columns", "first", "decided"),
    [
        pytest.param({"Data": [HEADER, *DATA]}, {}, HEADER, ["s0", "0.5", "x"], {}, id="one sheet"),
        pytest.param({"About": NOTES, "Data": [HEADER, *DATA]}, {}, HEADER, ["s0", "0.5", "x"], {"sheets": 1}, id="the sheet with the table"),
        pytest.param(
            {"Old": [HEADER, *DATA, *DATA], "Data": [["a", "b"], *[[i, i * 2] for i in range(12)]]},
            {},
            HEADER,
            ["s0", "0.5", "x"],
            {"sheets": 1},
            id="the largest",
        ),
        pytest.param(
            {"Data": [["A study"], [], HEADER, ["-", "m", "-"], *DATA]},
            {"Data": ["A1:C1"]},
            HEADER,
            ["s0", "0.5", "x"],
            {"lines_before_header": 1, "units_row": 1},
            id="a title and units",
        ),
        pytest.param(
            {"Data": [[None, None, "A study"], [None, *HEADER], *[[None, *row] for row in DATA]]},
            {},
            HEADER,
            ["s0", "0.5", "x"],
            {"lines_before_header": 1},
            id="a table that begins elsewhere",
        ),
        pytest.param(
            {
                "Data": [
                    ["Site", "Nutrients", None, "class"],
                    [None, "NO3", "PO4"],
                    *[["a" if i % 2 == 0 else None, i, i * 2, "xy"[i % 2]] for i in range(12)],
                ]
            },
            {"Data": ["A1:A2", "B1:C1", *[f"A{r}:A{r + 1}" for r in range(3, 15, 2)]]},
            ["Site", "Nutrients NO3", "Nutrients PO4", "class"],
            ["a", "0", "0", "x"],
            {"merged_cells": 7, "header_rows": 2},
            id="merged cells",
        ),
    ],
)
def test_the_table_in_a_workbook(tmp_path, sheets, merged, columns, first, decided):
    table, decisions = read(tmp_path, "a.xlsx", workbook(sheets, merged))
    assert (table.name, table.columns, rows_of(table)[0], len(table.rows)) == ("a.xlsx", columns, first, 24 if "Old" in sheets else 12)
    assert {k: v for k, v in decisions.items() if k != "table"} == decided


def test_cells_are_what_a_csv_file_would_hold(tmp_path):
    rows = [
        ["day", "n", "whole", "truth", "text"],
        *[[(DATE, 43831 + i + 0.25 * (i == 1)), i + 0.25, float(20210501), True, "a b"] for i in range(3)],
    ]
    table, _ = read(tmp_path, "a.xlsx", workbook({"Data": rows}))
    assert rows_of(table)[:2] == [["2020-01-01", "0.25", "20210501", "TRUE", "a b"], ["2020-01-02 06:00:00", "1.25", "20210501", "TRUE", "a b"]]


def test_sheets_with_the_same_columns_are_read_together(tmp_path):
    found, decisions = read_all(tmp_path, "a.xlsx", workbook({"train": [HEADER, *DATA], "test": [HEADER, *DATA[:4]]}))
    assert [(t.name, len(t.rows)) for t in found] == [("a.xlsx/train", 12), ("a.xlsx/test", 4)]
    assert decisions["sheets"] == 2


def test_hidden_sheets_are_not_read_unless_they_are_named(tmp_path):
    packed = workbook({"Data": [HEADER, *DATA], "Secret": [HEADER, *DATA]}, hidden=("Secret",))
    assert [t.name for t in read_all(tmp_path, "a.xlsx", packed)[0]] == ["a.xlsx"]
    with pytest.raises(NotATable, match="its sheets are Data and Secret"):
        read(tmp_path, "a.xlsx", packed, sheet="Secrets")
    with pytest.raises(NotATable, match=r"has no sheet with a table \(Secret has"):
        read(tmp_path, "a.xlsx", workbook({"Data": [HEADER, *DATA], "Secret": [["a"]]}, hidden=("Secret",)), sheet="secret")


def test_two_sheets_that_may_be_meant_are_asked_about(tmp_path):
    packed = workbook({"One": [HEADER, *DATA], "Two": [["a", "b", "label"], *[[i, i * 2, "uv"[i % 2]] for i in range(12)]]})
    with pytest.raises(UserError) as asked:
        read(tmp_path, "a.xlsx", packed)
    assert asked.value.code == "ambiguous_sheet"
    assert read(tmp_path, "a.xlsx", packed, sheet="two")[0].columns == ["a", "b", "label"]
    assert read(tmp_path, "a.xlsx", packed, wanted=["depth"])[0].columns == HEADER
    with pytest.raises(NotATable, match="has no sheet Three"):
        read(tmp_path, "a.xlsx", packed, sheet="Three")


@pytest.mark.parametrize(
    ("name", "content", "why"),
    [
        ("a.xlsx", b"PK\x03\x04 and nothing", "damaged|cannot be read"),
        ("a.xlsx", workbook({"Data": [["a"]]}), "no sheet with a table"),
        ("a.xls", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600), "cannot be read as a workbook"),
        ("a.xls", b"<html><table><tr><td>1</td></tr></table></html>", "a page of HTML or XML"),
    ],
)
def test_what_is_no_workbook_is_refused_with_a_reason(tmp_path, name, content, why):
    with pytest.raises(NotATable, match=why):
        read(tmp_path, name, content)


def test_a_text_with_the_ending_of_a_workbook_is_read_as_text(tmp_path):
    assert read(tmp_path, "a.xls", "a\tb\n" + "".join(f"{i}\t{i}\n" for i in range(9)))[0].columns == ["a", "b"]


def _bomb(sheet: str, times: int) -> bytes:
    packed = io.BytesIO(workbook({"Data": [["a"]]}))
    with zipfile.ZipFile(packed) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in parts.items():
            if name.endswith("sheet1.xml"):
                head, tail = data.split(b"<sheetData>")[0] + b"<sheetData>", b"</sheetData></worksheet>"
                with archive.open(name, "w") as member:
                    member.write(head)
                    for _ in range(times):
                        member.write(sheet.encode() * 1000)
                    member.write(tail)
            else:
                archive.writestr(name, data)
    return out.getvalue()


@pytest.mark.parametrize(
    ("sheet", "times"),
    [
        pytest.param('<row r="1"><c r="A1"><v>1</v></c></row><row r="1048576"><c r="XFD1048576"><v>1</v></c></row>', 1, id="two cells far apart"),
        pytest.param(" " * 400, 700, id="hundreds of megabytes of nothing"),
    ],
)
def test_a_workbook_that_would_fill_the_memory_is_refused_in_seconds(tmp_path, sheet, times):
    began, before = sum(os.times()[:4]), resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    with pytest.raises((UserError, NotATable)) as refused:
        read(tmp_path, "a.xlsx", _bomb(sheet, times))
    assert sum(os.times()[:4]) - began < 60, "seconds of the processor, of this process and those that it started"
    assert resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss <= max(before, 2 << 20)  # kilobytes
    assert str(refused.value)


@pytest.mark.parametrize("seed", range(10))
def test_mutated_workbooks_are_read_or_refused(tmp_path, seed):
    chance = random.Random(seed)
    packed = workbook({"Data": [["A study"], HEADER, *DATA], "More": [HEADER, *DATA]}, {"Data": ["A1:C1", "A3:A5"]})
    for _ in range(2):
        data = bytearray(packed)
        for _ in range(chance.randrange(1, 20)):
            data[chance.randrange(len(data))] = chance.randrange(256)
        try:
            table, _ = read(tmp_path, "a.xlsx", bytes(data))
        except (NotATable, UserError):
            continue
        assert all(len(row) == len(table.columns) for _, row in table.rows)


@pytest.mark.parametrize("merged", [["A1:XFD1048576"], ["B3:B1048576"], ["ZZ1:ZZ9"], ["A2:A1"], ["C3:A3"]])
def test_strange_merged_ranges_harm_nothing(tmp_path, merged):
    assert len(read(tmp_path, "a.xlsx", workbook({"Data": [HEADER, *DATA]}, {"Data": merged}))[0].rows) >= 11


@pytest.mark.parametrize("name", ["a.txt", "n" * 9000])  # a list of many entries, and one of many bytes
def test_a_workbook_with_many_files_inside_is_refused_with_a_way_out(tmp_path, monkeypatch, name):
    monkeypatch.setattr("trainer.data.formats.workbook._MAX_MEMBERS", 20)
    monkeypatch.setattr("trainer.data.formats.workbook._MAX_DIRECTORY", 100_000)
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for i in range(25):
            archive.writestr(f"{i}{name}", "")
    with pytest.raises(UserError) as error:
        read(tmp_path, "a.xlsx", packed.getvalue())
    assert error.value.code == "too_large"
    assert all(part in str(error.value) for part in ("more than 20 files", "CSV"))
