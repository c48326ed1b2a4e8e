"""What a driver imports: not torch, which costs it seconds, and which only its workers need."""

import pickle
import subprocess
import sys

import pytest
from conftest import ROOT, small_reviews
from small_graphs import groups

from trainer.launch.local import LocalLauncher
from trainer.run import run
from trainer.warm import wire

READ = """
import pickle, sys
from trainer import run
from trainer.warm import wire
print(type(wire.unpack(pickle.load(sys.stdin.buffer))).__name__, [m for m in ("torch", "transformers") if m in sys.modules])
"""


@pytest.mark.parametrize(
    ("data", "settings"),
    [
        ({"all.csv": small_reviews(90)}, {"model": "bert-tiny", "epochs": 1}),
        ({"all.csv": small_reviews(90)}, {"model": "bert-tiny", "epochs": 1, "more_options": "trials: 2"}),
        (groups(), {"epochs": 1}),
    ],
    ids=["a training", "a search", "a training on a graph"],
)
def test_the_driver_reads_what_a_worker_hands_over_without_torch(make_run, monkeypatch, data, settings):
    outcomes, train = [], LocalLauncher.train

    def kept(launcher, plan):
        outcomes.append(train(launcher, plan))
        return outcomes[-1]

    monkeypatch.setattr(LocalLauncher, "train", kept)
    assert run(str(make_run(data, **settings)), "local") == 0
    parts = [bytes(p) for p in wire.pack(outcomes[0])]
    read = subprocess.run([sys.executable, "-c", READ], input=pickle.dumps(parts), cwd=ROOT, capture_output=True, check=True)
    assert read.stdout.decode().strip() == "Outcome []"
