"""Proves that a change of the trainer leaves the trained weights, and models and runs of the version before, as they were.

python bits.py record --trainer BEFORE --out OLD               everything that the checkout BEFORE does: run, interrupt, predict, champion
python bits.py check --trainer AFTER --models OLD --out NEW    the same with the checkout AFTER, compared with OLD; exits 1 if anything differs

The parts: ``run`` trains every run of runs.py, ``predict`` asks the models in OLD, ``champion`` trains beside them, ``interrupt`` ends
runs at a checkpoint, and ``resume`` goes on with them. Each writes NEW/PART.json, which ``compare`` reads. The datasets come from
this checkout, so that both trainers get the same bytes.
"""

import argparse
import json
import shutil
import signal
import sys
import time
from pathlib import Path

import base_models
import checkout
from runs import RUNS, Run

INTERRUPTED = 143  # exit code of a run that has saved a checkpoint because it was asked to end
_NOT_COMPARED = ("seconds", "weights")  # of weights, the tensors are compared


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    for name in (*PARTS, "record", "check"):
        command = commands.add_parser(name)
        command.add_argument("--trainer", type=Path, required=True, help="checkout whose trainer runs")
        command.add_argument("--out", type=Path, required=True, help="folder for the run folders and PART.json")
        command.add_argument("--models", type=Path, help="folder of an earlier record; default: that of --out")
        command.add_argument("--only", default="", help="names of runs, separated by commas")
        command.add_argument("--json", type=Path, help="where to write what is otherwise PART.json")
    compared = commands.add_parser("compare")
    compared.add_argument("before", type=Path)
    compared.add_argument("after", type=Path)
    args = parser.parse_args()
    if args.command == "compare":
        return compare(json.loads(args.before.read_text()), json.loads(args.after.read_text()))
    args.trainer, args.out = args.trainer.resolve(), args.out.resolve()
    args.models = args.models.resolve() if args.models else args.out
    if args.command == "record":
        return max(_part(name, args) for name in ("run", "interrupt", "predict", "champion"))
    if args.command == "check":
        return max(_part(name, args) for name in ("run", "predict", "champion", "resume"))
    return _part(args.command, args)


def _part(name: str, args) -> int:
    """Carry out a part, write its JSON, and compare it with the part of the earlier record if there is one."""
    chosen = args.only.split(",") if args.only else list(RUNS)
    done = {}
    print(f"{name}:", flush=True)
    for run in chosen:
        if (found := PARTS[name](args, run, RUNS[run])) is not None:
            done[run] = found
            print(_line(run, found), flush=True)
    file = args.json or args.out / f"{name}.json"
    file.write_text(json.dumps(done, indent=1) + "\n")
    earlier = args.models / f"{'run' if name == 'resume' else name}.json"
    if args.models == args.out and name != "resume":
        if failed := [run for run, found in done.items() if found["code"] not in (0, INTERRUPTED)]:
            print(f"{name}: these ended with an error, which is recorded too: {', '.join(failed)}", flush=True)
        return 0
    return compare({run: found for run, found in json.loads(earlier.read_text()).items() if run in done}, done)


def _line(name: str, found: dict) -> str:
    weights = " ".join(f"{file}={value[:16]}" for file, value in found.get("weights", {}).items())
    predictions = f"predictions={found['predictions'][:16]}" if "predictions" in found else ""
    return f"{name:22} {found['code']!s:>3} {weights} {predictions} {found['seconds']} s"


def compare(before: dict, after: dict) -> int:
    """Print a line for each run: same, or what differs. 1 if anything but the time differs."""
    different = 0
    for name in before | after:
        old, new = before.get(name, {}), after.get(name, {})
        fields = [field for field in old | new if field not in _NOT_COMPARED and old.get(field) != new.get(field)]
        different += bool(fields)
        other_bytes = (
            "" if fields or old.get("weights") == new.get("weights") else " (tensors and metadata; the names in a header are in another order)"
        )
        print(f"{name:22} {f'same{other_bytes}' if not fields else '; '.join(_difference(f, old.get(f), new.get(f)) for f in fields)}")
    print(f"{len(before | after) - different} same, {different} different", flush=True)
    return int(different > 0)


def _difference(field: str, old, new) -> str:
    if isinstance(old, dict) and isinstance(new, dict):
        return f"{field}: {', '.join(key for key in old | new if old.get(key) != new.get(key))}"
    return f"{field} {str(old)[:16] or 'none'} -> {str(new)[:16] or 'none'}"


def train(args, name: str, run: Run) -> dict:
    spec = checkout.write_spec(args.trainer, _new_folder(args.out / "run", name, run), "train", run.settings, run.files())
    return checkout.carry_out(args.trainer, spec, run.launcher)


def predict(args, name: str, run: Run) -> dict:
    folder = _new_folder(args.out / "predict", name, run)
    spec = checkout.write_spec(
        args.trainer, folder, "predict", {"max_new_tokens": 5}, (run.asked or run.files)(), {"model": _version(args, name, folder)}
    )
    found = checkout.carry_out(args.trainer, spec, "local")
    return {field: value for field, value in found.items() if field not in ("weights", "tensors")}


def champion(args, name: str, run: Run) -> dict | None:
    """Train the challenger, and describe how the earlier model compares with it: on which figures, or why it cannot be compared."""
    if not run.challenger:
        return None
    challenger = RUNS[run.challenger]
    folder = _new_folder(args.out / "champion", name, run)
    if challenger.base and challenger.base != run.base:
        base_models.install(folder.parent.parent / "models", challenger.base)
    spec = checkout.write_spec(args.trainer, folder, "train", challenger.settings, run.files(), {"champion": _version(args, name, folder)})
    found = checkout.carry_out(args.trainer, spec, "local")
    result = folder / "result.json"
    return {**found, "champion": json.loads(result.read_text())["champion"] if result.exists() else {}}


def interrupt(args, name: str, run: Run) -> dict | None:
    """Ask the run to end once its first checkpoint is there."""
    if not run.interrupted:
        return None
    spec = checkout.write_spec(args.trainer, _new_folder(args.out / "interrupt", name, run), "train", run.settings, run.files())
    began = time.monotonic()
    process = checkout.start(args.trainer, spec, run.launcher)
    while process.poll() is None and not list((spec.parent / "checkpoints").rglob("index.json")):
        time.sleep(0.01)
    process.send_signal(signal.SIGTERM)
    code = process.wait(checkout.TIMEOUT_SECONDS)
    if code != INTERRUPTED:
        raise SystemExit(f"{name} ended with {code} instead of {INTERRUPTED}: see {spec.parent}. A run that had ended already is too short.")
    return {"code": code, "seconds": round(time.monotonic() - began, 1)}


def resume(args, name: str, run: Run) -> dict | None:
    """Go on with a copy of the interrupted run of the earlier record."""
    if not run.interrupted:
        return None
    volume = args.out / "resume" / name
    shutil.rmtree(volume, ignore_errors=True)
    shutil.copytree(args.models / "interrupt" / name, volume)
    folder = volume / "runs" / name
    found = checkout.carry_out(args.trainer, folder / "spec.json", run.launcher)
    result = folder / "result.json"
    if result.exists() and not json.loads(result.read_text())["training"]["resumed"]:
        return {**found, "code": "began again"}
    return found


def _new_folder(part: Path, name: str, run: Run) -> Path:
    """An empty run folder on a volume of its own, beside the base model that the run needs."""
    shutil.rmtree(part / name, ignore_errors=True)
    folder = part / name / "runs" / name
    folder.mkdir(parents=True)
    if run.base:
        base_models.install(part / name / "models", run.base)
    return folder


def _version(args, name: str, folder: Path) -> dict:
    """Put the model of the earlier record on the volume of ``folder``, as an entry of spec.json."""
    shutil.copytree(args.models / "run" / name / "runs" / name / "out" / "model", folder.parent.parent / "registry" / name)
    return {"path": f"../../registry/{name}", "run": name, "name": name, "version": 1}


PARTS = {"run": train, "predict": predict, "champion": champion, "interrupt": interrupt, "resume": resume}

if __name__ == "__main__":
    sys.exit(main())
