"""The driver: from spec.json to result.json or error.json.

Exit codes: 0 done, 2 the user must change something, 1 any other error, 75 another start has taken over, 143 terminated. Only light
modules are imported here; the workers import torch and transformers while this process reads and encodes the data.
"""

import os
import sys
import time
import traceback
from dataclasses import replace
from pathlib import Path

from trainer import export, gc_pause, termination
from trainer.config import settings as options, spec as specs
from trainer.config.spec import Spec
from trainer.core import registry
from trainer.core.apart import Apart
from trainer.core.kind import Kind
from trainer.core.plan import CHECKPOINTS, INDEX
from trainer.environment import ENVIRONMENT
from trainer.errors import Paused, UserError, as_user_error, one_line
from trainer.models import catalogue
from trainer.run_folder import files, lease as leases, log, stop
from trainer.run_folder.events import Events
from trainer.run_folder.lease import Lease, LeaseLost
from trainer.search import space
from trainer.termination import Terminated
from trainer.training import candidates, carry_out as training
from trainer.training.workers import Workers

OK, FAULT, USER, ENDED = 0, 1, 2, 143
ERROR = "error.json"


def run(spec_path: str, launcher: str) -> int:
    """Carry out the run of ``spec_path`` and return the exit code. After a success, running it again does nothing."""
    with termination.listening():
        return _run(spec_path, launcher)
    return ENDED


def _run(spec_path: str, launcher: str) -> int:
    os.environ.update(ENVIRONMENT)
    files.share()
    spec = specs.load(Path(spec_path))
    if export.already_done(spec):
        print(f"{spec.run} is already done.")
        return OK
    with log.copied_to(spec.folder / "log.txt"):
        try:
            lease = leases.take(spec.folder / specs.WORK, spec.attempt, keep="tree" if spec.kind == "script" else "")
            with lease.watched():
                return _carry_out(replace(spec, work=lease.folder), launcher, lease)
        except LeaseLost as e:
            print(e, flush=True)
            return leases.LEASE_LOST
        except OSError as e:  # no folder can be created there, so not even error.json can be written
            print(f"Error: {as_user_error(e, str(spec.folder)) or e}", file=sys.stderr, flush=True)
            return FAULT


def _carry_out(spec: Spec, launcher: str, lease: Lease) -> int:
    """Do what the spec says, as the holder of the lease."""
    events = Events(spec.folder / "events.jsonl", spec.attempt, lease)
    code, began = OK, time.monotonic()
    try:
        if not export.already_done(spec):  # an earlier start may have finished in the meantime
            _clear(spec, lease)
            {"train": _train, "predict": _predict, "script": _script}[spec.kind](spec, launcher, events, began)
            events.done(time.monotonic() - began)
    except Paused:
        return ENDED
    except Exception as e:
        if termination.is_requested():
            raise Terminated from e
        lease.check()  # a file may be missing because the lease is lost
        lease.end()  # on a full disk, this frees the space for error.json
        code = _failed(spec, events, e)
    lease.end()
    return code


def _train(spec: Spec, name: str, events: Events, began: float) -> None:
    events.phase("start", "The training program is running.")
    settings = options.of(spec, events)
    if space.is_wanted(settings):
        space.check(settings)
        if settings.num_workers > 1:
            events.decision("workers", 1, f"A search uses one worker instead of {settings.num_workers}.")
        settings = settings.with_chosen(num_workers=1)
    begun = (spec.folder / CHECKPOINTS / INDEX).exists()
    likely = _likely_kind(spec, settings)
    workers = Workers(name, spec, events)
    try:
        stop.check(spec.folder)
        settings = workers.request(settings, candidates.choose(spec.models, settings, likely, settings.task, begun).network, likely)
        events.phase("prepare", "Reading the data.")
        with gc_pause.importing():  # while the workers import
            from trainer.data import claims, sources
            from trainer.data.checks import Checks

        checks = Checks(events)
        claim = claims.choose(spec, sources.find(spec, settings.data_file, events), settings, checks, registry.kinds().values())
        options.warn_of_other_kinds(settings, claim.kind.name, claim.kind.takes_options, events)
        claim.kind.train(training.Run(spec, settings, events, checks, workers, began, begun), claim)
    finally:
        workers.close()


def _predict(spec: Spec, name: str, events: Events, began: float) -> None:
    from trainer import predict

    events.phase("start", "The prediction program is running.")
    settings = options.of(spec, events)
    saved = predict.find(spec, settings)
    if saved.kind.answers_by_one_worker:
        settings = settings.with_chosen(num_workers=1)
    workers = Workers(name, spec, events)
    try:
        stop.check(spec.folder)
        settings = workers.request(settings, None if saved.needs_no_worker else saved.base, saved.kind)
        events.phase("prepare", "Reading the data.")
        launcher = workers.later(settings, saved.kind) if saved.needs_no_worker and isinstance(saved.kind, Apart) else workers.launcher
        predict.run(spec, settings, saved, launcher, events, began)
    finally:
        workers.close()


def _script(spec: Spec, name: str, events: Events, began: float) -> None:
    from trainer.script import driver

    driver.run(spec, name, events, began)


def _likely_kind(spec: Spec, settings) -> Kind:
    """The kind of data by the settings, else by the files: good enough to choose what the workers import in advance."""
    kinds = registry.kinds()
    by_model = {kind.shape: kind for kind in reversed(kinds.values())} | {b.name: kinds.get(b.kind) for b in catalogue.installed(spec.models)}
    by_model |= {e.name: kinds[e.kind] for e in registry.estimators().values()}
    if (kind := by_model.get(settings.model) or registry.of_task(settings.task)) is not None:
        return kind
    return max(kinds.values(), key=lambda k: k.likelihood(spec.inputs))


def _clear(spec: Spec, lease: Lease) -> None:
    """Remove the results of an earlier start. Its events, log and checkpoints remain."""
    for name in (ERROR, export.RESULT, export.PARTIAL, export.OUT):
        lease.remove(spec.folder / name)
    stop.clear(spec.folder)


def _failed(spec: Spec, events: Events, error: Exception) -> int:
    """Write error.json, if the disk allows it, and print what happened in one line."""
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
