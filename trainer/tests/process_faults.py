"""Runs in processes that can be killed or put to sleep: forked from one that has done the slow imports, and told where.

A kill is a real SIGKILL at an exact place, so that nothing of what a dying process would still tidy up hides a fault.
"""

import json
import multiprocessing
import os
import shutil
import signal
import sys
import time
from pathlib import Path

import lone_networks
import pytest
from result_checks import weights

from trainer.core import registry
from trainer.core.registry import MORE_KINDS

PRELOAD = ["trainer.tests.process_preload"]
NETWORKS = ("bert-tiny", "gpt-small", "mlp")
_LIMIT_SECONDS = 600  # of a machine that many others use
KILLED = -signal.SIGKILL


@pytest.fixture(scope="session")
def start_apart():
    """start_apart(spec, place, number, signal) carries out a run in a process of its own, which is gone when the tests are.

    ``place`` is None to let it be, "step" to send the signal after that step, "fit" to send it before words fits its model of that number, "text"
    before that batch of texts of nodes is read, "part" before that answer for a part of a scene or of many rows is written, "map" before that map
    of a scene is, or "replace" before that call of os.replace, counted from 1.
    """
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(PRELOAD)
    started = []

    def start(spec: Path, place: str | None = None, number: int = 0, sent: int = signal.SIGKILL) -> multiprocessing.Process:
        started.append(context.Process(target=_run, args=(str(spec), place, number, sent, os.environ.get(MORE_KINDS, ""))))
        started[-1].start()
        return started[-1]

    yield start
    for process in started:
        process.kill()


@pytest.fixture(scope="session")
def run_apart(start_apart):
    """run_apart(spec, place, number, signal) does so to its end, and returns the exit code."""
    return lambda *args: exit_code(start_apart(*args))


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory, run_apart):
    """undisturbed(spec) is the hash of the weights of the same training to which nothing happens."""
    known = {}

    def of(spec: Path) -> str:
        document = json.loads(spec.read_text())
        key = json.dumps([document["settings"], [i["sha256"] for i in document["inputs"]]])
        if key not in known:
            folder = tmp_path_factory.mktemp("undisturbed") / "shared" / "runs" / "ft-undisturbed"
            shutil.copytree(spec.parent / "inputs", folder / "inputs")
            (folder / "spec.json").write_text(json.dumps({**document, "run": "ft-undisturbed"}))
            assert run_apart(folder / "spec.json") == 0
            known[key] = weights(folder)
        return known[key]

    return of


def exit_code(process: multiprocessing.Process) -> int:
    process.join(_LIMIT_SECONDS)
    assert process.exitcode is not None, "the run hangs"
    return process.exitcode


def asleep(process: multiprocessing.Process) -> bool:
    """Wait until the process has ended or stopped itself; says whether it has stopped."""
    end = time.monotonic() + _LIMIT_SECONDS
    while process.is_alive() and time.monotonic() < end:
        try:
            state = Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()[0]
        except OSError:
            continue
        if state == "T":
            return True
        time.sleep(0.01)
    return False


def wake(process: multiprocessing.Process) -> None:
    os.kill(process.pid, signal.SIGCONT)


def knows(more_kinds: str) -> None:
    """Let this process know the kinds of these modules, whatever the process knew that it was forked from."""
    from trainer.config.options import options

    os.environ[MORE_KINDS] = more_kinds
    for known in (registry.kinds, registry.estimators, options):
        known.cache_clear()


def _run(spec: str, place: str | None, number: int, sent: int, more_kinds: str) -> None:
    assert PRELOAD[0] in sys.modules, "the imports failed in the process from which this one was forked"
    knows(more_kinds)
    from trainer.kinds.graph import encoded_texts
    from trainer.parted import rows
    from trainer.run import run
    from trainer.train import consensus, loop

    encoded_texts.PART_TOKENS = encoded_texts.BATCH_TOKENS = 100  # so that the texts of a small graph are read in several parts
    rows.LEAST, rows.PART = 100, 100  # so that a small prediction is answered in several parts
    if json.loads(Path(spec).read_text())["settings"].get("model") in NETWORKS:
        lone_networks.let_be_alone(setattr)
    # Whatever the speed of this machine, a request to end is seen after the very next step, and every evaluation is saved.
    consensus.LOOK_SECONDS = loop.BETWEEN_SAVES_SECONDS = 0.0
    if place == "step":
        _interrupt(loop.Training, "_step", lambda training: training.at.step + 1 == number, sent, after=True)
    elif place == "fit":
        from trainer.kinds.text import words_fit

        turns = iter(range(1, 10**6))
        _interrupt(words_fit._Fit, "_strength", lambda *_: next(turns) == number, sent, after=False)
    elif place == "text":
        batches = iter(range(1, 10**6))
        _interrupt(encoded_texts, "_means", lambda *_: next(batches) == number, sent, after=False)
    elif place in ("part", "map"):
        from trainer.kinds.pixels.scenes import maps
        from trainer.run_folder import parts

        turns = iter(range(1, 10**6))
        for owner, name in ((parts, "write"),) if place == "part" else ((maps, "probabilities"), (maps, "write")):
            _interrupt(owner, name, lambda *_: next(turns) == number, sent, after=False)
    elif place == "replace":
        calls = iter(range(1, 10**6))
        _interrupt(os, "replace", lambda *_: next(calls) == number, sent, after=False)
    raise SystemExit(run(spec, "local"))


def _interrupt(owner, name: str, due, sent: int, after: bool) -> None:
    """Let this process send itself a signal around the call of ``owner.name`` for which ``due`` holds."""
    real = getattr(owner, name)

    def interrupted(*args, **more):
        now = due(*args)
        if now and not after:
            os.kill(os.getpid(), sent)
        result = real(*args, **more)
        if now and after:
            os.kill(os.getpid(), sent)
        return result

    setattr(owner, name, interrupted)
