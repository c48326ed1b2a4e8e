"""Rows about labels in files of their own, line by line or by a number of the row."""

import io
import random

import numpy

from trainer.tests.zoo.row import NotRefused, Reads, Refused, Row, write

LINES, NUMBERS, MATRIX = "labels line by line", "a table of labels for each split", "matrices of pairs"
NETWORK, NAMED = "matrices of networks", "a file names the classes"
ZERO, KEYLESS = "a 0 above labels", "labels that no key joins"
_COUNTS = {"train": 60, "test": 20}


def _rows(count: int, separator: str = ",") -> list[str]:
    """Rows that are others for each ``count``."""
    return [separator.join(f"{(i * 7 + j * 5) % 31 / 10 + (i % 2) * j + count / 1000:.3f}" for j in range(4)) for i in range(count)]


def _classes(count: int) -> list[str]:
    return [str(i % 2 + 1) for i in range(count)]


def _write(folder, name: str, lines) -> None:
    write(folder, name, "\n".join(lines) + "\n")


def _splits(folder):
    for split, n in _COUNTS.items():
        _write(folder, f"X_{split}.csv", ["a,b,c,d", *_rows(n)])
        _write(folder, f"y_{split}.csv", ["state", *_classes(n)])


def _activities(folder):
    for split, n in _COUNTS.items():
        _write(folder, f"{split}/X_{split}.txt", [f"  {row}" for row in _rows(n, "  ")])
        _write(folder, f"{split}/y_{split}.txt", _classes(n))
        _write(folder, f"{split}/subject_{split}.txt", [str(i // 4) for i in range(n)])
    _write(folder, "activity_labels.txt", ["1 WALKING", "2 SITTING"])


def _arrays(folder):
    draw = numpy.random.default_rng(1)
    labels = numpy.arange(60) % 2
    for name, array in (("X.npy", draw.normal(size=(60, 3)) + labels[:, None]), ("y.npy", labels)):
        buffer = io.BytesIO()
        numpy.save(buffer, array)
        write(folder, name, buffer.getvalue())


def _one_lost(folder):
    _write(folder, "X.csv", ["a,b,c,d", *_rows(60)])
    _write(folder, "y.csv", _classes(57))


def _class_names(folder):
    _write(folder, "data.csv", ["a,b,c,state", *(f"{row.rpartition(',')[0]},{'xy'[i % 2]}" for i, row in enumerate(_rows(60)))])
    _write(folder, "classes.txt", [f"kind {i}" for i in range(60)])


def _numbered(folder):
    draw = random.Random(1)
    for split, n in _COUNTS.items():
        order = draw.sample(range(n), n)
        _write(folder, f"X_{split}.csv", [",a,b,c,d", *(f"{i},{row}" for i, row in zip(order, _rows(n), strict=True))])
        _write(folder, f"y_{split}.csv", [",state", *(f"{i},{c}" for i, c in zip(order, _classes(n), strict=True))])


def _texts_and_labels(folder):
    for split, n in _COUNTS.items():
        _write(folder, f"{split}_text.txt", [f"{'rain' if i % 2 else 'sun'} on day {i} of the {split} year" for i in range(n)])
        _write(folder, f"{split}_labels.txt", _classes(n))
    _write(folder, "mapping.txt", ["1\tdry", "2\twet"])


def _two_texts(folder):
    for name, word in (("english", "rain"), ("german", "Regen")):
        _write(folder, f"{name}.txt", [f"{word} was seen {i} times on day {i * 7}" for i in range(60)])


def _below_zero(header: str, numbered: bool):
    def make(folder):
        number = [f"{i}," if numbered else "" for i in range(60)]
        top = [f"{',' * numbered}{header}"] if header else []
        _write(folder, "X.csv", [*top, *(f"{n}{row}" for n, row in zip(number, _rows(60), strict=True))])
        _write(folder, "y.csv", [f"{',' * numbered}0", *(f"{n}{i % 2}" for i, n in enumerate(number))])

    return make


def _one_hot(folder):
    _write(folder, "X.csv", ["a,b,c,d", *_rows(60)])
    _write(folder, "Y.csv", [",".join(str(int(i % 3 == k)) for k in range(3)) for i in range(60)])


def _other_labels(folder):
    _write(folder, "data.csv", ["a,b,c,d,kind", *(f"{row},{'xy'[i % 2]}" for i, row in enumerate(_rows(60)))])
    _write(folder, "labels.csv", ["place,kind of soil,depth", *(f"p{i},{'uv'[i % 2]},{i}" for i in range(30))])


def _named(file: str, text: str, start: int = 0):
    """60 rows with labels that count from ``start``, and a file with their names."""

    def make(folder):
        _write(folder, "data.csv", ["a,b,c,d,kind", *(f"{row},{i % 3 + start}" for i, row in enumerate(_rows(60)))])
        write(folder, file, text)

    return make


def _correlations(folder):
    values = numpy.corrcoef(numpy.random.default_rng(1).normal(size=(24, 60))).round(3)
    _write(
        folder, "correlation.csv", [",".join(["", *(f"v{i}" for i in range(24))]), *(",".join(map(str, [f"v{i}", *v])) for i, v in enumerate(values))]
    )


def _array_matrix(folder):
    cells = numpy.array([[int(i != j and i * j % 7 == 1) for j in range(24)] for i in range(24)])
    buffer = io.BytesIO()
    numpy.save(buffer, cells)
    write(folder, "adjacency.npy", buffer.getvalue())


def _matrix(named: bool, symmetric: bool = True, labels: bool = False):
    def make(folder):
        side = range(24)
        cells = [[int(i != j and ((i * j if symmetric else i * 3 + j) % 7 == 1)) for j in side] for i in side]
        names = [[f"n{i}"] * named for i in side]
        _write(folder, "adjacency.csv", [*([",".join(["", *(f"n{i}" for i in side)])] if named else []),
                                         *(",".join(map(str, [*name, *row])) for name, row in zip(names, cells, strict=True))])  # fmt: skip
        if labels:
            _write(folder, "labels.txt", ["ab"[i % 2] for i in side])
        else:
            _write(folder, "nodes.csv", ["node,kind", *(f"n{i},{'ab'[i % 2]}" for i in side)])

    return make


_BY_NAME = Reads("tabular-classification", rows=60, classes=("elm", "oak", "setosa"), label="kind", says={"class_names": "names the classes"})
_READ = Reads("tabular-classification", rows=80, classes=("1", "2"), label="state", splits=(54, 6, 20))

ROWS = (
    Row("x-and-y", "X_train.csv, y_train.csv, X_test.csv, y_test.csv", "users of scikit-learn", "made", "the lines of y are the labels", _splits,
        _READ, LINES),
    Row("activities", "X, y and subject of train and test, between blanks, without names", "wearable sensors", "UCI HAR",
        "labels, and subjects that stay together", _activities,
        Reads("tabular-classification", rows=80, classes=("SITTING", "WALKING"), label="y", says={"group_column": "subject",
        "class_names": "1 is WALKING"}),
        NAMED),
    Row("arrays-x-and-y", "X.npy and y.npy", "users of NumPy", "made", "the values of y are the labels", _arrays,
        Reads("tabular-classification", rows=60, classes=("0", "1"), label="y"), LINES),
    Row("labels-of-fewer-rows", "60 rows and 57 labels", "anyone who took out rows", "made", "refused: nobody knows which are missing", _one_lost,
        Refused("labels_of_other_rows", ("57 lines", "60 rows")), LINES),
    Row("names-of-classes", "a table with a label, and classes.txt with as many names", "data sets of benchmarks", "made", "the column is the label",
        _class_names, Reads("tabular-classification", rows=60, classes=("x", "y"), label="state"), spares=LINES),
    Row("x-and-y-with-numbers", "the same with the number of each row, which begin with 0 in each file", "users of pandas", "made",
        "joined by the number, each split for itself", _numbered, _READ, NUMBERS),
    Row("numbers-without-splits", "weather.csv and plants.csv with numbers of rows and one measure each", "labs", "made", "a question",
        lambda folder: [_write(folder, f"{n}.csv", [f",{m}", *(f"{i},{i * k % 37 / 10}" for i in range(60))]) for n, m, k in
                        (("weather", "rain", 7), ("plants", "cover", 5))] and None,
        Refused("labels_in_another_table", ("rain", "cover")), spares=NUMBERS),
    Row("adjacency-matrix", "a matrix with names of nodes, and a table of nodes", "networks", "made", "edges and nodes", _matrix(True),
        Reads(kind="graph", says={"matrix": "24 nodes", "kind": "nodes.csv describes the nodes"}), NETWORK),
    Row("adjacency-matrix-without-names", "the same without names, and labels line by line", "networks", "made", "edges and labels of nodes",
        _matrix(False, labels=True), Reads(kind="graph", says={"matrix": "each line of labels.txt is the label of a node"}), NETWORK),
    Row("matrix-as-asked", "a matrix with names of nodes with label_column: n1", "anyone who means it", "made", "the rows", _matrix(True),
        Reads("tabular-classification", rows=24, label="n1"), spares=NETWORK, settings={"label_column": "n1"}),
    Row("correlations", "correlations of 24 measures", "omics", "made", "no network, and no table", _correlations,
        Refused("matrix", ("24 rows", "source, target")), MATRIX, spares=NETWORK),
    Row("matrix-of-numpy", "a matrix as .npy", "users of NumPy", "made", "how to make edges of it", _array_matrix,
        Refused("matrix", ("source, target",)), MATRIX),
    Row("as-many-rows-as-columns", "24 rows of 24 columns, not the same both ways", "labs", "made", "a table", _matrix(False, False),
        NotRefused("matrix"), spares=MATRIX),
    Row("texts-and-labels", "train_text.txt, train_labels.txt, test_text.txt, test_labels.txt and mapping.txt", "users of TweetEval", "made",
        "the lines are texts with labels", _texts_and_labels,
        Reads("text-classification", rows=80, classes=("dry", "wet"), label="labels", splits=(54, 6, 20)), LINES),
    Row("texts-of-two-sorts", "two files of as many lines of text, neither called labels", "translators", "made", "no labels", _two_texts,
        NotRefused("labels_of_other_rows"), spares=LINES),
    Row("labels-below-a-0", "X.csv, and y.csv with 0 above the labels", "users of pandas", "made", "the 0 is no label", _below_zero("a,b,c,d", False),
        Reads("tabular-classification", rows=60, classes=("0", "1"), label="y"), ZERO),
    Row("numbered-labels-below-a-0", "X.csv and y.csv with numbers of rows, and 0 above the labels", "users of pandas", "made", "the 0 is no label",
        _below_zero("a,b,c,d", True), Reads("tabular-classification", rows=60, classes=("0", "1"), label="0"), ZERO),
    Row("a-label-too-many", "X.csv without names, and one label more", "anyone who took out rows", "made", "refused: nobody knows which is missing",
        _below_zero("", False), Refused("labels_of_other_rows", ("61 lines",)), spares=ZERO),
    Row("labels-as-columns", "X.csv, and Y.csv with three columns of 0 and 1", "users of Keras", "made", "refused: no column of X is the label",
        _one_hot,
        Refused("labels_without_key", ("Y.csv", "X.csv")), KEYLESS),
    Row("labels-of-something-else", "a table with a label, and labels.csv of fewer rows", "labs", "made", "the table", _other_labels,
        NotRefused("labels_without_key"), spares=KEYLESS),
    Row("numbered-names", "labels 0 to 2, and labels.txt with 0: setosa", "anyone", "made", "the names are the classes", _named("labels.txt",
        "0: setosa\n1: elm\n2: oak\n"),
        _BY_NAME, NAMED),
    Row("names-in-order", "labels 1 to 3, and classes.txt with a name in each line", "linguists", "AG News", "the names are the classes",
        _named("classes.txt", "setosa\nelm\noak\n", 1), _BY_NAME, NAMED),
    Row("names-in-json", "labels 0 to 2, and label_map.json", "contests", "Kaggle cassava", "the names are the classes",
        _named("label_num_to_name_map.json", '{"0": "setosa", "1": "elm", "2": "oak"}'), _BY_NAME, NAMED),
    Row("names-in-a-card", "labels 0 to 2, and README.md with class_label", "users of Hugging Face", "huggingface.co", "the names are the classes",
        _named("README.md",
        "---\ndataset_info:\n  features:\n  - name: kind\n    dtype:\n      class_label:\n        names:\n          '0': setosa\n          '1': elm\n"
               "          '2': oak\n---\n# Card\n"), _BY_NAME, NAMED),
    Row("too-few-names", "labels 0 to 2, and classes.txt with two names", "anyone", "made", "the numbers are the classes", _named("classes.txt",
        "elm\noak\n"),
        Reads("tabular-classification", classes=("0", "1", "2"), silent=("class_names",)), spares=NAMED),
)  # fmt: skip
