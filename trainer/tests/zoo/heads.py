"""Rows about names, units, sums and numbers of tables that are easily taken for something else."""

from collections.abc import Callable
from functools import partial

from trainer.tests.table_files import workbook
from trainer.tests.zoo.gaps import FILLS, measure, table
from trainer.tests.zoo.row import Reads, Row
from trainer.tests.zoo.tables import LEVELS, TASK, TOTALS, UNITS, N, body, file, line, reads

YEARS, POINTS, SUBTOTALS = "numbers as names of columns", "points that group thousands", "sums below groups"
UNCLEAR = "rows that may sum up"
_TOA5 = '"TOA5","tower","CR1000","1234","CR1000.Std.22","CPU:a.CR1","4567","Table1"\n"TIMESTAMP","RECORD","depth","flow","class"\n'
_STAMPS = "".join(f'"2020-01-{1 + i // 24:02d} {i % 24:02d}:00:00",{i},{line(i)}\n' for i in range(N))
_TITLED = [["Lakes 2019", None, None, None], ["Site", "Water", None, "class"], [None, "depth", "flow", None]]
_UNTITLED = [["Group", None, None, None], ["A", "depth", "flow", "class"]]
_CELLS = [[f"s{i}", i * 0.37 % 9, i * 1.3 % 7, "xy"[i % 2]] for i in range(N)]


def german(number: float, decimals: int) -> str:
    return f"{number:,.{decimals}f}".replace(",", "_").replace(".", ",").replace("_", ".")


def towns(people: Callable[[int], str], last: str = "", n: int = N) -> str:
    """Towns with the number of their people, an income with a decimal comma and a kind."""
    rows = [f"Ort{i};{people(i)};{german(_income(i), 2)};{'Stadt' if i % 3 else 'Dorf'}" for i in range(n)]
    return "\n".join(["Gemeinde;Einwohner;Einkommen;Typ", *rows, *([last] if last else [])]) + "\n"


def _wealth(i: int) -> str:
    return "rich" if i > 40 else "poor"


def _people(i: int) -> int:
    return 100 + i * 731 % 9000


def _income(i: int) -> float:
    return 15000.5 + i * 317 % 9000


def _mean(of: Callable[[int], float]) -> float:
    return sum(map(of, range(N))) / N


def _grouped(right: bool) -> str:
    lines = ["region,site,sales,class"]
    for k, region in enumerate(("north", "south", "east")):
        sales = [(i * 7 + k * 3) % 50 + 0.5 for i in range(20)]
        lines += [f"{region},{region} {i},{s},{'xy'[i % 2]}" for i, s in enumerate(sales)]
        lines.append(f"{region} total,,{sum(sales) if right else 9.5},{'' if right else 'x'}")
    return "\n".join(lines) + "\n"


def _row(name, layout, who, source, expects, content, outcome, rule="", spares="", ending="csv", **settings) -> Row:
    return Row(name, layout, who, source, expects, file(f"t.{ending}", content), outcome, rule, spares, settings)


_reads = partial(Reads, TASK)
ROWS = (
    _row("years-as-names", "Country, 2015, 2016, 2017, group", "World Bank users", "data.worldbank.org", "years are names",
         "Country,2015,2016,2017,group\n" + "".join(f"C{i},{i * 3}.5,{i * 3}.1,{i * 2},{'rich' if i > 40 else 'poor'}\n" for i in range(80)),
         _reads(rows=80, classes=("poor", "rich"), label="group", columns=("2015", "2016", "2017")), YEARS),
    _row("years-above-large-numbers", "the same with values from 500 to 90000", "World Bank users", "data.worldbank.org", "years are names",
         "Country,2015,2016,2017,group\n" + "".join(f"land {i},{500 + i * 977 % 90000},{i * 991 % 90000},{i * 97},{_wealth(i)}\n" for i in range(80)),
         _reads(rows=80, classes=("poor", "rich"), columns=("2015", "2016", "2017")), YEARS),
    _row("years-of-projects", "no names; start, middle and end of projects as years", "funders", "made", "a row of data",
         "".join(f"project,{2015 + i % 5},{2016 + i * 3 % 7},{2017 + i * 7 % 9},{_wealth(i)}\n" for i in range(80)),
         _reads(rows=80, classes=("poor", "rich")), spares=YEARS),
    _row("wavelengths-as-names", "sample, 400, 410, … and a concentration, decimal commas", "NIR spectroscopy", "made", "wavelengths are names",
         ";".join(["sample", *(str(400 + 10 * j) for j in range(9)), "content"]) + "\n"
         + "".join(";".join([f"m{i}", *(f"0,{100 + i * 7 % 50 + j}" for j in range(9)), f"{i * 3 % 41},5"]) + "\n" for i in range(N)),
         Reads("tabular-regression", rows=N, label="content"), YEARS),
    _row("doses-without-names", "no names, and a first row of 100, 200 and 300", "labs", "made", "a row of data",
         "start,100,200,300,x\n" + "".join(f"run,{i * 7 % 500},{i * 11 % 500},{i * 13 % 500},{'xy'[i % 2]}\n" for i in range(N)),
         _reads(rows=N + 1, classes=("x", "y")), spares=YEARS),
    _row("toa5-strange-units", "TOA5 with units and processing that nobody knows", "flux towers", "Campbell Scientific", "two rows are no data",
         _TOA5 + '"TS","RN","frobs","",""\n"","","Xyz","Smp","Smp"\n' + _STAMPS, reads(says={"units_row": "2 rows"}), UNITS, ending="dat"),
    _row("toa5-without-units", "TOA5 whose rows of units were cut off", "flux towers", "made", "every row is data", _TOA5 + _STAMPS,
         _reads(rows=N, silent=("units_row",)), spares=UNITS, ending="dat"),
    _row("toa5-degrees", "DegC, Deg and Samples below the names of a CSV", "loggers", "made", "units",
         "depth,flow,class\nDegC,Samples,-\n" + body(), reads(says={"units_row": "DegC"}), UNITS),
    _row("title-above-two-rows-of-names", "a title, then two rows of names", "Excel users", "made", "Water depth, Water flow",
         workbook({"D": [*_TITLED, *_CELLS]}), _reads(rows=N, columns=("Water depth", "Water flow"), says={"lines_before_header": "1 row"}),
         LEVELS, ending="xlsx"),
    _row("title-and-blank-above-names", "a title, a blank row, then two rows of names", "Excel users", "made", "Water depth, Water flow",
         workbook({"D": [_TITLED[0], [], *_TITLED[1:], *_CELLS]}), _reads(rows=N, columns=("Water depth", "Water flow")), LEVELS, ending="xlsx"),
    _row("title-above-one-row-of-names", "one word above the names", "Excel users", "made", "a title, not a part of the names",
         workbook({"D": [*_UNTITLED, *_CELLS]}), _reads(rows=N, columns=("depth", "flow"), silent=("header_rows",)), spares=LEVELS, ending="xlsx"),
    _row("thousands-points", "731 and 1.731 beside incomes like 15.000,50", "statistical offices", "destatis.de", "1.731 are 1731 people",
         towns(lambda i: german(_people(i), 0)), _reads(rows=N, says={"numbers": "Einkommen and Einwohner"}), POINTS, label_column="Typ"),
    _row("three-decimals-with-points", "0.731 and 1.731 beside incomes like 15.000,50", "made", "made", "three decimals",
         towns(lambda i: f"{_people(i) / 1000:.3f}"), _reads(rows=N, says={"numbers": '"Einkommen"'}), spares=POINTS, label_column="Typ"),
    _row("german-sums", "Summe with points and decimal commas, last", "statistical offices", "destatis.de", "left out",
         towns(lambda i: german(_people(i), 0), f"Summe;{german(sum(map(_people, range(N))), 0)};{german(sum(map(_income, range(N))), 2)};"),
         Reads("tabular-regression", rows=N, says={"totals_row": "Summe"}), TOTALS, label_column="Einkommen"),
    _row("german-means", "Mittelwert with decimal commas, last", "labs", "made", "left out",
         towns(lambda i: german(_people(i), 0), f"Mittelwert;{german(_mean(_people), 1)};{german(_mean(_income), 2)};"),
         Reads("tabular-regression", rows=N, says={"totals_row": "Mittelwert"}), TOTALS, label_column="Einkommen"),
    _row("means-of-more-rows", "Mittelwert and Stabw. of rows that were taken out", "labs", "made", "data, with a warning",
         towns(lambda i: german(_people(i), 0), "Mittelwert;999,9;17.123,45;\nStabw.;55,5;99,99;"),
         Reads("tabular-regression", rows=N + 2, says={"unclear_totals": "Mittelwert and Stabw."}, silent=("totals_row",)), UNCLEAR,
         label_column="Einkommen"),
    _row("mean-as-a-method", "mean and median among the rows, too", "statisticians", "made", "data, no warning",
         "method,error,class\n" + "".join(f"{('mean', 'mode', 'median')[i % 3]},{i * 7 % 50}.5,{'xy'[i % 2]}\n" for i in range(N)),
         _reads(rows=N, silent=("totals_row", "unclear_totals")), spares=UNCLEAR),
    _row("somebody-called-max", "a person Max, whose age is the largest, last", "schools", "made", "a row of data",
         "name,age,score\n" + "".join(f"p{i},{5 + i % 8},{i * 7 % 90}.5\n" for i in range(N)) + "Max,12,61.5\n",
         _reads(rows=N + 1, silent=("totals_row", "unclear_totals")), spares=TOTALS, label_column="age"),
    _row("a-max-of-ages", "the same without scores", "schools", "made", "a row of data",
         "name,age,class\n" + "".join(f"p{i},{5 + i % 8},{'xy'[i % 2]}\n" for i in range(N)) + "Max,12,x\n",
         _reads(rows=N + 1, silent=("totals_row",)), spares=TOTALS),
    _row("sums-below-groups", "north total, south total and east total with the sums", "Excel users", "made", "left out", _grouped(True),
         _reads(rows=60, says={"totals_row": "3 rows"}), SUBTOTALS, label_column="class"),
    _row("groups-called-total", "the same names with values of their own", "made", "made", "rows of data", _grouped(False),
         _reads(rows=63, silent=("totals_row",)), spares=SUBTOTALS, label_column="class"),
    _row("fill-999.25", "-999.25 in a measure", "well logs (LAS)", "CWLS", "empty cells",
         table(lambda i: "-999.2500" if i % 9 == 0 else measure(i), lambda i: "xy"[i % 2]), _reads(says={"fill_values": "-999.25"}), FILLS),
    _row("prices-of-999.99", "prices up to 400, some of 999.99", "shops", "made", "a price, also in the label",
         table(measure, lambda i: "999.99" if i % 30 == 0 else f"{i * 37 % 401}.99"),
         Reads("tabular-regression", rows=120, silent=("fill_values",)), spares=FILLS),
    _row("fill-list-with-a-comma", "data.fill_values: -99,9", "Europeans", "made", "-99.9 is empty, 9 is a number",
         "a,b,class\n" + "".join(f"{-99.9 if i % 9 == 0 else i % 25 + 0.5},{i % 10},{'xy'[i % 2]}\n" for i in range(N)),
         _reads(rows=N, says={"fill_values": "cells with -99.9 in a"}), FILLS, fill_values="-99,9"),
)  # fmt: skip
