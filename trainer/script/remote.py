"""Scripts of users on Ray: an actor on one machine holds the sandbox with all processes; on several machines there is one on each."""

import os
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import ray
from ray.util.placement_group import placement_group, remove_placement_group
from ray.util.scheduling_strategies import PlacementGroupSchedulingStrategy

from trainer.config.settings import Settings
from trainer.errors import Paused, UserError, count, no_gpu
from trainer.launch import MAX_THREADS, connection, preflight, ray_launcher
from trainer.launch.capacity import MAX_LOST_WORKERS, NOTICE_SECONDS
from trainer.run_folder import files, stop
from trainer.run_folder.events import Events
from trainer.run_folder.lease import Lease
from trainer.script import runner, starts
from trainer.script.runner import Outcome, Prepared, Task

STOP_SECONDS = 3.0  # Ray's time between SIGTERM and SIGKILL for a job, unless RAY_JOB_STOP_WAIT_TIME_S is set
STOP_SHARE = 0.8  # of that time, for the script to save itself
OTHERS_SECONDS = 60.0  # for the other machines to end when the first one has ended
PAUSED = "paused"


class OnRay:
    """Connects to Ray and chooses the size of the machines that the script gets: ``processes`` and ``cpus`` on each, and whether GPUs."""

    def __init__(self, settings: Settings, events: Events):
        self.settings, self.events = settings, events
        connection.open_for_scripts()
        nodes = [n["Resources"] for n in ray.nodes() if n["Alive"]]
        most = max((int(n.get("GPU", 0)) for n in nodes), default=0)
        self.gpu = settings.use_gpu == "yes" or (settings.use_gpu == "auto" and most > 0)
        self.processes = settings.processes or max(1, most if self.gpu else 1)
        self.cpus = ray_launcher.cpus_each(nodes, settings.nodes, MAX_THREADS * self.processes)

    def run(self, task: Task) -> Outcome:
        """The outcome of the script. If a machine is lost, the script starts again on another one, with its last checkpoint."""
        for losses in range(MAX_LOST_WORKERS + 1):
            group = _Group(task, self.events)
            try:
                return group.run()
            except ray.exceptions.RayActorError as e:
                if losses == MAX_LOST_WORKERS or "creation task" in str(e):  # a failed creation is a bug and would fail again
                    raise
                self.events.warning("worker_lost", "The machine or the process that ran the script was lost; the script starts again.")
            finally:
                group.close()
        raise AssertionError("unreachable")

    def close(self) -> None:
        ray.shutdown()


class _Group:
    """The actors of one start, one on each machine."""

    def __init__(self, task: Task, events: Events):
        self.task, self.events, self.work = task, events, task.spec.work
        self.token = preflight.announce(self.work)
        resources = {"CPU": task.cpus, **({"GPU": task.nodes.processes} if task.gpu else {})}
        self.group = placement_group([resources] * task.nodes.nodes, strategy="STRICT_SPREAD") if task.nodes.nodes > 1 else None
        options = {"num_cpus": task.cpus, "num_gpus": resources.get("GPU", 0), "max_restarts": 0}
        self.actors = []
        for number in range(task.nodes.nodes):
            if self.group is not None:
                options["scheduling_strategy"] = PlacementGroupSchedulingStrategy(self.group, placement_group_bundle_index=number)
            self.actors.append(ray.remote(Runner).options(**options).remote())

    def run(self) -> Outcome:
        places = self._wait([a.place.remote(self.work, self.token) for a in self.actors], self._check_capacity())
        address, port = places[0]
        nodes = [replace(self.task.nodes, rank=number, address=address, port=port) for number in range(len(self.actors))]
        tasks = [replace(self.task, nodes=n if len(nodes) > 1 else self.task.nodes) for n in nodes]
        prepared = self._wait([self.actors[0].prepare.remote(tasks[0], self.events)])[0]
        running = [a.execute.remote(t, prepared, self.events) for a, t in zip(self.actors, tasks, strict=True)]
        outcome = self._wait(running[:1], self._check_others(running[1:]))[0]
        if outcome == PAUSED:
            raise Paused
        errors = [o.error for o in self._others(running[1:]) if o.error is not None]
        if errors and outcome.finished.stopped == "user" and stop.requested(self.task.spec.folder) != stop.KEEP:
            outcome = replace(outcome, finished=replace(outcome.finished, stopped=None))  # node 0 was ended because of the others
        return replace(outcome, error=errors[0]) if errors else outcome

    def close(self) -> None:
        for actor in self.actors:
            ray.kill(actor)
        if self.group is not None:
            remove_placement_group(self.group)

    def _others(self, running: Sequence) -> list[Outcome]:
        """What the other machines say, as far as they end in time."""
        if not running:
            return []
        ready, _ = ray.wait(list(running), num_returns=len(running), timeout=OTHERS_SECONDS)
        found = [ray.get(one) for one in ready]
        return [one for one in found if one != PAUSED]

    def _check_others(self, running: list):
        """A function to call while the first machine works: if another one has ended long before, the first one waits in vain."""
        ended_at: list[float] = []

        def check() -> None:
            if not running or not ray.wait(running, timeout=0)[0]:
                return
            ended_at.append(time.monotonic())
            if ended_at[-1] - ended_at[0] > OTHERS_SECONDS:
                (self.work / runner.FAILED).touch()
            del ended_at[1:]

        return check

    def _wait(self, references: list, check=lambda: None) -> list:
        """The values of ``references``. Raises Paused if this machine must be left before."""
        leave_at = None
        while ray.wait(references, num_returns=len(references), timeout=0.5)[1]:
            check()
            if stop.is_paused(self.work):
                leave_at = leave_at or time.monotonic() + STOP_SHARE * float(os.environ.get("RAY_JOB_STOP_WAIT_TIME_S", STOP_SECONDS))
                if time.monotonic() > leave_at:
                    raise Paused
        return ray.get(references)

    def _check_capacity(self):
        """A function to call while the machines are missing: it tells the user once, and gives up after the time limit."""
        began, limit, folder = time.monotonic(), 60.0 * self.task.settings.max_minutes, self.task.spec.folder
        told: list[bool] = []

        def check() -> None:
            waited = time.monotonic() - began
            if stop.requested(folder) == stop.KEEP and not (folder / starts.FILE).exists():
                raise stop.nothing_to_keep()
            if waited > limit:
                why = f"The cluster had no free capacity for {count(round(limit / 60), 'minute')}."
                if self.task.gpu:
                    raise no_gpu(why)
                raise UserError("no_capacity", "No machine of the cluster was free for the script.", "Try again later.", why)
            if waited > NOTICE_SECONDS and not told:
                told.append(True)
                self.events.warning("waiting", f"Waiting for a free {'GPU' if self.task.gpu else 'CPU'}: the cluster is busy or still starting.")

        return check


class Runner:
    """The actor that holds the sandbox. The sandbox ends with this process."""

    def __init__(self):
        files.share()

    def place(self, work: Path, token: str) -> tuple[str, int]:
        """An address and a port of this machine for the rendezvous, after a look whether it has the shared volume."""
        import socket

        preflight.shared(work, token)
        with socket.socket() as free:
            free.bind(("", 0))
            return ray.util.get_node_ip_address(), free.getsockname()[1]

    def prepare(self, task: Task, events: Events) -> Prepared:
        return runner.prepare(task, events)

    def execute(self, task: Task, prepared: Prepared, events: Events) -> "Outcome | str":
        with Lease(task.spec.work).watched():
            try:
                return runner.execute(task, prepared, events)
            except Paused:
                return PAUSED
