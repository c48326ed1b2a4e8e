"""The curves in memory, and TensorBoard's way to read them."""

import collections
import math
import threading

from tensorboard import errors
from tensorboard.data import provider
from tensorboard.plugins.scalar import metadata

MOST_BOARDS = 16
MOST_CURVES = 2000  # of one board
MOST_POINTS = 400_000  # of one board


class Unreadable(ValueError):
    """A document is no board."""


class Boards:
    """The boards in memory, by their names. With one too many, the one that nobody has looked at for the longest time leaves."""

    def __init__(self):
        self._boards: collections.OrderedDict[str, dict] = collections.OrderedDict()
        self._lock = threading.Lock()

    def put(self, name: str, document) -> None:
        """Replace the board by ``document``: run -> tag -> [[step, seconds since 1970, value], ...]. Raises Unreadable."""
        board = _board(document)
        with self._lock:
            self._boards[name] = board
            self._boards.move_to_end(name)
            while len(self._boards) > MOST_BOARDS:
                self._boards.popitem(last=False)

    def get(self, name: str) -> dict | None:
        with self._lock:
            if name in self._boards:
                self._boards.move_to_end(name)
            return self._boards.get(name)


def _board(document) -> dict:
    if not isinstance(document, dict):
        raise Unreadable("a board is an object of runs")
    board, curves, points = {}, 0, 0
    for run, tags in document.items():
        if not isinstance(tags, dict):
            raise Unreadable("a run is an object of curves")
        board[run] = {tag: [_datum(point) for point in _list(line)] for tag, line in tags.items()}
        curves += len(board[run])
        points += sum(len(line) for line in board[run].values())
        if curves > MOST_CURVES or points > MOST_POINTS:
            raise Unreadable("there are too many curves")
    return board


def _list(line) -> list:
    if not isinstance(line, list) or not line:
        raise Unreadable("a curve is a list of points")
    return line


def _datum(point) -> provider.ScalarDatum:
    try:
        step, wall, value = int(point[0]), float(point[1]), float(point[2])
    except (TypeError, ValueError, IndexError, KeyError, OverflowError) as e:
        raise Unreadable("a point has a step, a time and a value") from e
    if not math.isfinite(wall) or not math.isfinite(value):
        raise Unreadable("a point has finite numbers")
    return provider.ScalarDatum(step=step, wall_time=wall, value=value)


class Curves(provider.DataProvider):
    """What TensorBoard asks for: an experiment is a board, and it has scalars only."""

    def __init__(self, boards: Boards):
        self._boards = boards

    def _board(self, name: str) -> dict:
        if (board := self._boards.get(name)) is None:
            raise errors.NotFoundError("There is no such board.")
        return board

    def experiment_metadata(self, ctx=None, *, experiment_id):
        return provider.ExperimentMetadata(data_location="")

    def list_plugins(self, ctx=None, *, experiment_id):
        return [metadata.PLUGIN_NAME, "timeseries"] if any(self._board(experiment_id).values()) else []

    def list_runs(self, ctx=None, *, experiment_id):
        return [
            provider.Run(run_id=run, run_name=run, start_time=min((line[0].wall_time for line in tags.values()), default=None))
            for run, tags in self._board(experiment_id).items()
        ]

    def _lines(self, experiment: str, plugin: str, wanted) -> dict[str, dict[str, list]]:
        if plugin != metadata.PLUGIN_NAME:
            return {}
        wanted = wanted or provider.RunTagFilter()
        found = {
            run: {tag: line for tag, line in tags.items() if wanted.tags is None or tag in wanted.tags}
            for run, tags in self._board(experiment).items()
            if wanted.runs is None or run in wanted.runs
        }
        return {run: tags for run, tags in found.items() if tags}

    def list_scalars(self, ctx=None, *, experiment_id, plugin_name, run_tag_filter=None):
        return {
            run: {tag: _series(tag, line) for tag, line in tags.items()}
            for run, tags in self._lines(experiment_id, plugin_name, run_tag_filter).items()
        }

    def read_scalars(self, ctx=None, *, experiment_id, plugin_name, downsample=None, run_tag_filter=None):
        return {
            run: {tag: _thinned(line, downsample) for tag, line in tags.items()}
            for run, tags in self._lines(experiment_id, plugin_name, run_tag_filter).items()
        }

    def read_last_scalars(self, ctx=None, *, experiment_id, plugin_name, run_tag_filter=None):
        return {run: {tag: line[-1] for tag, line in tags.items()} for run, tags in self._lines(experiment_id, plugin_name, run_tag_filter).items()}

    def list_tensors(self, ctx=None, *, experiment_id, plugin_name, run_tag_filter=None):
        return {}

    def read_tensors(self, ctx=None, *, experiment_id, plugin_name, downsample=None, run_tag_filter=None):
        return {}

    def list_blob_sequences(self, ctx=None, *, experiment_id, plugin_name, run_tag_filter=None):
        return {}

    def read_blob_sequences(self, ctx=None, *, experiment_id, plugin_name, downsample=None, run_tag_filter=None):
        return {}


def _series(tag: str, line: list) -> provider.ScalarTimeSeries:
    content = metadata.create_summary_metadata(display_name="", description="").plugin_data.content
    return provider.ScalarTimeSeries(
        max_step=line[-1].step, max_wall_time=max(point.wall_time for point in line), plugin_content=content, description="", display_name=tag
    )


def _thinned(line: list, most: int | None) -> list:
    """At most ``most`` points, evenly, with the first and the last."""
    if not most or len(line) <= most:
        return line
    return [line[i * (len(line) - 1) // max(1, most - 1)] for i in range(most)] if most > 1 else line[-1:]
