"""What a training hands to the driver: the outcome of a training, of a search, and of a dry run. Importing it loads no library."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from trainer.config.settings import Settings
from trainer.train.position import Position

if TYPE_CHECKING:
    from trainer.targets.target import Answers, Target
    from trainer.targets.temperature import Chosen

MAX_TRAIN_ROWS = 2000  # training rows measured at the end: enough to see how well they were learned, to about one point


@dataclass
class Outcome:
    """The result of a training, from the worker of rank 0 to the driver. Plain values and arrays only.

    ``saved`` is the folder with the best model. ``answers`` holds its predictions on every split after it was read back from disk,
    ``champion`` the predictions of an earlier model on the test rows. ``target`` is that of the plan with the temperature of a network, which
    ``calibrated`` tells of; None where the target has none.
    """

    saved: Path
    device: str
    threads: int
    parameters: int
    learning_rate: float
    accumulation: int
    precision: str
    stopped: str
    epochs: float
    position: Position
    seconds: float
    estimate_seconds: float
    samples_per_second: float
    gradient_bytes: int
    workers: list[dict]
    answers: dict
    champion: "Answers | None"
    versions: dict[str, str]
    hardware: dict
    warnings: list[dict] = field(default_factory=list)
    decisions: list[dict] = field(default_factory=list)
    details: Any = None  # what the kind says of the trained model: see Kind.after_training
    search: "Searched | None" = None
    target: "Target | None" = None
    calibrated: "Chosen | None" = None
    beside: "Outcome | None" = None  # of the same model with its own weights under a linear head


@dataclass
class Searched:
    """What a search adds to the outcome of its default settings. ``best`` is the outcome of the best other trial, number ``trial``, and
    ``plan`` its settings and digest. Where the default diverged, ``best`` is None and the outcome itself is that of ``trial``.

    ``table`` describes the trials, ``histories`` has the evaluations of the default and of the best one. ``trainings`` is the work of all
    trials, counted in trainings with the default settings.
    """

    table: list[dict]
    histories: dict[int, list[dict]]
    trial: int | None
    settings: Settings | None
    default: bool
    best: "Outcome | None"
    ended: str
    seconds: float
    trainings: float


@dataclass
class Trial:
    """The result of a dry run: the estimated seconds of the training, and the hardware and libraries of the worker."""

    seconds: float
    device: str
    hardware: dict
    versions: dict[str, str]
