"""A run of kind "script": prepare, check, run, collect. The script itself runs where ``runner`` is started."""

import hashlib
import importlib.metadata
import os
import platform
import signal
from dataclasses import asdict

from trainer import export
from trainer.config import settings as options
from trainer.config.settings import Settings
from trainer.config.spec import Spec
from trainer.errors import UserError, left_out, no_gpu, some
from trainer.launch.preflight import hardware
from trainer.run_folder import stop
from trainer.run_folder.events import Events
from trainer.script import collect, command, metric_files, runner, starts, tree as trees
from trainer.script.checking import review
from trainer.script.checking.checks import Finding
from trainer.script.command import Nodes
from trainer.script.runner import Outcome, Task

MAX_POINTS, MAX_SERIES, MAX_NUMBERS = 2000, 50, 200
_LIBRARIES = (
    "torch torchvision transformers datasets tokenizers accelerate lightning keras tensorflow numpy scipy scikit-learn pandas matplotlib "
    "xgboost lightgbm"
).split()


def run(spec: Spec, launcher: str, events: Events, began: float) -> None:
    """Run the script of ``spec`` and write result.json. Raises UserError, after partial.json, where the script failed, and Paused where
    it was asked to end for a new start."""
    events.phase("start", "The program that runs scripts has started.")
    settings = options.of(spec, events)
    if stop.requested(spec.folder) == stop.KEEP and not (spec.folder / starts.FILE).exists():
        raise stop.nothing_to_keep()
    events.phase("prepare", "Looking at the code and the data.")
    code = trees.texts(spec)
    entry, why = command.entry(code, trees.paths(spec), settings.script)
    events.decision("script", entry, why)
    if settings.script != entry:
        settings = settings.with_chosen(script=entry)
    findings = review.review(spec, settings, code, entry, events)
    if settings.nodes > 1 and (spec.script.sandbox != "pod" or launcher == "local"):
        raise UserError(
            "wrong_setting",
            "A script on several machines needs a cluster of its own, which this service does not make.",
            "Set nodes to 1, or ask the administrator for a profile with a cluster for each run.",
        )
    place = _place(spec, settings, launcher, events)
    try:
        signal.signal(signal.SIGTERM, lambda *_: (spec.work / stop.PAUSE).touch())
        task = _task(spec, settings, entry, place, events)
        outcome = place.run(task)
        events.phase("export", "Collecting the files that the script has left.")
        _deliver(task, outcome, findings, events, began)
    finally:
        place.close()
    if outcome.error is not None:
        raise outcome.error


class _Here:
    """This process runs the script: without Ray, and in a pod that was made for this script alone."""

    def __init__(self, settings: Settings, events: Events):
        self.events = events
        gpus = len(runner.visible_gpus()) if settings.use_gpu != "no" else 0
        if settings.use_gpu == "yes" and not gpus:
            raise no_gpu()
        self.processes = settings.processes or max(1, gpus)
        self.cpus, self.gpu = len(os.sched_getaffinity(0)), gpus > 0

    def run(self, task: Task) -> Outcome:
        return runner.run(task, self.events)

    def close(self) -> None:
        """Does nothing: there are no other processes."""


def _place(spec: Spec, settings: Settings, launcher: str, events: Events):
    if launcher == "local" or (spec.script.sandbox == "pod" and settings.nodes == 1):
        return _Here(settings, events)
    from trainer.script import remote as script

    return script.OnRay(settings, events)


def _task(spec: Spec, settings: Settings, entry: str, place, events: Events) -> Task:
    nodes = Nodes(processes=place.processes, nodes=settings.nodes)
    name, why = command.launcher(settings.launcher, nodes)
    events.decision("launcher", name, why)
    return Task(spec, settings, entry, name, nodes, place.cpus, place.gpu)


def _deliver(task: Task, outcome: Outcome, findings: list[Finding], events: Events, began: float) -> None:
    """Write the outputs, and result.json or partial.json."""
    spec, settings = task.spec, task.settings
    _, left = collect.outputs(task.tree, spec.work / export.OUT, outcome.placed, settings.outputs, spec.script.limits)
    too_large = [entry["path"] for entry in left if "larger than the limit" in entry["reason"]]
    if too_large:
        events.warning("outputs_left_out", f"{left_out(len(too_large), 'file')} because the outputs are larger than the limit: {some(too_large, 5)}.")
    if outcome.finished.stopped == "time":
        events.warning("time_limit", f"The script was ended after {settings.max_minutes} minutes, the time limit. What it had saved is delivered.")
    failed = outcome.error is not None
    export.finish(
        spec,
        settings,
        "script",
        "script",
        events,
        began,
        place=export.PARTIAL if failed else export.RESULT,
        hardware=hardware(gpu=False),
        versions=versions(spec),
        partial=True if failed else None,
        script=_document(task, outcome, findings, left, events),
    )


def _document(task: Task, outcome: Outcome, findings: list[Finding], left: list[dict], events: Events) -> dict:
    """The part ``script`` of result.json."""
    spec, ended = task.spec, outcome.finished.ended
    code = [{"path": p, "size": i.size, "sha256": i.sha256} for p, i in sorted(trees.paths(spec).items()) if trees.is_code(p)]
    numbers = {**outcome.numbers, **metric_files.read([(task.tree, trees.OUT), (task.tree, "")])}
    numbers, failed = metric_files.finite(dict(list(numbers.items())[:MAX_NUMBERS]), task.settings.metric)
    if failed:
        text = f"The last {some(failed, 5)} of the script {'is' if len(failed) == 1 else 'are'} NaN or infinite"
        events.warning("not_finite", f"{text}: the training has probably failed. Most often the learning rate is too large, or the data has gaps.")
    metric = metric_files.choose(numbers, task.settings.metric)
    usage = {"peak_memory_bytes": ended.peak_memory_bytes, "cpu_seconds": ended.cpu_seconds}
    return {
        "entry": task.entry,
        "launcher": task.launcher,
        "command": outcome.command,
        "processes": task.nodes.processes,
        "nodes": task.nodes.nodes,
        "sandbox": outcome.sandbox,
        "seconds": round(sum(s["seconds"] for s in outcome.starts), 3),
        "exit": starts.exit_of(ended),
        "stopped": outcome.finished.stopped,
        "starts": outcome.starts,
        "code": code,
        "code_sha256": hashlib.sha256("".join(f"{c['sha256']}  {c['path']}\n" for c in code).encode()).hexdigest(),
        "findings": [asdict(one) for one in findings],
        "requirements": list(spec.script.requirements),
        "numbers": {name: {"value": value, "source": source} for name, (value, source) in numbers.items()},
        "metric": None if metric is None else dict(zip(("name", "value", "source"), metric, strict=True)),
        "series": {name: [list(point) for point in points[-MAX_POINTS:]] for name, points in list(outcome.series.items())[:MAX_SERIES]},
        "left_out": left,
        "lines": outcome.lines,
        "log_cut": outcome.log_cut,
        "usage": {name: round(value, 3) if isinstance(value, float) else value for name, value in usage.items() if value is not None},
    }


def versions(spec: Spec) -> dict[str, str]:
    """The versions of Python and of the libraries that a script can import, read without importing them."""
    found = {"python": platform.python_version()}
    given = dict(name.split("==", 1) for name in spec.script.requirements if "==" in name)
    for name in _LIBRARIES:
        try:
            found[name] = given.get(name) or importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            continue
    image = {"image": os.environ["RAY_IMAGE"]} if os.environ.get("RAY_IMAGE") else {}
    return {**found, **image}
