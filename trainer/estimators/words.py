"""The estimator ``words`` for texts of any language: linear models on words, pairs of words and characters inside words, averaged.

Up to three models are fitted: logistic regression on tf-idf of words and characters (ridge regression for numbers), the same on words
alone (the baseline of every text model), and NB-SVM. Their log-probabilities are averaged, over the selection of them that has the
smallest loss on the validation rows. So it is there never worse than the baseline.
"""

import itertools
import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy
from safetensors import numpy as safetensors

from trainer.config.settings import Settings
from trainer.data import Dataset, Example
from trainer.data.gc_pause import paused
from trainer.estimators import balance, log_count_ratio, text_terms
from trainer.estimators.text_terms import Terms
from trainer.measure import linear
from trainer.measure.tfidf import TfIdf
from trainer.run_folder import files
from trainer.tasks.target import Classes, Number

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

BAG, CHARACTERS, RATIO = "bag", "characters", "ratio"  # the models, by what they read
MAX_TERMS = 200_000  # of words, and of words and characters together
TRAIN_CHARACTERS, VALIDATION_CHARACTERS = 12_000_000, 3_000_000  # read while fitting: a bound for time and memory
_SECONDS, _SHARE = 20.0, 0.1  # of a model, by the assumed speed of the solver, and at most this share of the time limit
_STRENGTHS, _FEWER = (10.0, 3.0, 1.0, 0.3, 0.1, 0.03), (3.0, 0.3, 0.1, 0.03)  # of the penalty; fewer where iterations are expensive
_EXPENSIVE = 6_000_000  # weights and entries, times classes, of an iteration
_MIN_TEXTS = ((200, 1), (2000, 2))  # up to so many texts, n-grams of characters of so many texts are kept; else of three
_TEMPERATURES = numpy.geomspace(0.4, 2.5, 41)
_CALIBRATION_ROWS = 30  # validation rows from which the probabilities are calibrated
_SMALLEST = -1e4  # log-probability: averages of it are finite


@dataclass(frozen=True)
class Words:
    """The fitted models. ``terms`` are the words and pairs, the first ``bag`` of them for the models on tf-idf; ``grams`` the n-grams.

    ``weights`` and ``bias`` hold the models by name. With ``classes`` 0 they predict a number.
    """

    classes: int
    terms: list[str]
    grams: list[str]
    bag: int
    term_idf: numpy.ndarray
    gram_idf: numpy.ndarray
    size: tuple[int, int]
    lower: bool
    weights: dict[str, numpy.ndarray]
    bias: dict[str, numpy.ndarray]
    temperature: float = 1.0
    simple: linear.Linear | None = None  # the bag of words alone, which is not saved unless it is one of the models

    @property
    def parameters(self) -> int:
        return sum(w.size for w in self.weights.values()) + sum(b.size for b in self.bias.values())

    def outputs(self, examples: list[Example]) -> numpy.ndarray:
        """Probabilities of all classes, or numbers, float32."""
        return self._outputs(examples, self._averaged)

    def simple_outputs(self, examples: list[Example]) -> numpy.ndarray:
        """The outputs of the bag of words alone, for the estimator that was just fitted."""
        return self._outputs(examples, self._of_bag)

    def _outputs(self, examples: list[Example], of_block) -> numpy.ndarray:
        texts = (text_terms.plain(text_of(e), self.lower) for e in examples)
        found = [of_block(*self._counts(block)) for block in text_terms.blocks(texts)]
        return numpy.concatenate(found or [numpy.zeros((0, self.classes) if self.classes else 0)]).astype(numpy.float32)

    def _counts(self, texts: list[str]) -> tuple["csr_matrix", "csr_matrix"]:
        return text_terms.count_words(texts, self.terms), text_terms.count_characters(texts, self.grams, self.size)

    def _averaged(self, words: "csr_matrix", characters: "csr_matrix") -> numpy.ndarray:
        features = _Features(words, characters, self)
        scores = [_scores(name, features.of(name), self.weights[name], self.bias[name], self.classes) for name in self.weights]
        return _answer(scores, self.temperature, self.classes)

    def _of_bag(self, words: "csr_matrix", characters: "csr_matrix") -> numpy.ndarray:
        scores = _scores(BAG, _Features(words, characters, self).of(BAG), self.simple.weights, self.simple.bias, self.classes)
        return _answer([scores], 1.0, self.classes)

    def save(self, folder: Path) -> None:
        tensors = {"words.idf": self.term_idf, "characters.idf": self.gram_idf}
        for name in self.weights:
            tensors |= {f"{name}.weights": self.weights[name], f"{name}.bias": self.bias[name]}
        files.write_bytes(folder / "weights.safetensors", safetensors.save({n: numpy.ascontiguousarray(t) for n, t in tensors.items()}))
        config = {
            "model_type": "words", "classes": self.classes, "models": list(self.weights), "bag": self.bag, "temperature": self.temperature,
            "lower_case": self.lower, "cut": text_terms.CUT, "word": TfIdf.WORD, "characters": list(self.size),
        }  # fmt: skip
        files.write_json(folder / "config.json", config)
        terms = {"words": self.terms, "characters": self.grams}
        files.write_text(folder / "terms.json", json.dumps(terms, ensure_ascii=False, separators=(",", ":")))


class _Features:
    """The features of some texts, each kind computed once."""

    def __init__(self, words: "csr_matrix", characters: "csr_matrix", model):
        self.words, self.characters, self.model = words, characters, model
        self.found: dict[str, csr_matrix] = {}

    def of(self, name: str) -> "csr_matrix":
        if name not in self.found:
            self.found[name] = {BAG: self._bag, CHARACTERS: self._characters, RATIO: self._ratio}[name]()
        return self.found[name]

    def _bag(self) -> "csr_matrix":
        return text_terms.weighed(self.words[:, : self.model.bag], self.model.term_idf)

    def _characters(self) -> "csr_matrix":
        from scipy import sparse

        return sparse.hstack([self.of(BAG), text_terms.weighed(self.characters, self.model.gram_idf)], format="csr")

    def _ratio(self) -> "csr_matrix":
        """Whether each word is there."""
        found = self.words.astype(numpy.float32)
        found.data[:] = 1
        return found


@dataclass(frozen=True)
class _Vocabulary:
    bag: int
    term_idf: numpy.ndarray
    gram_idf: numpy.ndarray


@paused()
def fit(data: Dataset, target: Classes | Number, settings: Settings) -> Words:
    """Learn the terms, fit the models, and choose among them. Very many or long texts are sampled by the seed."""
    from threadpoolctl import ThreadpoolController

    with ThreadpoolController().select(internal_api="openblas").limit(limits=1):
        return _Fit(data, target, settings).words()


class _Fit:
    def __init__(self, data: Dataset, target: Classes | Number, settings: Settings):
        self.lower = settings.lower_case != "no"
        self.seed, self.target = settings.seed, target
        self.classes = target.outputs if isinstance(target, Classes) else 0
        self.seconds = min(_SECONDS, _SHARE * 60 * settings.max_minutes)
        self.class_weights = balance.class_weights(data, settings)
        self.texts, self.truth = self._sample(data.splits["train"], TRAIN_CHARACTERS)
        self.held_out, self.held_out_truth = self._sample(data.splits["validation"], VALIDATION_CHARACTERS)

    def _sample(self, examples: list[Example], characters: int) -> tuple[list[str], numpy.ndarray]:
        """Texts and targets of the examples, or of a sample of at most so many characters, in their order."""
        texts = [text_of(e) for e in examples]
        sizes = numpy.asarray([min(len(t), text_terms.CUT) for t in texts], numpy.int64)
        rows = numpy.arange(len(texts))
        if sizes.sum() > characters:
            rows = numpy.random.default_rng(self.seed).permutation(len(texts))
            rows = numpy.sort(rows[: max(2, int(numpy.searchsorted(numpy.cumsum(sizes[rows]), characters)))])
        return [text_terms.plain(texts[r], self.lower) for r in rows], self.target.encode([examples[r].target for r in rows])

    def words(self) -> Words:
        most = max(1, min(MAX_TERMS, linear.MAX_WEIGHTS // max(1, self.classes)))
        size = text_terms.sizes(self.texts)
        terms, words, bag = self._terms(min(linear.max_width(self.classes), (most + 1) // 2), most)
        least = next((n for texts, n in _MIN_TEXTS if len(self.texts) <= texts), 3)
        grams, characters = text_terms.learn_characters(self.texts, size, least, most - bag)
        vocabulary = _Vocabulary(bag, terms.idf, grams.idf)
        train = _Features(words, characters, vocabulary)
        held_out = _Features(
            text_terms.count_words(self.held_out, terms.terms), text_terms.count_characters(self.held_out, grams.terms, size), vocabulary
        )
        simple = self._linear(train, held_out, BAG)
        models = {BAG: (simple.weights, simple.bias)}
        if len(grams):
            both = self._linear(train, held_out, CHARACTERS)
            models[CHARACTERS] = both.weights, both.bias
        if self.classes and (ratio := self._ratio(train, held_out)) is not None:
            models[RATIO] = ratio
        chosen, temperature = self._choice(models, held_out)
        if RATIO not in chosen:  # the other models do not read the rare words
            terms = terms.kept(numpy.arange(bag))
        if CHARACTERS not in chosen:
            grams = grams.kept(numpy.arange(0))
        return Words(
            self.classes, terms.terms, grams.terms, bag, terms.idf[:bag], grams.idf, size, self.lower,
            {n: models[n][0] for n in chosen}, {n: models[n][1] for n in chosen}, temperature, simple,
        )  # fmt: skip

    def _terms(self, bag: int, most: int) -> tuple[Terms, "csr_matrix", int]:
        """Words and pairs and their counts: first those of the bag of words, at most ``bag``, which are in at least two texts."""
        terms, counts = text_terms.learn_words(self.texts, 1, most)
        common = numpy.flatnonzero(terms.frequencies >= min(2, len(self.texts)))
        if len(common) > bag:
            common = numpy.sort(common[numpy.argsort(-terms.frequencies[common], kind="stable")[:bag]])
        order = numpy.concatenate([common, numpy.setdiff1d(numpy.arange(len(terms)), common)])
        return terms.kept(order), counts[:, order], len(common)

    def _linear(self, train: _Features, held_out: _Features, name: str) -> linear.Linear:
        """One of the linear models. That of the words alone is the baseline as every training has it."""
        features = train.of(name)
        cost = (features.nnz + 20 * features.shape[1]) * (1 if self.classes == 2 else max(1, self.classes))
        strengths: tuple[float, ...] = _FEWER if cost > _EXPENSIVE else _STRENGTHS
        if name == BAG or not len(self.held_out_truth):
            strengths = ()
        return linear.fit(
            features, self.truth, held_out.of(name), self.held_out_truth, self.classes, self.seed, self.seconds, self.class_weights, strengths
        )

    def _ratio(self, train: _Features, held_out: _Features) -> tuple[numpy.ndarray, numpy.ndarray] | None:
        return log_count_ratio.fit(train.of(RATIO), self.truth, held_out.of(RATIO), self.held_out_truth, self.classes, self.class_weights, self._loss)

    def _choice(self, models: dict, held_out: _Features) -> tuple[tuple[str, ...], float]:
        """The models to average, and the temperature of their probabilities, with the smallest loss on the validation rows."""
        if not len(self.held_out_truth):
            return tuple(n for n in models if n != BAG) or (BAG,), 1.0
        scores = {n: _scores(n, held_out.of(n), weights, bias, self.classes) for n, (weights, bias) in models.items()}
        calibrates = self.classes and len(self.held_out_truth) >= _CALIBRATION_ROWS
        found = []
        for count in range(len(models), 0, -1):
            for chosen in itertools.combinations(models, count):
                mean = numpy.mean([scores[n] for n in chosen], axis=0)
                found += [(self._loss(mean / t, self.held_out_truth), chosen, float(t)) for t in (_TEMPERATURES if calibrates else (1.0,))]
        _, chosen, temperature = min(found, key=lambda f: f[0])
        return chosen, temperature

    def _loss(self, scores: numpy.ndarray, truth: numpy.ndarray) -> float:
        """The mean loss of log-probabilities (any constant may be added to a row), or of numbers."""
        if not self.classes:
            return float(((scores - truth) ** 2).mean())
        losses = numpy.logaddexp.reduce(scores, axis=1) - scores[numpy.arange(len(truth)), truth]
        return float(numpy.average(losses, weights=None if self.class_weights is None else self.class_weights[truth]))


def load(folder: Path) -> Words:
    tensors = safetensors.load_file(folder / "weights.safetensors")
    config, terms = files.read_json(folder / "config.json"), files.read_json(folder / "terms.json")
    names, classes = config["models"], config["classes"]
    found = Words(
        int(classes), list(terms["words"]), list(terms["characters"]), int(config["bag"]), tensors["words.idf"], tensors["characters.idf"],
        (int(config["characters"][0]), int(config["characters"][1])), bool(config["lower_case"]),
        {n: tensors[f"{n}.weights"] for n in names}, {n: tensors[f"{n}.bias"] for n in names}, float(config["temperature"]),
    )  # fmt: skip
    _check(found)
    return found


def text_of(example: Example) -> str:
    """What is read of an example: its text, or its two texts one after the other."""
    return example.content if isinstance(example.content, str) else " ".join(example.content)


def _check(words: Words) -> None:
    """Raise ValueError unless the files fit together."""
    widths = {BAG: words.bag, CHARACTERS: words.bag + len(words.grams), RATIO: len(words.terms)}
    sizes = [len(words.term_idf) == words.bag <= len(words.terms), len(words.gram_idf) == len(words.grams), 0.01 < words.temperature < 100]
    for name, weights in words.weights.items():
        outputs = 1 if name == RATIO and words.classes == 2 else words.classes or 1
        sizes.append(weights.shape == (widths[name], outputs) and words.bias[name].shape == (outputs,))
    if not all(sizes) or not words.weights or not 1 <= words.size[0] <= words.size[1] <= 8:
        raise ValueError("the files of the model do not fit together")


def _scores(name: str, features: "csr_matrix", weights: numpy.ndarray, bias: numpy.ndarray, classes: int) -> numpy.ndarray:
    """The log-probabilities of a model (rows x classes), or its numbers, float64."""
    if name == RATIO:
        return numpy.maximum(log_count_ratio.log_probabilities(features, weights, bias), _SMALLEST)
    scores = (features @ weights + bias).astype(numpy.float64)
    if not classes:
        return scores[:, 0]
    return numpy.maximum(scores - numpy.logaddexp.reduce(scores, axis=1, keepdims=True), _SMALLEST)


def _answer(scores: list[numpy.ndarray], temperature: float, classes: int) -> numpy.ndarray:
    mean = numpy.mean(scores, axis=0)
    if not classes:
        return mean
    mean = mean / temperature
    return numpy.exp(mean - numpy.logaddexp.reduce(mean, axis=1, keepdims=True))
