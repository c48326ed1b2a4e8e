"""SIGTERM ends a driver wherever it is, and interrupts nothing that the end consists of."""

import gc
import json
import os
import random
import signal
import subprocess
import sys
import time
import weakref
from pathlib import Path

import pytest
from conftest import ROOT, small_reviews
from process_faults import exit_code, run_apart, start_apart, undisturbed  # noqa: F401 - fixtures
from result_checks import check_success, weights

from trainer import termination
from trainer.run_folder import stop
from trainer.termination import Terminated

TRIES, SEED = 150, 1
PATIENCE_SECONDS = 300.0  # of a machine that many others use


class _Thing:
    pass


def _terminate(*_) -> None:
    signal.raise_signal(signal.SIGTERM)


def in_a_callback() -> None:
    """Python prints and forgets exceptions of such callbacks."""
    thing = _Thing()
    _ = weakref.ref(thing, _terminate)
    del thing
    gc.collect()


def in_code_that_catches_everything() -> None:
    try:
        _terminate()
    except BaseException:
        pass


def in_code_that_gives_another_error() -> None:
    try:
        _terminate()
    except BaseException:
        pass
    raise ImportError("cannot import a name from a partially initialized module")


def while_a_library_has_its_own_handler() -> None:
    with termination.keeping_the_handler():
        signal.signal(signal.SIGTERM, lambda *_: None)
        _terminate()


def while_a_library_ends_the_process() -> None:
    with termination.keeping_the_handler():
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(15))
        _terminate()


def twice() -> None:
    _terminate()
    _terminate()


@pytest.mark.parametrize(
    "received",
    [
        in_a_callback, in_code_that_catches_everything, in_code_that_gives_another_error, while_a_library_has_its_own_handler,
        while_a_library_ends_the_process, twice,
    ],
)  # fmt: skip
def test_sigterm_ends_the_run_although_its_exception_is_lost(received, monkeypatch):
    monkeypatch.setattr(sys, "unraisablehook", lambda _: None)  # that of pytest takes so long that the next exception may be raised in it
    before = signal.getsignal(signal.SIGTERM), signal.getsignal(signal.SIGALRM)
    lost = False
    with termination.listening():
        received()
        _until(lambda: False)
        lost = True
    assert not lost
    assert termination.is_requested()
    assert (signal.getsignal(signal.SIGTERM), signal.getsignal(signal.SIGALRM)) == before
    assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)


def test_nothing_that_an_orderly_end_consists_of_is_interrupted(tmp_path, monkeypatch):
    ticks, again = [], termination._raise_again

    def counted(*_) -> None:
        ticks.append(1)
        again()

    monkeypatch.setattr(termination, "_raise_again", counted)
    done = []
    with termination.listening():
        try:
            try:
                _terminate()
            finally:
                _until(lambda: len(ticks) > 2)
                done.append("closed")
        except Terminated as e:
            with stop.pausable(tmp_path):
                stop.pause(tmp_path, seconds=5 * termination.AGAIN_SECONDS)  # nobody saves anything, so it waits as long as it may
            done.append("paused")
            raise RuntimeError("turned into an error of somebody else") from e
    assert done == ["closed", "paused"]
    assert stop.is_paused(tmp_path)


def test_an_error_of_the_run_itself_is_not_mistaken_for_it():
    with pytest.raises(ValueError, match="bad data"), termination.listening():
        raise ValueError("bad data")
    assert not termination.is_requested()


def test_of_many_processes_that_get_it_at_random_moments_of_imports_all_end():
    command = [sys.executable, str(Path(__file__).with_name("terminated_imports.py")), str(TRIES), str(SEED)]
    done = subprocess.run(command, env={**os.environ, "PYTHONPATH": str(ROOT)}, capture_output=True, text=True, check=True)
    assert json.loads(done.stdout) == {"terminated": TRIES}, done.stderr[-2000:]


@pytest.mark.parametrize("seed", range(2))
def test_a_run_that_gets_it_at_a_random_moment_of_its_start_ends_and_is_resumed(make_run, start_apart, run_apart, undisturbed, schemas, seed):  # noqa: F811
    spec = make_run({"all.csv": small_reviews(200)}, model="bert-tiny", epochs=1)
    process = start_apart(spec)
    begun = spec.parent / "events.jsonl"
    _until(lambda: begun.exists() or not process.is_alive())
    process.join(random.Random(seed).uniform(0, 0.4))
    process.terminate()
    assert exit_code(process) == (0 if (spec.parent / "result.json").exists() else 143)
    assert not (spec.parent / "error.json").exists()
    assert run_apart(spec) == 0
    check_success(spec.parent, schemas)
    assert weights(spec.parent) == undisturbed(spec)


def _until(condition) -> None:
    end = time.monotonic() + PATIENCE_SECONDS
    while not condition() and time.monotonic() < end:
        time.sleep(0.005)
