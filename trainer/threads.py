"""The threads of the libraries below NumPy, SciPy and scikit-learn."""

import functools
import sys
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from threadpoolctl import ThreadpoolController


def one() -> AbstractContextManager:
    """With it, all libraries that are loaded compute with one thread."""
    return _found(len(sys.modules)).limit(limits=1)


def one_of_blas() -> AbstractContextManager:
    """With it, BLAS computes with one thread, so that sums do not depend on the number of cores."""
    return _found(len(sys.modules)).select(internal_api="openblas").limit(limits=1)


@functools.lru_cache(maxsize=1)
def _found(modules: int) -> "ThreadpoolController":
    """The libraries of this process. To look for them takes milliseconds, and they only change when something is imported: ``modules`` is the
    number of modules."""
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()
