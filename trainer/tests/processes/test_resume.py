"""A training that is interrupted anywhere, and whose checkpoints may be damaged, ends with the weights of one that was not."""

import json
import random
import shutil
import signal
from pathlib import Path

import pytest
from conftest import events_of, resumed_at, small_reviews
from process_faults import KILLED, run_apart, start_apart, undisturbed  # noqa: F401 - fixtures
from result_checks import check_success, codes, result_of, weights

from trainer.run import run
from trainer.run_folder import files

ROWS, EPOCHS = 120, 5
STEPS = 15  # of the whole training: three in each epoch
# Short texts: what is interrupted does not depend on their length.
TEXTS = {"model": "bert-tiny", "max_length": 16}
OPTIONS = {**TEXTS, "epochs": EPOCHS, "more_options": "keep_checkpoints: 3\nevals_per_epoch: 3\nearly_stopping_patience: 0"}


@pytest.fixture(scope="module")
def kept(tmp_path_factory):
    """Where ``interrupted`` keeps its run for the next tests."""
    return tmp_path_factory.mktemp("kept") / "run"


@pytest.fixture
def interrupted(make_run, run_apart, kept):  # noqa: F811
    """A run that was killed after step 12, with checkpoints at the steps 10, 11 and 12 or, as the best, before."""
    spec = make_run({"all.csv": small_reviews(ROWS)}, **OPTIONS)
    if kept.exists():
        shutil.copytree(kept, spec.parent, dirs_exist_ok=True)
    else:
        assert run_apart(spec, "step", 13) == KILLED
        shutil.copytree(spec.parent, kept)
    return spec


def listed(folder: Path) -> list[Path]:
    """The checkpoints of a run, the newest first."""
    index = json.loads((folder / "checkpoints" / "index.json").read_text())
    return [folder / "checkpoints" / name for name in index["checkpoints"]]


def test_words_killed_while_it_is_fitted_ends_with_the_same_weights(make_run, run_apart, undisturbed, schemas):  # noqa: F811
    """An estimator has no checkpoint: it is fitted again."""
    spec = make_run({"all.csv": small_reviews(ROWS)}, model="words")
    for number in (1, 3):
        assert run_apart(spec, "fit", number) == KILLED
        assert not (spec.parent / "result.json").exists()
    assert run_apart(spec) == 0
    check_success(spec.parent, schemas)
    assert weights(spec.parent) == undisturbed(spec)


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_training_killed_twice_at_random_steps_ends_with_the_same_weights(make_run, run_apart, undisturbed, schemas, seed):  # noqa: F811
    first, second = sorted(random.Random(seed).sample(range(1, STEPS), 2))
    spec = make_run({"all.csv": small_reviews(ROWS)}, seed=seed, **OPTIONS)
    assert run_apart(spec, "step", first) == KILLED
    assert run_apart(spec, "step", second) == KILLED
    assert run_apart(spec) == 0
    result = check_success(spec.parent, schemas)
    assert weights(spec.parent) == undisturbed(spec)
    assert result["training"]["steps"] == STEPS
    assert resumed_at(spec.parent) == [s - 1 for s in (first, second) if s > 1]  # a kill comes before its own step is saved


def test_at_most_one_interval_is_lost(make_run, run_apart, undisturbed):  # noqa: F811
    spec = make_run({"all.csv": small_reviews(ROWS)}, **TEXTS, epochs=EPOCHS)
    assert run_apart(spec, "step", 8) == KILLED
    assert run_apart(spec) == 0
    assert resumed_at(spec.parent) == [6]
    assert weights(spec.parent) == undisturbed(spec)


def test_sigterm_saves_the_current_step_and_ends_with_143(make_run, run_apart, undisturbed, schemas):  # noqa: F811
    spec = make_run({"all.csv": small_reviews(ROWS)}, **TEXTS, epochs=3)
    assert run_apart(spec, "step", 2, signal.SIGTERM) == 143
    assert not (spec.parent / "result.json").exists()
    assert not (spec.parent / "error.json").exists()
    assert listed(spec.parent)[0].name == "step-000000002"
    assert run_apart(spec) == 0
    check_success(spec.parent, schemas)
    assert resumed_at(spec.parent) == [2]
    assert weights(spec.parent) == undisturbed(spec)


@pytest.mark.parametrize("epochs", [1, 3])
def test_an_evaluation_missed_by_sigterm_is_made_at_the_next_start(make_run, run_apart, undisturbed, schemas, epochs):  # noqa: F811
    spec = make_run({"all.csv": small_reviews(ROWS)}, **TEXTS, epochs=epochs)
    assert run_apart(spec, "step", 3, signal.SIGTERM) == 143
    assert not [e for e in events_of(spec.parent) if e["kind"] == "eval"]
    assert run_apart(spec) == 0
    check_success(spec.parent, schemas)
    assert resumed_at(spec.parent) == [3]
    measured = [e["step"] for e in events_of(spec.parent) if e["kind"] == "eval" and e["split"] == "validation"]
    assert measured == list(range(3, 3 * epochs + 1, 3))
    assert weights(spec.parent) == undisturbed(spec)


def test_the_time_limit_counts_what_was_spent_before_a_restart(interrupted, schemas, monkeypatch, lone_network):
    state = json.loads((listed(interrupted.parent)[0] / "state.json").read_text())
    position = state["position"]
    assert position["spent"] > position["seconds"] > 0  # evaluations and checkpoints take time, too
    from trainer.train import checkpoint

    real = checkpoint.restore

    def restore(*args):
        at = real(*args)
        at.spent = 60 * 60.0
        return at

    monkeypatch.setattr(checkpoint, "restore", restore)
    assert run(str(interrupted), "local") == 0
    result = check_success(interrupted.parent, schemas)
    assert (result["training"]["stopped"], result["training"]["steps"]) == ("time limit", 13)


# Where the run is killed: before a call of os.replace, which makes something visible. Each of the three checkpoints has two of
# them, and the last two are those of the results.
@pytest.mark.parametrize("number", range(1, 9))
def test_a_checkpoint_is_whole_or_not_there(make_run, run_apart, undisturbed, schemas, number):  # noqa: F811
    spec = make_run({"all.csv": small_reviews(ROWS)}, **TEXTS, epochs=3)
    assert run_apart(spec, "replace", number) == KILLED
    is_listed = (spec.parent / "checkpoints" / "index.json").exists()
    assert is_listed == (number > 2)  # the first checkpoint is complete with the second call
    for folder in listed(spec.parent) if is_listed else []:
        sums = json.loads((folder / "state.json").read_text())["files"]
        assert {f: files.sha256(folder / f) for f in sums} == sums
    assert not (spec.parent / "result.json").exists()
    assert run_apart(spec) == 0
    result = check_success(spec.parent, schemas)
    assert "checkpoint_damaged" not in codes(result)
    assert weights(spec.parent) == undisturbed(spec)


def _flipped(file: Path) -> None:
    data = bytearray(file.read_bytes())
    data[len(data) // 2] ^= 1
    file.write_bytes(data)


def _cut(file: Path) -> None:
    file.write_bytes(file.read_bytes()[: file.stat().st_size // 2])


def _further(file: Path) -> None:
    """A change that leaves the file readable, and wrong."""
    file.write_text(file.read_text().replace('"step": 12', '"step": 13'))


@pytest.mark.parametrize(
    ("name", "damage"),
    [
        ("model.safetensors", _flipped),
        ("average.safetensors", _flipped),
        ("optimizer.safetensors", _flipped),
        ("state.json", _flipped),
        ("state.json", _further),
        ("model.safetensors", _cut),
        ("optimizer.safetensors", _cut),
        ("state.json", _cut),
        ("state.json", Path.unlink),
        ("average.safetensors", Path.unlink),
    ],
)
def test_a_damaged_newest_checkpoint_falls_back_to_the_one_before(interrupted, run_apart, undisturbed, schemas, name, damage):  # noqa: F811
    newest, before = listed(interrupted.parent)[:2]
    assert newest.name == "step-000000012"
    damage(newest / name)
    assert run_apart(interrupted) == 0
    result = check_success(interrupted.parent, schemas)
    assert resumed_at(interrupted.parent) == [int(before.name.removeprefix("step-"))]
    assert "checkpoint_damaged" in codes(result)
    assert newest.name in next(w["text"] for w in result["warnings"] if w["code"] == "checkpoint_damaged")
    assert weights(interrupted.parent) == undisturbed(interrupted)


@pytest.mark.parametrize(
    "index",
    [
        "",
        "\0\0\0",
        "[]",
        "{}",
        '{"best": 1, "checkpoints": 5}',
        '{"best": "x", "checkpoints": ["../../etc", 7, null]}',
        '{"checkpoints": ["step-000000099"]}',
    ],
)
def test_a_damaged_index_costs_only_time(interrupted, run_apart, undisturbed, schemas, index):  # noqa: F811
    (interrupted.parent / "checkpoints" / "index.json").write_text(index)
    assert run_apart(interrupted) == 0
    check_success(interrupted.parent, schemas)
    assert weights(interrupted.parent) == undisturbed(interrupted)


def test_a_training_starts_from_the_beginning_if_all_checkpoints_are_damaged(interrupted, run_apart, undisturbed, schemas):  # noqa: F811
    for folder in listed(interrupted.parent):
        _cut(folder / "model.safetensors")
    assert run_apart(interrupted) == 0
    check_success(interrupted.parent, schemas)
    assert resumed_at(interrupted.parent) == []
    assert "starts from the beginning" in next(w["text"] for w in result_of(interrupted.parent)["warnings"] if w["code"] == "checkpoint_damaged")
    assert weights(interrupted.parent) == undisturbed(interrupted)


def test_a_damaged_best_checkpoint_is_found_again(interrupted, run_apart, undisturbed, schemas):  # noqa: F811
    best = json.loads((interrupted.parent / "checkpoints" / "index.json").read_text())["best"]
    _flipped(interrupted.parent / "checkpoints" / best / "average.safetensors")
    assert run_apart(interrupted) == 0
    check_success(interrupted.parent, schemas)
    assert weights(interrupted.parent) == undisturbed(interrupted)


@pytest.mark.parametrize("change", ["settings", "data"])
def test_a_checkpoint_of_another_training_is_not_used(make_run, run_apart, undisturbed, schemas, change):  # noqa: F811
    spec = make_run({"all.csv": small_reviews(ROWS)}, **TEXTS, epochs=3)
    assert run_apart(spec, "step", 8) == KILLED
    spec = make_run({"all.csv": small_reviews(ROWS + (10 if change == "data" else 0))}, **TEXTS, epochs=3, seed=7 if change == "settings" else 42)
    assert run_apart(spec) == 0
    check_success(spec.parent, schemas)
    assert resumed_at(spec.parent) == []
    assert weights(spec.parent) == undisturbed(spec)
    told = {w["code"]: w["text"] for w in result_of(spec.parent)["warnings"]}
    assert "the data or the settings have changed" in told["checkpoint_foreign"]
    assert "checkpoint_damaged" not in told


@pytest.mark.parametrize(("step", "best"), [(2, 2), (4, 3)])
def test_the_stop_file_keep_ends_with_the_best_model(make_run, told_at, schemas, step, best, lone_network):
    spec = make_run({"all.csv": small_reviews(ROWS)}, **TEXTS, epochs=50, more_options="metric: loss")
    told_at(spec, step, "keep")
    assert run(str(spec), "local") == 0
    result = check_success(spec.parent, schemas)
    assert result["training"]["stopped"] == "stopped by a person"
    assert result["training"]["steps"] == step
    assert result["best_step"] in (best, step)


def test_a_stopped_training_that_was_killed_keeps_its_model_at_the_next_start(interrupted, run_apart, schemas):  # noqa: F811
    (interrupted.parent / "stop").write_text("keep\n")
    assert run_apart(interrupted) == 0
    result = check_success(interrupted.parent, schemas)
    assert result["training"]["stopped"] == "stopped by a person"
    assert result["training"]["steps"] == 13


def test_the_stop_file_pause_saves_and_the_next_start_resumes(make_run, run_apart, undisturbed, schemas, monkeypatch, told_at, lone_network):  # noqa: F811
    spec = make_run({"all.csv": small_reviews(ROWS)}, **TEXTS, epochs=3)
    told_at(spec, 4, "pause")
    assert run(str(spec), "local") == 143
    assert not (spec.parent / "error.json").exists()
    monkeypatch.undo()
    assert run_apart(spec) == 0
    check_success(spec.parent, schemas)
    assert resumed_at(spec.parent) == [4]
    assert weights(spec.parent) == undisturbed(spec)


def test_old_checkpoints_are_removed_and_the_best_is_kept(make_run, run_apart):  # noqa: F811
    more = "keep_checkpoints: 2\nearly_stopping_patience: 0\nmetric: accuracy"
    spec = make_run({"all.csv": small_reviews(200)}, **TEXTS, epochs=6, learning_rate=1e-9, more_options=more)
    assert run_apart(spec) == 0
    kept = {p.name for p in (spec.parent / "checkpoints").iterdir() if p.is_dir()}
    best = f"step-{result_of(spec.parent)['best_step']:09d}"
    assert kept == {p.name for p in listed(spec.parent)}
    assert best in kept
    assert len(kept - {best}) <= 2
