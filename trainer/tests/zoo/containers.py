"""Rows about the files of other programs: workbooks, JSON by record, maps, dBase, and what is refused by its name."""

import json
import struct

from trainer.tests.table_files import workbook
from trainer.tests.zoo.row import Reads, Refused, Row
from trainer.tests.zoo.tables import PLAIN, TASK, body, file

CELLS = [["depth", "flow", "class"], *[[float(a), float(b), c] for a, b, c in (line.split(",") for line in body().splitlines())]]
WORKBOOKS, MERGED, SHEETS, RECORDS, MAPS, FOREIGN = "workbooks", "merged cells", "sheets read together", "JSON by record", "maps", "other formats"
N = len(CELLS) - 1
_NOTES = [["key", "meaning"], ["depth", "cm"]]
_OTHER = [["a", "b", "label"], *[[i, i * 2, "uv"[i % 2]] for i in range(N)]]


def _row(name, layout, who, source, expects, ending, content, outcome, rule="", spares="", **settings) -> Row:
    return Row(name, layout, who, source, expects, file(f"data.{ending}", content), outcome, rule, spares, settings)


def _reads(*columns: str, says: dict[str, str] | None = None, rows: int = N, silent: tuple[str, ...] = (), label: str = "class") -> Reads:
    return Reads(TASK, rows=rows, columns=columns or ("depth", "flow"), label=label, says=says or {}, silent=silent, encoder={})


def _refused(name: str, ending: str, content: bytes, says: str) -> Row:
    return _row(
        name, f"a file .{ending}", "scientists", "users.md 1.2", "a sentence with what it is", ending, content, Refused("no_table", (says,)), FOREIGN
    )


def dbf(rows: list[tuple[str, float, str]]) -> bytes:
    """A dBase file with a text, a number and a class."""
    fields = (("PLACE", "C", 8), ("DEPTH", "N", 8), ("CLASS", "C", 2))
    head = struct.pack("<BBBBIHH20x", 3, 120, 1, 1, len(rows), 33 + 96, 19)
    listed = b"".join(n.encode().ljust(11, b"\0") + k.encode() + bytes(4) + bytes([length, 0]) + bytes(14) for n, k, length in fields)
    return head + listed + b"\r" + b"".join(b" " + "".join(str(c).ljust(f[2]) for c, f in zip(row, fields)).encode() for row in rows) + b"\x1a"


_SHIFTED = [[f"s{i // 2}" if i % 2 == 0 else None, *row] for i, row in enumerate(CELLS[1:])]
_POINTS = [
    {"type": "Feature", "properties": {"depth": i * 7 % 50 + 0.5, "class": "xy"[i % 2]}, "geometry": {"type": "Point", "coordinates": [i % 9, i % 7]}}
    for i in range(N)
]
ROWS = (
    _row("workbook", "an .xlsx with one sheet", "everybody", "users.md 1.2", "read like a CSV", "xlsx", workbook({"Sheet1": CELLS}),
         _reads(), WORKBOOKS),
    _row("workbook-with-notes", "a sheet with notes before the data", "everybody", "user reports", "the sheet with the table", "xlsx",
         workbook({"Notes": _NOTES, "Data": CELLS}), _reads(says={"sheets": "Sheet Data"}), WORKBOOKS),
    _row("workbook-title-and-units", "a title and units in a workbook", "labs", "pandas 10898", "names and no units", "xlsm",
         workbook({"Data": [["A study"], [], CELLS[0], ["cm", "m/s", "-"], *CELLS[1:]]}, {"Data": ["A1:C1"]}),
         _reads(says={"lines_before_header": "1 row", "units_row": "cm"}), WORKBOOKS),
    _row("two-tables-in-a-workbook", "two sheets of other columns and like size", "everybody", "made", "a question", "xlsx",
         workbook({"One": CELLS, "Two": _OTHER}), Refused("ambiguous_sheet", ("One and Two", "data.sheet")), spares=WORKBOOKS),
    _row("sheet-that-is-named", "the same with data.sheet: two", "everybody", "-", "that sheet", "xlsx", workbook({"One": CELLS, "Two": _OTHER}),
         _reads("b", label="label"), WORKBOOKS, sheet="two"),
    _row("text-called-xls", "a CSV called .xls", "instruments", "user reports", "read as text", "xls", PLAIN,
         _reads(silent=("sheets",)), spares=WORKBOOKS),
    _row("page-called-xls", "a page of HTML called .xls", "web exports", "user reports", "refused as a page", "xls", "<html><table></table></html>",
         Refused("no_table", ("HTML",)), spares=WORKBOOKS),
    _row("damaged-workbook", "a broken .xlsx", "uploads that broke off", "user reports", "refused", "xlsx", workbook({"Sheet1": CELLS})[:300],
         Refused("no_table", ("workbook",)), spares=WORKBOOKS),
    _row("merged-down", "a site merged over two rows", "Excel users", "readxl 486", "both rows have it", "xlsx",
         workbook({"Data": [["site", *CELLS[0]], *_SHIFTED]}, {"Data": [f"A{r}:A{r + 1}" for r in range(2, N + 1, 2)]}),
         _reads("site", "depth", "flow", says={"merged_cells": "30 merged cells"}), MERGED),
    _row("empty-below-but-not-merged", "a site above empty cells", "Excel users", "made", "empty cells", "xlsx",
         workbook({"Data": [["site", *CELLS[0]], *_SHIFTED]}), _reads(silent=("merged_cells",)), spares=MERGED),
    _row("sheets-as-splits", "sheets train and test", "teachers", "made", "splits", "xlsx", workbook({"train": CELLS, "test": CELLS[:21]}),
         _reads(says={"sheets": "as one table", "test_files": "test"}), SHEETS),
    _row("sheets-as-classes", "sheets setosa and virginica without a label", "botanists", "made", "the names are labels", "xlsx",
         workbook({k: [row[:2] for row in CELLS] for k in ("setosa", "virginica")}), _reads(rows=2 * N, label="file name"), SHEETS,
         label_column="file name"),
    _row("sheets-of-other-columns", "a small sheet of other columns", "everybody", "made", "not read", "xlsx",
         workbook({"Data": CELLS, "More": _OTHER[:9]}),
         _reads(says={"sheets": "More has other columns"}), spares=SHEETS),
    _row("json-by-key", "an object for each record", "pandas, VIA", "users.md 1.2", "records are rows", "json",
         json.dumps({f"p{i}": dict(zip(CELLS[0], row)) for i, row in enumerate(CELLS[1:])}), _reads(says={"records": "a row"}), RECORDS),
    _row("json-by-column", "an object for each column", "pandas", "-", "columns", "json",
         json.dumps({name: {f"p{i}": row[k] for i, row in enumerate(CELLS[1:])} for k, name in enumerate(CELLS[0])}),
         _reads(silent=("records",)), spares=RECORDS),
    _row("geojson", "points with properties", "GIS users", "geojson.org", "properties and places are columns", "geojson",
         json.dumps({"type": "FeatureCollection", "features": _POINTS}),
         _reads("depth", "longitude", "latitude", says={"geojson": "properties"}), MAPS),
    _row("json-with-features", "a list called features that is no map", "web exports", "made", "its objects are rows", "json",
         json.dumps({"features": [dict(zip(CELLS[0], row)) for row in CELLS[1:]]}), _reads(silent=("geojson",)), spares=MAPS),
    _row("dbase", "the attributes of a shapefile", "GIS users", "users.md 1.2", "a table", "dbf",
         dbf([(f"p{i % 3}", i * 7 % 50 + 0.5, "xy"[i % 2]) for i in range(N)]), _reads("PLACE", "DEPTH", label="CLASS"), MAPS),
    _refused("matlab", "mat", b"MATLAB 5.0 MAT-file" + bytes(99), "a MATLAB file"),
    _refused("spss", "sav", b"$FL2" + bytes(99), "an SPSS file"),
    _refused("stata", "dta", b"<stata_dta>" + bytes(99), "a Stata file"),
    _refused("well-log", "las", b"~Version\n VERS. 2.0:\n~A\n 1 2\n", "a log of a well"),
    _refused("scan-compressed", "nii.gz", b"\x1f\x8b" + bytes(99), "a scan of medicine"),
    _refused("r-data", "rds", b"\x1f\x8b" + bytes(99), "an R file"),
    _row("csv-called-dat", "a CSV called .dat", "loggers", "-", "a table", "dat", PLAIN, _reads(), spares=FOREIGN),
)  # fmt: skip
