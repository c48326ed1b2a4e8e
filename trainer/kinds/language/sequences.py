"""Token ids of many examples with the places that are learnt."""

from dataclasses import dataclass

import numpy

from trainer.core.plan import IGNORED


@dataclass(frozen=True)
class Sequences:
    """Token ids of many sequences, one after the other: sequence i is ids[offsets[i]:offsets[i+1]].

    ``learnt`` says of each token whether a model learns to predict it. Batches are filled up with ``pad_id`` at the end. What is
    filled up is masked by its place and never by its id, since many models end their answers with the id they fill up with.
    """

    ids: numpy.ndarray
    learnt: numpy.ndarray
    offsets: numpy.ndarray
    pad_id: int

    @property
    def lengths(self) -> numpy.ndarray:
        return numpy.diff(self.offsets)

    def batch(self, rows: numpy.ndarray, augment: numpy.random.Generator | None = None) -> dict[str, numpy.ndarray]:
        """The inputs of a causal model, and ``labels``: the id that is learnt at each place, or IGNORED."""
        begin = self.offsets[rows]
        lengths = self.offsets[rows + 1] - begin
        places = numpy.arange(int(lengths.max()))
        mask = places < lengths[:, None]
        flat = (begin[:, None] + places)[mask]
        ids = numpy.full(mask.shape, self.pad_id, dtype=numpy.int64)
        ids[mask] = self.ids[flat]
        labels = numpy.full(mask.shape, IGNORED, dtype=numpy.int64)
        labels[mask] = numpy.where(self.learnt[flat], self.ids[flat], IGNORED)
        return {"input_ids": ids, "attention_mask": mask.astype(numpy.int64), "labels": labels}


def of(parts: list[tuple[numpy.ndarray, numpy.ndarray]], pad_id: int) -> Sequences:
    """Sequences from pairs of ids and learnt places. The first token of a sequence is never learnt: nothing comes before it."""
    offsets = numpy.concatenate([[0], numpy.cumsum([len(ids) for ids, _ in parts])]).astype(numpy.int64)
    ids = numpy.concatenate([numpy.asarray(ids, numpy.int32) for ids, _ in parts] or [numpy.zeros(0, numpy.int32)])
    learnt = numpy.concatenate([numpy.asarray(places, bool) for _, places in parts] or [numpy.zeros(0, bool)])
    learnt[offsets[:-1][numpy.diff(offsets) > 0]] = False
    return Sequences(ids, learnt, offsets, pad_id)
