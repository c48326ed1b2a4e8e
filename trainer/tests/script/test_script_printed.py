"""What the tools of the field print, as they print it, and what is understood of it."""

import math
import string
import time

import pytest
from hypothesis import given, settings, strategies as st

from trainer.script import printed

LINES = {
    "tqdm": (" 31%|███  | 31/100 [00:01<00:03, 17.72it/s]", {"step": 31, "steps": 100, "eta": 3.0}),
    "tqdm with values": ("train:  5%|5  | 50/1k [01:01<1:02:03,  2.1s/it, loss=0.5]", {"step": 50, "steps": 1000, "eta": 3723.0, "loss": 0.5}),
    "tqdm that has just begun": ("  0%|          | 0/10 [00:00<?, ?it/s]", {"step": 0, "steps": 10, "eta": None}),
    "Hugging Face": (
        "{'loss': 0.696, 'grad_norm': 0.52, 'learning_rate': 4.5e-05, 'epoch': 0.2}",
        {"epoch": 0.2, "loss": 0.696, "grad_norm": 0.52, "learning_rate": 4.5e-05},
    ),
    "Hugging Face with numbers as texts": ("{'eval_loss': '0.5', 'eval_accuracy': '0.91', 'epoch': '1.0'}", {"epoch": 1.0, "eval_loss": 0.5}),
    "a dictionary of NumPy": ("epoch 0: {'accuracy': np.float64(0.68), 'f1': 0.81}", {"epoch": 0.0, "accuracy": 0.68, "f1": 0.81}),
    "nanoGPT, a step": ("iter 30: loss 3.7543, time 835.02ms, mfu 0.00%", {"step": 30, "loss": 3.7543}),
    "nanoGPT, an evaluation": ("step 40: train loss 3.6056, val loss 3.6598", {"step": 40, "train_loss": 3.6056, "val_loss": 3.6598}),
    "MNIST of PyTorch": ("Train Epoch: 2 [640/1500 (42%)]\tLoss: 0.314884", {"epoch": 2.0, "step": 640, "steps": 1500, "loss": 0.314884}),
    "MNIST of PyTorch, a test": (
        "Test set: Average loss: 0.0591, Accuracy: 291/300 (97%)",
        {"test_average_loss": 0.0591, "test_accuracy": 0.97, "step": None},
    ),
    "the language model of PyTorch": (
        "| epoch   1 |   200/ 2983 batches | lr 20.00 | ms/batch 10.00 | loss  6.88 | ppl   973.00",
        {"epoch": 1.0, "step": 200, "steps": 2983, "lr": 20.0, "loss": 6.88, "ppl": 973.0},
    ),
    "the language model of PyTorch, an evaluation": (
        "| end of epoch   1 | time:  5.00s | valid loss  5.50 | valid ppl   244.69",
        {"epoch": 1.0, "valid_loss": 5.5, "valid_ppl": 244.69},
    ),
    "ImageNet of PyTorch": (
        "Epoch: [0][  10/5005]\tTime  0.3 ( 0.5)\tLoss 6.9e+00 (7.0e+00)\tAcc@1   0.00 (  0.10)",
        {"epoch": 0.0, "step": 10, "steps": 5005, "loss": 6.9, "acc@1": 0.0},
    ),
    "the tutorial of PyTorch": ("loss: 2.301  [   64/60000]", {"step": 64, "steps": 60000, "loss": 2.301}),
    "a percentage": (" Accuracy: 45.4%, Avg loss: 2.15 ", {"accuracy": 0.454, "avg_loss": 2.15}),
    "Keras, an epoch": ("Epoch 1/5", {"epoch": 1.0, "epochs": 5}),
    "Keras 3, a step": (
        "   1/1250 ━━━━━━━━━━━━━━━━━━━━ 26:20 1s/step - acc: 0.1250 - loss: 2.5",
        {"step": 1, "steps": 1250, "acc": 0.125, "loss": 2.5},
    ),
    "Keras 2, a step": (
        "100/100 [==============================] - 1s 5ms/step - loss: 0.5 - val_loss: 0.6",
        {"step": 100, "steps": 100, "loss": 0.5, "val_loss": 0.6},
    ),
    "Keras, no bar": ("1875/1875 - 2s - loss: 0.25", {"step": 1875, "steps": 1875, "loss": 0.25}),
    "Lightning": (
        "Epoch 0/0  ━━━━━━━ 1/2 0:00:00 • 0:00:00 0.00it/s v_num: 0.000 train_loss: 0.5",
        {"epoch": 0, "epochs": 0, "last_epoch": True, "step": 1, "steps": 2, "train_loss": 0.5},
    ),
    "Lightning with tqdm": (
        "Epoch 3:  50%|█████     | 5/10 [00:00<00:01, 50.0it/s, v_num=0, train_loss=0.693]",
        {"epoch": 3.0, "step": 5, "steps": 10, "train_loss": 0.693},
    ),
    "the table of Lightning": ("│         test_acc          │    0.9800000190734863     │", {"test_acc": 0.9800000190734863}),
    "XGBoost": ("[10]\ttrain-logloss:0.40000\teval-logloss:0.50000", {"step": 10, "train_logloss": 0.4, "eval_logloss": 0.5}),
    "LightGBM": ("[100]\tvalid_0's auc: 0.97", {"step": 100, "auc": 0.97}),
    "the report of scikit-learn": ("    accuracy                           0.97       899", {"accuracy": 0.97}),
    "a tutorial": ("Epoch [3/10], Step [100/600], Loss: 0.2345", {"epoch": 3.0, "epochs": 10, "step": 100, "steps": 600, "loss": 0.2345}),
    "a log with a time": ("2026-11-21 10:00:00,123 INFO step=1200 loss=2.31 lr=3e-4", {"step": 1200, "loss": 2.31, "lr": 0.0003}),
    "a sentence": ("The final accuracy is 0.91", {"final_accuracy": 0.91}),
    "a value that is infinite": ("loss inf, accuracy 0.5", {"loss": math.inf, "accuracy": 0.5}),
    "a sentence about something else": ("Loaded 25000 examples in 3.4 s from 12 files", {}),
    "a version": ("torch 2.15.0, Python 3.11.7", {}),
    "an epoch with a fraction is no count": ("epoch 1.5 done", {"epoch": None}),
}  # fmt: skip


def test_a_loss_that_is_no_number_is_seen():
    assert math.isnan(printed.read("loss: nan").values["loss"])


@pytest.mark.parametrize(("line", "wanted"), LINES.values(), ids=LINES)
def test_a_line_is_understood(line, wanted):
    found = printed.read(line)
    fields = vars(found) | found.values
    assert {name: fields.get(name) for name in wanted} == wanted
    assert bool(found.values) == bool(set(wanted) - set(vars(found)))


def test_a_name_that_the_user_gave_is_a_value_too():
    assert printed.read("throughput: 12.5").values == {}
    assert printed.read("throughput: 12.5", "throughput").values == {"throughput": 12.5}


PIECES = st.sampled_from(
    [
        "loss",
        " ",
        ":",
        "=",
        "1",
        "0.5",
        "1e9",
        "9" * 30,
        "/",
        "|",
        "%",
        "[",
        "]",
        "(",
        "{'a': ",
        "}",
        "epoch",
        "step",
        "━",
        "│",
        "\t",
        "<",
        "val",
        "-",
        ".",
        "e",
    ]
)


@settings(max_examples=300, deadline=None)
@given(st.one_of(st.text(max_size=300), st.lists(PIECES, max_size=150).map("".join), st.text(string.printable, max_size=300)))
def test_any_line_is_understood_or_not_but_raises_nothing(line):
    found = printed.read(line, "a")
    assert all(isinstance(v, float) and abs(v) < float("inf") for v in found.values.values())
    assert found.steps is None or 0 <= found.step <= max(found.steps, found.step)


@pytest.mark.parametrize(
    "piece", ["a", "a ", "loss ", "1/", "━ ", "val ", "'a': 1,", "{", "| ", "loss: 1 ", "9", "[", "train val ", "a.", "0:", "epoch 1 "]
)
def test_a_line_that_is_made_to_be_slow_takes_no_time(piece):
    began = time.process_time()
    for _ in range(10):
        printed.read("1" + piece * 20000)
        printed.read("50%|" + piece * 20000)
    assert time.process_time() - began < 1.0  # a tenth of it on a free machine


@pytest.mark.parametrize(
    ("name", "split"), [("loss", "train"), ("val_loss", "validation"), ("test_accuracy", "test"), ("eval_f1", "validation"), ("interval", "train")]
)
def test_the_split_is_in_the_name(name, split):
    assert printed.split_of(name) == split
