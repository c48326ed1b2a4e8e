"""Measures a large prediction with one worker and with two, in turn: make bench-predict [ROWS=1000000].

A table of twelve numbers and two categories is made, a model is trained on 20,000 rows of it, and bin/extractor predicts ROWS other ones on a Ray of
its own. Printed are the seconds of each run, and whether the bytes of predictions.csv are the same.
"""

import argparse
import hashlib
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

PROGRAM = str(Path(__file__).resolve().parents[2] / "bin" / "extractor")
TRAINED = 20_000


def table(file: Path, rows: int, seed: int) -> None:
    """Write a table whose label follows from its columns."""
    chance = random.Random(seed)
    file.parent.mkdir(parents=True)
    with file.open("w") as out:
        print(*(f"x{i}" for i in range(12)), "site", "kind", "label", sep=",", file=out)
        for _ in range(rows):
            numbers = [chance.gauss(0, 1) for _ in range(12)]
            site = chance.choice(("north", "south", "east", "west"))
            label = "high" if numbers[0] + numbers[1] * numbers[2] + (site == "north") > 0.3 else "low"
            print(*(f"{n:.6f}" for n in numbers), site, f"k{chance.randrange(40)}", label, sep=",", file=out)


def run(*arguments: str) -> float:
    """The seconds of one call of the program; ends this one with what it printed where it fails."""
    began = time.monotonic()
    done = subprocess.run([PROGRAM, *arguments], capture_output=True, text=True)
    if done.returncode:
        sys.exit(done.stdout + done.stderr)
    return time.monotonic() - began


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=2)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder, digests = Path(name), set()
        table(folder / "known" / "rows.csv", TRAINED, 0)
        table(folder / "new" / "rows.csv", asked.rows, 1)
        run("run", str(folder / "known"), "--out", str(folder / "model"), "--param", "label_column=label")
        seconds: dict[int, list[float]] = {1: [], 2: []}
        for turn in range(asked.rounds):
            for workers, found in seconds.items():
                out = folder / f"out-{turn}-{workers}"
                model = str(folder / "model" / "model.zip")
                found.append(
                    run("predict", str(folder / "new"), "--model", model, "--out", str(out), "--ray", "local", "--param", f"num_workers={workers}")
                )
                digests.add(hashlib.sha256((out / "predictions.csv").read_bytes()).hexdigest())
                print(f"{asked.rows:,} rows, {workers} workers: {found[-1]:.1f} s", flush=True)
        print(f"ratio {min(seconds[1]) / min(seconds[2]):.2f}, {'the same bytes' if len(digests) == 1 else 'OTHER BYTES'}")


if __name__ == "__main__":
    main()
