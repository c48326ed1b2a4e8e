"""A multilayer perceptron, saved as plain safetensors. Imported in workers only, for torch costs seconds."""

from pathlib import Path
from types import SimpleNamespace

import torch
from safetensors.torch import load_model, save_model

from trainer.core.plan import Plan
from trainer.kinds.table.encoder import HIDDEN
from trainer.models import transformer
from trainer.run_folder import files

DROPOUT = 0.1


class Perceptron(torch.nn.Module):
    """Linear layers of the given sizes with ReLU between them; ``layers.0.weight`` and so on in the file of weights."""

    def __init__(self, sizes: list[int]):
        super().__init__()
        self.layers = torch.nn.ModuleList(torch.nn.Linear(a, b) for a, b in zip(sizes, sizes[1:], strict=False))
        self.dropout = torch.nn.Dropout(DROPOUT)

    @property
    def sizes(self) -> list[int]:
        layers = [layer for layer in self.layers if isinstance(layer, torch.nn.Linear)]
        return [*(layer.in_features for layer in layers), layers[-1].out_features]

    def forward(self, values: torch.Tensor) -> SimpleNamespace:
        """``logits`` (n x outputs) for standardised ``values`` (n x inputs), as the models of transformers answer."""
        for layer in self.layers[:-1]:
            values = self.dropout(torch.relu(layer(values)))
        return SimpleNamespace(logits=self.layers[-1](values))

    def save(self, folder: Path, config: dict) -> None:
        folder.mkdir(exist_ok=True)
        save_model(self, str(folder / "model.safetensors"), metadata={"format": "pt"})
        files.write_json(folder / "config.json", {**config, "layers": self.sizes})

    @classmethod
    def load(cls, folder: Path) -> "Perceptron":
        """The model in ``folder``. Raises ValueError where its layers are larger than its weights, which would only fill the memory."""
        sizes, weights = files.read_json(folder / "config.json")["layers"], folder / "model.safetensors"
        if sum(4 * a * b for a, b in zip(sizes, sizes[1:], strict=False)) > weights.stat().st_size:
            raise ValueError("the weights are smaller than the layers")
        model = cls(sizes)
        load_model(model, str(weights))
        return model


def build(plan: Plan) -> Perceptron:
    return Perceptron([plan.shape["width"], *HIDDEN, plan.target.outputs])


def save(model: Perceptron, plan: Plan, folder: Path) -> None:
    """Save weights and config.json. A saved regression model predicts in the unit of the data."""
    transformer.fold(model, plan.target)
    labels = {"labels": list(plan.target.labels)} if plan.target.labels else {}
    model.save(folder, {"model_type": "mlp", "task": plan.task, "columns": plan.shape["columns"], **labels})
