"""Prints the columns of a file of Arrow, Feather or ORC as JSON lines. Runs in a process of its own with limits: it may unpack to gigabytes.

Arguments and lines are those of ``arrays_child``.
"""

import json
import os
import sys

os.environ["ARROW_DEFAULT_MEMORY_POOL"] = "system"  # the others reserve more addresses than this process may have

import pyarrow
import pyarrow.feather
import pyarrow.ipc
import pyarrow.orc


def batches(path: str):
    """The parts of the table."""
    with open(path, "rb") as file:
        head = file.read(8)
    if head.startswith(b"FEA1"):
        yield from pyarrow.feather.read_table(path, memory_map=False).to_batches()
    elif head.startswith(b"ORC"):
        source = pyarrow.orc.ORCFile(path)
        yield from (source.read_stripe(i) for i in range(source.nstripes))
    elif head.startswith(b"ARROW1"):
        with pyarrow.ipc.open_file(path) as source:
            yield from (source.get_batch(i) for i in range(source.num_record_batches))
    else:
        with pyarrow.ipc.open_stream(path) as source:
            yield from source


def main(path: str, cells: int) -> None:
    columns: dict[int, tuple[str, list]] = {}  # by their places: two may have one name
    skipped: set[str] = set()
    rows = 0
    for part in batches(path):
        table = pyarrow.Table.from_batches([part]).flatten()
        rows += table.num_rows
        if rows * max(1, table.num_columns) > cells:
            say({"size": f"It has more than {cells // max(1, table.num_columns)} rows of {table.num_columns} columns."})
            return
        for place, (field, column) in enumerate(zip(table.schema, table.columns)):
            if pyarrow.types.is_binary(field.type) or pyarrow.types.is_large_binary(field.type) or pyarrow.types.is_fixed_size_binary(field.type):
                skipped.add(field.name)
            else:
                columns.setdefault(place, (field.name, []))[1].extend(column.to_pylist())
    for column in columns.values():
        say(column)
    say({"notes": [f"columns of bytes are not read: {', '.join(sorted(skipped)[:4])}"] if skipped else []})


def say(value) -> None:
    sys.stdout.write(json.dumps(value, ensure_ascii=False, default=str) + "\n")


if __name__ == "__main__":
    sys.stdout.reconfigure(encoding="utf-8", errors="replace")  # type: ignore[union-attr]
    try:
        main(sys.argv[1], int(sys.argv[2]))
    except (pyarrow.ArrowMemoryError, MemoryError):
        say({"size": "Its values take more memory than there is for them."})
    except (pyarrow.ArrowException, OSError, ValueError, OverflowError, IndexError, KeyError, TypeError) as e:
        say({"error": f"cannot be read as a file of Arrow, Feather or ORC: it may be damaged ({type(e).__name__})"})
