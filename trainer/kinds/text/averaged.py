"""A finetuned text network and the estimator words, averaged: they make different mistakes, so together they are usually better than each.

Both answer a text, and the weighted mean of their log-probabilities is the answer. The files of words lie beside those of the network.
"""

import itertools
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, cast

import numpy

from trainer.config.settings import CHOSEN
from trainer.core.plan import Plan
from trainer.measure import predictions
from trainer.measure.predictions import Predictions
from trainer.run_folder import files
from trainer.training.candidates import Candidate

if TYPE_CHECKING:
    from trainer.core.example import Example
    from trainer.kinds.text.words import Words

WORDS, CLASSES = "words", "text-classification"  # the estimator, and the only task that averages
CONFIG, WEIGHTS = "words.json", "words.safetensors"  # of words, in the folder of the network; its terms.json has its own name
AVERAGE = "average"  # in the configuration: how both are averaged
_SHARES = numpy.arange(1, 10) / 10  # of the network, that are tried
_TEMPERATURES = numpy.geomspace(0.4, 2.5, 31)
_ROWS = 100  # validation rows from which share and temperature are chosen
_TINY = 1e-12


@dataclass(frozen=True)
class Average:
    """How the log-probabilities are averaged. ``share`` is that of the network.

    ``correction`` is added to the network's log-probabilities of each class: it takes back class weights that only the network learnt with. These
    are at the temperature of the network, as is the correction.
    """

    share: float
    temperature: float
    correction: tuple[float, ...]

    def scores(self, of_network: numpy.ndarray, of_words: numpy.ndarray) -> numpy.ndarray:
        """Scores before the softmax (rows x classes), from the probabilities of both."""
        corrected = _logs(of_network) + numpy.asarray(self.correction)
        return (self.share * corrected + (1 - self.share) * _logs(of_words)) / self.temperature

    def answers(self, network: Predictions, words: Predictions) -> Predictions:
        """The answers for rows that both have answered."""
        return predictions.of_scores(network.truth, self.scores(network.probabilities, words.probabilities))


@dataclass(frozen=True)
class Averaged:
    """The estimator words beside a network."""

    words: "Words"
    average: Average

    def outputs(self, of_network: numpy.ndarray, examples: list["Example"]) -> numpy.ndarray:
        """The probabilities (examples x classes, float32), from those of the network."""
        scores = self.average.scores(of_network, self.words.outputs(examples))
        return numpy.exp(scores - numpy.logaddexp.reduce(scores, axis=1, keepdims=True)).astype(numpy.float32)

    def save(self, folder: Path) -> None:
        """Write the files of words into the folder of the network."""
        self.words.save(folder, CONFIG, WEIGHTS)
        average = {"share": self.average.share, "temperature": self.average.temperature, "correction": list(self.average.correction)}
        files.write_json(folder / CONFIG, {**files.read_json(folder / CONFIG), AVERAGE: average})


def fit(network: Predictions, words: Predictions, weights: tuple[float, ...] | None, temperature: float = 1.0) -> Average | None:
    """The average with the smallest loss on the validation rows, which both have answered; None where they cannot tell.

    ``weights`` are the class weights that only the network learnt with, and ``temperature`` is its temperature.
    """
    if network.probabilities is None or words.probabilities is None or len(network) < _ROWS or not numpy.array_equal(network.truth, words.truth):
        return None
    classes = network.probabilities.shape[1]
    correction = tuple((-numpy.log(weights) / temperature).tolist()) if weights is not None else (0.0,) * classes
    tried = (Average(round(float(s), 2), round(float(t), 6), correction) for s, t in itertools.product(_SHARES, _TEMPERATURES))
    return min(tried, key=lambda a: _loss(a.scores(network.probabilities, words.probabilities), network.truth))


def load(folder: Path) -> Averaged | None:
    """The estimator words beside the network in ``folder``; None where there is none.

    Raises OSError, ValueError, KeyError or TypeError for damaged files.
    """
    if not (folder / CONFIG).is_file():
        return None
    from trainer.kinds.text import words  # scikit-learn takes a second

    config = files.read_json(folder / CONFIG)
    found, average = words.restored(folder, config, WEIGHTS), config[AVERAGE]
    read = Average(float(average["share"]), float(average["temperature"]), tuple(map(float, average["correction"])))
    if not (0 < read.share < 1 and 0.01 < read.temperature < 100 and len(read.correction) == found.classes and numpy.isfinite(read.correction).all()):
        raise ValueError("the files of the model do not fit together")
    return Averaged(found, read)


def combine(network: Candidate, others: list[Candidate], plan: Plan) -> list[Candidate]:
    """The finetuned ``network`` averaged with the estimator words, if that was fitted on the same texts and can be weighed by validation rows."""
    words = next((c for c in others if c.base.name == WORDS), None)
    if words is None or network.base.fresh or plan.task != CLASSES:
        return []
    of_network, of_words = network.outcome.answers, words.outcome.answers
    own_weights = plan.weights if plan.settings.source("class_weights") == CHOSEN else None
    average = fit(of_network["validation"], of_words["validation"], own_weights, getattr(network.target, "temperature", 1.0))
    if average is None:
        return []
    answers = {
        split: average.answers(one, of_words[split]) if numpy.array_equal(one.truth, of_words[split].truth) else one
        for split, one in of_network.items()
    }  # fmt: skip
    parameters = network.outcome.parameters + words.outcome.parameters
    versions = {**words.outcome.versions, **network.outcome.versions}
    outcome = replace(network.outcome, answers=answers, parameters=parameters, versions=versions, beside=None, calibrated=None)
    title = f"words and {network.base.name}, averaged"
    beside = Averaged(cast("Words", words.fitted), average)
    return [Candidate(network.base, title, outcome, variant="with words", beside=beside, target=network.target)]


def _logs(probabilities: numpy.ndarray) -> numpy.ndarray:
    return numpy.log(numpy.clip(probabilities.astype(numpy.float64), _TINY, 1))


def _loss(scores: numpy.ndarray, truth: numpy.ndarray) -> float:
    return float((numpy.logaddexp.reduce(scores, axis=1) - scores[numpy.arange(len(truth)), truth]).mean())
