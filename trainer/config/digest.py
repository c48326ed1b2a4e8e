"""The digest of a training: a checkpoint is only resumed by a training with the same one."""

import hashlib
import json
from typing import TYPE_CHECKING

from trainer.config.options import options
from trainer.config.settings import Settings

if TYPE_CHECKING:
    from trainer.models.catalogue import Base

_FORMAT = 3  # of the checkpoints


def digest(settings: Settings, split_sha256: str, base: "Base", shape: dict) -> str:
    """The sha256 of everything that decides the result of a training, except the program itself."""
    table = options("train")
    used = {s["name"]: s["value"] for s in settings.listed() if table[s["name"]].decides(s["value"])}
    text = json.dumps([_FORMAT, used, split_sha256, base.name, base.size, shape], sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()
