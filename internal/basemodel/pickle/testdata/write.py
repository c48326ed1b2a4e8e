"""Writes a checkpoint of tensors of every kind in both formats of torch.save, and what torch itself reads from them.

Usage: python write.py FOLDER. It writes zip.bin, old.bin and torch.json: type, shape and sha256 of each tensor by name.
"""

import hashlib
import json
import sys
from collections import OrderedDict
from pathlib import Path

import torch

TYPES = {
    torch.float64: "F64", torch.float32: "F32", torch.float16: "F16", torch.bfloat16: "BF16", torch.int64: "I64",
    torch.int32: "I32", torch.int16: "I16", torch.int8: "I8", torch.uint8: "U8", torch.bool: "BOOL",
}  # fmt: skip


def tensors() -> dict:
    """Tensors that share storages, are parts of larger ones, and are not contiguous."""
    numbers = torch.arange(40, dtype=torch.float32)
    embeddings = torch.nn.Parameter(numbers[:21].reshape(7, 3).clone())
    state = OrderedDict((name.lower(), torch.arange(-3, 4).to(kind)) for kind, name in TYPES.items())
    state |= {
        "embeddings.weight": embeddings,
        "decoder.weight": embeddings,
        "position_ids": torch.arange(9).expand((1, -1)),
        "transposed": numbers[:12].clone().reshape(3, 4).t(),
        "part": numbers[10:20],
        "rows": numbers.reshape(5, 8)[1:3],
        "columns": numbers.reshape(5, 8)[:, 2:5],
        "steps": numbers[::3],
        "expanded": numbers[:3].clone().reshape(3, 1).expand(3, 4),
        "permuted": torch.arange(24, dtype=torch.bfloat16).reshape(2, 3, 4).permute(2, 0, 1),
        "scalar": torch.tensor(3.5),
        "empty": torch.zeros(0, 4),
    }
    state._metadata = OrderedDict({"": {"version": 1}})
    return state


def described(path: Path) -> dict:
    """What torch reads from ``path``."""
    read = torch.load(path, weights_only=True)
    return {
        name: [TYPES[t.dtype], list(t.shape), hashlib.sha256(t.detach().contiguous().flatten().view(torch.uint8).numpy().tobytes()).hexdigest()]
        for name, t in read.items()
    }


if __name__ == "__main__":
    folder = Path(sys.argv[1])
    torch.save(tensors(), folder / "zip.bin")
    torch.save(tensors(), folder / "old.bin", _use_new_zipfile_serialization=False)
    found = described(folder / "zip.bin")
    assert found == described(folder / "old.bin")
    (folder / "torch.json").write_text("{\n" + ",\n".join(f"  {json.dumps(k)}: {json.dumps(v)}" for k, v in found.items()) + "\n}\n")
