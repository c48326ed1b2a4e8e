"""Rows about tables as instruments and people write them: what is around the data, and how columns are separated."""

from collections.abc import Callable
from functools import partial
from pathlib import Path

from trainer.tests.zoo.row import Reads, Refused, Row, write

N = 60
COLUMNS = ("depth", "flow", "class")
TASK = "tabular-classification"
COMMENTS, LINES, UNITS, LEVELS = "comment lines", "lines before the names", "a row of units", "two rows of names"
TOTALS, NOTES, BLANKS, ENDINGS = "totals", "notes below the data", "columns between blanks", "any ending"


def line(i: int, delimiter: str = ",") -> str:
    """A row of data: two measures and a class that follows from them."""
    return delimiter.join((f"{i * 7 % 50 + (i % 2) * 30}.{i % 10}", f"{i * 3 % 41}.{i % 7}", "xy"[i % 2]))


def body(delimiter: str = ",", n: int = N) -> str:
    return "".join(line(i, delimiter) + "\n" for i in range(n))


def comments(n: int, mark: str = "#") -> str:
    return "".join(f"{mark} note {i} of the network, with commas\n" for i in range(n))


HEAD = ",".join(COLUMNS) + "\n"
PLAIN = HEAD + body()
_DEPTHS, _FLOWS = ([float(line(i).split(",")[k]) for i in range(N)] for k in (0, 1))
_STAMPS = "".join(f'"2020-01-01 {i // 60:02d}:{i % 60:02d}:00",{i},{line(i)}\n' for i in range(N))
TOA5 = '"TOA5","tower","CR1000","1234","CR1000.Std.22","CPU:a.CR1","4567","Table1"\n'
LOGGER = f'{TOA5}"TIMESTAMP","RECORD","depth","flow","class"\n"TS","RN","cm","m/s",""\n"","","Avg","Avg","Smp"\n{_STAMPS}'
RDB = "agency\tsite\tdepth\tflow\tclass\n5s\t15s\t14n\t14n\t10s\n" + "".join(f"USGS\t0{i % 4}\t" + line(i, "\t") + "\n" for i in range(N))
TWO = "Site,Water,,class\n,depth,flow,\n" + "".join(f"s{i % 4},{line(i)}\n" for i in range(N))
BETWEEN = "  depth    flow class\n" + "".join("  " + line(i, "    ") + "\n" for i in range(N))
PLACES = "depth   place        class\n" + "".join(f"{i * 7 % 50:5.1f}   {['New York', 'Rome', ''][i % 3]:12s} {'xy'[i % 2]}\n" for i in range(N))


def file(name: str, content: str | bytes) -> Callable[[Path], None]:
    """Makes a data set of one file."""

    def make(folder: Path) -> None:
        write(folder, name, content)

    return make


def reads(*columns: str, rows: int = N, says: dict[str, str] | None = None, silent: tuple[str, ...] = (), classes=("x", "y")) -> Reads:
    return Reads(TASK, rows=rows, classes=classes, columns=columns or ("depth", "flow"), label="class", says=says or {}, silent=silent, encoder={})


_QUIET = ("comment_lines", "lines_before_header", "units_row", "header_rows", "totals_row", "notes")
_NO_NUMBERS = {"empty_rows": "all their cells are empty"}  # it is read as a row of data, without a number
_PLAIN = partial(reads, silent=_QUIET)


def _row(
    name: str, layout: str, who: str, source: str, expects: str, content: str | bytes, outcome, rule="", spares="", ending="csv", **settings
) -> Row:
    return Row(name, layout, who, source, expects, file(f"data.{ending}" if ending else "data", content), outcome, rule, spares, settings)


_UNITS_LIKE = "a,b,class\nm,s,x\n" + "".join(f"{i * 7 % 50},{i * 3 % 41},{'xy'[i % 2]}\n" for i in range(N))
_FLAGS = HEAD + "M,T,x\n" + body()
ROWS = (
    _row("plain-table", "a plain CSV", "everybody", "-", "read as it is", PLAIN, _PLAIN()),
    _row("comments-400", "a CSV below 400 lines with #", "NOAA, CDAWeb users", "csv-parser 117", "comments are skipped", comments(400) + PLAIN,
         reads(says={"comment_lines": "400 lines"}), COMMENTS),
    _row("comments-percent", "a CSV below lines with %", "MATLAB users", "arquero 165", "comments are skipped", comments(5, "%") + PLAIN,
         reads(says={"comment_lines": "5 lines"}), COMMENTS),
    _row("names-in-comment", "the last comment names the columns", "gnuplot users", "graph heads", "the names are used",
         comments(2) + "# " + HEAD + body(), reads(says={"comment_lines": "3 lines"}), COMMENTS),
    _row("ndbc-buoy", "two comments: names, and units below", "NDBC", "ndbc.noaa.gov", "the names are the first of both",
         "#depth flow class\n#cm m/s -\n" + body(" "), reads(says={"comment_lines": "2 lines"}), COMMENTS, ending="txt"),
    _row("comment-at-end", "comments above and below", "instruments", "csv-schema 31", "neither is data", comments(2) + PLAIN + "# end, of it\n",
         reads(says={"comment_lines": "2 lines", "notes": "1 line"}), COMMENTS),
    _row("colours", "a class column of colours like #ff0000, first", "designers", "made", "colours are data",
         "class,depth,flow\n" + "".join(f"#ff000{i % 2},{i * 7 % 50}.1,{i * 3 % 41}.2\n" for i in range(N)),
         _PLAIN(classes=("#ff0000", "#ff0001")), spares=COMMENTS),
    _row("name-with-mark", "the first name begins with #", "genomics (BED, VCF)", "samtools", "the name is kept", "#" + PLAIN,
         _PLAIN("#depth", "flow"), spares=COMMENTS),
    _row("unnamed-index-semicolons", "a first cell without a name, semicolons", "pandas users", "pandas", "semicolons are delimiters",
         ";depth;flow;class\n" + "".join(f"{i};{line(i, ';')}\n" for i in range(N)), _PLAIN(), spares=COMMENTS),
    _row("toa5-logger", "TOA5: logger, names, units, process", "flux towers, IML-CZO", "explorer 781", "names, no units", LOGGER,
         reads(says={"lines_before_header": "1 line", "units_row": "2 rows"}), UNITS, ending="dat"),
    _row("usgs-rdb", "60 comments, names, and a row like 5s 15s", "Great Lakes to Gulf", "USGS", "names, no formats", comments(60) + RDB,
         reads("site", "depth", "flow", says={"comment_lines": "60 lines", "units_row": "5s"}), UNITS, ending="rdb"),
    _row("usgs-txt", "the same with the ending txt", "Great Lakes to Gulf", "USGS", "a table, not a text", comments(60) + RDB,
         reads("site", "depth", "flow", says={"comment_lines": "60 lines", "units_row": "5s"}), COMMENTS, ending="txt"),
    _row("units-row", "a row of units below the names", "loggers, labs", "readr 179", "the units are no row", HEAD + "cm,m/s,-\n" + body(),
         reads(says={"units_row": "cm and m/s"}), UNITS),
    _row("units-in-brackets", "[cm], [m/s] and [-] below the names", "labs", "pandas 10898", "the units are no row and no class",
         HEAD + "[cm],[m/s],[-]\n" + body(n=30), reads(rows=30, says={"units_row": "units"}), UNITS),
    _row("units-switched-off", "the same with repairs: false", "anyone", "-", "the units are a row", HEAD + "cm,m/s,-\n" + body(),
         Reads(TASK, silent=("units_row",)), spares=UNITS, repairs=False),
    _row("first-row-like-units", "a first row m, s, x whose class occurs again", "made", "-", "a row of data", _UNITS_LIKE,
         Reads(TASK, rows=N, classes=("x", "y"), says=_NO_NUMBERS, silent=_QUIET), spares=UNITS),
    _row("flags-in-first-row", "M and T in place of numbers in the first row", "weather stations", "NOAA", "a row of data", _FLAGS,
         Reads(TASK, rows=N, classes=("x", "y"), says=_NO_NUMBERS, silent=_QUIET), spares=UNITS),
    _row("table-of-units", "a table with a column of units", "teachers", "made", "units are data",
         "unit,factor,class\n" + "".join(f"{['m', 'kg', 's', 'mg/L'][i % 4]},{i * 7 % 50}.5,{'xy'[i % 2]}\n" for i in range(N)),
         Reads(TASK, rows=N, columns=("unit", "factor"), silent=_QUIET), spares=UNITS),
    _row("settings-of-an-instrument", "45 lines Key: value before the names", "instruments", "user reports", "skipped",
         "".join(f"Key {i}: a value\n" for i in range(45)) + PLAIN, reads(says={"lines_before_header": "45 lines"}), LINES),
    _row("titles-of-a-spreadsheet", "two titles with commas to the width", "Excel users", "user reports", "skipped",
         "A study of things,,\nby me,,\n" + PLAIN, reads(says={"lines_before_header": "2 rows"}), LINES),
    _row("sparse-first-rows", "rows with one cell right below the names", "surveys", "made", "rows of data",
         HEAD + "".join(f"{i}.5,,{'xy'[i % 2]}\n" for i in range(4)) + body(), _PLAIN(rows=N + 4), spares=LINES),
    _row("two-rows-of-names", "merged cells: Water over depth and flow", "Excel users", "pandas 4679", "Water depth, Water flow", TWO,
         reads("Site", "Water depth", "Water flow", says={"header_rows": "Water depth"}), LEVELS),
    _row("two-rows-of-names-and-units", "the same with units below", "labs", "readxl 486", "names and no units",
         TWO.replace("flow,\n", "flow,\n,cm,m/s,-\n", 1), reads("Site", "Water depth", "Water flow", says={"units_row": "cm"}), LEVELS),
    _row("lower-name-asked-for", "label_column: NO3 below Nutrients", "labs", "pandas 4679", "the column is found",
         "Site,Nutrients,,\n,NO3,PO4,n\n" + "".join(f"s{i % 4},{i * 7 % 50}.{i % 9},{i * 3 % 41}.5,{i % 9}\n" for i in range(N)),
         Reads("tabular-regression", label="Nutrients NO3"), LEVELS, label_column="NO3"),
    _row("first-row-of-texts", "a first row of texts below full names", "made", "-", "a row of data", HEAD + "trace,unclear,x\n" + body(),
         Reads(TASK, rows=N, says=_NO_NUMBERS, silent=_QUIET), spares=LEVELS),
    _row("names-of-rows", "a first column without a name", "R users", "readr", "an index, no second row of names",
         ",depth,flow,class\n" + "".join(f"car {i},{line(i)}\n" for i in range(N)), _PLAIN(), spares=LEVELS),
    _row("totals-row", "a last row Total with the sums", "Excel users", "datatable 1330", "left out",
         "site,depth,flow,class\n" + "".join(f"s{i % 4},{line(i)}\n" for i in range(N)) + f"Total,{sum(_DEPTHS):.1f},{sum(_FLOWS):.1f},\n",
         reads("site", "depth", "flow", says={"totals_row": "1 row"}), TOTALS),
    _row("means-row", "a last row Mean", "Excel users", "datatable 1330", "left out",
         "site,depth,flow,class\n" + "".join(f"s{i % 4},{line(i)}\n" for i in range(N)) + f"Mean,{sum(_DEPTHS) / N:.2f},{sum(_FLOWS) / N:.2f},\n",
         reads("site", "depth", "flow", says={"totals_row": "1 row"}), TOTALS),
    _row("class-called-total", "a company Total with values of its own, last", "economists", "made", "a row of data",
         "firm,depth,flow,class\n" + "".join(f"f{i % 4},{line(i)}\n" for i in range(N)) + "Total,4.5,3.3,x\n",
         Reads(TASK, rows=N + 1, silent=_QUIET), spares=TOTALS),
    _row("notes-below", "Source: and * below the data, with commas to the width", "statistical offices", "user reports", "left out",
         PLAIN + "Source: the survey of 2020,,\n* by hand,,\n", reads(says={"notes": "2 rows"}), NOTES),
    _row("notes-as-lines", "notes as plain lines below the data", "statistical offices", "user reports", "left out",
         PLAIN + "\nSource: the survey\nof 2020\n", reads(says={"notes": "2 lines"}), NOTES),
    _row("last-text-alone", "free texts first, the last without other cells", "surveys", "made", "a row without a label, no note",
         "text,class,n\n" + "".join(f"this is the text {i} of many,{'xy'[i % 2]},{i}\n" for i in range(N)) + "see here for more,,\n",
         Reads("text-classification", rows=N, says={"empty_rows": "the label is empty"}, silent=_QUIET), spares=NOTES),
    _row("between-blanks", "columns aligned by blanks", "UCI, Fortran, R", "UCI auto-mpg", "three columns", BETWEEN, reads(), BLANKS, ending="dat"),
    _row("at-fixed-places", "columns at fixed places, with blanks in cells", "Lotus, Excel prn", "made", "three columns", PLACES,
         reads("depth", "place"), BLANKS, ending="prn"),
    _row("decimal-commas-between-blanks", "1,5 and 2,5 separated by blanks", "European loggers", "made", "numbers with decimal commas",
         "depth  flow  class\n" + "".join(f"{i * 7 % 50},{i % 10}  {i * 3 % 41},5  {i % 2}\n" for i in range(N)),
         reads(classes=("0", "1")), BLANKS, ending="asc"),
    _row("quotes-between-blanks", "numbers by blanks, a tab, and a quoted name", "UCI", "UCI auto-mpg", "nine columns, not two",
         "".join(f'{i * 7 % 50}.0   {i % 3 * 2 + 4}   {i * 3 % 41}.5   {i % 2}\t"chevrolet chevelle {i % 5}"\n' for i in range(N)),
         Reads(rows=N, says={"table": "separated by blanks"}), BLANKS, ending="data", label_column="column 4"),
    _row("pixels-in-a-cell", "a CSV whose cells hold numbers with blanks", "fer2013", "Kaggle", "three columns",
         "class,pixels,use\n" + "".join(f"{i % 2},{i % 50} {i % 41} {i % 7},a\n" for i in range(N)),
         Reads(says={"table": "separated by commas"}), spares=BLANKS),
    _row("prose", "a text of lines", "everybody", "made", "no table", "Dear John,\n\nHello, how are you\nfine, thanks\nBye\n" * 9,
         Refused("no_table", ("no delimiter",)), spares=BLANKS, ending="dat"),
    _row("ending-data", "a CSV called .data", "UCI", "UCI", "a table", PLAIN, reads(), ENDINGS, ending="data"),
    _row("no-ending", "a CSV without an ending", "Unix users", "made", "a table", PLAIN, reads(), ENDINGS, ending=""),
    _row("binary-dat", "bytes called .dat", "loggers", "made", "refused as no text", bytes(range(256)) * 9, Refused("no_table", ("not a text file",)),
         spares=ENDINGS, ending="dat"),
)  # fmt: skip
