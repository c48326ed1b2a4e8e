"""The driver: from spec.json to result.json or error.json.

Exit codes: 0 done, 2 the user must change something, 1 anything else, 75 overtaken by another start, 143 told to end. Only light
modules are imported here; the launcher's workers import torch and transformers while this process reads and encodes the data.
"""

import os
import signal
import sys
import time
import traceback
from dataclasses import replace
from pathlib import Path

from trainer import export, launch
from trainer.config import settings as options, spec as specs
from trainer.config.kinds import SHAPES, of_task
from trainer.config.spec import Spec
from trainer.errors import Paused, UserError, as_user_error, one_line
from trainer.launch.work import ENVIRONMENT, Outcome
from trainer.plan import Plan
from trainer.run_folder import files, lease as leases, log, stop
from trainer.run_folder.events import Events
from trainer.run_folder.lease import Lease, Overtaken
from trainer.tasks import catalogue

OK, FAULT, USER, ENDED = 0, 1, 2, 143
RAY_STOP_SECONDS = 3.0  # which Ray gives a job between asking it to end and killing it, unless RAY_JOB_STOP_WAIT_TIME_S says more
ERROR = "error.json"
PAUSE_SHARE = 0.8  # of that time, for the training to save itself


class Ended(BaseException):
    """The process was told to end (SIGTERM)."""


def run(spec_path: str, launcher: str) -> int:
    """Carry out the run of ``spec_path`` and return the exit code. Run again after success it does nothing."""
    os.environ.update(ENVIRONMENT)
    files.share()
    spec = specs.load(Path(spec_path))
    if export.already_done(spec):
        print(f"{spec.run} is already done.")
        return OK
    with log.copied_to(spec.folder / "log.txt"):
        try:
            lease = leases.take(spec.folder / specs.WORK, spec.attempt)
            with lease.watched():
                return _carry_out(replace(spec, work=lease.folder), launcher, lease)
        except Overtaken as e:
            print(e, flush=True)
            return leases.OVERTAKEN
        except OSError as e:  # not even a folder can be made there, so all that can be done is to say so
            print(f"Error: {as_user_error(e, str(spec.folder)) or e}", file=sys.stderr, flush=True)
            return FAULT


def _carry_out(spec: Spec, launcher: str, lease: Lease) -> int:
    """Do what the spec says, as the start that has the lease."""
    events = Events(spec.folder / "events.jsonl", spec.attempt, lease)
    code, began = OK, time.monotonic()
    try:
        if not export.already_done(spec):  # the start before may have come to its end meanwhile
            _clear(spec, lease)
            {"train": _train, "predict": _predict}[spec.kind](spec, launcher, events, began)
            events.done(time.monotonic() - began)
    except (Ended, Paused):
        return ENDED
    except Exception as e:
        if _told_to_end(e):
            return ENDED
        lease.check()  # what is missing may just be gone together with the lease
        lease.end()  # on a full disk, what this start made leaves the room to say so
        code = _failed(spec, events, e)
    lease.end()
    return code


def _train(spec: Spec, name: str, events: Events, began: float) -> None:
    events.phase("start", "The training program is running.")
    settings = options.resolve(spec, events)
    if (source := settings.source("max_minutes")) not in (options.FORM, options.DEFAULT):  # the service knows the form only
        events.decision("max_minutes", settings.max_minutes, f"The time limit is {settings.max_minutes} minutes (source: {source}).")
    base = catalogue.choose(spec.models, settings.model, _likely_kind(spec, settings), settings.start_from)
    launcher = launch.create(name, settings, base, spec, events)
    try:
        signal.signal(signal.SIGTERM, _end)  # only now, for connecting to Ray sets a handler of its own
        stop.check(spec.folder)
        launcher.start()
        events.phase("prepare", "Reading the data.")
        from trainer import baseline, data, prepare  # numpy and tokenizers, while the workers import

        dataset = data.load(spec, settings, events)
        stop.check(spec.folder)
        base = catalogue.choose(spec.models, settings.model, dataset.kind, settings.start_from)
        prepared = prepare.make(spec, settings, dataset, base, events)
        if settings.dry_run:
            export.check(spec, settings, dataset, prepared, launcher.estimate(prepared.plan), events, began)
            return
        simple = baseline.begin(prepared, dataset)
        outcome = _trained(launcher, prepared.plan)
        events.phase("export", "Writing the model, the metrics and the predictions.")
        export.training(spec, settings, dataset, prepared, outcome, simple.result(), launcher.workers, events, began)
    finally:
        launcher.close()


def _trained(launcher, plan: Plan) -> Outcome:
    """The outcome of the training. Told to end, let it save itself before its workers go: it then goes on from its last step."""
    try:
        return launcher.train(plan)
    except BaseException as e:
        if not _told_to_end(e):
            raise
        stop.pause(Path(plan.work), PAUSE_SHARE * float(os.environ.get("RAY_JOB_STOP_WAIT_TIME_S", RAY_STOP_SECONDS)))
        raise Ended from e


def _predict(spec: Spec, name: str, events: Events, began: float) -> None:
    from trainer import predict

    events.phase("start", "The prediction program is running.")
    settings = options.resolve(spec, events)
    saved = predict.find(spec, settings)
    launcher = launch.create(name, settings, saved.base, spec, events)
    try:
        signal.signal(signal.SIGTERM, _end)
        stop.check(spec.folder)
        launcher.start()
        events.phase("prepare", "Reading the data.")
        predict.run(spec, settings, saved, launcher, events, began)
    finally:
        launcher.close()


def _likely_kind(spec: Spec, settings) -> str:
    """The kind of data by the settings, else by the names of the files: enough to choose what the workers import meanwhile."""
    models = {shape: kind for kind, shape in SHAPES.items()} | {b.name: b.kind for b in catalogue.installed(spec.models)}
    if kind := models.get(settings.model) or of_task(settings.task):
        return kind
    from trainer.data import names

    images = sum(names.extension(i.name) in names.IMAGES for i in spec.inputs)
    return "image" if 2 * images > len(spec.inputs) else "text"


def _clear(spec: Spec, lease: Lease) -> None:
    """Remove what an earlier start left, so that nothing of it can be taken for this one's. Its events, log and checkpoints stay."""
    for name in (ERROR, export.RESULT, export.OUT):
        lease.remove(spec.folder / name)
    stop.clear(spec.folder)


def _end(*_) -> None:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    raise Ended


def _told_to_end(error: BaseException | None) -> bool:
    """Whether ``Ended`` is behind ``error``: raised within Ray's compiled code, it comes out as the cause of another one."""
    while error is not None and not isinstance(error, Ended):
        error = error.__cause__ or error.__context__
    return error is not None


def _failed(spec: Spec, events: Events, error: Exception) -> int:
    """Write error.json, as well as the disk allows, and say in one line what happened."""
    user = as_user_error(error, str(spec.folder))
    if user is None:
        traceback.print_exc()
    shown = user or UserError(
        "internal",
        f"The training program stopped because of an unexpected error ({type(error).__name__}).",
        "Try again; if it happens again, send the log of this run to the administrator.",
        one_line(str(error), 300),
    )
    try:
        events.error(shown)
        document = {"schema": 1, "run": spec.run, "attempt": spec.attempt, **shown.fields(), "user": user is not None}
        Lease(spec.work).write_json(spec.folder / ERROR, document)
    except OSError as e:
        print(f"error.json could not be written: {e}", file=sys.stderr)
    print(f"Error: {shown}", file=sys.stderr, flush=True)
    return USER if user else FAULT
