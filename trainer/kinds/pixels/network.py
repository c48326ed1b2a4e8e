"""A U-Net that answers for every pixel of a picture with any number of bands. Runs in workers.

Its norms are those of batches, whose statistics it keeps: so an answer depends on nothing beyond what its convolutions see, and a large picture
gets the same answers in windows as at once. Norms of groups of channels, which depend on the whole window, learnt hardly faster on MAPLE, and norms
of the channels of one place more slowly (docs/adr/0033).
"""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import torch
import torch.nn.functional as F
from safetensors.torch import load_model, save_model
from torch import nn

from trainer.core.plan import Plan
from trainer.kinds.pixels.windows import HALVINGS, multiple
from trainer.run_folder import files

TYPE = "pixels-unet"  # in config.json
WIDTHS = (32, 48, 64, 96, 128)  # channels at each depth; each but the first halves width and height
assert len(WIDTHS) == HALVINGS + 1


class Block(nn.Module):
    """Two convolutions with norms, and a way around them."""

    def __init__(self, channels: int, out: int):
        super().__init__()
        self.first, self.second = _convolution(channels, out), _convolution(out, out)
        self.norms = nn.ModuleList([nn.BatchNorm2d(out), nn.BatchNorm2d(out)])
        self.around = nn.Identity() if channels == out else nn.Conv2d(channels, out, 1, bias=False)

    def forward(self, values: torch.Tensor) -> torch.Tensor:
        inner = F.relu(self.norms[0](self.first(values)))
        return F.relu(self.norms[1](self.second(inner)) + self.around(values))


class UNet(nn.Module):
    """``step`` is the side of the squares of pixels that the first layer reads as one place: 2 sees as much with a quarter of the work."""

    def __init__(self, bands: int, outputs: int, step: int):
        super().__init__()
        self.bands, self.outputs, self.step = bands, outputs, step
        self.stem = nn.Conv2d(bands * step * step, WIDTHS[0], 3, padding=1)
        self.down = nn.ModuleList([Block(a, b) for a, b in zip((WIDTHS[0], *WIDTHS), WIDTHS)])
        self.up = nn.ModuleList([Block(a + b, b) for a, b in zip(WIDTHS[:0:-1], WIDTHS[-2::-1])])
        self.head = nn.Conv2d(WIDTHS[0], outputs * step * step, 1)

    @property
    def multiple(self) -> int:
        """Width and height of what ``forward`` reads are multiples of this many pixels."""
        return multiple(self.step)

    def forward(self, pixel_values: torch.Tensor) -> SimpleNamespace:
        """``pixel_values`` is pictures x bands x height x width; the logits are pictures x height x width x outputs."""
        values = self.stem(F.pixel_unshuffle(pixel_values, self.step))
        kept: list[torch.Tensor] = []
        for depth, block in enumerate(self.down):
            values = block(values if depth == 0 else F.max_pool2d(values, 2))
            kept.append(values)
        for block, beside in zip(self.up, kept[-2::-1]):
            values = block(torch.cat([F.interpolate(values, scale_factor=2.0, mode="nearest"), beside], dim=1))
        return SimpleNamespace(logits=F.pixel_shuffle(self.head(values), self.step).permute(0, 2, 3, 1))


def _convolution(channels: int, out: int) -> nn.Conv2d:
    return nn.Conv2d(channels, out, 3, padding=1, bias=False)


def build(plan: Plan) -> nn.Module:
    """The installed model of ``plan``, or the U-Net."""
    if plan.base.folder is not None:
        from trainer.kinds.pixels import installed

        return installed.build(plan)
    return UNet(plan.shape["bands"], plan.target.head, plan.shape["step"])


def save(model: Any, plan: Plan, folder: Path) -> None:
    """Write the weights and the sizes. A model of numbers is saved so that it answers in their unit."""
    if plan.base.folder is not None:
        from trainer.kinds.pixels import installed

        return installed.save(model, plan, folder)
    folder.mkdir(exist_ok=True)
    rescaling = plan.target.rescaling()
    if rescaling is not None:
        factor, summand = rescaling
        with torch.no_grad():
            model.head.weight.mul_(factor)
            model.head.bias.mul_(factor).add_(summand)
    save_model(model, str(folder / "model.safetensors"), metadata={"format": "pt"})
    config = {"model_type": TYPE, "bands": model.bands, "outputs": model.outputs, "step": model.step, "widths": list(WIDTHS)}
    files.write_json(folder / "config.json", config)
    return None


def load(folder: Path) -> nn.Module:
    config = files.read_json(folder / "config.json")
    if config["model_type"] != TYPE:
        from trainer.kinds.pixels import installed

        return installed.load(folder)
    model = UNet(config["bands"], config["outputs"], config["step"])
    load_model(model, str(folder / "model.safetensors"))
    return model
