"""The pod is the sandbox: Kubernetes has made it for this run alone, with the runtime class and the network policy of the service.

Whether these hold is known where the pod is made; a process inside cannot find out. Where bubblewrap works inside the pod, it also hides
the other processes of the pod from the script. Else the script is held as without a sandbox: with a clean environment, below its limits,
and nothing outlives it.
"""

import os
from collections.abc import Sequence
from pathlib import Path

from trainer.script.jail import Jail
from trainer.script.sandbox.bwrap import Bubblewrap
from trainer.script.sandbox.none import NoSandbox
from trainer.script.sandbox.supervise import Supervised

TOKEN = Path("/var/run/secrets/kubernetes.io/serviceaccount/token")


class Pod(NoSandbox):
    name = "pod"
    network = False  # but for the other pods of the run, by its network policy

    def refused(self) -> str | None:
        if "KUBERNETES_SERVICE_HOST" not in os.environ:  # every container of a pod has it
            return "This machine is no pod."
        return "The pod has a token of the Kubernetes API, which no script may have." if TOKEN.exists() else None

    def start(self, jail: Jail, argv: Sequence[str], stdout: int, stderr: int) -> Supervised:
        """Start the script, in bubblewrap if that works here: with the network of the pod, which several nodes need."""
        inner = Bubblewrap(network=True)
        if inner.refused() is None:
            return inner.start(jail, argv, stdout, stderr)
        return super().start(jail, argv, stdout, stderr)
