"""Files of annotations from anyone: whatever their bytes are, they are read within bounds or refused, and never with an error of the program."""

import contextlib
import json

import annotated_files as made
import numpy
import pytest
from hypothesis import HealthCheck, given, settings, strategies as st
from test_annotated_formats import read as read

from trainer.core.input import Input
from trainer.errors import UserError
from trainer.kinds.annotated import coco, cvat, geometry, label_studio, labelme, limits, runs, via, voc, yolo
from trainer.kinds.annotated.shapes import Drawn, LeftOut

QUICK = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
NUMBERS = st.one_of(st.integers(-(10**12), 10**12), st.floats(), st.none(), st.booleans(), st.text(max_size=3))
KEYS = st.sampled_from(
    "images annotations categories id image_id category_id segmentation bbox counts size file_name width height name regions filename "
    "shape_attributes region_attributes all_points_x all_points_y shapes points label shape_type group_id data result value polygonlabels x y "
    "rotation metadata vid xy av file fname view fid_list completions image rectanglelabels".split()
)
JSON = st.recursive(NUMBERS, lambda inner: st.lists(inner, max_size=5) | st.dictionaries(KEYS, inner, max_size=6), max_leaves=30)
READERS = {
    "coco": lambda s: coco.read(s, LeftOut(), LeftOut()),
    "via": lambda s: via.read(s, LeftOut(), LeftOut()),
    "labelme": lambda s: labelme.read(s, LeftOut()),
    "label-studio": lambda s: label_studio.read(s, LeftOut()),
    "voc": lambda s: voc.read(s, LeftOut()),
    "cvat": lambda s: cvat.read(s, [], LeftOut(), LeftOut()),
    "yolo": lambda s: yolo.read(s, LeftOut(), {0: "a"}),
}


def _source(folder, data: bytes, name: str) -> Input:
    file = folder / name
    file.write_bytes(data)
    return Input(name, file, len(data), "")


def _read(reader, source) -> None:
    with contextlib.suppress(UserError):
        reader(source)


@pytest.mark.parametrize("form", ["coco", "via", "labelme", "label-studio"])
def test_any_json_is_read_or_refused(form, tmp_path):
    @QUICK
    @given(JSON)
    def read_one(value):
        _read(READERS[form], _source(tmp_path, json.dumps(value).encode(), "a.json"))

    read_one()


@pytest.mark.parametrize("form", READERS)
def test_any_bytes_are_read_or_refused(form, tmp_path):
    @QUICK
    @given(st.binary(max_size=300))
    def read_one(data):
        _read(READERS[form], _source(tmp_path, data, "a.txt"))

    read_one()


@pytest.mark.parametrize("form", made.FORMS)
def test_damaged_files_are_read_or_refused(form, make_run):
    scenes = made.scenes(9)
    whole = {**made.pictures(scenes), **made.FORMS[form](scenes)}
    random = numpy.random.default_rng(7)
    for _ in range(6):
        files = dict(whole)
        for name in made.FORMS[form](scenes):
            data = bytearray(whole[name].encode())
            for _ in range(int(random.integers(1, 6))):
                if data:
                    data[int(random.integers(len(data)))] = int(random.integers(256))
            files[name] = bytes(data[: int(random.integers(1, len(data) + 1))] if data and random.random() < 0.3 else data)
        with contextlib.suppress(UserError):
            read(make_run, files)


@QUICK
@given(st.text(max_size=40), st.integers(-2, 10**9), st.integers(-2, 10**9))
def test_any_runs_fill_their_size_or_are_none(text, height, width):
    read = runs.of_coco({"size": [height, width], "counts": text})
    assert read is None or int(read.counts.sum()) == height * width <= limits.PIXELS


@QUICK
@given(st.lists(st.tuples(st.floats(-200, 200), st.floats(-200, 200)), max_size=12))
def test_a_cleaned_outline_lies_in_its_picture_and_is_valid(points):
    ring = numpy.asarray(points, numpy.float64).reshape(-1, 2)
    cleaned = geometry.clean(Drawn("a", (ring,)), "x", 64, 48, (1.0, 1.0), LeftOut(), LeftOut()).shape
    if cleaned is not None:
        left, top, right, bottom = cleaned.box
        assert -1e-6 <= left < right <= 64 + 1e-6 and -1e-6 <= top < bottom <= 48 + 1e-6
        assert all(geometry.shapely.Polygon(r).is_valid for r in cleaned.rings)


def test_entities_and_depth_are_refused(tmp_path):
    bomb = b'<!DOCTYPE annotation [<!ENTITY a "x"><!ENTITY b SYSTEM "/etc/passwd">]><annotation><object>&b;</object></annotation>'
    left = LeftOut()
    assert voc.read(_source(tmp_path, bomb, "a.xml"), left) is None and left.counts
    with pytest.raises(UserError):
        cvat.read(_source(tmp_path, b"<annotations>" + b"<a>" * 100, "b.xml"), [], LeftOut(), LeftOut())


def test_a_file_over_the_limit_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(limits, "JSON_BYTES", 10)
    with pytest.raises(UserError) as raised:
        coco.read(_source(tmp_path, b'{"images": [1, 2, 3]}', "a.json"), LeftOut(), LeftOut())
    assert raised.value.code == "annotations_too_large"
