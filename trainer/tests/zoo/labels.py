"""Rows about labels: where none is sure, the columns are offered; where one column is left, it is the label."""

import random

from trainer.tests.zoo.names import key, picture
from trainer.tests.zoo.row import Reads, Refused, Row, write
from trainer.tests.zoo.time import csv

UNNAMED, RECORDINGS, REPLICATES = "measures without names", "numbered names of rows", "replicates"
LEFT = "the only column besides pictures"


def _table(header: str, row, rows: int = 129):
    def make(folder):
        chance = random.Random(3)
        write(folder, "t.csv", csv(header, [row(i, chance) for i in range(rows)]))

    return make


def _pictures(row, header: str, count: int = 120):
    def make(folder):
        for i in range(count):
            write(folder, f"{i:03}.png", picture(i))
        write(folder, "t.csv", csv(header, [[f"{i:03}.png", *row(i)] for i in range(count)]))

    return make


def _measures(header: str):
    def make(folder):
        chance = random.Random(4)
        write(folder, "t.csv", header + "".join(",".join(f"{chance.gauss(5, 1):.3f}" for _ in range(3)) + "\n" for _ in range(129)))

    return make


def _recordings(alike: int):
    """Six recordings of each of 20 persons; the states of ``alike`` that follow each other are the same."""
    return _table(
        "name,jitter,shimmer,status", lambda i, c: [f"R{i // 6:02}_{i % 6}", f"{c.gauss(5, 1):.3f}", f"{c.gauss(3, 1):.3f}", i // alike % 2], 120
    )


def _doses(alike: int):
    """Three replicates of 8 doses of 5 compounds."""
    return _table(
        "compound,dose,replicate,alive",
        lambda i, c: ["ABCDE"[i // 24], 2 ** (i // 3 % 8), i % 3 + 1, f"{alike * (100 - i // 3 % 8 * 9) + c.gauss(0, 3):.1f}"], 120,
    )  # fmt: skip


ROWS = (
    Row("heights-and-notes", "a number with 129 values, a date and a note", "field books", "issue 42", "each column is offered",
        _table("height,day,note", lambda i, c: [f"{c.gauss(170, 9):.3f}", f"2020-{i % 12 + 1:02}-{i % 28 + 1:02}", f"it was seen near the gate {i}"]),
        Refused("no_label", ("height has numbers with 129 values (a regression)", "day has dates", "note has free text"))),
    Row("an-id-and-a-note", "an id and a free text", "notes", "made", "told that nothing can be predicted",
        _table("id,note", lambda i, c: [i, f"it was seen near the gate {i} at noon"]), Refused("no_label", ("id has another value in each row",))),
    Row("axes-of-a-sensor", "three columns of measures without names", "wearable sensors", "Empatica", "the question which one",
        _measures(""), Refused("ambiguous_label", ("column 3", "column 1")), UNNAMED),
    Row("measures-alone", "three named measures", "geochemistry", "made", "the last one, and the others are named",
        _measures("SiO2,MgO,CaO\n"), Reads("tabular-regression", label="CaO", says={"label_column": "Nothing but its place says so"}),
        spares=UNNAMED),
    Row("recordings-of-people", "names of recordings such as R07_3, six of each person, and a diagnosis", "voice research", "UCI Parkinsons",
        "a warning: persons are in both splits", _recordings(6), Reads(says={"time_neighbours": "such as R00_0 and R00_1"}), RECORDINGS),
    Row("recordings-of-other-outcomes", "the same with a state that changes from recording to recording", "voice research", "made", "no warning",
        _recordings(1), Reads(silent=("time_neighbours",)), spares=RECORDINGS),
    Row("replicates-of-doses", "compound, dose, replicate and the share of living cells", "pharmacology", "made", "a warning: replicates are alike",
        _doses(1), Reads(says={"time_neighbours": "differ in replicate alone"}), REPLICATES, settings={"label_column": "alive"}),
    Row("replicates-of-chance", "the same where replicates are not alike", "pharmacology", "made", "no warning",
        _doses(0), Reads(silent=("time_neighbours",)), spares=REPLICATES, settings={"label_column": "alive"}),
    Row("many-species", "pictures and one column of 55 species", "herbaria", "made", "the column is the label",
        _pictures(lambda i: [f"species {i % 55}"], "file,taxon"), Reads("image-classification", rows=120, label="taxon"), rule=LEFT),
    Row("a-picture-and-its-number", "pictures and a column of other values in each row", "inventories", "made", "not a label",
        _pictures(lambda i: [f"inventory number {i}"], "file,number"), Refused("no_label", ("number",)), spares=LEFT),
    Row("two-columns-besides-pictures", "pictures and two columns of 55 values", "herbaria", "made", "asked which one",
        _pictures(lambda i: [f"species {i % 55}", f"place {i * 9 % 56}"], "file,taxon,site"), Refused("no_label", ("taxon", "site")), spares=LEFT),
    Row("few-classes-besides-pictures", "pictures and a column of two classes", "herbaria", "made", "the column is the label",
        lambda folder: [write(folder, n, c) for n, c in {**{f"{i}.png": picture(i) for i in range(24)}, "t.csv": key(
            [f"{i}.png" for i in range(24)], "file,taxon")}.items()] and None, Reads("image-classification", rows=24, label="taxon")),
)  # fmt: skip
