"""Several workers that train together learn what one learns, and end together."""

import shutil
from pathlib import Path

import numpy
import pytest
from conftest import events_of, resumed_at, small_reviews
from language_models import conversations, install
from result_checks import check_success, result_of
from several_workers import together  # noqa: F401 - a fixture
from small_datasets import flowers
from small_texts import token_files

pytestmark = pytest.mark.usefixtures("lone_network")

_EVEN = "optimizer: sgd\nearly_stopping_patience: 0\nclass_weights: balanced"


def losses(folder: Path) -> numpy.ndarray:
    """The loss on the training and on the validation rows after each epoch."""
    return numpy.array([e["metrics"]["loss"] for e in events_of(folder) if e["kind"] == "eval" and e["split"] != "test"])


@pytest.mark.parametrize(
    ("batch_size", "last", "change"),
    [(20, 0, "no dropout"), (17, 1, "no dropout"), (20, 0, "on two machines")],
    ids=["even batches", "a last batch of one row", "on two machines"],
)
def test_two_workers_learn_the_same_as_one(make_run, together, schemas, batch_size, last, change):  # noqa: F811
    found = []
    for world in (1, 2):
        spec = make_run({"t.csv": flowers(150)}, model="mlp", run=f"ft-{world}", epochs=4, batch_size=batch_size, more_options=_EVEN)
        assert together(spec, world, change) == 0
        result = check_success(spec.parent, schemas)
        assert len(result["training"]["per_worker"]) == world
        assert result["data"]["rows"]["train"] % batch_size == last
        found.append((losses(spec.parent), result["metrics"]["test"]["accuracy"]))
    one, two = found
    assert len(one[0]) == 8
    assert numpy.abs(one[0] - two[0]).max() < 1e-5
    assert one[1] == two[1]


@pytest.mark.parametrize("how", ["from random weights", "by LoRA"])
def test_two_workers_teach_a_language_model_what_one_does(make_run, together, schemas, how):  # noqa: F811
    """SGD, because the first steps of Adam divide by gradients near zero and so enlarge the last bit of a sum."""
    pytest.importorskip("peft")
    lora = how == "by LoRA"
    files = {"chats.jsonl": conversations(60)} if lora else token_files(100)
    options = f"{_EVEN}\nlearning_rate: 0.02\nbatch_size: 8\nmax_length: 32"
    found = []
    for world in (1, 2):
        more = options + ("\nfinetuning: lora" if lora else "")
        spec = make_run(files, run=f"ft-{world}", epochs=2, more_options=more)
        if lora and world == 1:
            install(spec.parent.parent.parent / "models")
        assert together(spec, world, "no moves") == 0
        result = check_success(spec.parent, schemas)
        assert len(result["training"]["per_worker"]) == world
        found.append((losses(spec.parent), result["metrics"]["test"]["loss"]["value"]))
    one, two = found
    assert len(one[0]) == 4
    assert numpy.abs(one[0] - two[0]).max() < 1e-4
    assert one[1] == pytest.approx(two[1], abs=1e-4)


@pytest.mark.parametrize(
    ("method", "more"),
    [("lora", ""), ("lora", "recompute: yes\nfrozen_weights: nf4"), ("full", "optimizer: sgd\ngradient_accumulation: 2")],
    ids=["an adapter", "an adapter with less memory", "all weights trained"],
)
def test_workers_with_a_part_of_the_weights_learn_what_workers_with_all_do(make_run, together, schemas, method, more):  # noqa: F811
    pytest.importorskip("peft")
    options = f"finetuning: {method}\nlearning_rate: 0.01\nbatch_size: 7\nmax_length: 32\nmerge: yes\nearly_stopping_patience: 0\n{more}"
    found = []
    for spread in ("no", "yes"):
        spec = make_run({"chats.jsonl": conversations(60)}, run=f"ft-{spread}", epochs=2, more_options=f"{options}\nspread_weights: {spread}")
        if spread == "no":
            install(spec.parent.parent.parent / "models")
        assert together(spec, 2) == 0
        result = check_success(spec.parent, schemas)
        decided = {e["what"]: e["choice"] for e in events_of(spec.parent) if e["kind"] == "decision"}
        assert ("spread_weights" in decided) == (spread == "yes")
        found.append((losses(spec.parent), result["metrics"]["test"]["loss"]["value"], numpy.array(merged(spec.parent))))
    whole, parts = found
    assert numpy.abs(whole[0] - parts[0]).max() < 1e-5
    assert whole[1] == pytest.approx(parts[1], abs=1e-5)
    assert numpy.abs(whole[2] - parts[2]).max() < 1e-5


def merged(folder: Path) -> numpy.ndarray:
    """The weights of the first layer of the model with its adapter added."""
    from safetensors.numpy import load_file

    return load_file(folder / "out" / "model" / "model.safetensors")["model.layers.0.self_attn.q_proj.weight"]


def last_losses(folder: Path, schemas) -> tuple[numpy.ndarray, float]:
    """Those after the last epoch, and that on the test rows."""
    return losses(folder)[-2:], check_success(folder, schemas)["metrics"]["test"]["loss"]["value"]


@pytest.fixture(scope="module")
def begun(tmp_path_factory):
    """By the method, the last losses of an undisturbed training, and the folder of the same one that was killed."""
    return {}, tmp_path_factory.mktemp("begun")


@pytest.mark.parametrize(("method", "world"), [("lora", 3), ("full", 1), ("full", 3)])
def test_a_training_with_spread_weights_is_resumed_by_another_number_of_workers(make_run, together, schemas, begun, method, world):  # noqa: F811
    pytest.importorskip("peft")
    even = _EVEN if method == "lora" else _EVEN.replace("sgd", "adamw")
    options = f"{even}\nfinetuning: {method}\nlearning_rate: 0.02\nbatch_size: 6\nmax_length: 32\nspread_weights: yes"
    whole, spec = (make_run({"chats.jsonl": conversations(60)}, run=run, epochs=2, more_options=options) for run in ("ft-undisturbed", "ft-killed"))
    install(spec.parent.parent.parent / "models")
    known, kept = begun
    if method in known:
        shutil.copytree(kept / method, spec.parent, dirs_exist_ok=True)
    else:
        assert together(whole, 2) == 0
        known[method] = last_losses(whole.parent, schemas)
        assert together(spec, 2, "killed") == 1
        shutil.copytree(spec.parent, kept / method)
    in_parts = sorted(f.name for f in (spec.parent / "checkpoints").rglob("*_of_2.safetensors"))
    names = [f"{stem}_{n}_of_2.safetensors" for stem in ("model", "optimizer") for n in (1, 2)]
    assert in_parts == (names if method == "full" else [])
    assert together(spec, world) == 0
    assert resumed_at(spec.parent)
    undisturbed, resumed = known[method], last_losses(spec.parent, schemas)
    assert numpy.abs(undisturbed[0] - resumed[0]).max() < 1e-5
    assert undisturbed[1] == pytest.approx(resumed[1], abs=1e-5)


def test_all_workers_stop_when_the_time_of_one_is_over(make_run, together, schemas):  # noqa: F811
    spec = make_run({"all.csv": small_reviews(200)}, model="bert-tiny", epochs=50, max_minutes=1)
    assert together(spec, 2, "late") == 0
    result = check_success(spec.parent, schemas)
    assert result["training"]["stopped"] == "time limit"
    assert 3 <= result["training"]["steps"] <= 3 + 8  # they ask one another every eighth step at the latest
    assert result["best_step"] >= 1


def test_all_workers_stop_early_together(make_run, together, schemas):  # noqa: F811
    spec = make_run(
        {"all.csv": small_reviews(120)}, model="bert-tiny", epochs=20, learning_rate=1e-9, more_options="early_stopping_patience: 2\nmetric: accuracy"
    )
    assert together(spec, 2) == 0
    result = check_success(spec.parent, schemas)
    assert result["training"]["stopped"] in ("early stopping", "all epochs done")
    assert result["training"]["epochs"] == result["best_epoch"] + 2


def test_more_workers_than_rows_to_validate_on_or_in_a_batch(make_run, together, schemas):  # noqa: F811
    spec = make_run({"t.csv": flowers(24)}, model="mlp", epochs=2, batch_size=5)
    assert together(spec, 4) == 0
    result = result_of(spec.parent)
    assert result["data"]["rows"]["validation"] < 4
    assert result["training"]["steps"] == 2 * -(-result["data"]["rows"]["train"] // 5)


def test_where_the_loss_of_one_worker_diverges_all_end_with_the_best_model(make_run, together, schemas):  # noqa: F811
    spec = make_run({"t.csv": flowers(60)}, model="mlp", epochs=5)
    assert together(spec, 2, "diverges") == 0
    result = check_success(spec.parent, schemas)
    assert (result["training"]["stopped"], result["training"]["epochs"], result["best_epoch"]) == ("diverged", 2, 1)
