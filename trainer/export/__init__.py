"""The files that a run delivers, all below out/, and result.json, written last, which says that they are complete.

They are made in the folder of the start and published at the end. Killed before, nothing of it counts, and the run may be started
again.
"""

from trainer.export.predicting import Answered, prediction
from trainer.export.results import OUT, RESULT, already_done
from trainer.export.training import check, training

__all__ = ["OUT", "RESULT", "Answered", "already_done", "check", "prediction", "training"]
