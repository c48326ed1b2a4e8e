"""Predictions of many rows in parts, which workers answer one after another.

The rows are cut at fixed places, whatever the number of workers, and what is made of a part depends on nothing else. So any number of workers gives
the same bytes. A part is a file in the folder of the run, published as a whole under a name that says model, data, settings and place, so what was
answered before a worker or the driver was lost is not answered again.
"""

from trainer.parted.rows import Parted, are_many

__all__ = ["Parted", "are_many"]
