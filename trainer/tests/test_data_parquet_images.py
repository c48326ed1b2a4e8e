"""Parquet files of images, as Hugging Face writes them."""

import io
import json

import numpy
import pytest
from small_datasets import squares
from test_data_load import archive, load  # noqa: F401 - a fixture
from test_data_prediction import read  # noqa: F401 - a fixture

from trainer import run
from trainer.archive import budget as budgets
from trainer.data.formats import parquet, parquet_images
from trainer.errors import UserError

NAMES = ["left", "right"]


def written(columns: dict, features: dict | None = None, **options) -> bytes:
    import pyarrow
    import pyarrow.parquet

    rows = pyarrow.table(columns)
    if features:
        rows = rows.replace_schema_metadata({"huggingface": json.dumps({"info": {"features": features}})})
    out = io.BytesIO()
    pyarrow.parquet.write_table(rows, out, **options)
    return out.getvalue()


def pictures(count: int = 60, form: str = "structure", labels: str = "names", **options) -> bytes:
    """A Parquet file of bright halves: the images as a structure or as bytes, the labels as numbers with or without names, or as words."""
    found = squares(count)
    cells = [{"bytes": data, "path": f"{name}"} if form == "structure" else data for name, data in found.items()]
    words = [name.split("-")[0] for name in found]
    features = {"image": {"_type": "Image"}, "label": {"names": NAMES, "_type": "ClassLabel"}} if labels == "names" else None
    return written({"image": cells, "label": words if labels == "words" else [NAMES.index(w) for w in words]}, features, **options)


@pytest.mark.parametrize("form", ["structure", "bytes"])
@pytest.mark.parametrize(("labels", "expected"), [("names", ("left", "right")), ("words", ("left", "right")), ("numbers", ("0", "1"))])
def test_images_in_a_parquet_file_are_found_with_their_labels(load, form, labels, expected):  # noqa: F811
    found = load({"train.parquet": pictures(40, form, labels, row_group_size=7)})
    assert (found.task, found.labels, found.columns) == ("image-classification", expected, ("image",))
    assert sum(map(len, found.splits.values())) == 40
    first = found.splits["train"][0]
    assert first.id == f"train.parquet image row {first.row}"
    assert first.target == expected[first.row % 2]


def test_shards_and_archives_of_images_are_read_together(load):  # noqa: F811
    shards = {"data/train-00000-of-00002.parquet": pictures(40), "data/train-00001-of-00002.parquet": pictures(44)}
    found = load({"set.zip": archive({**shards, "data/test-00000-of-00001.parquet": pictures(20)})})
    assert len(found.splits["test"]) == 20
    assert "3 of its files are tables, texts, images" in next(d["why"] for d in load.events.decisions if d["what"] == "archive")


def test_an_image_model_answers_the_images_of_a_parquet_file(read):  # noqa: F811
    examples, _, _ = read({"new.parquet": written({"image": [{"bytes": b, "path": None} for b in squares(6).values()]})}, "image")
    assert [e.file for e in examples] == [f"new.parquet image row {i}" for i in range(1, 7)]


def test_rows_without_an_image_are_left_out(load):  # noqa: F811
    cells = [{"bytes": b if i % 10 else None, "path": "x.png"} for i, b in enumerate(squares(60).values())]
    found = load({"a.parquet": written({"image": cells, "label": ["a", "b"] * 30})})
    assert ("the image they name is not in the dataset", 6) in found.dropped


def test_texts_have_the_names_of_their_labels(load):  # noqa: F811
    columns = {"text": [f"some words on the thing {i}" for i in range(60)], "label": [i % 3 - (i == 59) * 3 for i in range(60)]}
    found = load({"a.parquet": written(columns, {"label": {"names": ["low", "mid", "high"], "_type": "ClassLabel"}})})
    assert found.labels == ("high", "low", "mid")
    assert found.dropped == [("the label is empty", 1)]


@pytest.mark.parametrize("metadata", [b"{", b"[]", b'{"info": 3}', b'{"info": {"features": {"a": {"_type": "ClassLabel", "names": [1]}}}}'])
def test_metadata_that_says_something_else_is_passed_over(metadata):
    assert parquet.class_names({b"huggingface": metadata}) == {}


def test_bytes_that_are_no_images_are_named(load):  # noqa: F811
    with pytest.raises(UserError, match="contains files that are no images in its column audio"):
        load({"a.parquet": written({"audio": [b"RIFF....WAVE"] * 40})})


def test_more_images_than_one_run_may_unpack_are_refused(load, monkeypatch):  # noqa: F811
    monkeypatch.setattr(budgets, "MAX_FILES", 30)
    with pytest.raises(UserError, match=r"The Parquet file a\.parquet is too large to unpack. It has 40 files; at most 30 are read") as e:
        load({"a.parquet": pictures(40)})
    assert "fewer images" in e.value.do


def test_a_small_file_that_repeats_one_large_image_is_refused(load, monkeypatch):  # noqa: F811
    monkeypatch.setattr(budgets, "RATIO_FROM_BYTES", 1_000_000)
    image = numpy.random.default_rng(1).bytes(40_000)
    data = written({"image": [b"\x89PNG\r\n" + image] * 5000, "label": ["a", "b"] * 2500})
    assert len(data) < 200_000
    with pytest.raises(UserError, match="would expand to"):
        load({"a.parquet": data})


def test_a_row_group_that_would_fill_the_memory_is_refused(load, monkeypatch):  # noqa: F811
    monkeypatch.setattr(parquet_images, "memory", lambda: 20_000)
    with pytest.raises(UserError, match="One of its row groups has"):
        load({"a.parquet": pictures(40)})


def test_images_of_a_parquet_file_are_trained_from_bytes_to_results(make_run):
    spec = make_run({"train.parquet": pictures(48)}, epochs=1, model="small-cnn")
    assert run.run(str(spec), "local") == run.OK
    result = json.loads((spec.parent / "result.json").read_text())
    assert result["data"]["files"] == ["train.parquet"]
    assert result["model"]["labels"] == NAMES
