"""Pauses Python's cyclic garbage collector."""

import contextlib
import gc


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
