"""GraphSAGE: layers that add a map of a node to a map of its neighbours' mean, sum or maximum. Imported in workers only.

W. L. Hamilton, R. Ying, J. Leskovec: Inductive Representation Learning on Large Graphs, 2017.
"""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import torch
import torch.nn.functional as F
from safetensors.torch import load_model, save_model

from trainer.kinds.graph.score import EXTRA
from trainer.run_folder import files

_SCALE = 2.0  # logarithm of the factor by which cosines are multiplied at the beginning
MODES = {"mean": "mean", "add": "sum", "max": "max"}  # of embedding_bag, by the name of the aggregation


class Dropout(torch.nn.Module):
    """Leaves out a ``share`` of the numbers, in steps of 1/256.

    It draws one byte for each number instead of one float: torch's own dropout takes a fifth of a whole step on a CPU.
    """

    def __init__(self, share: float):
        super().__init__()
        self.out = round(256 * share)

    def forward(self, values: torch.Tensor) -> torch.Tensor:
        if not self.training or not self.out:
            return values
        words = torch.empty((values.numel() + 7) // 8, dtype=torch.int64, device=values.device).random_(-(2**63), None)
        kept = words.view(torch.uint8)[: values.numel()].view(values.shape) >= self.out
        return values * kept.to(values.dtype).mul_(256 / (256 - self.out))


class Sage(torch.nn.Module):
    """``layers`` layers of ``hidden`` units on ``width`` features of each node.

    ``outputs`` is 0 for a model of edges, whose score is by ``decoder`` (cosine or dot), else the number of classes or 1. ``directed``
    tells the ends of an edge apart.
    """

    def __init__(self, width: int, hidden: int, layers: int, aggregation: str, decoder: str, outputs: int, directed: bool, dropout: float):
        super().__init__()
        self.mode = MODES[aggregation]  # how neighbours that have no share of their own are combined
        self.sizes: dict[str, Any] = {
            "width": width, "hidden": hidden, "layers": layers, "aggregation": aggregation, "decoder": decoder, "outputs": outputs,
            "directed": directed, "dropout": dropout,
        }  # fmt: skip
        widths = [width] + [hidden] * layers
        self.own = torch.nn.ModuleList(torch.nn.Linear(a, b) for a, b in zip(widths, widths[1:], strict=False))
        self.near = torch.nn.ModuleList(torch.nn.Linear(a, b, bias=False) for a, b in zip(widths, widths[1:], strict=False))
        for layer in (*self.own, *self.near):
            assert isinstance(layer, torch.nn.Linear)
            torch.nn.init.xavier_uniform_(layer.weight)
            if layer.bias is not None:
                torch.nn.init.zeros_(layer.bias)
        scored = not outputs and decoder == "cosine"
        self.scale = torch.nn.Parameter(torch.tensor([_SCALE])) if scored else None
        self.popularity = torch.nn.Linear(hidden, 2 if directed else 1) if scored else None
        if self.popularity is not None:
            torch.nn.init.zeros_(self.popularity.weight)
            torch.nn.init.zeros_(self.popularity.bias)
        self.head = torch.nn.Linear(hidden, outputs) if outputs else None
        self.dropout = Dropout(dropout)

    def layer(self, number: int, own: torch.Tensor, near: torch.Tensor) -> torch.Tensor:
        """The outputs of layer ``number`` (from 0) for nodes with the inputs ``own``, whose neighbours' inputs are combined to ``near``."""
        if number == 0 and self.head is not None:  # otherwise it remembers the few nodes with labels
            own, near = self.dropout(own), self.dropout(near)
        found = self.own[number](own) + self.near[number](near)
        return found if number == len(self.own) - 1 else self.dropout(torch.relu(found))

    def settled(self, last: torch.Tensor) -> torch.Tensor:
        """Rows of the table of nodes, from the outputs of the last layer. Of a model of edges, a row is an embedding, whose products with
        others are scores, and then what the node adds to the score of each edge from it, and of each edge to it."""
        if self.head is not None:
            return torch.relu(last)
        if self.scale is None or self.popularity is None:
            return torch.cat([last, last.new_zeros(len(last), EXTRA)], dim=1)
        popularity = self.popularity(last)
        return torch.cat([F.normalize(last, dim=1) * torch.exp(0.5 * self.scale), popularity[:, :1], popularity[:, -1:]], dim=1)

    def classified(self, table: torch.Tensor) -> torch.Tensor:
        """The outputs for nodes with these rows of the table."""
        assert self.head is not None
        return self.head(self.dropout(table))

    def forward(self, **inputs: torch.Tensor) -> SimpleNamespace:
        """``logits`` for the inputs that ``trainer.kinds.graph.rows`` makes.

        Of edges, they are edges x 2 x (1 + negatives): the score of the edge, and then those of its source with other targets; and in
        the second row those of other sources with its target. What is no negative has the score minus infinity.
        """
        hidden = self.layer(0, inputs["x"], inputs["near"])
        for number in range(1, len(self.own)):
            near = combined(hidden, inputs[f"bag_{number}"], inputs[f"start_{number}"], inputs.get(f"share_{number}"), self.mode)
            hidden = self.layer(number, hidden[inputs[f"own_{number}"]], near)
        table = self.settled(hidden)
        if self.head is not None:
            return SimpleNamespace(logits=self.classified(table[inputs["at"]]))
        source, target = table[inputs["sources"]], table[inputs["targets"]]
        return SimpleNamespace(
            logits=torch.stack([
                _ranked(source, target, table[inputs["tails"]], inputs["no_tail"], False),
                _ranked(target, source, table[inputs["heads"]], inputs["no_head"], True),
            ], dim=1)
        )  # fmt: skip

    def save(self, folder: Path, config: dict) -> None:
        folder.mkdir(exist_ok=True)
        save_model(self, str(folder / "model.safetensors"), metadata={"format": "pt"})
        files.write_json(folder / "config.json", {"model_type": "sage", **config, **self.sizes})

    @classmethod
    def load(cls, folder: Path) -> "Sage":
        """The model in ``folder``. Raises ValueError where its layers are larger than its weights, which would only fill the memory."""
        config, weights = files.read_json(folder / "config.json"), folder / "model.safetensors"
        sizes = {n: config[n] for n in _SIZES}
        width, hidden, layers = (int(sizes[n]) for n in ("width", "hidden", "layers"))
        if min(width, hidden, layers) < 1 or sizes["aggregation"] not in MODES:
            raise ValueError("its config.json describes no such model")
        needed = 8 * hidden * (width + (layers - 1) * hidden) + 4 * hidden * sizes["outputs"]
        if needed > weights.stat().st_size:
            raise ValueError("the weights are smaller than the layers")
        model = cls(**sizes)
        load_model(model, str(weights))
        return model


_SIZES = ("width", "hidden", "layers", "aggregation", "decoder", "outputs", "directed", "dropout")


def combined(rows: torch.Tensor, bag: torch.Tensor, start: torch.Tensor, share: torch.Tensor | None, mode: str) -> torch.Tensor:
    """The neighbours of each node combined: their rows are ``rows[bag]``, of which those of a node begin at ``start``. Without neighbours,
    zeros. With ``share``, the sum of the rows times their shares."""
    if not len(bag):
        return rows.new_zeros(len(start), rows.shape[1])
    return F.embedding_bag(bag, rows, start, mode=mode if share is None else "sum", per_sample_weights=share)


def _ranked(one: torch.Tensor, other: torch.Tensor, drawn: torch.Tensor, known: torch.Tensor, from_target: bool) -> torch.Tensor:
    """The scores of edges between ``one`` and ``other``, and of ``one`` with the ``drawn`` nodes at the place of ``other``."""
    width = one.shape[1] - EXTRA
    here, there = (width + 1, width) if from_target else (width, width + 1)
    edge = (one[:, :width] * other[:, :width]).sum(1) + one[:, here] + other[:, there]
    others = one[:, :width] @ drawn[:, :width].T + one[:, here, None] + drawn[:, there]
    return torch.cat([edge[:, None], others.masked_fill(known, float("-inf"))], dim=1)
