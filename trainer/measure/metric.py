"""What a metric is: its name in files, its title in a sentence, its unit, and which direction is better."""

from collections.abc import Iterable
from dataclasses import dataclass

from trainer.errors import UserError, some

_SHOWN = 0.0005  # half of the last digit that people see of a score


@dataclass(frozen=True)
class Metric:
    """``name`` is the key in metrics.json. ``title`` is the name in a sentence, ``unit`` is what it counts; empty for a plain number."""

    name: str
    title: str
    higher_is_better: bool = True
    unit: str = ""
    judges: bool = False  # whether it grades a model; where no metric does, the one that chooses the model does
    perfect: float | None = None  # the value than which none is better, where a training is to end soon after it; None for no end

    def is_perfect(self, value: float) -> bool:
        """Whether ``value`` is shown as the best there is."""
        return self.perfect is not None and abs(value - self.perfect) < _SHOWN

    def described(self) -> dict:
        """The entry of this metric in ``metric_info`` of result.json."""
        found = {"name": self.name, "title": self.title, "direction": "higher" if self.higher_is_better else "lower"}
        return {**found, **({"unit": self.unit} if self.unit else {}), **({"judges": True} if self.judges else {})}


Metrics = dict[str, Metric]  # by name, the one that a person asks for first at the top
TARGET_UNIT = "the unit of the target"


def described(metrics: Metrics) -> list[dict]:
    """``metric_info`` of result.json and of the event ``metrics``."""
    return [m.described() for m in metrics.values()]


def table(*metrics: Metric) -> Metrics:
    return {m.name: m for m in metrics}


LOSS = Metric("loss", "loss", higher_is_better=False)
CLASSIFICATION = table(
    Metric("accuracy", "accuracy"),
    Metric("f1_macro", "F1"),
    Metric("f1_weighted", "weighted F1"),
    Metric("mcc", "MCC"),
    Metric("roc_auc", "ROC AUC"),
    LOSS,
)
REGRESSION = table(
    Metric("rmse", "RMSE", higher_is_better=False, unit=TARGET_UNIT),
    Metric("mae", "MAE", higher_is_better=False, unit=TARGET_UNIT),
    Metric("r2", "R²"),
    Metric("spearman", "rank correlation"),
    LOSS,
)


def asked_for(asked: str, metrics: Iterable[str], things: str) -> tuple[str, str]:
    """The metric that the user asks for, and the sentence of the decision. Raises UserError where it is none of ``metrics``, which fit ``things``."""
    if asked not in metrics:
        raise UserError(
            "wrong_metric", f"The metric {asked} does not fit {things}.", "Set metric to auto or to one that fits.",
            f"The metrics for them are {some(metrics)}.",
        )  # fmt: skip
    return asked, f"{asked} chooses the best model, as requested."
