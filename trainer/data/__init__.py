"""From the files of a dataset to examples. Runs in the driver, without torch.

``load`` reads the data of a training, ``read`` the data of a prediction. Both detect what the user did not set, with an event and
a sentence for every decision, and raise UserError for everything that only the user can fix. An ambiguous dataset is refused with
a question, never guessed.

The package decides which files are data, how they are read, what each column is for and how the rows are split, and it checks the
data before the training. It does not depend on models. Memory is a small multiple of the size of the tables; images stay on disk.
"""

from trainer.core.example import SPLITS, Dataset, Example
from trainer.data.dataset import load
from trainer.data.prediction import read

__all__ = ["SPLITS", "Dataset", "Example", "load", "read"]
