"""The kinds of data that this trainer knows. ``trainer.kinds`` lists them; a package that MORE_KINDS names can add others."""

import functools
import importlib
import os
from collections.abc import Iterable
from typing import TYPE_CHECKING

from trainer.core.contract.training import Estimator
from trainer.core.kind import Kind

if TYPE_CHECKING:
    from trainer.targets.target import Target

MORE_KINDS = "MORE_KINDS"  # the variable with modules that define further kinds, separated by commas
_LISTED = "trainer.kinds"


@functools.cache
def kinds() -> dict[str, Kind]:
    """All kinds by name, in the order in which their claims and options are listed.

    Each module has a tuple ``KINDS``. Raises ValueError if two kinds have the same name, task or built-in model of another shape.
    """
    modules = [_LISTED, *(m.strip() for m in os.environ.get(MORE_KINDS, "").split(",") if m.strip())]
    listed: Iterable[Kind] = (kind for module in modules for kind in importlib.import_module(module).KINDS)
    by_name: dict[str, Kind] = {}
    for kind in listed:
        if kind.name in by_name or any(set(kind.tasks) & set(other.tasks) for other in by_name.values()):
            raise ValueError(f"the kind {kind.name} is there twice, or another kind has one of its tasks")
        by_name[kind.name] = kind
    return by_name


def of(name: str) -> Kind:
    """The kind with this name. Raises KeyError."""
    return kinds()[name]


def of_task(task: str) -> Kind | None:
    """The kind of data of ``task``; None for auto and unknown tasks."""
    return next((kind for kind in kinds().values() if task in kind.tasks), None)


def predicts_numbers(task: str) -> bool:
    """Whether the target of ``task`` is a number; False for auto."""
    return any(task in kind.tasks_of_numbers for kind in kinds().values())


def extensions() -> set[str]:
    """The extensions of files that one kind alone reads: ``Sources.of_kinds``."""
    return {extension for kind in kinds().values() for extension in kind.extensions}


def tasks() -> tuple[str, ...]:
    return tuple(task for kind in kinds().values() for task in kind.tasks)


def built_in() -> set[str]:
    """The names of the models that start from random weights."""
    return {kind.shape for kind in kinds().values()}


@functools.cache
def estimators() -> dict[str, Estimator]:
    """The estimators of all kinds by name."""
    return {e.name: e for kind in kinds().values() for e in kind.estimators}


def restored(description: dict) -> "Target":
    """The target that a model describes. Raises KeyError, TypeError or ValueError if no kind has such a target."""
    targets = {target.key: target for kind in kinds().values() for target in kind.targets}
    key = next(key for key in (*targets, "") if key in description or not key)
    return targets[key].restored(description)
