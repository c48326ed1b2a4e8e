"""Simple models to compare with: one value everywhere, and a random forest on intensity, edges and texture of each pixel at several scales."""

import warnings
from collections.abc import Iterator, Sequence
from typing import Any

import numpy

from trainer.core.example import Dataset, Example
from trainer.data import rasters
from trainer.kinds.pixels import codings, measures
from trainer.kinds.pixels.codings import EMPTY, MOST
from trainer.kinds.pixels.numbers import PixelNumbers
from trainer.kinds.pixels.target import Counted, PixelClasses

TITLE = "pixel forest"
_BANDS = 4  # that are read
_SMALLEST, _LARGEST = 1, 8  # scales, in pixels
_LEARNT, _LEARNT_FROM = 30_000, 40  # pixels and pictures
_TREES, _LEAST = 40, 10  # trees, and pixels in a leaf
_ANSWERED = 2_000_000  # pixels of the test pictures: of more, every other one is answered, or every third, and so on
_AT_ONCE, _AROUND = 1 << 19, 4 * _LARGEST  # pixels whose features are in memory, and rows around them
_READ = 60_000_000  # pixels of test pictures whose features are computed
_LEAST_LIKELY = 1e-6


def entries(data: Dataset, target: PixelClasses | PixelNumbers, seed: int) -> list[dict]:
    """The entries of metrics.json for both models on the test pictures; none without test pictures."""
    test = data.splits["test"]
    if not test:
        return []
    step = _step(test)
    learnt = _Learnt(data.splits["train"], target, seed)
    if learnt.model is None:
        return []
    constant, forest = [], []
    for example in _within(test):
        features, truth, shape = _answered(example, step)
        constant.append(_figures(target, truth, learnt.constant(len(truth)), shape, step))
        forest.append(_figures(target, truth, learnt.answers(features), shape, step))
    most = f"{target.labels[learnt.most]} everywhere" if target.labels else "mean everywhere"
    where = f" (on one pixel of {step * step})" if step > 1 else ""
    return [
        {"name": "constant", "title": most, "role": "constant", "test": target.report(Counted(numpy.stack(constant)), seed)},
        {"name": "forest", "title": f"{TITLE}{where}", "role": "simple", "test": target.report(Counted(numpy.stack(forest)), seed)},
    ]


class _Learnt:
    """The forest, and what is answered everywhere: the most frequent class, or the mean."""

    def __init__(self, train: Sequence[Example], target: PixelClasses | PixelNumbers, seed: int):
        self.target, self.model, self.most, self.mean = target, None, 0, 0.0
        features, truth = [], []
        sample = train[:: max(1, -(-len(train) // _LEARNT_FROM))]
        for number, example in enumerate(sample):
            every, right, _ = _answered(example, 1)
            known = numpy.flatnonzero(right < MOST if target.labels else numpy.isfinite(right))
            drawn = numpy.random.default_rng([seed, number]).permutation(known)[: _LEARNT // len(sample)]
            features.append(every[drawn])
            truth.append(right[drawn])
        values, right = numpy.concatenate(features), numpy.concatenate(truth)
        if not len(right):
            return
        self.model = _fitted(values, right, bool(target.labels), seed)
        if target.labels:
            self.most = int(numpy.bincount(right).argmax())
            self.shares = numpy.bincount(right, minlength=len(target.labels)) / len(right)
        else:
            self.mean = float(right.mean())

    def constant(self, count: int) -> numpy.ndarray:
        """The answers for ``count`` pixels: the probabilities of all classes, or numbers."""
        return numpy.tile(self.shares, (count, 1)) if self.target.labels else numpy.full(count, self.mean)

    def answers(self, features: numpy.ndarray) -> numpy.ndarray:
        assert self.model is not None
        with warnings.catch_warnings():  # the threads of scikit-learn leave the filters of the process empty, and it warns of that for each tree
            if not self.target.labels:
                return self.model.predict(features)
            odds = numpy.zeros((len(features), len(self.target.labels)))
            odds[:, self.model.classes_] = self.model.predict_proba(features)
        return odds


def _fitted(features: numpy.ndarray, right: numpy.ndarray, classifies: bool, seed: int) -> Any:
    from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

    forest = RandomForestClassifier if classifies else RandomForestRegressor
    with warnings.catch_warnings():
        return forest(_TREES, min_samples_leaf=_LEAST, max_features="sqrt", random_state=seed, n_jobs=-1).fit(features, right)


def _figures(target: PixelClasses | PixelNumbers, truth: numpy.ndarray, answers: numpy.ndarray, shape: tuple[int, int], step: int) -> numpy.ndarray:
    """The figures of a picture. Borders are counted where each pixel is answered."""
    if not target.labels:
        return measures.of_numbers(truth, answers)
    known = truth < MOST
    odds = numpy.maximum(answers[known, truth[known]], _LEAST_LIKELY)
    said = answers.argmax(axis=1).astype(numpy.uint8)
    found = measures.of_classes(truth.reshape(shape), said.reshape(shape), float(-numpy.log(odds).sum()), len(target.labels))
    if step > 1:
        first = len(target.labels) ** 2 + 1
        found[first : first + measures.FIGURES - 1] = 0
    return found


def _step(test: Sequence[Example]) -> int:
    pixels = sum(w * h for w, h in (rasters.size(e.content.picture) for e in _within(test)))
    return max(1, int(numpy.ceil((pixels / _ANSWERED) ** 0.5)))


def _within(test: Sequence[Example]) -> Iterator[Example]:
    """As many of the test pictures as are read."""
    pixels = 0
    for example in test:
        yield example
        width, height = rasters.size(example.content.picture)
        pixels += width * height
        if pixels > _READ:
            return


def _answered(example: Example, step: int) -> tuple[numpy.ndarray, numpy.ndarray, tuple[int, int]]:
    """The features (pixels x features) and what is right of every ``step``-th pixel of every ``step``-th row, and the rows and columns of these."""
    content = example.content
    raw, holds = rasters.values(content.picture)
    pixels = numpy.nan_to_num(raw[..., :_BANDS].astype(numpy.float32), posinf=0, neginf=0)
    truth = content.coding.read(content.mask)
    if holds is not None:
        truth = numpy.where(holds.all(axis=2), truth, EMPTY if isinstance(content.coding, codings.Classes) else numpy.nan).astype(truth.dtype)
    part = truth[::step, ::step]
    return _features(pixels, step), part.ravel(), part.shape


def _features(pixels: numpy.ndarray, step: int) -> numpy.ndarray:
    """Intensity, edges and texture of every ``step``-th pixel of every ``step``-th row, some rows of the picture at a time."""
    from skimage.feature import multiscale_basic_features

    found = []
    rows = max(1, _AT_ONCE // pixels.shape[1] // step) * step
    for top in range(0, len(pixels), rows):
        above = min(top, _AROUND)
        part = pixels[top - above : top + rows + _AROUND]
        features = multiscale_basic_features(part, sigma_min=_SMALLEST, sigma_max=_LARGEST, workers=1, channel_axis=-1)
        found.append(features[above : above + rows : step, ::step].reshape(-1, features.shape[-1]))
    return numpy.concatenate(found)
