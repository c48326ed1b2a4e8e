"""Rows about names: files that are written in another way than the cells that name them, archives, and results of earlier runs."""

import io
import json
import struct
import unicodedata
import zipfile
import zlib

from trainer.tests.zoo.pictures import noise, png
from trainer.tests.zoo.row import Reads, Refused, Row, write

COUNT = 24
UMLAUTS = [f"Blüte_früh_{i:02}.png" for i in range(COUNT)]
NFC, NFD = (lambda name: unicodedata.normalize("NFC", name)), (lambda name: unicodedata.normalize("NFD", name))
MANIFEST = json.dumps(
    {
        "schema": 2, "kind": "training", "task": "text-classification", "run": "ft-1", "extractor": "ncsa.ray.finetune", "settings": [],
        "dataset": {"name": "d", "sha256": "0" * 64, "files": []}, "versions": {"torch": "2"},
        "outputs": [{"path": "out/predictions.csv", "size": 1, "sha256": "0" * 64}, {"path": "out/model/labels.json", "size": 1, "sha256": "0" * 64}],
    }
)  # fmt: skip
BERT = json.dumps({"model_type": "bert", "architectures": ["BertModel"]})
IMAGES = Reads("image-classification", rows=COUNT, classes=("elm", "oak"), silent=("empty_rows",))


def picture(number: int) -> bytes:
    return png(noise(number, high=120 + 100 * (number % 2)))


def key(names, header: str = "file,species") -> str:
    """A table that gives the files of these names two classes in turn."""
    return "\n".join([header, *(f"{name},{'oak' if i % 2 else 'elm'}" for i, name in enumerate(names))]) + "\n"


def measures(rows: int = 60, seed: int = 0) -> str:
    """A table of two classes that one number tells apart."""
    lines = [f"{(i * 37 + seed) % 101 / 10 + 10 * (i % 2)},{(i * 53 + seed) % 89},{'ab'[i % 2]}" for i in range(rows)]
    return "length,width,label\n" + "\n".join(lines) + "\n"


def packed(files: dict) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as z:
        for name, content in files.items():
            z.writestr(name, content)
    return out.getvalue()


def raw_zip(files: dict[bytes, bytes], method: int = 0) -> bytes:
    """An archive with these bytes as names, and without the flag for UTF-8."""
    body, directory = b"", b""
    for name, content in files.items():
        fields = (0, method, 0, 33, zlib.crc32(content), len(content), len(content), len(name), 0)
        at = len(body)
        body += struct.pack("<4s5H3L2H", b"PK\3\4", 20, *fields) + name + content
        directory += struct.pack("<4s6H3L5H2L", b"PK\1\2", 20, 20, *fields, 0, 0, 0, 0, at) + name
    return body + directory + struct.pack("<4s4H2LH", b"PK\5\6", 0, 0, len(files), len(files), len(directory), len(body), 0)


def _files(files: dict):
    def make(folder):
        for name, content in files.items():
            write(folder, name, content)

    return make


def _with_key(names, table=None):
    return _files({"labels.csv": table or key(UMLAUTS), **{name: picture(i) for i, name in enumerate(names)}})


def _zipped(page: str, names=UMLAUTS):
    return _files({"labels.csv": key(names), "images.zip": raw_zip({n.encode(page): picture(i) for i, n in enumerate(names)})})


def _folders(names):
    return _files({f"{name}/{i}.png": picture(100 * k + 2 * i + k % 2) for k, name in enumerate(names) for i in range(COUNT)})


def _pictures(prefix: str = "") -> dict:
    return {f"{prefix}{i}.png": picture(i) for i in range(COUNT)}


MIXED = packed({"train.csv": key([NFD(n) for n in UMLAUTS]), "images.zip": packed({n: picture(i) for i, n in enumerate(UMLAUTS)})})
EARLIER = {"finetune/2026-11-01-bert-1/manifest.json": MANIFEST, "finetune/2026-11-01-bert-1/predictions.csv": measures(80)}
SYSTEM = {"Thumbs.db": b"x", "desktop.ini": "x", "__MACOSX/._0.png": b"x"}

ROWS = (
    Row("accents-of-a-mac", "file names with accents apart, cells with accents in one", "Macs", "cpython 83042", "the images are found",
        _with_key([NFD(n) for n in UMLAUTS]), IMAGES, rule="names in another form"),
    Row("accents-in-cells", "cells with accents apart", "tables written on a Mac", "cpython 83042", "the images are found",
        _with_key(UMLAUTS, key([NFD(n) for n in UMLAUTS])), IMAGES, rule="names in another form"),
    Row("other-letters", "names that differ in a letter, not in its form", "anyone", "user reports", "they are not found",
        _with_key([n.replace("ü", "u") for n in UMLAUTS]), Refused("no_images", ("Blüte",)), spares="names in another form"),
    Row("case-of-names", "IMG.PNG in the folder and img.png in the table", "Windows", "user reports", "the images are found",
        _with_key([n.upper() for n in UMLAUTS]), IMAGES, rule="names in another case"),
    Row("names-that-differ-in-case", "A.png and a.png are two images", "Linux", "user reports", "each cell finds its own",
        _files({"labels.csv": key([c for i in range(12) for c in (f"A{i}.png", f"a{i}.png")]),
                **{c: picture(2 * i + k) for i in range(12) for k, c in enumerate((f"A{i}.png", f"a{i}.png"))}}),
        IMAGES, spares="names in another case"),
    Row("blanks-at-ends", "names and cells with blanks at their ends", "spreadsheets", "user reports", "the images are found",
        _with_key([f"{n} " for n in UMLAUTS], key([f" {n}" for n in UMLAUTS])), IMAGES),
    Row("zip-utf8-without-flag", "a ZIP of the Finder", "Macs", "paperbanana 234", "the images are found",
        _zipped("utf-8"), IMAGES, rule="names of a ZIP without its code page"),
    Row("zip-cp1252", "a ZIP with names in cp1252", "old tools of Windows", "ricecooker 143", "the code page of the cells",
        _zipped("cp1252"), IMAGES, rule="names of a ZIP without its code page"),
    Row("zip-cp850", "a ZIP of a western Windows", "Windows", "apksigcopier 60", "the code page of the cells",
        _zipped("cp850"), IMAGES, rule="names of a ZIP without its code page"),
    Row("zip-gbk", "a ZIP of a Chinese Windows", "Windows", "user reports", "the code page of the cells",
        _zipped("gbk", [f"花{i}.png" for i in range(COUNT)]), IMAGES, rule="names of a ZIP without its code page"),
    Row("zip-shift-jis", "a ZIP of a Japanese Windows, with a backslash in a letter", "Windows", "user reports", "the code page of the cells",
        _zipped("shift_jis", [f"表{i}.png" for i in range(COUNT)]), IMAGES, rule="names of a ZIP without its code page"),
    Row("zip-cp437", "a ZIP as its format says", "Windows", "APPNOTE", "names as the format says",
        _files({"images.zip": raw_zip(
            {f"{c}/{i}.png".encode("cp437"): picture(2 * i + k) for k, c in enumerate(("Ähre", "Blatt")) for i in range(12)})}),
        Reads("image-classification", classes=("Blatt", "Ähre"), rows=24), spares="names of a ZIP without its code page"),
    Row("label-folders-in-two-forms", "a class in two folders whose names look equal", "a Mac and a PC", "cpython 83042", "one class",
        _folders([NFC("Blüte"), NFD("Blüte"), "Gras"]), Reads("image-classification", classes=("Blüte", "Gras"), rows=3 * COUNT),
        rule="label folders in another form"),
    Row("label-folders-that-differ", "two classes that differ in an accent", "botany", "made", "two classes",
        _folders(["Blute", "Blüte"]), Reads("image-classification", classes=("Blute", "Blüte"), rows=2 * COUNT),
        spares="label folders in another form"),
    Row("flat-in-clowder", "cells name folders that Clowder has dropped", "Clowder v1 and v2", "clowder2 925", "found by their unique names",
        _with_key(UMLAUTS, key([f"fields/{n}" for n in UMLAUTS])), IMAGES, rule="images by unique names"),
    Row("flat-with-equal-names", "cats/1.png and dogs/1.png, but one 1.png", "Clowder v1 and v2", "clowder2 925", "no guess",
        _files({"labels.csv": key([f"{c}/{i}.png" for i in range(12) for c in ("cats", "dogs")]), **_pictures(), **_pictures("x/")}),
        Refused("unclear_images", ("ZIP",)), spares="images by unique names"),
    Row("nested-zip", "data.zip with train.csv and images.zip", "downloads", "vision 109", "both are read",
        _files({"data.zip": packed({"train.csv": key(UMLAUTS), "images.zip": packed({n: picture(i) for i, n in enumerate(UMLAUTS)})})}),
        IMAGES, rule="an archive in an archive"),
    Row("nested-too-deep", "an archive in two others", "backups", "made", "named, not read",
        _files({"t.csv": measures(), "a.zip": packed({"b.zip": packed({"c.zip": packed({"d.csv": measures()})})})}),
        Reads("tabular-classification", rows=60, says={"ignored_files": "in an archive"}), spares="an archive in an archive"),
    Row("deflate64", "a ZIP of Windows Explorer above 2 GB", "Windows", "isic-archive 454", "its name and a way out",
        _files({"data.zip": raw_zip({b"train.csv": b"x" * 90}, method=9)}), Refused("archive", ("Deflate64", "7-Zip"))),
    Row("files-of-systems", "Thumbs.db, desktop.ini and __MACOSX", "Windows and Macs", "fastai 488", "left out with the reason",
        _files({**{f"{c}/{i}.png": picture(2 * i + k) for k, c in enumerate("ab") for i in range(12)}, **SYSTEM}),
        Reads("image-classification", rows=24, says={"ignored_files": "operating system"})),
    Row("earlier-run", "a table beside the results of a run", "everyone, the second time", "F9", "the results are left out",
        _files({"t.csv": measures(), **EARLIER}), Reads("tabular-classification", rows=60, says={"ignored_files": "earlier run"}),
        rule="results of an earlier run"),
    Row("earlier-run-at-the-top", "results of a run that were downloaded beside the data", "extractor run", "F9", "the results are left out",
        _files({"t.csv": measures(), "manifest.json": MANIFEST, "predictions.csv": measures(80), "metrics.json": "{}", "log.txt": "x"}),
        Reads("tabular-classification", rows=60, says={"ignored_files": "earlier run"}), rule="results of an earlier run"),
    Row("own-finetune-folder", "the user's table in a folder finetune", "anyone", "F9", "the table is data",
        _files({"finetune/predictions.csv": measures()}), Reads("tabular-classification", rows=60), spares="results of an earlier run"),
    Row("own-predictions", "a table called predictions.csv", "meteorology", "F9", "the table is data",
        _files({"predictions.csv": measures()}), Reads("tabular-classification", rows=60), spares="results of an earlier run"),
    Row("labels-json", "labels.json beside class folders", "Label Studio", "F9", "not called a result",
        _files({"labels.json": "{}", **{f"{c}/{i}.png": picture(2 * i + k) for k, c in enumerate("ab") for i in range(12)}}),
        Reads("image-classification", rows=24), spares="results of an earlier run"),
    Row("other-manifest", "a manifest.json of something else", "web pages", "F9", "the other files are data",
        _files({"manifest.json": '{"name": "app", "icons": []}', "predictions.csv": measures()}), Reads("tabular-classification", rows=60),
        spares="results of an earlier run"),
    Row("model-folder", "a table beside a folder with a model", "Hugging Face users", "F11", "the model is left out",
        _files({"t.csv": measures(), "m/config.json": BERT, "m/model.safetensors": b"x", "m/vocab.csv": measures(90)}),
        Reads("tabular-classification", rows=60, says={"ignored_files": "part of a model"}), rule="a model's folder"),
    Row("camera", "config.json of a camera beside HDF5 and a table", "TERRA-REF", "F11", "the table is data, HDF5 is named",
        _files({"config.json": '{"lens": 35}', "cube.h5": b"\x89HDF", "frame.bin": b"x", "t.csv": measures()}),
        Reads("tabular-classification", rows=60, says={"ignored_files": "HDF5"}), spares="a model's folder"),
    Row("mixed-1", "a nested ZIP, accents apart in its table, and results of a run", "a Mac, the second time", "F9, F10", "all at once",
        _files({"data.zip": MIXED, **EARLIER}), Reads("image-classification", rows=COUNT)),
    Row("mixed-2", "cp1252 in a ZIP, files of systems, a camera's config.json", "Windows", "F10, F11", "all at once",
        _files({"labels.csv": key(UMLAUTS), "i.zip": raw_zip({n.encode("cp1252"): picture(i) for i, n in enumerate(UMLAUTS)}), **SYSTEM,
                "config.json": '{"lens": 35}'}), Reads("image-classification", rows=COUNT)),
    Row("mixed-3", "lost folders, another case, blanks at ends", "Clowder and Windows", "F10", "all at once",
        _with_key([f"{n.upper()} " for n in UMLAUTS], key([f"d/{n}" for n in UMLAUTS])), IMAGES),
    Row("mixed-4", "own predictions.csv, own finetune folder, HDF5", "meteorology", "F9, F11", "all at once",
        _files({"predictions.csv": measures(), "finetune/predictions.csv": measures(60, 7), "cube.h5": b"x"}),
        Reads("tabular-classification", rows=120)),
    Row("mixed-5", "a model, results of a run, and class folders in two forms", "Macs", "F9 to F11", "all at once",
        _files({**{f"{f('Blüte')}/{k}{i}.png": picture(2 * i) for k, f in enumerate((NFC, NFD)) for i in range(12)},
                **{f"Gras/{i}.png": picture(2 * i + 1) for i in range(12)}, **EARLIER, "m/config.json": BERT, "m/a.pt": b"x"}),
        Reads("image-classification", rows=36, classes=("Blüte", "Gras"))),
)  # fmt: skip
