"""Reads a pickle of plain values: dicts, lists, tuples, texts, bytes, numbers, truth values and None.

A pickle is a program. Its operations are listed first, without carrying any out, and one that could find a class, call something or
take memory that the file does not have is refused. What is left only builds plain values.
"""

import io
import pickle
import pickletools

MAX_BYTES = 32 << 20

# fmt: off
_ALLOWED = frozenset(
    """PROTO FRAME STOP MARK POP POP_MARK NONE NEWTRUE NEWFALSE INT BININT BININT1 BININT2 LONG LONG1 LONG4 FLOAT BINFLOAT
    STRING BINSTRING SHORT_BINSTRING BINBYTES SHORT_BINBYTES BINBYTES8 UNICODE BINUNICODE SHORT_BINUNICODE BINUNICODE8
    EMPTY_DICT DICT SETITEM SETITEMS EMPTY_LIST LIST APPEND APPENDS EMPTY_TUPLE TUPLE TUPLE1 TUPLE2 TUPLE3
    PUT BINPUT LONG_BINPUT MEMOIZE GET BINGET LONG_BINGET""".split()
)
# fmt: on
_PUTS = ("PUT", "BINPUT", "LONG_BINPUT")  # they name a place in a list that grows up to it


class NotPlain(Exception):
    """The file is no pickle of plain values."""


class _Plain(pickle.Unpickler):
    def find_class(self, module_name: str, global_name: str):
        raise NotPlain

    def persistent_load(self, pid):
        raise NotPlain


def read(content: bytes):
    """The value in ``content``. Raises NotPlain for anything that is not a pickle of plain values. Runs no code of the file."""
    if len(content) > MAX_BYTES:
        raise NotPlain
    try:
        for count, (operation, argument, _) in enumerate(pickletools.genops(content)):
            if operation.name not in _ALLOWED or (operation.name in _PUTS and not 0 <= int(argument) <= count):
                raise NotPlain
        return _Plain(io.BytesIO(content), encoding="utf-8").load()
    except NotPlain:
        raise
    except Exception as e:  # what a damaged pickle raises is not documented: at least eight kinds of errors
        raise NotPlain from e
