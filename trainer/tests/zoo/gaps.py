"""Rows about cells and labels that do not mean themselves: fill values, errors of spreadsheets, spellings, names of files."""

from pathlib import Path

from trainer.tests.zoo.row import Reads, Refused, Row, write
from trainer.tests.zoo.tables import TASK, file

N = 120
FILLS, SPELLINGS, ERRORS, NAMES = "fill values", "spellings of one class", "errors of spreadsheets", "tables named by their class"
LIMITS = "limits of what was measured"
PLACES = "names of tables that may be classes or places"


def table(first, label, header: str = "a,b,label", note: str = "", n: int = N) -> str:
    """Rows with a cell of ``first`` and of ``label``, each a function of the number of the row."""
    return note + header + "\n" + "".join(f"{first(i)},{i * 7 % 50}.{i % 9},{label(i)}\n" for i in range(n))


def measure(i: int) -> str:
    return f"{i * 3 % 41}.{i * 7 % 100:02d}"


def label(i: int) -> str:
    return "xy"[i % 2]


def _regression(says=None, rows=N, **settings):
    return Reads("tabular-regression", rows=rows, says=says or {}, **settings)


def _row(name, layout, who, source, expects, content, outcome, rule="", spares="", ending="csv", **settings) -> Row:
    return Row(name, layout, who, source, expects, file(f"data.{ending}", content), outcome, rule, spares, settings)


def _reads(says: dict[str, str] | None = None, rows: int = N, classes=("x", "y"), silent: tuple[str, ...] = ()) -> Reads:
    return Reads(TASK, rows=rows, classes=classes, says=says or {}, silent=silent, encoder={})


_KEPT = ("fill_values",)


def _flowers(*names: str, header: str = "length,width", extra: str = ""):
    def make(folder: Path) -> None:
        for k, name in enumerate(names):
            lines = [f"{k + i * 7 % 50 / 9:.3f},{k * 2 + i * 3 % 50 / 7:.3f}" + (f",{extra[i % len(extra)]}" if extra else "") for i in range(40)]
            write(folder, name, header + "\n" + "\n".join(lines) + "\n")

    return make


ROWS = (
    _row("fill-9999", "-9999 in a measure", "AmeriFlux, NCSA", "ameriflux-pipeline", "empty cells",
         table(lambda i: -9999 if i % 9 == 0 else measure(i), label), _reads({"fill_values": "14 cells with -9999 in a"}), FILLS),
    _row("fill-99.9", "-99.9 in a measure", "NASA POWER", "nasapower 36", "empty cells",
         table(lambda i: -99.9 if i % 9 == 0 else measure(i), label), _reads({"fill_values": "-99.9"}), FILLS),
    _row("fill-netcdf", "9.96921e+36 in a measure", "users of NetCDF", "siphon 213", "empty cells",
         table(lambda i: "9.96921e+36" if i % 9 == 0 else measure(i), label), _reads({"fill_values": "9.96921e+36"}), FILLS),
    _row("below-a-limit", "<0.5 in a measure", "laboratories, EPA", "geochemistry", "half of the limit",
         table(lambda i: "<0.5" if i % 3 == 0 else measure(i), label), _reads({"limits": "40 cells in a are limits"}), LIMITS),
    _row("below-a-limit-in-label", "< 0.5 in the number to predict", "laboratories, EPA", "geochemistry", "half of the limit, with a warning",
         table(measure, lambda i: "< 0.5" if i % 3 == 0 else measure(i * 5)), _regression({"limits": "40 of 120 values"}), LIMITS),
    _row("groups-of-ages", "<18, 18-64 and >64 as a category", "surveys", "made", "a category",
         table(lambda i: ["<18", "18-64", ">64"][i % 3], label), _reads(silent=("limits",)), spares=LIMITS),
    _row("incomes-in-two-classes", "<=50K and >50K as the label", "adult (UCI)", "UCI adult", "two classes",
         table(measure, lambda i: ["<=50K", ">50K"][i % 2]), _reads(classes=("<=50K", ">50K"), silent=("limits",)), spares=LIMITS),
    _row("fill-in-label", "-9999 in the number to predict", "AmeriFlux", "methane-gapfill-ml 10", "rows without a label",
         table(measure, lambda i: -9999 if i % 12 == 0 else measure(i * 5)),
         _regression({"empty_rows": "10 rows", "fill_values": "-9999"}, rows=110), FILLS),
    _row("fill-in-class", "-9999 among the classes 0, 1 and 2", "labs", "F4", "no class",
         table(measure, lambda i: -9999 if i % 12 == 0 else i % 3), _reads({"empty_rows": "10 rows"}, rows=110, classes=("0", "1", "2")), FILLS),
    _row("fill-named-by-comment", "a comment names -77.7", "loggers", "made", "empty cells",
         table(lambda i: -77.7 if i % 9 == 0 else measure(i), label, note="# missing value: -77.7\n# of the station\n"),
         _reads({"fill_values": "-77.7"}), FILLS),
    _row("fill-list", "data.fill_values: 555", "anyone", "-", "empty cells", table(lambda i: 555 if i % 9 == 0 else measure(i), label),
         _reads({"fill_values": "555"}), FILLS, fill_values="555"),
    _row("fill-kept", "-9999 with data.fill_values: keep", "anyone", "-", "numbers", table(lambda i: -9999 if i % 9 == 0 else measure(i), label),
         _reads(silent=_KEPT), spares=FILLS, fill_values="keep"),
    _row("counts-999", "999 in a column of counts", "ecologists", "made", "a number", table(lambda i: 999 if i % 40 == 0 else i * 3 % 301, label),
         _reads(silent=_KEPT), spares=FILLS),
    _row("category-99", "a category coded 1, 2, 3 and 99", "surveys", "made", "a code", table(lambda i: [1, 2, 3, 99][i % 4], label),
         _reads(silent=_KEPT), spares=FILLS),
    _row("code-9999", "a code -9999 that most rows have", "surveys", "made", "a code", table(lambda i: -9999 if i % 3 else i % 2, label),
         _reads(silent=_KEPT), spares=FILLS),
    _row("several-codes", "codes -7777, -8888 and -9999", "surveys", "made", "codes", table(lambda i: [1, 2, -7777, -8888, -9999][i % 5], label),
         _reads(silent=_KEPT), spares=FILLS),
    _row("profits", "profits and losses around -9999", "economists", "made", "a number",
         table(lambda i: -9999 if i % 40 == 0 else i * 977 % 60000 - 30000, label),
         _reads(silent=_KEPT), spares=FILLS),
    _row("top-coded-99999", "incomes, top-coded as 99999", "adult (UCI)", "UCI adult", "a number",
         table(lambda i: 99999 if i % 30 == 0 else i * 977 % 41310, label), _reads(silent=_KEPT), spares=FILLS),
    _row("three-spellings", "TRUE, True and true in the label", "teams with Excel and R", "pycaret 311", "two classes",
         table(measure, lambda i: ["TRUE", "false", "true", "False", "true", "false"][i % 6]),
         _reads({"label_spellings": "TRUE is read as true"}, classes=("false", "true")), SPELLINGS),
    _row("one-spelling", "True and False in the label", "Python users", "-", "as they are", table(measure, lambda i: ["True", "False"][i % 2]),
         _reads(classes=("False", "True"), silent=("label_spellings",)), spares=SPELLINGS),
    _row("truth-in-many-words", "TRUE, yes, 1, no and 0 in the label", "teams with Excel and R", "made", "two classes",
         table(measure, lambda i: ["TRUE", "no", "yes", "0", "1", "no"][i % 6]),
         _reads({"label_spellings": "0 is read as no"}, classes=("1", "no"), silent=("similar_labels",)), SPELLINGS),
    _row("species-in-three-cases", "Quercus robur, quercus robur and QUERCUS ROBUR, and Acer", "botanists", "made", "two classes",
         table(measure, lambda i: ["Quercus robur", "Acer", "quercus robur", "Acer", "Quercus robur", "acer", "QUERCUS ROBUR"][i % 7]),
         _reads({"label_spellings": "acer is read as Acer"}, classes=("Acer", "Quercus robur"), silent=("similar_labels",)), SPELLINGS),
    _row("genotypes", "AA, Aa and aa in the label", "geneticists", "made", "three classes, with a warning",
         table(measure, lambda i: ["AA", "Aa", "aa"][i % 3]),
         _reads({"similar_labels": "case"}, classes=("AA", "Aa", "aa"), silent=("label_spellings",)), spares=SPELLINGS),
    _row("names-in-two-cases", "Polish and polish in the label", "made", "-", "two classes, with a warning",
         table(measure, lambda i: ["Polish", "polish"][i % 2]),
         _reads({"similar_labels": "case"}, classes=("Polish", "polish"), silent=("label_spellings",)), spares=SPELLINGS),
    _row("spreadsheet-errors", "#N/A and #DIV/0! in the label", "Excel users", "user reports", "rows without a label",
         table(measure, lambda i: ["x", "y", "#N/A", "#DIV/0!"][i % 4]), _reads({"empty_rows": "60 rows"}, rows=60), ERRORS),
    _row("inf-in-label", "inf among the numbers of a label", "numpy users", "autogluon 2509", "no class",
         table(measure, lambda i: "inf" if i % 12 == 0 else i % 3), _reads({"empty_rows": "10 rows"}, rows=110, classes=("0", "1", "2")), ERRORS),
    _row("inf-as-a-word", "inf and fin, forms of verbs", "linguists", "made", "two classes", table(measure, lambda i: ["inf", "fin"][i % 2]),
         _reads(classes=("fin", "inf"), silent=("empty_rows",)), spares=ERRORS),
    Row("class-in-file-name", "setosa.csv and versicolor.csv without a label", "botanists", "user reports", "the names are the labels",
        _flowers("setosa.csv", "versicolor.csv"),
        Reads(TASK, rows=80, classes=("setosa", "versicolor"), label="file name", says={"label_column": "the same columns"}), NAMES,
        settings={"task": TASK}),
    Row("class-in-file-name-split", "oak_train, oak_test, elm_train, elm_test", "botanists", "made", "labels and splits",
        _flowers("oak_train.csv", "oak_test.csv", "elm_train.csv", "elm_test.csv"), Reads(TASK, rows=160, classes=("elm", "oak")), NAMES,
        settings={"label_column": "file name"}),
    Row("class-says-the-file-name", "class ill.csv and class well.csv", "physicians", "made", "the names are the labels",
        _flowers("class ill.csv", "class well.csv"), Reads(TASK, rows=80, classes=("class ill", "class well"), label="file name"), NAMES),
    Row("class-or-place", "setosa.csv and versicolor.csv, or berlin.csv and hamburg.csv", "everybody", "made", "a question that names both ways",
        _flowers("berlin.csv", "hamburg.csv"), Refused("ambiguous_label", ("file name", "width")), PLACES),
    Row("files-of-places", "berlin.csv and hamburg.csv with label_column: width", "meteorologists", "made", "a regression",
        _flowers("berlin.csv", "hamburg.csv"), Reads("tabular-regression", rows=80, label="width"), spares=PLACES,
        settings={"label_column": "width"}),
    Row("parts", "part1.csv and part2.csv", "exports", "made", "one table", _flowers("part1.csv", "part2.csv"),
        Reads("tabular-regression", rows=80, label="width"), spares=NAMES),
    Row("months-in-file-names", "january.csv and february.csv", "loggers", "made", "one table", _flowers("january.csv", "february.csv"),
        Reads("tabular-regression", rows=80, label="width"), spares=NAMES),
    Row("label-and-cities", "oslo.csv and rome.csv with a label", "economists", "made", "the column is the label",
        _flowers("oslo.csv", "rome.csv", header="length,width,label", extra="xy"), Reads(TASK, rows=80, label="label"), spares=NAMES),
    Row("class-or-cities", "oslo.csv and rome.csv with a column bought", "economists", "made", "a question",
        _flowers("oslo.csv", "rome.csv", header="length,width,bought", extra="xy"),
        Refused("ambiguous_label", ("bought", "file name")), spares=NAMES),
)  # fmt: skip
