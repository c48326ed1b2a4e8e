"""The table of n-grams beside a language model, on the same held-out examples and in the same unit."""

import math
from collections.abc import Sequence

import numpy

from trainer.core.example import Dataset, Example
from trainer.kinds.language import likelihoods, ngram
from trainer.kinds.language.likelihoods import Likelihoods
from trainer.kinds.rows import conversations as forms
from trainer.kinds.rows.token_vocabulary import Passage

NAME = "ngram"
_BREAK = 256  # the number between two examples; lower ones are bytes
_RUNS = 64
_MOST = {"train": ngram.MAX_TOKENS, "validation": 500_000, "test": 1_000_000}  # tokens of a stream
_Stream = tuple[numpy.ndarray, numpy.ndarray, numpy.ndarray, numpy.ndarray]  # tokens, which count, the example of each, bytes of each


def baseline(data: Dataset, seed: int) -> dict | None:
    """The entry of metrics.json for a table of n-grams that is counted on the training examples; None without test examples.

    Texts are read as bytes, so the unit is the same for every tokenizer. Files of tokens are read as tokens.
    """
    if not data.splits["test"]:
        return None
    first = data.splits["train"][0].content
    vocabulary = first.vocabulary if isinstance(first, Passage) else None
    lengths = numpy.concatenate([numpy.ones(256, numpy.int64), [0]]) if vocabulary is None else vocabulary.byte_lengths()
    streams = {name: _stream(_some(examples, _MOST[name]), lengths) for name, examples in data.splits.items()}
    found = ngram.measure(
        streams["train"][0],
        {name: streams[name][0] for name in ("validation", "test")},
        _BREAK + 1 if vocabulary is None else vocabulary.size,
        {"validation": streams["validation"][1]},
    )
    scores = likelihoods.report(_likelihoods(streams["test"], found.nats["test"]), seed)
    kept = ("bits_per_byte",) if vocabulary is None else ("loss", "perplexity", "bits_per_byte")
    unit = "bytes" if vocabulary is None else "tokens"
    return {"name": NAME, "title": f"table of {found.order}-grams of {unit}", "role": "floor", "test": {k: v for k, v in scores.items() if k in kept}}


def verdict(test: dict, of_table: dict) -> tuple[bool, str] | None:
    """Whether the model predicts the test examples better than the table, with a sentence; None where they have no common unit."""
    for metric, unit, scale in (("bits_per_byte", "bits per byte", 1.0), ("loss", "bits per token", 1 / math.log(2))):
        if metric in test and metric in of_table:
            model, table = test[metric]["value"] * scale, of_table[metric]["value"] * scale
            if model < table:
                return True, f"The model predicts the text better than the n-gram table ({model:.2f} against {table:.2f} {unit})."
            return False, (
                f"The n-gram table predicts the text better ({table:.2f} against {model:.2f} {unit}): "
                "the model has not learnt enough. Train longer, or give more text."
            )
    return None


def _some(examples: Sequence[Example], most: int) -> Sequence[Example]:
    """All examples, or runs of them that are spread evenly over the split and have about ``most`` tokens together."""
    sizes = [_size(e.content) for e in examples]
    share = most / max(1, sum(sizes))
    if share >= 1:
        return examples
    run = max(1, int(share * len(examples) / _RUNS))
    starts = sorted({int(s) for s in numpy.linspace(0, max(0, len(examples) - run), _RUNS)})
    chosen = sorted({i for s in starts for i in range(s, min(s + run, len(examples)))})
    left = most
    kept: list[Example] = []
    for i in chosen:
        left -= sizes[i]
        if left < 0 and kept:
            break
        kept.append(examples[i])
    return kept


def _size(content) -> int:
    return content.end - content.begin if isinstance(content, Passage) else len(forms.whole(content))


def _stream(examples: Sequence[Example], lengths: numpy.ndarray | None) -> _Stream:
    """The examples as one stream of bytes or tokens. Of a conversation only the answers count."""
    parts, counted, owner = [], [], []
    for number, example in enumerate(examples):
        for values, counts in _parts(example.content):
            parts.append(values)
            counted.append(numpy.full(len(values), counts))
            owner.append(numpy.full(len(values), number, numpy.int32))
    tokens = numpy.concatenate(parts or [numpy.zeros(0, numpy.uint16)])
    sizes = numpy.zeros(len(tokens), numpy.int64) if lengths is None else lengths[tokens]
    return tokens, numpy.concatenate(counted or [numpy.zeros(0, bool)]), numpy.concatenate(owner or [numpy.zeros(0, numpy.int32)]), sizes


def _parts(content) -> list[tuple[numpy.ndarray, bool]]:
    if isinstance(content, Passage):
        return [(content.read(), True)]
    if not isinstance(content, tuple):
        return [(_bytes(content), True)]
    found = [(numpy.asarray([_BREAK], numpy.uint16), False)]
    for turn in content:
        learnt = turn.role == forms.ASSISTANT and turn.learnt
        found += [(_bytes(turn.text), learnt), (numpy.asarray([_BREAK], numpy.uint16), learnt)]  # a model predicts the end of its answer too
    return found


def _bytes(text: str) -> numpy.ndarray:
    return numpy.frombuffer(text.encode("utf-8", "replace"), numpy.uint8).astype(numpy.uint16)


def _likelihoods(stream: _Stream, nats: numpy.ndarray) -> Likelihoods:
    """What the counted tokens of each example cost."""
    _, counted, owner, sizes = stream
    number = int(owner[-1]) + 1 if len(owner) else 0
    nats, owner, sizes = nats[counted], owner[counted], sizes[counted]
    tokens = numpy.bincount(owner, minlength=number)
    return Likelihoods(
        numpy.bincount(owner, weights=nats, minlength=number),
        tokens,
        numpy.zeros(number),
        numpy.bincount(owner, weights=sizes, minlength=number).astype(numpy.int64),
    )
