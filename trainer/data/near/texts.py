"""Texts that are nearly the same: templates with other names and numbers, versions of one text, and copies in which a few words were exchanged.

Two texts are nearly the same where they share most runs of four words. Those that may be are found by the runs whose hashes are smallest, which near
copies mostly share (Broder 1997).
"""

import re
import zlib
from collections.abc import Mapping, Sequence

import numpy

from trainer.core.example import SPLITS, Example
from trainer.data.checks import Checks
from trainer.data.near import copies
from trainer.data.ordered import Rule

SHARED = 0.6  # of the runs of both texts (Jaccard)
_RUN, _FEWEST = 4, 8  # words of a run, and runs of a text that is compared
_SKETCH = 8  # runs by which texts are found
_LONGEST = 300  # words that are looked at
_MOST = 20_000  # texts, which take some seconds
_WORD, _DIGITS = re.compile(r"\w+"), re.compile(r"\d+")
_WORDS = copies.Words("text", "with other names or numbers, or a few other words")


def together(
    given: Mapping[str, Sequence[Example]], by_target: bool, split: str, rule: Rule | None, checks: Checks
) -> tuple[dict[str, Sequence[Example]], Rule]:
    """Keep near copies of texts, which are the contents of the examples, together, as ``copies.together`` does; very many are not compared."""
    if sum(len(given.get(name, ())) for name in SPLITS) > _MOST:
        return {**given}, rule or Rule()
    return copies.together(given, _pairs, by_target, split, rule, _WORDS, checks)


def _pairs(rows: list[Example], targets: numpy.ndarray) -> numpy.ndarray:
    """Pairs of texts of one target that are nearly the same (pairs x 2)."""
    runs = [_runs(e.content) for e in rows]
    sketch = [(run, int(target), i) for i, (of, target) in enumerate(zip(runs, targets)) for run in sorted(of)[:_SKETCH]]
    sketch.sort()
    pairs = {(a[2], b[2]) for a, b in zip(sketch, sketch[1:]) if a[:2] == b[:2]}
    found = [pair for pair in pairs if _shared(runs[pair[0]], runs[pair[1]]) >= SHARED]
    return numpy.array(sorted(found), int).reshape(-1, 2)


def _runs(content) -> frozenset[int]:
    """The hashes of the runs of words of a text, or of a pair of texts; none of a short one. Numbers are all the same."""
    text = content if isinstance(content, str) else " ".join(map(str, content))
    words = [_DIGITS.sub("0", w) for w in _WORD.findall(text.lower())[:_LONGEST]]
    runs = frozenset(zlib.crc32(" ".join(words[i : i + _RUN]).encode()) for i in range(len(words) - _RUN + 1))
    return runs if len(runs) >= _FEWEST else frozenset()


def _shared(a: frozenset[int], b: frozenset[int]) -> float:
    return len(a & b) / len(a | b)
