"""The files that a run delivers, all below out/, and result.json, which is written last and marks them as complete.

They are created in the folder of the start and published at the end. A run that is killed before has no result and can be started
again.
"""

from trainer.export.finished import Answered, Asking, Findings, RowsRead
from trainer.export.prediction_results import labels_alone, prediction
from trainer.export.results import OUT, PARTIAL, RESULT, already_done, finish
from trainer.export.training_results import check, training

__all__ = [
    "OUT", "PARTIAL", "RESULT", "Answered", "Asking", "Findings", "RowsRead",
    "already_done", "check", "finish", "labels_alone", "prediction", "training",
]  # fmt: skip
