"""The sandboxes that can hold a script, behind one interface."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from trainer.config.jail import Jail
from trainer.errors import UserError

Exceeded = Literal["memory", "processes", "disk", "files", "time"]


@dataclass(frozen=True)
class Ended:
    """How a script ended: with an exit code, or by a signal. ``exceeded`` is the limit that ended it, ``text`` explains it in one
    sentence. ``peak_memory_bytes`` and ``cpu_seconds`` are of the whole sandbox; None where they were not measured."""

    code: int | None
    signal: int | None = None
    exceeded: Exceeded | None = None
    text: str = ""
    peak_memory_bytes: int | None = None
    cpu_seconds: float | None = None


class Running(Protocol):
    """A script that runs in a sandbox."""

    def signal(self, number: int) -> None:
        """Send a signal to the script, not to the launcher of the sandbox. Nothing happens if it has ended."""

    def kill(self) -> None:
        """End everything in the sandbox at once. May be called again."""

    def poll(self) -> Ended | None:
        """How the script ended; None while it runs."""

    def wait(self, seconds: float | None = None) -> Ended | None:
        """Wait for the end up to ``seconds``, without one until it comes. When it returns an ``Ended``, no process of the sandbox is left."""


class Sandbox(Protocol):
    name: str  # bubblewrap, gvisor, pod, none
    version: str
    network: bool  # whether the script reaches other machines

    def refused(self) -> str | None:
        """Why this sandbox cannot be used on this machine, in one sentence; None if it holds."""

    def has_places(self) -> bool:
        """Whether the script sees the paths of jail.py, and not those of this machine. Ask only where it is not refused."""

    def start(self, jail: Jail, argv: Sequence[str], stdout: int, stderr: int) -> Running:
        """Start ``argv`` in the sandbox, with its output on these file descriptors and a closed standard input."""


def choose(allowed: str, network: bool = False) -> Sandbox:
    """The sandbox for what the administrator allows: auto, bubblewrap, gvisor, pod or none, for a script that may reach other machines or
    not. Raises UserError if none of them holds."""
    reasons = []
    for sandbox in kinds(allowed, network):
        refused = sandbox.refused()
        if refused is None:
            return sandbox
        reasons.append(refused)
    raise UserError(
        "no_sandbox",
        "Scripts need a sandbox, and this machine has none.",
        "Ask the administrator to install bubblewrap (apt-get install bubblewrap) on the machines of Ray.",
        " ".join(reasons),
    )


def kinds(allowed: str, network: bool = False) -> list[Sandbox]:
    """The sandboxes to try for what the administrator allows, the preferred one first. gVisor gives no script a network."""
    from trainer.script.sandbox.bwrap import Bubblewrap
    from trainer.script.sandbox.gvisor import Gvisor
    from trainer.script.sandbox.none import NoSandbox
    from trainer.script.sandbox.pod import Pod

    all_kinds: dict[str, list[Sandbox]] = {
        "auto": [Bubblewrap(network)] if network else [Bubblewrap(), Gvisor()],
        "bubblewrap": [Bubblewrap(network)],
        "gvisor": [Gvisor()],
        "pod": [Pod()],
        "none": [NoSandbox()],
    }
    return all_kinds[allowed]


def survey(allowed: str) -> list[dict]:
    """The sandboxes that the administrator allows, the preferred one first: name, version and why it is refused on this machine; None if it can be
    used."""
    return [{"name": one.name, "version": one.version, "refused": one.refused()} for one in kinds(allowed)]
