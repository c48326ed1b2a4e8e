"""Why a script failed: one sentence from its exit and the end of its output, and what to do about it."""

import re
import signal
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

from trainer.config.jail import HOME, INPUTS, RUN, Limits
from trainer.errors import UserError, one_line, size_in_words
from trainer.script.checking.package_names import package_of
from trainer.script.sandbox import Ended

_EXCEPTION = re.compile(r"((?:[A-Za-z_]\w*\.)*[A-Z]\w*|socket\.gaierror|(?:re|select|struct|zlib)\.error)(?:: (.*))?")
_FRAME = re.compile(r'  File "([^"]+)", line (\d+)')
_URL = re.compile(r"https?://[^\s'\")>]+")
_HOST = re.compile(r"host='([^']+)'")
_NO_NETWORK = re.compile(
    r"Temporary failure in name resolution|Name or service not known|nodename nor servname|Network is unreachable|gaierror|LocalEntryNotFoundError"
    r"|OfflineModeIsEnabled|offline mode is enabled|outgoing traffic has been disabled"
    r"|Couldn't reach |ConnectionError: .*(?:Max retries|HTTPS?ConnectionPool)",
)
_SECONDARY = re.compile(
    r"Connection closed by peer|Connection reset by peer|Broken pipe|\bNCCL\b|DistBackendError|DistNetworkError|gloo", re.IGNORECASE
)
_NO_GPU = re.compile(
    r"Found no NVIDIA driver|not compiled with CUDA enabled|No CUDA GPUs are available|Torch not compiled with CUDA|invalid device ordinal"
)


@dataclass(frozen=True)
class Trace:
    """The last exception in the output of one process. ``file`` and ``line`` are the last place in the user's own files."""

    kind: str
    text: str
    file: str = ""
    line: int = 0

    @property
    def place(self) -> str:
        return f" ({self.file}, line {self.line})" if self.file else ""


@dataclass(frozen=True)
class Facts:
    """What else is known about the run: ``network`` whether there was one, ``resolved`` whether requirements.txt is installed."""

    entry: str
    limits: Limits
    network: bool = False
    gpus: int = 0
    resolved: bool = False
    files: Sequence[str] = ()  # of the dataset


def trace(lines: Sequence[str]) -> Trace | None:
    """The last exception in these lines: the last words of the last traceback."""
    for at in range(len(lines) - 1, -1, -1):
        found = _EXCEPTION.fullmatch(lines[at].rstrip())
        if found is None or not _is_exception(found, lines[:at]):
            continue
        frames = [(m[1], int(m[2])) for line in lines[:at] if (m := _FRAME.match(line))]
        own = [(_shown(file), number) for file, number in frames if _shown(file)]
        return Trace(found[1].rpartition(".")[2], found[2] or "", *(own[-1] if own else ("", 0)))
    return None


def lowest(last: dict[object, list[str]]) -> Trace | None:
    """The exception of the lowest rank that failed by itself, not because another rank was gone."""
    ranks = sorted((rank for rank in last if isinstance(rank, int)), key=int)
    found = [t for rank in ranks if (t := trace(last[rank]))]
    return next((t for t in found if not _SECONDARY.search(f"{t.kind}: {t.text}")), found[0] if found else None)


def failure(ended: Ended, last: dict[object, list[str]], facts: Facts) -> UserError:
    """The error for a script that did not end with exit code 0. ``last`` has the last lines of each rank."""
    if limit := _limit(ended, facts.limits):
        return limit
    found = lowest(last)
    text = "\n".join(line for lines in last.values() for line in lines)
    if found is not None:
        return _by_exception(found, text, facts)
    if (refused := re.search(r"^\S+: error: (.+)$", text, re.MULTILINE)) and ended.code in (2, 1):
        return UserError("script_failed", f"{facts.entry} refused its arguments: {_sentence(refused[1])}", "Correct arguments and submit again.")
    why = next((line for lines in last.values() for line in reversed(lines) if line.strip()), "")
    why = _sentence(f"Its last line was: {one_line(_clean(why), 200)}") if why else "It printed nothing."
    if ended.signal is not None:
        return UserError("script_failed", f"{facts.entry} was ended by the signal {_signal_name(ended.signal)}.", _LOOK, why)
    return UserError("script_failed", f"{facts.entry} ended with exit code {ended.code}.", _LOOK, why)


_LOOK = "Look at the end of the log, correct the script and submit again."


def _limit(ended: Ended, limits: Limits) -> UserError | None:
    """The error for a script that a limit has ended."""
    killed = ended.code == 128 + signal.SIGKILL or ended.signal == signal.SIGKILL
    if ended.exceeded == "memory" or (
        killed and ended.exceeded is None and limits.memory_bytes and (ended.peak_memory_bytes or 0) > 0.9 * limits.memory_bytes
    ):
        what = f"The script needs more than the {size_in_words(limits.memory_bytes)} of memory that it has."
        return UserError("out_of_memory", what, "Use smaller batches or a smaller model, or read the data in parts.", ended.text)
    if ended.exceeded == "disk":
        what = f"The script wrote more than the {size_in_words(limits.disk_bytes)} that it may write."
        return UserError("out_of_disk", what, "Keep fewer checkpoints, or remove files that are not needed any more.", ended.text)
    if ended.exceeded == "files":
        return UserError("out_of_disk", f"The script made more than {limits.files} files.", "Write fewer, larger files.", ended.text)
    if ended.exceeded == "processes":
        what = f"The script started more than {limits.processes} processes and threads."
        return UserError("script_failed", what, "Use fewer workers in the data loaders.", ended.text)
    return None


def _by_exception(found: Trace, text: str, facts: Facts) -> UserError:
    said = _sentence(f"{found.kind}: {found.text}" if found.text else found.kind)
    where = found.place
    if found.kind == "ModuleNotFoundError" and (name := re.search(r"No module named '([\w.]+)'", found.text)):
        return missing_module(name[1], where, facts)
    if not facts.network and _NO_NETWORK.search(text) and _NO_NETWORK.search(f"{found.kind}: {found.text}\n{text}"):
        url, host = _URL.search(text), _HOST.search(text)
        wanted = _clean(url[0].rstrip(".,")) if url else host[1] if host else "a file"
        what = f"The script wanted to download {wanted}{where}, but runs have no network."
        return UserError("wanted_network", what, "Add the file to the dataset and let the script read it from there.", said)
    if "No space left on device" in found.text or found.text.startswith("[Errno 28]"):
        return UserError("out_of_disk", f"The disk of the script is full{where}.", "Write less, above all into /tmp, which counts as memory.", said)
    if "File too large" in found.text:
        what = f"A file of the script became larger than {size_in_words(facts.limits.file_bytes)}{where}."
        return UserError("out_of_disk", what, "Write several smaller files.", said)
    if "Read-only file system" in found.text:
        what = f"The script wanted to change a file that it may only read{where}."
        return UserError("read_only", what, "Let it write to the folder out or to a new file.", said)
    if found.kind == "OutOfMemoryError" or "CUDA out of memory" in found.text:
        return UserError("gpu_memory", f"The GPU does not have enough memory{where}.", "Use smaller batches or a smaller model.", said)
    if found.kind == "MemoryError" or "can't allocate memory" in found.text or "Cannot allocate memory" in found.text:
        what = f"The script needs more than the {size_in_words(facts.limits.memory_bytes)} of memory that it has{where}."
        return UserError("out_of_memory", what, "Use smaller batches or a smaller model, or read the data in parts.", said)
    if not facts.gpus and _NO_GPU.search(text):
        return UserError(
            "no_gpu", f"The script wants a GPU, and this run has none{where}.", "Set use_gpu to yes, or let the script use the CPU.", said
        )
    if found.kind in ("SyntaxError", "IndentationError", "TabError"):
        return UserError("syntax_error", f"The code has a syntax error{where}.", "Correct this line and submit again.", said)
    what = f"{facts.entry} failed with {said.rstrip('.')}{where}."
    return UserError("script_failed", what, _remedy(found, text, facts))


def _remedy(found: Trace, text: str, facts: Facts) -> str:
    """What to do about an exception of the script's own code."""
    if found.kind == "IndexError" and "sys.argv[" in text:
        return "The script reads arguments: write them into Arguments (on the command line, after --) and submit again."
    path = re.search(r"'([^']+)'$", found.text) if found.kind == "FileNotFoundError" else None
    if path is None or (not path[1].startswith(("/", "~", "..")) and ":" not in path[1]):
        return _LOOK
    base = re.split(r"[/\\]", path[1].rstrip("/\\"))[-1]
    same = [f for f in facts.files if PurePosixPath(f).name == base]
    there = f"The dataset has {same[0]}: open it by this path" if len(same) == 1 else "Add the file to the dataset and open it by its path there"
    return f"A run sees its dataset and no other folder of a machine. {there}, or below the folder in DATA_DIR, and submit again."


def missing_module(module: str, where: str, facts: Facts) -> UserError:
    """What to say about a module that is imported at ``where`` (in brackets, or empty) and not installed."""
    top = module.partition(".")[0]
    package = package_of(module)
    what = f"The script imports {module}{where}, which is not installed."
    if top == "tensorflow":
        return UserError("missing_module", what, "Use Keras with the backend torch, or ask the administrator for an image with tensorflow.")
    install = f"Write the line {package} into requirements.txt beside the script"
    more = " and submit again." if facts.resolved else ", and ask the administrator to allow packages (SCRIPT_REQUIREMENTS)."
    return UserError("missing_module", what, install + more, f"If {top} is a file of yours, add {top}.py to the dataset.")


def _is_exception(found: re.Match, before: Sequence[str]) -> bool:
    """Whether a line names an exception: it follows a traceback, or it says so by its name."""
    if any(line.startswith("Traceback (most recent call last)") or _FRAME.match(line) for line in before[-60:]):
        return found[2] is not None or found[1].endswith(("Error", "Exception", "Interrupt", "Exit", "Warning", "Expired", "Full", "Empty"))
    return False


def _shown(file: str) -> str:
    """The path of a file of the user as the user sees it; empty for files of libraries."""
    if file.startswith(f"{RUN}/"):
        return file.removeprefix(f"{RUN}/")
    return "" if file.startswith(("/", "<")) else file


def _clean(text: str) -> str:
    """``text`` without the paths of the sandbox."""
    return text.replace(f"{RUN}/", "").replace(f"{INPUTS}/", "").replace(f"{HOME}/", "~/")


def _sentence(text: str) -> str:
    text = one_line(_clean(text), 300)
    return text if text.endswith((".", "!", "?", "…")) else f"{text}."


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return str(number)
