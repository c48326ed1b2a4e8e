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

from trainer import candidates, export, gc_pause, launch, termination
from trainer.config import settings as options, spec as specs
from trainer.config.kinds import SHAPES, of_task
from trainer.config.settings import Settings
from trainer.config.spec import Spec
from trainer.errors import Paused, UserError, as_user_error, count, one_line, some
from trainer.estimators import ESTIMATORS
from trainer.launch.outcome import Outcome
from trainer.launch.work import ENVIRONMENT
from trainer.plan import CHECKPOINTS, INDEX, Plan
from trainer.run_folder import files, lease as leases, log, stop
from trainer.run_folder.events import Events
from trainer.run_folder.lease import Lease, LeaseLost
from trainer.search import space
from trainer.tasks import catalogue
from trainer.tasks.catalogue import Base
from trainer.tasks.target import Classes, Labels, Number
from trainer.termination import Terminated

OK, FAULT, USER, ENDED = 0, 1, 2, 143
RAY_STOP_SECONDS = 3.0  # Ray's time between SIGTERM and SIGKILL for a job, unless RAY_JOB_STOP_WAIT_TIME_S is set
ERROR = "error.json"
PAUSE_SHARE = 0.8  # of that time, for the training to save a checkpoint


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
    settings = options.resolve(spec, events)
    if (source := settings.source("max_minutes")) not in (options.FORM, options.DEFAULT):  # the service knows only the form
        events.decision("max_minutes", settings.max_minutes, f"The time limit is {settings.max_minutes} minutes (source: {source}).")
    if searches := space.is_wanted(settings):
        space.check(settings)
        if settings.num_workers > 1:
            events.decision("workers", 1, f"A search uses one worker instead of {settings.num_workers}.")
        settings = settings.with_chosen(num_workers=1)
    begun = (spec.folder / CHECKPOINTS / INDEX).exists()
    likely = candidates.choose(spec.models, settings, _likely_kind(spec, settings), settings.task, begun)
    workers = _Workers(name, spec, events)
    try:
        stop.check(spec.folder)
        settings = workers.request(settings, likely.network)
        events.phase("prepare", "Reading the data.")
        with gc_pause.importing():  # while the workers import
            from trainer import data, prepare
            from trainer.data import sources
            from trainer.data.checks import Checks
            from trainer.graph import reading
            from trainer.search import setup

        files_of_data, checks = sources.find(spec, settings.data_file, events), Checks(events)
        if found_graph := reading.find(files_of_data, settings, checks, spec.work):
            _train_on_graph(spec, settings, found_graph, checks, workers, events, began)
            return
        dataset = data.load(spec, settings, events, files_of_data)
        stop.check(spec.folder)
        wanted = candidates.choose(spec.models, settings, dataset.kind, dataset.task, begun)
        if searches:
            wanted = setup.with_network(wanted, dataset.kind, dataset.task)
        settings = workers.request(settings, wanted.network)
        prepared = prepare.make(spec, settings, dataset, wanted, events, wanted.network is not None and workers.launcher.on_gpu)
        own: dict = {}
        if searches:
            prepared, own = setup.make(spec, prepared.plan.settings, dataset, prepared, events, workers.launcher.on_gpu)
        if settings.dry_run:
            trial = workers.launcher.estimate(prepared.plan) if wanted.network else candidates.trial(prepared.plan, dataset)
            export.check(spec, prepared.plan.settings, dataset, prepared, trial, events, began)
            return
        found, wanted = _candidates(workers, prepared.plan, dataset, wanted, events)
        _deliver(spec, prepared.plan.settings, dataset, prepared, found, wanted, workers, events, began, own)
    finally:
        workers.close()


def _train_on_graph(spec: Spec, settings, found, checks, workers: "_Workers", events: Events, began: float) -> None:
    from trainer.graph import driver, encoded_texts, reading

    if space.is_wanted(settings):
        raise UserError("graph_search", "A search for settings is not possible on a graph.", "Set trials to 0.")
    if (base := encoded_texts.named(spec.models, settings.model)) is not None:  # it reads the texts of nodes; the network reads the graph
        settings = settings.with_chosen(text_encoder=base.name, model=catalogue.AUTO)
    graph = reading.load(found, settings, checks, spec.work, spec)
    stop.check(spec.folder)
    run_of_graph = driver.Run(spec, settings, events, checks, workers, lambda plan: _trained(workers.launcher, plan), began)
    driver.carry_out(run_of_graph, graph)


class _Workers:
    """The workers of a run, which are requested as soon as a network is likely to be trained."""

    def __init__(self, name: str, spec: Spec, events: Events):
        self.name, self.spec, self.events = name, spec, events
        self.launcher: launch.Launcher | None = None

    def request(self, settings: Settings, base: Base | None) -> Settings:
        """Let the workers start their imports, unless there is no network to train or they were requested before. Returns the settings with
        the number of workers."""
        if base is None or self.launcher is not None:
            return settings
        self.launcher, settings = launch.create(self.name, settings, base, self.spec, self.events)
        self.launcher.start()
        return settings

    def close(self) -> None:
        if self.launcher is not None:
            self.launcher.close()


def _candidates(workers: _Workers, plan: Plan, dataset, wanted, events: Events):
    """Train all candidates: the estimators here while the workers import, then the network. Gives them, and what is left of ``wanted``
    if the network could not be trained."""
    if wanted.network is None:
        events.decision(
            "estimate",
            (seconds := round(candidates.estimate(plan, dataset), 1)),
            f"The training takes about {count(max(1, round(seconds)), 'second')} on one CPU.",
        )
        events.phase("train", f"Training {some(wanted.estimators)} on {count(len(dataset.splits['train']), 'row')}.")
    found = [c for c in (candidates.fit(n, plan, dataset) for n in wanted.estimators) if c is not None]
    if wanted.network is None:
        for candidate in found:
            events.eval(0, 0, "validation", candidates.summary(candidate.outcome.answers["validation"], plan))
        events.phase("test", "Measuring the model on data that it has not seen.")
        events.resource("cpu", 1, threads=1)
        return found, wanted
    try:
        outcome = _trained(workers.launcher, plan)
    except UserError as e:
        if wanted.named or not found:
            raise
        events.warning("candidate_failed", f"{wanted.network.name} could not be trained, so {found[0].base.name} is delivered. {e.what}")
        return found, candidates.without(wanted, e)
    network = candidates.trained(wanted.network, outcome)
    found += [network, *candidates.as_it_is(wanted.network, outcome)]
    if not wanted.named and plan.search is None:
        found += candidates.with_words(network, found, plan)
    return found, wanted


def _deliver(spec: Spec, settings, dataset, prepared, found, wanted, workers: _Workers, events: Events, began: float, own: dict) -> None:
    """Choose the best candidate, and write the results. ``own`` has what was prepared for the trials of a search with another base model."""
    from trainer import baseline, prepare
    from trainer.search import conclude

    best = candidates.best(found, wanted, prepared.plan)
    search = None
    if prepared.plan.search is not None and (concluded := conclude.conclude(settings, prepared, own, found, best, events)):
        settings, prepared, found, best, search = concluded.settings, concluded.prepared, concluded.found, concluded.best, concluded.document
    listed = candidates.entries(found, best, wanted, prepared.plan) if isinstance(prepared.plan.target, (Classes, Number, Labels)) else None
    if len(found) > 1:
        events.decision("chosen", best.base.name, f"The model {best.name} is delivered. {listed[0]['why']}")
    delivered = catalogue.AUTO if best.beside is not None else best.base.name  # a named model would be delivered alone by a repeated run
    if settings.model != delivered:
        settings = settings.with_chosen(model=delivered)
    events.phase("export", "Writing the model, the metrics and the predictions.")
    words = next((c.fitted for c in found if c.base.name == "words"), None)
    simple = baseline.compute(prepared, dataset, words)
    outcome = best.outcome
    if best.fitted is None:
        _to_onnx(workers.launcher, outcome, prepare.delivering(prepared, best).plan, events)
    if best.beside is not None:
        best.beside.save(outcome.saved)
    outcome.champion, settings = _champions_answers(settings, found, prepared, dataset, workers)
    count_of_workers = workers.launcher.workers if workers.launcher and best.fitted is None else 1
    export.training(spec, settings, dataset, prepare.delivering(prepared, best), outcome, simple, count_of_workers, events, began, listed, search)


def _to_onnx(launcher, outcome: Outcome, plan: Plan, events: Events) -> None:
    """Let a worker add model.onnx to the delivered network."""
    from trainer.export import onnx

    if plan.kind not in onnx.KINDS:
        return
    if why := launcher.to_onnx(outcome.saved, plan.kind, plan.target, onnx.sample(plan.splits["test"])):
        text = f"There is no model.onnx: {why}. Single answers in the studio need one; predictions for datasets do not."
        events.warning("no_onnx", text)


def _champions_answers(settings: Settings, found: list, prepared, dataset, workers: _Workers):
    """The predictions of the champion on the test rows: of an estimator here, of a network by a worker, which may have measured it beside
    the training; None if they cannot be compared. Also the settings, with the number of workers where one was needed."""
    from trainer import averaged, prepare

    champion = prepared.plan.champion
    if champion is None or champion.rows is None:
        return prepare.champions_answers(champion, dataset), settings
    answers = next((c.outcome.champion for c in found if c.outcome.champion), None)
    if answers is None:
        described = Base(champion.folder.name, champion.kind, champion.folder, fresh=False)
        settings = workers.request(settings, described)
        outputs, _ = workers.launcher.predict(champion)
        answers = champion.target.answers(outputs, champion.rows.example_targets())
    return averaged.of_champion(champion.folder, answers, dataset.splits["test"], champion.target), settings


def _trained(launcher, plan: Plan) -> Outcome:
    """The outcome of the training. On SIGTERM, let the training save a checkpoint before its workers are stopped."""
    try:
        return launcher.train(plan)
    except BaseException as e:
        if not termination.is_requested():
            raise
        stop.pause(Path(plan.work), PAUSE_SHARE * float(os.environ.get("RAY_JOB_STOP_WAIT_TIME_S", RAY_STOP_SECONDS)))
        raise Terminated from e


def _predict(spec: Spec, name: str, events: Events, began: float) -> None:
    from trainer import predict

    events.phase("start", "The prediction program is running.")
    settings = options.resolve(spec, events)
    saved = predict.find(spec, settings)
    if saved.description["kind"] == "graph":
        settings = settings.with_chosen(num_workers=1)  # one table of all nodes answers everything
    workers = _Workers(name, spec, events)
    try:
        stop.check(spec.folder)
        settings = workers.request(settings, None if saved.is_estimator else saved.base)
        events.phase("prepare", "Reading the data.")
        predict.run(spec, settings, saved, workers.launcher, events, began)
    finally:
        workers.close()


def _script(spec: Spec, name: str, events: Events, began: float) -> None:
    from trainer.script import driver

    driver.run(spec, name, events, began)


def _likely_kind(spec: Spec, settings) -> str:
    """The kind of data by the settings, else by the files: good enough to choose what the workers import in advance."""
    models = {shape: kind for kind, shape in reversed(SHAPES.items())} | {b.name: b.kind for b in catalogue.installed(spec.models)}
    models |= {e.name: e.kind for e in ESTIMATORS.values()}
    if (kind := models.get(settings.model) or of_task(settings.task)) in SHAPES:
        return kind
    from trainer.data import names
    from trainer.graph import likely

    if settings.task == catalogue.AUTO and likely.is_graph(spec.inputs):
        return "graph"
    images = sum(names.extension(i.name) in names.IMAGES for i in spec.inputs)
    return "image" if 2 * images > len(spec.inputs) else "text"


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
