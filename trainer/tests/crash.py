"""Runs in processes that can be killed: forked from one that has done the slow imports, and told where to end.

A kill is a real SIGKILL at an exact place, so that nothing of what a dying process would still tidy up hides a fault.
"""

import multiprocessing
import os
import signal
from pathlib import Path

import pytest

_SLOW = [
    "trainer.run",
    "trainer.prepare",
    "trainer.baseline",
    "trainer.train.loop",
    "trainer.train.evaluate",
    "trainer.launch.local",
    "transformers.models.bert.modeling_bert",
]
_LIMIT_SECONDS = 120
KILLED = -signal.SIGKILL


@pytest.fixture(scope="session")
def run_apart():
    """run_apart(spec, place, number, signal) carries out a run in a process of its own and returns its exit code.

    ``place`` is None to let it be, "step" to send the signal after that step, or "replace" to send it before that call of
    os.replace, counted from 1.
    """
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(_SLOW)

    def apart(spec: Path, place: str | None = None, number: int = 0, sent: int = signal.SIGKILL) -> int:
        process = context.Process(target=_run, args=(str(spec), place, number, sent))
        process.start()
        process.join(_LIMIT_SECONDS)
        assert process.exitcode is not None, "the run hangs"
        return process.exitcode

    return apart


def _run(spec: str, place: str | None, number: int, sent: int) -> None:
    from trainer.run import run
    from trainer.train import agree, loop

    # Whatever the speed of this machine, a wish to end is seen after the very next step, and every evaluation is saved.
    agree.LOOK_SECONDS = loop.BETWEEN_SAVES_SECONDS = 0.0
    if place == "step":
        _interrupt(loop.Training, "_step", lambda training: training.at.step + 1 == number, sent, after=True)
    elif place == "replace":
        calls = iter(range(1, 10**6))
        _interrupt(os, "replace", lambda *_: next(calls) == number, sent, after=False)
    raise SystemExit(run(spec, "local"))


def _interrupt(owner, name: str, due, sent: int, after: bool) -> None:
    """Let this process send itself a signal around the call of ``owner.name`` for which ``due`` holds."""
    real = getattr(owner, name)

    def interrupted(*args):
        now = due(*args)
        if now and not after:
            os.kill(os.getpid(), sent)
        result = real(*args)
        if now and after:
            os.kill(os.getpid(), sent)
        return result

    setattr(owner, name, interrupted)
