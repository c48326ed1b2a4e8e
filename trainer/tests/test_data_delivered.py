"""Ours and theirs: what an earlier run delivered and what is a model, by what files hold, and not by their names."""

import json
import random

import pytest
from test_data_load import MANIFEST, spec_of

from trainer.data.delivered import MODEL, RESULT, NotData

BERT = json.dumps({"model_type": "bert", "architectures": ["Bert"]})
CAMERA = json.dumps({"lens": "35 mm", "exposure": [1, 2]})


@pytest.fixture
def sort(tmp_path):
    """sort(files) is the reason for each of the files that is no data."""

    def call(files: dict) -> dict[str, str]:
        inputs = spec_of(tmp_path, files).inputs
        no_data = NotData(inputs)
        return {i.name: reason for i in inputs if (reason := no_data.reason(i.name))}

    return call


@pytest.mark.parametrize(
    ("files", "results"),
    [
        pytest.param(
            {"finetune/r/manifest.json": MANIFEST, "finetune/r/log.txt": "x"}, {"finetune/r/manifest.json", "finetune/r/log.txt"}, id="a run"
        ),
        pytest.param({"old/manifest.json": MANIFEST, "old/predictions.csv": "x"}, {"old/manifest.json", "old/predictions.csv"}, id="any folder"),
        pytest.param({"manifest.json": MANIFEST, "metrics.json": "{}", "train.csv": "x"}, {"manifest.json", "metrics.json"}, id="beside the data"),
        pytest.param({"r/manifest.json": MANIFEST, "r/model/labels.json": "[]"}, {"r/manifest.json", "r/model/labels.json"}, id="a listed output"),
        pytest.param({"r/manifest.json": MANIFEST, "r/tensorboard/a.b": "x"}, {"r/manifest.json", "r/tensorboard/a.b"}, id="files of TensorBoard"),
        pytest.param({"r/manifest.json": MANIFEST, "r/Plots/loss.png": "x"}, {"r/manifest.json", "r/Plots/loss.png"}, id="whatever the case"),
        pytest.param({"r/manifest.json": MANIFEST, "r/plots/7.png": "x", "r/more.csv": "x"}, {"r/manifest.json"}, id="data that was added to a run"),
        pytest.param({"r/manifest.json": MANIFEST, "rr/log.txt": "x", "log.txt": "x"}, {"r/manifest.json"}, id="other folders"),
        pytest.param(
            {"manifest.json": MANIFEST.split('"outputs"')[0] + '"outputs": null}', "log.txt": "x"}, {"manifest.json", "log.txt"}, id="no outputs"
        ),
        pytest.param({"labels.json": "{}", "images/1.png": "x"}, set(), id="labels beside images"),
        pytest.param({"finetune/train.csv": "x", "finetune/log.txt": "x"}, set(), id="a folder of the user"),
        pytest.param(
            dict.fromkeys(("predictions.csv", "metrics.json", "log.txt", "vocab.txt", "model.zip"), "x"), set(), id="names without a manifest"
        ),
        pytest.param({"manifest.json": '{"schemaVersion": 2, "layers": []}', "log.txt": "x"}, set(), id="the manifest of something else"),
        pytest.param({"manifest.json": '["run"]', "log.txt": "x"}, set(), id="a list"),
        pytest.param({"manifest.json": "[" * 100_000, "log.txt": "x"}, set(), id="a list without end"),
        pytest.param({"my_manifest.json": MANIFEST, "log.txt": "x"}, set(), id="another name"),
    ],
)
def test_results_are_what_lies_beside_their_manifest(files, results, sort):
    assert sort(files) == dict.fromkeys(results, RESULT)


@pytest.mark.parametrize(
    ("files", "models"),
    [
        pytest.param({"m/config.json": BERT, "m/a.pt": "x", "m/vocab.txt": "x"}, {"m/config.json", "m/a.pt", "m/vocab.txt"}, id="both in a folder"),
        pytest.param({"config.json": BERT, "a.onnx": "x", "d/t.csv": "x"}, {"config.json", "a.onnx"}, id="both at the top"),
        pytest.param({"m/CONFIG.json": BERT, "m/a.BIN": "x"}, {"m/CONFIG.json", "m/a.BIN"}, id="whatever the case"),
        pytest.param({"config.json": '{"layers": [3, 2]}', "model.safetensors": "x"}, {"config.json", "model.safetensors"}, id="ours"),
        pytest.param({"m/config.json": BERT, "n/a.pt": "x"}, set(), id="in two folders"),
        pytest.param({"m/a.pt": "x"}, set(), id="weights alone"),
        pytest.param({"m/config.json": BERT, "m/t.csv": "x"}, set(), id="a configuration alone"),
        pytest.param({"config.json": CAMERA, "cube.h5": "x", "table.csv": "x"}, set(), id="a camera beside HDF5 and a table"),
        pytest.param({"config.json": '{"layers": ["red", "blue"]}', "frame.bin": "x"}, set(), id="layers of an instrument"),
        pytest.param({"config.json": "no JSON", "a.pt": "x"}, set(), id="no JSON"),
        pytest.param({"config.json": "[1]", "a.pt": "x"}, set(), id="no object"),
    ],
)
def test_a_model_is_a_configuration_of_one_beside_weights(files, models, sort):
    assert sort(files) == dict.fromkeys(models, MODEL)


def test_no_change_of_a_manifest_or_a_configuration_is_an_error(sort):
    chance = random.Random(5)
    for _ in range(150):
        changed = [bytearray(MANIFEST.encode()), bytearray(BERT.encode())]
        for content in changed:
            for _ in range(chance.randint(1, 4)):
                content[chance.randrange(len(content))] = chance.randrange(256)
            del content[chance.randrange(len(content)) :]
        found = sort({"manifest.json": bytes(changed[0]), "config.json": bytes(changed[1]), "a.pt": b"x", "train.csv": "a,b"})
        assert found.get("train.csv") in (None, MODEL)
