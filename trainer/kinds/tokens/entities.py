"""Entities: runs of words that tags mark, and how well they are found. The rules are those of conlleval and of seqeval's default mode."""

import collections

import numpy

from trainer.measure import precision_recall

OUTSIDE = "O"
_BEGINS, _ENDS = ("B", "S", "U"), ("E", "S", "L")
_MARKED_ENDS = (*_ENDS, "U")
Span = tuple[int, int, str]  # first word, word behind the last, type


def spans(tags: list[str]) -> list[Span]:
    """The entities of a sentence in BIO, IOB1, IOBES, BILOU or IO tags. A run that begins with I- counts."""
    found: list[Span] = []
    start, before, kind = -1, OUTSIDE, ""
    for i, tag in enumerate([*tags, OUTSIDE]):
        prefix, _, name = tag.partition("-") if "-" in tag else ("I", "", tag)
        outside = tag == OUTSIDE
        if start >= 0 and (outside or name != kind or prefix in _BEGINS or before in _ENDS):
            found.append((start, i, kind))
            start = -1
        if not outside and start < 0:
            start, kind = i, name
        before = OUTSIDE if outside else prefix
    return found


def mixed(sentences: list[list[str]]) -> bool:
    """Whether some entities have marks of their ends and others have none: IOBES or BILOU beside BIO, of which a model would learn neither."""
    with_ends = any(t.partition("-")[0] in _MARKED_ENDS for tags in sentences for t in tags if "-" in t)
    return with_ends and any(tags[end - 1].partition("-")[0] not in _MARKED_ENDS for tags in sentences for _, end, _ in spans(tags))


def plain(tags: list[str]) -> list[str]:
    """The same entities with B- for their first word and I- for others."""
    found = [OUTSIDE] * len(tags)
    for start, end, kind in spans(tags):
        found[start:end] = [f"B-{kind}", *[f"I-{kind}"] * (end - start - 1)]
    return found


def types(labels) -> list[str]:
    """The types of entities that tags name, in order."""
    return sorted({t.partition("-")[2] if "-" in t else t for t in labels if t != OUTSIDE})


def report(truth: list[list[str]], predicted: list[list[str]], seed: int) -> dict:
    """The entities of a report: precision, recall and F1 of all entities and of each type, with 95 % intervals over resampled sentences.

    ``truth`` and ``predicted`` hold the tags of the same sentences. An entity is right if its words and its type are.
    """
    pairs = [(set(spans(t)), set(spans(p))) for t, p in zip(truth, predicted, strict=True)]
    names = sorted({kind for pair in pairs for side in pair for _, _, kind in side})
    counts = numpy.zeros((len(pairs), len(names), 3), numpy.int32)  # sentences x types x (right, predicted, true)
    place = {name: i for i, name in enumerate(names)}
    confusion: collections.Counter = collections.Counter()
    for row, (true, said) in zip(counts, pairs):
        for spans_of, column in ((true & said, 0), (said, 1), (true, 2)):
            for _, _, kind in spans_of:
                row[place[kind], column] += 1
        confusion.update(_confused(true, said))
    drawn = precision_recall.resampled(counts, seed)
    totals = counts.sum(axis=0)
    return {
        "overall": precision_recall.scores(totals.sum(axis=0), drawn.sum(axis=1)),
        "types": [{"type": name, **precision_recall.scores(totals[i], drawn[:, i])} for i, name in enumerate(names)],
        "confusion": [{"true": a, "predicted": b, "count": n} for (a, b), n in sorted(confusion.items(), key=lambda c: (-c[1], c[0]))[:100]],
    }


def _confused(true: set[Span], said: set[Span]) -> collections.Counter:
    """How often which type was predicted for the words of an entity. Empty names stand for an entity that was missed or made up."""
    by_place = {(a, b): kind for a, b, kind in said}
    places = {(a, b) for a, b, _ in true}
    found = collections.Counter((kind, by_place.get((a, b), "")) for a, b, kind in true)
    found.update(("", kind) for a, b, kind in said if (a, b) not in places)
    return found
