"""A network with one hidden layer, saved as plain safetensors. Imported in workers only, for torch costs seconds."""

from pathlib import Path
from types import SimpleNamespace

import torch
from safetensors.torch import load_model, save_model

from trainer.core.plan import Plan
from trainer.run_folder import files

_HIDDEN = 16


class Network(torch.nn.Module):
    """Answers with the two parts of a vector that points to where the signal comes from."""

    def __init__(self, width: int, outputs: int):
        super().__init__()
        self.hidden = torch.nn.Linear(width, _HIDDEN)
        self.last = torch.nn.Linear(_HIDDEN, outputs)

    def forward(self, values: torch.Tensor) -> SimpleNamespace:
        return SimpleNamespace(logits=self.last(torch.tanh(self.hidden(values))))


def build(plan: Plan) -> Network:
    return Network(plan.shape["width"], plan.target.outputs)


def save(model: Network, folder: Path) -> None:
    folder.mkdir(exist_ok=True)
    save_model(model, str(folder / "model.safetensors"), metadata={"format": "pt"})
    files.write_json(folder / "config.json", {"model_type": "toy", "width": model.hidden.in_features, "outputs": model.last.out_features})


def load(folder: Path) -> Network:
    config = files.read_json(folder / "config.json")
    model = Network(config["width"], config["outputs"])
    load_model(model, str(folder / "model.safetensors"))
    return model
