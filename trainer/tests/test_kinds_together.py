"""Kinds beside each other: each claims the files that are its own, and none ends the run of another."""

import pytest
from result_checks import result_of
from samples import SAMPLES, toy  # noqa: F401 - a fixture

from trainer.config.options import options
from trainer.core import registry
from trainer.run import run


def test_every_kind_has_a_sample():
    assert set(SAMPLES) == set(registry.kinds())


@pytest.mark.parametrize("kind", SAMPLES)
def test_the_options_and_metrics_of_a_kind_are_those_of_a_training(kind):
    table = options("train")
    assert {o.name for o in registry.of(kind).options} <= set(table)
    assert set(registry.of(kind).tasks) <= set(table["task"].choices)
    assert set(registry.of(kind).choosing_metrics) <= set(table["metric"].choices)


@pytest.mark.parametrize("kind", SAMPLES)
def test_a_claim_that_raises_is_left_out_and_logged(make_run, kind, monkeypatch):
    """The other kinds are asked as if it were not there."""
    broken = registry.of("image" if kind == "toy" else "toy")
    monkeypatch.setattr(type(broken), "claim", lambda *_: 1 / 0)
    sample = SAMPLES[kind]
    spec = make_run(sample.files, dry_run=True, **sample.options)
    assert run(str(spec), "local") == 0
    assert result_of(spec.parent)["task"] in registry.of(kind).tasks
    assert "ZeroDivisionError" in (spec.parent / "log.txt").read_text()
