"""Training rows that are encoded when a linear model asks for them give the same model."""

import numpy
from test_trees import mixed, target_of

from trainer.core.example_targets import encoded_targets
from trainer.kinds.table import encoder as encoders
from trainer.kinds.table.kind import Tables
from trainer.measure import linear


def test_a_sample_of_rows_gives_the_same_model(tmp_path, monkeypatch):
    monkeypatch.setattr(encoders, "_AT_ONCE", 100)
    data = mixed(400)
    targets = {n: encoded_targets(rows, target_of(data).encode) for n, rows in data.splits.items()}
    models = []
    for samples in (False, True):
        encoder = encoders.learned(data.columns, data.types, data.splits["train"], data.learnt, tmp_path, samples)
        monkeypatch.setattr(linear, "MAX_ENTRIES", 100 * encoder.width)
        rows = {n: encoder.encode(data.splits[n], targets[n], n, training=n == "train") for n in data.splits}
        assert isinstance(rows["train"].features.values, encoders.Asked) == samples
        assert isinstance(rows["validation"].features.values, numpy.ndarray)
        read = Tables().linear_features(encoder, data, rows, 1000).features
        models.append(linear.fit(read["train"], targets["train"], read["validation"], targets["validation"], len(data.labels), 1))
    first, other = models
    assert first.rows == other.rows == 100 < len(targets["train"])
    assert numpy.array_equal(first.weights, other.weights) and numpy.array_equal(first.bias, other.bias)
