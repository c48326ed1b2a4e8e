"""Small models of series with random weights, in the files of an installed one."""

import json
from pathlib import Path

import numpy
from safetensors import numpy as safetensors

from trainer.kinds.series.pretrained import timesfm, timesfm2_5

TINY = {"num_hidden_layers": 2, "hidden_size": 16, "intermediate_size": 24, "head_dim": 4, "num_attention_heads": 2}
TINY |= {"patch_length": 8, "horizon_length": 8, "context_length": 64}


class Drawn:
    """Weights that are drawn when a model asks for them."""

    def __init__(self, seed: int):
        self.chance, self.tensors = numpy.random.default_rng(seed), {}

    def has(self, name: str) -> bool:
        return False

    def take(self, name: str, *shape: int) -> numpy.ndarray:
        self.tensors[name] = self.chance.normal(0, 0.3, shape).astype(numpy.float32)
        return self.tensors[name]


def install(models: Path, name: str = "org/tiny", seed: int = 1, **more) -> Path:
    """Write a model into the folder of installed models, as an installation does."""
    folder = models / name
    folder.mkdir(parents=True, exist_ok=True)
    config = {"model_type": timesfm2_5.MODEL_TYPE, "architectures": ["TimesFm2_5ModelForPrediction"], **TINY, **more}
    drawn = Drawn(seed)
    (timesfm.TimesFm if config["model_type"] == timesfm.MODEL_TYPE else timesfm2_5.TimesFm2)(config, drawn)
    (folder / "config.json").write_text(json.dumps(config))
    (folder / "model.json").write_text(json.dumps({"schema": 1, "id": name, "kind": "series", "license": "mit"}))
    safetensors.save_file(drawn.tensors, folder / "model.safetensors")
    return folder
