"""The estimator ``words`` for texts of any language: linear models on words, pairs of words and characters inside words, averaged.

Up to three models are fitted: logistic regression on tf-idf of words and characters (ridge regression for numbers), the same on words
alone, and NB-SVM. Their log-probabilities are averaged. words_fit.py chooses strengths and shares by held-out rows.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import numpy
from safetensors import numpy as safetensors

from trainer.config.settings import Settings
from trainer.core.example import Dataset, Example
from trainer.estimators.folds import OutOfFold
from trainer.kinds.label_sets.target import Labels
from trainer.kinds.text import log_count_ratio, text_terms
from trainer.measure import linear
from trainer.measure.tfidf import TfIdf
from trainer.run_folder import files
from trainer.targets.classes import Classes
from trainer.targets.number import Number

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

    from trainer.kinds.text.words_labels import WordsLabels

BAG, CHARACTERS, RATIO = "bag", "characters", "ratio"  # the models, by what they read
CONFIG, WEIGHTS = "config.json", "weights.safetensors"
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
    shares: dict[str, float] = field(default_factory=dict)  # of the models in the average
    simple: linear.Linear | None = None  # the bag of words alone, which is not saved unless it is one of the models
    judged: "Words | None" = None  # the model before the validation rows were learnt from as well, which measures it; not saved
    out_of_fold: OutOfFold | None = None  # not saved

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
        features = Features(words, characters, self)
        scores = [scores_of(name, features.of(name), self.weights[name], self.bias[name], self.classes) for name in self.weights]
        return answer(averaged(scores, list(self.shares.values())), self.temperature, self.classes)

    def _of_bag(self, words: "csr_matrix", characters: "csr_matrix") -> numpy.ndarray:
        scores = scores_of(BAG, Features(words, characters, self).of(BAG), self.simple.weights, self.simple.bias, self.classes)
        return answer(scores, 1.0, self.classes)

    def save(self, folder: Path, config_file: str = CONFIG, weights_file: str = WEIGHTS) -> None:
        """See Estimator.save. Beside a network, whose files have these names, it takes others."""
        tensors = {"words.idf": self.term_idf, "characters.idf": self.gram_idf}
        for name in self.weights:
            tensors |= {f"{name}.weights": self.weights[name], f"{name}.bias": self.bias[name]}
        files.write_bytes(folder / weights_file, safetensors.save({n: numpy.ascontiguousarray(t) for n, t in tensors.items()}))
        config = {
            "model_type": "words", "classes": self.classes, "models": list(self.weights), "shares": list(self.shares.values()), "bag": self.bag,
            "temperature": self.temperature, "lower_case": self.lower, "cut": text_terms.CUT, "word": TfIdf.WORD, "characters": list(self.size),
        }  # fmt: skip
        files.write_json(folder / config_file, config)
        terms = {"words": self.terms, "characters": self.grams}
        files.write_text(folder / "terms.json", json.dumps(terms, ensure_ascii=False, separators=(",", ":")))


class Features:
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


def fit(data: Dataset, target: Classes | Number | Labels, settings: Settings) -> "Words | WordsLabels":
    """Learn the terms, fit the models, and choose their shares. Very many or long texts are sampled by the seed."""
    from trainer.kinds.text import words_fit, words_labels

    if isinstance(target, Labels):
        return words_labels.fit(data, target, settings)
    return words_fit.fit(data, target, settings)


def load(folder: Path) -> "Words | WordsLabels":
    config = files.read_json(folder / CONFIG)
    if "thresholds" in config:
        from trainer.kinds.text import words_labels

        return words_labels.load(folder, config)
    return restored(folder, config, WEIGHTS)


def restored(folder: Path, config: dict, weights_file: str) -> Words:
    """The estimator whose configuration is ``config``. Raises the errors of ``load``."""
    tensors, terms = safetensors.load_file(folder / weights_file), files.read_json(folder / "terms.json")
    names, classes = config["models"], config["classes"]
    found = Words(
        int(classes), list(terms["words"]), list(terms["characters"]), int(config["bag"]), tensors["words.idf"], tensors["characters.idf"],
        (int(config["characters"][0]), int(config["characters"][1])), bool(config["lower_case"]),
        {n: tensors[f"{n}.weights"] for n in names}, {n: tensors[f"{n}.bias"] for n in names}, float(config["temperature"]),
        dict(zip(names, map(float, config["shares"]), strict=True)),
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
    sizes.append(all(0 < share <= 1 for share in words.shares.values()))
    for name, weights in words.weights.items():
        outputs = 1 if name == RATIO and words.classes == 2 else words.classes or 1
        sizes.append(weights.shape == (widths[name], outputs) and words.bias[name].shape == (outputs,))
    if not all(sizes) or not words.weights or not 1 <= words.size[0] <= words.size[1] <= 8:
        raise ValueError("the files of the model do not fit together")


def scores_of(name: str, features: "csr_matrix", weights: numpy.ndarray, bias: numpy.ndarray, classes: int) -> numpy.ndarray:
    """The log-probabilities of a model (rows x classes), or its numbers, float64."""
    if name == RATIO:
        return numpy.maximum(log_count_ratio.log_probabilities(features, weights, bias), _SMALLEST)
    scores = (features @ weights + bias).astype(numpy.float64)
    if not classes:
        return scores[:, 0]
    return numpy.maximum(scores - numpy.logaddexp.reduce(scores, axis=1, keepdims=True), _SMALLEST)


def averaged(scores: list[numpy.ndarray], shares: Sequence[float]) -> numpy.ndarray:
    """The weighted mean of the scores of several models."""
    return numpy.average(scores, axis=0, weights=shares)


def answer(mean: numpy.ndarray, temperature: float, classes: int) -> numpy.ndarray:
    """The probabilities or the numbers of averaged scores."""
    if not classes:
        return mean
    mean = mean / temperature
    return numpy.exp(mean - numpy.logaddexp.reduce(mean, axis=1, keepdims=True))
