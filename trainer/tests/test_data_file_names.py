"""Names of files that are written in another way than the cells and folders that name them, and archives in archives."""

import unicodedata

import pytest
from test_archives import raw
from test_data_load import archive, load as load, png, table, texts

from trainer.errors import UserError

NFD = unicodedata.normalize("NFD", "Blüte_früh")
NAMES = [f"Blüte_früh_{i}.png" for i in range(40)]
KEY = table(["file", "label"], [[name, "ab"[i % 2]] for i, name in enumerate(NAMES)])


def packed(page: str, names=NAMES, flags: int = 0) -> bytes:
    return raw([{"name": name.encode(page), "data": png(5 * i), "flags": flags} for i, name in enumerate(names)])


def rows(found) -> int:
    return sum(map(len, found.splits.values()))


@pytest.mark.parametrize(
    "files",
    [
        pytest.param({unicodedata.normalize("NFD", n): png(5 * i) for i, n in enumerate(NAMES)}, id="files of a Mac"),
        pytest.param({n.upper().replace("PNG", "png"): png(5 * i) for i, n in enumerate(NAMES)}, id="another case"),
        pytest.param({f"{n} ": png(5 * i) for i, n in enumerate(NAMES)}, id="a blank at the end"),
        pytest.param({"i.zip": packed("utf-8")}, id="a ZIP of the Finder, without the flag"),
        pytest.param({"i.zip": packed("utf-8", flags=0x800)}, id="a ZIP with the flag"),
        pytest.param({"i.zip": packed("utf-8", [unicodedata.normalize("NFD", n) for n in NAMES])}, id="a ZIP of the Finder with accents apart"),
        pytest.param({"i.zip": packed("cp437")}, id="cp437"),
        pytest.param({"i.zip": packed("cp1252")}, id="cp1252"),
        pytest.param({"i.zip": packed("cp850")}, id="cp850"),
        pytest.param(
            {"i.zip": archive({"Thumbs.db": b"x", "__MACOSX/._a.png": b"x", ".DS_Store": b"x", "in.zip": packed("cp1252")})}, id="in another ZIP"
        ),
    ],
)
def test_images_are_found_by_the_cells_that_name_them(files, load):
    found = load({"key.csv": KEY, **files})
    assert (found.task, rows(found), found.dropped) == ("image-classification", 40, [])


@pytest.mark.parametrize(("page", "word"), [("gbk", "花"), ("shift_jis", "表")])
def test_a_code_page_of_asia_counts_where_cells_match(page, word, load):
    names = [f"{word}{i}.png" for i in range(40)]
    key = table(["file", "label"], [[name, "ab"[i % 2]] for i, name in enumerate(names)])
    assert rows(load({"key.csv": key, "i.zip": packed(page, names)})) == 40


def test_without_evidence_a_name_keeps_the_code_page_of_the_format(load):
    found = load({"i.zip": raw([{"name": f"{c}/{i}.png".encode("cp437"), "data": png(9 * i + (c == "ä"))} for c in ("ä", "b") for i in range(20)])})
    assert found.labels == ("b", "ä")


def test_label_folders_in_two_forms_are_one_class(load):
    files = {f"{f}/{i}.png": png(3 * i + k) for k, f in enumerate(("Blüte_früh", NFD, "Gras ")) for i in range(20)}
    found = load(files)
    assert (found.labels, rows(found)) == (("Blüte_früh", "Gras"), 60)


def test_label_cells_in_two_forms_are_one_class(load):
    found = load(
        {
            "a.csv": table(
                ["text", "label"], [[f"the words of row {i}", ("Grün", unicodedata.normalize("NFD", "Grün"), "Rot")[i % 3]] for i in range(60)]
            )
        }
    )
    assert found.labels == ("Grün", "Rot")


def test_a_table_and_its_images_in_an_archive_of_an_archive(load):
    inner = archive({f"images/{i}.png": png(5 * i) for i in range(40)})
    key = table(["file", "label"], [[f"images/{i}.png", "ab"[i % 2]] for i in range(40)])
    found = load({"data.zip": archive({"train.csv": key, "images.zip": inner, "notes.xyz": b"x"})})
    assert (rows(found), found.files) == (40, ["data/train.csv"])
    ignored = next(d for d in load.events.decisions if d["what"] == "ignored_files")["choice"]
    assert ignored == ["data/notes.xyz (not a table, text or image by its file extension)"]


@pytest.mark.parametrize(
    ("names", "cells", "kept"),
    [
        pytest.param(["A.png", "a.png"], ["A.png", "a.png"], 2, id="names that differ in case alone"),
        pytest.param(["1.png", "2.png"], ["cats/1.png", "dogs/2.png"], 2, id="a flat folder with unique names"),
        pytest.param(["1.png", "2.png"], ["cats/1.png", "dogs/1.png"], 0, id="one image for two cells"),
        pytest.param(["1.png", "1.png"], ["cats/1.png", "dogs/1.png"], 0, id="two images of one name"),
        pytest.param(["x/1.png", "y/1.png"], ["/data/x/1.png", "C:\\d\\y\\1.png"], 2, id="longer paths"),
        pytest.param(["b/1.png"], ["/old/a/1.png", "/new/b/1.png"], 1, id="of two longer paths the one that fits"),
    ],
)
def test_a_cell_names_one_image_or_none(names, cells, kept, tmp_path):
    from trainer.core.input import Input
    from trainer.data.images import Index

    index = Index([Input(name, tmp_path / str(i), 1, "") for i, name in enumerate(names)])
    found, unclear = index.match(cells)
    assert (sum(i is not None for i in found), len({i.file for i in found if i})) == (kept, kept)
    assert kept == len(cells) or unclear


def test_images_whose_folders_are_lost_are_not_guessed(load):
    files = {f"{folder}{i}.png": png(5 * i + len(folder)) for folder in ("", "a/") for i in range(20)}
    key = table(["file", "label"], [[f"{c}/{i}.png", c] for c in ("cats", "dogs") for i in range(20)])
    with pytest.raises(UserError) as e:
        load({"key.csv": key, **files})
    assert e.value.code == "unclear_images" and "ZIP" in e.value.do


def test_a_bomb_in_an_archive_is_measured_by_the_outermost_one(load, monkeypatch):
    from trainer.archive import budget

    monkeypatch.setattr(budget, "RATIO_FROM_BYTES", 100_000)
    bomb = archive({"x.csv": b"a,b\n" * 40_000})  # 160 kB in some 500 bytes
    many = archive({f"{i}.zip": bomb for i in range(9)})
    with pytest.raises(UserError, match="times its size") as e:
        load({"a.csv": texts(), "a.zip": many})
    assert e.value.code == "archive"


def test_a_broken_archive_in_an_archive_is_named(load):
    load({"a.csv": texts(), "a.zip": archive({"b.zip": b"PK no zip", "c.csv": texts(30, "more words of row")})})
    ignored = next(d for d in load.events.decisions if d["what"] == "ignored_files")["choice"]
    assert ignored == ["a/b.zip (is not a readable ZIP archive)"]
