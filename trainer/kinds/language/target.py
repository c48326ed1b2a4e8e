"""The next token of a text."""

from dataclasses import dataclass
from typing import ClassVar, Self

import numpy

from trainer.core.plan import IGNORED
from trainer.errors import UserError
from trainer.kinds.language import likelihoods
from trainer.kinds.language.likelihoods import Likelihoods
from trainer.measure.histogram import histogram
from trainer.measure.metric import Metrics
from trainer.targets import target

_TEXTS = 8  # of an evaluation in memory at once: the outputs are as wide as the vocabulary


@dataclass(frozen=True)
class Tokens(target.WithoutSingleAnswers):
    """Of each row, the encoder counts the learnt tokens and the bytes that they stand for.

    The outputs of an example are its nats, its learnt tokens, and how many of them were the likeliest. A predicted value is a text.
    """

    key: ClassVar[str] = "tokens"
    metrics: ClassVar[Metrics] = likelihoods.DESCRIBED
    labels: ClassVar[tuple[str, ...]] = ()
    outputs: ClassVar[int] = 3
    width: ClassVar[int] = 3
    head: ClassVar[int] = 0
    exact: ClassVar[bool] = True
    evaluation_rows: ClassVar[int] = _TEXTS
    weighs_classes: ClassVar[bool] = False
    smooths: ClassVar[bool] = False
    adds_pieces: ClassVar[bool] = True

    def encode(self, targets: list[str]) -> numpy.ndarray:
        """Room for the counts, which only the encoder knows."""
        return numpy.zeros((len(targets), 2), dtype=numpy.int64)

    def known(self, encoded: numpy.ndarray) -> numpy.ndarray:
        return numpy.ones(len(encoded), bool)

    def text(self, value) -> str:
        """An answer, which is a text already."""
        return str(value)

    def predicted(self, outputs: numpy.ndarray) -> numpy.ndarray:
        return outputs

    def confidence(self, outputs: numpy.ndarray) -> None:
        return None

    def answers(self, outputs: numpy.ndarray, truth: numpy.ndarray) -> Likelihoods:
        """How likely the learnt tokens of the examples are; ``truth`` holds their number and their bytes."""
        return Likelihoods(outputs[:, 0], outputs[:, 1], outputs[:, 2], truth[:, 1])

    def overview(self, outputs: numpy.ndarray, settings) -> dict:
        return {"values": histogram([len(text.split()) for text in outputs], unit="words")}

    def described(self) -> dict:
        return {self.key: True}

    @classmethod
    def restored(cls, description: dict) -> Self:
        return cls()

    def summary(self, answers: Likelihoods) -> target.Scores:
        return likelihoods.summary(answers)

    def report(self, answers: Likelihoods, seed: int) -> target.Report:
        return likelihoods.report(answers, seed)

    def choose_metric(self, asked: str, data) -> tuple[str, str]:
        """The loss, which orders models of the same tokens as perplexity and bits per byte do."""
        if asked not in ("auto", "loss"):
            raise UserError(
                "wrong_metric", f"The metric {asked} does not fit text-generation.", "Set metric to auto.", "The loss chooses the best model."
            )
        return "loss", "The loss on the validation rows chooses the best model: the mean over the learnt tokens."

    def losses(self, answers: Likelihoods) -> numpy.ndarray:
        """That of all tokens of a text, in units that make the mean over the texts the mean over the tokens."""
        return answers.nats / answers.tokens.mean()

    def right(self, answers: Likelihoods) -> None:
        return None

    def comparison_loss(self, answers: Likelihoods, weights, correction) -> float:
        return float(answers.nats.sum() / answers.tokens.sum())

    def constant(self, train: numpy.ndarray, test: numpy.ndarray) -> tuple[Likelihoods, str]:
        raise NotImplementedError("no constant answer writes texts: see trainer/kinds/language/simple.py")

    def weight(self, targets: numpy.ndarray, weights) -> float:
        """The learnt tokens."""
        return float(targets[:, 0].sum())

    def loss(self, logits, targets, weights, smoothing: float):
        import torch.nn.functional as F

        chosen = targets != IGNORED  # first, so that no other place is converted
        return F.cross_entropy(logits[chosen].float(), targets[chosen], reduction="sum", label_smoothing=smoothing)

    def read(self, logits, learnt, folded: bool) -> numpy.ndarray:
        """Of each row: the nats that its ``learnt`` tokens cost, their number, and how many of them were the likeliest."""
        import torch
        import torch.nn.functional as F

        chosen = learnt != IGNORED
        kept, right_tokens = logits[chosen].float(), learnt[chosen]
        nats = torch.zeros(learnt.shape, dtype=torch.float64, device=learnt.device)
        nats[chosen] = F.cross_entropy(kept, right_tokens, reduction="none").double()
        likeliest = torch.zeros_like(nats)
        likeliest[chosen] = (kept.argmax(-1) == right_tokens).double()
        return torch.stack([nats.sum(1), chosen.sum(1).double(), likeliest.sum(1)], dim=1).cpu().numpy()

    def places(self, targets: numpy.ndarray) -> None:
        return None

    def configuration(self) -> dict:
        return {}

    def rescaling(self) -> None:
        return None
