"""Data that cannot be used, is dangerous, or is merely strange: a sentence for the user, and never a traceback."""

import io
import json
import random
import zipfile

import pytest
from test_data_load import IMAGES, MANIFEST, archive, load as load, made, png, table, texts

from trainer.errors import UserError

IDENTIFIERS = table(["code", "kind"], [[f"{i:04d}-ab", "xy"[i % 2]] for i in range(60)])


@pytest.mark.parametrize(
    ("files", "settings", "code", "named"),
    [
        pytest.param({}, {}, "empty_dataset", "no files", id="no files"),
        pytest.param({"a.csv": texts()}, {"data_file": "b.csv"}, "unknown_file", "a.csv", id="an unknown file"),
        pytest.param({"a.csv": IDENTIFIERS}, {"task": "tabular-classification"}, "no_features", "code (an identifier)", id="identifiers as a table"),
        pytest.param({"a.csv": texts()}, {"task": "image-classification"}, "no_images", "a.csv", id="a table without images"),
        pytest.param({"a.csv": texts()}, {"task": "text-regression"}, "label_not_a_number", "sentiment", id="words as numbers"),
        pytest.param({"a.csv": texts()}, {"encoding": "klingon"}, "wrong_setting", "klingon", id="an unknown encoding"),
        pytest.param({"a.csv": texts()}, {"delimiter": "ab"}, "wrong_setting", "ab", id="a delimiter of two characters"),
        pytest.param({"a.csv": texts(1)}, {"label_column": "sentiment"}, "one_class", "sentiment", id="one row"),
        pytest.param(
            {"a.csv": made(["question", "answer"], lambda i: [f"tell me of the thing {i}", f"it is thing {i % 24}"], 60)},
            {}, "ambiguous_task", "24 different answers in 60 rows", id="questions whose answers may be classes",
        ),
        pytest.param(
            {"a.csv": made(["text", "label"], lambda i: [" ".join(f"w{i}-{j}" for j in range(2 + i % 5)), "O B O O O O"[: 3 + i % 5 * 2]])},
            {}, "token_task", "text and label", id="tags without brackets",
        ),
        pytest.param(
            {"a.jsonl": "\n".join(json.dumps({"messages": [{"role": "user", "content": f"tell me {i}"}]}) for i in range(60))},
            {}, "conversations", "Row 1 of a.jsonl: the conversation ends with the user, so there is no answer to learn", id="conversations",
        ),
        pytest.param(
            {"a.jsonl": "\n".join(json.dumps({"text": f"some words on {i}", "label": [["a"], ["a", "b"]][i % 2]}) for i in range(60))},
            {"task": "text-classification"}, "several_labels", "label of a.jsonl", id="lists of labels where one is asked for",
        ),
        pytest.param(
            {"a.csv": made(["text", "label", "by"], lambda i: [f"some words on {i}", "ab"[i % 2], i % 2])},
            {"group_column": "by"}, "too_few_groups", "only 2 groups", id="two groups only",
        ),
        pytest.param(
            {"a.csv": made(["text", "label"], lambda i: [f"some words on {i % 2}", "ab"[i % 2]])},
            {}, "too_few_groups", "2 of them are different", id="two texts over and over",
        ),
        pytest.param(
            {"a.csv": made(["picture", "label"], lambda i: [f"p/{i}.JPG", "ab"[i % 2]])},
            {}, "no_images", "for example p/0.JPG", id="a table of images that are not there",
        ),
        pytest.param(
            {"a.csv": made(["a", "b", "c"], lambda i: [i % 2, i * 0.3, i * 0.7], 300)},
            {}, "ambiguous_label", "a has 2 different values in 300 rows (a classification); c has numbers", id="a number or a class to answer",
        ),
        pytest.param({**IMAGES, "a.csv": texts(20)}, {}, "ambiguous_task", "images in folders", id="as many images as rows"),
        pytest.param(
            {f"{c}/{d}/{i}.png": png(i) for c in "ab" for d in "xy" for i in range(5)},
            {}, "ambiguous_label", "folder 2 (x and y)", id="two levels of folders",
        ),
        pytest.param(
            {f"{c}/{i}.png": b"broken" for c in "ab" for i in range(20)},
            {}, "broken_images", "a/0.png", id="images that do not decode",
        ),
        pytest.param(
            {"a.csv": made(["text", "label"], lambda i: [f"some words on {i}", "" if i % 3 else "ab"[i % 2]], 90)},
            {"missing_labels": "fail"}, "missing_labels", "60 rows of a.csv", id="missing labels",
        ),
        pytest.param(
            {"m/config.json": '{"model_type": "bert"}', "m/pytorch_model.bin": b"\x80", "m/vocab2.txt": "a\nb\n"},
            {}, "no_table", "part of a model", id="only a model",
        ),
        pytest.param({"a.sav": b"x", "b.sav": b"x"}, {}, "no_table", "a.sav and b.sav (an SPSS file: save", id="files of scientific programs"),
        pytest.param({f"{c}/{i}.HEIC": b"x" for c in "ab" for i in range(9)}, {}, "no_table", "15 more (an unsupported", id="images of phones"),
        pytest.param(
            {"a.zip": archive({"b.zip": archive({"c.zip": archive({"d.csv": texts()})})})},
            {}, "no_table", "in an archive in", id="an archive in two others",
        ),
        pytest.param({"a.zip": b"PK\x03\x04 no zip"}, {}, "no_table", "not a readable ZIP archive", id="a broken archive"),
        pytest.param({"a.zip": archive({"b.csv": b"a,b\n" * 30_000_000})}, {}, "archive", "too large", id="an archive that explodes"),
        pytest.param({"a.csv": b"text,label\n" + b"a\0b,c\n" * 50}, {}, "no_table", "zero bytes", id="zero bytes"),
        pytest.param({"x/predictions.csv": texts(), "x/manifest.json": MANIFEST}, {}, "no_table", "earlier run", id="only results of ours"),
    ],
)  # fmt: skip
def test_an_unusable_dataset_is_refused_with_a_sentence(files, settings, code, named, load):
    with pytest.raises(UserError) as e:
        load(files, **settings)
    assert e.value.code == code
    assert named in str(e.value)
    assert e.value.what.endswith(".")
    assert e.value.do.endswith(".")


def test_a_table_of_images_makes_their_folders_clear(load):
    files = {f"{c}/{d}/{i}.png": png(16 * i + "wxyz".index(d) + 4 * "ab".index(c)) for c in "ab" for d in "xy" for i in range(8)}
    found = load({**files, "l.csv": table(["file", "label"], [[name, "pq"[i % 2]] for i, name in enumerate(files)])})
    assert (found.columns, found.labels) == (("file",), ("p", "q"))


def test_a_wrong_column_is_not_hidden_by_folders(load):
    with pytest.raises(UserError, match="no column mood"):
        load({**IMAGES, "a.csv": texts(40)}, label_column="mood")


def test_the_folder_level_can_be_chosen(load):
    files = {f"{c}/{d}/{i}.png": png(16 * i + "wxyz".index(d) + 4 * "ab".index(c)) for c in "ab" for d in "xy" for i in range(8)}
    found = load(files, label_column="folder 2")
    assert found.labels == ("x", "y")


def test_members_of_an_archive_stay_inside(load, tmp_path):
    names = ("../../evil.csv", "/abs.csv", "C:\\x\\w.csv", ".hidden/y.csv", "good.csv")
    hostile = {**{name: texts() for name in names}, "inner.zip": archive({"x.csv": texts()})}
    found = load({"sub/a.zip": archive(hostile)})
    assert found.files == ["sub/a/good.csv", "sub/a/inner/x.csv"]
    assert not (tmp_path.parent / "evil.csv").exists()
    assert [p.name for p in (tmp_path / "work" / "expanded").rglob("*") if p.is_file()] == ["000001", "000002", "000001"]
    assert "3 files" in next(w["text"] for w in load.events.warnings if w["code"] == "archive")


def test_links_in_an_archive_are_refused(load):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as z:
        link = zipfile.ZipInfo("link.csv")
        link.external_attr = 0o120777 << 16
        z.writestr(link, "/etc/passwd")
        z.writestr("good.csv", texts())
    assert load({"a.zip": out.getvalue()}).files == ["a/good.csv"]


def test_mixed_encodings_are_read_each_by_its_own(load):
    words = "grüne Wörter in Nummer"
    found = load({"a.csv": texts(40, words).encode(), "b.csv": texts(40, words + " b").encode("cp1252")})
    assert all("grüne Wörter" in e.content for rows in found.splits.values() for e in rows)
    assert sum(map(len, found.splits.values())) == 80


def test_a_huge_cell_is_a_text_like_others(load):
    found = load({"a.csv": made(["text", "label"], lambda i: ["word " * 2_000_000 if i == 7 else f"some words on {i}", "ab"[i % 2]], 60)})
    assert max(len(e.content) for rows in found.splits.values() for e in rows) > 9_000_000


def test_a_label_as_long_as_a_text_is_left_out(load):
    found = load({"a.csv": made(["text", "label"], lambda i: [f"some words on {i}", "x" * 3_000_000 if i == 7 else "ab"[i % 2]], 60)})
    assert found.labels == ("a", "b")
    assert ("the label has more than 500 characters", 1) in found.dropped
    assert max(len(w["text"]) for w in load.events.warnings) < 1000


def test_ten_thousand_classes_are_counted_fast(load):
    rows = [[f"some words on {i}", f"class{i % 10_000}"] for i in range(40_000)]
    found = load({"a.csv": table(["text", "label"], rows)})
    assert len(found.labels) == 10_000
    assert "small_classes" in [w["code"] for w in load.events.warnings]


WORDS = b', " ; a 1 0.5 label text { } [1] null'.split()
HOSTILE = [b"\0", b"\n", b"\r", b"\t", b" " * 50, b"\xff", b"\xc3\xa9", b"x y z", *WORDS]
CELLS = ("a", "b", "", "7", "1,5", "nan", "some words here", "0.25", "3.75")
TASKS = ("auto", "auto", "text-regression", "image-classification", "tabular-classification", "tabular-regression")


@pytest.mark.parametrize("seed", range(150))
def test_any_bytes_are_a_dataset_or_an_error_of_the_user(seed, load):
    chance = random.Random(seed)
    names = ("a.csv", "b.tsv", "c.txt", "d.jsonl", "e.json", "f.parquet", "g.zip", "x/h.png", "y/i.png", "train/p/j.txt", "k")
    files = {}
    for name in chance.sample(names, chance.randint(1, 4)):
        if chance.random() < 0.5:
            files[name] = b"".join(chance.choices(HOSTILE, k=chance.randint(0, 400)))
        else:
            width = chance.randint(1, 5)
            rows = [chance.choices(CELLS, k=width) for _ in range(chance.randint(0, 80))]
            files[name] = table([chance.choice(("label", "text", "id", "q", "")) for _ in range(width)], rows).encode()
    try:
        found = load(files, task=chance.choice(TASKS))
    except UserError as e:
        assert e.what.endswith(".") and e.do.endswith(".")
    else:
        assert found.splits["train"]
