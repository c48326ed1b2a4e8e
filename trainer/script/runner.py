"""Runs the script of a run once, on the machine that holds the sandbox: in the driver, or in an actor on a machine of Ray."""

import contextlib
import importlib.util
import os
import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from trainer.config.jail import INPUTS, MODELS, PACKAGES, RUN, SUPPORT, Jail
from trainer.config.settings import Settings
from trainer.config.spec import Spec
from trainer.errors import Paused, UserError, count
from trainer.run_folder import stop
from trainer.run_folder.events import Events
from trainer.run_folder.lease import Lease
from trainer.script import command, environment, process, reasons, sandbox, starts, tree as trees
from trainer.script.command import Nodes
from trainer.script.lines import Lines
from trainer.script.process import Finished
from trainer.script.progress import Progress
from trainer.script.sandbox import Ended, Sandbox
from trainer.script.saved import restoring
from trainer.script.saved.snapshots import Snapshots
from trainer.script.tree import File

TREE, HOME = "tree", "home"  # in the folder of the start
FAILED = "failed"  # there, once another node has failed: the script ends on all of them
INSIDE = Path(__file__).parent / "inside"
_REQUESTS: dict[str, process.Request] = {stop.KEEP: "keep", stop.PAUSE: "pause"}
RANKS = range(64)  # of which the last lines are looked at


@dataclass(frozen=True)
class Task:
    """What a runner gets: the run, its settings, the entry and the launcher, and its place among the nodes. ``gpu`` says that it may use
    the GPUs of its machine, ``cpus`` how many CPUs are meant for it."""

    spec: Spec
    settings: Settings
    entry: str
    launcher: str
    nodes: Nodes
    cpus: int
    gpu: bool

    @property
    def tree(self) -> Path:
        return self.spec.work / TREE


@dataclass(frozen=True)
class Outcome:
    """What came of the script. ``error`` is set if it failed. ``numbers`` are those of its output: name to value and source."""

    finished: Finished
    error: UserError | None
    command: list[str]
    sandbox: dict
    placed: Mapping[str, File]
    starts: list[dict]
    lines: int
    log_cut: int
    series: Mapping[str, list]
    numbers: Mapping[str, tuple[float, str]]


@dataclass(frozen=True)
class Prepared:
    """A start that is ready to run, the same for all nodes: the placed files, the number of the start, the arguments of the script and
    the seconds that it may take."""

    placed: trees.Placed
    start: int
    arguments: list[str]
    seconds: float


def run(task: Task, events: Events) -> Outcome:
    """Place the files, run the script to its end, and keep its checkpoints. Raises Paused if it was asked to end for a new start."""
    return execute(task, prepare(task, events), events)


def prepare(task: Task, events: Events) -> Prepared:
    """Make the tree as it was in the last checkpoint, and note that the script starts."""
    spec, lease = task.spec, Lease(task.spec.work)
    box = sandbox.choose(spec.script.sandbox, spec.script.network)
    code = trees.texts(spec)
    restoring.set_aside(lease)
    lease.remove(spec.work / HOME)
    placed = trees.place(spec, task.tree, spec.work / HOME, code, visible=box.has_places())
    begun = starts.Starts(spec.folder, lease)
    found = restoring.restore(spec.folder, lease, task.tree, placed.files)
    restored = found.path if found else None
    if begun.list:
        events.decision("resumed", restored or "", _resumed(found))
    given, decided = command.arguments(command.read(code.get(task.entry, "")), task.settings, restored or "")
    for decision in decided:
        events.decision(decision.what, decision.choice, decision.why)
    left = max(1.0, 60.0 * task.settings.max_minutes - begun.seconds)
    start = begun.begin(spec.attempt, restored)
    events.started(start.start, restored or "")
    return Prepared(placed, start.start, given, left)


def execute(task: Task, prepared: Prepared, events: Events) -> Outcome:
    """Run a prepared start in a sandbox on this machine. Raises Paused if it was asked to end for a new start.

    Only node 0 reads the progress and counts the time. The other nodes write their output into logs/node-N.txt.
    """
    spec, lease, first = task.spec, Lease(task.spec.work), task.nodes.rank == 0
    box = sandbox.choose(spec.script.sandbox, spec.script.network)
    begun = starts.Starts(spec.folder, lease)
    jail = _jail(task, box, prepared)
    argv = command.line(sys.executable, task.launcher, task.entry, prepared.arguments, task.nodes)
    progress = Progress(events, task.settings.metric)
    log = spec.folder / "log.txt" if first else _log_of_node(task)
    lines = Lines(log, jail.limits.log_bytes, progress if first else None, task.nodes.world > 1, lease)
    tick = begun.tick if first else lambda seconds: None
    snapshots = Snapshots(spec, lease, task.tree, events, prepared.placed.files)
    try:
        with snapshots.watch() if first else contextlib.nullcontext():
            finished = process.run(box, jail, argv, lines, task.launcher == "torchrun", lambda: _requested(spec), tick)
    finally:
        lines.close()
        progress.close()
    if first:
        begun.end(finished.seconds, finished.ended)
    if finished.stopped == "paused":
        raise Paused
    return Outcome(
        finished,
        _error(task, box, finished, lines),
        ["python" if word == sys.executable else word for word in argv],
        {"name": box.name, "version": box.version, "network": box.network},
        prepared.placed.files,
        begun.listed(),
        lines.count,
        lines.dropped,
        progress.series,
        progress.numbers(),
    )


def _log_of_node(task: Task) -> Path:
    folder = task.spec.folder / "logs"
    folder.mkdir(exist_ok=True)
    return folder / f"node-{task.nodes.rank}.txt"


def _resumed(found: restoring.Restored | None) -> str:
    """What a later start of the script begins with."""
    if found is None:
        return "The script begins again: the start before left no complete checkpoint."
    source = "as the start before left them" if found.from_tree or not found.number else f"as they were in snapshot {found.number}"
    return f"The script goes on from {found.path}: {count(found.files, 'file')} of it {'is' if found.files == 1 else 'are'} there, {source}."


def _jail(task: Task, box: Sandbox, prepared: Prepared) -> Jail:
    spec = task.spec
    reads = [(spec.folder / "inputs", INPUTS), (INSIDE, SUPPORT)]
    reads += [(spec.models, MODELS)] if spec.models.is_dir() else []
    reads += [(spec.script.overlay, PACKAGES)] if spec.script.overlay else []
    gpus = visible_gpus() if task.gpu else ()
    context = environment.Context(
        run=spec.run,
        attempt=spec.attempt,
        start=prepared.start,
        nodes=task.nodes,
        cpus=task.cpus,
        gpus=gpus,
        channels=tuple(trees.channels_of(task.tree)),
        packages=spec.script.overlay is not None,
        keras_on_torch=not _has("tensorflow", spec) and _has("torch", spec),
        network=box.network,
        path=f"{Path(sys.executable).parent}:/usr/local/bin:/usr/bin:/bin",
    )
    variables = environment.variables(context, prepared.arguments, command.hyperparameters(task.settings))
    limits = replace(spec.script.limits, seconds=prepared.seconds)
    home = spec.work / HOME
    if task.nodes.rank:
        home = spec.work / f"{HOME}-{task.nodes.rank}"
        home.mkdir(exist_ok=True)
    return Jail(task.tree, home, tuple(reads), prepared.placed.links, variables, limits, bool(gpus))


def visible_gpus() -> tuple[str, ...]:
    """The numbers of the GPUs that this process may use: those that Ray has given it, else all of the machine."""
    if (given := os.environ.get("CUDA_VISIBLE_DEVICES")) is not None:
        return tuple(filter(None, given.split(",")))
    return tuple(sorted((m[1] for name in os.listdir("/dev") if (m := re.fullmatch(r"nvidia(\d+)", name))), key=int))


def _has(module: str, spec: Spec) -> bool:
    """Whether a script can import ``module``, without importing it here."""
    overlay = spec.script.overlay
    return importlib.util.find_spec(module) is not None or (overlay is not None and (overlay / module).is_dir())


def _requested(spec: Spec) -> process.Request:
    if (spec.work / FAILED).exists():
        return "keep"
    if stop.is_paused(spec.work):
        return "leave"
    return _REQUESTS.get(stop.requested(spec.folder), "")


def _error(task: Task, box: Sandbox, finished: Finished, lines: Lines) -> UserError | None:
    """Why the script failed; None if it did not, or if somebody has ended it."""
    ended: Ended = finished.ended
    if finished.stopped is not None or (ended.code == 0 and ended.exceeded is None):
        return None
    gpus, names = len(visible_gpus()) if task.gpu else 0, [i.name for i in task.spec.inputs]
    facts = reasons.Facts(task.entry, task.spec.script.limits, box.network, gpus, task.spec.script.resolved, names)
    said = {rank: last for rank in (*RANKS, "launcher") if (last := lines.last(rank))}
    if not box.has_places():  # then the script sees the paths of this machine, which no message may show
        said = {rank: [line.replace(str(task.tree), RUN).replace(str(task.spec.folder), "") for line in last] for rank, last in said.items()}
    return reasons.failure(ended, said, facts)
