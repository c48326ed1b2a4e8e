"""The documents of the toy that the tests of the service read are those that the trainer writes."""

import json

from samples import toy  # noqa: F401 - a fixture
from small_datasets import signals

from trainer.tests.toy import golden


def test_the_stored_documents_have_the_form_of_new_ones(tmp_path, schemas):
    made = golden.made(tmp_path, signals(), signals(6))
    for name, document in made.items():
        stored = json.loads((golden.FOLDER / name).read_text())
        assert golden.shape(stored) == golden.shape(document), f"{name} is stale: run python -m trainer.tests.toy"
    for name in ("result.json", "prediction.json"):
        schemas["result"].validate(json.loads((golden.FOLDER / name).read_text()))
    assert made["result.json"]["metrics"]["test"]["turn"]["value"] < 30
