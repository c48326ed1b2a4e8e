"""Errors that a user can fix, as opposed to faults of the program or the cluster."""

import contextlib
import errno
import os
import traceback

_UNITS = ((1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB"))


class UserError(Exception):
    """An error that would occur again with the same input, so that a person must change something.

    ``what`` says in one sentence what is wrong and names the file and column, ``why`` adds the facts, and ``do`` says in
    one sentence what to change. ``code`` is a stable word for programs. All four are passed on to ``Exception`` so that the
    error survives pickling on its way from a worker to the driver.
    """

    def __init__(self, code: str, what: str, do: str, why: str = ""):
        super().__init__(code, what, do, why)
        self.code, self.what, self.do, self.why = code, one_line(what), one_line(do), one_line(why)

    def __str__(self) -> str:
        return " ".join(part for part in (self.what, self.why, self.do) if part)

    def fields(self) -> dict[str, str]:
        """The fields of error.json and of an error event."""
        fields = {"code": self.code, "what": self.what, "do": self.do}
        return {**fields, "why": self.why} if self.why else fields


class Paused(Exception):
    """The training has saved a checkpoint and ends, to be started again."""


class MachineLeaving(Exception):
    """The training has saved a checkpoint because the machine of a worker is about to shut down. Other workers take over."""


class Regrouping(Exception):
    """The training has saved a checkpoint because it goes on with more workers."""


def no_gpu(why: str = "") -> UserError:
    return UserError("no_gpu", "A GPU was requested, but none is available.", "Set use_gpu to auto or no, or try again later.", why)


def one_line(text: str, limit: int = 600) -> str:
    """``text`` as a single line of at most ``limit`` characters: these texts end up in job statuses."""
    text = " ".join(text.split())
    return text if len(text) <= limit else text[: limit - 1] + "…"


def as_user_error(error: BaseException, folder: str) -> UserError | None:
    """``error`` or its cause as a UserError; None for a fault of the program or the cluster.

    ``folder`` is the run folder. Paths in the message are relative to its parent, because users must not see paths of the server.
    """
    seen = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        if isinstance(error, UserError):
            return UserError(error.code, error.what, error.do, error.why)
        if is_full(error):
            place = os.path.relpath(getattr(error, "filename", None) or folder, os.path.dirname(folder) or ".")
            named = "" if place.startswith("..") else f": {place} could not be written"
            return UserError(
                "disk_full",
                f"The disk of the shared folder is full{named}.",
                "Ask the administrator to make space there, then submit again.",
                getattr(error, "strerror", None) or "",
            )
        if type(error).__module__.startswith("ray.") and "running low on memory" in str(error):
            return UserError(
                "memory",
                "A worker ran out of memory repeatedly.",
                "Set a smaller batch_size or max_length, choose a smaller model, or ask the administrator for more memory.",
            )
        if isinstance(error, ModuleNotFoundError) and not (error.name or "").startswith("trainer"):
            return UserError(
                "missing_package",
                f"The Python environment of the Ray cluster lacks the package {error.name}.",
                "Ask the administrator to install the packages listed in trainer/requirements.txt.",
            )
        if type(error).__name__ == "OutOfMemoryError" and type(error).__module__.startswith("torch"):
            return UserError(
                "gpu_memory",
                "The GPU does not have enough memory for this batch.",
                "Set a smaller batch_size or max_length, or choose a smaller model.",
            )
        error = getattr(error, "cause", None) or error.__cause__ or error.__context__
    return None


@contextlib.contextmanager
def reading_model(what: str):
    """Turns any error while a saved model is read into a UserError about its files, because they come from outside."""
    try:
        yield
    except Exception as e:
        if as_user_error(e, what) or isinstance(e, MemoryError):
            raise
        traceback.print_exc()  # for the log
        why = f"{type(e).__name__}: {e}."
        raise UserError("model_file", f"{what} cannot be loaded: its files do not match.", "Choose another model, or train it again.", why) from e


def is_full(error: BaseException) -> bool:
    """Whether a disk or a quota is full. safetensors, written in Rust, has the error number only in its message."""
    full = (errno.ENOSPC, errno.EDQUOT)
    if isinstance(error, OSError):
        return error.errno in full
    return type(error).__name__ == "SafetensorError" and any(f"(os error {number})" in str(error) for number in full)


def count(number: int, noun: str) -> str:
    """A number with its noun for a sentence: "1 worker", "2,000 workers"."""
    return f"{number:,} {noun}" + "s" * (number != 1)


def size_in_words(number: int) -> str:
    """Bytes for a sentence: "12 bytes", "1.5 GiB"."""
    unit, name = next(((u, n) for u, n in _UNITS if number >= u), (1, "bytes"))
    return f"{number / unit:.3g} {name}"


def left_out(number: int, noun: str) -> str:
    """The beginning of a sentence: "1 row is left out", "2 rows are left out"."""
    return f"{count(number, noun)} {'is' if number == 1 else 'are'} left out"


def some(values, limit: int = 12) -> str:
    """Values as a list for a sentence: "a, b and 3 more"."""
    values = list(values)
    more = len(values) - limit
    values = [one_line(str(v), 120) for v in values[: limit if more > 0 else None]]
    if more > 0:
        return f"{', '.join(values)} and {more} more"
    if len(values) <= 1:
        return "".join(values) or "none"
    return f"{', '.join(values[:-1])} and {values[-1]}"


def gigabytes(size: float) -> str:
    """Bytes as text: "8 GB", "0.6 GB"."""
    value = size / 1_000_000_000
    return f"{value:.0f} GB" if value >= 10 else f"{value:.1f} GB"
