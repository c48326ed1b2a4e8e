"""The methods that forecast, by their names: each alone, and the mean of several."""

from dataclasses import dataclass
from typing import Any, Protocol

import numpy

from trainer.core import drawn
from trainer.kinds.boosted.forest import Forest
from trainer.kinds.series import lags, simple, smoothing
from trainer.kinds.series.lags import Lags
from trainer.kinds.series.panel import CELLS, Histories, Panel, length_read

NAIVE, ETS, THETA, TREES, MEAN = "naive", "ets", "theta", "trees", "mean"
INSTALLED, TOGETHER = "installed", "mean_installed"
BASED = (INSTALLED, TOGETHER)  # methods that an installed model takes part in
TITLES = {
    NAIVE: "seasonal naive forecast", ETS: "exponential smoothing (ETS)", THETA: "Theta", TREES: "gradient-boosted trees on lags",
    MEAN: "mean of ETS, Theta and the trees", INSTALLED: "installed model", TOGETHER: "mean of ETS, Theta, the trees and the installed model",
}  # fmt: skip
_LEARNT_STEPS = 60_000  # of all series together, that trees learn from where these are longer than a history


class Ahead(Protocol):
    """A model that forecasts without being fitted here. ``about`` names it in a delivered model."""

    @property
    def about(self) -> Any: ...

    def forecast(self, histories: Histories, steps: int) -> numpy.ndarray:
        """The forecasts (histories x steps)."""


@dataclass(frozen=True)
class Fitted:
    """What forecasts need to know beside a history. ``forest`` is None where no trees were fitted, ``installed`` where no model is."""

    lags: Lags
    forest: Forest | None = None
    installed: Ahead | None = None

    @property
    def season(self) -> int:
        return self.lags.season

    def names(self) -> list[str]:
        """The methods that can answer."""
        return [NAIVE, ETS, THETA, *([TREES] if self.forest else []), MEAN, *(BASED if self.installed else ())]

    def forecast(self, name: str, histories: Histories, steps: int) -> numpy.ndarray:
        """The forecasts (histories x steps) of a method. Raises ValueError for one that was not fitted."""
        return self.forecasts((name,), histories, steps)[name]

    def forecasts(self, names, histories: Histories, steps: int) -> dict[str, numpy.ndarray]:
        """The forecasts of several methods. Where no value of a history is below 0, no forecast is."""
        own = (ETS, THETA, *([TREES] if self.forest else []))
        means = {n: parts for n, parts in ((MEAN, own), (TOGETHER, (*own, INSTALLED))) if n in names}
        needed = [*(n for n in names if n not in means), *(n for parts in means.values() for n in parts)]
        found = {n: self._alone(n, histories, steps) for n in dict.fromkeys(needed)}
        found |= {n: numpy.mean([found[part] for part in parts], axis=0) for n, parts in means.items()}
        return {n: found[n] for n in names}

    def _alone(self, name: str, histories: Histories, steps: int) -> numpy.ndarray:
        if name == NAIVE:
            return simple.naive(histories, self.season, steps)
        if name == TREES:
            if self.forest is None:
                raise ValueError("the model has no trees")
            found = lags.forecast(self.lags, self.forest, histories, steps)
        elif name == INSTALLED:
            if self.installed is None:
                raise ValueError("the model has no installed model")
            found = self.installed.forecast(histories, steps)
        else:
            found = {ETS: smoothing.ets, THETA: simple.theta}[name](histories, self.season, steps)
        lowest = numpy.nanmin(histories.values, axis=1, keepdims=True)
        return numpy.where(lowest >= 0, numpy.maximum(found, 0.0), found)


def fit(panel: Panel, ends: numpy.ndarray, how: Lags, seed: int, installed: Ahead | None = None) -> Fitted:
    """Fit what all series share on the steps before ``ends``. An ``installed`` model is taken as it is."""
    usable = numpy.flatnonzero(ends > how.reach)
    if not len(usable):
        return Fitted(how, None, installed)
    longest = int(min(ends.max(), max(length_read(how.season), _LEARNT_STEPS // len(usable))))
    most = max(1, CELLS // longest)
    usable = drawn.rows(usable, most, seed)
    return Fitted(how, lags.fit(how, panel.histories(usable, ends[usable], longest, 0), seed), installed)
