"""python -m trainer.tests.zoo [--docs] [--damage TIMES] [PART ...]: read the rows whose names contain a PART (all without one) and print what became
of them. With --damage, their files are damaged before, in TIMES ways each, and what crashed is printed."""

import argparse
import contextlib
import io
import sys
import tempfile
from pathlib import Path

from trainer.tests import zoo
from trainer.tests.zoo import damage, page, reading
from trainer.tests.zoo.row import Row


def main() -> int:
    """The exit status: 0 where every row came out as expected."""
    parser = argparse.ArgumentParser(prog="python -m trainer.tests.zoo")
    parser.add_argument("--docs", action="store_true")
    parser.add_argument("--damage", type=int, default=0, metavar="TIMES")
    parser.add_argument("parts", nargs="*", metavar="PART")
    asked = parser.parse_args()
    if asked.docs:
        page.FILE.write_text(page.text(zoo.topics()), encoding="utf-8")
    chosen = [row for row in zoo.rows() if not asked.parts or any(part in row.name for part in asked.parts)]
    if asked.damage:
        good, tried = _damage(chosen, asked.damage), len(chosen) * asked.damage
    else:
        good, tried = _read(chosen), len(chosen)
    print(f"{good} of {tried}")
    return int(good < tried)


def _read(chosen: list[Row]) -> int:
    """Print what became of each row, and return how many came out as expected."""
    good = 0
    for row in chosen:
        with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(io.StringIO()):
            outcome = reading.read(row, Path(folder))
            lacking = reading.differences(row, outcome)
        good += not lacking
        print(f"{'ok  ' if not lacking else 'FAIL'} {row.name}: {outcome}\n     expected: {row.outcome}")
        for line in lacking:
            print(f"     {line}")
    return good


def _damage(chosen: list[Row], times: int) -> int:
    """Print what crashed, and return how many readings did not."""
    good = 0
    for row in chosen:
        for seed in range(times):
            with tempfile.TemporaryDirectory() as folder:
                crashed = damage.crash(row, seed, Path(folder))
            good += not crashed
            if crashed:
                print(f"CRASH {row.name}, damage {seed}:\n{crashed}")
    return good


if __name__ == "__main__":
    sys.exit(main())
