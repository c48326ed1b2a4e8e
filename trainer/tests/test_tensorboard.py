"""TensorBoard's files, read back by hand: every record with its checksums, and what it says."""

import struct
from pathlib import Path

from conftest import small_reviews
from process_faults import KILLED, run_apart, start_apart  # noqa: F401 - fixtures
from tensorboardX.crc32c import crc32c
from tensorboardX.proto.event_pb2 import Event

from trainer.run import run


def masked(data: bytes) -> int:
    """The checksum as TFRecord files have it."""
    sum32 = crc32c(data)
    return ((sum32 >> 15 | sum32 << 17) + 0xA282EAD8) & 0xFFFFFFFF


def read(file: Path) -> list[Event]:
    """The events of a file; a record is length, checksum of it, data, checksum of them."""
    data, at, events = file.read_bytes(), 0, []
    while at < len(data):
        (length, sum_of_length) = struct.unpack_from("<QI", data, at)
        body = data[at + 12 : at + 12 + length]
        (sum_of_body,) = struct.unpack_from("<I", data, at + 12 + length)
        assert (sum_of_length, sum_of_body) == (masked(data[at : at + 8]), masked(body))
        events.append(Event.FromString(body))
        at += 16 + length
    return events


def files_of(folder: Path) -> list[list[Event]]:
    return [read(f) for f in sorted((folder / "tensorboard").iterdir(), key=lambda f: f.stat().st_mtime_ns)]


def scalars(events: list[Event]) -> dict[str, dict[int, float]]:
    found: dict[str, dict[int, float]] = {}
    for event in events:
        for value in event.summary.value:
            found.setdefault(value.tag, {})[event.step] = value.simple_value
    return found


def test_loss_and_accuracy_are_written_for_tensorboard(make_run, lone_network):
    spec = make_run({"all.csv": small_reviews()}, model="bert-tiny", epochs=2)
    assert run(str(spec), "local") == 0
    (events,) = files_of(spec.parent)
    assert events[0].file_version == "brain.Event:2"
    written = scalars(events)
    assert set(written["loss/train"]) == set(written["validation/accuracy"]) == {3, 6}
    assert all(0 <= v <= 1 for v in written["validation/accuracy"].values())
    assert {"loss/step", "learning_rate", "samples_per_second"} <= set(written)


def test_a_resumed_training_tells_tensorboard_which_steps_to_drop(make_run, run_apart):  # noqa: F811
    spec = make_run({"all.csv": small_reviews()}, model="bert-tiny", epochs=3)
    assert run_apart(spec, "step", 8) == KILLED
    assert run_apart(spec) == 0
    *_, last = files_of(spec.parent)
    starts = [e.step for e in last if e.HasField("session_log") and e.session_log.status == 1]
    assert starts == [7]  # the first step after the checkpoint
    assert set(scalars(last)["validation/accuracy"]) == {9}
