"""Runs of a network that do nothing beside its training."""

from collections.abc import Callable


def let_be_alone(replace: Callable) -> None:
    """Let runs fit no estimator beside a network, write no model.onnx of it, and say nothing about the model when it is there: its labels, what it
    relies on, its split. That is half of the work of a small run. ``replace`` is setattr, or that of a monkeypatch.

    Runs with all of it are those of test_run.py and of the kinds; test_ray.py and test_ray_workers.py interrupt some.
    """
    from trainer.core import registry
    from trainer.training import imitated, unseen, weighed

    registry.estimators()  # which stay known by their names
    for kind in map(type, registry.kinds().values()):
        replace(kind, "estimators", ())
        replace(kind, "exports_onnx", False)
    for owner, name in ((unseen, "rows"), (weighed, "sections"), (imitated, "sections")):
        replace(owner, name, lambda *_: [])
