"""Rows about tables as repositories and contests hold them: which column is the label, and which files are no rows to train on."""

import json
import random

from trainer.tests.zoo.pictures import noise, png
from trainer.tests.zoo.row import NotRefused, Reads, Refused, Row, write

CONTEST, ANSWERS, ABOUT = "what test tables lack is the label", "answers of contests", "rows about files that are not read"
TWINS, ONE_OF, SPLITS = "classes under two names", "a class in columns of 0 and 1", "columns that say the split"
SURVEY, MEASURES, YEARS = "questions below the names", "measures are no identifiers", "years are no classes"
PLACES, TARGETS, COPIES, FORMS = "the first and the last column", "several targets", "tables that are there twice", "rows in two forms"
UNKNOWN, CELLS, LARGEST = "folders of unknown classes", "numbers in cells", "a question about the largest table"
N = 60
_TABLE = "tabular-classification"


def rows(n: int = N, seed: int = 1) -> list[list[str]]:
    """Rows of three measures; the class of row i is i % 2."""
    draw = random.Random(seed)
    return [[f"{draw.gauss(i % 2 * 2, 1):.3f}" for _ in range(3)] for i in range(n)]


def csv(header: str, body) -> str:
    return "\n".join([header, *(",".join(map(str, row)) for row in body)]) + "\n"


def _files(**content):
    """``make`` of a row, from the content of each file; two underscores stand for a point, and three for a slash."""

    def make(folder):
        for name, text in content.items():
            write(folder, name.replace("___", "/").replace("__", "."), text)

    return make


def _classed(header: str, cells, n: int = N, **more) -> object:
    return _files(data__csv=csv(f"a,b,c,{header}", [[*row, *cells(i)] for i, row in enumerate(rows(n))]), **more)


def _contest(extra: str = "", known: bool = False):
    train = csv(f"id,a,b,c,sold,port{extra}", [[i, *r, i % 2, "SCQ"[i % 3], *([i % 5] if extra else [])] for i, r in enumerate(rows())])
    test = csv(
        "id,a,b,c,sold,port" if known else "id,a,b,c,port",
        [[i + N, *r, *([i % 2] if known else []), "SCQ"[i % 3]] for i, r in enumerate(rows(20, 2))],
    )
    return _files(train__csv=train, test__csv=test, gender_submission__csv=csv("id,sold", [[i + N, 0] for i in range(20)]))


def _pictures(folder):
    for i in range(24):
        write(folder, f"train/{i:03d}ab.png", png(noise(i, high=120 + 100 * (i % 2))))
    write(folder, "train.csv", csv("id_code,grade", [[f"{i:03d}ab", i % 2] for i in range(24)]))
    for i in range(8):
        write(folder, f"test/{i:03d}cd.png", png(noise(50 + i)))
    write(folder, "sample_submission.csv", csv("id_code,grade", [[f"{i:03d}cd", 0] for i in range(8)]))


def _sounds(named: bool):
    def make(folder):
        for i in range(24):
            write(folder, f"audio/{i}-a.wav", b"RIFF0000WAVEfmt ")
        body = [[f"{i}-a.wav" if named else f"site-{i}.x", *r[:2], ("rain", "dog")[i % 2]] for i, r in enumerate(rows(24))]
        write(folder, "meta.csv", csv("filename,a,b,category", body))

    return make


def _survey(folder):
    draw = random.Random(4)
    body = [[f"R_{i}", draw.randint(20, 70), draw.randint(1, 5), ("Yes", "No")[i % 2]] for i in range(N)]
    numbers = ['"' + json.dumps({"ImportId": f"QID{i}"}).replace('"', '""') + '"' for i in range(4)]
    write(folder, "survey.csv", csv("ResponseId,Q1,Q2,Q3", [["Response ID", "How old are you?", "How easy was it?", "Again?"], numbers, *body]))


def _json_cells(folder):
    body = [['"{""at"": 1}"' if i == 1 else '"{""at"": 2}"', *r[:2], "xy"[i % 2]] for i, r in enumerate(rows())]
    write(folder, "data.csv", csv("place,a,b,class", body))


def _nameless(first, last):
    return _files(t__data="\n".join(",".join([first(i), *r, last(i)]) for i, r in enumerate(rows())) + "\n")


def _texts(*folders: str, numbered: bool = False):
    def make(folder):
        for k, name in enumerate(folders):
            for i in range(12):
                write(
                    folder,
                    f"{name}/{6000 + i}{'' if numbered else '.txt'}",
                    f"From: someone\n\n{('rain and snow', 'sun and sand')[k % 2]} on day {i} of {name}\n",
                )

    return make


_SAME = csv("a,b,c,class", [[*r, "xy"[i % 2]] for i, r in enumerate(rows())])
_SCALED = csv("a,b,c,class", [[*(f"{float(c) / 3:.4f}" for c in r), "xy"[i % 2]] for i, r in enumerate(rows())])
_PIXELS = csv(
    "emotion,pixels,Usage", [[i % 3, " ".join(str((i * k) % 250) for k in range(1, 26)), ("Training", "PublicTest")[i % 5 == 0]] for i in range(N)]
)
_OBJECTS = [{"sample": {"leaf": {"length": float(a), "width": float(b)}}, "annotation": {"label": "xy"[i % 2]}} for i, (a, b, _) in enumerate(rows())]
_FEW = (
    "at,sleep,coffee,mood,note\n"
    + "".join(f"2021-01-{i % 28 + 1:02} 10:{i:02},{i % 6},{i % 2},{i * 7 % 5},it was day {i} of it\n" for i in range(N)),
    "code,kind\n" + "".join(f"{i % 7}.{i},{'xyz'[i % 3]}\n" for i in range(30)),
)

_PROBES = "".join(f'"p{i}"\t{i % 7}.1\t{i % 5}.2\n' for i in range(900))

ROWS = (
    Row("contest", "train.csv, test.csv without the label, and gender_submission.csv", "contests", "Kaggle titanic",
        "what the test lacks is the label",
        _contest(), Reads(_TABLE, rows=N, label="sold", says={"label_column": "has not", "ignored_files": "no labels"}), CONTEST),
    Row("contest-with-folds", "the same with a column of folds in train.csv, and a test with the label", "contests", "made", "folds are no label",
        _contest(",fold", known=True), Refused("ambiguous_label", ("sold and port",)), spares=CONTEST),
    Row("contest-of-pictures", "train.csv, pictures, and sample_submission.csv, which names test pictures", "contests", "Kaggle aptos2019",
        "the sample is no label", _pictures, Reads("image-classification", rows=24, label="grade", says={"ignored_files": "no labels"}), ANSWERS),
    Row("submissions", "a table called submission.csv alone", "conferences", "made", "a table", _files(submission__csv=_SAME),
        Reads(_TABLE, rows=N, label="class"), spares=ANSWERS),
    Row("table-of-sounds", "sounds, and a table that names them", "ecologists", "ESC-50", "refused: the sounds are what counts", _sounds(True),
        Refused("rows_of_other_files", ("filename", "sound recording", "spectrograms")), ABOUT),
    Row("table-beside-sounds", "sounds, and a table about something else", "ecologists", "made", "the table", _sounds(False),
        Reads(_TABLE, rows=24, label="category"), spares=ABOUT),
    Row("target-and-its-name", "target as a number and target_name", "users of scikit-learn", "made", "the name is no input",
        _classed("target,target_name", lambda i: [i % 3, ("oak", "elm", "ash")[i % 3]]),
        Reads(_TABLE, label="target", columns=("a", "b", "c"), says={"columns_like_label": "one to one"}), TWINS),
    Row("two-classes-alike", "a colour that mostly goes with the class", "botanists", "made", "the colour is an input",
        _classed("colour,class", lambda i: ["rgb"[i % 3 if i % 7 else 0], "xyz"[i % 3]]),
        Reads(_TABLE, label="class", columns=("a", "b", "c", "colour"), silent=("columns_like_label",)), spares=TWINS),
    Row("class-as-columns", "type_a, type_b and type_c as the last columns, one of them 1", "users of pandas", "made", "the question what is meant",
        _classed("type_a,type_b,type_c", lambda i: [int(i % 3 == k) for k in range(3)]), Refused("one_class_in_columns", ("type_a",)), ONE_OF),
    Row("soil-as-columns", "soil_1 to soil_3 as 0 and 1, and a class behind them", "foresters", "UCI covtype", "the class",
        _classed("soil_1,soil_2,soil_3,cover", lambda i: [*(int(i % 3 == k) for k in range(3)), "xy"[i * 7 % 5 % 2]]),
        Reads(_TABLE, label="cover"), spares=ONE_OF),
    Row("split-by-another-name", "a column set with training and testing, and folds", "anyone", "made", "the split, and folds are no input",
        _classed("fold,set,class", lambda i: [i % 5, ("training", "testing")[i % 5 == 0], "xy"[i % 2]]),
        Reads(_TABLE, splits=(42, 6, 12), columns=("a", "b", "c"), says={"split_column": "set"}), SPLITS),
    Row("is-train", "a column is_train of 0 and 1", "users of R", "made", "the split",
        _classed("is_train,class", lambda i: [int(i % 5 > 0), "xy"[i % 2]]), Reads(_TABLE, splits=(42, 6, 12), columns=("a", "b", "c")), SPLITS),
    Row("trains-and-trams", "a column with train and tram", "transport", "made", "an input",
        _classed("by,class", lambda i: [("train", "tram", "bus")[i % 3], "xy"[i * 7 % 5 % 2]]),
        Reads(_TABLE, columns=("a", "b", "c", "by"), silent=("split_column",)), spares=SPLITS),
    Row("survey", "names, questions, and numbers of questions in JSON", "social scientists", "Qualtrics", "questions are no data", _survey,
        Reads(_TABLE, rows=N, classes=("No", "Yes"), columns=("Q1", "Q2"), says={"questions": "no data"}), SURVEY),
    Row("json-in-cells", "a column of JSON objects", "programmers", "made", "rows", _json_cells, Reads(_TABLE, rows=N, silent=("questions",)),
        spares=SURVEY),
    Row("measures-without-names", "measures with other values in each row, first, without names", "UCI", "UCI iris", "all measures are read",
        _nameless(lambda i: f"{i * 0.37 % 5:.2f}1", lambda i: "xy"[i % 2]), Reads(_TABLE, columns=("column 1", "column 2", "column 3", "column 4")),
        MEASURES),
    Row("ids-without-names", "whole numbers with other values in each row, first, without names", "UCI", "UCI wdbc", "ids are left out",
        _nameless(lambda i: str(84000 + i * 37), lambda i: "xy"[i % 2]), Reads(_TABLE, columns=("column 2", "column 3", "column 4")),
        spares=MEASURES),
    Row("species-and-a-year", "a species first, a year last", "ecologists", "palmerpenguins", "the species",
        _files(p__csv=csv("species,a,b,c,year", [["xyz"[i % 3], *r, 2007 + i % 4] for i, r in enumerate(rows())])), Reads(_TABLE, label="species"),
        YEARS),
    Row("year-as-asked", "the same with label_column: year", "anyone who means it", "made", "the year",
        _files(p__csv=csv("species,a,b,c,year", [["xyz"[i % 3], *r, 2007 + i % 4] for i, r in enumerate(rows())])),
        Reads(_TABLE, label="year"), spares=YEARS, settings={"label_column": "year"}),
    Row("class-first-or-last", "letters in all columns, two first and five last, without names", "UCI", "UCI mushroom", "the question which it is",
        _nameless(lambda i: "ep"[i % 2], lambda i: "abdgu"[i % 5]), Refused("ambiguous_label", ("column 1", "column 5")), PLACES),
    Row("class-last", "five letters first and two last, without names", "UCI", "made", "the last one",
        _nameless(lambda i: "abdgu"[i % 5], lambda i: "ep"[i % 2]), Reads(_TABLE, label="column 5"), spares=PLACES),
    Row("two-targets", "Y1 and Y2 as the last columns", "engineers", "UCI ENB2012", "the question which one",
        _files(e__csv=csv("X1,X2,X3,Y1,Y2", [[*r, f"{float(r[0]) * 2:.2f}", f"{float(r[0]) * 3 + float(r[1]):.2f}"] for r in rows()])),
        Refused("ambiguous_label", ("Y1 and Y2",)), TARGETS),
    Row("one-target", "x1, x2 and a measure as the last columns", "engineers", "made", "the last one",
        _files(e__csv=csv("X1,X2,X3,Y1", [[*r, f"{float(r[0]) * 2 + float(r[2]):.2f}"] for r in rows()])), Reads(label="Y1"), spares=TARGETS),
    Row("copy-of-a-table", "data.csv and data (1).csv with the same rows", "anyone", "made", "read once",
        _files(data__csv=_SAME, **{"data (1)__csv": _SAME}), Reads(_TABLE, rows=N, says={"ignored_files": "same rows as data.csv"}), COPIES),
    Row("second-part", "data.csv and data (1).csv with other rows", "anyone", "made", "both are read",
        _files(data__csv=_SAME, **{"data (1)__csv": _SCALED}), Reads(_TABLE, rows=2 * N), spares=COPIES),
    Row("normalized-copy", "data.csv and data_normalized.csv", "anyone", "made", "refused: each row is there twice",
        _files(data__csv=_SAME, data_normalized__csv=_SCALED), Refused("same_rows_twice", ("class", "data_file")), FORMS),
    Row("two-years-of-plots", "2019.csv and 2020.csv with the same plots in the same order", "agronomists", "made", "both are read",
        _files(**{"2019__csv": _SAME, "2020__csv": _SCALED}), Reads(_TABLE, rows=2 * N), spares=FORMS),
    Row("texts-without-labels", "pos, neg and unsup", "linguists", "aclImdb", "unsup is no class", _texts("pos", "neg", "unsup"),
        Reads("text-classification", rows=24, classes=("neg", "pos")), UNKNOWN),
    Row("texts-of-unknown-authors", "pos, neg and anonymous", "linguists", "made", "three classes", _texts("pos", "neg", "anonymous"),
        Reads("text-classification", classes=("anonymous", "neg", "pos")), spares=UNKNOWN),
    Row("texts-without-an-ending", "folders with texts called 6000, 6001, …", "linguists", "20 newsgroups", "texts in folders",
        _texts("sci.space", "rec.autos", numbered=True), Reads("text-classification", rows=24, classes=("rec.autos", "sci.space"))),
    Row("faces-in-cells", "a class, 25 numbers in a cell, and Usage", "contests", "fer2013", "how to write them", _files(faces__csv=_PIXELS),
        Refused("numbers_in_cells", ("pixels",)), CELLS),
    Row("words-in-cells", "texts of 25 words with some numbers", "anyone", "made", "texts",
        _files(t__csv=csv("class,text", [["xy"[i % 2], " ".join(("rain" if i % 2 else "sun", str(i), *["of a day"] * 8))] for i in range(N)])),
        Reads("text-classification", rows=N), spares=CELLS),
    Row("question-beside-a-small-table", "a survey without a label, and a small table that has one", "labs", "made", "the question about the survey",
        _files(survey__csv=_FEW[0], codes__csv=_FEW[1]), Refused("ambiguous_label", ("survey.csv",)), LARGEST),
    Row("codebook-beside-a-table", "a table with a class, and a list of its columns", "labs", "Dryad", "the table",
        _files(data__csv=_SAME, codebook__csv="name,unit\na,cm\nb,cm\nc,cm\nclass,\n"), NotRefused("ambiguous_label"), spares=LARGEST),
    Row("objects-in-objects", "JSON lines with objects in objects", "programmers", "made", "columns with dotted names",
        _files(s__jsonl="\n".join(map(json.dumps, _OBJECTS))), Reads(_TABLE, rows=N, label="annotation.label", columns=("sample.leaf.length",
        "sample.leaf.width"))),
    Row("lists-of-splits", "a JSON object with the lists train and test", "programmers", "made", "the lists are the splits",
        _files(d__json=json.dumps({"train": _OBJECTS[:45], "test": _OBJECTS[45:]})), Reads(_TABLE, splits=(39, 6, 15),
        says={"split_column": "split"})),
    Row("write-table-of-r", "names without one for the column of row names, between blanks", "users of R", "R write.table", "names and rows",
        _files(iris__txt='"len" "wid" "dep" "Species"\n' + "".join(f'"{i + 1}" {" ".join(r)} "{("oak", "elm")[i % 2]}"\n' for i,
        r in enumerate(rows()))),
        Reads(_TABLE, rows=N, label="Species", columns=("len", "wid", "dep"))),
    Row("series-matrix", "a table of GEO whose columns are samples", "omics", "NCBI GEO", "how to turn it",
        _files(GSE1__txt='!Series_title\t"x"\n!series_matrix_table_begin\n"ID_REF"\t"GSM1"\t"GSM2"\n' + _PROBES),
        Refused("no_table", ("each sample",))),
)  # fmt: skip
