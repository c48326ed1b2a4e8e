"""Every format of annotations gives the same pictures with the same objects."""

import annotated_files as made
import numpy
import pytest
from pycocotools import mask as judge

from trainer.config import spec as specs
from trainer.data import sources
from trainer.data.annotations import look
from trainer.errors import UserError
from trainer.kinds.annotated import masks, readers, reading, runs
from trainer.kinds.annotated.shapes import Annotated
from trainer.run_folder.events import Events

LISTS_EMPTY = {"via-csv", "label-studio"}  # forms in which an empty picture is not listed, or not with its split


def read(make_run, files: dict, class_name: str = "") -> Annotated:
    spec = specs.load(make_run(files))
    found = sources.find(spec, "", Events(spec.folder / "events.jsonl", 1))
    annotations = look.find(found)
    if annotations is None or annotations.format not in readers.FORMATS:
        raise UserError("no_data", "No annotations are recognised.", "Add some.")
    return reading.read(found, annotations, class_name)


@pytest.mark.parametrize("form", made.FORMS)
def test_a_format_is_read_whole(form, make_run):
    scenes = made.scenes(18)
    annotated = read(make_run, {**made.pictures(scenes), **made.FORMS[form](scenes)})
    assert (annotated.classes, annotated.left_out.counts, annotated.changed.counts) == (made.CLASSES, {}, {})
    by_name = {p.source.name: p for p in annotated.pictures}
    expected = [s for s in scenes if s.things or form not in LISTS_EMPTY]
    assert set(by_name) >= {s.name for s in expected}
    tolerance = 1.0 if form in ("coco-runs", "coco-text") else 1e-3
    for scene in expected:
        picture = by_name[scene.name]
        assert (picture.width, picture.height) == (made.WIDTH, made.HEIGHT)
        assert [s.label for s in picture.shapes] == [t.label for t in scene.things]
        for shape, thing in zip(picture.shapes, scene.things):
            assert shape.box == pytest.approx(thing.box, abs=tolerance)


def test_splits_come_from_folders_lists_and_files(make_run):
    train, test = made.scenes(10, 1, "images/train/"), made.scenes(9, 2, "images/test/")
    annotated = read(make_run, {**made.pictures([*train, *test]), **made.yolo([*train, *test])})
    assert {p.split for p in annotated.pictures if "/train/" in p.source.name} == {"train"}
    assert {p.split for p in annotated.pictures if "/test/" in p.source.name} == {"test"}
    plain = made.scenes(12)
    stems = [s.name.rpartition("/")[2].rpartition(".")[0] for s in plain]
    lists = {
        "ImageSets/Main/trainval.txt": "\n".join(stems[:9]), "ImageSets/Main/val.txt": "\n".join(stems[6:9]),
        "ImageSets/Main/test.txt": "\n".join(stems[9:]),
    }  # fmt: skip
    annotated = read(make_run, {**made.pictures(plain), **made.voc(plain), **lists})
    assert [p.split for p in annotated.pictures] == ["train"] * 6 + ["validation"] * 3 + ["test"] * 3


def test_names_that_repeat_in_folders_are_found_beside_their_file(make_run):
    files = {}
    for seed, split in enumerate(("train", "val", "test")):
        listed = [made.Scene(f"{split}/tile_{i}.png", s.data, s.things) for i, s in enumerate(made.scenes(6, seed + 3))]
        files |= made.pictures(listed) | {f"{split}/via_region_data.json": made.json.dumps(made.via(listed, 1))}
    annotated = read(make_run, files)
    assert len(annotated.pictures) == 18 and not annotated.left_out.counts
    assert {p.source.name.partition("/")[0]: p.split for p in annotated.pictures} == {"train": "train", "val": "validation", "test": "test"}


def test_runs_are_those_of_the_reference():
    random = numpy.random.default_rng(0)
    for _ in range(50):
        mask = random.random((int(random.integers(1, 40)), int(random.integers(1, 40)))) < random.random()
        encoded = judge.encode(numpy.asfortranarray(mask.astype(numpy.uint8)))
        read_back = runs.of_coco({"size": encoded["size"], "counts": encoded["counts"].decode()})
        assert numpy.array_equal(runs.mask(read_back), mask)
        assert numpy.array_equal(runs.mask(runs.of_mask(mask)), mask)
        rows, columns = numpy.nonzero(mask)
        bounds = (columns.min(), rows.min(), columns.max() + 1, rows.max() + 1) if mask.any() else None
        assert runs.bounds(read_back) == bounds


def test_masks_cover_what_the_outlines_enclose(make_run):
    scenes = made.scenes(9)
    by_form = {form: read(make_run, {**made.pictures(scenes), **made.FORMS[form](scenes)}) for form in ("coco-polygons", "coco-text")}
    for a, b in zip(by_form["coco-polygons"].pictures, by_form["coco-text"].pictures):
        for one, other in zip(a.shapes, b.shapes):
            first, second = (masks.mask(s, made.WIDTH, made.HEIGHT) for s in (one, other))
            assert (first & second).sum() >= 0.9 * (first | second).sum()
