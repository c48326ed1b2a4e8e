"""Whole datasets of many shapes: what is found in them, and what is said of those that cannot be used."""

import collections
import csv
import io
import json
import random
import zipfile
from pathlib import Path
from types import SimpleNamespace

import pytest
from conftest import REVIEWS

from trainer import data
from trainer.errors import UserError
from trainer.events import Events
from trainer.spec import Input

DEFAULTS = {
    "task": "auto", "data_file": "", "text_column": "", "text_pair_column": "", "label_column": "", "id_column": "", "split_column": "",
    "group_column": "", "validation_fraction": 0.1, "test_fraction": 0.1, "max_examples": 0, "duplicates": "warn",
    "missing_labels": "drop", "encoding": "", "delimiter": "", "seed": 42,
}  # fmt: skip


@pytest.fixture
def load(tmp_path):
    """load(files, **settings) reads a dataset of these files; ``load.events`` are the events of the last call."""

    def call(files: dict, **settings):
        call.events = Events(tmp_path / "events.jsonl", 1)
        return data.load(spec_of(tmp_path, files), SimpleNamespace(**{**DEFAULTS, **settings}), call.events)

    return call


def spec_of(folder: Path, files: dict):
    """A run folder with these files of the dataset: names to bytes or text."""
    inputs = []
    for i, (name, content) in enumerate(files.items()):
        file = folder / "inputs" / str(i)
        file.parent.mkdir(exist_ok=True)
        file.write_bytes(content.encode() if isinstance(content, str) else content)
        inputs.append(Input(name, file, file.stat().st_size, "", f"id{i}"))
    return SimpleNamespace(inputs=tuple(inputs), folder=folder)


def table(header, rows, delimiter=",") -> str:
    out = io.StringIO()
    csv.writer(out, delimiter=delimiter).writerows([header, *rows])
    return out.getvalue()


def texts(n: int = 60, words: str = "this is the review number") -> str:
    return table(["id", "review", "sentiment"], [[i, f"{words} {i}", "ab"[i % 2]] for i in range(n)])


def png(shade: int, size: int = 8) -> bytes:
    from PIL import Image

    out = io.BytesIO()
    Image.new("L", (size, size), shade).save(out, "PNG")
    return out.getvalue()


def archive(files: dict) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as z:
        for name, content in files.items():
            z.writestr(name, content)
    return out.getvalue()


def _measures(n=300, seed=1):
    chance = random.Random(seed)
    return [[i, chance.gauss(0, 1), chance.random() * 9, chance.choice("xyz"), "same", chance.gauss(5, 2)] for i in range(n)]


IMAGES = {f"{c}/{i}.png": png(16 * i + 100 * (c == "dog")) for c in ("cat", "dog") for i in range(10)}
MEASURES = table(["id", "a", "b", "kind", "unit", "y"], _measures())
CLASSES = table(["a", "b", "kind", "species"], [[r[1], r[2], r[3], "uvw"[r[0] % 3]] for r in _measures()])


@pytest.mark.parametrize(
    ("files", "task", "columns", "label"),
    [
        pytest.param({"a.csv": texts()}, "text-classification", ("review",), "sentiment", id="a table of texts"),
        pytest.param({"a.csv": texts().replace(",", "\t")}, "text-classification", ("review",), "sentiment", id="tabs in a file called csv"),
        pytest.param({"a.csv": CLASSES}, "tabular-classification", ("a", "b", "kind"), "species", id="measurements with a class"),
        pytest.param({"a.csv": MEASURES}, "tabular-regression", ("a", "b", "kind"), "y", id="measurements with a number"),
        pytest.param(
            {"a.csv": table(["text", "score"], [[f"some words on thing {i}", i * 0.37] for i in range(60)])},
            "text-regression", ("text",), "score", id="texts with a number",
        ),  # fmt: skip
        pytest.param({"a.json": json.dumps([{"text": f"some words on {i}", "label": i % 2} for i in range(60)])}, "text-classification", ("text",), "label", id="a JSON list"),
        pytest.param({"a.json": "\n".join(json.dumps({"text": f"some words on {i}", "label": i % 2}) for i in range(60))}, "text-classification", ("text",), "label", id="JSON lines called json"),
        pytest.param({f"{c}/{i}.txt": f"the text number {i} of them, {c == 'x'}" for c in "xy" for i in range(20)}, "text-classification", ("text",), "", id="folders of texts"),
        pytest.param(IMAGES, "image-classification", (), "", id="folders of images"),
        pytest.param(
            {**{f"img/{i}.png": png(i * 4) for i in range(40)}, "l.csv": table(["path", "what"], [[f"img/{i}.png", "ab"[i % 2]] for i in range(40)])},
            "image-classification", ("path",), "what", id="a table that names images",
        ),  # fmt: skip
        pytest.param(
            {**{f"img/{i}.png": png(i * 4) for i in range(40)}, "l.csv": table(["image", "digit"], [[i, i % 4] for i in range(40)])},
            "image-classification", ("image",), "digit", id="a table that names images without their ending",
        ),  # fmt: skip
        pytest.param({"a.zip": archive({"train.csv": texts(40), "__MACOSX/train.csv": "x"})}, "text-classification", ("review",), "sentiment", id="a table in an archive"),
        pytest.param({"a.zip": archive(IMAGES)}, "image-classification", (), "", id="folders of images in an archive"),
    ],
)
def test_a_dataset_is_understood(files, task, columns, label, load):
    found = load(files, **({"label_column": "score"} if "regression" in task and "text" in task else {}))
    assert (found.task, found.columns, found.label_column) == (task, columns, label)
    assert bool(found.labels) == (not task.endswith("regression"))
    assert all(found.splits[name] for name in data.SPLITS)
    assert {c["level"] for c in found.checks} <= {"ok", "warning"}
    assert [c["text"] for c in found.checks if c["level"] == "warning"] == [w["text"] for w in load.events.warnings if w["code"] not in ("bad_rows", "archive")]
    assert all(d["why"].endswith(".") for d in load.events.decisions)


def test_the_bundled_reviews(load):
    found = load({n: (REVIEWS / n).read_bytes() for n in ("train.csv", "test.csv")})
    assert {n: len(rows) for n, rows in found.splits.items()} == {"train": 1079, "validation": 121, "test": 300}
    assert found.labels == ("negative", "positive")
    assert sum(found.counts().values()) == 1079
    first = found.splits["test"][0]
    assert (first.file, first.row) == ("test.csv", 2)
    assert not [c for c in found.checks if c["level"] != "ok"]
    assert load({n: (REVIEWS / n).read_bytes() for n in ("test.csv", "train.csv")}).split_sha256 == found.split_sha256


def test_parquet_is_read_with_its_types(load, tmp_path):
    pyarrow = pytest.importorskip("pyarrow")
    import pyarrow.parquet

    rows = pyarrow.table({"text": [f"some words on {i}" for i in range(60)], "label": [i % 2 for i in range(60)], "tags": [[1, 2]] * 60})
    pyarrow.parquet.write_table(rows, tmp_path / "a.parquet")
    found = load({"a.parquet": (tmp_path / "a.parquet").read_bytes()})
    assert (found.task, found.labels) == ("text-classification", ("0", "1"))
    with pytest.raises(UserError, match="not a Parquet file"):
        load({"a.parquet": b"PAR1 but not more"})


@pytest.mark.parametrize("name", ["breast_cancer", "wine", "iris"])
def test_known_tables_are_read_as_such(name, load):
    known = pytest.importorskip("sklearn.datasets")
    d = getattr(known, f"load_{name}")()
    found = load({"d.csv": table([*d.feature_names, "target"], [[*map(float, x), d.target_names[t]] for x, t in zip(d.data, d.target)])})
    assert found.task == "tabular-classification"
    assert found.columns == tuple(d.feature_names)
    assert set(found.types.values()) == {"number"}
    assert set(found.labels) == set(d.target_names)


def test_digits_in_folders_keep_the_given_split(load):
    known = pytest.importorskip("sklearn.datasets")
    from PIL import Image

    d, files = known.load_digits(), {}
    for i in range(300):
        out = io.BytesIO()
        Image.fromarray((d.images[i] * 15).astype("uint8")).save(out, "PNG")
        files[f"digits/{'train' if i < 200 else 'test'}/{d.target[i]}/{i}.png"] = out.getvalue()
    found = load({**files, "digits/train/0/broken.png": b"\x89PNG no more"})
    assert (found.task, found.labels) == ("image-classification", tuple("0123456789"))
    assert len(found.splits["test"]) == 100
    assert ("the image cannot be decoded", 1) in found.dropped
    assert "broken.png" in next(c["text"] for c in found.checks if c["code"] == "images")
    assert isinstance(found.splits["train"][0].content, Path)


def test_what_a_table_model_cannot_read_is_left_out_and_named(load):
    rows = [[i, f"{i:04d}-ab", f"2020-01-{i % 28 + 1:02d}", f"a long remark of words {i}", f"{i * 7 % 50},5", "xyz"[i % 3], "one", "ab"[i % 2]] for i in range(200)]
    found = load({"a.csv": table(["nr", "code", "day", "remark", "size", "kind", "unit", "label"], rows, ";")}, task="tabular-classification")
    assert found.types == {"size": "number", "kind": "category"}
    why = next(d["why"] for d in load.events.decisions if d["what"] == "columns")
    for words in ("nr and code (an identifier)", "day (dates)", "remark (free text)", "unit (the same in every row)"):
        assert words in why
    assert all(float(e.content[0]) % 1 == 0.5 for e in found.splits["train"])
    assert "constant_columns" in [c["code"] for c in found.checks]


def test_numbers_that_are_none_are_dropped_and_counted(load):
    rows = [[i * 0.5, "n/a" if i % 50 == 0 else f"1.{i:03d},5"] for i in range(200)]
    found = load({"a.csv": table(["x", "y"], rows, ";")}, task="tabular-regression")
    assert found.dropped == [("the label is not a number", 4)]
    assert min(float(e.target) for rows in found.splits.values() for e in rows) == 1001.5


def test_a_pair_of_texts(load):
    rows = [[f"the first text {i}", f"a second one {i}", "ab"[i % 2]] for i in range(60)]
    found = load({"a.csv": table(["premise", "claim", "label"], rows)}, text_column="premise", text_pair_column="claim")
    assert (found.columns, found.types) == (("premise", "claim"), {"claim": "pair"})
    assert all(isinstance(e.content, tuple) and len(e.content) == 2 for e in found.splits["train"])


def test_a_split_column_and_an_id_column_are_no_features(load):
    rows = [[f"k{i}", f"some words on {i}", "ab"[i % 2], ("train", "train", "dev", "test")[i // 2 % 4]] for i in range(80)]
    found = load({"a.csv": table(["key", "text", "label", "split"], rows)}, id_column="key")
    assert {n: len(r) for n, r in found.splits.items()} == {"train": 40, "validation": 20, "test": 20}
    assert found.splits["train"][0].id == "k0"
    with pytest.raises(UserError, match="some words on 0"):
        load({"a.csv": table(["key", "text", "label", "split"], rows)}, split_column="text")


def test_groups_stay_together(load):
    rows = [[f"some words on {i}", "ab"[i % 2], f"person {i // 4}"] for i in range(400)]
    found = load({"a.csv": table(["text", "label", "who"], rows)}, group_column="who")
    groups = {n: {e.group for e in r} for n, r in found.splits.items()}
    assert sum(map(len, groups.values())) == 100
    assert all(groups.values())


@pytest.mark.parametrize(("rule", "train"), [("warn", 60), ("drop", 40), ("keep", 100)])
def test_copies_follow_the_rule(rule, train, load):
    rows = [[f"some words on {i % 60}", "ab"[i % 2]] for i in range(100)]
    files = {"train.csv": table(["text", "label"], rows), "test.csv": table(["text", "label"], rows[:10]), "val.csv": table(["text", "label"], rows[10:20])}
    found = load(files, duplicates=rule)
    assert len(found.splits["train"]) == train
    assert "duplicates" in [w["code"] for w in load.events.warnings]
    assert ("split_overlap" in [w["code"] for w in load.events.warnings]) is (rule == "keep")


def test_fewer_examples_look_like_all(load):
    rows = [[f"some words on {i}", "aaab"[i % 4]] for i in range(1000)]
    found = load({"a.csv": table(["text", "label"], rows)}, max_examples=200)
    assert sum(map(len, found.splits.values())) == 200
    counts = collections.Counter(e.target for r in found.splits.values() for e in r)
    assert counts == {"a": 150, "b": 50}


def test_no_test_rows_where_none_are_wanted(load):
    found = load({"a.csv": texts(200)}, test_fraction=0, validation_fraction=0.2)
    assert {n: len(r) for n, r in found.splits.items()} == {"train": 160, "validation": 40, "test": 0}
    assert "no_test_rows" in [c["code"] for c in found.checks]


@pytest.mark.parametrize(
    ("files", "settings", "code"),
    [
        pytest.param({"a.csv": table(["x", "code", "class"], [[i * 0.7 % 3, "PN"[i % 2], "yn"[i % 2]] for i in range(300)])}, {}, "label_leak", id="a column that is the label in other words"),
        pytest.param({"a.csv": table(["euro", "dollar", "kind", "y"], [[i * 1.5 + 3, i % 7, "ab"[i % 2], i * 3.1] for i in range(300)])}, {}, "label_leak", id="the target in another unit"),
        pytest.param({"a.csv": table(["text", "label"], [[f"thing {i} is {'good' if i % 2 else 'poor'}", "good" if i % 2 else "poor"] for i in range(300)])}, {}, "label_leak", id="the label in the text"),
        pytest.param({"a.csv": table(["text", "label"], [[f"thing {i} is it", "a" if i % 10 else "b"] for i in range(300)])}, {}, "class_imbalance", id="a rare class"),
        pytest.param({"a.csv": table(["text", "label"], [[f"thing {i // 2} is it", "ab"[i % 2]] for i in range(300)])}, {}, "conflicting_labels", id="one text with two labels"),
        pytest.param({"a.csv": table(["x", "z", "label"], [[i * 0.7, i if i % 2 else "", "abc"[i % 3]] for i in range(300)])}, {}, "empty_cells", id="a column that is half empty"),
        pytest.param({"a.csv": texts(60)}, {}, "few_rows", id="few rows"),
        pytest.param({"a.csv": table(["text", "label"], [[f"thing {i} is it", "c" if i < 3 else "ab"[i % 2]] for i in range(300)])}, {}, "rows_per_class", id="a class of three rows"),
    ],
)  # fmt: skip
def test_what_would_spoil_the_figures_is_said(files, settings, code, load):
    found = load(files, **settings)
    assert code in [c["code"] for c in found.checks if c["level"] == "warning"]
    assert code in [w["code"] for w in load.events.warnings]


@pytest.mark.parametrize(
    ("files", "settings", "code", "named"),
    [
        pytest.param({}, {}, "empty_dataset", "no files", id="no files"),
        pytest.param({"a.csv": texts()}, {"data_file": "b.csv"}, "unknown_file", "a.csv", id="an unknown file"),
        pytest.param({"a.csv": texts()}, {"task": "tabular-classification"}, "no_features", "review (free text)", id="texts as a table"),
        pytest.param({"a.csv": texts()}, {"task": "image-classification"}, "no_images", "a.csv", id="a table without images"),
        pytest.param({"a.csv": texts()}, {"task": "text-regression"}, "label_not_a_number", "sentiment", id="words as numbers"),
        pytest.param({"a.csv": texts()}, {"encoding": "klingon"}, "wrong_setting", "klingon", id="an unknown encoding"),
        pytest.param({"a.csv": texts()}, {"delimiter": "ab"}, "wrong_setting", "ab", id="a delimiter of two characters"),
        pytest.param({"a.csv": texts(1)}, {"label_column": "sentiment"}, "one_class", "sentiment", id="one row"),
        pytest.param({"a.csv": table(["instruction", "output"], [[f"tell me of thing {i}", f"the thing {i} is it"] for i in range(60)])}, {}, "language_model_task", "instruction and output", id="prompts and answers"),
        pytest.param({"a.csv": table(["source", "target"], [[i * 7 % 50, i * 11 % 47] for i in range(600)])}, {}, "graph_task", "source and target", id="edges of a graph"),
        pytest.param({"a.csv": table(["a", "b", "c"], [[i % 2, i * 0.3, i * 0.7] for i in range(300)])}, {}, "ambiguous_label", "a and c", id="a number or a class to answer"),
        pytest.param({**IMAGES, "a.csv": texts(20)}, {}, "ambiguous_task", "images in folders", id="as many images as rows"),
        pytest.param({f"{c}/{d}/{i}.png": png(i) for c in "ab" for d in "xy" for i in range(5)}, {}, "ambiguous_label", "folder 2 (x and y)", id="two levels of folders"),
        pytest.param({f"{c}/{i}.png": b"broken" for c in "ab" for i in range(20)}, {}, "broken_images", "a/0.png", id="images that do not decode"),
        pytest.param({"a.csv": table(["text", "label"], [[f"some words on {i}", "" if i % 3 else "ab"[i % 2]] for i in range(90)])}, {"missing_labels": "fail"}, "missing_labels", "60 rows of a.csv", id="missing labels"),
        pytest.param({"m/config.json": "{}", "m/pytorch_model.bin": b"\x80", "m/vocab2.txt": "a\nb\n"}, {}, "no_table", "part of a model", id="only a model"),
        pytest.param({"a.zip": b"PK\x03\x04 no zip"}, {}, "no_table", "not a ZIP archive", id="a broken archive"),
        pytest.param({"a.zip": archive({"b.csv": b"a,b\n" * 40_000_000})}, {}, "archive", "too large", id="an archive that explodes"),
        pytest.param({"a.csv": b"text,label\n" + b"a\0b,c\n" * 50}, {}, "no_table", "zero bytes", id="zero bytes"),
        pytest.param({"finetune/x/predictions.csv": texts()}, {}, "no_table", "earlier run", id="only results of ours"),
    ],
)  # fmt: skip
def test_what_cannot_be_used_is_answered_with_a_sentence(files, settings, code, named, load):
    with pytest.raises(UserError) as e:
        load(files, **settings)
    assert e.value.code == code
    assert named in str(e.value)
    assert e.value.what.endswith(".")
    assert e.value.do.endswith(".")


def test_the_folder_level_can_be_chosen(load):
    found = load({f"{c}/{d}/{i}.png": png(16 * i + "wxyz".index(d) + 4 * "ab".index(c)) for c in "ab" for d in "xy" for i in range(8)}, label_column="folder 2")
    assert found.labels == ("x", "y")


def test_members_of_an_archive_stay_inside(load, tmp_path):
    hostile = {"../../evil.csv": texts(), "/abs.csv": texts(), "C:\\x\\w.csv": texts(), "inner.zip": archive({"x.csv": texts()}), ".hid/y.csv": texts(), "good.csv": texts()}
    found = load({"sub/a.zip": archive(hostile)})
    assert found.files == ["sub/a/good.csv"]
    assert not (tmp_path.parent / "evil.csv").exists()
    assert [p.name for p in (tmp_path / "expanded").rglob("*") if p.is_file()] == ["000001"]
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
    found = load({"a.csv": table(["text", "label"], [["word " * 2_000_000 if i == 7 else f"some words on {i}", "ab"[i % 2]] for i in range(60)])})
    assert max(len(e.content) for rows in found.splits.values() for e in rows) > 9_000_000


def test_ten_thousand_classes_are_counted_fast(load):
    rows = [[f"some words on {i}", f"class{i % 10_000}"] for i in range(40_000)]
    found = load({"a.csv": table(["text", "label"], rows)})
    assert len(found.labels) == 10_000
    assert "small_classes" in [w["code"] for w in load.events.warnings]


HOSTILE = [b"", b"\0", b",", b'"', b"\n", b"\r", b"\t", b";", b"a", b"1", b"0.5", b"\xff", b"\xc3\xa9", b"label", b"text", b"{", b"}", b"[1]", b"null", b" " * 50, b"x y z"]


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
            rows = [[chance.choice(("a", "b", "", "7", "1,5", "nan", "some words here", str(chance.random()))) for _ in range(width)] for _ in range(chance.randint(0, 80))]
            files[name] = table([chance.choice(("label", "text", "id", "q", "")) for _ in range(width)], rows).encode()
    try:
        found = load(files, task=chance.choice(("auto", "auto", "text-regression", "image-classification", "tabular-classification", "tabular-regression")))
    except UserError as e:
        assert e.what.endswith(".") and e.do.endswith(".")
    else:
        assert found.splits["train"]
