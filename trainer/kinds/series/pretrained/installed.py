"""An installed model of series: what it takes to use it, its forecasts, and how a delivered model finds it again."""

import functools
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Protocol

import numpy

from trainer import threads
from trainer.errors import UserError, size_in_words
from trainer.kinds.series.calendar import DAY, MONTH, Calendar
from trainer.kinds.series.panel import Histories
from trainer.kinds.series.pretrained import timesfm, timesfm2_5
from trainer.memory import available
from trainer.models.catalogue import Base
from trainer.models.leaned import Described, Leaning
from trainer.models.weights import Unusable, Weights, configuration

LEANING = Leaning("series", "forecasts with", "series_model")
_ROOM = 1.25  # bytes of memory for each byte of weights
_PER_SECOND = 1.5e10  # multiplications of one core in float32


class Model(Protocol):
    """A model that was read. ``shape`` has ``patch``, ``context``, ``horizon``, ``parameters`` and ``copies``."""

    shape: Any

    def ahead(self, context: numpy.ndarray, /) -> numpy.ndarray: ...


@dataclass(frozen=True)
class Pretrained:
    """An installed model that forecasts. ``pace`` says how long the steps are: see ``pace_of``. ``watch`` is called before each history; it may
    raise UserError to stop."""

    about: Described
    model: Model
    pace: int
    watch: Callable[[], None] = lambda: None

    def forecast(self, histories: Histories, steps: int) -> numpy.ndarray:
        """The forecasts (histories x steps). Each history is computed alone, so that no bit depends on those beside it."""
        found = numpy.zeros((len(histories), steps))
        with threads.one():
            for row, values in enumerate(histories.values):
                self.watch()
                found[row] = self._row(values[~numpy.isnan(values)], steps)
        return found

    def _row(self, context: numpy.ndarray, steps: int) -> numpy.ndarray:
        """Farther ahead than the model answers at once, its answers are continued."""
        more = (self.pace,) if isinstance(self.model, timesfm.TimesFm) else ()
        known = len(context)
        while len(context) - known < steps:
            context = numpy.concatenate([context, self.model.ahead(context[-self.model.shape.context :], *more)])
        return context[known : known + steps]


@dataclass(frozen=True)
class Held:
    """Forecasts that were made before: a row for each history that will be asked for, in their order."""

    rows: numpy.ndarray
    about: None = None

    def forecast(self, histories: Histories, steps: int) -> numpy.ndarray:
        return self.rows[:, :steps]


@dataclass(frozen=True)
class Absent:
    """An installed model of which only the name is known here."""

    about: Described

    def forecast(self, histories: Histories, steps: int) -> numpy.ndarray:
        raise LEANING.missing(self.about, "is not at hand here")


def pace_of(calendar: Calendar) -> int:
    """0 for steps of up to a day, 1 for weeks and months, 2 for quarters and years."""
    if calendar.unit == MONTH:
        return 2 if calendar.size >= 3 else 1
    return 1 if calendar.unit == DAY and calendar.size >= 7 else 0


def shape_of(folder: Path) -> Any:
    """The shape of the model in ``folder``. Raises Unusable."""
    return _family(folder)[0].shape(configuration(folder))


def _family(folder: Path) -> tuple[Any, Any]:
    families = {timesfm.MODEL_TYPE: (timesfm, timesfm.TimesFm), timesfm2_5.MODEL_TYPE: (timesfm2_5, timesfm2_5.TimesFm2)}
    sort = configuration(folder).get("model_type")
    if sort not in families:
        raise Unusable(f"is of the type {str(sort)[:40]}; {' and '.join(families)} are computed here")
    return families[sort]


def work(shape: Any, lengths: numpy.ndarray, steps: int) -> float:
    """The multiplications for a forecast of ``steps`` behind histories of these ``lengths``."""
    patches = numpy.ceil(numpy.minimum(lengths, shape.context) / shape.patch)
    return float(patches.sum()) * shape.parameters * shape.copies * -(-steps // shape.horizon)


def seconds(multiplications: float) -> float:
    """About how long one core takes."""
    return multiplications / _PER_SECOND


def check_memory(base: Base) -> None:
    """Raises Unusable where the weights do not fit into the memory that is free."""
    needs, free = int(_ROOM * base.size), available()
    if needs > free:
        raise Unusable(f"needs {size_in_words(needs)} of memory, and {size_in_words(free)} are free")


def read(base: Base, calendar: Calendar) -> Pretrained:
    """The installed model ``base``. Raises Unusable."""
    assert base.folder is not None
    about = LEANING.described(base)
    return Pretrained(about, _read(base.folder, about.sha256), pace_of(calendar))


@functools.lru_cache(maxsize=1)
def _read(folder: Path, sha256: str) -> Model:
    """The model in ``folder``, whose files have this sum: a training and the check of what it saved read it once."""
    return _family(folder)[1](configuration(folder), Weights(folder))


def restored(models: Path, about: Described, calendar: Calendar, watch: Callable[[], None] = lambda: None) -> Pretrained:
    """The installed model that a delivered one forecasts with. Raises UserError."""
    base = LEANING.found(models, about)
    try:
        check_memory(base)
        return replace(read(base, calendar), watch=watch)
    except Unusable as e:
        raise UserError(
            "model_unusable", f"The model forecasts with the installed model {base.name}, which {e}.",
            "Ask the administrator, or train again with series_model set to none.",
        ) from e  # fmt: skip
