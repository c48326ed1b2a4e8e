"""Pauses Python's cyclic garbage collector."""

import atexit
import contextlib
import gc

atexit.register(gc.unfreeze)  # some libraries check at the end that their objects are gone


@contextlib.contextmanager
def paused():
    """Turn the collector off while rows are read: it would scan millions of objects without cycles again and again."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


@contextlib.contextmanager
def importing():
    """Turn the collector off while modules are imported, and let it pass over them from then on: they stay as long as the process.

    It takes a fifth of the processor time for importing torch, transformers and scikit-learn otherwise.
    """
    with paused():
        yield
        gc.freeze()
