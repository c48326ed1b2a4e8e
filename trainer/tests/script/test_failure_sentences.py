"""The whole sentences that a user reads about a script that failed, for each cause."""

import pytest

from trainer.config.jail import GIB, MIB, Limits
from trainer.script import reasons
from trainer.script.reasons import Facts, Trace
from trainer.script.sandbox import Ended

LIMITS = Limits(memory_bytes=2 * GIB, disk_bytes=3 * GIB, file_bytes=512 * MIB, files=10, processes=20)
FACTS = Facts("train.py", LIMITS)
LOOK = "Look at the end of the log, correct the script and submit again."
HEAD = 'Traceback (most recent call last):\n  File "/home/user/run/train.py", line 3, in <module>'


def said(last: str, facts: Facts = FACTS) -> str:
    return str(reasons.failure(Ended(1), {0: f"{HEAD}\n{last}".splitlines()}, facts))


def test_a_file_of_the_dataset_under_another_path_is_named():
    facts = Facts("train.py", LIMITS, files=["raw/x.csv", "y.csv"])
    assert "The dataset has raw/x.csv: open it by this path, or below" in said(
        "FileNotFoundError: [Errno 2] No such file or directory: 'C:\\\\data\\\\x.csv'", facts
    )


@pytest.mark.parametrize(
    ("last", "sentence"),
    [
        ("ValueError: bad", "train.py failed with ValueError: bad (train.py, line 3). " + LOOK),
        ("ValueError: bad!", "train.py failed with ValueError: bad! (train.py, line 3). " + LOOK),
        ('    data = sys.argv[1]\nIndexError: list index out of range',
         "train.py failed with IndexError: list index out of range (train.py, line 3). "
         "The script reads arguments: write them into Arguments (on the command line, after --) and submit again."),
        ("FileNotFoundError: [Errno 2] No such file or directory: '/home/jane/x.csv'",
         "train.py failed with FileNotFoundError: [Errno 2] No such file or directory: '/home/jane/x.csv' (train.py, line 3). "
         "A run sees its dataset and no other folder of a machine. Add the file to the dataset and open it by its path there, "
         "or below the folder in DATA_DIR, and submit again."),
        ("FileNotFoundError: [Errno 2] No such file or directory: 'x.csv'",
         "train.py failed with FileNotFoundError: [Errno 2] No such file or directory: 'x.csv' (train.py, line 3). " + LOOK),
        ("KeyError: 'x'", "train.py failed with KeyError: 'x' (train.py, line 3). " + LOOK),
        ("a.b.MyError: in /home/user/run/x.csv",
         "train.py failed with MyError: in x.csv (train.py, line 3). " + LOOK),
        ("ModuleNotFoundError: No module named 'yaml'",
         "The script imports yaml (train.py, line 3), which is not installed. If yaml is a file of yours, add yaml.py to the dataset. "
         "Write the line PyYAML into requirements.txt beside the script, and ask the administrator to allow packages (SCRIPT_REQUIREMENTS)."),
        ("ModuleNotFoundError: No module named 'tensorflow.keras'",
         "The script imports tensorflow.keras (train.py, line 3), which is not installed. "
         "Use Keras with the backend torch, or ask the administrator for an image with tensorflow."),
        ("OSError: [Errno 28] No space left on device: '/tmp/x'",
         "The disk of the script is full (train.py, line 3). OSError: [Errno 28] No space left on device: '/tmp/x'. "
         "Write less, above all into /tmp, which counts as memory."),
        ("OSError: [Errno 27] File too large", "A file of the script became larger than 512 MiB (train.py, line 3). "
         "OSError: [Errno 27] File too large. Write several smaller files."),
        ("OSError: [Errno 30] Read-only file system: '/clowder/inputs/a.csv'",
         "The script wanted to change a file that it may only read (train.py, line 3). OSError: [Errno 30] Read-only file system: 'a.csv'. "
         "Let it write to the folder out or to a new file."),
        ("torch.OutOfMemoryError: CUDA out of memory.",
         "The GPU does not have enough memory (train.py, line 3). OutOfMemoryError: CUDA out of memory. Use smaller batches or a smaller model."),
        ("MemoryError", "The script needs more than the 2 GiB of memory that it has (train.py, line 3). MemoryError. "
         "Use smaller batches or a smaller model, or read the data in parts."),
        ("RuntimeError: [enforce fail] DefaultCPUAllocator: can't allocate memory: you tried",
         "The script needs more than the 2 GiB of memory that it has (train.py, line 3). "
         "RuntimeError: [enforce fail] DefaultCPUAllocator: can't allocate memory: you tried. "
         "Use smaller batches or a smaller model, or read the data in parts."),
        ("RuntimeError: Found no NVIDIA driver on your system.",
         "The script wants a GPU, and this run has none (train.py, line 3). RuntimeError: Found no NVIDIA driver on your system. "
         "Set use_gpu to yes, or let the script use the CPU."),
        ("SyntaxError: invalid syntax",
         "The code has a syntax error (train.py, line 3). SyntaxError: invalid syntax. Correct this line and submit again."),
        ("socket.gaierror: [Errno -3] Temporary failure in name resolution",
         "The script wanted to download a file (train.py, line 3), but runs have no network. "
         "gaierror: [Errno -3] Temporary failure in name resolution. Add the file to the dataset and let the script read it from there."),
        ("requests.exceptions.ConnectionError: HTTPSConnectionPool(host='example.org', port=443): Max retries exceeded",
         "The script wanted to download example.org (train.py, line 3), but runs have no network. "
         "ConnectionError: HTTPSConnectionPool(host='example.org', port=443): Max retries exceeded. "
         "Add the file to the dataset and let the script read it from there."),
        ("OSError: Couldn't reach https://example.org/set.zip, offline",
         "The script wanted to download https://example.org/set.zip (train.py, line 3), but runs have no network. "
         "OSError: Couldn't reach https://example.org/set.zip, offline. Add the file to the dataset and let the script read it from there."),
    ],
)  # fmt: skip
def test_an_exception_becomes_one_sentence_with_a_remedy(last, sentence):
    assert said(last) == sentence


@pytest.mark.parametrize(
    ("facts", "last", "part"),
    [
        (Facts("train.py", LIMITS, resolved=True), "ModuleNotFoundError: No module named 'x'", "beside the script and submit again."),
        (Facts("train.py", LIMITS, network=True), "socket.gaierror: Name or service not known", "train.py failed with gaierror"),
        (Facts("train.py", LIMITS, gpus=1), "RuntimeError: No CUDA GPUs are available", "train.py failed with RuntimeError"),
    ],
)
def test_what_the_run_has_is_not_blamed(facts, last, part):
    assert part in said(last, facts)


@pytest.mark.parametrize(
    ("ended", "sentence"),
    [
        (Ended(137, exceeded="memory"), "The script needs more than the 2 GiB of memory that it has. "
         "Use smaller batches or a smaller model, or read the data in parts."),
        (Ended(137, exceeded="disk"), "The script wrote more than the 3 GiB that it may write. "
         "Keep fewer checkpoints, or remove files that are not needed any more."),
        (Ended(137, exceeded="files"), "The script made more than 10 files. Write fewer, larger files."),
        (Ended(137, exceeded="processes"), "The script started more than 20 processes and threads. Use fewer workers in the data loaders."),
        (Ended(None, 9, peak_memory_bytes=int(1.81 * GIB)), "The script needs more than the 2 GiB of memory that it has. "
         "Use smaller batches or a smaller model, or read the data in parts."),
        (Ended(137, peak_memory_bytes=int(1.81 * GIB)), "The script needs more than the 2 GiB of memory that it has. "
         "Use smaller batches or a smaller model, or read the data in parts."),
        (Ended(None, 9, peak_memory_bytes=int(1.79 * GIB)),
         "train.py was ended by the signal SIGKILL. It printed nothing. " + LOOK),
        (Ended(None, 9), "train.py was ended by the signal SIGKILL. It printed nothing. " + LOOK),
        (Ended(None, 99), "train.py was ended by the signal 99. It printed nothing. " + LOOK),
        (Ended(4), "train.py ended with exit code 4. It printed nothing. " + LOOK),
    ],
)  # fmt: skip
def test_an_end_without_an_exception_is_explained(ended, sentence):
    assert str(reasons.failure(ended, {0: []}, FACTS)) == sentence


@pytest.mark.parametrize(
    ("code", "part"),
    [(2, "train.py refused its arguments: unrecognized arguments: --lr 1. Correct arguments and submit again."), (3, "ended with exit code 3")],
)
def test_arguments_that_the_script_refuses(code, part):
    lines = ["usage: train.py [-h]", "train.py: error: unrecognized arguments: --lr 1"]
    assert part in str(reasons.failure(Ended(code), {0: lines}, FACTS))


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("", None),
        ("ValueError: printed by somebody", None),
        (f"{HEAD}\nValueError: x", Trace("ValueError", "x", "train.py", 3)),
        (f"{HEAD}\nValueError: x\nand more was printed", Trace("ValueError", "x", "train.py", 3)),
        (f"{HEAD}\nKeyboardInterrupt", Trace("KeyboardInterrupt", "", "train.py", 3)),
        (f"{HEAD}\nzlib.error: Error -3", Trace("error", "Error -3", "train.py", 3)),
        (f"{HEAD}\nmy.error: printed by somebody", None),
        (f"{HEAD}\nDone", None),
        (f"{HEAD}\nDone: all", Trace("Done", "all", "train.py", 3)),
        ('Traceback (most recent call last):\n  File "/usr/lib/x.py", line 5, in f\nOSError: y', Trace("OSError", "y")),
        ('Traceback (most recent call last):\n  File "<string>", line 5, in f\nOSError: y', Trace("OSError", "y")),
        ('Traceback (most recent call last):\n  File "net/model.py", line 5, in f\nOSError: y', Trace("OSError", "y", "net/model.py", 5)),
        (f"{HEAD}\nA: 1\n{HEAD}\nBError: 2", Trace("BError", "2", "train.py", 3)),
    ],
)
def test_the_last_exception_of_an_output(text, found):
    assert reasons.trace(text.splitlines()) == found


def test_the_rank_that_failed_by_itself_is_asked_first():
    lines = lambda last: f"{HEAD}\n{last}".splitlines()  # noqa: E731 - short and used below
    last = {"torchrun": lines("ChildFailedError: x"), 1: lines("ValueError: mine"), 0: lines("RuntimeError: Connection closed by peer")}
    assert reasons.lowest(last) == Trace("ValueError", "mine", "train.py", 3)
    assert reasons.lowest({0: lines("RuntimeError: Broken pipe"), 1: lines("RuntimeError: NCCL")}).text == "Broken pipe"
    assert reasons.lowest({"x": lines("ValueError: 1"), 3: ["nothing"]}) is None
