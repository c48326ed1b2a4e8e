"""Trains on the model MODEL of the volume SHARED and compares what transformers loads with the checkpoint. Usage: SHARED MODEL CHECKPOINT"""

import hashlib
import json
import sys
from pathlib import Path

import torch
import transformers

from trainer.run import run

if __name__ == "__main__":
    shared, name, checkpoint = Path(sys.argv[1]), sys.argv[2], sys.argv[3]
    loaded = transformers.AutoModel.from_pretrained(shared / "models" / name, local_files_only=True).state_dict()
    before = torch.load(checkpoint, weights_only=True)
    before = {n.replace("gamma", "weight").replace("beta", "bias"): t for n, t in before.items()}
    compared = [n for n in loaded if torch.equal(loaded[n], before[f"bert.{n}"])]
    assert sorted(compared) == sorted(loaded), sorted(set(loaded) - set(compared))

    folder = shared / "runs" / "ft-test"
    (folder / "inputs").mkdir(parents=True)
    rows = "".join(f"a {word} film {i},{word}\n" for i in range(30) for word in ("good", "bad")).encode()
    data = b"text,label\n" + rows
    (folder / "inputs" / "all.csv").write_bytes(data)
    listed = {"name": "all.csv", "path": "all.csv", "size": len(data), "sha256": hashlib.sha256(data).hexdigest()}
    spec = {
        "schema": 3, "kind": "train", "run": "ft-test", "attempt": 1, "dataset": {"name": "films"}, "sources": {}, "inputs": [listed],
        "settings": {"model": name, "epochs": 1, "seed": 1, "upload": "report_only"},
    }  # fmt: skip
    (folder / "spec.json").write_text(json.dumps(spec))
    code = run(str(folder / "spec.json"), "local")
    if code:
        sys.exit(f"exit code {code}")
    print("\n" + json.dumps(json.loads((folder / "result.json").read_text())["model"]))
