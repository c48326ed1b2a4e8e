"""A run that is told to stop before there is anything to keep ends at once, with a sentence that says so."""

import json
from pathlib import Path

import pytest
from conftest import events_of, small_reviews
from result_checks import error_of

from trainer.errors import UserError
from trainer.kinds.rows import reading
from trainer.run import run
from trainer.run_folder import stop

pytestmark = pytest.mark.usefixtures("lone_network")

STOPPED = ("stopped", True)


@pytest.fixture
def stopped(schemas):
    """stopped(spec) runs it and returns what error.json says."""

    def of(spec: Path) -> tuple[str, bool]:
        assert run(str(spec), "local") == 2
        error = error_of(spec.parent)
        schemas["error"].validate(error)
        assert not (spec.parent / "result.json").exists()
        assert events_of(spec.parent)[-1]["kind"] == "error"
        assert "stopped before there was anything to keep" in error["what"]
        return error["code"], error["user"]

    return of


def test_before_it_begins(make_run, stopped):
    spec = make_run({"all.csv": small_reviews(60)})
    (spec.parent / "stop").write_text("keep\n")
    assert stopped(spec) == STOPPED


def test_while_the_data_are_read(make_run, stopped, monkeypatch):
    spec, real = make_run({"all.csv": small_reviews(60)}), reading.load

    def load(*args):
        (spec.parent / "stop").write_text("keep\n")
        return real(*args)

    monkeypatch.setattr(reading, "load", load)
    assert stopped(spec) == STOPPED
    assert not (spec.parent / "checkpoints").exists()


def test_while_the_data_are_encoded(make_run, stopped, monkeypatch):
    from trainer.training import prepare

    spec, real = make_run({"all.csv": small_reviews(60)}), prepare.make

    def make(*args):
        (spec.parent / "stop").write_text("keep\n")
        return real(*args)

    monkeypatch.setattr(prepare, "make", make)
    assert stopped(spec) == STOPPED


def test_a_prediction_has_nothing_to_keep_until_it_is_done(make_run, stopped, monkeypatch):
    from trainer.launch import work

    model = make_run({"all.csv": small_reviews(60)}, run="ft-model", epochs=1)
    assert run(str(model), "local") == 0
    spec = make_run({"new.csv": small_reviews(200)}, run="pr-one", kind="predict", more={"model": {"path": "../ft-model/out/model"}})
    real = work.predict

    def predict(*args, **more):
        (spec.parent / "stop").write_text("keep\n")
        return real(*args, **more)

    monkeypatch.setattr(work, "predict", predict)
    monkeypatch.setattr(work, "PROGRESS_SECONDS", 0.0)
    assert stopped(spec) == STOPPED
    assert not (spec.parent / "out").exists()


@pytest.mark.parametrize("content", ["", "pause\n", "anything else", b"\xff\xfe"])
def test_only_the_word_keep_stops_a_run_that_has_not_begun(tmp_path, content):
    (tmp_path / "stop").write_bytes(content if isinstance(content, bytes) else content.encode())
    stop.check(tmp_path)
    (tmp_path / "stop").write_text(" keep ")
    with pytest.raises(UserError):
        stop.check(tmp_path)
    (tmp_path / "checkpoints").mkdir()
    (tmp_path / "checkpoints" / "index.json").write_text(json.dumps({}))
    stop.check(tmp_path)


def test_a_pause_waits_for_a_training_and_not_for_anything_else(tmp_path, monkeypatch):
    slept = []
    monkeypatch.setattr(stop.time, "sleep", slept.append)
    stop.pause(tmp_path, seconds=60)
    assert stop.is_paused(tmp_path)
    assert slept == []
    monkeypatch.setattr(stop.time, "sleep", lambda _: (tmp_path / "training").unlink() or slept.append(1))
    with stop.pausable(tmp_path):
        stop.pause(tmp_path, seconds=60)
    assert slept == [1]
