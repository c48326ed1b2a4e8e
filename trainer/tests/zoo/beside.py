"""Rows about files beside each other: a sheet of samples beside their measures, a table that names texts or spectra, and folders of things."""

import math
import random

from trainer.tests.zoo.examples import LABELS, TURNED
from trainer.tests.zoo.names import picture
from trainer.tests.zoo.row import NotRefused, Reads, Refused, Row, write
from trainer.tests.zoo.tables import TASK
from trainer.tests.zoo.time import csv

FILES, CURVES, THINGS, ROUNDED = "files that rows name", "tables that are curves", "folders of things", "names that a spreadsheet rounded"
_SAMPLES = [f"S{i:02}" for i in range(24)]


def _counts(first: str = "gene,", names=tuple(_SAMPLES), delimiter: str = ",", before: str = "", behind: str = "") -> str:
    """Counts of genes by samples; ``before`` and ``behind`` are further cells of each row."""
    chance = random.Random(1)
    rows = [delimiter.join([f"G{g}{before}", *(str(int(chance.expovariate(0.01))) for _ in names)]) + behind for g in range(60)]
    return first + delimiter.join(names) + "\n" + "\n".join(rows) + "\n"


def _sheet(key: str = "sample") -> str:
    return csv(f"{key},condition,age", [[s, ["control", "treated"][i % 2], 30 + i * 7 % 40] for i, s in enumerate(_SAMPLES)])


def _files(**content):
    def make(folder):
        for name, text in content.items():
            write(folder, name.replace("__", "."), text)

    return make


def _measures(folder, key: str = "site", of_labels: str = "site"):
    chance = random.Random(2)
    write(folder, "cover.csv", csv(f"{key},a,b,c,d,e", [[f"P{i}", *(chance.randrange(9) + i % 2 * 5 for _ in range(5))] for i in range(60)]))
    rows = [[f"P{i}", round(chance.random() * 9, 1), ["hay", "pasture"][i % 2], "xyz"[i % 3]] for i in range(60)]
    write(folder, "environment.csv", csv(f"{of_labels},depth,use,soil", rows))


def _words(i: int) -> str:
    words = ["sea", "ship", "storm", "sailed"] if i % 2 else ["house", "garden", "tea", "smiled"]
    return " ".join(random.Random(i).choices(["the", "and", "of", *words], k=40)) + ".\n"


def _corpus(head: str = "file,label", sheet: str = "labels.csv", cells=lambda i: []):
    def make(folder):
        for i in range(40):
            write(folder, f"texts/doc{i:03}.txt", _words(i))
        write(folder, sheet, csv(head, [[f"doc{i:03}.txt", *cells(i), ["novel", "letter"][i % 2]] for i in range(40)]))

    return make


def _spectra(sheet: str = "name,oil,class", ending: str = "csv", head: str = "wavelength,absorbance\n", of=lambda i: f"s{i:02}"):
    def make(folder):
        for i in range(24):
            lines = (f"{400 + 5 * w},{0.2 + math.exp(-((w - 15 - i % 2 * 5) ** 2) / 50) + i / 1000:.4f}\n" for w in range(40))
            write(folder, f"spectra/s{i:02}.{ending}", head + "".join(lines))
        if sheet:
            write(folder, "samples.csv", csv(sheet, [[of(i), i * 7 % 24 / 10, ["oil", "water"][i % 2]] for i in range(24)]))

    return make


def _ids(written):
    def make(folder):
        ids = [1234567890123456789 + i * 10**12 for i in range(60)]
        write(folder, "posts.csv", csv("id,text", [[n, _words(i).strip()] for i, n in enumerate(ids)]))
        write(folder, "labels.csv", csv("id,label", [[written(n), ["for", "against"][i % 2]] for i, n in enumerate(ids)]))

    return make


def _folders(start: str, of_texts: bool = True):
    def make(folder):
        for i in range(24):
            name = f"{start}{1 + i % 3}/p{i}"
            write(folder, f"{name}.txt" if of_texts else f"{name}.png", _words(i) if of_texts else picture(i))

    return make


_KINETICS = csv("Time," + ",".join(f"{r}{k}" for r in "ABCD" for k in range(1, 7)), [
    [f"{i // 6}:{i % 6}0:00", *(round(1 / (1 + math.exp(-(i - 30 - k % 9) / 6)), 3) for k in range(24))] for i in range(60)
])  # fmt: skip
_WELLS = csv("Well,strain", [[f"{r}{k}", ["wt", "mut"][k % 2]] for r in "ABCD" for k in range(1, 7)])
_BAM = tuple(f"/data/bam/{s}.bam" for s in _SAMPLES)
_ASKED, _CLASS = {"label_column": "condition"}, {"label_column": "class"}
ROWS = (
    Row("counts-of-featurecounts", "a comment, genes with their length, and a column for each BAM file; a sheet of samples", "genomics",
        "subread.sourceforge.net", "a question",
        _files(counts__txt="# Program: featureCounts\n" + _counts("Geneid\tLength\t", _BAM, "\t", before="\t700"), samples__csv=_sheet()),
        Refused("turned_table", ("samples.csv", "sample")), TURNED),
    Row("counts-of-r", "write.table of R without a name of the first column, and a sheet whose rows are named alike", "genomics", "stat.ethz.ch",
        "a question", _files(counts__txt=_counts("", delimiter="\t"), coldata__txt=_sheet("").lstrip(",").replace(",", "\t")),
        Refused("turned_table", ("coldata.txt",)), TURNED),
    Row("otu-table", "a comment, #OTU ID, samples and taxonomy; a mapping file", "microbiomes", "biom-format.org", "a question",
        _files(mapping__txt=_sheet("#SampleID").replace(",", "\t"), table__txt="# Constructed from biom file\n"
            + _counts("#OTU ID\t", delimiter="\t", behind="\tk__Bacteria").replace("\n", "\ttaxonomy\n", 1)),
        Refused("turned_table", ("#SampleID",)), TURNED),
    Row("counts-with-a-label-of-the-sheet", "genes by samples, and the sheet, with label_column: condition", "genomics", "made",
        "no model of the sheet alone", _files(counts__csv=_counts(), samples__csv=_sheet()), Refused("turned_table"), TURNED, settings=_ASKED),
    Row("counts-with-a-label-of-their-own", "the same with label_column: S23", "genomics", "made", "as asked",
        _files(counts__csv=_counts(), samples__csv=_sheet()), Reads("tabular-regression", label="S23"), spares=TURNED,
        settings={"label_column": "S23"}),
    Row("wells-in-columns", "a time and a column for each well, and the layout of the plate", "plate readers", "made", "a question",
        _files(kinetics__csv=_KINETICS, layout__csv=_WELLS), Refused("turned_table", ("Well",)), TURNED),
    Row("labels-in-the-first-row", "a row Label with control and case below the names of the samples", "metabolomics", "metaboanalyst.ca",
        "a question", _files(t__csv=_counts().replace("\n", "\nLabel," + ",".join(["control", "case"][i % 2] for i in range(24)) + "\n", 1)),
        Refused("turned_table", ("Row 2", "case and control")), TURNED),
    Row("a-label-of-several-columns", "cover by site, and the environment of each site, with label_column: use", "ecology", "vegan (dune)",
        "joined by site", _measures, Reads(TASK, rows=60, columns=("a", "b", "c", "d", "e"), label="use", says={"label_column": "depth and soil"}),
        LABELS, settings={"label_column": "use"}),
    Row("keys-of-two-names", "the same, where one file says SiteID and the other #Site", "ecology", "made", "joined by the cells",
        lambda folder: _measures(folder, "SiteID", "#Site"), Reads(TASK, rows=60, columns=("a", "b", "c", "d", "e"), label="use"), LABELS,
        settings={"label_column": "use"}),
    Row("several-columns-unasked", "the same without a label", "ecology", "made", "the question which one", _measures,
        Refused("labels_in_another_table", ("site",)), LABELS),
    Row("texts-in-a-table", "labels.csv with file and label, and texts/doc000.txt, …", "linguistics", "made", "the texts are read", _corpus(),
        Reads("text-classification", rows=40, classes=("letter", "novel"), columns=("text",), says={"named_texts": "40 texts in file"}), FILES),
    Row("texts-and-authors", "metadata.csv with author, year and genre", "digital humanities", "made", "the question which one",
        _corpus("file,author,year,genre", "metadata.csv", lambda i: [f"Author {i % 7}", 1850 + i]), Refused("ambiguous_label", ("author", "genre")),
        FILES),
    Row("spectra-in-a-table", "samples.csv with a name and a class, and spectra/s00.csv, …", "spectroscopy", "made", "no model of single points",
        _spectra(), Refused("rows_of_other_files", ("24 tables", "a row for each")), FILES),
    Row("spectra-with-a-label-asked", "the same with label_column: class", "spectroscopy", "made", "no model of samples.csv alone", _spectra(),
        Refused("rows_of_other_files", ("set data_file",)), FILES, settings=_CLASS),
    Row("diffraction-in-a-table", "the same with .xy files", "materials science", "made", "told that they are not read", _spectra(ending="xy"),
        Refused("rows_of_other_files", ("not read",)), FILES),
    Row("samples-alone", "the same with data_file: samples.csv", "anyone who means it", "made", "the table", _spectra(),
        Reads(TASK, columns=("oil",), label="class"), spares=FILES, settings={"data_file": "samples.csv"}),
    Row("points-as-asked", "the same with label_column: absorbance", "anyone who means it", "made", "a row for each point", _spectra(),
        Reads("tabular-regression", label="absorbance"), spares=FILES, settings={"label_column": "absorbance"}),
    Row("a-list-of-files", "manifest.csv with the size of each file", "archives", "made", "no table of examples",
        _spectra("file,bytes,sha256", of=lambda i: f"spectra/s{i:02}.csv"), NotRefused("rows_of_other_files"), spares=FILES),
    Row("spectra-alone", "the spectra without a table", "spectroscopy", "made", "no model of single points", _spectra(""),
        Refused("tables_are_curves", ("absorbance along wavelength",)), CURVES),
    Row("points-of-spectra-as-asked", "the same with label_column: absorbance", "anyone who means it", "made", "a row for each point", _spectra(""),
        Reads("tabular-regression", label="absorbance"), spares=CURVES, settings={"label_column": "absorbance"}),
    Row("ids-of-a-spreadsheet", "posts with ids, and labels with ids such as 1.23457E+18", "social media", "made", "told that the ids differ",
        _ids(lambda n: f"{n:.5E}"), Refused("labels_of_other_rows", ("1.23457E+18", "as text")), ROUNDED),
    Row("ids-of-many-digits", "the same with whole ids", "social media", "made", "joined by id", _ids(str),
        NotRefused("labels_of_other_rows"), spares=ROUNDED),
    Row("pages-of-books", "book1/p0.txt, book2/p1.txt, …", "libraries", "made", "the question whether books are classes", _folders("book"),
        Refused("ambiguous_label", ("book1", "task")), THINGS),
    Row("pictures-of-cameras", "cam1/p0.png, cam2/p1.png, …", "camera traps", "made", "the question whether cameras are classes",
        _folders("cam", False), Refused("ambiguous_label", ("cam1",)), THINGS),
    Row("stages", "stage1/p0.txt, stage2/p1.txt, …", "medicine", "made", "a classifier", _folders("stage"),
        Reads("text-classification", classes=("stage1", "stage2", "stage3")), spares=THINGS),
)  # fmt: skip
