"""starts.json: what a run knows of the starts of its script, also after a kill."""

import json

import pytest

from trainer.run_folder import lease
from trainer.script import starts
from trainer.script.sandbox import Ended
from trainer.script.starts import Start, Starts


@pytest.fixture
def held(tmp_path):
    return lease.take(tmp_path / "work")


def test_a_start_is_on_disk_before_the_script_runs(tmp_path, held):
    known = Starts(tmp_path, held)
    assert known.begin(1, None) == Start(1, 1, None, 0.0, {"code": None, "signal": None})
    assert known.begin(2, "checkpoint-5").start == 2
    assert [s.start for s in Starts(tmp_path, held).list] == [1, 2]
    assert json.loads((tmp_path / "starts.json").read_text())[1]["resumed_from"] == "checkpoint-5"


@pytest.mark.parametrize(
    ("ended", "exit"),
    [
        (Ended(0), {"code": 0, "signal": None}),
        (Ended(None, 9), {"code": None, "signal": 9}),
        (Ended(137, exceeded="memory"), {"code": 137, "signal": None, "exceeded": "memory"}),
    ],
)
def test_the_end_of_a_start_is_kept(tmp_path, held, ended, exit):
    known = Starts(tmp_path, held)
    known.begin(1, None)
    known.end(12.34567, ended)
    assert Starts(tmp_path, held).listed() == [{"attempt": 1, "start": 1, "resumed_from": None, "seconds": 12.346, "exit": exit}]


def test_seconds_are_written_every_ten_seconds_and_begin_again_with_each_start(tmp_path, held):
    known = Starts(tmp_path, held)
    on_disk = lambda: Starts(tmp_path, held).list[-1].seconds  # noqa: E731 - short and used below
    known.begin(1, None)
    for seconds, written in ((9.999, 0.0), (10.0, 10.0), (19.9, 10.0), (20.0, 20.0)):
        known.tick(seconds)
        assert on_disk() == written
        assert known.seconds == seconds
    known.begin(1, None)
    known.tick(9.0)
    assert on_disk() == 0.0
    known.tick(10.5)
    assert (on_disk(), known.seconds) == (10.5, 30.5)


def test_the_list_is_bounded_and_numbers_go_on(tmp_path, held, monkeypatch):
    monkeypatch.setattr(starts, "MAX_STARTS", 3)
    known = Starts(tmp_path, held)
    for _ in range(6):
        known.begin(1, None)
    assert [s.start for s in Starts(tmp_path, held).list] == [3, 4, 5, 6]


@pytest.mark.parametrize("content", ["", "{", "null", "5", '[{"attempt": 1}]', "[1]", '[{"attempt":1,"start":1,"strange":2}]', "[" * 5000])
def test_a_damaged_list_counts_as_empty(tmp_path, held, content):
    (tmp_path / starts.FILE).write_text(content)
    known = Starts(tmp_path, held)
    assert known.list == []
    assert known.begin(1, None).start == 1


def test_a_start_without_the_lease_writes_nothing(tmp_path, held):
    known = Starts(tmp_path, held)
    known.begin(1, None)
    lease.take(tmp_path / "work")
    with pytest.raises(lease.LeaseLost):
        known.end(1.0, Ended(0))
    assert Starts(tmp_path, held).list[0].exit == starts.LOST
