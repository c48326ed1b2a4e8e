"""Checkpoints of a training: complete and verified, or not present.

A checkpoint is a folder with the weights, their moving average, the optimizer (each as one file, or as one for each worker) and state.json,
which holds the position, the sha256 of the other files and its own. It is created in the folder of the start and published by the lease, and
then index.json is. Only listed checkpoints count. The best one and the newest ones are kept. All randomness of a training is a function of the
seed and the step, so checkpoints need no state of a random generator.
"""

import hashlib
import json
import re
from dataclasses import asdict
from pathlib import Path

import torch
from safetensors.torch import save_file

from trainer.core.plan import INDEX
from trainer.run_folder import files
from trainer.run_folder.lease import Lease
from trainer.train import parts
from trainer.train.position import Position

_NAME = re.compile(r"step-(\d{9})")
_FILE = re.compile(r"\w+\.safetensors")


class Checkpoints:
    """The checkpoints of a run in ``folder``, made by the training that ``digest`` names. Only the holder of the ``lease`` may save."""

    def __init__(self, folder: Path, digest: str, keep: int, lease: Lease | None):
        self.folder, self.digest, self.keep, self.lease = folder, digest, keep, lease

    def save(self, position: Position, model, average, optimizer) -> Path:
        """Save a checkpoint. When this returns, it is on disk and listed, and checkpoints that are not needed are deleted."""
        made = self.begin(position.step)
        frozen = _frozen(model)
        save_file(_weights(model, frozen), str(made / "model.safetensors"))
        if average is not None:
            save_file(_weights(average, frozen), str(made / "average.safetensors"))
        save_file(_optimizer_state(optimizer)[0], str(made / "optimizer.safetensors"))
        return self.complete(made, position, optimizer)

    def begin(self, step: int) -> Path:
        """An empty folder for the files of the checkpoint after ``step``."""
        made: Path = self.lease.folder / f"step-{step:09d}"
        made.mkdir()
        return made

    def complete(self, made: Path, position: Position, optimizer) -> Path:
        """Publish the checkpoint whose files are in ``made``, as ``save`` does."""
        final = self.folder / made.name
        _, plain = _optimizer_state(optimizer)
        hashes = {f.name: files.sha256(f) for f in sorted(made.iterdir())}
        state = {"digest": self.digest, "position": asdict(position), "optimizer": plain, "files": hashes}
        files.write_json(made / "state.json", {**state, "seal": _seal(state)})
        self.lease.publish(made, final)
        best = f"step-{position.best_step:09d}"
        listed = sorted({*self._listed()[0], final.name}, reverse=True)
        kept = [n for n in listed if n <= final.name][: self.keep]
        kept = sorted({*kept, best} & set(listed), reverse=True)
        self.lease.write_json(self.folder / INDEX, {"best": best, "checkpoints": kept})
        self._remove_all_but({*kept, INDEX})
        return final

    def newest(self, damaged: list[str], foreign: list[str]) -> tuple[Path, dict] | None:
        """The newest usable checkpoint with its state, or None. The names of newer ones are added to ``damaged`` or, if they were made
        from other data or with other settings, to ``foreign``.

        A checkpoint whose best model is damaged is not usable: the training must start earlier to find that model again.
        """
        for name in self._listed()[0]:
            state = self._state(self.folder / name)
            if state is not None and state["digest"] != self.digest:
                foreign.append(name)
                continue
            if state is not None:
                best = state["position"]["best_step"]
                if not best or self._state(self.best(best)) is not None:
                    return self.folder / name, state
            damaged.append(name)
        return None

    def best(self, step: int) -> Path:
        return self.folder / f"step-{step:09d}"

    def load_best(self, step: int, model) -> None:
        """Load the weights of the best checkpoint into ``model``: their moving average if there is one."""
        average = (self.best(step) / "average.safetensors").is_file()
        _load(model, self.best(step), "average" if average else "model")

    def _remove_all_but(self, kept: set[str]) -> None:
        """Remove older and damaged checkpoints, and checkpoints of another training."""
        for old in self.folder.iterdir():
            if old.name not in kept:
                self.lease.remove(old)

    def _listed(self) -> tuple[list[str], str]:
        try:
            index = files.read_json(self.folder / INDEX)
            return sorted((n for n in index["checkpoints"] if _NAME.fullmatch(n)), reverse=True), index["best"]
        except (OSError, ValueError, KeyError, TypeError):
            return [], ""

    def _state(self, folder: Path) -> dict | None:
        """state.json of a checkpoint whose files all match it, else None."""
        try:
            state = files.read_json(folder / "state.json")
            if not all(_FILE.fullmatch(name) for name in state["files"]):
                return None
            whole = state.pop("seal") == _seal(state) and all(files.sha256(folder / name) == digest for name, digest in state["files"].items())
            return state if whole else None
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            return None


def write_part(made: Path, model, optimizer, rank: int, world: int) -> None:
    """Write what worker ``rank`` of ``world`` holds of the weights and of the optimizer into ``made``. All workers must do so."""
    left_out = _frozen(model)
    if rank:
        left_out |= {name for name, tensor in model.state_dict().items() if not parts.is_part(tensor)}
    save_file(_weights(model, left_out), str(made / parts.file_name("model", rank, world)))
    state, _ = _optimizer_state(optimizer, only_parts=rank > 0)
    save_file(state, str(made / parts.file_name("optimizer", rank, world)))


def restore(folder: Path, state: dict, model, average, optimizer) -> Position:
    """Load the checkpoint in ``folder`` into model, average and optimizer."""
    _load(model, folder, "model")
    if average is not None:
        _load(average, folder, "average")
    current = optimizer.state_dict()
    current["state"] = {int(n): dict(values) for n, values in state["optimizer"].items()}
    trained = [p for group in optimizer.param_groups for p in group["params"]]
    with parts.stored(folder, "optimizer") as found:
        for name in found.names:
            number, key = name.split("/", 1)
            like = trained[int(number)]
            tensor = found.like(name, like) if found.rank(name) == like.ndim else found.whole(name)
            current["state"].setdefault(int(number), {})[key] = tensor
    optimizer.load_state_dict(current)
    return Position(**state["position"])


def _seal(state: dict) -> str:
    """The sha256 of the content of state.json, which reveals a change that leaves it readable."""
    return hashlib.sha256(json.dumps(state, sort_keys=True).encode()).hexdigest()


def _frozen(model) -> set[str]:
    """The parameters that are not trained. They come from the base model, which is always there."""
    return {name for name, parameter in model.named_parameters(remove_duplicate=False) if not parameter.requires_grad}


def _weights(model, frozen: set[str]) -> dict[str, torch.Tensor]:
    """All tensors of ``model`` that are not ``frozen``; shared tensors only once."""
    found, seen = {}, set()
    for name, tensor in model.state_dict().items():
        if name in frozen:
            continue
        mine = parts.own(tensor)
        if mine.data_ptr() not in seen or not mine.numel():
            seen.add(mine.data_ptr())
            found[name] = mine.detach().cpu().contiguous()
    return found


def _load(model, folder: Path, stem: str) -> None:
    state = model.state_dict()
    with parts.stored(folder, stem) as found:
        tensors = {name: found.like(name, state[name]) if name in state else found.whole(name) for name in found.names}
    missing, unexpected = model.load_state_dict(tensors, strict=False)
    frozen = _frozen(model)
    places = {name: parts.own(tensor).data_ptr() for name, tensor in state.items()}
    lost = [n for n in missing if n not in frozen and places[n] not in {places[k] for k in tensors if k in places}]
    if lost or unexpected:
        raise ValueError(f"{folder / stem} does not fit the model: {[*lost, *unexpected][:3]}")


def _optimizer_state(optimizer, only_parts: bool = False) -> tuple[dict[str, torch.Tensor], dict]:
    """The state of the optimizer as tensors by "<number of the parameter>/<name>", of which this worker may hold a part, and the values that are
    not tensors. ``only_parts`` leaves out tensors that every worker holds."""
    tensors: dict = {}
    plain: dict = {}
    for number, values in optimizer.state_dict()["state"].items():
        for key, value in values.items():
            if isinstance(value, torch.Tensor):
                if parts.is_part(value) or not only_parts:
                    tensors[f"{number}/{key}"] = parts.own(value).detach().cpu().contiguous().clone()
            else:
                plain.setdefault(str(number), {})[key] = value
    return tensors, plain
