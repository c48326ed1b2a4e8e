"""What a user reads about a script that failed."""

import signal

import pytest

from trainer.config.jail import GIB, Limits
from trainer.script import reasons
from trainer.script.reasons import Facts
from trainer.script.sandbox import Ended

FACTS = Facts("train.py", Limits(memory_bytes=2 * GIB))
FAILED = Ended(1)


def traceback(last: str, place: str = "/home/user/run/model.py", line: int = 7) -> str:
    return f"""Traceback (most recent call last):
  File "/home/user/run/train.py", line 3, in <module>
    main()
  File "{place}", line {line}, in main
    fail()
  File "/usr/lib/python3.11/site-packages/lib.py", line 99, in fail
    raise it
{last}"""


@pytest.mark.parametrize(
    ("ended", "text", "code", "says"),
    [
        pytest.param(
            FAILED, traceback("ValueError: no way"), "script_failed", "train.py failed with ValueError: no way (model.py, line 7).", id="an exception"
        ),
        pytest.param(FAILED, traceback("KeyError: 'text'"), "script_failed", "KeyError: 'text' (model.py, line 7)", id="a missing key"),
        pytest.param(FAILED, traceback("AssertionError"), "script_failed", "AssertionError (model.py, line 7)", id="an exception without a text"),
        pytest.param(
            FAILED,
            traceback("ModuleNotFoundError: No module named 'sklearn.svm'"),
            "missing_module",
            "Write the line scikit-learn into",
            id="a module",
        ),
        pytest.param(
            FAILED,
            traceback("ModuleNotFoundError: No module named 'tensorflow'"),
            "missing_module",
            "Use Keras with the backend torch",
            id="tensorflow",
        ),
        pytest.param(Ended(3), "bye", "script_failed", "train.py ended with exit code 3. Its last line was: bye", id="an exit code"),
        pytest.param(Ended(3), "", "script_failed", "It printed nothing.", id="no output"),
        pytest.param(Ended(None, signal.SIGSEGV), "x", "script_failed", "ended by the signal SIGSEGV", id="a signal"),
        pytest.param(Ended(137, exceeded="memory"), "x", "out_of_memory", "needs more than the 2 GiB of memory", id="the memory limit"),
        pytest.param(
            Ended(None, signal.SIGKILL, peak_memory_bytes=2 * GIB),
            "x",
            "out_of_memory",
            "needs more than the 2 GiB",
            id="killed near the memory limit",
        ),
        pytest.param(Ended(None, signal.SIGKILL, exceeded="disk"), "x", "out_of_disk", "wrote more than the 20 GiB", id="the disk limit"),
        pytest.param(Ended(None, signal.SIGKILL, exceeded="files"), "x", "out_of_disk", "more than 100000 files", id="the limit of files"),
        pytest.param(Ended(1, exceeded="processes"), "x", "script_failed", "more than 512 processes", id="the limit of processes"),
        pytest.param(
            FAILED,
            traceback("urllib.error.URLError: <urlopen error [Errno -3] Temporary failure in name resolution>")
            + "\nDownloading https://example.org/train.gz",
            "wanted_network",
            "wanted to download https://example.org/train.gz (model.py, line 7), but runs have no network",
            id="a download",
        ),
        pytest.param(
            FAILED,
            traceback("requests.exceptions.ConnectionError: HTTPSConnectionPool(host='hub.example', port=443): Max retries exceeded"),
            "wanted_network",
            "wanted to download hub.example",
            id="a download by requests",
        ),
        pytest.param(FAILED, traceback("OSError: [Errno 28] No space left on device"), "out_of_disk", "disk of the script is full", id="a full disk"),
        pytest.param(FAILED, traceback("OSError: [Errno 27] File too large"), "out_of_disk", "became larger than 10 GiB", id="a large file"),
        pytest.param(FAILED, traceback("OSError: [Errno 30] Read-only file system: 'x'"), "read_only", "may only read", id="an input is changed"),
        pytest.param(FAILED, traceback("MemoryError"), "out_of_memory", "2 GiB", id="memory that Python did not get"),
        pytest.param(
            FAILED,
            traceback("torch.OutOfMemoryError: CUDA out of memory. Tried to"),
            "gpu_memory",
            "GPU does not have enough",
            id="the memory of the GPU",
        ),
        pytest.param(FAILED, traceback("RuntimeError: Found no NVIDIA driver on your system."), "no_gpu", "this run has none", id="no GPU"),
        pytest.param(
            FAILED,
            '  File "/home/user/run/train.py", line 4\n    def x(:\n          ^\nSyntaxError: invalid syntax',
            "syntax_error",
            "syntax error (train.py, line 4)",
            id="a syntax error",
        ),
        pytest.param(
            Ended(2), "usage: train.py [-h]\ntrain.py: error: unrecognized arguments: --x", "script_failed", "refused its arguments", id="arguments"
        ),
    ],
)
def test_the_reason(ended, text, code, says):
    error = reasons.failure(ended, {0: text.splitlines()} if text else {}, FACTS)
    assert error.code == code
    assert says in str(error)
    assert "/home/user" not in str(error)


def test_the_lowest_rank_that_failed_by_itself_is_named():
    lost = traceback("RuntimeError: [gloo/tcp] Connection closed by peer [127.0.0.1]:1").splitlines()
    last = {0: lost, 1: ["fine"], 2: traceback("ValueError: two").splitlines(), 3: traceback("ValueError: three").splitlines()}
    assert reasons.lowest(last).text == "two"
    assert "Connection closed" in reasons.lowest({0: lost}).text


def test_a_line_that_looks_like_an_exception_is_none():
    assert reasons.trace(["Epoch: 3", "Loss: 0.5"]) is None
    assert reasons.trace(["Warning: slow"]) is None
    assert reasons.trace([]) is None


def test_a_network_that_is_there_is_not_blamed():
    text = traceback("urllib.error.URLError: <urlopen error [Errno -3] Temporary failure in name resolution>")
    assert reasons.failure(FAILED, {0: text.splitlines()}, Facts("train.py", Limits(), network=True)).code == "script_failed"
