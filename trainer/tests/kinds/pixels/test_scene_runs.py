"""Whole runs that answer scenes."""

import json

import numpy
import rasterio
from rasterio.transform import Affine
from result_checks import check_files, predictions
from scene_files import POLAR, TURNED, damage, write

from trainer.kinds.pixels.scenes import parts
from trainer.run import run


def test_a_model_answers_scenes_and_pictures_together(make_run, schemas, tmp_path):
    """Trained on tiles without a place, the model answers a scene that has one and a mask beside it, and a picture without."""
    chance = numpy.random.default_rng(0)

    def tile(side):
        truth = numpy.kron(chance.integers(0, 2, (side // 16, side // 16)), numpy.ones((16, 16))).astype(numpy.uint8)
        return (2000 + 2000.0 * truth + chance.normal(0, 200, (2, side, side))).astype(numpy.uint16), truth

    def tiff(bands, **more):
        return write(tmp_path / "made.tif", bands, **more).read_bytes()

    bare = {"crs": None, "transform": Affine.identity()}
    dataset = {}
    for i in range(16):
        pixels, truth = tile(64)
        dataset |= {f"images/{i}.tif": tiff(pixels, **bare), f"masks/{i}.tif": tiff(truth, **bare)}
    spec = make_run(dataset, run="ft-tiles", model="pixels-unet", epochs=4, batch_size=4)
    assert run(str(spec), "local") == 0
    model = {"path": "../ft-tiles/out/model", "run": "ft-tiles", "name": "m", "version": 1}
    described = json.loads((file := spec.parent / "out" / "model" / "trainer.json").read_text())  # so few pictures set no limits
    limits = [0.2] * len(described["target"]["pixel_classes"])
    described["target"] |= {"temperature": 1.5, "pixel_promise": {"coverage": 0.9, "rows": 20, "limits": limits}}
    file.write_text(json.dumps(described))
    pixels, truth = tile(320)
    broken = write(tmp_path / "broken.tif", pixels)
    damage(broken, 4, "short")
    files = {
        "scene.tif": tiff(pixels),
        "broken.tif": broken.read_bytes(),
        "scene-truth.tif": tiff(truth),
        "plain.tif": tiff(tile(64)[0], **bare),
        "many pages.tif": b"II*\0broken",
    }
    asked_for = make_run(files, run="pr-scene", kind="predict", probabilities=True, more={"model": model})
    assert run(str(asked_for), "local") == 0
    result = check_files(asked_for.parent, schemas)
    told = next(x for x in result["sections"] if x["title"] == "Answers")["blocks"]
    assert [b["title"] for b in told] == ["Areas of the classes", "What the model answers"] and len(told[1]["pictures"]) == 3
    assert [c["title"] for c in told[0]["columns"]][-1] == "Area in m²" and told[0]["rows"][-1][-1] in ({}, {"text": ""}), "a picture has no area"
    for line in predictions(asked_for.parent):
        each = abs(TURNED.determinant) if line["file"] in ("scene.tif", "broken.tif") else 0
        assert line["predicted m2"] == (f"{int(line['predicted pixels']) * each:.10g}" if each else "")
    assert result["prediction"]["unit"] == "picture", "not all are scenes"
    answers = {a["path"].removeprefix("out/answers/"): a.get("text", "") for a in result["artifacts"] if "/answers/" in a["path"]}
    assert sorted(answers) == [
        "broken.geojson",
        "broken.gpkg",
        "broken.possible.tif",
        "broken.probabilities.tif",
        "broken.tif",
        "plain.png",
        "scene.geojson",
        "scene.gpkg",
        "scene.possible.tif",
        "scene.probabilities.tif",
        "scene.tif",
    ]
    assert "right one is for 90 % of the pixels of a class" in answers["scene.possible.tif"]
    assert "polygons" in answers["scene.gpkg"] and result["prediction"]["scores"]["pixel_accuracy"]["value"] > 0.9
    with rasterio.open(asked_for.parent / "out" / "answers" / "scene.tif") as made:
        assert made.crs == POLAR and (made.read(1) == truth).mean() > 0.9
    assert not (asked_for.parent / parts.FOLDER).exists()
    warned = {w["code"]: w["text"] for w in result["warnings"]}
    assert "broken.tif is damaged. 1 tile cannot be read" in warned["damaged_scene"] and "1 tile cannot be read" in answers["broken.tif"]
    assert "many pages.tif" in warned["scenes_refused"]
    lines = {(row["file"], row["class"]): int(row["predicted pixels"]) for row in predictions(asked_for.parent)}
    assert sum(n for (file, _), n in lines.items() if file == "scene.tif") == 320 * 320
