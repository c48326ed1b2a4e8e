"""The environment variables of a script: what training programs of other systems expect, and nothing of this machine."""

import json
from collections.abc import Mapping
from dataclasses import dataclass

from trainer.config.jail import HOME, PACKAGES, RUN, SUPPORT
from trainer.script.command import CHECKPOINTS, DATA, OUT, Nodes

FIGURES = "clowder_figures"  # the module of ours that is matplotlib's backend


@dataclass(frozen=True)
class Context:
    """What the variables depend on. ``start`` counts the starts of the script in this run from 1; ``gpus`` are the numbers of the GPUs."""

    run: str
    attempt: int
    start: int
    nodes: Nodes
    cpus: int
    gpus: tuple[str, ...] = ()
    channels: tuple[str, ...] = ()
    packages: bool = False  # whether requirements.txt added packages
    keras_on_torch: bool = False
    network: bool = False
    path: str = "/usr/local/bin:/usr/bin:/bin"


def variables(context: Context, given: list[str], settings: Mapping[str, str]) -> dict[str, str]:
    """All variables of the script. ``given`` are its arguments, ``settings`` its hyperparameters."""
    return {
        **_system(context),
        **_folders(),
        **_libraries(context),
        **_sagemaker(context, given, settings),
        **_processes(context),
        "CLOWDER_RUN": context.run,
        "CLOWDER_ATTEMPT": str(context.attempt),
        "CLOWDER_START": str(context.start),
    }


def _system(context: Context) -> dict[str, str]:
    return {
        "HOME": HOME,
        "USER": "user",
        "LOGNAME": "user",
        "PATH": context.path,
        "LANG": "C.UTF-8",
        "TMPDIR": "/tmp",
        "PYTHONPATH": ":".join([PACKAGES, SUPPORT] if context.packages else [SUPPORT]),
        "PYTHONUNBUFFERED": "1",
        "PYTHONFAULTHANDLER": "1",
        "PYTHONNOUSERSITE": "1",
    }


def _folders() -> dict[str, str]:
    return {
        "OUTPUT_DIR": OUT,
        "DATA_DIR": DATA,
        "CHECKPOINT_DIR": CHECKPOINTS,
        "AIP_MODEL_DIR": f"{OUT}/model",
        "AIP_CHECKPOINT_DIR": CHECKPOINTS,
        "AIP_TENSORBOARD_LOG_DIR": f"{OUT}/runs",
        "TENSORBOARD_LOGGING_DIR": f"{OUT}/runs",
        "HF_HOME": f"{HOME}/.cache/huggingface",
        "TORCH_HOME": f"{HOME}/.cache/torch",
        "MPLCONFIGDIR": f"{HOME}/.config/matplotlib",
        "XDG_CACHE_HOME": f"{HOME}/.cache",
        "WANDB_DIR": HOME,
    }


def _libraries(context: Context) -> dict[str, str]:
    offline = {"HF_HUB_OFFLINE": "1", "HF_DATASETS_OFFLINE": "1", "WANDB_MODE": "offline"}
    return {
        **({} if context.network else offline),
        "HF_HUB_DISABLE_TELEMETRY": "1",
        "WANDB_SILENT": "true",
        "TOKENIZERS_PARALLELISM": "false",
        "MPLBACKEND": f"module://{FIGURES}",
        # Old checkpoints hold pickled objects. A script is arbitrary code anyway, so this gives nothing away.
        "TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD": "1",
        "OMP_NUM_THREADS": str(max(1, context.cpus // max(1, context.nodes.processes))),
        **({"KERAS_BACKEND": "torch"} if context.keras_on_torch else {}),
        **({"CUDA_VISIBLE_DEVICES": ",".join(context.gpus)} if context.gpus else {}),
    }


def _sagemaker(context: Context, given: list[str], settings: Mapping[str, str]) -> dict[str, str]:
    channels = {"training": DATA, "train": DATA, **{name: f"{DATA}/{name}" for name in context.channels}}
    hosts = [f"algo-{n + 1}" for n in range(context.nodes.nodes)]
    return {
        "SM_MODEL_DIR": f"{OUT}/model",
        "SM_OUTPUT_DIR": OUT,
        "SM_OUTPUT_DATA_DIR": OUT,
        "SM_INPUT_DIR": DATA,
        "SM_CHANNELS": json.dumps(sorted(channels)),
        **{f"SM_CHANNEL_{name.upper().replace('-', '_')}": there for name, there in channels.items()},
        "SM_HPS": json.dumps(settings),
        **{f"SM_HP_{name.upper().replace('-', '_').replace('.', '_')}": value for name, value in settings.items()},
        "SM_NUM_GPUS": str(len(context.gpus)),
        "SM_NUM_CPUS": str(context.cpus),
        "SM_HOSTS": json.dumps(hosts),
        "SM_CURRENT_HOST": hosts[context.nodes.rank],
        "SM_USER_ARGS": json.dumps(given),
        "SM_MODULE_DIR": RUN,
    }


def _processes(context: Context) -> dict[str, str]:
    """The rendezvous. torchrun sets RANK and its like for each process; a single process has none of them, as without a launcher."""
    nodes = context.nodes
    if nodes.world == 1:
        return {"TORCHELASTIC_RESTART_COUNT": str(context.start - 1)} if context.start > 1 else {}
    return {
        "TORCH_CPP_LOG_LEVEL": "ERROR",  # else each rank warns that the sandbox cannot look up names of machines
        "MASTER_ADDR": nodes.address,
        "MASTER_PORT": str(nodes.port),
        "PET_NNODES": str(nodes.nodes),
        "PET_NPROC_PER_NODE": str(nodes.processes),
        "PET_NODE_RANK": str(nodes.rank),
        "PET_MASTER_ADDR": nodes.address,
        "PET_MASTER_PORT": str(nodes.port),
    }
