"""The pod is the sandbox: Kubernetes has made it for this run alone, with the runtime class and the network policy of the service.

The service says in two variables what it has asked for. Whether the policy is enforced can be tried here. Where bubblewrap works inside
the pod, it also hides the other processes of the pod from the script. Else the script is held as without a sandbox: with a clean
environment, below its limits, and nothing outlives it.
"""

import os
import socket
from collections.abc import Sequence
from pathlib import Path

from trainer.config.jail import Jail
from trainer.script.sandbox.bwrap import Bubblewrap
from trainer.script.sandbox.none import NoSandbox
from trainer.script.sandbox.supervise import Supervised

TOKEN = Path("/var/run/secrets/kubernetes.io/serviceaccount/token")
RUNTIME_CLASS = "POD_RUNTIME_CLASS"  # empty: the pod shares the kernel of its node
NETWORK = "POD_NETWORK"  # closed or open
_API = ("KUBERNETES_SERVICE_HOST", "KUBERNETES_SERVICE_PORT")  # every container of a pod has them
_CONNECT_SECONDS = 2.0


class Pod(NoSandbox):
    """``version`` is the runtime class of the pod; empty where the pod shares the kernel of its node."""

    name = "pod"

    def __init__(self) -> None:
        self.version = os.environ.get(RUNTIME_CLASS, "")
        self.network = os.environ.get(NETWORK) != "closed"  # the other pods of the run can always be reached

    def refused(self) -> str | None:
        if not all(name in os.environ for name in _API):
            return "This machine is no pod."
        if TOKEN.exists():
            return "The pod has a token of the Kubernetes API, which no script may have."
        if not self.network and _reaches_api():
            return "The network plugin of the cluster does not enforce NetworkPolicies: a script could reach other machines."
        return None

    def has_places(self) -> bool:
        return Bubblewrap(network=True).refused() is None

    def start(self, jail: Jail, argv: Sequence[str], stdout: int, stderr: int) -> Supervised:
        """Start the script, in bubblewrap if that works here: with the network of the pod, which several nodes need."""
        inner = Bubblewrap(network=True)
        if inner.refused() is None:
            return inner.start(jail, argv, stdout, stderr)
        return super().start(jail, argv, stdout, stderr)


def _reaches_api() -> bool:
    """Whether a connection leaves the pod. The API server always runs, and no policy of a run allows it."""
    host, port = (os.environ[name] for name in _API)
    try:
        with socket.create_connection((host, int(port)), timeout=_CONNECT_SECONDS):
            return True
    except (OSError, ValueError):
        return False
