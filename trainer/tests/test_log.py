"""log.txt: what the driver prints, whichever thread prints it and whenever."""

import subprocess
import sys
import threading
from pathlib import Path

from trainer.run_folder import log

PRINTS_WHILE_STREAMS_CHANGE = """
import sys, threading
from pathlib import Path
from trainer.run_folder import log

def go():
    while True:
        print("a line")

sys.setswitchinterval(1e-5)
for _ in range(2):
    threading.Thread(target=go, daemon=True).start()
for _ in range(1000):
    with log.copied_to(Path(sys.argv[1])):
        pass
"""


def test_everything_printed_goes_to_the_log_and_to_the_stream(tmp_path, capsys):
    with log.copied_to(tmp_path / "log.txt"):
        print("Ünï")
        print("an error", file=sys.stderr)
    print("afterwards")
    assert (tmp_path / "log.txt").read_text() == "Ünï\nan error\n"
    assert capsys.readouterr().out == "Ünï\nafterwards\n"


def test_a_stream_that_is_kept_after_the_end_still_prints_and_leaves_the_log_alone(tmp_path, capsys):
    with log.copied_to(tmp_path / "log.txt"):
        kept = sys.stdout
    kept.write("late")
    assert capsys.readouterr().out == "late"
    assert (tmp_path / "log.txt").read_text() == ""


def test_lines_of_two_threads_are_not_mixed(tmp_path, capsys):
    with log.copied_to(tmp_path / "log.txt"):
        threads = [threading.Thread(target=lambda: [sys.stdout.write("a whole line\n") for _ in range(500)]) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert (tmp_path / "log.txt").read_text() == "a whole line\n" * 2000


def test_a_thread_that_prints_while_the_streams_are_restored_does_not_crash(tmp_path):
    command = [sys.executable, "-c", PRINTS_WHILE_STREAMS_CHANGE, str(tmp_path / "log.txt")]
    done = subprocess.run(command, cwd=Path(__file__).parents[2], capture_output=True, text=True, timeout=600)
    assert (done.returncode, done.stderr) == (0, "")
