"""Checks before a training begins: that all workers can write to the shared folder, and that the device works."""

import os
import time
import uuid
from importlib import metadata
from pathlib import Path

from trainer.errors import UserError

TOKEN = "shared"
PACKAGES = ("ray", "torch", "transformers", "numpy")
SHARED_TIMEOUT_SECONDS = 30.0  # network file systems show a new file late


def announce(folder: Path) -> str:
    """Write a token into ``folder``, by which workers on other machines recognise the folder; returns the token."""
    token = "\n".join((uuid.uuid4().hex, *_versions()))
    (folder / TOKEN).write_text(token, encoding="utf-8")
    return token


def shared(folder: Path, token: str, timeout: float = SHARED_TIMEOUT_SECONDS) -> None:
    """Raise UserError unless this machine sees the driver's token in ``folder``."""
    until = time.monotonic() + timeout
    while True:
        try:
            if (folder / TOKEN).read_text(encoding="utf-8") == token:
                return _same_versions(token.splitlines()[1:])
        except OSError:
            pass
        if time.monotonic() >= until:
            raise UserError(
                "not_shared",
                "The shared folder is not the same on all machines of the Ray cluster.",
                "Ask the administrator to mount one volume on all machines that all of them can write to (ReadWriteMany).",
                f"{os.uname().nodename} does not see the file that the driver wrote there.",
            )
        time.sleep(0.2)


def _same_versions(theirs: list[str]) -> None:
    """Log packages of this worker whose versions differ from those of the driver: the results may then differ slightly."""
    for mine, other in zip(_versions(), theirs, strict=False):
        if mine != other:
            print(f"Warning: {os.uname().nodename} has {mine}, the driver has {other}.", flush=True)


def _versions() -> list[str]:
    return [f"{name} {metadata.version(name)}" for name in PACKAGES]


def writable(folder: Path, rank: int) -> None:
    """Raise UserError unless this worker can write into ``folder``."""
    probe = folder / f"probe-{rank}"
    try:
        probe.write_bytes(b"x")
        probe.unlink()
    except OSError as e:
        raise UserError(
            "not_writable",
            "A worker cannot write to the shared folder.",
            "Ask the administrator to mount the volume writable on all machines of the Ray cluster.",
            f"{os.uname().nodename}: {e.strerror}.",
        ) from e


def gpu() -> None:
    """Raise UserError unless torch can use the GPU that was reserved for this worker."""
    import torch

    if not torch.cuda.is_available():
        raise UserError(
            "gpu_unusable",
            "A GPU was reserved for this worker, but torch cannot use it.",
            "Set use_gpu to no, or ask the administrator to check the driver and the image.",
            f"torch {torch.__version__} on {os.uname().nodename}.",
        )


def hardware(gpu: bool = True) -> dict:
    """The hardware of this process, as in result.json. Without ``gpu`` torch is not imported to look for one."""
    found = {"cpu": _cpu(), "cores": os.cpu_count() or 0, "memory_bytes": os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")}
    if not gpu:
        return found
    import torch

    if torch.cuda.is_available():
        found |= {"gpu": torch.cuda.get_device_name(), "gpus": torch.cuda.device_count()}
    return found


def node() -> str:
    """The name of this machine."""
    return os.uname().nodename


def _cpu() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return os.uname().machine
    return next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), os.uname().machine)
