"""The files of a run folder: limited reads, durable writes, the lines of events.jsonl, and the paths in spec.json."""

import hashlib
import json
import math
import os

import pytest
from conftest import events_of
from hypothesis import HealthCheck, given, settings, strategies as st

from trainer.config import spec as specs
from trainer.errors import UserError, as_user_error, is_full, left_out, reading_model, some
from trainer.run_folder import events as writing, files, stop
from trainer.run_folder.events import Events, progress_interval
from trainer.run_folder.lease import Lease, LeaseLost

QUICK = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**60), 2**60)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(codec="utf-8")),
    lambda v: st.lists(v, max_size=4) | st.dictionaries(st.text(st.characters(codec="utf-8"), max_size=5), v, max_size=4),
)


@QUICK
@given(VALUES)
def test_json_is_read_back_as_it_was_written(tmp_path, value):
    files.write_json(tmp_path / "a.json", value)
    assert files.read_json(tmp_path / "a.json") == value
    assert (tmp_path / "a.json").read_bytes().endswith(b"\n")


@pytest.mark.parametrize("value", [math.nan, math.inf, [-math.inf], {"a": [math.nan]}], ids=repr)
def test_values_that_are_not_json_are_never_written(tmp_path, value):
    with pytest.raises(ValueError, match="Out of range"):
        files.write_json(tmp_path / "a.json", value)
    assert not (tmp_path / "a.json").exists()


@pytest.mark.parametrize("size", [0, 1, 9, 10, 11, 5000])
def test_a_file_is_read_up_to_its_limit_and_not_a_byte_more(tmp_path, size):
    (tmp_path / "a").write_bytes(b"x" * size)
    if size <= 10:
        assert files.read_bytes(tmp_path / "a", 10) == b"x" * size
        return
    with pytest.raises(ValueError, match=r"^a is larger than 10 bytes$"):
        files.read_bytes(tmp_path / "a", 10)


@pytest.mark.parametrize("kind", ["a folder", "a pipe", "a device"])
def test_only_regular_files_are_read(tmp_path, kind):
    path = {"a folder": tmp_path, "a pipe": tmp_path / "pipe", "a device": tmp_path / "null"}[kind]
    if kind == "a pipe":
        os.mkfifo(path)
    if kind == "a device":
        path.symlink_to("/dev/zero")
    with pytest.raises((ValueError, IsADirectoryError)):
        files.read_bytes(path, 100)


def test_a_write_never_creates_the_folder_of_a_start_again(tmp_path):
    with pytest.raises(FileNotFoundError):
        files.write_bytes(tmp_path / "gone" / "a", b"x")
    assert list(tmp_path.iterdir()) == []


def test_the_list_of_artifacts_is_complete_and_in_order(tmp_path):
    content = {"out/b/c.txt": b"c", "out/a.txt": b"", "out/b.txt": bytes(2_000_000)}
    for name, data in content.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(data)
    listed = files.artifacts(tmp_path, tmp_path / "out")
    assert [a["path"] for a in listed] == ["out/a.txt", "out/b/c.txt", "out/b.txt"]
    assert all(a["size"] == len(content[a["path"]]) and a["sha256"] == hashlib.sha256(content[a["path"]]).hexdigest() for a in listed)


def test_settled_files_are_open_to_the_group(tmp_path):
    (tmp_path / "out").mkdir(mode=0o700)
    (tmp_path / "out" / "a").write_bytes(b"")
    (tmp_path / "out" / "a").chmod(0o700)
    files.settle(tmp_path / "out")
    assert [p.stat().st_mode & 0o777 for p in (tmp_path / "out", tmp_path / "out" / "a")] == [0o775, 0o764]


@pytest.fixture
def events(tmp_path):
    return Events(tmp_path / "events.jsonl", 3)


def test_every_kind_of_event_keeps_to_the_schema(events, tmp_path, schemas):
    events.phase("prepare", "Reading\nthe data.")
    events.resume(1.5, 7, "It resumes.")
    events.progress(1, 3, 5, 10, loss=0.25, learning_rate=math.nan, samples_per_second=math.inf, eta_seconds=None)
    events.progress(1, 3, 12, 10, loss=0.123456789)
    events.eval(1, 5, "validation", {"accuracy": 0.5, "roc_auc": math.nan})
    events.best(1, 5, "accuracy", 0.5)
    events.checkpoint(1, 5, "checkpoints/step-000000005")
    events.resource("cpu", 2, threads=1)
    events.error(UserError("no_data", "There is nothing.", "Add something."))
    events.done(1.23456)
    found = events_of(tmp_path)
    for event in found:
        schemas["event"].validate(event)
    assert {e["attempt"] for e in found} == {3}
    assert (found[0]["text"], found[-1]["seconds"]) == ("Reading the data.", 1.235)
    assert {k: v for k, v in found[2].items() if k in ("loss", "learning_rate", "samples_per_second", "eta_seconds", "fraction")} == {
        "loss": 0.25, "fraction": 0.5,
    }  # fmt: skip
    assert (found[3]["fraction"], found[3]["loss"]) == (1.0, 0.123457)
    assert found[4]["metrics"] == {"accuracy": 0.5}
    assert "why" not in found[8]


@pytest.mark.parametrize("left", [b"", b'{"kind": "phase", "te', b"\n", b"x\n\xff"])
def test_a_line_that_a_killed_process_left_incomplete_is_ended_first(events, left):
    events.path.write_bytes(left)
    events.done(1)
    lines = events.path.read_bytes().split(b"\n")
    assert json.loads(lines[-2])["kind"] == "done"
    assert b"\n".join(lines[:-2]) == left.removesuffix(b"\n")


def test_a_start_that_lost_its_lease_writes_no_event(tmp_path):
    events = Events(tmp_path / "events.jsonl", 1, Lease(tmp_path / "gone"))
    with pytest.raises(LeaseLost):
        events.done(1)
    assert not events.path.exists()


@QUICK
@given(st.text(max_size=3000), VALUES)
def test_a_decision_of_any_content_is_one_valid_line_within_its_limit(tmp_path, text, choice):
    events = Events(tmp_path / "events.jsonl", 1)
    events.path.unlink(missing_ok=True)
    events.decision("what", [choice, text * 100], text)
    (line,) = events.path.read_bytes().splitlines()
    assert len(line) < writing.LINE_BYTES
    assert len(json.loads(line)["why"]) <= writing.TEXT


@pytest.mark.parametrize(
    ("elapsed", "least", "seconds"), [(0, 2, 2), (1999, 2, 2), (2500, 2, 2.5), (30_000, 2, 30), (604_800, 2, 30), (604_800, 60, 60)]
)
def test_the_interval_of_progress_grows_with_the_elapsed_time(elapsed, least, seconds):
    assert progress_interval(elapsed, least) == pytest.approx(seconds)


@pytest.mark.parametrize("content", [b"", b"x" * 2000, b"\xff\xfe keep", b"keep please", b"KEEP"])
def test_only_the_exact_word_is_a_request(tmp_path, content):
    (tmp_path / "stop").write_bytes(content)
    assert stop.requested(tmp_path) not in (stop.KEEP, stop.PAUSE)
    (tmp_path / "stop").write_text(" pause\n")
    assert stop.requested(tmp_path) == stop.PAUSE
    stop.clear(tmp_path)
    assert stop.requested(tmp_path) == ""
    (tmp_path / "stop").write_text("keep")
    stop.clear(tmp_path)
    assert stop.requested(tmp_path) == stop.KEEP
    assert stop.requested(tmp_path / "gone") == ""


def written_spec(make_run, **changes) -> object:
    path = make_run({"a.csv": "x"})
    document = json.loads(path.read_text())
    path.write_text(json.dumps({**document, **changes}))
    return path


@pytest.mark.parametrize("path", ["", "/etc/passwd", "../spec.json", "a/../../b", "a//b", "./a", "a\\b", "a/", "..", "."])
def test_an_input_outside_its_folder_is_refused(make_run, path):
    changed = written_spec(make_run, inputs=[{"id": "f", "name": "a.csv", "path": path, "size": 1, "sha256": "0"}])
    with pytest.raises(ValueError, match="leads out of the inputs folder"):
        specs.load(changed)


@pytest.mark.parametrize("path", ["../../../etc", "/etc", "../../../../..", "link"])
def test_a_model_outside_the_shared_volume_is_refused(make_run, path):
    changed = written_spec(make_run, model={"path": path})
    (changed.parent / "link").symlink_to("/etc")
    with pytest.raises(ValueError, match="leads out of the shared volume"):
        specs.load(changed)


@pytest.mark.parametrize("content", ['{"schema": 1}', '{"schema": 4}', "{}", '{"schema": "3"}'])
def test_a_spec_of_another_schema_is_refused(tmp_path, content):
    (tmp_path / "spec.json").write_text(content)
    with pytest.raises(ValueError, match="this trainer reads schema 3"):
        specs.load(tmp_path / "spec.json")


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (UserError("a_code", "What.", "Do."), "a_code"),
        (OSError(28, "No space left on device", "/srv/runs/ft-1/out/model"), "disk_full"),
        (OSError(122, "Disk quota exceeded"), "disk_full"),
        (ModuleNotFoundError("x", name="tensorboardX"), "missing_package"),
        (ModuleNotFoundError("x", name="trainer.gone"), None),
        (OSError(5, "Input/output error"), None),
        (ValueError("a fault of the program"), None),
        (type("OutOfMemoryError", (RuntimeError,), {"__module__": "torch"})("CUDA"), "gpu_memory"),
        (type("OutOfMemoryError", (Exception,), {"__module__": "ray.exceptions"})("node running low on memory"), "memory"),
    ],
    ids=repr,
)
def test_only_errors_that_a_person_can_remove_are_errors_of_the_user(error, code):
    for wrapped in (error, _caused_by(error), _caused_by(_caused_by(error))):
        found = as_user_error(wrapped, "/srv/runs/ft-1")
        assert (found.code if found else None) == code
        assert found is None or "/srv" not in str(found)


def _caused_by(cause: BaseException) -> BaseException:
    try:
        raise RuntimeError("outer") from cause
    except RuntimeError as e:
        return e


def test_an_error_that_is_its_own_cause_is_examined_once():
    error = RuntimeError("loop")
    error.__cause__ = error
    assert as_user_error(error, "/srv/runs/ft-1") is None


def test_any_fault_of_a_saved_model_is_about_its_files_except_a_full_disk(capsys):
    with (
        pytest.raises(UserError, match=r"^The model cannot be loaded: its files do not match. KeyError: 'x'. Choose another model") as refused,
        reading_model("The model"),
    ):
        raise KeyError("x")
    assert refused.value.code == "model_file"
    assert "KeyError" in capsys.readouterr().err
    for other in (MemoryError(), OSError(28, "full"), UserError("stopped", "It.", "Do.")):
        with pytest.raises(type(other)) as passed, reading_model("The model"):
            raise other
        assert passed.value is other
    assert not is_full(ValueError("(os error 28)"))


@pytest.mark.parametrize(
    ("values", "limit", "text"),
    [([], 3, "none"), (["a"], 3, "a"), (["a", "b"], 3, "a and b"), (["a", "b", "c"], 3, "a, b and c"), (list("abcde"), 3, "a, b, c and 2 more"),
     (["x" * 500], 3, "x" * 119 + "…"), (["a\nb", 7], 3, "a b and 7"), (list("ab"), 1, "a and 1 more")],
)  # fmt: skip
def test_a_list_in_a_sentence_is_short_and_on_one_line(values, limit, text):
    assert some(values, limit) == text
    assert left_out(1, "row") == "1 row is left out"
    assert left_out(0, "row") == "0 rows are left out"
