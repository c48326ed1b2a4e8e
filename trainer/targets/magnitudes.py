"""Numbers over orders of magnitude: whether numbers are such ones, and intervals by a factor of the answer in place of a width."""

import math

import numpy

FEWEST = 50  # held-out rows from which a factor may be promised
LARGEST = 300.0  # logarithm of a factor
_SKEWED = 1.0  # skewness from which logarithms may suit numbers
_STRAIGHTER = 0.5  # of it, the most that their logarithms may have
_FEW = 10  # different numbers up to which they do not


def shift(numbers: numpy.ndarray) -> float | None:
    """What is added to ``numbers`` before the logarithm; None where logarithms do not suit them: few are different, one is negative, they are not
    skewed to the right, or their logarithms are not much less skewed."""
    different = numpy.unique(numbers)
    if len(different) <= _FEW or not different[0] >= 0 or not math.isfinite(different[-1]):
        return None
    added = 0.0 if different[0] > 0 else float(different[1])
    skewness = _skewness(numbers)
    suits = skewness > _SKEWED and abs(_skewness(numpy.log(numbers + added))) < _STRAIGHTER * skewness
    return added if suits else None


def _skewness(numbers: numpy.ndarray) -> float:
    away = (numbers - numbers.mean()) / (numbers.std() or 1.0)
    return float((away**3).mean())


def bounds(outputs: numpy.ndarray, limits: tuple[float, ...]) -> tuple[numpy.ndarray, numpy.ndarray]:
    """The ends of the intervals around ``outputs``: ``limits`` is half their width; or the logarithm of a factor, the least number that counts, and
    what is added to numbers before they are divided and multiplied by it."""
    if len(limits) == 1:
        return outputs - limits[0], outputs + limits[0]
    factor, added = math.exp(limits[0]), limits[2]
    counted = _counted(outputs, limits)
    return numpy.minimum(numpy.maximum(counted / factor - added, 0.0), outputs), counted * factor - added


def words(limits: tuple[float, ...]) -> str:
    """The ends of an interval by a factor."""
    factor = f"{math.exp(limits[0]):.3g}"
    return f"the answer divided by {factor} to {factor} times it"


def _counted(outputs: numpy.ndarray, limits: tuple[float, ...]) -> numpy.ndarray:
    return numpy.maximum(outputs, limits[1]) + limits[2]


def errors(truth: numpy.ndarray, predicted: numpy.ndarray, added: float) -> tuple[numpy.ndarray, float]:
    """How far answers are from the ``truth``, as the logarithm of a factor, and the least number that counts."""
    least = float(truth[truth > 0].min())
    return numpy.abs(numpy.log(truth + added) - numpy.log(_counted(predicted, (0.0, least, added)))), least


def narrower(predicted: numpy.ndarray, limits: tuple[float, ...], half: float) -> bool:
    """Whether the intervals by a factor are narrower than twice ``half`` for the usual answer: in the mean of logarithms."""
    low, high = bounds(predicted, limits)
    return bool(numpy.log(numpy.maximum(high - low, 1e-300)).mean() < math.log(max(2 * half, 1e-300)))
