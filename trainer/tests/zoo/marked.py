"""Rows about lines whose parts are marked."""

from trainer.tests.zoo.row import NotRefused, Reads, Row, write

CLASSES, VALUES = "__label__ marks classes", "numbered values"
N = 60
_WORDS = ("rain", "cloud", "river", "lake", "field", "road")


def _file(name: str, line):
    return lambda folder: write(folder, name, "".join(line(i) + "\n" for i in range(N)))


def _text(i: int) -> str:
    return f"the {_WORDS[i % 6]} was seen on day {i} by group {i * 7 % 11}"


def _sparse(i: int) -> str:
    return f"{'+1' if i % 2 else '-1'} " + " ".join(f"{j}:{(i * 7 + j) % 13 / 10}" for j in range(1, 9) if (i + j) % 3)


def _two_files(folder):
    write(folder, "a.txt", "".join(_sparse(i) + "\n" for i in range(N)))
    write(folder, "test.txt", "".join(_sparse(i).rpartition(" 8:")[0] + "\n" for i in range(N, 2 * N) if " 8:" in _sparse(i)))


ROWS = (
    Row("fasttext", "train.txt with lines like __label__wet some words", "users of fastText", "fasttext.cc", "a model of texts",
        _file("train.txt", lambda i: f"__label__{('wet', 'dry')[i % 2]} {_text(i)}"),
        Reads("text-classification", rows=N, classes=("dry", "wet"), label="label", columns=("text",)), CLASSES),
    Row("fasttext-several", "lines with one or more classes", "users of fastText", "fasttext.cc", "several labels for each text",
        _file("data.txt", lambda i: " ".join(f"__label__{w}" for k, w in enumerate(("wet", "cold", "far")) if (i + 1) >> k & 1 or k == i % 3)
              + f" {_text(i)}"),
        Reads("multi-label-classification", rows=N, classes=("cold", "far", "wet")), CLASSES),
    Row("labels-in-texts", "text and class as columns, a few texts with __label__", "users of fastText", "made", "a table",
        _file("t.csv", lambda i: f"{_text(i)}{' __label__x' * (i % 9 == 0)},{'ab'[i % 2]}"),
        Reads("text-classification", rows=N, classes=("a", "b")), spares=CLASSES),
    Row("libsvm", "lines like +1 3:0.5 7:1", "users of LIBSVM", "csie.ntu.edu.tw/~cjlin/libsvm", "a table; what is not there is 0",
        _file("a1a.txt", _sparse), Reads("tabular-classification", rows=N, classes=("+1", "-1"), label="label"), VALUES),
    Row("libsvm-in-two-files", "the test rows lack the value 8", "users of LIBSVM", "made", "it is 0 there", _two_files,
        Reads("tabular-classification", label="label", says={"filled_columns": "value 8 is not in test.txt: its cells are 0"}), VALUES),
    Row("times-in-lines", "lines of two times of day", "timetables", "made", "not taken for values",
        _file("times.txt", lambda i: f"{i % 24}:30 {i % 23}:15"), NotRefused("too_large"), spares=VALUES),
)  # fmt: skip
