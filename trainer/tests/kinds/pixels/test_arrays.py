"""Masks as arrays of NumPy, from anyone: whole numbers, layers and numbers with fractions are read; pickle and false headers are not."""

import contextlib
import io
import pickle

import numpy
import pytest
from hypothesis import HealthCheck, given, settings, strategies as st
from loading import load
from PIL import Image
from small_datasets import masked

from trainer.config import spec as specs
from trainer.kinds.pixels import arrays, codings
from trainer.run_folder.events import Events

NONE = codings.NODATA


def npy(values, **more) -> bytes:
    data = io.BytesIO()
    numpy.save(data, values, **more)
    return data.getvalue()


def one_hot(classes: list, number: int) -> numpy.ndarray:
    found = numpy.zeros((*numpy.shape(classes), number), numpy.uint8)
    for layer in range(number):
        found[..., layer] = numpy.asarray(classes) == layer
    return found


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (numpy.asarray([[0, 2], [1, 0]], numpy.uint8), [[0, 2], [1, 0]]),
        (numpy.asfortranarray(numpy.asarray([[0, 2, 1], [1, 0, 3]], numpy.int64)), [[0, 2, 1], [1, 0, 3]]),
        (numpy.asarray([[0, -1], [1, 0]], ">i2"), [[0, NONE], [1, 0]]),
        (numpy.asarray([[True, False]]), [[1, 0]]),
        (numpy.asarray([[0.0, 2.0, numpy.nan]], numpy.float32), [[0, 2, NONE]]),
        (numpy.asarray([[[3], [1]]], numpy.uint8), [[3, 1]]),
        (one_hot([[0, 2], [1, 7]], 3), [[0, 2], [1, NONE]]),
        (one_hot([[0, 1]], 2).astype(numpy.float32), [[0, 1]]),
        (one_hot([[0, 1]], 2) * 255, [[0, 1]]),
    ],
)
def test_classes_are_whole_numbers_or_layers(values, expected, tmp_path):
    (tmp_path / "a.npy").write_bytes(npy(values))
    assert arrays.is_array(tmp_path / "a.npy") and arrays.size(tmp_path / "a.npy") == (values.shape[1], values.shape[0])
    assert codings.grey(tmp_path / "a.npy").tolist() == expected


@pytest.mark.parametrize(
    "data",
    [
        npy(numpy.asarray([[0.5, 1]])),
        npy(numpy.ones((2, 2, 3), numpy.uint8)),
        npy(one_hot([[0, 1]], 2) * 7),
        npy(numpy.zeros((2, 2, 65), numpy.uint8)),
        npy(numpy.zeros((4,), numpy.uint8)),
        npy(numpy.zeros((0, 4), numpy.uint8)),
        npy(numpy.asarray([[1e300]])),
        npy(numpy.asarray([["a"]])),
        npy(numpy.asarray([[{}]], object), allow_pickle=True),
        npy(numpy.zeros((8, 8), numpy.uint8))[:-1],
        npy(numpy.zeros((8, 8), numpy.uint8)).replace(b"(8, 8)", b"(9, 9)"),
        npy(numpy.zeros((8, 8), numpy.uint8)).replace(b"(8, 8)", b"(-1,8)"),
        b"\x93NUMPY\x01\x00\xff\xff{",
        b"\x93NUMPY\x09\x00",
    ],
)
def test_other_arrays_are_no_classes(data, tmp_path):
    (tmp_path / "a.npy").write_bytes(data)
    with pytest.raises((OSError, ValueError)):
        codings.grey(tmp_path / "a.npy")


def test_any_bytes_are_read_within_bounds_or_are_no_mask(tmp_path):
    head = npy(numpy.zeros((4, 4), numpy.uint8))[:128]

    @settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
    @given(st.binary(max_size=60), st.integers(0, 127), st.binary(max_size=20))
    def read(start, cut, rest):
        (tmp_path / "a.npy").write_bytes(head[:cut] + start + head[cut + len(start) :] + rest)
        for look in (arrays.size, lambda f: arrays.classes(f, NONE), arrays.numbers, arrays.has_fractions):
            with contextlib.suppress(OSError, ValueError):
                look(tmp_path / "a.npy")

    read()


def test_a_pickle_behind_an_array_is_not_run(tmp_path):
    class Bomb:
        def __reduce__(self):
            return exec, ("raise SystemExit",)

    header = npy(numpy.asarray([[1]], object), allow_pickle=True)[:128]
    (tmp_path / "a.npy").write_bytes(header + pickle.dumps(Bomb()))
    with pytest.raises(ValueError, match="other things than numbers"):
        arrays.classes(tmp_path / "a.npy", NONE)


def with_arrays(change) -> dict[str, bytes]:
    """Pictures with squares, and their masks as arrays."""
    found = {}
    for name, data in masked(12).items():
        if name.startswith("masks/"):
            name, data = name.replace(".png", ".npy"), npy(change(numpy.asarray(Image.open(io.BytesIO(data))) // 255))
        found[name] = data
    return found


def read(make_run, files, **values):
    spec = specs.load(make_run(files))
    return load(spec, Events(spec.folder / "events.jsonl", 1), **values)


@pytest.mark.parametrize("change", [lambda m: m, lambda m: one_hot(m, 2), lambda m: m.astype(numpy.float64)])
def test_arrays_beside_pictures_are_their_masks(change, make_run):
    data = read(make_run, with_arrays(change))
    assert (data.task, data.labels, sum(map(len, data.splits.values()))) == ("image-segmentation", ("background", "object"), 12)
    content = data.splits["train"][0].content
    assert set(numpy.unique(content.coding.read(content.mask))) == {0, 1}


def test_arrays_with_fractions_beside_pictures_are_numbers_of_pixels(make_run):
    assert read(make_run, with_arrays(lambda m: m * 0.37)).task == "pixel-regression"


def test_arrays_of_another_size_are_no_masks(make_run):
    spec = specs.load(make_run(with_arrays(lambda m: m[:-1])))
    pictures, tables = ([i for i in spec.inputs if i.name.endswith(ending)] for ending in (".png", ".npy"))
    assert len(pictures) == len(tables) == 12 and arrays.find(pictures, tables, False) is None
