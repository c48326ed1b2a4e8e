"""Whole datasets of many shapes: what is found in them, and what is said of those that cannot be used."""

import collections
import csv
import io
import json
import random
import zipfile
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import loading
import pytest
from conftest import REVIEWS

from trainer.archive.budget import Budget
from trainer.core.example import SPLITS
from trainer.core.input import Input
from trainer.errors import UserError
from trainer.run_folder.events import Events

MANIFEST = json.dumps(  # as the service delivers it with a run
    {
        "schema": 2, "kind": "training", "task": "text-classification", "run": "ft-1", "extractor": "ncsa.ray.finetune",
        "dataset": {"name": "d", "sha256": "0" * 64, "files": []}, "settings": [], "versions": {"torch": "2"},
        "outputs": [{"path": "out/predictions.csv", "size": 1, "sha256": "0" * 64}, {"path": "out/model/labels.json", "size": 1, "sha256": "0" * 64}],
    }
)  # fmt: skip


@pytest.fixture
def load(tmp_path):
    """load(files, **settings) reads a dataset of these files; ``load.events`` are the events of the last call."""

    def call(files: dict, labels: dict | None = None, columns: dict | None = None, **settings):
        call.events = Events(tmp_path / "events.jsonl", 1)
        call.folder = tmp_path
        spec = spec_of(tmp_path, files)
        labels, columns = labels or {}, columns or {}
        spec.inputs = tuple(replace(i, label=labels.get(i.name, ""), columns=columns.get(i.name, ())) for i in spec.inputs)
        return loading.load(spec, call.events, **settings)

    return call


def spec_of(folder: Path, files: dict):
    """A run folder with these files of the dataset: names to bytes or text."""
    inputs = []
    for i, (name, content) in enumerate(files.items()):
        file = folder / "inputs" / str(i)
        file.parent.mkdir(exist_ok=True)
        file.write_bytes(content.encode() if isinstance(content, str) else content)
        inputs.append(Input(name, file, file.stat().st_size, "", f"id{i}"))
    return SimpleNamespace(inputs=tuple(inputs), not_read=(), folder=folder, work=folder / "work", budget=Budget())


def table(header, rows, delimiter=",") -> str:
    out = io.StringIO()
    csv.writer(out, delimiter=delimiter).writerows([header, *rows])
    return out.getvalue()


def made(header, row, n: int = 60) -> str:
    return table(header, map(row, range(n)))


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
        pytest.param(
            {"a.csv": texts().replace(",", "\t")},
            "text-classification",
            ("review",),
            "sentiment",
            id="tabs in a file called csv",
        ),
        pytest.param({"a.csv": CLASSES}, "tabular-classification", ("a", "b", "kind"), "species", id="measurements with a class"),
        pytest.param({"a.csv": MEASURES}, "tabular-regression", ("a", "b", "kind"), "y", id="measurements with a number"),
        pytest.param(
            {"a.csv": made(["text", "score"], lambda i: [f"some words on thing {i}", i * 0.37], 60)},
            "text-regression",
            ("text",),
            "score",
            id="texts with a number",
        ),  # fmt: skip
        pytest.param(
            {"a.json": json.dumps([{"text": f"some words on {i}", "label": i % 2} for i in range(60)])},
            "text-classification",
            ("text",),
            "label",
            id="a JSON list",
        ),
        pytest.param(
            {"a.json": "\n".join(json.dumps({"text": f"some words on {i}", "label": i % 2}) for i in range(60))},
            "text-classification",
            ("text",),
            "label",
            id="JSON lines called json",
        ),
        pytest.param(
            {f"{c}/{i}.txt": f"the text number {i} of them, {c == 'x'}" for c in "xy" for i in range(20)},
            "text-classification",
            ("text",),
            "",
            id="folders of texts",
        ),
        pytest.param(IMAGES, "image-classification", (), "", id="folders of images"),
        pytest.param(
            {**{f"img/{i}.png": png(i * 4) for i in range(40)}, "l.csv": made(["path", "what"], lambda i: [f"img/{i}.png", "ab"[i % 2]], 40)},
            "image-classification",
            ("path",),
            "what",
            id="a table that names images",
        ),  # fmt: skip
        pytest.param(
            {**{f"img/{i}.png": png(i * 4) for i in range(40)}, "l.csv": made(["image", "digit"], lambda i: [i, i % 4], 40)},
            "image-classification",
            ("image",),
            "digit",
            id="a table that names images without their ending",
        ),  # fmt: skip
        pytest.param(
            {"a.zip": archive({"train.csv": texts(40), "__MACOSX/train.csv": "x"})},
            "text-classification",
            ("review",),
            "sentiment",
            id="a table in an archive",
        ),
        pytest.param({"a.zip": archive(IMAGES)}, "image-classification", (), "", id="folders of images in an archive"),
    ],
)
def test_a_dataset_is_understood(files, task, columns, label, load):
    found = load(files, **({"label_column": "score"} if "regression" in task and "text" in task else {}))
    assert (found.task, found.columns, found.label_column) == (task, columns, label)
    assert bool(found.labels) == (not task.endswith("regression"))
    assert all(found.splits[name] for name in SPLITS)
    assert {c["level"] for c in found.checks} <= {"ok", "warning"}
    assert [c["text"] for c in found.checks if c["level"] == "warning"] == [w["text"] for w in load.events.warnings]
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
    import pyarrow.parquet

    rows = pyarrow.table({"text": [f"some words on {i}" for i in range(60)], "label": [i % 2 for i in range(60)], "tags": [[1, 2]] * 60})
    pyarrow.parquet.write_table(rows, tmp_path / "a.parquet")
    found = load({"a.parquet": (tmp_path / "a.parquet").read_bytes()})
    assert (found.task, found.labels) == ("text-classification", ("0", "1"))
    with pytest.raises(UserError, match="not a readable Parquet file"):
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
    rows = [
        [i, f"{i:04d}-ab", f"2020-01-{i // 2 % 28 + 1:02d}", f"a long remark of words {i}", f"{i * 7 % 50},5", "xyz"[i % 3], "one", "ab"[i % 2]]
        for i in range(200)
    ]
    found = load({"a.csv": table(["nr", "code", "day", "remark", "size", "kind", "unit", "label"], rows, ";")}, task="tabular-classification")
    assert found.types == {"size": "number", "kind": "category"}
    why = next(d["why"] for d in load.events.decisions if d["what"] == "columns")
    for words in ("nr and code (an identifier)", "unit (the same in every row)", "day as date", "remark as text"):
        assert words in why
    said = [d["why"] for d in load.events.decisions if d["what"] == "columns_by_loss"]
    assert [s.split(":")[0] for s in said] == ["The date column day is not used", "The text column remark is not used"]
    assert all(float(e.content[0]) % 1 == 0.5 for e in found.splits["train"])
    assert "constant_columns" in [c["code"] for c in found.checks]


def test_values_that_are_not_numbers_are_dropped_and_counted(load):
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
def test_duplicates_follow_the_option(rule, train, load):
    rows = [[f"some words on {i % 60}", "ab"[i % 2]] for i in range(100)]
    parts = {"train.csv": rows, "test.csv": rows[:10], "val.csv": rows[10:20]}
    files = {name: table(["text", "label"], part) for name, part in parts.items()}
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


def test_a_test_fraction_of_zero_gives_no_test_rows(load):
    found = load({"a.csv": texts(200)}, test_fraction=0, validation_fraction=0.2)
    assert {n: len(r) for n, r in found.splits.items()} == {"train": 160, "validation": 40, "test": 0}
    assert "no_test_rows" in [c["code"] for c in found.checks]


def labelled(load, files: dict, labels: dict, **settings):
    """The dataset of these files, of which some have labels in their metadata."""
    return load(files, labels=labels, label_from="metadata.species", **settings)


def small_images(names: list[str]) -> dict:
    from PIL import Image

    files = {}
    for number, name in enumerate(names):
        out = io.BytesIO()
        Image.new("RGB", (8, 8), (number * 7 % 255, number, 90)).save(out, "PNG")
        files[name] = out.getvalue()
    return files


def test_metadata_of_images_labels_them_in_place_of_folders(load):
    files = small_images([f"site {i % 3}/{i}.png" for i in range(60)])
    labels = {name: ("wren", "robin")[i % 2] for i, name in enumerate(list(files)[:58])}
    found = labelled(load, {**files, "notes.csv": "text,label\na,b\nc,d\n"}, labels)
    assert (found.task, found.labels) == ("image-classification", ("robin", "wren"))
    assert sum(len(rows) for rows in found.splits.values()) == 58
    said = (load.folder / "events.jsonl").read_text()
    assert "The labels of the 58 images are their metadata.species: robin and wren." in said
    assert "it has no metadata.species" in said


def test_metadata_of_texts_labels_them_and_folders_may_split_them(load):
    files = {f"{('train', 'test')[i % 3 == 0]}/{i}.txt": f"The bird number {i} sings here" for i in range(60)}
    found = labelled(load, files, {name: ("wren", "robin")[int(name.split("/")[1][:-4]) % 2] for name in files})
    assert (found.task, found.labels) == ("text-classification", ("robin", "wren"))
    assert len(found.splits["test"]) == 20


def test_without_any_label_in_the_metadata_it_says_so(load):
    with pytest.raises(UserError) as e:
        labelled(load, small_images(["a.png", "b.png"]), {})
    assert e.value.code == "no_label_metadata"
    assert "has a label in metadata.species" in e.value.what
