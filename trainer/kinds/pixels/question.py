"""What the workers are told beside the pictures and scenes that they answer. The driver makes it, so torch is not imported here."""

from dataclasses import dataclass
from pathlib import Path

from trainer.kinds.pixels import codings

FOLDER = "masks"  # in the folder of a start: the answers for pictures


@dataclass(frozen=True)
class OfScenes:
    """Where answers are kept: the run folder, and the folder of the start; and how the masks are coded that the model learnt from."""

    folder: Path
    work: Path
    coding: codings.Classes | codings.Numbers
    digests: tuple[str, ...]  # of each scene, with the model
    probabilities: bool = False  # whether those of all classes are kept


@dataclass(frozen=True)
class Question:
    """Where the answers for pictures are written, how the masks are coded that the model learnt from, and what is asked of scenes, if of any."""

    folder: Path
    coding: codings.Classes | codings.Numbers
    scenes: OfScenes | None = None
