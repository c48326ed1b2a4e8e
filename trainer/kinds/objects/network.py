"""A detector without anchors: convolutions with group norms down to a 32nd of the picture, and back up to a quarter, where it answers for each
place how near it is to the centre of an object of each label, and how far from its sides and its outline. Imported in workers only."""

import math
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import torch
from safetensors.torch import load_model, save_model
from torch import nn
from torch.nn import functional

from trainer.core.plan import Plan
from trainer.kinds.objects import decoding
from trainer.kinds.objects.decoding import STRIDE
from trainer.kinds.objects.pictures import Canvas
from trainer.kinds.objects.target import Objects
from trainer.run_folder import files

TYPE = "centre-detector"  # in config.json
_WIDTHS = (32, 64, 96, 128)  # at a 4th, 8th, 16th and 32nd of the picture
_STEM, _JOINED, _HEAD, _GROUP = 24, 48, 64, 8
_RARE = 0.02  # probability of a centre that an untrained network answers
_FAR = 4.0  # largest logarithm of a distance, in units of a typical one
_AT_ONCE = 8  # windows
_NOTHING = -12.0  # logit outside of the windows


class _Norm(nn.GroupNorm):
    """In fp32 also where the convolutions are in bf16: the gradients of norms in bf16 take four times as long on CPUs."""

    def forward(self, values: torch.Tensor) -> torch.Tensor:
        return super().forward(values.float())


def _conv(inner: int, outer: int, stride: int = 1) -> nn.Sequential:
    return nn.Sequential(nn.Conv2d(inner, outer, 3, stride, 1, bias=False), _Norm(outer // _GROUP, outer), nn.SiLU())


class _Block(nn.Module):
    def __init__(self, width: int):
        super().__init__()
        self.first, self.second = _conv(width, width), nn.Conv2d(width, width, 3, 1, 1, bias=False)
        self.norm = _Norm(width // _GROUP, width)

    def forward(self, values: torch.Tensor) -> torch.Tensor:
        return functional.silu(values + self.norm(self.second(self.first(values))))


class Detector(nn.Module):
    """``typical`` is half the side of a typical object in pixels of the input."""

    def __init__(self, bands: int, labels: int, typical: float, canvas: Canvas, outlined: bool = False):
        super().__init__()
        self.bands, self.labels, self.typical, self.canvas = bands, labels, typical, canvas
        self.outlined, self.answered = outlined, decoding.answered(labels, outlined)
        self.stem = nn.Sequential(_conv(bands, _STEM, 2), _conv(_STEM, _WIDTHS[0], 2))
        depths = (1, 1, 2, 1)
        self.stages = nn.ModuleList(
            nn.Sequential(*([] if i == 0 else [_conv(_WIDTHS[i - 1], width, 2)]), *(_Block(width) for _ in range(depths[i])))
            for i, width in enumerate(_WIDTHS)
        )
        self.laterals = nn.ModuleList(nn.Conv2d(width, _JOINED, 1) for width in _WIDTHS)
        self.joined = nn.ModuleList(_conv(_JOINED, _JOINED) for _ in _WIDTHS[:-1])
        self.head = _conv(_JOINED, _HEAD)
        self.last = nn.Conv2d(_HEAD, self.answered, 1)
        nn.init.normal_(self.last.weight, std=0.01)
        nn.init.zeros_(self.last.bias)
        with torch.no_grad():
            self.last.bias[:labels] = math.log(_RARE / (1 - _RARE))

    def forward(self, pixels: torch.Tensor, truth: torch.Tensor | None = None, places: torch.Tensor | None = None) -> SimpleNamespace:
        """``truth`` are the maps that are right, in training. ``places`` are the scale and the size of each picture, which come back as maps."""
        if truth is not None:
            return SimpleNamespace(logits=torch.cat([self._maps(pixels).float(), truth], dim=1))
        maps = self._stitched(pixels).float()
        place = places[:, :, None, None].expand(-1, -1, maps.shape[2], maps.shape[3])
        return SimpleNamespace(logits=torch.cat([maps, place], dim=1))

    def _maps(self, pixels: torch.Tensor) -> torch.Tensor:
        values = self.stem(pixels.contiguous(memory_format=torch.channels_last))
        levels = []
        for stage in self.stages:
            values = stage(values)
            levels.append(values)
        joined = self.laterals[-1](levels[-1])
        for i in reversed(range(len(levels) - 1)):
            joined = self.joined[i](self.laterals[i](levels[i]) + functional.interpolate(joined, scale_factor=2.0, mode="nearest"))
        maps = self.last(self.head(joined)).float()
        distances = self.typical * torch.exp(maps[:, self.labels :].clamp(-_FAR, _FAR))
        return torch.cat([maps[:, : self.labels], distances], dim=1)

    def _stitched(self, pixels: torch.Tensor) -> torch.Tensor:
        """The maps of whole pictures: of windows with a halo where pictures are larger than the input."""
        canvas, (height, width) = self.canvas, pixels.shape[2:]
        if not canvas.window or (height <= canvas.height and width <= canvas.width):
            return self._maps(pixels)
        maps = pixels.new_full((len(pixels), self.answered, height // STRIDE, width // STRIDE), _NOTHING)
        corners = [(y, x) for y in _steps(height, canvas.height, canvas.halo) for x in _steps(width, canvas.width, canvas.halo)]
        for start in range(0, len(corners), _AT_ONCE):
            some = corners[start : start + _AT_ONCE]
            windows = torch.cat([pixels[:, :, y : y + canvas.height, x : x + canvas.width] for y, x in some])
            for (y, x), part in zip(some, self._maps(windows).split(len(pixels))):
                top, left = (canvas.halo if y else 0), (canvas.halo if x else 0)
                bottom, right = canvas.height - canvas.halo, canvas.width - canvas.halo
                inner = part[:, :, top // STRIDE : bottom // STRIDE, left // STRIDE : right // STRIDE]
                maps[:, :, (y + top) // STRIDE : (y + bottom) // STRIDE, (x + left) // STRIDE : (x + right) // STRIDE] = inner
        return maps


def _steps(side: int, window: int, halo: int) -> range:
    return range(0, side - window + 1, window - 2 * halo)


def build(plan: Plan) -> nn.Module:
    """The installed detector of ``plan``, or the small one."""
    if plan.base.folder is not None:
        from trainer.kinds.objects import installed

        return installed.build(plan)
    target, canvas = cast(Objects, plan.target), Canvas(*plan.shape["canvas"])
    return Detector(plan.shape["bands"], len(target.labels), plan.shape["typical"], canvas, target.outlined)


def save(model: Any, folder: Path) -> None:
    """Write the weights and the shape."""
    if not isinstance(model, Detector):
        from trainer.kinds.objects import installed

        return installed.save(model, folder)
    folder.mkdir(exist_ok=True)
    save_model(model, str(folder / "model.safetensors"), metadata={"format": "pt"})
    canvas = [model.canvas.height, model.canvas.width, model.canvas.window]
    described = {
        "model_type": TYPE,
        "bands": model.bands,
        "labels": model.labels,
        "typical": model.typical,
        "canvas": canvas,
        "outlined": model.outlined,
    }
    files.write_json(folder / "config.json", described)
    return None


def load(folder: Path) -> nn.Module:
    config = files.read_json(folder / "config.json")
    if config["model_type"] != TYPE:
        from trainer.kinds.objects import installed

        return installed.load(folder)
    height, width, window = config["canvas"]
    canvas, outlined = Canvas(int(height), int(width), bool(window)), bool(config["outlined"])
    model = Detector(int(config["bands"]), int(config["labels"]), float(config["typical"]), canvas, outlined)
    load_model(model, str(folder / "model.safetensors"))
    return model
