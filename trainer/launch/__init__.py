"""Launchers: where a plan is carried out, and with how many workers.

All have the same methods. ``start`` requests the workers, which begin their slow imports while the driver prepares the data.
``train``, ``estimate`` or ``predict`` hands over the work and waits for the result. ``close`` releases everything.

Most of the start-up time is spent on imports: torch and transformers cost each process several CPU seconds. So no process imports what
it does not need: the driver imports neither, and there is no process between the driver and its workers, which are plain Ray actors.
Two or more of them train with DDP in one process group (docs/adr/0024). One or several call the same functions and give the same
results for the same seed and number of workers.
"""

from pathlib import Path
from typing import Protocol

from trainer import gc_pause
from trainer.config.settings import Settings
from trainer.config.spec import Spec
from trainer.core.kind import Kind
from trainer.core.plan import Plan, Saved
from trainer.errors import count
from trainer.launch.capacity import Machine
from trainer.launch.outcome import Outcome, Trial
from trainer.models.catalogue import Base
from trainer.run_folder.events import Events
from trainer.targets.target import Target

MAX_THREADS = 8  # models of this size do not run faster with more
BYTES_EACH = 4096  # of data that each worker needs at least
MANY_BYTES = 2_000_000  # of data from which several workers can pay off: about 20 000 rows of text
TINY_WEIGHTS = 500_000  # of a model from scratch, without its vocabulary
OPERATIONS_PER_SECOND = 2e10  # of one worker on CPUs
MAX_WORKERS = 8


class Launcher(Protocol):
    workers: int
    machine: Machine
    on_gpu: bool  # whether each worker has a GPU, as far as it is known before they start

    def start(self) -> None: ...

    def train(self, plan: Plan) -> Outcome: ...

    def estimate(self, plan: Plan) -> Trial:
        """How long the training would take. Only for a single worker."""

    def predict(self, saved: Saved):
        """The outputs for every example, and the versions of the libraries."""

    def to_onnx(self, folder: Path, kind: Kind, target: Target, inputs: dict) -> str:
        """Write model.onnx into the folder of a saved model (see ``trainer.models.onnx.convert``)."""

    def close(self) -> None: ...


def create(name: str, settings, base: Base, kind: Kind, spec: Spec, events: Events) -> tuple[Launcher, Settings]:
    """The launcher for ``name`` (ray or local), and the settings with the number of workers. Small data gets fewer
    workers than requested, because each needs rows to work on."""
    threads = settings.cpus_per_worker or (1 if base.is_small else MAX_THREADS)
    if name == "local":
        from trainer.launch.local import LocalLauncher

        return LocalLauncher(settings.use_gpu, threads, kind.name, events), settings
    size = sum(i.size for i in spec.inputs)
    trains = spec.kind == "train"
    asked = settings.num_workers or _paying(size, settings, base, kind, trains)
    workers = 1 if trains and settings.dry_run else asked
    fewer = max(1, min(workers, size // BYTES_EACH))
    if fewer < workers:
        events.decision("workers", fewer, f"{count(fewer, 'worker')} instead of {workers}: the data is too small for more.")
    with gc_pause.importing():
        from trainer.launch import ray_launcher

    launcher = ray_launcher.create(fewer, threads, settings, kind.name, trains, size, events)
    if not settings.num_workers:
        settings = settings.with_chosen(num_workers=launcher.workers)
    return launcher, settings


def _paying(size: int, settings, base: Base, kind: Kind, trains: bool) -> int:
    """How many workers pay off for ``size`` bytes of data."""
    if not trains:
        return min(MAX_WORKERS, 1 + int(size / kind.answered_bytes))
    return _worthwhile(size, settings.epochs, base) if kind.spreads else 1


def _worthwhile(size: int, epochs: int, base: Base) -> int:
    """How many workers pay off: one per ten minutes that a single worker would take, estimated from the bytes of data and weights.

    A text of n bytes has about n/5 tokens, and training on a token takes about six operations per weight.
    """
    operations = 6 * max(base.size / 4, TINY_WEIGHTS) * size / 5 * epochs
    minutes = operations / OPERATIONS_PER_SECOND / 60
    return 1 if minutes < 10 or size < MANY_BYTES else min(MAX_WORKERS, 1 + int(minutes // 10))
