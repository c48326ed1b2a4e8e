"""The position of a training."""

from dataclasses import dataclass, field


@dataclass
class Position:
    """The position of a training. ``total`` (loss) and ``rows`` count from the last evaluation, after step ``measured``. ``seconds`` is
    the time of the steps; ``spent`` includes evaluations and checkpoints. ``scaler`` is the state of the gradient scaler in fp16. ``settled`` counts
    evaluations with a perfect score in which the loss hardly fell from ``settled_loss``.

    A worker hands it to the driver, so this module does not import torch.
    """

    step: int = 0
    measured: int = 0
    evaluations: int = 0
    best_step: int = 0
    best_epoch: float = 0.0
    best_value: float | None = None
    best_loss: float | None = None
    since_best: int = 0
    total: float = 0.0
    rows: int = 0
    seconds: float = 0.0
    spent: float = 0.0
    rows_seen: int = 0
    resumed: int = 0
    settled: int = 0
    settled_loss: float | None = None
    scaler: dict = field(default_factory=dict)
