"""The checks before the training: what would spoil it is said."""

import pytest
from test_data_load import load as load, made, texts


@pytest.mark.parametrize(
    ("files", "settings", "code"),
    [
        pytest.param(
            {"a.csv": made(["x", "code", "class"], lambda i: [i * 0.7 % 3, "PN"[i % 2], "yn"[i % 2]], 300)},
            {}, "label_leak", id="a column that is the label in other words",
        ),
        pytest.param(
            {"a.csv": made(["euro", "dollar", "kind", "y"], lambda i: [i * 1.5 + 3, i % 7, "ab"[i % 2], i * 3.1], 300)},
            {}, "label_formula", id="the target in another unit",
        ),
        pytest.param(
            {"a.csv": made(["text", "label"], lambda i: [f"thing {i} is {'good' if i % 2 else 'poor'}", "good" if i % 2 else "poor"], 300)},
            {}, "label_leak", id="the label in the text",
        ),
        pytest.param(
            {"a.csv": made(["text", "label"], lambda i: [f"thing {i} is it", "a" if i % 10 else "b"], 300)},
            {}, "class_imbalance", id="a rare class",
        ),
        pytest.param(
            {"a.csv": made(["text", "label"], lambda i: [f"thing {i // 2} is it", "ab"[i % 2]], 300)},
            {}, "conflicting_labels", id="one text with two labels",
        ),
        pytest.param(
            {"a.csv": made(["x", "z", "label"], lambda i: [i * 0.7, i if i % 2 else "", "abc"[i % 3]], 300)},
            {}, "empty_cells", id="a column that is half empty",
        ),
        pytest.param({"a.csv": texts(60)}, {}, "few_rows", id="few rows"),
        pytest.param(
            {"a.csv": made(["text", "label"], lambda i: [f"thing {i} is it", "c" if i < 3 else "ab"[i % 2]], 300)},
            {}, "rows_per_class", id="a class of three rows",
        ),
    ],
)  # fmt: skip
def test_problems_that_distort_the_metrics_are_reported(files, settings, code, load):
    found = load(files, **settings)
    assert code in [c["code"] for c in found.checks if c["level"] == "warning"]
    assert code in [w["code"] for w in load.events.warnings]
