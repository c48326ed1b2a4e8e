"""Annotations of pictures: large, damaged and hostile files are looked at within bounds, and never with an error of the program."""

import json
import os
import random
import time
import tracemalloc

import loading
import numpy
import pytest
from PIL import Image

from trainer.config import spec as specs
from trainer.core import registry
from trainer.core.input import Input
from trainer.data import tiffs
from trainer.data.annotations import look, masks, sniff, vectors, xml_files
from trainer.data.sources import Sources
from trainer.run_folder.events import Events
from trainer.tests import zoo
from trainer.tests.zoo.names import picture

SECONDS, BYTES = 5, 300 << 20  # of one look: time of the processor, so that other programs do not count


def source(file, name="") -> Input:
    return Input(name or file.name, file, file.stat().st_size, "")


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ('{"a": [1, 2, {"b": "c"}, {"d": "cut', {"a": [1, 2, {"b": "c"}, {}]}),
        ('[{"x": 1}, {"x": 2}, {"x"', [{"x": 1}, {"x": 2}, {}]),
        ('{"a": {"b": {"c": [1, 2,', {"a": {"b": {"c": [1, 2]}}}),
        ("[" * 100_000, [[[[[[]]]]]]),
        ("not json", None),
        ('"', None),
    ],
)  # fmt: skip
def test_the_beginning_of_a_document_is_read(written, value, tmp_path):
    file = tmp_path / "a.json"
    file.write_text(written)
    assert sniff.document(source(file))[0] == value


def test_two_gigabytes_of_coco_in_one_line_are_told_by_their_beginning(tmp_path):
    file, size = tmp_path / "train.json", 2 << 30
    file.write_text('{"annotations": [' + json.dumps({"image_id": 1, "category_id": 2, "bbox": [1, 2, 3, 4]}) + ", ")
    os.truncate(file, size)
    tracemalloc.start()
    began = time.process_time()
    held = look.find(Sources(tables=[source(file)]))
    assert (held.format, held.cut) == ("COCO boxes", True)
    assert time.process_time() - began < SECONDS
    assert tracemalloc.get_traced_memory()[1] < BYTES
    tracemalloc.stop()


def test_elements_deep_within_each_other_are_not_read_on(tmp_path):
    file = tmp_path / "deep.xml"
    file.write_text("<a>" + "<abcdefgh>" * 90_000)
    tracemalloc.start()
    seen = sniff.elements(source(file))
    assert (len(seen.paths), seen.cut) == (30, True)
    assert tracemalloc.get_traced_memory()[1] < 30 << 20
    tracemalloc.stop()


@pytest.mark.parametrize("mode", ["RGB", "L", "F"])
def test_a_large_picture_is_looked_at_in_part_and_once(tmp_path, mode, monkeypatch):
    kind, bands = (numpy.float32, ()) if mode == "F" else (numpy.uint8, (3,) if mode == "RGB" else ())
    noisy, flat = numpy.random.default_rng(0).integers(0, 255, (2000, 2000, *bands)), numpy.zeros((2000, 2000, *bands))
    flat[500:900, 100:1500] = 3
    for name, pixels in (("noisy", noisy), ("flat", flat)):
        Image.fromarray(pixels.astype(kind)).save(tmp_path / f"{name}.tif")
    began = time.process_time()
    noisy_seen, flat_seen = (masks.look(tmp_path / f"{name}.tif") for name in ("noisy", "flat"))
    assert (noisy_seen.size, noisy_seen.is_few, flat_seen.values, flat_seen.is_few) == ((2000, 2000), False, 2, True)
    assert time.process_time() - began < SECONDS
    monkeypatch.setattr(masks, "_pixels", lambda file: 1 / 0)
    assert masks.look(tmp_path / "flat.tif") == flat_seen
    (tmp_path / "flat.tif").write_bytes(b"x")
    assert masks.look(tmp_path / "flat.tif") is None


def test_entities_are_not_followed(tmp_path):
    file = tmp_path / "bomb.xml"
    file.write_text(
        '<?xml version="1.0"?><!DOCTYPE annotation [<!ENTITY a "x"><!ENTITY b SYSTEM "/etc/passwd">]><annotation><object>&b;</object></annotation>'
    )
    assert sniff.elements(source(file)).paths == {}
    assert xml_files.find(source(file)) is None


def test_a_shapefile_needs_no_index(tmp_path):
    file = tmp_path / "fields.shp"
    file.write_bytes(b"\x00\x00\x27\x0a" + bytes(96))
    assert vectors.of_file(source(file)).format == "a shapefile"


@pytest.mark.parametrize(
    "row", [row for row in zoo.rows() if row.make.__module__.endswith(("annotations", "boxes", "masks"))], ids=lambda row: row.name
)
def test_damaged_files_raise_nothing(row, tmp_path):
    chance = random.Random(row.name)
    row.make(tmp_path)
    files = [f for f in sorted(tmp_path.rglob("*")) if f.is_file()]
    for file in (f for f in files if f.stat().st_size and (f.suffix not in (".png", ".jpg") or chance.random() < 0.2)):
        data = bytearray(file.read_bytes())
        for _ in range(chance.randint(1, 8)):
            data[chance.randrange(len(data))] = chance.randrange(256)
        file.write_bytes(data[: chance.randint(1, len(data))] if chance.random() < 0.4 else data)
    named = [source(f, f.relative_to(tmp_path).as_posix()) for f in files]
    images = [i for i in named if i.name.endswith((".png", ".jpg", ".tif"))]
    texts = [i for i in named if i.name.endswith(".txt")]
    rest = [i for i in named if i not in images and i not in texts]
    look.find(Sources(tables=[*rest, *texts], texts=texts, images=images, others=rest))


def test_ten_thousand_pages_and_a_terapixel_are_told_by_their_header(tmp_path):
    import struct

    entries = ((256, 4, 8), (257, 4, 8), (258, 3, 8), (259, 3, 1), (262, 3, 1), (273, 4, 8), (277, 3, 1), (278, 4, 8), (279, 4, 64))
    size = 2 + 12 * len(entries) + 4
    pages = b"".join(
        struct.pack("<H", len(entries)) + b"".join(struct.pack("<HHII", t, k, 1, v) for t, k, v in entries) + struct.pack("<I", 72 + size * (n + 1))
        for n in range(10_000)
    )
    file = tmp_path / "pages.tif"
    file.write_bytes(b"II*\0" + struct.pack("<I", 72) + bytes(64) + pages)
    began = time.process_time()
    assert tiffs.header(file).pages == 2
    assert tiffs.read(file)[0].shape == (8, 8, 1)
    assert time.process_time() - began < SECONDS
    huge = bytearray(file.read_bytes()[: 72 + size])
    huge[72 + 2 + 8 : 72 + 2 + 12] = huge[72 + 14 + 8 : 72 + 14 + 12] = struct.pack("<I", 1_000_000)
    file.write_bytes(huge)
    with pytest.raises(ValueError, match="1000000 x 1000000 pixels"):
        tiffs.read(file)


def test_a_look_that_fails_causes_a_warning(make_run, monkeypatch):
    spec = specs.load(make_run({f"{label}/{label}{i}.png": picture(2 * i + k) for i in range(12) for k, label in enumerate(("dry", "wet"))}))
    events = Events(spec.folder / "events.jsonl", 1)
    monkeypatch.setattr(look, "find", lambda found: 1 / 0)
    monkeypatch.setattr(registry.of("graph"), "claim", lambda files, settings: 1 / 0)
    assert loading.load(spec, events).labels == ("dry", "wet")
    texts = [w["text"] for w in events.warnings if w["code"] == "look_failed"]
    assert len(texts) == 3 and all("ZeroDivisionError" in text for text in texts)
