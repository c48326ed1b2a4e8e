"""Progress and numbers of whole outputs, and the events that come of them."""

import json
import math

import pytest
from hypothesis import given, settings, strategies as st

from trainer.run_folder.events import Events
from trainer.script import metric_files
from trainer.script.progress import POINTS, Progress


class Clock:
    def __init__(self):
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def following(tmp_path, schemas):
    """following(lines, seconds) lets a Progress follow lines with so many seconds between them; gives it and its events by kind."""

    def follow(lines, seconds: float = 4.0, metric: str = ""):
        clock = Clock()
        progress = Progress(Events(tmp_path / "events.jsonl", 1), metric, clock)
        for line in lines:
            clock.now += seconds
            progress.line(line)
        progress.close()
        events: dict[str, list[dict]] = {}
        for line in (tmp_path / "events.jsonl").read_text().splitlines() if (tmp_path / "events.jsonl").exists() else []:
            schemas["event"].validate(event := json.loads(line))
            events.setdefault(event["kind"], []).append(event)
        return progress, events

    return follow


def hf(step: int) -> list[str]:
    return [f" {step}%|██  | {step}/100 [00:{step // 2:02}<00:{50 - step // 2:02}, 2.0it/s]"]


OUTPUTS = {
    "Hugging Face: preparations, a training with evaluations in between": (
        [
            "Map: 100%|███| 800/800 [00:01<00:00, 900.0it/s]", *hf(1), *hf(50), "{'loss': 0.7, 'epoch': 1.5}", "  0%|  | 0/5 [00:00<?, ?it/s]",
            "100%|███| 5/5 [00:01<00:00, 5.0it/s]", "{'eval_loss': 0.6, 'epoch': 1.5}", *hf(75),
        ],
        {"step": 75, "steps": 100, "fraction": 0.75, "eta_seconds": 13.0, "loss": 0.7},
        {"loss": 0.7, "eval_loss": 0.6},
    ),
    "nanoGPT, which says no total": (
        ["iter 0: loss 4.2, time 1ms", "step 40: train loss 3.6056, val loss 3.6598", "iter 41: loss 3.7, time 1ms"],
        {"step": 41, "fraction": None, "loss": 3.7},
        {"loss": 3.7, "train_loss": 3.6056, "val_loss": 3.6598},
    ),
    "Keras: epochs of steps": (
        ["Epoch 1/4", "10/10 ━━━━━━━ 1s 1s/step - loss: 2.5", "Epoch 2/4", "5/10 ━━━━━━━ 1s 1s/step - loss: 1.5"],
        {"epoch": 2, "epochs": 4, "step": 15, "steps": 40, "fraction": 0.375},
        {"loss": 1.5},
    ),
    "Lightning counts epochs from 0": (
        ["Epoch 0/1  ━━━━━━━ 4/4 0:00:00 • 0:00:00 0.00it/s v_num: 0", "Epoch 1/1  ━━━━━━━ 2/4 0:00:00 • 0:00:00 0.00it/s v_num: 0"],
        {"epoch": 2, "epochs": 2, "step": 6, "steps": 8, "fraction": 0.75},
        {},
    ),
    "MNIST of PyTorch says epoch and place in it, but not how many": (
        [
            "Train Epoch: 1 [0/600 (0%)]\tLoss: 2.3", "Train Epoch: 1 [500/600 (83%)]\tLoss: 1.3", "Train Epoch: 2 [0/600 (0%)]\tLoss: 0.9",
            "Test set: Average loss: 0.2, Accuracy: 291/300 (97%)",
        ],
        {"epoch": 2, "epochs": None, "fraction": None},
        {"loss": 0.9, "test_average_loss": 0.2, "test_accuracy": 0.97},
    ),
    "a bar for each epoch with its number": (
        [f"Epoch {epoch}/2: 50%|█ | {step}/10 [00:01<00:01, 5it/s]" for epoch, step in ((1, 5), (1, 10), (2, 5))],
        {"epoch": 2, "epochs": 2, "step": 15, "steps": 20, "fraction": 0.75},
        {},
    ),
    "a bar for each epoch without a number says nothing about the whole": (
        [" 50%|█ | 5/10 [00:01<00:01, 5it/s]", "100%|██| 10/10 [00:01<00:00, 5it/s]", " 50%|█ | 5/10 [00:01<00:01, 5it/s]", "epoch 2 loss 0.5"],
        {"epoch": 2, "steps": None, "fraction": None},
        {"loss": 0.5},
    ),
}  # fmt: skip


@pytest.mark.parametrize(("lines", "wanted", "numbers"), OUTPUTS.values(), ids=OUTPUTS)
def test_the_progress_of_a_whole_output(following, lines, wanted, numbers):
    progress, events = following(lines)
    assert {name: events["progress"][-1].get(name) for name in wanted} == wanted
    assert progress.numbers() == {name: (value, "log") for name, value in numbers.items()}


def test_evaluations_become_events_of_their_split(following):
    _, events = following(["step 40: train loss 3.6, val loss 3.7", "Test set: Accuracy: 97/100 (97%)"])
    assert [(e["split"], e["metrics"]) for e in events["eval"]] == [("validation", {"val_loss": 3.7}), ("test", {"test_accuracy": 0.97})]
    assert {(e["name"], e["step"], e["value"]) for e in events["scalar"]} >= {("train_loss", 40, 3.6), ("val_loss", 40, 3.7)}


def test_a_loss_that_becomes_no_number_is_the_last_value_and_no_point_of_a_curve(following):
    progress, events = following(["epoch 1 loss: 0.5", "epoch 2 loss: nan"])
    assert not math.isfinite(progress.numbers()["loss"][0])
    assert [p[1] for p in progress.series["loss"]] == [0.5]
    assert [e.get("loss") for e in events["progress"]] == [0.5, None]


def test_a_flood_of_lines_writes_few_events(following):
    progress, events = following((f"iter {i}: loss {1 / (i + 1):.6f}, val loss 2" for i in range(20_000)), seconds=0.001)
    assert len(events["progress"]) <= 9 and len(events["eval"]) <= 9 and len(events["scalar"]) <= 20
    assert events["progress"][-1]["step"] == 19_999
    assert len(progress.series["loss"]) <= POINTS
    assert progress.series["loss"][0][0] == 0 and progress.series["loss"][-1][0] == 19_999


def test_a_curve_goes_on_where_steps_begin_again_with_each_epoch(following):
    progress, _ = following([f"batch {b} loss {e + b / 10}" for e in range(3) for b in range(5)])
    steps = [step for step, _ in progress.series["loss"]]
    assert steps == sorted(set(steps)) and len(steps) == 15


def test_a_full_disk_loses_events_but_no_numbers(tmp_path):
    progress = Progress(Events(tmp_path / "missing" / "events.jsonl", 1))
    progress.line("step 1 loss 0.5")
    progress.close()
    assert progress.numbers() == {"loss": (0.5, "log")}


@settings(max_examples=100, deadline=None)
@given(
    st.lists(
        st.sampled_from([case for lines, _, _ in OUTPUTS.values() for case in lines] + ["epoch 0 step 5/3", "100%|█| 0/0 [00:00<00:00,]"]),
        max_size=30,
    )
)
def test_any_mixture_of_lines_gives_valid_events(tmp_path_factory, schemas, lines):
    folder = tmp_path_factory.mktemp("any")
    clock = Clock()
    progress = Progress(Events(folder / "events.jsonl", 1), "", clock)
    for line in lines:
        clock.now += 5
        progress.line(line)
    progress.close()
    for line in (folder / "events.jsonl").read_text().splitlines() if lines and (folder / "events.jsonl").exists() else []:
        schemas["event"].validate(json.loads(line))


METRICS = {
    "what the user asks for": ({"val_loss": 2.0, "epoch_time": 3.0}, "epoch_time", "epoch_time"),
    "the same in another spelling": ({"Valid Acc": 0.5, "loss": 1.0}, "val_acc", "Valid Acc"),
    "a metric that nothing was printed for": ({"val_loss": 2.0}, "auc", None),
    "an accuracy before a loss": ({"val_loss": 2.0, "accuracy": 0.5}, "", "accuracy"),
    "a test before a validation": ({"val_accuracy": 0.6, "test_accuracy": 0.5}, "", "test_accuracy"),
    "a validation before the training": ({"loss": 1.0, "val_loss": 2.0}, "", "val_loss"),
    "the only loss": ({"loss": 1.0, "lr": 0.1}, "", "loss"),
    "any loss": ({"train_loss": 1.0}, "", "train_loss"),
    "nothing that compares runs": ({"lr": 0.1}, "", None),
}


@pytest.mark.parametrize(("numbers", "wanted", "chosen"), METRICS.values(), ids=METRICS)
def test_the_metric_of_a_run(numbers, wanted, chosen):
    found = metric_files.choose({n: (v, "log") for n, v in numbers.items()}, wanted)
    assert found == (None if chosen is None else (chosen, numbers[chosen], "log"))


def test_files_of_metrics_are_read_and_hostile_ones_left_out(tmp_path):
    out = tmp_path / "out"
    out.mkdir()
    (out / "metrics.json").write_text('{"accuracy": 0.9, "ok": true, "name": "x", "test": {"f1": 0.8, "deep": {"er": 1}}, "bad": NaN, "big": 1e999}')
    (tmp_path / "metrics.json").write_text('{"accuracy": 0.1, "steps": 5}')
    (out / "results.json").write_text("[" * 100_000)
    (out / "all_results.json").symlink_to("/etc/hostname")
    (out / "eval_results.json").write_bytes(b" " * (2 << 20))
    found, _ = metric_files.finite(metric_files.read([(tmp_path, "out"), (tmp_path, "")]))
    assert found == {"accuracy": (0.9, "out/metrics.json"), "test_f1": (0.8, "out/metrics.json"), "steps": (5.0, "metrics.json")}
