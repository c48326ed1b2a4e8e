"""Work in pieces, which workers take one after another: one that is free gets the next."""

import threading
from collections.abc import Callable, Iterable
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from typing import Any, Protocol

from trainer.run_folder.events import Events

_LOOK_SECONDS = 1.0

Tick = Callable[[int], None]  # called with the number of pieces that are done, about once a second and after the last; it may raise


class Piece(Protocol):
    """A piece of work. It travels between processes, and leaves its result in the run folder, so that it may be carried out again."""

    def carried_out(self, device: str, events: Events) -> None:
        """Do it, in whichever process. Raises UserError."""


class Spreading(Protocol):
    """A launcher that carries out pieces."""

    def spread(self, pieces: Iterable[Piece], count: int, tick: Tick) -> None:
        """Carry out ``count`` pieces. They are made one by one, so no more than one for each worker is in memory."""


def in_turn(pieces: Iterable[Piece], tick: Tick, device: str, events: Events) -> None:
    """Carry out ``pieces`` in this process."""
    for done, piece in enumerate(pieces, 1):
        piece.carried_out(device, events)
        tick(done)


def by_all(workers: list[Callable[[Piece], Any]], pieces: Iterable[Piece], tick: Tick) -> None:
    """Let each of ``workers`` carry out the next piece until none is left. The first error ends it; what is begun then is not waited for."""
    left, taking, done, over = iter(pieces), threading.Lock(), [0] * len(workers), threading.Event()

    def work(number: int) -> None:
        while not over.is_set():
            with taking:
                piece = next(left, None)
            if piece is None:
                return
            workers[number](piece)
            done[number] += 1

    threads = ThreadPoolExecutor(len(workers), thread_name_prefix="piece")
    try:
        running = {threads.submit(work, number) for number in range(len(workers))}
        while running:
            ended, running = wait(running, timeout=_LOOK_SECONDS, return_when=FIRST_EXCEPTION)
            for one in ended:
                one.result()
            tick(sum(done))
    finally:
        over.set()
        threads.shutdown(wait=False, cancel_futures=True)
