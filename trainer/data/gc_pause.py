"""Python's collector of cycles, and when it is in the way."""

import contextlib
import gc


@contextlib.contextmanager
def paused():
    """Rows are millions of objects without a cycle, and the collector would walk through all of them again and again."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()
