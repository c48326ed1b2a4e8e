"""Whether a file of a checkpoint is whole: every format as its library writes it, and cut at any byte."""

import io
import json
import os
import pickle
import struct
import zipfile

import numpy
import pytest
from safetensors.numpy import save

from trainer.script.saved.whole_files import TORN, UNKNOWN, WHOLE, judge


def zipped() -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        archive.writestr("data.pkl", b"x" * 300)
        archive.comment = b"made by a test"
    return made.getvalue()


def numpy_file(array) -> bytes:
    made = io.BytesIO()
    numpy.save(made, array)
    return made.getvalue()


def hdf5(version: int, size: int) -> bytes:
    at = {0: 40, 1: 44}.get(version, 28)
    head = bytearray(b"\x89HDF\r\n\x1a\n" + bytes([version])).ljust(64, b"\0")
    head[at : at + 8] = struct.pack("<Q", size)
    return bytes(head).ljust(size, b"\1")


FILES = {
    "model.pt": zipped(),
    "model.keras": zipped(),
    "arrays.npz": zipped(),
    "model.safetensors": save({"a": numpy.arange(30.0), "b": numpy.zeros((2, 3))}),
    "empty.safetensors": save({}),
    "a.npy": numpy_file(numpy.arange(100.0)),
    "scalar.npy": numpy_file(numpy.float32(1.5)),
    "words.npy": numpy_file(numpy.array(["ab", "cde"])),
    "weights.h5": hdf5(0, 200),
    "weights1.h5": hdf5(1, 200),
    "weights2.hdf5": hdf5(2, 200),
    "state.json": json.dumps({"step": 5}).encode(),
    "state.pkl": pickle.dumps({"a": "x" * 50}),
}


def judged(tmp_path, name: str, data: bytes) -> str:
    (tmp_path / name).write_bytes(data)
    handle = os.open(tmp_path / name, os.O_RDONLY)
    try:
        return judge(handle, name, len(data))
    finally:
        os.close(handle)


@pytest.mark.parametrize("name", FILES)
def test_a_whole_file_is_whole(tmp_path, name):
    assert judged(tmp_path, name, FILES[name]) == WHOLE


@pytest.mark.parametrize("name", FILES)
def test_a_file_that_is_cut_anywhere_is_never_whole(tmp_path, name):
    data = FILES[name]
    cuts = {0, 1, 4, 7, 8, 9, 10, 12, len(data) // 2, len(data) - 1, len(data) - 9} & set(range(len(data)))
    found = {cut: judged(tmp_path, name, data[:cut]) for cut in cuts}
    assert WHOLE not in found.values(), found
    assert found[len(data) - 1] == TORN


@pytest.mark.parametrize(
    ("name", "data", "verdict"),
    [
        pytest.param("model.pt", b"\0" * 100, TORN, id="only zeros under the name of weights"),
        pytest.param("model.bin", b"\0" * 100, TORN, id="only zeros under the name of another kind of weights"),
        pytest.param("model.pt", b"\x80\x02old format", UNKNOWN, id="the old format of torch"),
        pytest.param("model.h5", b"no HDF5", TORN, id="an HDF5 file that begins otherwise"),
        pytest.param("a.npy", b"no NumPy", TORN, id="a NumPy file that begins otherwise"),
        pytest.param("a.npz", b"no archive", TORN, id="an archive that begins otherwise"),
        pytest.param("a.txt", b"anything", UNKNOWN, id="a text"),
        pytest.param("a.txt", b"", TORN, id="an empty text"),
        pytest.param("state.pickle", b"\x80\x04abc", TORN, id="a pickle without its end"),
        pytest.param("state.pkl", b"\x80\x06abc.", UNKNOWN, id="a pickle of an unknown protocol"),
        pytest.param("state.pkl", b"(dp0\n.", UNKNOWN, id="a pickle of protocol 0"),
        pytest.param("a.json", b"{", TORN, id="JSON that is cut"),
        pytest.param("a.json", b"[" * 100_000, TORN, id="JSON that is nested without end"),
        pytest.param("a.safetensors", struct.pack("<Q", 1 << 60), TORN, id="a header that is longer than the file"),
        pytest.param("a.safetensors", struct.pack("<Q", 2) + b"[]", TORN, id="a header that is a list"),
        pytest.param("a.safetensors", struct.pack("<Q", 2) + b"{}x", TORN, id="more than the header says"),
        pytest.param("a.safetensors", b"123", TORN, id="less than the length of a header"),
        pytest.param("a.PT", b"PK\x03\x04", TORN, id="the beginning of an archive"),
        pytest.param("a.npy", b"\x93NUMPY\x01\0\x04\0{}  ", UNKNOWN, id="a header of NumPy that says nothing"),
        pytest.param("a.npy", b"\x93NUMPY\x02\0", TORN, id="a header of NumPy without its length"),
        pytest.param("a.h5", hdf5(0, 200)[:8], TORN, id="the mark of HDF5 alone"),
    ],
)
def test_what_another_beginning_says(tmp_path, name, data, verdict):
    assert judged(tmp_path, name, data) == verdict


def test_an_archive_with_something_behind_its_comment_is_torn(tmp_path):
    assert judged(tmp_path, "a.pt", zipped() + b"x") == TORN


@pytest.mark.parametrize(("start", "verdict"), [(100, WHOLE), (190, TORN), (1 << 40, TORN)])
def test_the_directory_of_a_large_archive_is_found_by_its_own_record(tmp_path, start, verdict):
    record = b"PK\x06\x06" + b"\0" * 36 + struct.pack("<QQ", 20, start)
    place = b"PK\x06\x07" + struct.pack("<IQI", 0, 150, 1)
    data = b"PK\x03\x04".ljust(150, b"\0") + record + place + b"PK\x05\x06" + b"\0" * 8 + struct.pack("<IIH", 0xFFFFFFFF, 0xFFFFFFFF, 0)
    assert judged(tmp_path, "large.pt", data) == verdict


def test_the_position_of_the_handle_stays(tmp_path):
    (tmp_path / "a.pt").write_bytes(zipped())
    with open(tmp_path / "a.pt", "rb", buffering=0) as file:
        file.seek(7)
        judge(file.fileno(), "a.pt", len(zipped()))
        assert file.tell() == 7
