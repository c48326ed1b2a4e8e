"""Trains on a made table that is larger than the memory it may take, and measures memory and bytes: make bench-large.

A CSV of twelve numbers and two categories, or Parquet files of 39 numbers of which two are read, is made in FOLDER and kept there for the next time.
The trainer reads it in a process of its own, as root in a control group with a LIMIT of GiB. Printed are the bytes of the columns that are read, the
bytes that the process has read from files and from the disk, with those that it maps, and for the last words that it said the most memory until the
next ones: its own, and with mapped files.
"""

import argparse
import json
import os
import subprocess
import sys
import time
from pathlib import Path

import numpy
import pyarrow
import pyarrow.csv
import pyarrow.parquet

GROUP = 500_000  # rows that are made at once, and of a row group
ROW_BYTES = {"csv": 108, "parquet": 312}  # about
GROUPS_V1, GROUPS_V2 = Path("/sys/fs/cgroup/memory"), Path("/sys/fs/cgroup")
ASKED = {"csv": {"label_column": "y"}, "parquet": {"label_column": "y", "columns": "c3,c17"}}


def made(folder: Path, form: str, gigabytes: float, files: int) -> list[Path]:
    """The files of the table, which are made where they are not there."""
    folder.mkdir(parents=True, exist_ok=True)
    found = [folder / f"part-{gigabytes:g}-{files}-{i}.{form}" for i in range(files)]
    for place, file in enumerate(found):
        if file.exists():
            continue
        draw, part = numpy.random.default_rng(place), file.with_suffix(".part")
        rows = int(gigabytes * 1e9 / files / ROW_BYTES[form])
        with part.open("wb") as out:
            write = _parquet if form == "parquet" else _csv
            write(out, (min(GROUP, rows - i) for i in range(0, rows, GROUP)), draw)
        part.rename(file)
    return found


def _parquet(out, sizes, draw: numpy.random.Generator) -> None:
    writer = None
    for size in sizes:
        columns = draw.random((39, size))
        label = numpy.where(columns[3] * 2 + columns[17] - 1.5 + 0.3 * draw.standard_normal(size) > 0, "yes", "no")
        table = pyarrow.table([*map(pyarrow.array, columns), pyarrow.array(label)], [*(f"c{i}" for i in range(39)), "y"])
        writer = writer or pyarrow.parquet.ParquetWriter(out, table.schema, use_dictionary=["y"])
        writer.write_table(table, row_group_size=GROUP)
    writer.close()


def _csv(out, sizes, draw: numpy.random.Generator) -> None:
    head = True
    for size in sizes:
        numbers = numpy.round(draw.standard_normal((12, size)), 4)
        kind, town = draw.integers(0, 6, size), draw.integers(0, 40, size)
        label = numpy.where(numbers[0] + 0.5 * numbers[1] * numbers[2] + 0.3 * (kind == 2) + 0.5 * draw.standard_normal(size) > 0, "yes", "no")
        words = numpy.char.add("kind", kind.astype(str)), numpy.char.add("town", town.astype(str)), label
        table = pyarrow.table([*map(pyarrow.array, (*numbers, *words))], [*(f"x{i}" for i in range(12)), "kind", "town", "y"])
        pyarrow.csv.write_csv(table, out, pyarrow.csv.WriteOptions(include_header=head, quoting_style="none"))
        head = False


def column_bytes(files: list[Path], columns: set[str]) -> int:
    """What these columns take in Parquet files."""
    groups = [m.row_group(i) for m in map(pyarrow.parquet.read_metadata, files) for i in range(m.num_row_groups)]
    return sum(c.total_compressed_size for g in groups for c in map(g.column, range(g.num_columns)) if c.path_in_schema in columns)


def limited(gigabytes: float) -> Path | None:
    """A new control group with this limit; None without one."""
    if not gigabytes:
        return None
    old = (GROUPS_V1 / "memory.limit_in_bytes").exists()
    group = (GROUPS_V1 if old else GROUPS_V2) / f"bench-large-{os.getpid()}"
    group.mkdir()
    (group / ("memory.limit_in_bytes" if old else "memory.max")).write_text(str(int(gigabytes * (1 << 30))))
    return group


def train(folder: Path, files: list[Path], parameters: dict, group: Path | None) -> None:
    """One training in a process of its own, and what it took; ends the program where it fails."""
    run = folder / "runs" / f"ft-{os.getpid()}"
    (run / "inputs").mkdir(parents=True)
    inputs = []
    for i, file in enumerate(files):
        (run / "inputs" / str(i)).hardlink_to(file)
        inputs.append({"id": str(i), "name": f"part-{i}{file.suffix}", "path": str(i), "size": file.stat().st_size, "sha256": "0" * 64})
    spec = {
        "schema": 2, "run": run.name, "attempt": 1, "kind": "train", "dataset": {"id": "d", "name": "rows"}, "inputs": inputs,
        "parameters": parameters, "defaults": {"max_minutes": 600},
    }  # fmt: skip
    (run / "spec.json").write_text(json.dumps(spec))

    def enter() -> None:
        if group is not None:
            (group / "cgroup.procs").write_text(str(os.getpid()))

    with (run / "log").open("w") as log:
        process = subprocess.Popen(
            [sys.executable, "-m", "trainer", "run", str(run / "spec.json"), "--launcher", "local"], stdout=log, stderr=log, preexec_fn=enter
        )
        watch(process, run / "events.jsonl")
    print((run / "log").read_text()[-1500:])
    if group is not None:
        peak = next(p for p in (group / "memory.max_usage_in_bytes", group / "memory.peak") if p.exists())
        print(f"the most memory of the group, with files that Linux kept: {int(peak.read_text()) / 1e9:.2f} GB")
        group.rmdir()
    if process.returncode:
        sys.exit(f"the training ended with {process.returncode}")


def watch(process: subprocess.Popen, events: Path) -> None:
    """Print the most memory of each phase, and the bytes that were read, until the process has ended."""
    began, words, most, read = time.monotonic(), "start", {"Anonymous": 0, "Pss": 0}, {"rchar": 0, "read_bytes": 0}
    every = dict(most)
    while process.poll() is None:
        for name, size in memory(process.pid).items():
            most[name], every[name] = max(most[name], size), max(every[name], size)
        read |= bytes_read(process.pid)
        now = last_words(events) or words
        if now != words:
            _say(time.monotonic() - began, words, most, read)
            words, most = now, dict.fromkeys(most, 0)
        time.sleep(0.25)
    _say(time.monotonic() - began, words, most, read)
    _say(time.monotonic() - began, "in all", every, read)


def _say(seconds: float, words: str, most: dict[str, int], read: dict[str, int]) -> None:
    print(
        f"{seconds:7.0f} s  own {most['Anonymous'] / 1e9:5.2f} GB, with files {most['Pss'] / 1e9:5.2f} GB, read {read['rchar'] / 1e9:6.3f} GB, "
        f"from the disk {read['read_bytes'] / 1e9:6.2f} GB  {words}",
        flush=True,
    )


def memory(process: int) -> dict[str, int]:
    """The bytes of its own memory, and those with mapped files."""
    try:
        lines = Path(f"/proc/{process}/smaps_rollup").read_text().splitlines()[1:]
    except OSError:
        return {}
    sizes = {name: 1024 * int(rest.split()[0]) for name, _, rest in (line.partition(":") for line in lines)}
    return {name: sizes.get(name, 0) for name in ("Anonymous", "Pss")}


def bytes_read(process: int) -> dict[str, int]:
    """What the process has read of files without those that it maps (``rchar``), and from the disk for all of them (``read_bytes``)."""
    try:
        lines = Path(f"/proc/{process}/io").read_text().splitlines()
    except OSError:
        return {}
    return {name: int(size) for name, _, size in (line.partition(": ") for line in lines) if name in ("rchar", "read_bytes")}


def last_words(events: Path) -> str:
    try:
        last = json.loads(events.read_text().splitlines()[-1])
    except (OSError, IndexError, ValueError):
        return ""
    return " ".join(str(last.get(name, "")) for name in ("type", "what", "name", "stage", "text"))[:100].strip()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--form", choices=sorted(ROW_BYTES), default="parquet")
    parser.add_argument("--gigabytes", type=float, default=10)
    parser.add_argument("--files", type=int, default=1)
    parser.add_argument("--limit", type=float, default=0, help="GiB of memory; 0 for no limit")
    parser.add_argument("--folder", type=Path, default=Path("/tmp/large-tables"))
    parser.add_argument("--model", default="auto")
    asked = parser.parse_args()
    files = made(asked.folder, asked.form, asked.gigabytes, asked.files)
    if asked.form == "parquet":
        own, every = column_bytes(files, {"c3", "c17", "y"}), sum(f.stat().st_size for f in files)
        print(f"the columns that are read have {own / 1e9:.3f} GB of {every / 1e9:.2f}", flush=True)
    train(asked.folder, files, {**ASKED[asked.form], "model": asked.model}, limited(asked.limit))


if __name__ == "__main__":
    main()
