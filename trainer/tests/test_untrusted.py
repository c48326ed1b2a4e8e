"""Files that others may have written: read up to a limit, never waited for, never run."""

import json
import os
import stat
import struct
from types import SimpleNamespace

import pytest
from test_data_load import load as load, made, png, texts

from trainer.data import images
from trainer.data.formats import parquet, tables
from trainer.errors import UserError
from trainer.export import results
from trainer.kinds.table.network import Perceptron
from trainer.models import saved_model
from trainer.run_folder import files, stop
from trainer.train.checkpoint import Checkpoints
from trainer.train.position import Position


def test_no_more_than_the_limit_of_a_file_is_read(tmp_path):
    (tmp_path / "x.json").write_text("[1, 2, 3]")
    assert files.read_json(tmp_path / "x.json", 9) == [1, 2, 3]
    with pytest.raises(ValueError, match=r"x\.json is larger than 8 bytes"):
        files.read_json(tmp_path / "x.json", 8)


def test_json_of_a_hundred_thousand_brackets_is_no_json(tmp_path):
    (tmp_path / "x.json").write_text("[" * 100_000)
    with pytest.raises(ValueError, match="nested too deeply"):
        files.read_json(tmp_path / "x.json")


def test_a_pipe_in_the_place_of_a_file_is_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / stop.STOP)
    os.mkfifo(tmp_path / "spec.json")
    assert stop.requested(tmp_path) == ""
    with pytest.raises(ValueError, match="not a regular file"):
        files.read_json(tmp_path / "spec.json")


def test_a_stop_file_of_any_size_is_read_quickly(tmp_path):
    with open(tmp_path / stop.STOP, "wb") as f:
        f.truncate(1 << 40)
    assert stop.requested(tmp_path) == ""


@pytest.mark.parametrize("path", ["../ft-2/out/x", "out/../../x", "/dev/zero", "spec.json", "", "out/link", "out/pipe"])
def test_a_result_that_lists_foreign_files_is_not_done(tmp_path, path):
    folder = tmp_path / "ft-1"
    (folder / "out").mkdir(parents=True)
    for file in (folder / "spec.json", folder / "x", tmp_path / "x"):
        file.write_bytes(b"")
    (tmp_path / "ft-2" / "out").mkdir(parents=True)
    (tmp_path / "ft-2" / "out" / "x").write_bytes(b"")
    (folder / "out" / "link").symlink_to("/dev/zero")
    os.mkfifo(folder / "out" / "pipe")
    artifact = {"path": path, "size": 0, "sha256": files.hashlib.sha256(b"").hexdigest()}
    (folder / "result.json").write_text(json.dumps({"schema": 2, "run": "ft-1", "artifacts": [artifact]}))
    assert not results.already_done(SimpleNamespace(folder=folder, run="ft-1"))


def test_a_checkpoint_that_lists_a_file_elsewhere_is_damaged(tmp_path):
    from trainer.train import checkpoint

    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "step-000000001").mkdir()
    state = {"digest": "d", "position": vars(Position(step=1)), "optimizer": {}, "files": {"../pipe": "0"}}
    (tmp_path / "step-000000001" / "state.json").write_text(json.dumps({**state, "seal": checkpoint._seal(state)}))
    (tmp_path / "index.json").write_text(json.dumps({"best": "", "checkpoints": ["step-000000001"]}))
    damaged = []
    assert Checkpoints(tmp_path, "d", 2, None).newest(damaged, []) is None
    assert damaged == ["step-000000001"]


@pytest.fixture
def model(tmp_path):
    """A folder with the least that a saved model has."""
    import numpy
    from safetensors.numpy import save_file

    save_file({"w": numpy.zeros(4, numpy.float32)}, tmp_path / "model.safetensors")
    (tmp_path / "config.json").write_text('{"model_type": "bert"}')
    saved_model.check(tmp_path)
    return tmp_path


@pytest.mark.parametrize("name", ["quantization_config", "attn_implementation", "_attn_implementation", "experts_implementation"])
def test_a_model_that_asks_for_a_package_is_refused(model, name):
    (model / "config.json").write_text(json.dumps({"text_config": [{name: "somebody/kernel"}]}))
    with pytest.raises(ValueError, match=name):
        saved_model.check(model)


def test_weights_with_an_endless_header_are_refused(model):
    with open(model / "model.safetensors", "wb") as f:
        f.write(struct.pack("<Q", 90 << 20))
        f.truncate(100 << 20)
    with pytest.raises(ValueError, match="header"):
        saved_model.check(model)


def test_a_model_with_a_huge_json_file_is_refused(model):
    with open(model / "generation_config.json", "wb") as f:
        f.truncate(1 << 40)
    with pytest.raises(ValueError, match="too large"):
        saved_model.check(model)


def test_a_table_model_with_larger_layers_than_weights_is_refused(model):
    (model / "config.json").write_text('{"layers": [60000, 60000, 2]}')
    with pytest.raises(ValueError, match="smaller than the layers"):
        Perceptron.load(model)


def test_an_image_of_another_kind_than_its_name_says_is_not_decoded(tmp_path):
    from PIL import Image

    for kind in ("EPS", "PPM", "PNG"):
        Image.new("RGB", (8, 8)).save(tmp_path / f"{kind}.png", kind)
    assert [images.decodes(tmp_path / f"{kind}.png") for kind in ("EPS", "PPM", "PNG")] == [False, False, True]


def test_an_image_of_too_many_pixels_is_left_out(load, monkeypatch):
    monkeypatch.setattr(images, "MAX_PIXELS", 10_000)
    files_of = {f"{c}/{i}.png": png(16 * i + 100 * (c == "b")) for c in "ab" for i in range(10)}
    found = load({**files_of, "a/large.png": png(7, size=200)})
    assert ("the image cannot be decoded", 1) in found.dropped


@pytest.mark.parametrize("name", ["a.csv", "a.json", "a.jsonl"])
def test_a_file_that_would_fill_the_memory_is_refused_before_it_is_read(load, monkeypatch, name):
    monkeypatch.setattr(tables, "memory", lambda: 4000)
    with pytest.raises(UserError, match=f"The file {name} is too large for the machine") as e:
        load({name: texts(200)})
    assert e.value.code == "too_large"


def test_a_small_parquet_file_of_very_many_rows_is_refused(tmp_path, monkeypatch):
    import pyarrow
    import pyarrow.parquet

    monkeypatch.setattr(parquet, "memory", lambda: 1 << 20)
    pyarrow.parquet.write_table(pyarrow.table({"a": ["x"] * 100_000}), tmp_path / "a.parquet")
    assert (tmp_path / "a.parquet").stat().st_size < 10_000
    with pytest.raises(UserError, match="100000 rows of 1 columns"):
        parquet.read("a.parquet", tmp_path / "a.parquet")


def test_more_classes_than_the_service_reads_are_refused_before_the_training(load):
    with pytest.raises(UserError, match="10100 different labels, and at most 10000"):
        load({"a.csv": made(["text", "label"], lambda i: [f"some words on {i}", f"class {i % 10_100}"], 40_400)})


def test_the_lists_of_a_result_are_cut():
    names = [f"{'folder/' * 20}{i}.png" for i in range(200_000)]
    assert 10_000 < len(results.first(names)) < 100_000
    assert results.first(names[:10]) == names[:10]
    assert len(results.columns(f"c{i}" for i in range(90_000))) == 10_000
    assert max(map(len, results.columns(["c" * 90_000]))) == 500


def test_a_result_that_is_too_large_loses_parts_of_the_report_and_then_is_refused(monkeypatch):
    monkeypatch.setattr(results, "RESULT_BYTES", 1000)
    assert results._readable({"run": "ft-1", "confusion": [[0] * 2000], "mistakes": []}) == {"run": "ft-1", "mistakes": []}
    with pytest.raises(UserError, match=r"too large for result\.json"):
        results._readable({"run": "ft-1" * 1000, "unsure": []})


def mode(path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_what_a_library_made_for_its_user_alone_is_opened_to_the_group(tmp_path):
    (tmp_path / "made" / "inner").mkdir(parents=True)
    (tmp_path / "made" / "inner" / "x").write_bytes(b"x")
    for path, only in ((tmp_path / "made" / "inner" / "x", 0o400), (tmp_path / "made" / "inner", 0o700), (tmp_path / "made", 0o2755)):
        path.chmod(only)
    files.settle(tmp_path / "made")
    assert [oct(mode(p)) for p in (tmp_path / "made", tmp_path / "made" / "inner", tmp_path / "made" / "inner" / "x")] == [
        "0o2775", "0o775", "0o664",
    ]  # fmt: skip


def test_the_permissions_of_what_another_user_owns_are_left_alone(tmp_path, monkeypatch):
    (tmp_path / "theirs").write_bytes(b"x")
    (tmp_path / "theirs").chmod(0o444)
    monkeypatch.setattr(os, "geteuid", lambda: os.stat(tmp_path).st_uid + 1)
    files.settle(tmp_path / "theirs")
    assert mode(tmp_path / "theirs") == 0o444
