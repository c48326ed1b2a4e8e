"""The weights of classes in the loss."""

import numpy

from trainer.config.settings import Settings
from trainer.data import Dataset


def class_weights(data: Dataset, settings: Settings) -> numpy.ndarray | None:
    """Weights that give all classes the same total weight, with a mean of 1 over the training rows; None for no weights.

    The setting ``auto`` was decided before.
    """
    if not data.labels or settings.class_weights != "balanced":
        return None
    counts = numpy.asarray(list(data.counts().values()), dtype=numpy.float64)
    return counts.sum() / (len(counts) * numpy.maximum(counts, 1))
