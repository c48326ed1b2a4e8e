"""The environment of a script, where its modules come from, and whose word counts for the check of its code."""

import ast
import json

import pytest

from trainer.script.checking.package_names import package_of
from trainer.script.checking.parsing import imports_of
from trainer.script.checking.review import policy
from trainer.script.command import CHECKPOINTS, DATA, OUT, Nodes
from trainer.script.environment import Context, variables


def of(**more) -> dict[str, str]:
    return variables(Context(**{"run": "ft-1", "attempt": 2, "start": 1, "nodes": Nodes(), "cpus": 4, **more}), ["--lr", "1"], {"lr": "0.1"})


def test_a_script_has_only_these_variables():
    assert sorted(of()) == sorted(
        "HOME USER LOGNAME PATH LANG TMPDIR PYTHONPATH PYTHONUNBUFFERED PYTHONFAULTHANDLER PYTHONNOUSERSITE OUTPUT_DIR DATA_DIR CHECKPOINT_DIR "
        "AIP_MODEL_DIR AIP_CHECKPOINT_DIR AIP_TENSORBOARD_LOG_DIR TENSORBOARD_LOGGING_DIR HF_HOME TORCH_HOME MPLCONFIGDIR XDG_CACHE_HOME WANDB_DIR "
        "HF_HUB_OFFLINE HF_DATASETS_OFFLINE WANDB_MODE HF_HUB_DISABLE_TELEMETRY WANDB_SILENT TOKENIZERS_PARALLELISM MPLBACKEND "
        "TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD OMP_NUM_THREADS SM_MODEL_DIR SM_OUTPUT_DIR SM_OUTPUT_DATA_DIR SM_INPUT_DIR SM_CHANNELS SM_CHANNEL_TRAINING "
        "SM_CHANNEL_TRAIN SM_HPS SM_HP_LR SM_NUM_GPUS SM_NUM_CPUS SM_HOSTS SM_CURRENT_HOST SM_USER_ARGS SM_MODULE_DIR CLOWDER_RUN CLOWDER_ATTEMPT "
        "CLOWDER_START".split()
    )


@pytest.mark.parametrize(
    ("more", "name", "value"),
    [
        ({}, "OUTPUT_DIR", OUT),
        ({}, "DATA_DIR", DATA),
        ({}, "CHECKPOINT_DIR", CHECKPOINTS),
        ({}, "HF_HUB_OFFLINE", "1"),
        ({"network": True}, "HF_HUB_OFFLINE", None),
        ({"network": True}, "WANDB_MODE", None),
        ({}, "PYTHONPATH", "/clowder/support"),
        ({"packages": True}, "PYTHONPATH", "/clowder/packages:/clowder/support"),
        ({}, "KERAS_BACKEND", None),
        ({"keras_on_torch": True}, "KERAS_BACKEND", "torch"),
        ({}, "CUDA_VISIBLE_DEVICES", None),
        ({"gpus": ("0", "2")}, "CUDA_VISIBLE_DEVICES", "0,2"),
        ({"gpus": ("0", "2")}, "SM_NUM_GPUS", "2"),
        ({}, "OMP_NUM_THREADS", "4"),
        ({"nodes": Nodes(3)}, "OMP_NUM_THREADS", "1"),
        ({"nodes": Nodes(8)}, "OMP_NUM_THREADS", "1"),
        ({"nodes": Nodes(2)}, "OMP_NUM_THREADS", "2"),
        ({"cpus": 0}, "OMP_NUM_THREADS", "1"),
        ({}, "SM_CHANNELS", json.dumps(["train", "training"])),
        ({"channels": ("my-set",)}, "SM_CHANNEL_MY_SET", f"{DATA}/my-set"),
        ({"channels": ("train",)}, "SM_CHANNEL_TRAIN", f"{DATA}/train"),
        ({}, "SM_USER_ARGS", '["--lr", "1"]'),
        ({}, "SM_HPS", '{"lr": "0.1"}'),
        ({"nodes": Nodes(1, 2, 1)}, "SM_CURRENT_HOST", "algo-2"),
        ({"nodes": Nodes(1, 2, 1)}, "SM_HOSTS", '["algo-1", "algo-2"]'),
        ({"nodes": Nodes(2, 3, 1, "10.0.0.1", 7)}, "MASTER_ADDR", "10.0.0.1"),
        ({"nodes": Nodes(2, 3, 1, "10.0.0.1", 7)}, "PET_MASTER_PORT", "7"),
        ({"nodes": Nodes(2, 3, 1)}, "PET_NNODES", "3"),
        ({"nodes": Nodes(2, 3, 1)}, "PET_NPROC_PER_NODE", "2"),
        ({"nodes": Nodes(2, 3, 1)}, "PET_NODE_RANK", "1"),
        ({}, "MASTER_ADDR", None),
        ({}, "TORCHELASTIC_RESTART_COUNT", None),
        ({"start": 3}, "TORCHELASTIC_RESTART_COUNT", "2"),
        ({"start": 3, "nodes": Nodes(2)}, "TORCHELASTIC_RESTART_COUNT", None),
        ({"start": 3}, "CLOWDER_START", "3"),
        ({}, "CLOWDER_ATTEMPT", "2"),
    ],
)
def test_a_variable_says_what_the_run_is(more, name, value):
    assert of(**more).get(name) == value


@pytest.mark.parametrize(
    ("module", "package"),
    [
        ("sklearn.svm", "scikit-learn"), ("cv2", "opencv-python-headless"), ("google.protobuf.message", "protobuf"), ("google.cloud", "google"),
        ("my_module.part", "my-module"), ("yaml", "PyYAML"), ("torch_geometric.nn", "torch-geometric"), ("numpy", "numpy"), ("PIL.Image", "pillow"),
    ],
)  # fmt: skip
def test_the_package_that_has_a_module(module, package):
    assert package_of(module) == package


@pytest.mark.parametrize(
    ("text", "imports"),
    [
        ("import a, b.c", [["a", 1, True], ["b.c", 1, True]]),
        ("from a.b import c", [["a.b", 1, True]]),
        ("from . import a\nfrom .b import c", []),
        ("if x:\n  import a", [["a", 2, False]]),
        ("try:\n  import a\nexcept ImportError:\n  import b", [["a", 2, False], ["b", 4, False]]),
        ("def f():\n  import a", [["a", 2, False]]),
        ("class A:\n  import a", [["a", 2, True]]),
        ("with open('x'):\n  import a", [["a", 2, True]]),
        ("class A:\n  def f(self):\n    import a", [["a", 3, False]]),
        ("for i in x:\n  import a\nelse:\n  import b", [["a", 2, False], ["b", 4, False]]),
        ("x = 1", []),
    ],
)
def test_an_import_is_certain_where_nothing_can_pass_it_by(text, imports):
    assert sorted(imports_of(ast.parse(text))) == imports


@pytest.mark.parametrize(
    ("allowed", "wanted", "policy_of_run"),
    [
        ("off", "auto", "off"), ("off", "report", "report"), ("report", "off", "report"), ("report", "block_high", "block_high"),
        ("block_high", "off", "block_high"), ("block_high", "auto", "block_high"), ("report", "", "report"), ("report", "strange", "report"),
    ],
)  # fmt: skip
def test_the_stricter_policy_counts(allowed, wanted, policy_of_run):
    assert policy(allowed, wanted) == policy_of_run
