"""How long an installed text encoder is finetuned where nobody chose it.

On CPUs its training takes almost all the time of a run, in proportion to the tokens that it reads. So it reads a bounded number of them.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from trainer.config.settings import Settings
from trainer.core.plan import CHECKPOINTS, INDEX, Rows
from trainer.models.catalogue import Base
from trainer.run_folder import files
from trainer.run_folder.events import Events

TOKENS = 350_000  # in all epochs together, unless one epoch has more: four minutes of one core for MiniLM in bf16


@dataclass(frozen=True)
class Place:
    """Where a training takes place: the run folder, and whether its workers have GPUs, on which the epochs cost little."""

    folder: Path
    on_gpu: bool = False


def choose_epochs(settings: Settings, base: Base, rows: Rows, place: Place, digest: Callable[[Settings], str], events: Events) -> Settings:
    """Choose the epochs of a training of ``base`` on ``rows``, if nobody chose them. ``digest`` is that of a training with other settings.

    A training that has begun keeps its epochs: an earlier version trained all of them on CPUs, and a machine may have lost its GPU.
    """
    if base.fresh or not settings.is_open("epochs"):
        return settings
    tokens = max(1, int(rows.features.lengths.sum()))
    fewer = max(1, min(settings.epochs, TOKENS // tokens))
    if fewer == settings.epochs:
        return settings
    begun = _begun(place.folder)
    if digest(settings) in begun or (place.on_gpu and digest(settings.with_chosen(epochs=fewer)) not in begun):
        return settings
    times = "once" if fewer == 1 else f"{fewer} times"
    why = f"The training reads its {tokens:,} tokens {times}: on CPUs, more takes long and gains little."
    events.decision("epochs", fewer, why)
    return settings.with_chosen(epochs=fewer)


def _begun(folder: Path) -> set[str]:
    """The digests of the trainings that have checkpoints in the run folder."""
    found = set()
    for place in (folder / CHECKPOINTS, *(folder / CHECKPOINTS).glob("trial-*")):
        try:
            for name in files.read_json(place / INDEX)["checkpoints"]:
                found.add(str(files.read_json(place / Path(name).name / "state.json")["digest"]))
        except (OSError, ValueError, KeyError, TypeError):
            continue
    return found
