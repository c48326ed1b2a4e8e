"""The zoo: small made data sets as people have them, and what the product must do with each.

One module for each topic, with a tuple ``ROWS``; all modules here are found by themselves. Each row that holds a rule has a counterexample,
which looks alike and must not trigger the rule. ``python -m trainer.tests.zoo`` reads all rows and prints what became of them; with
``--docs`` it writes docs/zoo.md as well.

docs/zoo.md is written from the rows. Where two branches added rows, a merge conflicts in it: take either side and write it again.
"""

import collections
import functools
import importlib
import pkgutil

from trainer.tests.zoo.row import Row


@functools.cache
def topics() -> dict[str, tuple[Row, ...]]:
    """The rows of each module, by its name. Raises ValueError if two rows have the same name."""
    modules = sorted(m.name for m in pkgutil.iter_modules(__path__) if not m.name.startswith("_"))
    found = {name: getattr(importlib.import_module(f"{__name__}.{name}"), "ROWS", ()) for name in modules}
    counts = collections.Counter(row.name for listed in found.values() for row in listed)
    if twice := sorted(name for name, count in counts.items() if count > 1):
        raise ValueError(f"several rows of the zoo are called {', '.join(twice)}")
    return {name: tuple(listed) for name, listed in found.items() if listed}


def rows() -> tuple[Row, ...]:
    """The rows of all modules."""
    return tuple(row for listed in topics().values() for row in listed)
