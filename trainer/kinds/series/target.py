"""A number at a later step, with intervals."""

from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy

from trainer.core.example import Dataset
from trainer.errors import UserError, some
from trainer.measure import intervals
from trainer.measure.metric import LOSS, TARGET_UNIT, Metric, Metrics, table
from trainer.targets import target

MASE, SMAPE, COVERAGE80, COVERAGE90 = "mase", "smape", "coverage_80", "coverage_90"
FORECAST, LOW80, HIGH80, LOW90, HIGH90, SCALE, SERIES = range(7)  # the columns of outputs
WIDTH = 7
_FIGURES = ("count", MASE, SMAPE, "squares", "apart", COVERAGE80, COVERAGE90)
_TENSORS = (("value", FORECAST, 0.0), ("low", LOW90, 0.9), ("high", HIGH90, 0.9), ("lower_80", LOW80, 0.8), ("upper_80", HIGH80, 0.8))
_FEW_SERIES = 8  # from which intervals are over resampled series, and not over steps


@dataclass(frozen=True)
class Forecasts:
    """``outputs`` (steps x 7): forecast, bounds of the intervals of 80 and 90 %, the unit of MASE, number of the series."""

    outputs: numpy.ndarray
    truth: numpy.ndarray

    def __len__(self) -> int:
        return len(self.truth)


@dataclass(frozen=True)
class Later(target.WithoutSingleAnswers):
    key: ClassVar[str] = "forecast"
    metrics: ClassVar[Metrics] = table(
        Metric(MASE, "MASE", higher_is_better=False, judges=True),
        Metric(SMAPE, "sMAPE", higher_is_better=False),
        Metric("rmse", "RMSE", higher_is_better=False, unit=TARGET_UNIT),
        Metric("mae", "MAE", higher_is_better=False, unit=TARGET_UNIT),
        Metric(COVERAGE80, "coverage of the 80 % intervals"),
        Metric(COVERAGE90, "coverage of the 90 % intervals"),
        LOSS,
    )
    labels: ClassVar[tuple[str, ...]] = ()
    outputs: ClassVar[int] = WIDTH
    width: ClassVar[int] = WIDTH
    head: ClassVar[int] = 0
    exact: ClassVar[bool] = True
    evaluation_rows: ClassVar[int] = 1
    weighs_classes: ClassVar[bool] = False
    smooths: ClassVar[bool] = False
    adds_pieces: ClassVar[bool] = False

    def encode(self, targets: list[str]) -> numpy.ndarray:
        return numpy.asarray([numpy.nan if not t or (n := target.number(t)) is None else n for t in targets], numpy.float64)

    def known(self, encoded: numpy.ndarray) -> numpy.ndarray:
        return ~numpy.isnan(encoded)

    def text(self, value) -> str:
        return f"{value:.6g}"

    def predicted(self, outputs: numpy.ndarray) -> numpy.ndarray:
        return outputs[:, FORECAST]

    def confidence(self, outputs: numpy.ndarray) -> None:
        return None

    def answers(self, outputs: numpy.ndarray, truth: numpy.ndarray) -> Forecasts:
        if not numpy.isfinite(outputs[:, FORECAST]).all():
            raise UserError("no_forecast", "The model forecasts values that are not numbers.", "Set forecast_method to naive, or check the values.")
        return Forecasts(outputs, truth)

    def overview(self, outputs: numpy.ndarray, settings) -> dict:
        from trainer.measure.histogram import histogram

        return {"values": histogram(outputs[:, FORECAST])}

    def described(self) -> dict:
        return {self.key: True}

    @classmethod
    def restored(cls, description: dict) -> Self:
        if description[cls.key] is not True:
            raise ValueError("the target is not described")
        return cls()

    def tensors(self, outputs: numpy.ndarray) -> list[dict]:
        """``low`` and ``high`` are the interval of 90 %, as of other numbers. There are none where the series were too short for intervals."""
        sure = numpy.isfinite(outputs).all()
        return [
            {"name": name, "datatype": "FP64", "shape": [len(outputs)], **({"parameters": {"coverage": coverage}} if coverage else {}),
             "data": [float(v) for v in outputs[:, at]]}
            for name, at, coverage in _TENSORS if at == FORECAST or sure
        ]  # fmt: skip

    def tensor_forms(self) -> list[target.Tensor]:
        return [(name, "FP64", [-1]) for name, _, _ in _TENSORS]

    def summary(self, answers: Forecasts) -> target.Scores:
        return _scores(_figures(answers).sum(axis=0)) if len(answers) else {}

    def report(self, answers: Forecasts, seed: int) -> target.Report:
        """Intervals are over resampled series; of few series over steps, which are alike, so that they are too narrow."""
        if not len(answers):
            return {}
        figures = _figures(answers)
        series = numpy.unique(answers.outputs[:, SERIES], return_inverse=True)[1]
        if series.max() + 1 >= _FEW_SERIES:
            figures = numpy.stack([numpy.bincount(series, column) for column in figures.T], axis=1)
        drawn = [_scores(f) for f in intervals.resampled_means(figures, seed)]
        found = {}
        for name, value in _scores(figures.sum(axis=0)).items():
            low, high = intervals.percentiles(numpy.array([d[name] for d in drawn]), value)
            found[name] = {"value": value, "low": low, "high": high, "n": len(answers)}
        return found

    def choose_metric(self, asked: str, data: Dataset) -> tuple[str, str]:
        if asked == "auto":
            return MASE, "The MASE on rolling origins chooses the method: 1 is the error of the seasonal naive forecast one step ahead."
        if asked not in (MASE, SMAPE, "rmse", "mae"):
            raise UserError(
                "wrong_metric", f"The metric {asked} does not fit forecasts.", "Set metric to auto or to one that fits.",
                f"The metrics for them are {some((MASE, SMAPE, 'rmse', 'mae'))}.",
            )  # fmt: skip
        return asked, f"{asked} chooses the method, as requested."

    def losses(self, answers: Forecasts) -> numpy.ndarray:
        return numpy.abs(answers.outputs[:, FORECAST] - answers.truth) / answers.outputs[:, SCALE]

    def right(self, answers: Forecasts) -> None:
        return None

    def comparison_loss(self, answers: Forecasts, weights, correction) -> float:
        return self.summary(answers).get(LOSS.name, numpy.inf)

    def constant(self, train: numpy.ndarray, test: numpy.ndarray):
        raise NotImplementedError("the kind has baselines of its own")

    def weight(self, targets: numpy.ndarray, weights: numpy.ndarray | None) -> float:
        return float(len(targets))

    def loss(self, logits, targets, weights, smoothing: float) -> Any:
        raise NotImplementedError("no network is trained")

    def read(self, logits, learnt, folded: bool) -> Any:
        raise NotImplementedError("no network is trained")

    def places(self, targets: numpy.ndarray) -> None:
        return None

    def configuration(self) -> dict:
        return {}

    def rescaling(self) -> None:
        return None


def _figures(answers: Forecasts) -> numpy.ndarray:
    """What is added up of each step (steps x figures, see ``_FIGURES``). Coverage is NaN where there are no intervals."""
    outputs, truth = answers.outputs, answers.truth
    apart = numpy.abs(outputs[:, FORECAST] - truth)
    size = numpy.abs(outputs[:, FORECAST]) + numpy.abs(truth)
    inside = [
        numpy.where(numpy.isnan(outputs[:, low]), numpy.nan, (outputs[:, low] <= truth) & (truth <= outputs[:, high]))
        for low, high in ((LOW80, HIGH80), (LOW90, HIGH90))
    ]
    smape = numpy.divide(2 * apart, size, out=numpy.zeros_like(apart), where=size > 0)
    return numpy.stack([numpy.ones(len(truth)), apart / outputs[:, SCALE], smape, apart**2, apart, *inside], axis=1)


def _scores(sums: numpy.ndarray) -> target.Scores:
    means = dict(zip(_FIGURES, sums / sums[0]))
    found = {n: float(means[n]) for n in (MASE, SMAPE)} | {"rmse": float(means["squares"] ** 0.5), "mae": float(means["apart"])}
    found |= {n: float(means[n]) for n in (COVERAGE80, COVERAGE90) if numpy.isfinite(means[n])}
    return {**found, LOSS.name: found[MASE]}
