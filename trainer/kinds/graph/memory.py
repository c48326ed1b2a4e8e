"""How much memory the training on a graph needs, told before it starts."""

from dataclasses import dataclass

from trainer.errors import UserError, count, gigabytes

_WORKER = 900_000_000  # of a worker with torch
_SHARE = 12  # bytes for each number of a step: itself, its gradient, and what the layer keeps


@dataclass(frozen=True)
class Needs:
    """What decides the memory of a training."""

    nodes: int
    edges: int
    features: int
    hidden: int
    layers: int
    seeds: int  # nodes that a step of one worker begins with
    fanout: tuple[int, ...]

    @property
    def files(self) -> int:
        """The bytes of the graph on the volume, which all workers of a machine share in memory."""
        return 4 * self.features * self.nodes + 8 * self.nodes + 8 * self.edges

    @property
    def table(self) -> int:
        """The bytes of two layers of all nodes, which are kept while the embeddings are computed."""
        return 8 * self.nodes * self.hidden

    @property
    def worker(self) -> int:
        """The bytes that one worker needs for itself."""
        reached = self.seeds
        for most in self.fanout[:-1]:
            reached = min(self.nodes, reached * (1 + min(most, max(1, 2 * self.edges // max(1, self.nodes)))))
        step = _SHARE * reached * (2 * self.features + 2 * self.hidden * self.layers)
        return _WORKER + step + 5 * self.nodes


def check(needs: Needs, workers: int, free: int, checks) -> int:
    """Tell the memory that the training needs on a machine with ``workers`` workers and ``free`` bytes, warn where the files do not fit, and
    raise UserError where the workers do not.

    Returns the bytes that are needed with all files in memory.
    """
    own = workers * needs.worker
    whole = own + needs.files + needs.table
    parts = f"{gigabytes(needs.files)} for the graph, {gigabytes(needs.table)} for the embeddings and {gigabytes(own)} for {count(workers, 'worker')}"
    text = f"The training needs about {gigabytes(whole)} of memory on a machine: {parts}. {gigabytes(free)} is available."
    if own > free:
        remedy = "Choose a smaller batch_size, graph.fanout or graph.hidden" + (", or fewer workers" if workers > 1 else "")
        raise UserError("graph_too_large", f"The graph is too large for the memory of the machine. {text}", f"{remedy}, or ask for more memory.")
    if whole > free:
        checks.warning("memory", f"{text} Parts of the files are read again and again, so the training is slower.")
    else:
        checks.ok("memory", text)
    return whole
