"""Names of checkpoints: what is part of one, what belongs together, and what nobody needs."""

import pytest

from trainer.script.saved.checkpoint_names import Unit, is_left_out, is_weights, unit_of


@pytest.mark.parametrize(
    ("path", "unit", "step"),
    [
        ("out/checkpoint-500/model.safetensors", Unit("out/checkpoint-500", (), True), 500),
        ("out/checkpoint-500/deep/anything.txt", Unit("out/checkpoint-500", (), True), 500),
        ("checkpoint_7/a", Unit("checkpoint_7", (), True), 7),
        ("runs/epoch=3/w.pt", Unit("runs/epoch=3", (), True), 3),
        ("run-2-step-10/w.pt", Unit("run-2-step-10", (), True), 10),
        ("global_step100/w.pt", Unit("global_step100", (), True), 100),
        ("iter12/x", Unit("iter12", (), True), 12),
        ("my.ckpt-9/x", Unit("my.ckpt-9", (), True), 9),
        ("checkpoint/model.pt", Unit("checkpoint", ()), None),
        ("out/model.pt", Unit("out"), None),
        ("out/optimizer.bin", Unit("out"), None),
        ("model_20.pt", Unit("", (20,)), 20),
        ("a/v2_model_20.pt", Unit("a", (2, 20)), 20),
        ("model.PTH", Unit("")  , None),
        ("best.json", Unit(""), None),
        ("config.json", None, None),
        ("vocab.bin", None, None),
        ("data/model.pt", None, None),
        ("x/cache/model.pt", None, None),
        ("tokenized/train.npy", None, None),
        ("model.pt.tmp", None, None),
        ("tmp_model.pt", None, None),
        ("model.pt~", None, None),
        ("tmp-checkpoint-5/model.pt", Unit("tmp-checkpoint-5"), None),
        ("checkpoint-5.tmp/model.pt", Unit("checkpoint-5.tmp"), None),
        ("notes.txt", None, None),
        ("step/x.txt", None, None),
    ],
)  # fmt: skip
def test_the_unit_of_a_file(path, unit, step):
    found = unit_of(path)
    assert found == unit
    assert (found.step if found else None) == step


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("out/checkpoint-500/a", "out/checkpoint-1000/a", True),
        ("out/checkpoint-500/a", "old/checkpoint-500/a", False),
        ("model_1.pt", "model_2.pt", True),
        ("out/model_1.pt", "model_1.pt", False),
        ("out/checkpoint-5/a", "out/model.pt", False),
    ],
)
def test_units_that_differ_in_their_numbers_are_one_series(one, other, same):
    assert (unit_of(one).series == unit_of(other).series) is same


@pytest.mark.parametrize(
    ("path", "left_out"),
    [
        ("__pycache__/a.py", True), ("x/.git/HEAD", True), ("wandb/run", True), (".ipynb_checkpoints/a", True), ("a.pyc", True),
        ("model.pt.tmp", True), ("tmp.model", True), ("tmp_x/model.pt", True), ("a.part", True), ("a.incomplete", True), ("a~", True),
        (".nfs0001", True), ("model.pt", False), ("attempt/model.pt", False), ("tmp", False), ("my_tmp_file.pt", True),
        ("my_tmpfile.pt", False), ("a.tmp.5", True),
        ("template.json", False), (".hidden", False),
    ],
)  # fmt: skip
def test_files_that_nobody_needs_to_go_on(path, left_out):
    assert is_left_out(path) is left_out


@pytest.mark.parametrize(
    ("path", "weights"),
    [
        ("a/model.pt", True), ("a.safetensors", True), ("a.bin", True), ("a.NPZ", True), ("config.json", False), ("trainer_state.json", True),
        ("resume.json", True), ("snapshot.JSON", True), ("a.txt", False), ("state/config.json", False), ("pt", False),
    ],
)  # fmt: skip
def test_files_that_hold_more_than_settings(path, weights):
    assert is_weights(path) is weights
