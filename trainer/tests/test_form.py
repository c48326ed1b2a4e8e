"""The forms that Clowder draws offer what the trainer takes."""

import json
import runpy
from pathlib import Path

from trainer.config.options import options, table

ROOT = Path(__file__).parents[2]


def fields(name: str) -> dict:
    return json.loads((ROOT / name).read_text(encoding="utf-8"))["parameters"]["schema"]


def test_the_long_form_has_every_option():
    printed = runpy.run_path(str(ROOT / "test" / "setup" / "advanced_form.py"))["text"]()
    assert (ROOT / "extractor_info.advanced.json").read_text(encoding="utf-8") == printed, "make form"
    drawn = fields("extractor_info.advanced.json")
    names = {n for f in drawn.values() for n in f.get("properties", {})} | {n for n, f in drawn.items() if "properties" not in f}
    assert names == set(options("train"))


def test_the_studio_checks_settings_by_the_same_options():
    printed = runpy.run_path(str(ROOT / "test" / "setup" / "advanced_form.py"))["table"]()
    assert (ROOT / "internal/studio/edit/check/options.json").read_text(encoding="utf-8") == printed, "make form"


def test_the_types_of_the_settings_are_those_of_the_options():
    printed = runpy.run_path(str(ROOT / "test" / "setup" / "advanced_form.py"))["types"]()
    assert (ROOT / "trainer/config/option_values.pyi").read_text(encoding="utf-8") == printed, "make form"


def test_the_forms_agree_with_the_options():
    for name, kind in (("extractor_info.json", "train"), ("extractor_info.predict.json", "predict"), ("extractor_info.script.json", "script")):
        for field, drawn in fields(name).items():
            option = options(kind)[field.rpartition(".")[2]]
            assert drawn.get("default", "") == option.default, (name, field)
            assert (drawn.get("minimum"), drawn.get("maximum")) == (option.low, option.high), (name, field)
            if option.choices:
                assert tuple(drawn["enum"]) == option.choices, (name, field)


def test_the_documentation_has_the_options_as_they_are():
    written = (ROOT / "docs" / "training.md").read_text(encoding="utf-8")
    for kind in ("train", "predict"):
        assert table(kind) in written, f"python -m trainer options {kind}"
