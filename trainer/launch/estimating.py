"""A launcher for models that need no network: the driver answers itself, unless there is so much to answer that workers on Ray pay off."""

from collections.abc import Iterable

from trainer import gc_pause
from trainer.config.settings import Settings
from trainer.config.spec import Spec
from trainer.core.kind import Kind
from trainer.launch import MAX_WORKERS, pieces
from trainer.launch.pieces import Piece, Tick
from trainer.run_folder.events import Events

PIECES_EACH = 10  # for which one more worker pays off: it needs some seconds to be there


class EstimatingLauncher:
    """Requests workers when it is told how much there is to do. Nobody waits for workers that were not asked for."""

    def __init__(self, name: str, settings: Settings, kind: Kind, spec: Spec, events: Events):
        self.name, self.settings, self.kind, self.spec, self.events = name, settings, kind, spec, events
        self.pool: pieces.Spreading | None = None
        self.begun = False

    def spread(self, work_pieces: Iterable[Piece], count: int, tick: Tick) -> None:
        """See ``pieces.Spreading``."""
        asked = self.settings.num_workers
        wanted = min(asked or MAX_WORKERS, count if asked else count // PIECES_EACH)
        if self.name == "ray" and wanted > 1 and not self.begun:
            self._begin(wanted)
        if self.pool is None:
            pieces.in_turn(work_pieces, tick, "cpu", self.events)
        else:
            self.pool.spread(work_pieces, count, tick)

    def _begin(self, wanted: int) -> None:
        self.begun = True
        with gc_pause.importing():
            from trainer.launch import ray_launcher
        self.pool = ray_launcher.estimating(wanted, self.settings, self.kind.name, sum(i.size for i in self.spec.inputs), self.events)

    def close(self) -> None:
        """Leave Ray, if it was needed."""
        if self.begun:
            from trainer.launch import connection

            connection.close()
