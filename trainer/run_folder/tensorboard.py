"""TensorBoard event files, written during the training."""

from pathlib import Path

from tensorboardX import SummaryWriter


class TensorBoardLog:
    """Writes scalars into ``folder``. A resumed training writes another file, which tells TensorBoard to drop the repeated steps."""

    def __init__(self, folder: Path):
        self.folder = folder
        self.purge: int | None = None
        self.writer: SummaryWriter | None = None

    def resumed(self, step: int) -> None:
        """Tell TensorBoard to drop what an earlier file has after ``step``. Call it before the first ``add``."""
        self.purge = step + 1

    def add(self, step: int, values: dict[str, float | None]) -> None:
        if self.writer is None:
            self.writer = SummaryWriter(str(self.folder), purge_step=self.purge, flush_secs=10, write_to_disk=True)
        for name, value in values.items():
            if value is not None:
                self.writer.add_scalar(name, value, step)

    def close(self) -> None:
        if self.writer is not None:
            self.writer.close()
