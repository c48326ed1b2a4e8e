"""The estimator ``words`` for texts with several labels: for each label, logistic regression and NB-SVM tell it from its absence.

Their log-odds are averaged. How strong the penalty is, how sure the average is, and from which probability on a label is predicted are
chosen on held-out rows: on training and validation rows held out in turn where there are few validation rows.
"""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy
from safetensors import numpy as safetensors

from trainer import threads
from trainer.config.settings import Settings
from trainer.core.example import Dataset, Example
from trainer.kinds.label_sets.target import Labels
from trainer.kinds.text import log_count_ratio, text_terms
from trainer.kinds.text.words import BAG, CHARACTERS, RATIO, Features, text_of
from trainer.measure import label_thresholds
from trainer.measure.tfidf import TfIdf
from trainer.run_folder import files

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

MAX_TERMS = 200_000  # of words and characters together
MAX_WEIGHTS = 8_000_000  # of a model
MAX_CHARACTERS = 12_000_000  # of the training texts that are read, a bound for time and memory
ENOUGH = 500  # validation rows that judge alone
COUNT = 5  # parts that are held out in turn
_WORK = 30_000_000  # entries times labels up to which rows are held out in turn
_MUCH = 200_000_000  # entries times labels above which rows are sampled
_STRENGTHS = (0.3, 1.0, 3.0, 10.0, 30.0)  # of the fit to the training rows: scikit-learn's C
_TEMPERATURES = numpy.geomspace(0.4, 2.5, 21)
_FAR = 30.0  # log-odds


@dataclass(frozen=True)
class WordsLabels:
    """The fitted models by name, with a column of weights for each label. The rest is as in ``Words``."""

    labels: int
    terms: list[str]
    grams: list[str]
    bag: int
    term_idf: numpy.ndarray
    gram_idf: numpy.ndarray
    size: tuple[int, int]
    lower: bool
    weights: dict[str, numpy.ndarray]
    bias: dict[str, numpy.ndarray]
    temperature: float
    thresholds: numpy.ndarray
    simple: "WordsLabels | None" = None  # the bag of words alone, which is not saved

    @property
    def parameters(self) -> int:
        return sum(w.size for w in self.weights.values()) + sum(b.size for b in self.bias.values())

    def outputs(self, examples: list[Example]) -> numpy.ndarray:
        """Of each label the probability, then of each label whether it is predicted (0 or 1). float32."""
        texts = (text_terms.plain(text_of(e), self.lower) for e in examples)
        found = [self._outputs(block) for block in text_terms.blocks(texts)]
        return numpy.concatenate(found or [numpy.zeros((0, 2 * self.labels))]).astype(numpy.float32)

    def simple_outputs(self, examples: list[Example]) -> numpy.ndarray:
        """The outputs of the bag of words alone, for the estimator that was just fitted."""
        return self.simple.outputs(examples)

    def _outputs(self, texts: list[str]) -> numpy.ndarray:
        features = Features(text_terms.count_words(texts, self.terms), text_terms.count_characters(texts, self.grams, self.size), self)
        odds = [_odds(features.of(name), self.weights[name], self.bias[name]) for name in self.weights]
        found = _probabilities(numpy.mean(odds, axis=0) / self.temperature)
        return numpy.concatenate([found, found >= self.thresholds], axis=1)

    def save(self, folder: Path) -> None:
        tensors = {"words.idf": self.term_idf, "characters.idf": self.gram_idf}
        for name in self.weights:
            tensors |= {f"{name}.weights": self.weights[name], f"{name}.bias": self.bias[name]}
        files.write_bytes(folder / "weights.safetensors", safetensors.save({n: numpy.ascontiguousarray(t) for n, t in tensors.items()}))
        config = {
            "model_type": "words", "labels": self.labels, "models": list(self.weights), "bag": self.bag, "temperature": self.temperature,
            "thresholds": self.thresholds.tolist(), "lower_case": self.lower, "cut": text_terms.CUT, "word": TfIdf.WORD,
            "characters": list(self.size),
        }  # fmt: skip
        files.write_json(folder / "config.json", config)
        terms = {"words": self.terms, "characters": self.grams}
        files.write_text(folder / "terms.json", json.dumps(terms, ensure_ascii=False, separators=(",", ":")))


def load(folder: Path, config: dict) -> WordsLabels:
    tensors, terms = safetensors.load_file(folder / "weights.safetensors"), files.read_json(folder / "terms.json")
    names, labels = config["models"], int(config["labels"])
    found = WordsLabels(
        labels, list(terms["words"]), list(terms["characters"]), int(config["bag"]), tensors["words.idf"], tensors["characters.idf"],
        (int(config["characters"][0]), int(config["characters"][1])), bool(config["lower_case"]), {n: tensors[f"{n}.weights"] for n in names},
        {n: tensors[f"{n}.bias"] for n in names}, float(config["temperature"]), numpy.asarray(config["thresholds"], numpy.float64),
    )  # fmt: skip
    widths = {BAG: found.bag, CHARACTERS: found.bag + len(found.grams), RATIO: len(found.terms)}
    fits = all(found.weights[n].shape == (widths[n], labels) and found.bias[n].shape == (labels,) for n in names)
    sizes = len(found.term_idf) == found.bag <= len(found.terms) and len(found.gram_idf) == len(found.grams)
    if not (
        names
        and fits
        and sizes
        and found.thresholds.shape == (labels,)
        and 0.01 < found.temperature < 100
        and 1 <= found.size[0] <= found.size[1] <= 8
    ):
        raise ValueError("the files of the model do not fit together")
    return found


@dataclass(frozen=True)
class _Vocabulary:
    bag: int
    term_idf: numpy.ndarray
    gram_idf: numpy.ndarray


def fit(data: Dataset, target: Labels, settings: Settings) -> WordsLabels:
    """Learn the terms and fit the models. Very many or long texts are sampled by the seed."""
    with threads.one_of_blas():
        return _Fit(data, target, settings).model()


class _Fit:
    def __init__(self, data: Dataset, target: Labels, settings: Settings):
        self.lower, self.seed, self.labels = settings.lower_case != "no", settings.seed, len(target.labels)
        train = data.splits["train"]
        sizes = numpy.cumsum([min(len(text_of(e)), text_terms.CUT) for e in train])
        if sizes[-1] > MAX_CHARACTERS:
            drawn = numpy.random.default_rng(self.seed).permutation(len(train))
            kept = max(2, int(len(train) * MAX_CHARACTERS / sizes[-1]))
            train = [train[i] for i in numpy.sort(drawn[:kept])]
        held_out = data.splits["validation"]
        self.train, self.count = [text_terms.plain(text_of(e), self.lower) for e in train], len(train)
        self.held_out = [text_terms.plain(text_of(e), self.lower) for e in held_out]
        self.truth = target.encode([e.target for e in (*train, *held_out)]) > 0
        self.apart = bool(settings.validation_file)  # a person chose the validation rows, which then only judge

    def model(self) -> WordsLabels:
        most = max(1, min(MAX_TERMS, MAX_WEIGHTS // self.labels))
        size = text_terms.sizes(self.train)
        terms, counts = text_terms.learn_words(self.train, 1, most)
        common = numpy.flatnonzero(terms.frequencies >= min(2, len(self.train)))
        common = numpy.sort(common[numpy.argsort(-terms.frequencies[common], kind="stable")[: (most + 1) // 2]])
        order = numpy.concatenate([common, numpy.setdiff1d(numpy.arange(len(terms)), common)])
        terms, counts, bag = terms.kept(order), counts[:, order], len(common)
        grams, characters = text_terms.learn_characters(
            self.train, size, 1 if len(self.train) <= 200 else 2 if len(self.train) <= 2000 else 3, most - bag
        )
        vocabulary = _Vocabulary(bag, terms.idf, grams.idf)
        train = Features(counts, characters, vocabulary)
        held_out = Features(
            text_terms.count_words(self.held_out, terms.terms), text_terms.count_characters(self.held_out, grams.terms, size), vocabulary
        )

        def made(names: list[str], terms: list[str], grams: list[str], simple: WordsLabels | None = None) -> WordsLabels:
            weights, bias, temperature, thresholds = self._models(names, train, held_out)
            return WordsLabels(
                self.labels, terms, grams, bag, vocabulary.term_idf[:bag], vocabulary.gram_idf[: len(grams)], size, self.lower, weights, bias,
                temperature, thresholds, simple,
            )  # fmt: skip

        simple = made([BAG], terms.terms[:bag], [])
        return made([CHARACTERS if len(grams) else BAG, RATIO], terms.terms, grams.terms, simple)

    def _models(self, names: list[str], train: Features, held_out: Features):
        """Weights and bias of the models by name, the temperature of their average, and the thresholds of the labels."""
        weights, bias, odds = {}, {}, []
        for name in names:
            features = _stacked(train.of(name), held_out.of(name))
            fitted, strength, found = None, 1.0, None
            parts = self._parts(features)
            least = numpy.inf
            for tried in _STRENGTHS if parts else ():
                scores = numpy.zeros(self.truth.shape)
                for kept, held in parts:
                    scores[held] = _odds(features[held], *self._fitted(name, features[kept], self.truth[kept], tried))
                judged = numpy.concatenate([held for _, held in parts])
                loss = _calibrated(scores[judged], self.truth[judged])[0]
                if loss >= least:
                    break
                least, strength, found = loss, tried, (judged, scores)
            fitted = self._fitted(name, features[: self.count], self.truth[: self.count], strength)
            weights[name], bias[name] = fitted
            odds.append(found)
        if not odds or odds[0] is None:
            return weights, bias, 1.0, numpy.full(self.labels, label_thresholds.USUAL)
        judged = odds[0][0]
        mean, truth = numpy.mean([scores for _, scores in odds], axis=0)[judged], self.truth[judged]
        temperature = _calibrated(mean, truth)[1]
        return weights, bias, temperature, label_thresholds.best(_probabilities(mean / temperature), truth)

    def _parts(self, features: "csr_matrix") -> list[tuple[numpy.ndarray, numpy.ndarray]]:
        """The rows to fit on and the rows to judge by: five times, or once where there are enough validation rows or much to do."""
        rows, every = len(self.truth), numpy.arange(len(self.truth))
        if not self.apart and rows - self.count < ENOUGH and features.nnz * self.labels <= _WORK and rows >= 2 * COUNT:
            place = numpy.random.default_rng(self.seed).permutation(rows) % COUNT
            return [(every[place != i], every[place == i]) for i in range(COUNT)]
        return [(every[: self.count], every[self.count :])] if rows > self.count else []

    def _fitted(self, name: str, features: "csr_matrix", truth: numpy.ndarray, strength: float) -> tuple[numpy.ndarray, numpy.ndarray]:
        if features.nnz * self.labels > _MUCH:
            kept = numpy.random.default_rng(self.seed).permutation(len(truth))[: max(2, int(len(truth) * _MUCH / (features.nnz * self.labels)))]
            features, truth = features[numpy.sort(kept)], truth[numpy.sort(kept)]
        found = [log_count_ratio.one_against_rest(features, truth[:, i], strength, scaled=name == RATIO) for i in range(self.labels)]
        return numpy.stack([w for w, _ in found], axis=1).astype(numpy.float32), numpy.asarray([b for _, b in found], numpy.float32)


def _odds(features: "csr_matrix", weights: numpy.ndarray, bias: numpy.ndarray) -> numpy.ndarray:
    return numpy.clip((features @ weights + bias).astype(numpy.float64), -_FAR, _FAR)


def _probabilities(odds: numpy.ndarray) -> numpy.ndarray:
    return 1 / (1 + numpy.exp(-odds))


def _calibrated(odds: numpy.ndarray, truth: numpy.ndarray) -> tuple[float, float]:
    """The binary cross-entropy at the temperature that makes it smallest, and that temperature."""
    signed = numpy.where(truth, -odds, odds)
    return min((float(numpy.logaddexp(0, signed / t).mean()), float(t)) for t in _TEMPERATURES)


def _stacked(first: "csr_matrix", second: "csr_matrix") -> "csr_matrix":
    from scipy import sparse

    return sparse.vstack([first, second], format="csr")
