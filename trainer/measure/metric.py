"""What a metric is: its name in files, its title in a sentence, its unit, and which direction is better."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Metric:
    """``name`` is the key in metrics.json. ``title`` is the name in a sentence, ``unit`` follows the value, and is empty for a plain number."""

    name: str
    title: str
    higher_is_better: bool = True
    unit: str = ""

    def described(self) -> dict:
        """The entry of this metric in ``metric_info`` of result.json."""
        found = {"title": self.title, "direction": "higher" if self.higher_is_better else "lower"}
        return {**found, "unit": self.unit} if self.unit else found


Metrics = dict[str, Metric]  # by name, the most important one first


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
    Metric("rmse", "RMSE", higher_is_better=False),
    Metric("mae", "MAE", higher_is_better=False),
    Metric("r2", "R²"),
    Metric("spearman", "rank correlation"),
    LOSS,
)
