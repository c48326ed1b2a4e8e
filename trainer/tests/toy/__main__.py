"""Writes the documents that the tests of the service read: see golden.py."""

import os
import sys
import tempfile
from pathlib import Path

os.environ["MORE_KINDS"] = "trainer.tests.toy"
sys.path.insert(0, str(Path(__file__).parents[1]))

from small_datasets import signals

from trainer.run_folder import files
from trainer.tests.toy import golden

with tempfile.TemporaryDirectory() as volume:
    for name, document in golden.made(Path(volume), signals(), signals(6)).items():
        files.write_json(golden.FOLDER / name, document)
