"""The forecaster: chooses a method on rolling origins, and answers with intervals. Its files are JSON and arrays; nothing in them runs code."""

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

import numpy
from safetensors import SafetensorError, numpy as safetensors, safe_open

from trainer import threads
from trainer.config.settings import Settings
from trainer.core.example import Dataset, Example
from trainer.errors import UserError
from trainer.kinds.boosted import forest as forests
from trainer.kinds.series import asking, judging, methods, steps as examples_of
from trainer.kinds.series.calendar import Calendar
from trainer.kinds.series.judging import Judged
from trainer.kinds.series.lags import Lags
from trainer.kinds.series.methods import Fitted
from trainer.kinds.series.panel import Panel, length_read, scales, spreads
from trainer.kinds.series.pretrained import installed
from trainer.kinds.series.target import FORECAST, WIDTH, Later
from trainer.models.leaned import Described
from trainer.run_folder import files

NAME = "forecaster"
_WITH_TREES = (methods.TREES, methods.MEAN, methods.TOGETHER)
HISTORY = "history.safetensors"
_KEPT = 4_000_000  # values of all series together that a model keeps, so that new rows continue them
_MOST_SERIES, _MOST_STEPS, _LONGEST_SEASON = 5_000_000, 10_000, 1000
_SHA256 = re.compile("[0-9a-f]{64}")
_FEW = 32  # places of the training that an installed model forecasts from, to say how well it learnt these


@dataclass(frozen=True)
class Forecaster:
    """``method`` is the one that answers, ``widths`` are those of its intervals (2 x steps, in units of the recent spread).

    ``figures`` are the mean MASE of each method on the rolling origins and its standard error, ``origins`` their number. ``history`` are the last
    steps of all series. ``judged`` answers the validation steps: with trees that have not seen them. Where an installed model takes part in the
    method, ``about`` names it, and ``held`` (series x steps) is what it forecasts behind ``history``.
    """

    method: str
    fitted: Fitted
    widths: numpy.ndarray
    figures: dict[str, tuple[float, float]]
    origins: int
    history: Panel
    covariates: tuple[str, ...] = ()
    judged: "AtOrigins | None" = field(default=None, compare=False)
    about: Described | None = None
    held: numpy.ndarray | None = None

    @property
    def steps(self) -> int:
        return self.widths.shape[1]

    @property
    def calendar(self) -> Calendar:
        return self.fitted.lags.calendar

    @property
    def parameters(self) -> int:
        forest = self.fitted.forest if self.method in _WITH_TREES else None
        return (len(forest.value) if forest else 0) + self.widths.size

    def outputs(self, examples: Sequence[Example]) -> numpy.ndarray:
        """The answers (steps x 7, see ``Later``), also to the questions of a request. Raises Refused for those that cannot be answered."""
        if len(examples) and not isinstance(examples, examples_of.Steps) and isinstance(examples[0].content, asking.Question):
            return self.behind(asking.steps(examples, self.history, self.calendar, self.steps))
        return self.by(self.method, examples)

    def behind(self, examples: examples_of.Steps) -> numpy.ndarray:
        """The answers to steps behind the end of ``history``, or of the series that it is the end of. No installed model is needed."""
        return self.by(self.method, examples, held=self.held)

    def few(self, examples: examples_of.Steps, seed: int) -> examples_of.Steps | None:
        """Those of the training steps that can be answered soon; None where all can."""
        if self.about is None:
            return None
        pairs, place = numpy.unique(numpy.stack([examples.series, examples.ends]), axis=1, return_inverse=True)
        taken = numpy.random.default_rng(seed).permutation(pairs.shape[1])[:_FEW]
        at = numpy.flatnonzero(numpy.isin(place.ravel(), taken))
        return examples_of.Steps(examples.panel, examples.calendar, examples.series[at], examples.ends[at], examples.aheads[at])

    def with_installed(self, models: Path, watch: Callable[[], None] = lambda: None) -> "Forecaster":
        """The same with the installed model that its method needs, from the folder ``models``. Raises UserError where it is not there; ``watch`` is
        called before each of its forecasts."""
        if self.about is None:
            return self
        return replace(self, fitted=replace(self.fitted, installed=installed.restored(models, self.about, self.calendar, watch)))

    def by(self, method: str, examples: Sequence[Example], held: numpy.ndarray | None = None) -> numpy.ndarray:
        """The answers of a method; without intervals unless it is the chosen one. ``held`` (series x steps) are forecasts of the installed model,
        which then is not asked."""
        if not len(examples):
            return numpy.zeros((0, WIDTH))
        panel, series, ends, aheads = examples_of.questions(examples)
        pairs, place = numpy.unique(numpy.stack([series, ends]), axis=1, return_inverse=True)
        place, most = place.ravel(), int(aheads.max())
        forecast, scale, spread, floor = numpy.zeros((pairs.shape[1], most)), *(numpy.ones(pairs.shape[1]) for _ in range(3))
        for part, histories in judging.batches(panel, pairs[0], pairs[1], self.fitted.season, most):
            fitted = self.fitted if held is None else replace(self.fitted, installed=installed.Held(held[pairs[0][part]]))
            forecast[part] = fitted.forecast(method, histories, most)
            scale[part], spread[part] = (unit(histories.values, self.fitted.season) for unit in (scales, spreads))
            floor[part] = numpy.where(numpy.nanmin(histories.values, axis=1) >= 0, 0.0, -numpy.inf)
        widths = self.widths if method == self.method else numpy.full_like(self.widths, numpy.nan)
        return _with_intervals(forecast[place, aheads - 1], scale[place], spread[place], aheads, widths, series, floor[place])

    def save(self, folder: Path) -> None:
        uses_trees = self.method in _WITH_TREES and self.fitted.forest is not None
        if uses_trees and self.fitted.forest:
            self.fitted.forest.save(folder)
        history = {"values": numpy.concatenate(self.history.values), "lengths": self.history.lengths, "firsts": self.history.firsts}
        if self.history.known:
            history["known"] = numpy.concatenate(self.history.known)
        if self.held is not None:
            history["held"] = self.held
        files.write_bytes(folder / HISTORY, safetensors.save({n: numpy.ascontiguousarray(a) for n, a in history.items()}))
        config = {
            "model_type": NAME, "method": self.method, "season": self.fitted.season, "calendar": self.calendar.described(),
            "covariates": list(self.covariates), "widths": [[None if math.isnan(w) else w for w in row] for row in self.widths.tolist()],
            "figures": {n: list(f) for n, f in self.figures.items()}, "origins": self.origins, "trees": uses_trees,
            "series": [list(ids) for ids in self.history.ids], "installed": asdict(self.about) if self.about else None,
        }  # fmt: skip
        files.write_json(folder / "config.json", config)


def _with_intervals(forecast, scale, spread, aheads, widths, series, floor) -> numpy.ndarray:
    """The outputs of steps. Farther ahead than was measured, intervals grow with the root of the distance."""
    place = numpy.minimum(aheads, widths.shape[1]) - 1
    grown = numpy.sqrt(aheads / (place + 1))
    found = numpy.zeros((len(forecast), WIDTH))
    found[:, 0], found[:, 5], found[:, 6] = forecast, scale, series
    for level in range(len(widths)):
        half = widths[level][place] * grown * spread
        found[:, 1 + 2 * level] = numpy.maximum(forecast - half, floor) if numpy.isfinite(half).all() else forecast - half
        found[:, 2 + 2 * level] = forecast + half
    return found


@dataclass(frozen=True)
class AtOrigins:
    """Answers the validation steps with what was forecast from the rolling origins."""

    judged: Judged
    method: str
    widths: numpy.ndarray

    def outputs(self, examples) -> numpy.ndarray:
        if not len(examples):
            return numpy.zeros((0, WIDTH))
        _, series, ends, aheads = examples_of.questions(examples)
        at = {pair: i for i, pair in enumerate(zip(self.judged.origins.series.tolist(), self.judged.origins.ends.tolist()))}
        rows = numpy.array([at[pair] for pair in zip(series.tolist(), ends.tolist())])
        forecast = self.judged.forecasts[self.method][rows, aheads - 1]
        return _with_intervals(
            forecast, self.judged.scale[rows], self.judged.spread[rows], aheads, self.widths, series, numpy.full(len(rows), -numpy.inf)
        )


def fit(data: Dataset, target: Later, settings: Settings) -> Forecaster:
    """Choose the method on rolling origins inside the training steps, and fit what all series share on all of these.

    Raises UserError where the method that was asked for cannot be fitted."""
    split = data.splits["train"]
    assert isinstance(split, examples_of.Steps)
    how: Lags = split.details.lags
    ends, horizon = split.details.ends, split.details.steps
    asked = () if settings.forecast_method == "auto" else (settings.forecast_method,)
    with threads.one():
        judged = judging.judge(split.panel, ends, how, horizon, settings.seed, (methods.NAIVE, *asked) if asked else None, split.details.installed)
        method, figures = judging.choose(judged, settings.metric)
        fitted = methods.fit(split.panel, ends, how, settings.seed, split.details.installed)
    if asked:
        method = asked[0]
        if method not in judged.forecasts or method not in fitted.names():
            raise UserError(
                "short_series", f"The series are too short for {methods.TITLES[method]} and its rolling origins.",
                "Set forecast_method to auto, set a smaller horizon, or add earlier rows.",
            )  # fmt: skip
    widths = judging.widths(judged, method, horizon)
    kept = _kept(split.panel, how)
    about, held = (split.details.installed.about, _held(split.details.installed, kept, how, horizon)) if method in methods.BASED else (None, None)
    at_origins = AtOrigins(judged, method, widths)
    return Forecaster(method, fitted, widths, figures, len(judged.origins), kept, split.details.covariates, at_origins, about, held)


def _held(model: methods.Ahead, panel: Panel, how: Lags, steps: int) -> numpy.ndarray:
    """What an installed model forecasts behind the end of each series."""
    found = numpy.zeros((len(panel), steps))
    for part, histories in judging.batches(panel, numpy.arange(len(panel)), panel.lengths, how.season, steps):
        found[part] = model.forecast(histories, steps)
    return found


def naive(how: Lags, examples) -> numpy.ndarray:
    """The outputs of the seasonal naive forecast, without intervals."""
    none = numpy.full((len(judging.LEVELS), 1), numpy.nan)
    return Forecaster(methods.NAIVE, Fitted(how), none, {}, 0, examples.panel).outputs(examples)


def means(how: Lags, examples: examples_of.Steps) -> numpy.ndarray:
    """The outputs of a model that always forecasts the mean of the series so far."""
    outputs = naive(how, examples)
    pairs, place = numpy.unique(numpy.stack([examples.series, examples.ends]), axis=1, return_inverse=True)
    outputs[:, FORECAST] = numpy.array([examples.panel.values[s][:end].mean() for s, end in pairs.T])[place.ravel()]
    return outputs


def _kept(panel: Panel, how: Lags) -> Panel:
    """The last steps of each series, as many as a model may keep."""
    length = min(length_read(how.season), max(2 * how.season + 2, how.reach, _KEPT // max(1, len(panel))))
    begins = numpy.maximum(0, panel.lengths - length)
    return Panel(
        panel.ids, tuple(v[b:] for v, b in zip(panel.values, begins)), tuple(o[b:] for o, b in zip(panel.observed, begins)),
        panel.firsts + begins, known=tuple(k[b : len(v)] for k, v, b in zip(panel.known, panel.values, begins)),
    )  # fmt: skip


def load(folder: Path) -> Forecaster:
    """The forecaster that ``save`` wrote. Raises OSError, ValueError, KeyError or TypeError for other files, which may be damaged or forged."""
    config = files.read_json(folder / "config.json")
    if config["model_type"] != NAME or config["method"] not in methods.TITLES:
        raise ValueError("its config.json does not describe a forecaster")
    season, covariates = config["season"], config["covariates"]
    if type(season) is not int or not 1 <= season <= _LONGEST_SEASON:
        raise ValueError("the season is not described")
    if not isinstance(covariates, list) or not all(isinstance(c, str) for c in covariates) or len(covariates) > 1000:
        raise ValueError("the covariates are not described")
    how = Lags(season, Calendar.restored(config["calendar"]), len(covariates))
    widths = numpy.array([[numpy.nan if w is None else float(w) for w in row] for row in config["widths"]])
    if widths.ndim != 2 or len(widths) != len(judging.LEVELS) or not 1 <= widths.shape[1] <= _MOST_STEPS or (widths < 0).any():
        raise ValueError("the intervals are not described")
    forest = forests.load(folder, 1, [0] * how.width) if config["trees"] is True else None
    if forest is None and config["method"] == methods.TREES:
        raise ValueError("the trees are missing")
    origins, told = config["origins"], config["figures"]
    if type(origins) is not int or not isinstance(told, dict):
        raise ValueError("how the method was chosen is not described")
    figures = {n: (float(mean), float(error)) for n, (mean, error) in told.items() if n in methods.TITLES}
    history, about, held = _history(folder, config), None, None
    if config["method"] in methods.BASED:
        about, held = _about(config["installed"]), safetensors.load_file(folder / HISTORY)["held"]
        if held.dtype != numpy.float64 or held.shape != (len(history), widths.shape[1]) or not numpy.isfinite(held).all():
            raise ValueError("what the installed model forecast is no table of numbers")
    fitted = Fitted(how, forest, installed.Absent(about) if about else None)
    return Forecaster(config["method"], fitted, widths, figures, origins, history, tuple(covariates), None, about, held)


def _about(told: dict) -> Described:
    """The installed model that config.json names."""
    parts = [told[n] for n in ("name", "sha256", "license")]
    if not all(isinstance(p, str) and len(p) < 1000 for p in parts) or not _SHA256.fullmatch(parts[1]):
        raise ValueError("the installed model is not described")
    return Described(*parts)


def missing(folder: Path, models: Path) -> str:
    """Why the forecaster in ``folder`` cannot answer here, as the end of a sentence; empty if it can. Raises as ``load`` does."""
    about = load(folder).about
    try:
        if about is not None:
            installed.LEANING.found(models, about)
    except UserError as e:
        return e.what.removesuffix(".").replace("The model", "it", 1)
    return ""


def lasts(folder: Path) -> numpy.ndarray:
    """The numbers of the last steps of the series in ``folder``, without their values. Raises OSError or ValueError for damaged files."""
    try:
        with safe_open(folder / HISTORY, "numpy") as tensors:
            firsts, lengths = tensors.get_tensor("firsts"), tensors.get_tensor("lengths")
    except SafetensorError as e:
        raise ValueError(f"{HISTORY} cannot be read") from e
    if firsts.dtype != numpy.int64 or firsts.dtype != lengths.dtype or firsts.ndim != 1 or firsts.shape != lengths.shape or not len(firsts):
        raise ValueError("the lengths of the series are wrong")
    return firsts + lengths - 1


def _history(folder: Path, config: dict) -> Panel:
    tensors = safetensors.load_file(folder / HISTORY)
    values, lengths, firsts, ids = tensors["values"], tensors["lengths"], tensors["firsts"], config["series"]
    if values.dtype != numpy.float64 or lengths.dtype != numpy.int64 or firsts.dtype != numpy.int64 or values.ndim != 1 or not len(lengths):
        raise ValueError("the history has the wrong type")
    if lengths.shape != firsts.shape or lengths.ndim != 1 or len(ids) != len(lengths) or len(ids) > _MOST_SERIES:
        raise ValueError("the series are not described")
    if (lengths < 1).any() or (lengths > len(values)).any() or lengths.sum() != len(values) or (numpy.abs(firsts) > 1e15).any():
        raise ValueError("the lengths of the series are wrong")
    if not numpy.isfinite(values).all() or not all(isinstance(i, list) and all(isinstance(c, str) for c in i) for i in ids):
        raise ValueError("the history is not one of numbers")
    cuts = numpy.cumsum(lengths)[:-1]
    known: tuple = ()
    if config["covariates"]:
        if tensors["known"].shape != (len(values), len(config["covariates"])):
            raise ValueError("the covariates have the wrong shape")
        known = tuple(numpy.split(tensors["known"].astype(numpy.float64), cuts))
    parts = tuple(numpy.split(values, cuts))
    return Panel(tuple(map(tuple, ids)), parts, tuple(numpy.ones(len(p), bool) for p in parts), firsts, known=known)
