"""The forms that Clowder draws offer what the trainer takes."""

import json
import runpy
from pathlib import Path

from trainer.config.options import options, table

ROOT = Path(__file__).parents[2]


def fields(name: str) -> dict:
    return json.loads((ROOT / name).read_text(encoding="utf-8"))["parameters"]["schema"]


def test_the_files_that_follow_from_the_table_are_those_that_make_contract_writes():
    written = runpy.run_path(str(ROOT / "test" / "setup" / "contract.py"))["written"]()
    stale = [name for name, text in written.items() if (ROOT / name).read_text(encoding="utf-8") != text]
    assert stale == [], "make contract"


def test_the_long_form_has_every_option():
    drawn = fields("extractor_info.advanced.json")
    names = {n for f in drawn.values() for n in f.get("properties", {})} | {n for n, f in drawn.items() if "properties" not in f}
    assert names == set(options("train"))


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
