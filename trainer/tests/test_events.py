"""Events stay within what the service reads, whatever is trained on and however long."""

from types import SimpleNamespace

import pytest
import torch
from conftest import events_of

from trainer.run_folder.events import Events
from trainer.train import progress
from trainer.train.position import Position
from trainer.train.progress import ProgressReporter

READ_LINE, READ_EVENTS, READ_ENTRIES = 64 << 10, 64 << 20, 100  # what the service takes of a line, of a run, and of its warnings


@pytest.fixture
def events(tmp_path):
    return Events(tmp_path / "events.jsonl", 1)


def test_texts_and_lists_of_an_event_are_cut(events, tmp_path, schemas):
    events.warning("w", "word " * 100_000)
    events.phase("prepare", "word " * 100_000)
    events.resume(1, 1, "word " * 100_000)
    events.decision("x" * 9000, [f"label {i}" for i in range(100_000)], "word " * 100_000)
    events.decision("columns", {"file": "f" * 100_000, "columns": ["c" * 100_000] * 1000}, "so")
    events.decision("columns", {f"{i}" * 1000: ["\U0001f600" * 9000] * 900 for i in range(900)}, "so")
    found = events_of(tmp_path)
    assert max(map(len, (tmp_path / "events.jsonl").read_bytes().splitlines())) < READ_LINE
    for event in found:
        schemas["event"].validate(event)
    assert max(len(e.get("text", "")) for e in found) <= 600
    assert found[3]["choice"][-1] == "and 99900 more"
    assert events.decisions[0]["choice"] == found[3]["choice"]


def test_warnings_and_decisions_over_the_limit_are_only_in_the_log(events, tmp_path, capsys):
    for i in range(5000):
        events.decision("table", {"file": f"{i}.csv"}, f"{i}.csv is read so.")
        events.warning("bad_rows", f"A row of {i}.csv is left out.")
    events.decision("task", "text-classification", "The task is the last thing that is found.")
    found = events_of(tmp_path)
    assert sum(e["kind"] == "warning" for e in found) == sum(e.get("what") == "table" for e in found) == 10
    assert "the log lists all of them" in [e["text"] for e in found if e["kind"] == "warning"][-1]
    assert found[-1]["what"] == "task"
    assert "4999.csv is left out" in capsys.readouterr().out


def test_events_of_driver_and_worker_together_stay_below_the_limit_of_the_reader(tmp_path):
    for _ in range(2):
        events = Events(tmp_path / "events.jsonl", 1)
        for i in range(1000):
            events.warning(f"kind_{i % 90}".replace("0", "o"), "a")
            events.decision(f"kind {i % 90}", "", "a")
    kinds = [e["kind"] for e in events_of(tmp_path)]
    assert kinds.count("warning") <= READ_ENTRIES
    assert kinds.count("decision") <= READ_ENTRIES


def test_a_file_name_with_half_a_character_can_be_written_to_an_event(events, tmp_path):
    events.warning("w", "the file \ud800.csv")
    assert events_of(tmp_path)[0]["text"] == "the file ?.csv"


def test_the_progress_interval_of_a_week_long_training_is_neither_too_long_nor_too_short(tmp_path, monkeypatch):
    now, told = [0.0], []
    monkeypatch.setattr(progress.time, "monotonic", lambda: now[0])
    ctx = SimpleNamespace(rank=0, device=torch.device("cpu"), world=1)
    tells = ProgressReporter(ctx, tmp_path, Events(tmp_path / "events.jsonl", 1), epochs=200, steps=10**9, thing="row")
    monkeypatch.setattr(tells, "progress", lambda *_: (told.append(now[0]), setattr(tells, "last_progress", now[0])))
    tells.meter = SimpleNamespace(add=lambda _: None)
    for i in range(7 * 24 * 3600):
        now[0] = float(i)
        tells.stepped(Position(step=i + 1), None, 0.1, 1e9)
    gaps = [b - a for a, b in zip(told, told[1:])]
    assert min(gaps) >= 1
    assert max(gaps) <= 60  # a training that is silent for long is ended
    assert gaps[10] <= 3
    assert 400 * len(told) < READ_EVENTS / 4
