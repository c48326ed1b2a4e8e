"""From the files of a dataset to examples: the driver's side, without torch.

``load`` reads the data of a training and ``read`` that of a prediction. Both decide by themselves what the user left open,
with an event and a sentence for every choice, and raise UserError for everything that only the user can mend. A close call
is asked back, never guessed.

It owns which files are data, how they are read, which columns hold what, which rows train, validate and test, and the checks
before money is spent. It knows nothing of models. Memory is a small multiple of the size of the tables; images stay on disk.
"""

from trainer.data.dataset import load
from trainer.data.example import SPLITS, Dataset, Example
from trainer.data.prediction import read

__all__ = ["SPLITS", "Dataset", "Example", "load", "read"]
