"""Scores of trainings on annotated pictures that you have, as one table: python objects.py FOLDER... [--seeds 0,1,2] [--param epochs=25].

Each FOLDER is a dataset with annotations in a format that docs/objects.md names. Each line is a whole training by the command of the trainer:
the scores on the test pictures with their 95 % intervals, those of the best simple model, and the minutes.
"""

import argparse
import hashlib
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--seeds", default="0")
    parser.add_argument("--param", action="append", default=[])
    args = parser.parse_args()
    print("| set | seed | AP50 | AP50:95 | count error | best simple AP50 | minutes |\n|---|---|---|---|---|---|---|")
    for folder in args.folders:
        for seed in (int(s) for s in args.seeds.split(",")):
            print(line(folder, seed, trained(folder, seed, dict(p.split("=", 1) for p in args.param))), flush=True)


def line(folder: Path, seed: int, result: dict) -> str:
    test = result["metrics"]["test"]
    cells = [f"{test[n]['value']:.3f} ({test[n]['low']:.3f} to {test[n]['high']:.3f})" for n in ("ap50", "ap", "count_error")]
    simple = max(b["test"]["ap50"]["value"] for b in result["metrics"]["baselines"])
    return f"| {folder.name} | {seed} | {' | '.join(cells)} | {simple:.3f} | {result['seconds'] / 60:.1f} |"


def trained(folder: Path, seed: int, parameters: dict[str, str]) -> dict:
    """The result of one training. Raises subprocess.CalledProcessError."""
    with tempfile.TemporaryDirectory(prefix="objects-") as temporary:
        run = Path(temporary) / "runs" / "ft-bench"
        (run / "inputs").mkdir(parents=True)
        inputs = []
        for number, file in enumerate(sorted(f for f in folder.rglob("*") if f.is_file())):
            name, kept = file.relative_to(folder).as_posix(), f"{number}-{file.name}"
            os.symlink(file.resolve(), run / "inputs" / kept)
            digest = hashlib.sha256(file.read_bytes()).hexdigest()
            inputs.append({"id": str(number), "name": name, "path": kept, "size": file.stat().st_size, "sha256": digest})
        typed = {name: int(value) if value.isdigit() else value for name, value in parameters.items()}
        spec = {
            "schema": 2, "run": run.name, "attempt": 1, "kind": "train", "dataset": {"id": "d", "name": folder.name}, "inputs": inputs,
            "parameters": {"seed": seed, **typed}, "defaults": {"max_minutes": 60},
        }  # fmt: skip
        (run / "spec.json").write_text(json.dumps(spec))
        command = [sys.executable, "-m", "trainer", "run", "--launcher", "local", str(run / "spec.json")]
        subprocess.run(command, cwd=ROOT, check=True, stdout=sys.stderr)
        return json.loads((run / "result.json").read_text())


if __name__ == "__main__":
    main()
