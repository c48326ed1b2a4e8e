"""Weights of which each worker holds some rows: in memory as DTensors, on disk as a file for each worker.

A file ``<stem>_<number>_of_<count>.safetensors`` has the rows of one worker, in the order of the workers; tensors that are not spread are in
the first one. A worker reads only its own rows, from whichever files have them. So a checkpoint of any number of workers is resumed by any other.
"""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any

import torch
from safetensors import safe_open
from torch.distributed.tensor import DTensor

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


def own(tensor: torch.Tensor) -> torch.Tensor:
    """What this worker holds of ``tensor``."""
    return tensor.to_local() if isinstance(tensor, DTensor) else tensor


def is_part(tensor: torch.Tensor) -> bool:
    """Whether this worker holds only some rows of ``tensor``."""
    return isinstance(tensor, DTensor)


def are_in(model: torch.nn.Module) -> bool:
    """Whether weights that are trained are spread over the workers, with their gradients and the state of the optimizer."""
    return any(isinstance(p, DTensor) for p in model.parameters() if p.requires_grad)


def file_name(stem: str, rank: int, world: int) -> str:
    return f"{stem}_{rank + 1}_of_{world}.safetensors"


class Stored:
    """The tensors of some files by name. Where several files have a tensor, each has some of its rows, in their order."""

    def __init__(self, files: list):
        self._places: dict[str, list] = {}
        for file in files:
            for name in file.keys():  # noqa: SIM118 - not a dict
                self._places.setdefault(name, []).append(file)

    @property
    def names(self) -> list[str]:
        return list(self._places)

    def whole(self, name: str) -> torch.Tensor:
        """The tensor ``name``. Raises KeyError if no file has it."""
        found = [file.get_tensor(name) for file in self._places[name]]
        return found[0] if len(found) == 1 else torch.cat(found)

    def rank(self, name: str) -> int:
        """The number of dimensions of the tensor ``name``."""
        return len(self._places[name][0].get_slice(name).get_shape())

    def like(self, name: str, tensor: torch.Tensor) -> torch.Tensor:
        """The tensor ``name``, of which this worker holds as much as of ``tensor``: as it is, or as a DTensor. Raises ValueError if it has another
        shape."""
        if not isinstance(tensor, DTensor):
            return self.whole(name)
        first, count = _rows(tensor)
        slices = [file.get_slice(name) for file in self._places[name]]
        if any(s.get_shape()[1:] != list(tensor.shape[1:]) for s in slices) or sum(s.get_shape()[0] for s in slices) != tensor.shape[0]:
            raise ValueError(f"{name} has another shape than in the model")
        found, begin = [], 0
        for one in slices:
            length = one.get_shape()[0]
            low, high = max(first, begin), min(first + count, begin + length)
            if low < high:
                found.append(one[low - begin : high - begin])
            begin += length
        local = torch.cat(found) if found else torch.empty((0, *tensor.shape[1:]), dtype=tensor.dtype)
        local = local.to(tensor.device, tensor.dtype)
        return DTensor.from_local(local, tensor.device_mesh, tensor.placements, run_check=False, shape=tensor.shape, stride=tensor.stride())


@contextlib.contextmanager
def stored(folder: Path, stem: str) -> Iterator[Stored]:
    """The tensors of ``stem`` in the checkpoint ``folder``, from a file for all of them or from one for each worker."""
    in_parts = sorted(folder.glob(f"{stem}_*_of_*.safetensors"), key=lambda f: int(f.stem.split("_")[-3]))
    with contextlib.ExitStack() as opened:
        yield Stored([opened.enter_context(safe_open(f, framework="pt")) for f in in_parts or [folder / f"{stem}.safetensors"]])


def whole(model: torch.nn.Module, rank: int) -> dict[str, torch.Tensor]:
    """All tensors of ``model`` on the CPU of the first worker, one after another; {} on the others. All workers must call it."""
    found: dict[str, Any] = {}
    known: dict[int, Any] = {}
    for name, parameter in model.named_parameters(remove_duplicate=False):
        if id(parameter) not in known:
            tensor = parameter.full_tensor() if isinstance(parameter, DTensor) else parameter
            known[id(parameter)] = tensor.detach().cpu() if rank == 0 else None
        found[name] = known[id(parameter)]
    if rank:
        return {}
    return found | {name: tensor.detach().cpu() for name, tensor in model.state_dict().items() if name not in found}


@torch.no_grad()
def read_back(model: torch.nn.Module, folder: Path) -> None:
    """Fill this worker's rows of ``model`` from the weights in ``folder``, a model as transformers saves it. Raises ValueError if they do not fit."""
    with contextlib.ExitStack() as opened:
        found = Stored([opened.enter_context(safe_open(f, framework="pt")) for f in sorted(folder.glob("*.safetensors"))])
        names = set(found.names)
        for same in _names(model).values():
            name = next((n for n in same if n in names), None)
            if name is None:
                raise ValueError(f"{same[0]} is not in the saved model")
            parameter = model.get_parameter(name)
            own(parameter).copy_(own(found.like(name, parameter)))


def _names(model: torch.nn.Module) -> dict[int, list[str]]:
    """All names of each parameter."""
    found: dict[int, list[str]] = {}
    for name, parameter in model.named_parameters(remove_duplicate=False):
        found.setdefault(id(parameter), []).append(name)
    return found


def _rows(tensor: DTensor) -> tuple[int, int]:
    """The first row of ``tensor`` that this worker has, and how many: all have equally many but the last ones, as ``torch.chunk`` deals them out."""
    rows, each = tensor.shape[0], -(-tensor.shape[0] // tensor.device_mesh.size())
    first = min(rows, each * tensor.device_mesh.get_local_rank())
    return first, min(each, rows - first)
