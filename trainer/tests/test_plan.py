"""The rows of a plan, whose pieces belong to examples, and the digest that names a training."""

from types import SimpleNamespace

import numpy
from hypothesis import given, settings, strategies as st

from trainer.config.digest import digest
from trainer.core.plan import Rows
from trainer.models.catalogue import Base

QUICK = settings(max_examples=60, deadline=None)
FRESH = Base("bert-tiny", "text")


class Known:
    """Features whose batch is the row numbers themselves."""

    def __init__(self, lengths):
        self.lengths = numpy.asarray(lengths)

    def batch(self, rows, augment=None):
        return {"rows": rows, "lengths": self.lengths[rows]}


def pieces() -> Rows:
    """Five rows: the first example has two pieces, the second one, the third two."""
    return Rows(Known([5, 6, 7, 8, 9]), numpy.asarray([1, 1, 0, 2, 2]), numpy.asarray([0, 0, 1, 2, 2]))


def test_the_pieces_of_an_example_stay_together():
    rows = pieces()
    assert (len(rows), rows.examples, rows.example_targets().tolist()) == (5, 3, [1, 0, 2])
    chosen = rows.chosen(numpy.asarray([0, 1, 3, 4]))
    assert (len(chosen), chosen.examples, chosen.owner.tolist(), chosen.example_targets().tolist()) == (4, 2, [0, 0, 1, 1], [1, 2])
    assert chosen.features.batch(numpy.asarray([2]))["rows"].tolist() == [3]
    nested = chosen.chosen(numpy.asarray([2, 3]))
    assert nested.features.batch(numpy.asarray([0, 1]))["lengths"].tolist() == nested.features.lengths.tolist() == [8, 9]


@QUICK
@given(st.lists(st.integers(1, 4), max_size=30), st.integers(1, 12))
def test_parts_of_rows_are_the_rows_in_order_and_divide_no_example(sizes, count):
    owner = numpy.repeat(numpy.arange(len(sizes)), sizes)
    rows = Rows(Known(numpy.arange(len(owner))), owner * 10, owner)
    parts = rows.parts(count)
    assert len(parts) <= count
    assert [t for part in parts for t in part.targets] == rows.targets.tolist()
    assert [n for part in parts for n in part.features.lengths] == list(range(len(owner)))
    assert sum(part.examples for part in parts) == len(sizes)
    counts = [part.examples for part in parts]
    assert not counts or max(counts) - min(counts) <= 1 or len(sizes) < count


def test_rows_without_pieces_are_one_example_each():
    rows = Rows(Known([1, 2, 3]), numpy.asarray([4, 5, 6]))
    assert (rows.examples, rows.example_targets().tolist()) == (3, [4, 5, 6])
    assert [len(p) for p in rows.parts(2)] == [1, 2]
    assert rows.parts(5)[0].owner is None
    assert Rows(Known([]), numpy.zeros(0), numpy.zeros(0, int)).examples == 0


def test_the_digest_of_a_training_changes_with_what_decides_its_result_and_with_nothing_else():
    def of(split="s", base=FRESH, shape=None, **values):
        listed = [{"name": n, "value": v} for n, v in {"seed": 1, "run_name": "a", "max_minutes": 60, **values}.items()]
        return digest(SimpleNamespace(listed=lambda: listed), split, base, shape or {"width": 3})

    assert of() == of(run_name="b", max_minutes=5, num_workers=4, keep_checkpoints=9)
    others = [
        of(seed=2),
        of(split="t"),
        of(base=Base("mlp", "table")),
        of(base=Base("bert-tiny", "text", size=5)),
        of(shape={"width": 4}),
        of(epochs=2),
    ]
    assert len({of(), *others}) == 7
