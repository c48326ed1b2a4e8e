"""Labels by the digests of their rows, of which some may contradict each other: found with a few bytes for each row, not with a text."""

from collections.abc import Iterable
from itertools import islice

import numpy

_BLOCK = 1 << 16  # pairs that are texts at once
_SHARES = 16  # in which digests are compared with each other, one after another: by their first character


def agreeing(pairs: Iterable[tuple[str, str]], most: int) -> tuple[dict[str, str], int]:
    """The labels of the ``most`` smallest digests without those that have several different labels; and how many of all digests have several. The
    digests are 16 hexadecimal characters. A pair without one of both is left out.

    Where there are more than ``most`` digests, they are in ascending order, else in that of the pairs.
    """
    found: dict[str, str] = {}
    bound = "g"  # behind all digests
    digests, labels = [], []
    several: set[str] = set()
    pairs = ((digest, label) for digest, label in pairs if digest and label)
    while block := list(islice(pairs, _BLOCK)):
        digests.append(numpy.frombuffer(bytes.fromhex("".join([digest for digest, _ in block])), ">u8"))
        labels.append(numpy.fromiter((hash(label) for _, label in block), numpy.int64, len(block)))
        for digest, label in block:
            if digest < bound:
                found.setdefault(digest, label)
        if len(found) > most:
            found = {digest: found[digest] for digest in sorted(found)[:most]}
            bound = max(found, default="")
    contradicting = 0
    for share in range(_SHARES):
        own = _several(digests, labels, share)
        contradicting += len(own)
        several.update(f"{digest:016x}" for digest in own.tolist())
    return {digest: label for digest, label in found.items() if digest not in several}, contradicting


def _several(digests: list[numpy.ndarray], labels: list[numpy.ndarray], share: int) -> numpy.ndarray:
    """The digests that begin with the character ``share`` and have several different labels, by the hashes of these."""
    places = [numpy.flatnonzero(d >> numpy.uint64(60) == share) for d in digests]
    if not places:
        return numpy.zeros(0, numpy.uint64)
    own = numpy.concatenate([d[p].astype(numpy.uint64) for d, p in zip(digests, places, strict=True)])
    hashes = numpy.concatenate([h[p] for h, p in zip(labels, places, strict=True)])
    order = numpy.argsort(own, kind="stable")
    own, hashes = own[order], hashes[order]
    return numpy.unique(own[1:][(own[1:] == own[:-1]) & (hashes[1:] != hashes[:-1])])
