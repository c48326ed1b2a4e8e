"""Writes the event files of the tests with tensorboardX and with the trainer's own log.

Run it from the root of the repository: python internal/results/tensorboard/testdata/write.py
"""

import itertools
import socket
import struct
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path.cwd()))

from tensorboardX import SummaryWriter
from tensorboardX.proto import event_pb2, summary_pb2, tensor_pb2, tensor_shape_pb2
from tensorboardX.record_writer import RecordWriter

from trainer.run_folder.tensorboard import TensorBoardLog

HERE = Path(__file__).parent
clock = itertools.count(1_700_000_000)
time.time = lambda: float(next(clock))
socket.gethostname = lambda: "host"


def trainer() -> None:
    """A training that saved at step 20, was killed at step 30, and went on: its own log, two files."""
    for begin, end, shift in ((0, 30, 0.0), (20, 50, 0.5)):
        log = TensorBoardLog(HERE / "trainer")
        if begin:
            log.resumed(begin)
        for step in range(begin + 1, end + 1):
            log.add(step, {"loss": 100 / step + shift, "accuracy": None if step % 10 else step / 100 + shift})
        log.close()


def user() -> None:
    """What a script of a user writes beside scalars."""
    writer = SummaryWriter(str(HERE / "user"), write_to_disk=True)
    for step in range(5):
        writer.add_scalar("train/loss", float("nan") if step == 3 else 1.0 / (step + 1), step)
    writer.add_histogram("weights", [1, 2, 3], 1)
    writer.add_text("args", "--lr 0.1", 0)
    writer.add_scalar("train/ünïcode 📈", 7, 1)
    writer.close()


def tensors() -> None:
    """Scalars as tensors, the way of TensorFlow 2, and tensors that are no scalars."""
    (HERE / "tensors").mkdir(exist_ok=True)
    out = RecordWriter(str(HERE / "tensors" / "events.out.tfevents.1700000000.host.v2"))
    shape = tensor_shape_pb2.TensorShapeProto

    def write(step: int, tag: str, tensor: tensor_pb2.TensorProto) -> None:
        value = summary_pb2.Summary.Value(tag=tag, tensor=tensor)
        out.write(event_pb2.Event(wall_time=step, step=step, summary=summary_pb2.Summary(value=[value])).SerializeToString())

    for step in range(3):
        write(step, "content", tensor_pb2.TensorProto(dtype=1, tensor_content=struct.pack("<f", step / 2)))
        write(step, "double content", tensor_pb2.TensorProto(dtype=2, tensor_content=struct.pack("<d", step / 4)))
        write(step, "floats", tensor_pb2.TensorProto(dtype=1, float_val=[step * 2.0]))
        write(step, "doubles", tensor_pb2.TensorProto(dtype=2, double_val=[step * 3.0]))
        write(step, "ints", tensor_pb2.TensorProto(dtype=3, int_val=[-step]))
        write(step, "one of one", tensor_pb2.TensorProto(dtype=1, tensor_shape=shape(dim=[shape.Dim(size=1)]), float_val=[step]))
        write(step, "three", tensor_pb2.TensorProto(dtype=1, tensor_shape=shape(dim=[shape.Dim(size=3)]), float_val=[1, 2, 3]))
        write(step, "words", tensor_pb2.TensorProto(dtype=7, string_val=[b"x"]))
    out.close()


for make in (trainer, user, tensors):
    make()
