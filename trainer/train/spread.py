"""Weights that are spread over the workers: each holds a part of every layer, and layers are put together when they are computed.

The weights of an adapter stay whole on every worker, so optimizer, clipping and checkpoints do not know of it. Where all weights are trained, their
gradients and the state of the optimizer are spread with them (``parts``). Workers must call a spread model equally often: each call of a layer is an
exchange.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
import torch.distributed as dist

from trainer.models import transformer

if TYPE_CHECKING:
    from collections.abc import Callable

    from torch.distributed.device_mesh import DeviceMesh


def in_turn(build: Callable[[], torch.nn.Module], device: str) -> torch.nn.Module:
    """The model that ``build()`` gives, of which this worker keeps its part on ``device`` ("cpu" or "cuda").

    One worker after another builds it, so that a machine with several of them never holds it more than once as a whole.
    """
    mesh = dist.init_device_mesh(device, (dist.get_world_size(),))
    model: Any = None
    for turn in range(dist.get_world_size()):
        if turn == dist.get_rank():
            model = build()
            _divide(model, mesh)
        dist.barrier()
    return model


def _divide(model: Any, mesh: DeviceMesh) -> None:
    """Keep only this worker's part of each layer of ``model``. Weights of an adapter stay whole.

    Layers are divided again after each forward pass, the outermost one too: what the first worker does alone, such as saving a checkpoint,
    would divide it there only, and the workers would then exchange different layers.
    """
    from torch.distributed.fsdp import fully_shard

    inner = transformer.without_adapter(model)
    whole = set() if inner is model else {p for p in model.parameters() if p.requires_grad}
    layers = set(getattr(inner, "_no_split_modules", None) or ())
    for module in list(inner.modules()):
        if type(module).__name__ in layers:
            fully_shard(module, mesh=mesh, reshard_after_forward=True, ignored_params=whole)
    fully_shard(inner, mesh=mesh, reshard_after_forward=True, ignored_params=whole)


def is_spread(model: torch.nn.Module) -> bool:
    from torch.distributed.tensor import DTensor

    return any(isinstance(p, DTensor) for p in model.parameters())


def average(parameters: list[torch.nn.Parameter]) -> None:
    """Replace the gradients of ``parameters`` by their mean over the workers. A parameter without one on any worker keeps none."""
    if not parameters:
        return
    own = [torch.zeros_like(p) if p.grad is None else p.grad for p in parameters]
    together = torch.cat([g.reshape(-1) for g in own])
    dist.all_reduce(together)
    together /= dist.get_world_size()
    for parameter, part in zip(parameters, together.split([g.numel() for g in own]), strict=True):
        if parameter.grad is not None or part.any():
            parameter.grad = part.view_as(parameter)
