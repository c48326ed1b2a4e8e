"""A small text model with random weights that reads letters, in the files of an installed one."""

import json
import string
from pathlib import Path

from safetensors import numpy as safetensors
from series_models import Drawn

from trainer.models import bert, vocabulary

TINY = {"hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 24, "max_position_embeddings": 40}
WORDS = [*vocabulary.SPECIAL, *string.ascii_lowercase, *(f"##{c}" for c in string.ascii_lowercase), *string.digits, "."]


class Weights(Drawn):
    def has(self, name: str) -> bool:
        return name.endswith("LayerNorm.weight")


def install(models: Path, name: str = "org/letters", seed: int = 1, **more) -> Path:
    """Write a model into the folder of installed models, as an installation does."""
    folder = models / name
    folder.mkdir(parents=True, exist_ok=True)
    config = {"model_type": "bert", "architectures": ["BertModel"], "vocab_size": len(WORDS), "layer_norm_eps": 1e-12, **TINY, **more}
    drawn = Weights(seed)
    bert.Encoder(config, drawn)
    (folder / "config.json").write_text(json.dumps(config))
    (folder / "model.json").write_text(json.dumps({"schema": 1, "id": name, "kind": "text", "license": "mit", "commit": "c" * 40}))
    (folder / "vocab.txt").write_text("\n".join(WORDS) + "\n")
    (folder / "tokenizer_config.json").write_text(json.dumps({"tokenizer_class": "BertTokenizer", "model_max_length": 40}))
    safetensors.save_file(drawn.tensors, folder / "model.safetensors", metadata={"format": "pt"})
    return folder
