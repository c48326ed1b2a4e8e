"""Bytes of pipes to log.txt: every way to print a line, limits, floods, and bytes that no script should print."""

import os
import resource
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings, strategies as st

from trainer.script.lines import LATEST, LINE_BYTES, UNDERSTOOD_PER_SECOND, Lines
from trainer.script.log_file import LogFile


class Recorder:
    """In place of a Progress: the lines that it was given."""

    def __init__(self):
        self.lines: list[str] = []

    def line(self, text: str) -> None:
        self.lines.append(text)


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def written(folder: Path, *fed, limit: int = 0, clock=None, prefix: bool = False) -> tuple[str, Recorder, Lines]:
    """log.txt after ``fed``: pieces, or pairs of a rank and a piece."""
    heard = Recorder()
    lines = Lines(folder / "log.txt", limit, heard, prefix, None, clock or Clock())
    for piece in fed:
        rank, data = piece if isinstance(piece, tuple) else (0, piece)
        lines.feed(data, rank)
    lines.close()
    return (folder / "log.txt").read_bytes().decode(), heard, lines


CASES = {
    "a line": ((b"one\n",), "one\n"),
    "a line in pieces": ((b"o", b"n", b"e\ntw", b"o\n"), "one\ntwo\n"),
    "a line without an end": ((b"one\ntwo",), "one\ntwo\n"),
    "ends of lines of Windows": ((b"one\r\ntwo\r\n",), "one\ntwo\n"),
    "an end of a line of Windows in two pieces": ((b"one\r", b"\ntwo\r", b"\n"), "one\ntwo\n"),
    "empty lines": ((b"one\n\n\ntwo\n",), "one\n\n\ntwo\n"),
    "a bar of tqdm: its first state, and the one that stays": ((b"\r1%", b"\r2%", b"\r3%", b"\r100%\n", b"end\n"), "1%\n100%\nend\n"),
    "a line over a bar, as Hugging Face prints it": ((b"\r 1%", b"\r{'loss': 1}\n", b"\r 2%"), " 1%\n{'loss': 1}\n 2%\n"),
    "a bar that an end of line leaves standing": ((b"a\rb\rc\r", b"\n"), "a\nc\n"),
    "colours and moves of the cursor": ((b"\x1b[31mred\x1b[0m \x1b[2K\x1b[1A\x1b]0;title\x07x\x08y\n",), "red xy\n"),
    "a sequence in two pieces": ((b"\x1b[3", b"1mred\n"), "red\n"),
    "bytes that are no UTF-8": ((b"\xff\xfeA\x00B\n",), "��AB\n"),
    "a character in two pieces": (("ü".encode()[:1], "ü".encode()[1:] + b"\n"), "ü\n"),
    "two streams do not mix": (((0, b"a"), (1, b"b"), (0, b"a\n"), (1, b"b\n")), "aa\nbb\n"),
    "nothing": ((b"",), ""),
}


@pytest.mark.parametrize(("fed", "wanted"), CASES.values(), ids=CASES)
def test_what_is_printed_is_in_the_log(tmp_path, fed, wanted):
    assert written(tmp_path, *fed)[0] == wanted


def test_each_line_of_several_ranks_says_its_rank(tmp_path):
    assert written(tmp_path, (0, b"a\n"), (1, b"b\nc\n"), prefix=True)[0] == "[0] a\n[1] b\n[1] c\n"


def test_a_bar_is_stored_once_a_second_and_understood_always(tmp_path):
    clock = Clock()
    lines = Lines(tmp_path / "log.txt", 0, heard := Recorder(), clock=clock)
    for step in range(100):
        clock.now += 0.1
        lines.feed(b"\r%d/100" % step)
    lines.close()
    assert 9 <= len((tmp_path / "log.txt").read_text().splitlines()) <= 12
    assert (tmp_path / "log.txt").read_text().endswith("99/100\n")
    assert heard.lines == [f"{step}/100" for step in range(100)]


def test_the_state_of_a_bar_that_does_not_move_is_understood_when_it_is_quiet(tmp_path):
    lines = Lines(tmp_path / "log.txt", 0, heard := Recorder())
    lines.feed(b"\r50%")
    assert heard.lines == []
    lines.idle()
    assert heard.lines == ["50%"]
    lines.close()


@pytest.mark.parametrize("piece", [1000, LINE_BYTES - 1, LINE_BYTES, LINE_BYTES + 1, 200_000])
def test_a_long_line_is_cut_and_its_rest_counted(tmp_path, piece):
    data = b"x" * 200_000 + b"\nend\n"
    log, _, lines = written(tmp_path, *(data[i : i + piece] for i in range(0, len(data), piece)))
    assert log == "x" * LINE_BYTES + "\nend\n"
    assert lines.dropped == 200_000 - LINE_BYTES and lines.count == 2


def test_the_first_and_the_last_part_of_a_long_output_are_kept(tmp_path):
    text = "".join(f"line {i}\n" for i in range(100_000))
    data = text.encode()
    log, _, lines = written(tmp_path, *(data[i : i + 5000] for i in range(0, len(data), 5000)), limit=80_000)
    assert len(log) <= 80_000
    assert log.startswith("line 0\nline 1\n") and log.endswith("line 99998\nline 99999\n")
    first, last = log.split("bytes of the output are left out here")
    assert len(first) > 9_000 and len(last) > 30_000
    assert lines.count == 100_000
    left_out = int(first.split()[-1])
    assert lines.dropped == left_out
    whole = "".join(line + "\n" for line in log.splitlines() if line.startswith("line "))
    assert len(text) - len(whole) == left_out


def test_a_second_start_goes_on_in_the_same_file_and_keeps_the_limit(tmp_path):
    for start in range(3):
        lines = Lines(tmp_path / "log.txt", 20_000)
        lines.feed("".join(f"start {start} line {i}\n" for i in range(3000)).encode())
        lines.close()
        log = (tmp_path / "log.txt").read_text()
        assert len(log) <= 20_000 and log.count("left out here") == 1
        assert log.startswith("start 0 line 0\n") and log.endswith(f"start {start} line 2999\n")


def test_what_another_program_appends_stays_at_the_end(tmp_path):
    lines = Lines(tmp_path / "log.txt", 10_000)
    for i in range(1000):
        lines.feed(b"a line of the script\n")
        if i % 100 == 99:
            with open(tmp_path / "log.txt", "ab") as f:
                f.write(b"a line of the driver\n")
    lines.close()
    log = (tmp_path / "log.txt").read_text()
    assert log.endswith("a line of the driver\n") and log.count("driver") >= 2


def test_a_start_without_the_lease_does_not_shorten_the_file(tmp_path):
    class Lost:
        def held(self):
            return False

    log = LogFile(tmp_path / "log.txt", 5000, Lost())
    for _ in range(100):
        log.write(b"x" * 99 + b"\n")
    log.close()
    assert (tmp_path / "log.txt").stat().st_size == 10_000


def test_the_log_is_never_a_link(tmp_path):
    (tmp_path / "log.txt").symlink_to(tmp_path / "other")
    with pytest.raises(OSError, match="symbolic"):
        LogFile(tmp_path / "log.txt", 0)


def test_of_a_flood_the_progress_sees_the_first_lines_and_the_last_ones(tmp_path):
    _, heard, _ = written(tmp_path, b"".join(b"%d\n" % i for i in range(100_000)))
    assert heard.lines[:UNDERSTOOD_PER_SECOND] == [str(i) for i in range(UNDERSTOOD_PER_SECOND)]
    assert heard.lines[UNDERSTOOD_PER_SECOND:] == [str(i) for i in range(100_000 - LATEST, 100_000)]


def test_the_last_lines_of_the_lowest_rank_are_there_for_an_error(tmp_path):
    lines = Lines(tmp_path / "log.txt", 0)
    lines.feed(b"a\n", 1)
    lines.feed(b"Traceback\n\xe2\x94\x80\xe2\x94\x80\xe2\x94\x80\nValueError: x\n", 0)
    assert lines.last() == ["Traceback", "ValueError: x"] and lines.last(1) == ["a"] and lines.last(7) == []
    lines.close()


PIECES = [b"\r", b"\n", b"\r\n", b"a", b"\x1b[", b"\x1b", b"1m", b"\xc3", b"\xbc"]
BYTES = st.one_of(st.binary(max_size=300), st.lists(st.sampled_from(PIECES), max_size=80).map(b"".join))


@settings(max_examples=200, deadline=None)
@given(BYTES, st.data())
def test_the_log_does_not_depend_on_how_the_bytes_arrive(tmp_path_factory, data, draw):
    folder = tmp_path_factory.mktemp("log")
    cuts = sorted(draw.draw(st.lists(st.integers(0, len(data)), max_size=8)))
    pieces = [data[a:b] for a, b in zip([0, *cuts], [*cuts, len(data)])]
    whole, heard, lines = written(folder, data)
    (folder / "log.txt").unlink()
    parts, also_heard, also = written(folder, *pieces)
    assert (whole, heard.lines, lines.count) == (parts, also_heard.lines, also.count)
    assert "\x1b" not in whole and "\r" not in whole
    assert whole.count("\n") == lines.count


def test_ten_thousand_lines_a_second_lose_nothing_and_take_no_more_memory(tmp_path):
    """A tenth of the minute that was measured by hand: 60,000 lines through a pipe."""
    line = "step %d loss 0.123456 and some more text that makes the line as long as a usual one"
    code = f"for i in range(60000): print({line!r} % i)"
    child = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE)
    lines = Lines(tmp_path / "log.txt", 64 << 20, heard := Recorder())
    lines.feed(os.read(child.stdout.fileno(), 65536))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    while data := os.read(child.stdout.fileno(), 65536):
        lines.feed(data)
    lines.close()
    child.wait()
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert lines.count == 60_000 and lines.dropped == 0
    assert (tmp_path / "log.txt").read_text() == "".join(f"{line % i}\n" for i in range(60_000))
    assert heard.lines[-1] == line % 59_999
    assert grown < 16 << 10  # KiB


def test_ten_million_lines_stay_below_the_limit(tmp_path):
    line, limit = b"step 12345 loss 0.1234\n", 16 << 20
    log = LogFile(tmp_path / "log.txt", limit)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for _ in range(200):
        log.write(line * 50_000)
    log.write(b"the last word\n")
    log.close()
    kept = (tmp_path / "log.txt").stat().st_size
    assert limit // 2 < kept <= limit
    assert abs(kept + log.dropped - (10_000_000 * len(line) + 14)) < 100  # the remark about the left out part takes the difference
    assert (tmp_path / "log.txt").read_bytes().endswith(b"the last word\n")
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 16 << 10  # KiB
