"""SIGTERM as an exception in the main thread of a driver, which cannot be lost.

An exception that a signal raises can come anywhere, and not all code lets it pass: Python prints and forgets what is raised in callbacks
of weak references (each import has one), compiled code turns it into another error, and libraries have clauses that catch everything. So
``Terminated`` is raised again and again until it has left ``listening``. It is not raised while anything handles it, so that nothing of an
orderly end is interrupted.
"""

import contextlib
import os
import signal
import sys
import threading

AGAIN_SECONDS = 0.05


class Terminated(BaseException):
    """The process received SIGTERM."""


class _State:
    received = False


class listening:  # noqa: N801 - used like a function
    """Within it, SIGTERM raises Terminated. Once it was received, any exception ends here, and the caller goes on. Afterwards the
    handlers of signals are as they were. In the main thread only."""

    def __enter__(self) -> None:
        _State.received = False
        self._again = signal.signal(signal.SIGALRM, _raise_again)
        self._before = signal.signal(signal.SIGTERM, _raise)

    def __exit__(self, *_) -> bool:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, self._again)
        signal.signal(signal.SIGTERM, self._before)
        return _State.received


@contextlib.contextmanager
def keeping_the_handler():
    """For calls of a library that sets a handler of its own for SIGTERM: the one from before is there again afterwards. It also gets a
    signal that came while the other one was in place."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.getsignal(signal.SIGTERM)
    arrived, write = os.pipe()
    os.set_blocking(arrived, False)
    os.set_blocking(write, False)
    wakeup = signal.set_wakeup_fd(write, warn_on_full_buffer=False)  # the interpreter writes the number of each signal into it
    try:
        yield
    finally:
        signal.set_wakeup_fd(wakeup)
        signal.signal(signal.SIGTERM, before)
        try:
            missed = signal.SIGTERM in os.read(arrived, 1 << 16)
        except BlockingIOError:
            missed = False
        os.close(arrived)
        os.close(write)
        if missed:
            signal.raise_signal(signal.SIGTERM)


def is_requested() -> bool:
    """Whether SIGTERM was received, also where its exception was lost or turned into another one."""
    return _State.received


def _raise(*_) -> None:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    _State.received = True
    signal.setitimer(signal.ITIMER_REAL, AGAIN_SECONDS, AGAIN_SECONDS)
    raise Terminated


def _raise_again(*_) -> None:
    if not _is_handled(sys.exception()):
        raise Terminated


def _is_handled(error: BaseException | None) -> bool:
    """Whether Terminated is ``error``, which is being handled, or came before it."""
    while error is not None and not isinstance(error, Terminated):
        error = error.__cause__ or error.__context__
    return error is not None
