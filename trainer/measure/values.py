"""The final values of metrics.json, by scikit-learn and scipy.

The driver computes them once at the end. Workers use the formulas of the bootstrap (``classification``, ``regression``) at each
evaluation: importing scikit-learn would cost each of them a second and 90 MB. Tests check that both give the same values.
"""

import warnings

import numpy

from trainer.measure.predictions import Predictions

_MAX_TABLE = 1000  # classes; scikit-learn computes Matthews' coefficient from a table of classes x classes, 800 MB for 10 000


def classification(p: Predictions) -> dict[str, float]:
    """Accuracy, the F1 scores, Matthews' coefficient and the area under the ROC curve, if it can be computed. At least one row."""
    from sklearn.metrics import accuracy_score, f1_score, matthews_corrcoef

    _ignore_few_rows()
    values = {
        "accuracy": accuracy_score(p.truth, p.predicted),
        "f1_macro": f1_score(p.truth, p.predicted, average="macro", zero_division=0),
        "f1_weighted": f1_score(p.truth, p.predicted, average="weighted", zero_division=0),
    }
    if max(p.truth.max(), p.predicted.max()) < _MAX_TABLE:
        values["mcc"] = matthews_corrcoef(p.truth, p.predicted)
    if p.probabilities is not None and len(present := numpy.unique(p.truth)) > 1:
        values["roc_auc"] = _area(p.truth, p.probabilities, present)
    return {name: float(value) for name, value in values.items()}


def regression(p: Predictions, scale: float) -> dict[str, float]:
    """The values of a regression. r2 and spearman are 0 if the target is constant. At least one row."""
    from scipy.stats import spearmanr
    from sklearn.metrics import mean_absolute_error, r2_score, root_mean_squared_error

    error = root_mean_squared_error(p.truth, p.predicted)
    varied = p.truth.min() < p.truth.max()
    ranked = varied and p.predicted.min() < p.predicted.max()
    return {
        "rmse": float(error),
        "mae": float(mean_absolute_error(p.truth, p.predicted)),
        "r2": float(r2_score(p.truth, p.predicted)) if varied else 0.0,
        "spearman": float(spearmanr(p.truth, p.predicted).statistic) if ranked else 0.0,
        "loss": float((error / scale) ** 2),
    }


def confusion(p: Predictions, classes: int) -> list[list[int]]:
    """Counts with true classes as rows and predicted ones as columns."""
    from sklearn.metrics import confusion_matrix

    _ignore_few_rows()
    return confusion_matrix(p.truth, p.predicted, labels=range(classes)).tolist()


def _area(truth: numpy.ndarray, probabilities: numpy.ndarray, present: numpy.ndarray) -> float:
    """The mean over the classes that occur, each against the rest; with two classes, the area of the second."""
    from sklearn.metrics import roc_auc_score

    measured = [1] if probabilities.shape[1] == 2 else present
    return numpy.mean([roc_auc_score(truth == k, probabilities[:, k]) for k in measured])


def _ignore_few_rows() -> None:
    """Hide scikit-learn's warnings about many classes in few rows and about a single class, which a user cannot act on."""
    warnings.filterwarnings("ignore", message="The number of unique classes is greater than|A single label was found", category=UserWarning)
