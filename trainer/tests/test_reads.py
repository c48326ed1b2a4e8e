"""What the tests may read of this repository, so that they need not run again while it stays as it is."""

import os

import conftest
import pytest
from conftest import ROOT

READ, WRITE = os.O_RDONLY | os.O_CLOEXEC, os.O_WRONLY | os.O_CREAT
CHECK = conftest._only(["trainer", "docs/training.md"])


@pytest.mark.parametrize(
    ("name", "mode", "flags"),
    [
        (f"{ROOT}/trainer/run.py", "r", READ),
        (f"{ROOT}/trainer/__pycache__/run.cpython-311.pyc", "rb", READ),
        (f"{ROOT}/trainer/tests/__pycache__/test_x.cpython-311-pytest-9.2.0.pyc", None, READ),
        (f"{ROOT}/docs/training.md", "r", READ),
        (f"{ROOT}/.hypothesis/examples", None, READ),
        (f"{ROOT}/var/durations/trainer.xml", "w", WRITE),
        ("/etc/hosts", "r", READ),
        ("README.md", None, READ),  # below a folder that is open
        (7, "r", READ),
    ],
)
def test_these_may_be_opened(name, mode, flags):
    CHECK("open", (name, mode, flags))


@pytest.mark.parametrize("name", [f"{ROOT}/README.md", f"{ROOT}/docs/studio.md", f"{ROOT}/test/bench/__pycache__/graph.cpython-311.pyc", "README.md"])
def test_others_may_not(monkeypatch, name):
    monkeypatch.chdir(ROOT)
    with pytest.raises(RuntimeError, match="not in TRAINER_READS of the Makefile"):
        CHECK("open", (name, "r", READ))
