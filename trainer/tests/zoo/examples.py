"""Rows about what an example is: a file or a row, a column or a row, a text or numbers, a date or a class."""

import math
import random

from trainer.tests.zoo.row import NotRefused, Reads, Refused, Row, write
from trainer.tests.zoo.tables import TASK, N
from trainer.tests.zoo.time import csv

FOLDERS, DIGITS, DATES = "tables in folders of classes", "texts of numbers", "dates are no classes"
CODES, SHAPES, TURNED = "a row of codes below the names", "shapes are no texts", "columns are the examples"
TOGETHER = "rows that belong together"


def _in_folders(*parents: str, header: str = "time,lead,trail", label: str = ""):
    def make(folder):
        chance = random.Random(16)
        for parent in parents:
            for p in range(4):
                rows = [[i / 250, f"{math.sin(i / 5 + p):.3f}", f"{chance.random():.3f}", *([label[i % 2]] if label else [])] for i in range(40)]
                write(folder, f"{parent}/p{p}.csv", csv(header, rows))

    return make


def _texts(text):
    """Two folders of texts; ``text`` makes one of a number and a folder."""

    def make(folder):
        for k, parent in enumerate(("ripe", "raw")):
            for i in range(12):
                write(folder, f"{parent}/apple{i}.txt", text(i, k))

    return make


def _spectrum(header: str, delimiter: str):
    return lambda i, k: header + "".join(f"{400 + 10 * w}{delimiter}{0.1 + w * 0.01 + k * 0.2 + i * 0.001:.4f}\n" for w in range(40))


def _letter(i: int, k: int) -> str:
    return f"Order {i} of 12.5 kg\n" + f"the apples of {2000 + i} were {'ripe and sweet' if k else 'green and hard'} at the gate {i}\n" * 3 + "17\n"


def _table(header: str, row, rows: int = 200, more: dict[str, str] | None = None, name: str = "t.csv"):
    def make(folder):
        write(folder, name, csv(header, [row(i) for i in range(rows)]))
        for other, content in (more or {}).items():
            write(folder, other, content)

    return make


_QUESTIONS = "How happy?,How old?,Do you smoke?,Satisfied?\n"


def _survey(second: str):
    def make(folder):
        lines = [f"{1 + i * 3 % 5},{20 + i * 7 % 50},{'yn'[i % 2]},{'yes' if i % 3 else 'no'}" for i in range(N)]
        write(folder, "t.csv", _QUESTIONS + second + "\n".join(lines) + "\n")

    return make


_SAMPLES = [f"S{i}" for i in range(8)]
_GENES = ("gene," + ",".join(_SAMPLES), lambda g: [f"G{g}", *((g * 37 + s * 101) % 5000 for s in range(8))])
_CONDITIONS = "condition\n" + "".join(f"{s},{'treated' if i % 2 else 'control'}\n" for i, s in enumerate(_SAMPLES))
FILLED = "columns that some tables lack"
LABELS = "labels in a table of their own"


def _plots(i: int) -> list:
    return [f"P{i}", i * 7 % 50 / 10, i * 3 % 41 / 10]


ROWS = (
    Row("recordings-in-folders", "normal/p0.csv, ill/p0.csv with a recording each", "cardiology", "made", "a question, no regression of a lead",
        _in_folders("normal", "ill"), Refused("ambiguous_label", ("normal", "trail")), FOLDERS),
    Row("years-in-folders", "2019/p0.csv and 2020/p0.csv", "loggers", "made", "no classes", _in_folders("2019", "2020"),
        NotRefused("ambiguous_label"), spares=FOLDERS),
    Row("sites-in-folders-with-a-label", "oslo/p0.csv and rome/p0.csv with a label", "ecologists", "made", "the column is the label",
        _in_folders("oslo", "rome", header="time,lead,trail,label", label="xy"), Reads(TASK, rows=320, label="label"), spares=FOLDERS),
    Row("spectra-in-folders", "ripe/apple1.txt with a wavelength and an absorbance in each line", "spectroscopy", "made", "no texts",
        _texts(_spectrum("wavelength\tabsorbance\n", "\t")), Refused("numbers_in_texts", ("one table",)), DIGITS),
    Row("spectra-without-names", "the same without names of columns", "Raman", "made", "no texts", _texts(_spectrum("", " ")),
        Refused("numbers_in_texts"), DIGITS),
    Row("letters-with-numbers", "letters with some numbers in class folders", "archives", "made", "texts", _texts(_letter),
        Reads("text-classification", rows=24, classes=("raw", "ripe")), spares=DIGITS),
    Row("compact-dates-last", "20210710 as the last column", "agronomy", "made", "a question",
        _table("height,width,harvest", lambda i: [f"{i * 37 % 90}.5", i % 7, 20210710 + i % 12]), Refused("ambiguous_label", ("harvest",)), DATES),
    Row("dates-beside-a-species", "a species, and days that repeat as the last column", "agronomy", "made", "the species is the label",
        _table("height,species,day", lambda i: [f"{i * 37 % 90}.5", ("oak", "elm")[i % 2], f"2021-07-{10 + i % 12}"]),
        Reads(TASK, rows=200, label="species"), DATES),
    Row("dates-as-asked", "label_column: day", "agronomy", "made", "as asked",
        _table("height,species,day", lambda i: [f"{i * 37 % 90}.5", ("oak", "elm")[i % 2], f"2021-07-{10 + i % 4}"]),
        Reads(TASK, rows=200, label="day"), spares=DATES, settings={"label_column": "day"}),
    Row("numbers-like-dates", "codes of eight digits that are no dates", "shops", "made", "classes",
        _table("height,width,code", lambda i: [f"{i * 37 % 90}.5", f"{i * 11 % 70}.1", 20219910 + i % 4]), Reads(TASK, rows=200, label="code"),
        spares=DATES),
    Row("codes-of-questions", "questions, and Q1 to Q4 below them", "surveys", "made", "names and no data", _survey("Q1,Q2,Q3,Q4\n"),
        Reads(TASK, rows=N, classes=("no", "yes"), says={"header_rows": "Q1"}), CODES),
    Row("codes-by-name", "label_column: Q4", "surveys", "made", "the question is found", _survey("Q1,Q2,Q3,Q4\n"),
        Reads(TASK, rows=N, label="Satisfied?"), CODES, settings={"label_column": "Q4"}),
    Row("answers-like-codes", "a first row of texts of letters and digits", "made", "made", "a row of data", _survey("A1,20,B7,no\n"),
        Reads(TASK, rows=N + 1, silent=("header_rows",)), spares=CODES),
    Row("points-in-words", "POINT (30.5 10.2), an area and a class", "GIS users", "OGC", "no text",
        _table("wkt,area,kind", lambda i: [f"POINT ({i * 0.1:.1f} {i * 0.2:.1f})", f"{i * 37 % 90}.5", "xy"[i % 2]]),
        Reads(TASK, rows=200, columns=("area",), says={"columns": "shapes on a map"}), SHAPES),
    Row("points-in-sentences", "sentences that begin with Point", "teachers", "made", "a text",
        _table("words,area,kind", lambda i: [f"Point ({'ab'[i % 2]}) of the list was seen by {i} people", i % 9, "xy"[i % 2]]),
        Reads("text-classification", rows=200, columns=("words",)), spares=SHAPES),
    Row("labels-in-a-table-of-their-own", "measures by plot, and the vegetation of each plot in another file", "field surveys",
        "made", "joined by plot",
        _table("plot,ph,depth", _plots, 200, {"plants.csv": "plot,vegetation\n" + "".join(f"P{i},{'xy'[i % 2]}\n" for i in range(200))}),
        Reads(TASK, rows=200, classes=("x", "y"), label="vegetation", says={"label_column": "plants.csv is used as the label"}), LABELS),
    Row("a-sample-of-an-answer", "rows with the target, test.csv without it, sample_submission.csv", "Kaggle", "made", "the rows with a target",
        _table("plot,ph,target", lambda i: [f"P{i}", i * 7 % 50 / 10, i % 2], 200,
               {"test.csv": "plot,ph\n" + "".join(f"T{i},{i % 9}.5\n" for i in range(50)),
                "sample_submission.csv": "plot,target\n" + "".join(f"T{i},{i % 2}\n" for i in range(50))}),
        Reads(TASK, rows=200, classes=("0", "1"), label="target"), spares=LABELS),
    Row("sites-that-measure-other-things", "two sites, of which one did not measure the flow", "monitoring", "made", "empty cells",
        _table("ph,depth,flow,state", lambda i: [*_plots(i)[1:], f"{i * 11 % 31}.5", "xy"[i % 2]], 120,
               {"u.csv": "ph,depth,chl,state\n" + "".join(f"{i % 13}.1,{i % 7}.3,{i % 5}.9,{'xy'[i % 2]}\n" for i in range(80))}),
        Reads(TASK, rows=200, classes=("x", "y"), label="state", columns=("ph", "depth", "flow"), says={"filled_columns": "not in u.csv"}), FILLED),
    Row("two-surveys-of-one-label", "two tables with the same label and other columns", "surveys", "made", "the larger one",
        _table("ph,depth,flow,state", lambda i: [*_plots(i)[1:], f"{i * 11 % 31}.5", "xy"[i % 2]], 120,
               {"u.csv": "ph,rain,snow,state\n" + "".join(f"{i % 13}.1,{i % 7}.3,{i % 5}.9,{'xy'[i % 2]}\n" for i in range(80))}),
        Reads(TASK, rows=120, classes=("x", "y"), label="state", silent=("filled_columns",)), spares=FILLED),
    Row("visits-of-patients", "patient_id with five visits each, of one outcome", "medicine", "made", "patients stay together",
        _table("patient_id,pressure,outcome", lambda i: [f"P{i // 5}", 110 + i * 37 % 40, ("ill", "well")[i // 5 * 7 % 11 > 5]], 300),
        Reads(TASK, rows=300, columns=("pressure",), says={"group_column": "set data.split to random"}, silent=("time_neighbours",)), TOGETHER),
    Row("trees-of-plots", "plot_id with five trees each, of a like height", "forestry", "made", "plots stay together",
        _table("plot_id,rain,height", lambda i: [i // 5, 110 + i * 37 % 301, f"{i // 5 * 7 % 40 + i % 5 * 0.1:.1f}"], 300),
        Reads("tabular-regression", rows=300, label="height", says={"group_column": "plot_id"}, silent=("time_neighbours",)), TOGETHER),
    Row("visits-split-at-random", "the same patients with data.split: random", "medicine", "made", "at random, with a warning",
        _table("patient_id,pressure,outcome", lambda i: [f"P{i // 5}", 110 + i * 37 % 40, ("ill", "well")[i // 5 * 7 % 11 > 5]], 300),
        Reads(TASK, rows=300, says={"time_neighbours": "set group_column to patient_id"}), spares=TOGETHER, settings={"split": "random"}),
    Row("visits-kept-together", "the same patients with group_column: patient_id", "medicine", "made", "no warning",
        _table("patient_id,pressure,outcome", lambda i: [f"P{i // 5}", 110 + i * 37 % 40, ("ill", "well")[i // 5 * 7 % 11 > 5]], 300),
        Reads(TASK, rows=300, silent=("time_neighbours",)), spares=TOGETHER, settings={"group_column": "patient_id"}),
    Row("visits-of-other-outcomes", "patient_id with five visits each, whose outcomes differ", "medicine", "made", "no warning",
        _table("patient_id,pressure,outcome", lambda i: [f"P{i // 5}", 110 + i * 37 % 40, ("ill", "well")[i * i % 7 % 2]], 300),
        Reads(TASK, rows=300, silent=("time_neighbours",)), spares=TOGETHER),
    Row("species-by-number", "species_id, which is the code of the label", "ecology", "made", "no warning",
        _table("species_id,size,species", lambda i: [i % 12, f"{i * 37 % 101}.5", f"oak {i % 12}"], 300),
        Reads(TASK, rows=300, silent=("time_neighbours",)), spares=TOGETHER),
    Row("genes-by-samples", "genes as rows, samples as columns, and a table of the samples", "genomics", "GEO", "a question",
        _table(*_GENES, 120, {"samples.csv": "sample," + _CONDITIONS}), Refused("turned_table", ("samples.csv", "sample")), TURNED),
    Row("genes-and-a-codebook", "the same table beside a list of its columns", "genomics", "made", "the question which column",
        _table(*_GENES, 120, {"codebook.csv": "variable," + _CONDITIONS}), Refused("ambiguous_label", ("S7", "S0")), spares=TURNED),
    Row("genes-of-other-samples", "the same table beside a table of other samples", "genomics", "made", "the question which column",
        _table(*_GENES, 120, {"samples.csv": "sample," + _CONDITIONS.replace("S", "T")}), Refused("ambiguous_label", ("S7", "S0")),
        spares=TURNED),
)  # fmt: skip
