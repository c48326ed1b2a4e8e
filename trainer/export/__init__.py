"""The files that a run delivers, all below out/, and result.json, written last, which says that they are complete.

Killed before the end, nothing of it counts, and the run may be started again.
"""

from trainer.export.predicting import Answered, prediction
from trainer.export.results import already_done
from trainer.export.training import check, training

__all__ = ["Answered", "already_done", "check", "prediction", "training"]
