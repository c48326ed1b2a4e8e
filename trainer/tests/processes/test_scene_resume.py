"""A prediction of a scene that is killed anywhere goes on where it was, and delivers what an undisturbed one does."""

import json
import sqlite3
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch
from kinds.pixels.scene_files import ground, untrained, write
from process_faults import KILLED, run_apart, start_apart  # noqa: F401 - fixtures
from result_checks import check_files

from trainer.kinds.pixels import network
from trainer.kinds.pixels.scenes import parts
from trainer.kinds.pixels.target import PixelClasses

UNITS = 4  # of 512 rows each


@pytest.fixture
def asked(make_run, tmp_path):
    """asked(run) is a prediction of one scene by a model with random weights, beside all others of the test."""
    model = tmp_path / "shared" / "runs" / "ft-random" / "model"
    model.parent.mkdir(parents=True)
    target = PixelClasses(("soil", "ice", "water"))
    torch.manual_seed(0)
    network.save(untrained(), SimpleNamespace(target=target, base=SimpleNamespace(folder=None)), model)
    coding = {"values": [0, 1, 5], "nodata": None, "halved": False, "colours": False, "labels": []}
    bands = {"bands": 2, "dtype": "uint16", "low": [1000, 1000], "high": [5000, 5000]}
    described = {
        "schema": 1, "run": "ft-random", "task": "image-segmentation", "kind": "pixels", "base": "pixels-unet", "target": target.described(),
        "encoder": {**bands, "coding": coding, "side": 64, "step": 1}, "columns": [], "types": {}, "label_column": "", "test": {},
    }  # fmt: skip
    (model / "trainer.json").write_text(json.dumps(described))
    scene = write(tmp_path / "scene.tif", ground(512 * UNITS - 100, 130))

    def make(run: str) -> Path:
        more = {"model": {"path": "../ft-random/model", "run": "ft-random", "name": "m", "version": 1}}
        return make_run({"scene.tif": scene}, run=run, kind="predict", more=more, probabilities=True)

    return make


def delivered(folder: Path) -> dict[str, object]:
    """The bytes of each delivered file; of a GeoPackage, which says when it was written, all of its rows but that time."""
    found: dict[str, object] = {}
    for file in sorted((folder / "out").rglob("*")):
        if file.is_file() and file.suffix != ".gpkg":
            found[file.name] = file.read_bytes()
        elif file.is_file():
            base = sqlite3.connect(file)
            tables = [name for (name,) in base.execute("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name")]
            base.row_factory = sqlite3.Row
            rows = {table: [dict(row) for row in base.execute(f"SELECT * FROM {table}")] for table in tables}
            found[file.name] = {table: [{**row, "last_change": ""} for row in held] for table, held in rows.items()}
    return found


def test_a_prediction_of_a_scene_that_is_killed_delivers_the_same(asked, run_apart, schemas):  # noqa: F811
    whole = asked("pr-whole")
    assert run_apart(whole) == 0
    spec = asked("pr-killed")
    kept: dict[Path, bytes] = {}
    for place, number, done in (("part", 3, 2), ("map", 1, UNITS), ("map", 2, UNITS)):
        assert run_apart(spec, place, number) == KILLED
        there = {file: file.read_bytes() for file in (spec.parent / parts.FOLDER).glob("*.part")} if (spec.parent / parts.FOLDER).exists() else {}
        assert len(there) == done
        assert {file: there[file] for file in kept} == kept, "what was answered is not answered again"
        kept = there
        assert not (spec.parent / "result.json").exists()
    assert run_apart(spec) == 0
    check_files(spec.parent, schemas)
    expected, found = delivered(whole.parent), delivered(spec.parent)
    assert list(found) == list(expected) and {"scene.tif", "scene.gpkg", "scene.geojson", "scene.probabilities.tif"} <= set(found)
    assert [name for name in expected if found[name] != expected[name]] == []
    assert not (spec.parent / parts.FOLDER).exists()
