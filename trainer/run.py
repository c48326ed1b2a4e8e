"""The driver: from spec.json to result.json or error.json.

Exit codes: 0 done, 2 the user must change something, 1 anything else. Only light modules are imported here; the launcher's
workers import torch and transformers while this process reads and encodes the data.
"""

import os
import shutil
import sys
import time
import traceback
from pathlib import Path

from trainer import catalogue, export, files, launch, log, spec as specs
from trainer.errors import UserError, as_user_error, one_line
from trainer.events import Events
from trainer.spec import Spec
from trainer.work import ENVIRONMENT

OK, FAULT, USER = 0, 1, 2


def run(spec_path: str, launcher: str) -> int:
    """Carry out the run of ``spec_path`` and return the exit code. Run again after success it does nothing."""
    os.environ.update(ENVIRONMENT)
    spec = specs.load(Path(spec_path))
    if export.already_done(spec):
        print(f"{spec.run} is already done.")
        return OK
    with log.copied_to(spec.folder / "log.txt"):
        _clear(spec)
        events = Events(spec.folder / "events.jsonl", spec.attempt)
        try:
            _run(spec, launcher, events)
        except Exception as e:
            return _failed(spec, events, e)
    return OK


def _run(spec: Spec, name: str, events: Events) -> None:
    began = time.monotonic()
    events.phase("start", "The training program is running.")
    specs.check_task(spec.parameters.task)
    base = catalogue.choose(spec.models, spec.parameters.model)
    launcher = launch.create(name, spec.parameters, base, sum(i.size for i in spec.inputs), events)
    try:
        launcher.start()
        events.phase("prepare", "Reading the data.")
        from trainer import dataset, plan  # numpy and tokenizers, while the workers import

        data = dataset.load(spec, events)
        prepared = plan.make(spec, data, base, events)
        outcome = launcher.train(prepared.plan)
        events.phase("export", "Writing the model, the metrics and the predictions.")
        outcome.versions["ray"] = _ray_version()
        export.complete(spec, data, prepared, outcome, launcher.workers, events)
        events.done(time.monotonic() - began)
    finally:
        launcher.close()


def _clear(spec: Spec) -> None:
    """Remove what an earlier attempt left, so that nothing of it can be taken for this one's. Its events and log stay."""
    for name in ("error.json", "result.json"):
        (spec.folder / name).unlink(missing_ok=True)
    for name in ("out", "checkpoints"):
        shutil.rmtree(spec.folder / name, ignore_errors=True)


def _failed(spec: Spec, events: Events, error: Exception) -> int:
    """Write error.json, as well as the disk allows, and say in one line what happened."""
    user = as_user_error(error, str(spec.folder))
    if user is None:
        traceback.print_exc()
    shown = user or UserError(
        "internal",
        f"The training program stopped because of an unexpected fault ({type(error).__name__}).",
        "Try again; if it happens again, send the log of this run to the administrator.",
        one_line(str(error), 300),
    )
    try:
        events.error(shown)
        document = {"schema": 1, "run": spec.run, "attempt": spec.attempt, **shown.fields(), "user": user is not None}
        files.write_json(spec.folder / "error.json", document)
    except OSError as e:
        print(f"error.json could not be written: {e}", file=sys.stderr)
    print(f"Error: {shown}", file=sys.stderr, flush=True)
    return USER if user else FAULT


def _ray_version() -> str:
    from importlib.metadata import version

    return version("ray")
