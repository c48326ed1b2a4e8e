"""The progress of a script and the numbers that it measured, from what it prints.

These numbers are hints: a script prints what it likes. Each has its source. A file of metrics that the script has written counts more
(``metric_files``), and so do its TensorBoard files, which the service reads.
"""

import contextlib
import math
import time
from collections.abc import Callable
from dataclasses import dataclass

from trainer.run_folder.events import Events, progress_interval
from trainer.script import printed
from trainer.script.printed import Printed

INTERVAL_SECONDS = 3.0  # between two progress events, at the beginning
POINTS, NAMES, CURVES = 2000, 200, 20  # of a curve; of numbers in all; of curves in the events
LOG = "log"
_FEW = 8  # scalars at one moment
_RATE_NAMES = ("learning_rate", "lr")
_SHORT_SECONDS = 60.0
_MOST_EPOCHS = 10**6


class Progress:
    """Understands lines and writes progress, eval and scalar events, of each kind at most one moment every three seconds.

    ``metric`` is the name of a value that the user wants, which may be a word that no training prints usually.
    """

    def __init__(self, events: Events, metric: str = "", clock: Callable[[], float] = time.monotonic):
        self.events, self.metric, self.clock = events, metric, clock
        self.began = clock()
        self.series: dict[str, list[tuple[int, float]]] = {}
        self._numbers: dict[str, float] = {}
        self._strides: dict[str, int] = {}  # of a curve that was thinned out: steps between two points
        self._shifts: dict[str, int] = {}  # steps of the epochs before
        self._at = _Position()
        self._written = self._evaluated = float("-inf")
        self._shown: tuple | None = None
        self._fresh: dict[str, tuple[int, float]] = {}
        self._evaluation: dict[str, dict[str, float]] = {}

    def line(self, text: str) -> None:
        """Take one line. Raises LeaseLost if another start has taken over; a full disk only loses events."""
        found = printed.read(text, self.metric)
        if not found:
            return
        self._at.move(found, self.clock())
        step = self._at.whole_step()
        for name, value in found.values.items():
            self._keep(name, step, value)
        with contextlib.suppress(OSError):
            self._report()

    def close(self) -> None:
        """Write what was held back."""
        with contextlib.suppress(OSError):
            self._report(last=True)

    def numbers(self) -> dict[str, tuple[float, str]]:
        """The last value of each name, which may be NaN or infinite, and its source."""
        return {name: (value, LOG) for name, value in self._numbers.items()}

    def _keep(self, name: str, step: int, value: float) -> None:
        if name not in self._numbers and len(self._numbers) >= NAMES:
            return
        self._numbers[name] = value
        if not math.isfinite(value):
            return
        if (split := printed.split_of(name)) != "train":
            self._evaluation.setdefault(split, {})[name] = value
        points = self.series.setdefault(name, [])
        step += self._shifts.get(name, 0)
        if points and points[-1][0] > step:  # the script counts within an epoch, or prints two counts
            more = points[-1][0] + 1 - step
            self._shifts[name] = self._shifts.get(name, 0) + more
            step += more
        self._fresh[name] = (step, value)
        if points and (points[-1][0] == step or (len(points) > 1 and step - points[-2][0] < self._strides.get(name, 1))):
            points[-1] = (step, value)
            return
        points.append((step, value))
        if len(points) > POINTS:
            del points[1:-1:2]
            self._strides[name] = max(1, (points[-1][0] - points[0][0]) // (POINTS // 2))

    def _report(self, last: bool = False) -> None:
        now = self.clock()
        interval = progress_interval(now - self.began, INTERVAL_SECONDS)
        if self._evaluation and (last or now - self._evaluated >= interval):
            self._evaluated = now
            epoch, step = self._at.epoch, self._at.whole_step() or None
            for split, values in self._evaluation.items():
                self.events.eval(epoch, step, split, values, printed=True)
            self._evaluation = {}
        if not last and now - self._written < interval:
            return
        self._written = now
        state = self._at.shown()
        if any(part is not None for part in state) and (state, self._fresh) != self._shown:
            epoch, epochs, step, steps = state
            self.events.progress(epoch, epochs, step, steps, **self._more())
            self._shown = (state, dict(self._fresh))
        for name in [n for n in list(self.series)[:CURVES] if n in self._fresh][:_FEW]:
            self.events.scalar(name, *self._fresh[name])
        self._fresh = {}

    def _more(self) -> dict[str, float]:
        finite = {name: value for name, value in self._numbers.items() if math.isfinite(value)}
        loss = next((finite[n] for n in ("loss", "train_loss", "training_loss") if n in finite), None)
        rate = next((finite[n] for n in _RATE_NAMES if n in finite), None)
        more = {"loss": loss, "learning_rate": rate, "eta_seconds": self._at.remaining(self.clock() - self.began)}
        return {name: value for name, value in more.items() if value is not None}


@dataclass
class _Bar:
    step: int
    steps: int
    eta: float | None
    began: float
    seen: float
    went_back: bool = False

    @property
    def moved(self) -> float:
        """The seconds from its first to its latest state."""
        return self.seen - self.began


class _Position:
    """Where a training is, put together from lines that each say a part of it.

    Of several bars the outermost counts: one that never went back to its beginning, and of these the one that has moved for the longest
    time. A bar that begins again and again is the bar of an epoch, or of an evaluation.
    """

    _BARS = 50

    def __init__(self):
        self.epoch: float | None = None  # as printed, with its fraction where the script prints one
        self.epochs: int | None = None
        self.from_zero = False
        self.step: int | None = None  # as printed without a length
        self.bars: dict[str, _Bar] = {}

    def move(self, found: Printed, now: float) -> None:
        """Take the position that a line says."""
        if found.epoch is not None and 0 <= found.epoch < _MOST_EPOCHS:
            self.from_zero = self.from_zero or found.epoch == 0
            self.epoch = found.epoch
            if found.epochs is not None and (epochs := found.epochs + found.last_epoch):
                self.epochs = min(epochs, _MOST_EPOCHS)
        if found.steps:
            bar = self.bars.get(found.bar)
            if bar is not None:
                bar.went_back = bar.went_back or found.step < bar.step
                bar.step, bar.eta, bar.seen = found.step, found.eta, now
            elif len(self.bars) < self._BARS:
                self.bars[found.bar] = _Bar(found.step, found.steps, found.eta, now, now)
        elif found.step is not None:
            self.step = found.step

    def _outer(self) -> "_Bar | None":
        """The bar of the whole training, if there is one."""
        if self.epochs is not None:
            return None
        bars = [bar for bar in self.bars.values() if not bar.went_back]
        moving = [bar for bar in bars if bar.step < bar.steps or bar.moved >= _SHORT_SECONDS]  # preparations have bars, too
        return max(moving or bars, key=lambda bar: bar.moved, default=None)

    def _inner(self) -> "_Bar | None":
        """The bar of an epoch: the longest one that began again, if one has."""
        again = [bar for bar in self.bars.values() if bar.went_back]
        return max(again or self.bars.values(), key=lambda bar: bar.steps, default=None)

    def whole_step(self) -> int:
        """The number that the points of a curve have: steps of the whole training, else epochs, else 0."""
        outer, inner = self._outer(), self._inner()
        if outer is not None:
            return outer.step
        if self.epoch is not None and inner is not None:
            begun = max(0, math.ceil(self.epoch) - (not self.from_zero))
            return begun * inner.steps + inner.step
        if self.step is not None:
            return self.step
        if inner is not None:
            return inner.step
        return int(self.epoch) if self.epoch is not None else 0

    def shown(self) -> tuple[int | None, int | None, int | None, int | None]:
        """Epoch (from 1), epochs, step and steps for a progress event; what is not known is None."""
        epoch, epochs = None, self.epochs
        if self.epoch is not None:
            epoch = int(self.epoch) + 1 if self.from_zero and self.epoch == int(self.epoch) else max(1, math.ceil(self.epoch))
            epoch = min(epoch, epochs) if epochs else epoch
        outer, inner = self._outer(), self._inner()
        if outer is not None:
            return epoch, epochs, outer.step, outer.steps
        if epochs and epoch and inner is not None:
            return epoch, epochs, min((epoch - 1) * inner.steps + inner.step, epochs * inner.steps), epochs * inner.steps
        return epoch, epochs, self.step, None

    def remaining(self, elapsed: float) -> float | None:
        """The estimated seconds until the end: what the outermost bar says, else from the share that is done."""
        outer = self._outer()
        if outer is not None and outer.eta is not None:
            return outer.eta
        epoch, epochs, step, steps = self.shown()
        if steps and step:
            return elapsed * (steps - step) / step
        if epochs and epoch and epoch > 1:
            return elapsed * (epochs - epoch + 1) / (epoch - 1)
        return None
