"""Rows about chains of letters that a model can read, about names of rows that look alike, and about long names of columns."""

import random

from trainer.tests.zoo.row import Reads, Row, write

READ, NAMES = "sequences are texts", "long names of columns"
N = 90
_LIKERT = ("Disagree", "Neutral", "Agree")


def _table(header: str, row):
    """Makes a table; ``row`` makes the cells of row i from a source of chance."""

    def make(folder):
        chance = random.Random(3)
        write(folder, "t.csv", "\n".join([header, *(",".join(map(str, row(i, chance))) for i in range(N))]) + "\n")

    return make


def _of(letters: str, least: int, most: int):
    return lambda chance: "".join(chance.choices(letters, k=chance.randrange(least, most)))


_DNA, _PROTEIN = _of("ACGT", 30, 60), _of("ACDEFGHIKLMNPQRSTVWY", 40, 90)


def _molecule(chance) -> str:
    return "C" * chance.randrange(2, 6) + chance.choice(["(=O)", "(N)C", "c1ccccc1", "[nH]"]) * chance.randrange(1, 4) + chance.choice("CNO")


def _labelled(cell):
    return lambda i, chance: (f"s{i}", cell(chance), "xy"[i % 2])


def _measured(cell):
    return lambda i, chance: (f"s{i}", cell(chance), f"{i * 37 % 89 / 10}")


def _fasta(folder):
    chance = random.Random(4)
    for kind in ("promoter", "enhancer"):
        write(folder, f"{kind}.fasta", "".join(f">{kind}_{i}\n{_DNA(chance)}\n" for i in range(N // 2)))


def _fasta_and_labels(folder):
    chance = random.Random(4)
    write(folder, "seqs.fasta", "".join(f">s{i} length 50\n{_DNA(chance)}\n{_DNA(chance)}\n" for i in range(N)))
    write(folder, "labels.csv", "id,class\n" + "".join(f"s{i},{'xy'[i % 2]}\n" for i in range(N)))


def _fasta_in_folders(folder):
    chance = random.Random(4)
    for i in range(N):
        write(folder, f"{'xy'[i % 2]}/{i}.fa", f">s{i}\n{_DNA(chance)}\n")


_CLASSES, _REGRESSION = Reads("text-classification", rows=N, columns=("chain",)), Reads("text-regression", rows=N, columns=("smiles",))

ROWS = (
    Row("dna-with-a-class", "an id, a sequence of DNA and a class", "biologists", "made", "a model of texts",
        _table("id,chain,class", _labelled(_DNA)), _CLASSES, READ),
    Row("proteins-with-a-class", "the same with proteins", "biologists", "made", "a model of texts",
        _table("id,chain,class", _labelled(_PROTEIN)), _CLASSES, READ),
    Row("molecules-with-a-number", "an id, a molecule as SMILES, and a measure with a long name", "chemists", "Delaney (ESOL)", "a regression",
        _table("Compound ID,smiles,measured log solubility in mols per litre", _measured(_molecule)), _REGRESSION, READ),
    Row("sequences-beside-numbers", "DNA beside two numbers", "biologists", "made", "a table; the loss judges the sequence",
        _table("chain,depth,flow,class", lambda i, c: (_DNA(c) + "GATTACAG" * (i % 2), c.random(), c.random(), "xy"[i % 2])),
        Reads("tabular-classification", rows=N, columns=("depth", "flow", "chain"), says={"columns_by_loss": "chain"}), READ),
    Row("fasta-for-each-class", "promoter.fasta and enhancer.fasta", "biologists", "made", "the names are the labels", _fasta,
        Reads("text-classification", rows=N, classes=("enhancer", "promoter"), columns=("sequence",)), READ),
    Row("fasta-and-labels", "a FASTA file, and a table with ids and classes", "biologists", "made", "joined by the id", _fasta_and_labels,
        Reads("text-classification", rows=N, classes=("x", "y"), columns=("sequence",), says={"label_column": "90 of 90"}), READ),
    Row("fasta-in-folders", "a FASTA file for each sequence in a folder for each class", "biologists", "made", "the folders are the labels",
        _fasta_in_folders, Reads("text-classification", rows=N, classes=("x", "y")), READ),
    Row("codes-of-samples", "CN102, OS7: names of samples", "labs", "made", "not read",
        _table("code,depth,class", lambda i, c: (f"{c.choice(['CN', 'OS', 'B'])}{100 + i}", c.random(), "xy"[i % 2])),
        Reads("tabular-classification", rows=N, columns=("depth",)), spares=READ),
    Row("hashes-of-samples", "names of 32 digits", "programs", "made", "not read",
        _table("key,depth,class", lambda i, c: (f"{c.getrandbits(128):032x}", c.random(), "xy"[i % 2])),
        Reads("tabular-classification", rows=N, columns=("depth",)), spares=READ),
    Row("short-capitals", "names of five capital letters", "airports and stocks", "made", "not read",
        _table("sign,depth,class", lambda i, c: (_of("ABCDEFGHIJKLMNOPQRSTUVWXYZ", 5, 6)(c), c.random(), "xy"[i % 2])),
        Reads("tabular-classification", rows=N, columns=("depth",)), spares=READ),
    Row("questions-as-names", "questions of seven and more words above answers of one word, no number anywhere", "surveys", "made",
        "the questions are names", _table(
            "How content are you with all that was done?,Would you come here again in the next year?,verdict",
            lambda i, c: (c.choice(_LIKERT), c.choice(_LIKERT), "xy"[i % 2])),
        Reads("tabular-classification", rows=N, label="verdict"), NAMES),
    Row("answers-without-names", "answers of one word, no names of columns", "surveys", "made", "the first row is data",
        _table("Agree,Neutral,x", lambda i, c: (c.choice(_LIKERT), c.choice(_LIKERT), "xy"[i % 2])), Reads("tabular-classification", rows=N + 1),
        spares=NAMES),
)  # fmt: skip
