"""What a process imports from which the runs of tests are forked, so that none of them imports it again: pass its name to a forkserver."""

import contextlib
import importlib
import pkgutil
import sys
from pathlib import Path

from trainer import gc_pause, kinds

# What a run imports that a test starts in a process of its own, beside the modules of all kinds.
OF_RUNS = [
    "pyarrow.parquet",
    "scipy.optimize",
    "scipy.stats",
    "sklearn.ensemble",
    "sklearn.feature_extraction.text",
    "sklearn.linear_model",
    "sklearn.metrics",
    "sklearn.preprocessing",
    "torch.distributed.fsdp",
    "torch.distributed.tensor",
    "trainer.answer.rows",
    "trainer.data",
    "trainer.export.important",
    "trainer.export.label_sets",
    "trainer.export.score_cells",
    "trainer.launch.local",
    "trainer.measure.curves",
    "trainer.models.mean_pooled",
    "trainer.models.onnx",
    "trainer.models.texts",
    "trainer.parted.rows",
    "trainer.run",
    "trainer.train.evaluate",
    "trainer.train.loop",
    "trainer.training.baseline",
    "trainer.training.candidates",
    "trainer.training.imitated",
    "trainer.training.prepare",
    "trainer.training.search_conclusion",
    "trainer.training.search_setup",
    "trainer.training.unseen",
    "trainer.training.weighed",
    "transformers.models.bert.modeling_bert",
    "transformers.models.llama.modeling_llama",
    "transformers.models.resnet.modeling_resnet",
]
OF_KINDS = [found.name for found in pkgutil.walk_packages(kinds.__path__, f"{kinds.__name__}.") if ".snippets" not in found.name]
# Where the functions are that such processes carry out, with all that these modules import: pytest and the shared fixtures.
OF_TESTS = ["process_faults", "several_workers"]

sys.path.insert(0, str(Path(__file__).parent))  # as pytest does it
with gc_pause.importing():
    for _name in (*OF_RUNS, *OF_KINDS, *OF_TESTS):
        importlib.import_module(_name)
    with contextlib.suppress(ImportError):  # tests that need it are skipped without it
        importlib.import_module("peft.tuners.lora")
    # A forked run of a text model would first make the patterns of renamed weights of all models that transformers knows.
    importlib.import_module("transformers.conversion_mapping").get_checkpoint_conversion_mapping("bert")
