"""The answers for units of scenes as files in the folder of the run, which a later start or another worker finds again."""

from pathlib import Path

import numpy

from trainer.run_folder import parts
from trainer.run_folder.lease import Lease

FOLDER = "scenes"  # in the run folder
VALUES, SCORES, FIGURES = "values", "scores", "figures"  # answers, how likely they are (from 0 to SURE), and what is counted of them
ODDS = "odds"  # of each class, in percent (classes x height x width), where they are asked for
SEEN, SAID = "seen", "said"  # what is shown of the scene: every so many pixels, and their answers (see ``overview``)
DAMAGED = "damaged"  # tiles that could not be read (see ``damaged.of_scene``)
SURE = 250
CERTAIN, NO_ODDS = 100, 255  # in ODDS: a sure class, and no data
POSSIBLE = 128  # is added in ODDS where a class is possible by the promise for pixels


def place(folder: Path, digest: str, number: int) -> Path:
    """Where the answer for a unit of a scene is. ``digest`` says which model answers which scene, and how it is cut."""
    return folder / FOLDER / f"{digest[:32]}-{number}.part"


def write(lease: Lease, to: Path, arrays: dict[str, numpy.ndarray]) -> None:
    """Write an answer so that it is there as a whole or not at all."""
    parts.write(lease, to, arrays)


def read(file: Path, name: str) -> numpy.ndarray | None:
    """An array of an answer; None where the file is not there or damaged, so that it is computed again."""
    return parts.read(file, name)
