"""Fits the estimator ``words``: learns the terms, and chooses strengths, shares and temperature of its models by held-out rows.

Where there are few validation rows, training and validation rows are held out in turn instead, because a handful of rows can hardly tell
models apart. What is chosen is fitted once more on the training and the validation rows together: the model from before stays beside it
and answers the validation rows, so that these still measure the choice.
"""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeAlias

import numpy

from trainer import threads
from trainer.config.settings import Settings
from trainer.core.example import Dataset, Example
from trainer.estimators import balance, folds
from trainer.estimators.folds import OutOfFold
from trainer.gc_pause import paused
from trainer.kinds.text import log_count_ratio, text_terms
from trainer.kinds.text.text_terms import Terms
from trainer.kinds.text.words import BAG, CHARACTERS, RATIO, Features, Words, answer, averaged, scores_of, text_of
from trainer.measure import linear
from trainer.targets.classes import Classes
from trainer.targets.number import Number

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

MAX_TERMS = 200_000  # of words, and of words and characters together
TRAIN_CHARACTERS, VALIDATION_CHARACTERS = 12_000_000, 3_000_000  # read while fitting: a bound for time and memory
_SECONDS, _SHARE = 20.0, 0.1  # of a model, by the assumed speed of the solver, and at most this share of the time limit
_STRENGTHS, _FEWER = (10.0, 3.0, 1.0, 0.3, 0.1, 0.03), (3.0, 0.3, 0.1, 0.03)  # of the penalty; fewer where iterations are expensive
_EXPENSIVE = 6_000_000  # weights and entries, times classes, of an iteration
_MIN_TEXTS = ((200, 1), (2000, 2))  # up to so many texts, n-grams of characters of so many texts are kept; else of three
_TEMPERATURES = numpy.geomspace(0.4, 2.5, 41)
_CALIBRATION_ROWS = 30  # validation rows from which the probabilities are calibrated
_PARTS, _LEAST_SHARE = 6, 0.05  # shares are tried in steps of a sixth; a smaller one is not worth its model
_ROUGH = 2e-4  # slope at which a model is good enough to judge its strength
_TINY = 1e-12


@dataclass(frozen=True)
class _Vocabulary:
    bag: int
    term_idf: numpy.ndarray
    gram_idf: numpy.ndarray


@paused()
def fit(data: Dataset, target: Classes | Number, settings: Settings) -> Words:
    """Learn the terms, fit the models, and choose among them. Very many or long texts are sampled by the seed."""
    with threads.one_of_blas():
        return _Fit(data, target, settings).words()


_Model: TypeAlias = tuple[float, numpy.ndarray, numpy.ndarray]  # the strength, the weights, the bias
_Judged: TypeAlias = tuple[dict[str, _Model], dict[str, numpy.ndarray], numpy.ndarray]


class _Fit:
    def __init__(self, data: Dataset, target: Classes | Number, settings: Settings):
        self.lower = settings.lower_case != "no"
        self.seed, self.target = settings.seed, target
        self.classes = target.outputs if isinstance(target, Classes) else 0
        self.seconds = min(_SECONDS, _SHARE * 60 * settings.max_minutes)
        self.class_weights = balance.class_weights(data, settings)
        self.texts, self.truth = self._sample(data.splits["train"], TRAIN_CHARACTERS)
        self.held_out, self.held_out_truth = self._sample(data.splits["validation"], VALIDATION_CHARACTERS)
        whole = len(self.texts) == len(data.splits["train"]) and len(self.held_out) == len(data.splits["validation"])
        self.apart = bool(settings.validation_file)  # a person chose the validation rows, which then only judge
        self.parts = folds.of(data, target, settings.seed, folds.ENOUGH) if whole and not self.apart else None

    def _sample(self, examples: Sequence[Example], characters: int) -> tuple[list[str], numpy.ndarray]:
        """Texts and targets of the examples, or of a sample of at most so many characters, in their order."""
        texts = [text_of(e) for e in examples]
        sizes = numpy.asarray([min(len(t), text_terms.CUT) for t in texts], numpy.int64)
        rows = numpy.arange(len(texts))
        if sizes.sum() > characters:
            rows = numpy.random.default_rng(self.seed).permutation(len(texts))
            rows = numpy.sort(rows[: max(2, int(numpy.searchsorted(numpy.cumsum(sizes[rows]), characters)))])
        return [text_terms.plain(texts[r], self.lower) for r in rows], self.target.encode([examples[r].target for r in rows.tolist()])

    def words(self) -> Words:
        most = max(1, min(MAX_TERMS, linear.MAX_WEIGHTS // max(1, self.classes)))
        size = text_terms.sizes(self.texts)
        terms, words, bag = self._terms(min(linear.max_width(self.classes), (most + 1) // 2), most)
        least = next((n for texts, n in _MIN_TEXTS if len(self.texts) <= texts), 3)
        grams, characters = text_terms.learn_characters(self.texts, size, least, most - bag)
        vocabulary = _Vocabulary(bag, terms.idf, grams.idf)
        train = Features(words, characters, vocabulary)
        held_out = Features(
            text_terms.count_words(self.held_out, terms.terms), text_terms.count_characters(self.held_out, grams.terms, size), vocabulary
        )
        simple = self._linear(train, held_out, BAG)
        models, scores, truth = self._in_turn(train, held_out) or self._on_validation(train, held_out, simple)
        shares, temperature = self._choice(scores, truth)
        if RATIO not in shares:  # the other models do not read the rare words
            terms = terms.kept(numpy.arange(bag))
        if CHARACTERS not in shares:
            grams = grams.kept(numpy.arange(0))
        chosen = {n: models[n] for n in shares}
        found = Words(
            self.classes, terms.terms, grams.terms, bag, terms.idf[:bag], grams.idf, size, self.lower,
            {n: m[1] for n, m in chosen.items()}, {n: m[2] for n, m in chosen.items()}, temperature, shares, simple,
        )  # fmt: skip
        return replace(self._of_all_rows(found, chosen, train, held_out), out_of_fold=self._out_of_fold(found, scores))

    def _out_of_fold(self, found: Words, scores: dict[str, numpy.ndarray]) -> OutOfFold | None:
        """The answers of the average to the rows that were held out in turn; None where the validation rows judged."""
        mean = averaged([scores[n] for n in found.shares], list(found.shares.values()))
        if self.parts is None or len(mean) != len(self.parts.examples):
            return None
        return OutOfFold(self.parts.examples, answer(mean, found.temperature, self.classes))

    def _of_all_rows(self, found: Words, chosen: dict[str, _Model], train: Features, held_out: Features) -> Words:
        """The same models, fitted on the training and the validation rows, unless these only judge."""
        if not len(self.held_out_truth) or found.simple is None or self.apart:
            return found
        truth = numpy.concatenate([self.truth, self.held_out_truth])

        def again(name: str, strength: float) -> tuple[numpy.ndarray, numpy.ndarray]:
            return next(self._path(name, _stacked(train.of(name), held_out.of(name)), truth, (strength,)))

        models = {name: again(name, strength) for name, (strength, _, _) in chosen.items()}
        weights, bias = again(BAG, found.simple.strength)
        return replace(
            found, weights={n: m[0] for n, m in models.items()}, bias={n: m[1] for n, m in models.items()}, judged=found,
            simple=replace(found.simple, weights=weights, bias=bias),
        )  # fmt: skip

    def _terms(self, bag: int, most: int) -> tuple[Terms, "csr_matrix", int]:
        """Words and pairs and their counts: first those of the bag of words, at most ``bag``, which are in at least two texts."""
        terms, counts = text_terms.learn_words(self.texts, 1, most)
        common = numpy.flatnonzero(terms.frequencies >= min(2, len(self.texts)))
        if len(common) > bag:
            common = numpy.sort(common[numpy.argsort(-terms.frequencies[common], kind="stable")[:bag]])
        order = numpy.concatenate([common, numpy.setdiff1d(numpy.arange(len(terms)), common)])
        return terms.kept(order), counts[:, order], len(common)

    def _linear(self, train: Features, held_out: Features, name: str) -> linear.Linear:
        """One of the linear models. That of the words alone is the baseline as every training has it."""
        features = train.of(name)
        strengths: tuple[float, ...] = _FEWER if self._cost(features) > _EXPENSIVE else _STRENGTHS
        if name == BAG or not len(self.held_out_truth):
            strengths = ()
        return linear.fit(
            features, self.truth, held_out.of(name), self.held_out_truth, self.classes, self.seed, self.seconds, self.class_weights, strengths
        )

    def _cost(self, features: "csr_matrix") -> int:
        """About how many numbers an iteration of the solver reads."""
        return (features.nnz + 20 * features.shape[1]) * (1 if self.classes == 2 else max(1, self.classes))

    def _ratio(self, train: Features, held_out: Features) -> _Model | None:
        return log_count_ratio.fit(train.of(RATIO), self.truth, held_out.of(RATIO), self.held_out_truth, self.classes, self.class_weights, self._loss)

    def _in_turn(self, train: Features, held_out: Features) -> _Judged | None:
        """The models with the strengths that are best on training and validation rows held out in turn, and their scores there. None where
        the validation rows are enough, or where this would take long.

        The terms are those of all training rows: a term that is in held-out rows only gets no weight anyway.
        """
        parts = None if self.parts is None else list(self.parts.parts())
        if parts is None or self._cost(train.of(CHARACTERS)) > _EXPENSIVE:
            return None
        truth = numpy.concatenate([self.truth, self.held_out_truth])
        models, scores = {}, {}
        for name in self._names(train):
            strengths = log_count_ratio.STRENGTHS if name == RATIO else linear.STRENGTHS
            found = self._strength(name, _stacked(train.of(name), held_out.of(name)), truth, parts, strengths)
            if found is not None:
                models[name] = (found[0], *next(self._path(name, train.of(name), self.truth, found[:1])))
                scores[name] = found[1]
        return models, scores, truth

    def _strength(self, name: str, features: "csr_matrix", truth: numpy.ndarray, parts, strengths) -> tuple[float, numpy.ndarray] | None:
        """The strength with the smallest loss on the held-out rows, at the temperature that suits it, and the scores there."""
        paths = [self._path(name, features[kept], truth[kept], strengths, _ROUGH) for kept, _ in parts]
        best, least = None, numpy.inf
        for strength, fitted in zip(strengths, zip(*paths, strict=False), strict=False):
            scores = numpy.zeros((len(truth), self.classes) if self.classes else len(truth))
            for (_, held), (weights, bias) in zip(parts, fitted, strict=True):
                scores[held] = scores_of(name, features[held], weights, bias, self.classes)
            loss = self._calibrated(scores, truth)[0]
            if loss >= least:
                break
            best, least = (strength, scores), loss
        return best

    def _path(self, name: str, features: "csr_matrix", truth: numpy.ndarray, strengths, slope: float = linear.GRADIENT):
        """Weights and bias of a model for each of ``strengths``."""
        if name == RATIO:
            return log_count_ratio.path(features, truth, self.classes, self.class_weights, strengths)
        found = linear.path(features, truth, self.classes, self.seed, self.seconds, self.class_weights, strengths, slope)
        return ((model.weights, model.bias) for model in found)

    def _names(self, train: Features) -> list[str]:
        """The models that suit the data."""
        return [BAG] + [CHARACTERS] * (train.characters.shape[1] > 0) + [RATIO] * (self.classes > 0)

    def _on_validation(self, train: Features, held_out: Features, simple: linear.Linear) -> _Judged:
        """The models with the strengths that are best on the validation rows, and their scores there."""
        models = {BAG: (simple.strength, simple.weights, simple.bias)}
        if CHARACTERS in self._names(train):
            both = self._linear(train, held_out, CHARACTERS)
            models[CHARACTERS] = both.strength, both.weights, both.bias
        if self.classes and (ratio := self._ratio(train, held_out)) is not None:
            models[RATIO] = ratio
        scores = {n: scores_of(n, held_out.of(n), weights, bias, self.classes) for n, (_, weights, bias) in models.items()}
        return models, scores, self.held_out_truth

    def _choice(self, scores: dict[str, numpy.ndarray], truth: numpy.ndarray) -> tuple[dict[str, float], float]:
        """The shares of the models in the average, and the temperature of its probabilities.

        Held-out rows say how likely each of some shares is, and their mean by that likelihood is taken: of few rows, the shares with the
        smallest loss alone would often be those of chance.
        """
        if not len(truth):
            names = [n for n in scores if n != BAG] or [BAG]
            return dict.fromkeys(names, 1 / len(names)), 1.0
        names = list(scores)
        tried = [s for s in itertools.product(range(_PARTS + 1), repeat=len(names)) if sum(s) == _PARTS]
        losses = numpy.asarray([self._calibrated(averaged(list(scores.values()), s), truth)[0] for s in tried])
        worse = losses - losses.min() if self.classes else numpy.log(losses / max(losses.min(), _TINY) + _TINY) / 2
        likely = numpy.exp(-len(truth) * worse)
        mean = likely @ numpy.asarray(tried) / (likely.sum() * _PARTS)
        shares = {n: round(float(s), 3) for n, s in zip(names, mean, strict=True) if s >= _LEAST_SHARE}
        return shares, self._calibrated(averaged([scores[n] for n in shares], list(shares.values())), truth)[1]

    def _calibrated(self, scores: numpy.ndarray, truth: numpy.ndarray) -> tuple[float, float]:
        """The loss at the temperature that makes it smallest, and that temperature; 1 for numbers and for few rows."""
        if not self.classes or len(truth) < _CALIBRATION_ROWS:
            return self._loss(scores, truth), 1.0
        low, high = 0, len(_TEMPERATURES) - 1
        while low < high:  # the loss has one minimum
            middle = (low + high) // 2
            falls = self._loss(scores / _TEMPERATURES[middle + 1], truth) < self._loss(scores / _TEMPERATURES[middle], truth)
            low, high = (middle + 1, high) if falls else (low, middle)
        return self._loss(scores / _TEMPERATURES[low], truth), float(_TEMPERATURES[low])

    def _loss(self, scores: numpy.ndarray, truth: numpy.ndarray) -> float:
        """The mean loss of log-probabilities (any constant may be added to a row), or of numbers."""
        if not self.classes:
            return float(((scores - truth) ** 2).mean())
        losses = numpy.logaddexp.reduce(scores, axis=1) - scores[numpy.arange(len(truth)), truth]
        return float(numpy.average(losses, weights=None if self.class_weights is None else self.class_weights[truth]))


def _stacked(first: "csr_matrix", second: "csr_matrix") -> "csr_matrix":
    from scipy import sparse

    return sparse.vstack([first, second], format="csr")
