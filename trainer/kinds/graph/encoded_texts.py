"""Texts of nodes as vectors of an installed text model, which is not trained: the mean of the vectors of the tokens of each text."""

import hashlib
import json
import os
import time
from pathlib import Path

import numpy

from trainer.core import registry
from trainer.errors import UserError
from trainer.kinds.graph.reading_progress import ReadingProgress
from trainer.models import catalogue
from trainer.models.catalogue import Base

MOST_TOKENS = 256  # of a text; what comes later is not read
PART_TOKENS = 1 << 16  # in a part, which is kept as soon as it is read: seconds to a minute of work
BATCH_TOKENS = 8192
_TIMED_TOKENS = 512  # read before the others, to say how long all take


def find(models: Path, name: str) -> Base:
    """The installed text model of this name. Raises UserError."""
    base = catalogue.choose(models, name, registry.of("text"))
    if base.folder is None:
        raise UserError(
            "encoder_unfit", f"{base.name} is not an installed model.", "Set text_encoder to the name of an installed text model: owner/name."
        )
    return base


def named(models: Path, name: str) -> Base | None:
    """The installed text model of this name; None where there is none."""
    return next((b for b in catalogue.installed(models) if b.name == name and b.kind == "text"), None)


def described(base: Base) -> dict:
    """What tells whether a later prediction reads texts with the same model, as JSON."""
    return {"name": base.name, "commit": base.commit, "bytes": base.size}


def restored(models: Path, about: dict) -> Base:
    """The installed model that ``described`` told of. Raises UserError where it is not there, and KeyError or TypeError for something else."""
    name = str(about["name"])
    base = named(models, name)
    if base is None or (base.commit, base.size) != (about["commit"], about["bytes"]):
        what = "is not installed here" if base is None else "is another version here than in the training"
        raise UserError(
            "encoder_missing", f"The model reads the texts of nodes with {name}, which {what}.",
            f"Ask the administrator to run: extractor models install {name}. Or ask about nodes of the training data alone.",
        )  # fmt: skip
    return base


def vectors(base: Base, texts: list[str], progress: ReadingProgress | None = None) -> numpy.ndarray:
    """The vector of each text (float32, texts x width); NaN for an empty one. Equal texts have equal vectors, whatever stands beside them.

    ``progress`` is told how long it takes and how far it is, and keeps what is read for a later start of the run; it may raise UserError to stop.
    """
    import torch  # seconds

    from trainer.models import mean_pooled, texts as text, vocabulary

    torch.set_num_threads(len(os.sched_getaffinity(0)))
    assert base.folder is not None
    model = mean_pooled.build(base.folder, 1)
    if model is None:
        raise UserError("encoder_unfit", f"{base.name} has no vector for each token.", "Choose another text model, or set text_encoder to nothing.")
    tokenizer = vocabulary.installed(base.folder)
    tokenizer.enable_truncation(min(MOST_TOKENS, text.position_limit(base)))
    different = sorted({t for t in texts if t.strip()})
    tokens = [numpy.asarray(e.ids, numpy.int64) for e in text.encodings(tokenizer, different)]
    found = numpy.full((len(different) + 1, model.head.in_features), numpy.nan, numpy.float32)  # the last one is of empty texts
    model.eval()
    with torch.inference_mode():
        _read(base, model.encoder, different, tokens, found, progress)
    places = {t: i for i, t in enumerate(different)}
    return found[[places.get(t, len(different)) for t in texts]]


def _read(base: Base, encoder, texts: list[str], tokens: list[numpy.ndarray], found: numpy.ndarray, progress: ReadingProgress | None) -> None:
    """Fill ``found``, a row for each of the ``texts``, which have these ``tokens``. What an earlier start of the run has read is taken as it is."""
    width = found.shape[1]
    left: list[tuple[str, list[numpy.ndarray]]] = []  # the name of each part that is to be read, and its batches
    for batches in _parts(tokens):
        rows = numpy.concatenate(batches)
        name = _name(base, [texts[r] for r in rows]) if progress is not None else ""
        kept = progress.kept(name, len(rows), width) if progress is not None else None
        if kept is None:
            left.append((name, batches))
        else:
            found[rows] = kept
    rest = [tokens[r] for _, batches in left for rows in batches for r in rows]
    whole, done = sum(map(len, rest)), 0
    if progress is not None and whole:
        progress.begins(base.name, len(rest), len(texts) - len(rest), _seconds(encoder, rest, whole))
    for name, batches in left:
        for rows in batches:
            found[rows] = _means(encoder, [tokens[r] for r in rows]).numpy()
            done += sum(len(tokens[r]) for r in rows)
            if progress is not None:
                progress.read(done, whole)
        if progress is not None:
            progress.keep(name, found[numpy.concatenate(batches)])


def _name(base: Base, texts: list[str]) -> str:
    """The name of a part: the same model reads the same texts to the same vectors."""
    return hashlib.sha256(json.dumps([described(base), MOST_TOKENS, texts]).encode()).hexdigest()


def _seconds(encoder, tokens: list[numpy.ndarray], whole: int) -> float:
    """About the seconds that reading all ``tokens``, ``whole`` of them, takes: by the time of a few texts of the middle length."""
    length = sorted(map(len, tokens))[len(tokens) // 2]
    some = [t for t in tokens if len(t) == length][: max(1, _TIMED_TOKENS // max(1, length))]
    _means(encoder, some[:1])  # the first time takes longer
    began = time.perf_counter()
    _means(encoder, some)
    return whole / max(1, length * len(some)) * (time.perf_counter() - began)


def _parts(tokens: list[numpy.ndarray]):
    """Lists of batches, which divide the work in the same way at each start."""
    part: list[numpy.ndarray] = []
    size = 0
    for rows in _batches(tokens):
        part.append(rows)
        size += len(rows) * len(tokens[rows[0]])
        if size >= PART_TOKENS:
            yield part
            part, size = [], 0
    if part:
        yield part


def _batches(tokens: list[numpy.ndarray]):
    """Rows with texts of one length, a bounded number of tokens at once: without padding, a vector does not depend on other texts."""
    lengths = numpy.array([len(t) for t in tokens], numpy.int64)
    for length in numpy.unique(lengths[lengths > 0]).tolist():
        rows = numpy.flatnonzero(lengths == length)
        step = max(1, BATCH_TOKENS // length)
        yield from (rows[i : i + step] for i in range(0, len(rows), step))


def _means(encoder, tokens: list[numpy.ndarray]):
    import torch

    ids = torch.from_numpy(numpy.stack(tokens))
    return encoder(input_ids=ids, attention_mask=torch.ones_like(ids)).last_hidden_state.float().mean(dim=1)
