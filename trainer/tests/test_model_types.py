"""What a model is a base for. The service's tests read the same cases (internal/basemodel)."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from trainer.models import model_types

ROOT = Path(__file__).parents[2]
CASES = json.loads((Path(__file__).parent / "model_kinds.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize(("model_type", "architecture", "kind"), CASES)
def test_a_model_is_what_its_architecture_says(model_type, architecture, kind):
    assert model_types.kind(model_type, architecture) == kind


def test_the_types_are_those_of_the_installed_transformers():
    ran = subprocess.run(
        [sys.executable, str(ROOT / "test" / "setup" / "model_types.py")], check=True, capture_output=True, env={**os.environ, "HF_HUB_OFFLINE": "1"}
    )
    written = (ROOT / "trainer" / "schema" / "model_types.json").read_bytes()
    assert ran.stdout == written, "make model-types"


def test_no_type_is_both_usable_and_not():
    document = json.loads((ROOT / "trainer" / "schema" / "model_types.json").read_bytes())
    assert not set(document["types"]) & set(document["other"])
    assert len(document["types"]) > 200
