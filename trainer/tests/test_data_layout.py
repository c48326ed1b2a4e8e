"""Tables as instruments and people write them: what is before, below and above the data, and what only looks like it."""

import random

import pytest
from table_files import read, rows_of

from trainer.data.formats.table import NotATable
from trainer.errors import UserError

ROWS = "".join(f"s{i},{i}.5,{i * 3},{'xy'[i % 2]}\n" for i in range(12))
PLAIN = "site,depth,n,class\n" + ROWS
TOA5 = (
    '"TOA5","tower","CR1000","1234","CR1000.Std.22","CPU:a.CR1","4567","Table1"\n"TIMESTAMP","RECORD","batt","temp"\n"TS","RN","Volts","Deg C"\n'
    '"","","Min","Avg"\n' + "".join(f'"2020-01-01 00:{i:02d}:00",{i},12.{i},{i * 1.5}\n' for i in range(12))
)
TOA5_OF_8 = (
    TOA5.replace('"batt","temp"', '"batt","temp","a","b","c","d"')
    .replace('"Deg C"', '"Deg C","%","%","%","%"')
    .replace('"Avg"\n', '"Avg","Avg","Avg","Avg","Avg"\n')
    .replace(".5\n", ".5,1,2,3,4\n")
    .replace(".0\n", ".0,1,2,3,4\n")
)
RDB = "agency\tsite\tday\tflow\tcd\n5s\t15s\t20d\t14n\t10s\n" + "".join(f"USGS\t0{i}\t2020-01-{i + 1:02d}\t{i}.5\tA\n" for i in range(20))
LEVELS = ",,Nutrients,,Metals,\nSite,Day,NO3,PO4,Fe,Cu\n" + "".join(f"s{i},d{i},{i}.5,{i * 2},7{i},3{i}\n" for i in range(12))


def comments(n: int, mark: str = "#") -> str:
    return "".join(f"{mark} station {i}, of the network, with commas\n" for i in range(n))


@pytest.mark.parametrize(
    ("name", "content", "columns", "rows", "decided"),
    [
        pytest.param("a.csv", comments(400) + PLAIN, ["site", "depth", "n", "class"], 12, {"comment_lines": 400}, id="hundreds of comments"),
        pytest.param(
            "a.csv", comments(3, "%") + "\n" + PLAIN, ["site", "depth", "n", "class"], 12, {"comment_lines": 3}, id="comments with a percent sign"
        ),
        pytest.param(
            "a.csv",
            comments(2) + "# site,depth,n,class\n" + ROWS,
            ["site", "depth", "n", "class"],
            12,
            {"comment_lines": 3},
            id="names in the last comment",
        ),
        pytest.param(
            "a.dat",
            "# a station\n#YY MM WSPD\n#yr mo m/s\n" + "".join(f"2020 {i} {i}.5\n" for i in range(12)),
            ["YY", "MM", "WSPD"],
            12,
            {"comment_lines": 3},
            id="names and units in comments",
        ),
        pytest.param(
            "a.csv",
            comments(2) + PLAIN + "# end, of, the file\n",
            ["site", "depth", "n", "class"],
            12,
            {"comment_lines": 2, "notes": 1},
            id="a comment at the end",
        ),
        pytest.param("a.dat", TOA5, ["TIMESTAMP", "RECORD", "batt", "temp"], 12, {"lines_before_header": 1, "units_row": 2}, id="a logger"),
        pytest.param(
            "a.dat",
            TOA5_OF_8,
            ["TIMESTAMP", "RECORD", "batt", "temp", "a", "b", "c", "d"],
            12,
            {"lines_before_header": 1, "units_row": 2},
            id="a logger with as many columns as its first line",
        ),
        pytest.param("a.rdb", comments(60) + RDB, ["agency", "site", "day", "flow", "cd"], 20, {"comment_lines": 60, "units_row": 1}, id="USGS"),
        pytest.param(
            "a.txt", comments(60) + RDB, ["agency", "site", "day", "flow", "cd"], 20, {"comment_lines": 60, "units_row": 1}, id="USGS called txt"
        ),
        pytest.param(
            "a.csv",
            "".join(f"Key {i}: a value\n" for i in range(45)) + PLAIN,
            ["site", "depth", "n", "class"],
            12,
            {"lines_before_header": 45},
            id="settings before",
        ),
        pytest.param(
            "a.csv",
            "A study of things,,,\nby me,,,\n,,,\n" + PLAIN,
            ["site", "depth", "n", "class"],
            12,
            {"lines_before_header": 2},
            id="titles of a spreadsheet",
        ),
        pytest.param(
            "a.csv", PLAIN.replace("class\n", "class\n-,m,count,[-]\n", 1), ["site", "depth", "n", "class"], 12, {"units_row": 1}, id="units"
        ),
        pytest.param(
            "a.csv",
            LEVELS,
            ["Site", "Day", "Nutrients NO3", "Nutrients PO4", "Metals Fe", "Metals Cu"],
            12,
            {"header_rows": 2},
            id="two rows of names",
        ),
        pytest.param(
            "a.csv",
            LEVELS.replace("Cu\n", "Cu\n,,mg/L,mg/L,ug/L,ug/L\n", 1),
            ["Site", "Day", "Nutrients NO3", "Nutrients PO4", "Metals Fe", "Metals Cu"],
            12,
            {"header_rows": 2, "units_row": 1},
            id="two rows of names and units",
        ),
        pytest.param(
            "a.csv",
            "Site,,Nutrients,,\n,,NO3,PO4,\n" + "".join(f"s{i},x,{i}.5,{i * 2},7{i}\n" for i in range(9)),
            ["Site", "column 2", "Nutrients NO3", "Nutrients PO4", "column 5"],
            9,
            {"header_rows": 2},
            id="names above and below",
        ),
        pytest.param(
            "a.csv",
            PLAIN + f"Total,{sum(i + 0.5 for i in range(12))},{sum(i * 3 for i in range(12))},\n",
            ["site", "depth", "n", "class"],
            12,
            {"totals_row": 1},
            id="totals",
        ),
        pytest.param("a.csv", PLAIN + f"Mean,{6.0},{16.5},\n", ["site", "depth", "n", "class"], 12, {"totals_row": 1}, id="means"),
        pytest.param(
            "a.csv",
            PLAIN + "Source: the survey of 2020,,,\n* estimated by hand,,,\n",
            ["site", "depth", "n", "class"],
            12,
            {"notes": 2},
            id="notes of a spreadsheet",
        ),
        pytest.param("a.csv", PLAIN + "\nSource: the survey of 2020\n", ["site", "depth", "n", "class"], 12, {"notes": 1}, id="notes as lines"),
    ],
)
def test_what_is_around_the_data_is_told_from_them(tmp_path, name, content, columns, rows, decided):
    table, decisions = read(tmp_path, name, content)
    assert (table.columns, len(table.rows), table.bad_rows) == (columns, rows, 0)
    assert {k: v for k, v in decisions.items() if k != "table"} == decided


FIRST_OF_UNITS = "a,b,c\nm,s,x\n" + "".join(f"{i},{i + 1},{'xy'[i % 2]}\n" for i in range(12))
FLAGS = "id,t,r\nS0,M,T\n" + "".join(f"S{i + 1},{i}.5,{i}\n" for i in range(12))
TEXTS_FIRST = "id,t,r\nS0,trace,n.d.\n" + "".join(f"S{i + 1},{i}.5,{i}\n" for i in range(40))
CONVERSION = "quantity,unit,factor\nlength,m,1\nmass,kg,2\ntime,s,3\narea,ha,4\n"
DURATIONS = "lap,split\n5s,6s\n7s,8s\n9s,6s\n5s,5s\n"
TOTAL_CLASS = "region,n,m\n" + "".join(f"r{i},{i},{i * i}.5\n" for i in range(6)) + "Total,4,3.3\n"
TOTAL_OFTEN = "sex,n\nmale,1\nfemale,2\nTotal,3\nmale,4\nfemale,5\nTotal,15\n"
FREE_TEXTS = "text,label,n\n" + "".join(f"this is a text {i},{'ab'[i % 2]},{i}\n" for i in range(12)) + "see here for more,,\n"
ROW_NAMES = ",mpg,cyl\nMazda RX4,21,6\n" + "".join(f"Car {i},2{i},{i % 3}\n" for i in range(12))
TAGS = "".join(f"#ff00{i:02d},red{i}\n" for i in range(12))
HALF_TAGS = "tag,n\n" + "".join(f"{'#' if i < 8 else ''}t{i},{i}\n" for i in range(12))
SPARSE = "a,b,c,d\n" + "".join(f"{i},,,\n" for i in range(4)) + "".join(f"{i},1,2,3\n" for i in range(12))
NO_NAMES = "1,2,x\n" + "".join(f"{i},{i * 2},{'xy'[i % 2]}\n" for i in range(12))


@pytest.mark.parametrize(
    ("content", "columns", "rows"),
    [
        pytest.param(FIRST_OF_UNITS, ["a", "b", "c"], 13, id="a first row like units whose class stands in others"),
        pytest.param(FLAGS, ["id", "t", "r"], 13, id="flags in place of numbers"),
        pytest.param(TEXTS_FIRST, ["id", "t", "r"], 41, id="texts in place of numbers"),
        pytest.param(CONVERSION, ["quantity", "unit", "factor"], 4, id="a table of units"),
        pytest.param(DURATIONS, ["lap", "split"], 4, id="durations like the formats of USGS"),
        pytest.param(TOTAL_CLASS, ["region", "n", "m"], 7, id="a class called total"),
        pytest.param(TOTAL_OFTEN, ["sex", "n"], 6, id="a total in each group"),
        pytest.param(FREE_TEXTS, ["text", "label", "n"], 13, id="free texts in the first column"),
        pytest.param(ROW_NAMES, ["column 1", "mpg", "cyl"], 13, id="names of rows without a name"),
        pytest.param(TAGS, ["column 1", "column 2"], 12, id="colours with a mark of comments"),
        pytest.param(HALF_TAGS, ["tag", "n"], 12, id="tags"),
        pytest.param(
            "#chrom,start,end\n" + "".join(f"chr{i % 3},{i},{i + 5}\n" for i in range(12)), ["#chrom", "start", "end"], 12, id="a name with a mark"
        ),
        pytest.param(";a;b\n" + "".join(f"{i};{i}.5;x\n" for i in range(12)), ["column 1", "a", "b"], 12, id="semicolons before the first name"),
        pytest.param(SPARSE, ["a", "b", "c", "d"], 16, id="rows with one cell at the beginning"),
        pytest.param(NO_NAMES, ["column 1", "column 2", "column 3"], 13, id="numbers without names"),
        pytest.param(PLAIN, ["site", "depth", "n", "class"], 12, id="a plain table"),
    ],
)
def test_what_only_looks_like_it_stays_data(tmp_path, content, columns, rows):
    table, decisions = read(tmp_path, "a.csv", content)
    assert (table.columns, len(table.rows), table.bad_rows) == (columns, rows, 0)
    assert set(decisions) == {"table"}


def test_without_repairs_rows_are_read_as_they_are_written(tmp_path):
    content = PLAIN.replace("class\n", "class\n-,m,count,[-]\n", 1) + "Total,72,198,\n"
    table, decisions = read(tmp_path, "a.csv", content, repairs=False)
    assert len(table.rows) == 14
    assert set(decisions) == {"table"}
    assert len(read(tmp_path, "a.csv", comments(50) + PLAIN, repairs=False)[0].rows) == 12


def test_the_number_of_a_row_is_that_of_its_line_below_comments_and_titles(tmp_path):
    assert [n for n, _ in read(tmp_path, "a.csv", comments(5) + PLAIN)[0].rows][:2] == [7, 8]
    assert [n for n, _ in read(tmp_path, "a.csv", "Title,,,\n" + PLAIN)[0].rows][:2] == [3, 4]


def test_the_lower_name_of_a_column_is_kept(tmp_path):
    assert read(tmp_path, "a.csv", LEVELS)[0].short["Nutrients NO3"] == "NO3"


@pytest.mark.parametrize(
    ("comment", "fills"),
    [
        ("# missing value: -9999", ("-9999",)),
        ("# _FillValue = -99.9", ("-99.9",)),
        ("# NODATA_value -9999", ("-9999",)),
        ("# Missing data is coded as -999.0", ("-999.0",)),
        ("# fill value 9.96921e+36", ("9.96921e+36",)),
        ("# 12 missing values", ()),
        ("# missing values: 12", ()),
        ("# last change 2020-01-02", ()),
        ("# the missing data of the station were found on page 9", ()),
    ],
)
def test_comments_name_the_value_of_a_gap(tmp_path, comment, fills):
    assert read(tmp_path, "a.csv", comment + "\n# of the network\n" + PLAIN)[0].fills == fills


BLANKS = "  x    y   z\n" + "".join(f"  {i:3d}  {i * 1.5:7.2f}   {i % 3}\n" for i in range(12))
PLACES = "Name        City         Val\n" + "".join(
    f"{n:12s}{c:12s}{v:5.1f}\n"
    for n, c, v in [("Al B", "New York", 3.2), ("Cy", "Rome", 44), ("Di E", "Oslo", 5), ("G", "Los Angeles", 6), ("Hans", "", 7)]
)
CARS = "".join(f'18.{i}   8   307.0      3504.   1\t"chevrolet chevelle {i}"\n' for i in range(12))


@pytest.mark.parametrize(
    ("name", "content", "columns", "first"),
    [
        pytest.param("a.dat", BLANKS, ["x", "y", "z"], ["0", "0.00", "0"], id="blanks"),
        pytest.param("a", BLANKS, ["x", "y", "z"], ["0", "0.00", "0"], id="no ending"),
        pytest.param("a.prn", PLACES, ["Name", "City", "Val"], ["Al B", "New York", "3.2"], id="columns at fixed places"),
        pytest.param(
            "a.data", CARS, [f"column {i}" for i in range(1, 7)], ["18.0", "8", "307.0", "3504.", "1", "chevrolet chevelle 0"], id="quotes and a tab"
        ),
        pytest.param("a.asc", "".join(f" 1,{i}   2,{i}\n" for i in range(12)), ["column 1", "column 2"], ["1,0", "2,0"], id="decimal commas"),
        pytest.param(
            "a.tsv", "".join(f"{i % 3}\t0.1 0.2 0.{i}\n" for i in range(12)), ["column 1", "column 2"], ["0", "0.1 0.2 0.0"], id="vectors stay cells"
        ),
        pytest.param(
            "a.csv", "n,v,u\n" + "".join(f"{i},70 8{i} 90,a\n" for i in range(12)), ["n", "v", "u"], ["0", "70 80 90", "a"], id="pixels stay cells"
        ),
    ],
)
def test_columns_between_blanks(tmp_path, name, content, columns, first):
    table, _ = read(tmp_path, name, content)
    assert (table.columns, rows_of(table)[0]) == (columns, first)


PROSE = "Dear John,\n\nHello, how are you\nfine, thanks\nBye\n" * 30


@pytest.mark.parametrize("name", ["a.txt", "a", "a.dat"])
@pytest.mark.parametrize("content", [PROSE, "the word and\nanother line of\nthree short words\n" * 9, "it is 5 of 7\nin the 9 lives\n" * 9])
def test_prose_is_no_table(tmp_path, name, content):
    with pytest.raises(NotATable):
        read(tmp_path, name, content)


@pytest.mark.parametrize("seed", range(30))
def test_mutated_tables_of_instruments_are_read_or_refused(tmp_path, seed):
    """Any damage ends in a table whose rows fit its columns, or in a refusal."""
    chance = random.Random(seed)
    sources = [TOA5, comments(5) + RDB, LEVELS, BLANKS, PLACES, CARS, PLAIN + "Total,72,198,\nNote: by hand,,,\n"]
    for _ in range(20):
        text = list(chance.choice(sources))
        for _ in range(chance.randrange(1, 30)):
            at = chance.randrange(len(text))
            text[at : at + chance.choice([0, 1, 5])] = chance.choice(["", "\n", ",", '"', "#", "\t", " ", "9", "-9999", "\r", "é"])
        try:
            table, _ = read(tmp_path, chance.choice(["a.csv", "a.dat", "a", "a.txt", "a.prn"]), "".join(text))
        except NotATable:
            continue
        except UserError as e:
            assert e.code == "open_quote"
            continue
        assert all(len(row) == len(table.columns) for _, row in table.rows)
