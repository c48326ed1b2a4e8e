"""What a worker used and ran: time, memory, versions."""

import os
import resource
import socket
import sys
from pathlib import Path


def of_worker(ctx, trained, seconds: float, cpu_seconds: float) -> dict:
    """The resources that this worker used, as in result.json. The times cover the training without the imports before it."""
    position = trained.position
    used = {
        "rank": ctx.rank,
        "node": socket.gethostname(),
        "samples_per_second": round(trained.rate / ctx.world, 1),
        "cpu_seconds": round(cpu_seconds, 2),
        "seconds": round(seconds, 2),
        "peak_memory_bytes": peak_memory(),
    }
    if (files := file_memory()) is not None:
        used["file_memory_bytes"] = files
    if ctx.device.type == "cuda":
        import torch

        used["gpu_peak_memory_bytes"] = torch.cuda.max_memory_allocated()
    if ctx.world > 1:
        used["waiting_share"] = round(min(1.0, trained.waiting_seconds / max(1e-9, position.seconds)), 4)
    return used


def gathered(mine: dict, world: int) -> list[dict]:
    """What all workers used, on every rank. Each of them calls it."""
    if world == 1:
        return [mine]
    import torch

    found: list = [None] * world
    torch.distributed.all_gather_object(found, mine)
    return found


def peak_memory() -> int:
    """The peak memory of this process in bytes."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024


def file_memory() -> int | None:
    """The bytes of this process's memory that are mapped files, of which all processes of a machine share one copy; None where the
    system does not say it."""
    try:
        lines = Path("/proc/self/status").read_text(encoding="ascii", errors="replace").splitlines()
    except OSError:
        return None
    sizes = {name: int(words.split()[0]) for name, words in (line.split(":", 1) for line in lines) if name in ("RssFile", "RssShmem")}
    return 1024 * sum(sizes.values()) if sizes else None


def versions() -> dict[str, str]:
    """The versions of Python and of the libraries behind a network, and the image that this process runs in."""
    import platform
    from importlib.metadata import version

    modules = {name: version(name).partition("+")[0] for name in ("torch", "transformers", "tokenizers", "safetensors")}
    image = {"image": os.environ["RAY_IMAGE"]} if os.environ.get("RAY_IMAGE") else {}  # the service sets it in the pods that it creates
    return {"python": platform.python_version(), **modules, **image}
