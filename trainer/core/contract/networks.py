"""How examples become rows, and rows the answers of a network."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

if TYPE_CHECKING:
    from pathlib import Path

    import numpy

    from trainer.core.example import Example
    from trainer.core.plan import Features, Plan, Rows, Saved
    from trainer.models.catalogue import Base
    from trainer.run_folder.events import Events
    from trainer.targets.temperature import Measured


class Encoder(Protocol):
    """Turns examples into rows, in the same way in training and in prediction. Fitted on the training examples only."""

    shape: dict  # what ``build`` needs to know about the rows

    def encode(self, examples: Sequence[Example], targets: numpy.ndarray, name: str, training: bool = False) -> Rows: ...

    def described(self) -> dict:
        """The fields that this kind adds to ``model`` and ``data`` of result.json, by those names."""

    def forget(self) -> None:
        """Drop what was counted of earlier examples, for a process that encodes without end."""

    def save(self, folder: Path) -> None:
        """Write what ``load_encoder`` and the user's own libraries need beside the weights."""


class Networks:
    """The part of a kind that makes, saves and asks networks. ``build`` and what follows it run in workers."""

    shape: ClassVar[str]  # the built-in model, which starts from random weights
    starts_from: ClassVar[str]  # the kind of installed models that it starts from, as model.json calls it
    also_starts_from: ClassVar[tuple[str, ...]] = ()  # other kinds of installed models that it starts from where a user names one
    library: ClassVar[str] = ""  # imported by the workers while the driver reads the data
    uses_transformers: ClassVar[bool] = True  # whether workers import that library
    exports_onnx: ClassVar[bool] = False  # whether its networks have the form of model.onnx
    token_ids: ClassVar[bool] = False  # whether the inputs of its networks are token ids
    answers_places: ClassVar[bool] = False  # whether its networks answer for each place of a row
    answers_by_one_worker: ClassVar[bool] = False  # whether one worker computes the answers to everything together
    answered_bytes: ClassVar[float] = math.inf  # of a dataset to be answered, for each of which one more worker pays off
    spreads: ClassVar[bool] = False  # whether several workers pay off for large data
    gains_by_base: ClassVar[bool] = True  # whether an installed model knows what one from random weights must learn from the data
    gains_by_installed_models: ClassVar[bool] = True  # whether an installed model would probably be better than one from random weights
    from_random_weights: ClassVar[str] = "A {model} model is trained from random weights."
    # What is wrong and what to do, where an installed model of this kind is chosen for other data, and another model for data of this kind.
    unfit_elsewhere: ClassVar[tuple[str, str] | None] = None
    unfit_here: ClassVar[tuple[str, str] | None] = None
    why_no_network: ClassVar[str] = "A network with random weights needs more data than this to be better. Set model to {shape} to train it."

    def has_network(self, task: str) -> bool:
        """Whether a network can be trained for ``task``."""
        return True

    def starts_task(self, base: Base, task: str) -> bool:
        """Whether the installed model ``base`` of a kind that this one starts from can be finetuned for ``task``; empty stands for any."""
        return True

    def build(self, plan: Plan) -> Any:
        """The model to train. Random weights come from torch's generator, which the caller seeds."""
        raise NotImplementedError

    def load(self, folder: Path, like: Any = None, base: Path | None = None) -> Any:
        """The model that ``save`` wrote into ``folder``. ``like`` is a model of the same class, if there is one; ``base`` the folder of the
        model that an adapter belongs to."""
        raise NotImplementedError

    def save(self, model: Any, plan: Plan, folder: Path) -> None:
        """Write weights (safetensors) and config.json. A saved model answers in the unit of the data."""
        raise NotImplementedError

    def reads_any_size(self, model: Any) -> bool:
        """Whether ``model`` reads pictures of any size, and answers for each of their pixels."""
        return False

    def build_frozen(self, plan: Plan) -> Any:
        """The installed model under a new linear head; None if it cannot have one."""
        return self.build(plan)

    def bf16_on_cpus(self, base: Base) -> bool:
        """Whether bf16 makes the training of ``base`` faster on CPUs that have it, with a model as good as in fp32."""
        return False

    def device_decisions(self, model: Any, plan: Plan) -> Sequence[tuple[str, Any, str]]:
        """What ``build`` chose for the device of ``model``: a name, the choice, and a sentence."""
        return ()

    def step_width(self, features: Features) -> int:
        """The work of a step for each unit of ``features.lengths``, relative to other trainings of this kind."""
        return 1

    def predict(self, model: Any, saved: Saved, device: Any, on_progress: Any) -> numpy.ndarray:
        """The outputs of a saved model for every example of ``saved``. Raises UserError if the run is stopped."""
        raise NotImplementedError

    def measure(self, model: Any, plan: Plan, device: Any, folder: Path) -> Measured | None:
        """The answers of a trained model on all splits where this kind computes them itself; ``folder`` holds the model's folder."""
        return None

    def after_training(self, model: Any, plan: Plan, device: Any, events: Events | None) -> Any:
        """What the report says of the trained model beside its answers; plain values and arrays. Called on the first worker; where weights
        are spread over the workers on all, on the others without ``events``: they compute the same, and what they return is dropped."""
        return None
