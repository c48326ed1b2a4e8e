"""Whether two nodes are joined by an edge."""

from dataclasses import dataclass
from typing import ClassVar, Self

import numpy

from trainer.errors import UserError, some
from trainer.kinds.graph import links
from trainer.kinds.graph.links import LinkAnswers
from trainer.measure.histogram import histogram
from trainer.measure.metric import Metrics
from trainer.targets import target

_ROWS = 128  # of an evaluation in memory at once


@dataclass(frozen=True)
class Links(target.WithoutSingleAnswers):
    """Rows are edges, and have no targets: the pairs that they are told from are drawn.

    The outputs of a measured edge are its score, that of another pair, its rank, its source, and how many candidates were ranked.
    """

    key: ClassVar[str] = "links"
    metrics: ClassVar[Metrics] = links.DESCRIBED
    labels: ClassVar[tuple[str, ...]] = ()
    outputs: ClassVar[int] = 5
    width: ClassVar[int] = 0
    head: ClassVar[int] = 0
    exact: ClassVar[bool] = True
    evaluation_rows: ClassVar[int] = _ROWS
    weighs_classes: ClassVar[bool] = False
    smooths: ClassVar[bool] = False
    adds_pieces: ClassVar[bool] = False

    def encode(self, targets: list[str]) -> numpy.ndarray:
        return numpy.zeros(len(targets), dtype=numpy.int8)

    def known(self, encoded: numpy.ndarray) -> numpy.ndarray:
        return numpy.ones(len(encoded), bool)

    def text(self, value) -> str:
        return f"{value:.6g}"

    def predicted(self, outputs: numpy.ndarray) -> numpy.ndarray:
        return outputs

    def confidence(self, outputs: numpy.ndarray) -> None:
        return None

    def answers(self, outputs: numpy.ndarray, truth: numpy.ndarray) -> LinkAnswers:
        """The answers behind the ``outputs`` of ``trainer.kinds.graph.rows.Edges``."""
        positive, negative, ranks, sources, candidates = outputs.T
        return LinkAnswers(positive, negative, ranks, sources.astype(numpy.int64), int(candidates[0]) if len(candidates) else 0)

    def overview(self, outputs: numpy.ndarray, settings) -> dict:
        return {"values": histogram(outputs)}

    def described(self) -> dict:
        return {self.key: True}

    @classmethod
    def restored(cls, description: dict) -> Self:
        return cls()

    def summary(self, answers: LinkAnswers) -> target.Scores:
        return links.summary(answers)

    def report(self, answers: LinkAnswers, seed: int) -> target.Report:
        return links.report(answers, seed)

    def choose_metric(self, asked: str, data) -> tuple[str, str]:
        if asked == "auto":
            return "mrr", "The mean reciprocal rank chooses the best model: it says how near the top of a list of candidates the right node stands."
        if asked in links.METRICS:
            return asked, f"{asked} chooses the best model, as requested."
        raise UserError(
            "wrong_metric",
            f"The metric {asked} does not fit link-prediction.",
            "Set metric to auto.",
            f"The metrics for it are {some(links.METRICS)}.",
        )

    def losses(self, answers: LinkAnswers) -> numpy.ndarray:
        raise NotImplementedError("links are compared by their metric: see trainer/kinds/graph/comparison")

    def right(self, answers: LinkAnswers) -> None:
        return None

    def comparison_loss(self, answers: LinkAnswers, weights, correction) -> float:
        raise NotImplementedError("links are compared by their metric: see trainer/kinds/graph/comparison")

    def constant(self, train: numpy.ndarray, test: numpy.ndarray) -> tuple[LinkAnswers, str]:
        raise NotImplementedError("simple rules of graphs are the baselines of links: see trainer/kinds/graph/comparison")

    def read(self, logits, learnt, folded: bool) -> numpy.ndarray:
        raise NotImplementedError("a table of all nodes gives the outputs: see trainer/kinds/graph/rows.py")

    def weight(self, targets: numpy.ndarray, weights) -> float:
        return float(len(targets))

    def loss(self, logits, targets, weights, smoothing: float):
        """The first of the scores is that of the edge."""
        import torch
        import torch.nn.functional as F

        every = logits.float().flatten(0, 1)
        return F.cross_entropy(every, every.new_zeros(len(every), dtype=torch.int64), reduction="sum") / logits.shape[1]

    def places(self, targets: numpy.ndarray) -> None:
        return None

    def configuration(self) -> dict:
        return {}

    def rescaling(self) -> None:
        return None
