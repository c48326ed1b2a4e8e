"""The digest of a training: a checkpoint is only resumed by a training with the same one."""

import hashlib
import json
from typing import TYPE_CHECKING

from trainer.config.options import options
from trainer.config.settings import Settings

if TYPE_CHECKING:
    from trainer.models.catalogue import Base

# Options that change neither the weights nor the choice of the best ones.
_NEUTRAL = {
    "run_name", "num_workers", "use_gpu", "max_minutes", "dry_run", "config_file", "more_options", "keep_checkpoints", "cpus_per_worker",
    "register_as", "make_champion", "upload", "compile", "trials", "minutes", "space", "merge", "sample_prompts", "max_new_tokens",
    "predict_top_k",
}  # fmt: skip
# Options that are newer than v0.1.0. Where they have their default, a training is the one that v0.1.0 began.
_NEWER = {
    "finetuning", "lora_rank", "lora_alpha", "experts", "router_loss", "vocab_size", "stop_after",
    "edges_file", "nodes_file", "source_column", "target_column", "weight_column", "time_column", "directed", "bipartite", "layers", "hidden",
    "aggregation", "fanout", "decoder", "negatives", "eval_negatives", "edges_per_epoch", "text_encoder", "label_from",
}  # fmt: skip
_FORMAT = 3  # of the checkpoints


def digest(settings: Settings, split_sha256: str, base: "Base", shape: dict) -> str:
    """The sha256 of everything that decides the result of a training, except the program itself."""
    defaults = {name: option.default for name, option in options("train").items()}
    used = {
        s["name"]: s["value"] for s in settings.listed()
        if s["name"] not in _NEUTRAL and not (s["name"] in _NEWER and s["value"] == defaults[s["name"]])
    }  # fmt: skip
    text = json.dumps([_FORMAT, used, split_sha256, base.name, base.size, shape], sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()
