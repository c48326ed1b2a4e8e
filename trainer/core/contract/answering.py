"""How a saved model answers: a dataset, single rows, and what an answer relies on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

if TYPE_CHECKING:
    from pathlib import Path

    import numpy

    from trainer.answer.rows import Column
    from trainer.core.blocks import Section
    from trainer.core.contract.networks import Encoder
    from trainer.core.example import Dataset, Example
    from trainer.data.columns.values import Style
    from trainer.export.finished import Answered, Asking
    from trainer.launch import Launcher
    from trainer.run_folder.events import Events
    from trainer.shift.traits import Trait
    from trainer.targets.target import Report, Target


@dataclass(frozen=True)
class Less:
    """An example without one part, by its name. ``box`` is where the part of a picture is: left, top, width and height, in shares of the picture."""

    name: str
    example: Example
    box: tuple[float, ...] = ()


class Answering:
    """The part of a kind that answers with a saved model."""

    inputs_may_lack: ClassVar[bool] = False  # whether a request may leave inputs out
    unreadable_input: ClassVar[str] = "The input cannot be read."  # where the file in a request is not what the model reads
    why_no_single_answers: ClassVar[str] = "Models of this kind do not answer single rows. Let this one answer for a dataset."

    def check_description(self, description: dict) -> None:
        """Raise ValueError unless the description of a saved model has what this kind needs."""

    def needs_no_worker(self, description: dict) -> bool:
        """Whether the driver answers with a saved model of this description itself."""
        from trainer.core import registry

        return description["base"] in registry.estimators()

    def answer(self, asking: Asking, launcher: Launcher) -> None:
        """Answer what the dataset asks, and write the results. ``launcher`` is None where no worker is needed. Raises UserError."""
        raise NotImplementedError

    def answered(self, encoder: Encoder, outputs: numpy.ndarray, events: Events) -> numpy.ndarray:
        """The outputs of the workers in the form of ``Target.predicted``."""
        return outputs

    def answers_to(self, examples: Sequence[Example]) -> Sequence[Example]:
        """The examples of a prediction, one for each answer."""
        return examples

    def answers_table(self, answered: Answered, columns: Sequence[str]) -> str | None:
        """predictions.csv of a prediction; None for one line for each example."""
        return None

    def answers_samples(self, answered: Answered) -> list[dict] | None:
        """The examples of a prediction in the report; None for the first ones."""
        return None

    def answer_files(self, answered: Answered, work: Path, out: Path) -> dict[str, dict]:
        """Write further files of a prediction into ``out``. Gives their ``title`` and ``text`` by their paths in result.json. The service packs
        those below ``answers`` into one archive. ``work`` is the folder of the start, in which workers may have left answers."""
        return {}

    def answers_sections(self, answered: Answered, work: Path) -> list[Section]:
        """Further sections of the report of a prediction, after ``answer_files``."""
        return []

    def answers_scores(self, answered: Answered, rows: numpy.ndarray, seed: int) -> Report:
        """The metrics of a prediction on ``rows``, whose labels are known."""
        return answered.target.report(answered.target.answers(answered.outputs[rows], answered.truth[rows]), seed)

    def traits(self, examples: Sequence[Example], columns: Sequence[str], types: dict[str, str]) -> Sequence[Trait]:
        """What new examples are compared by with those of the training; a part of the examples where a look at each takes long."""
        return ()

    def shared_parts(self, data: Dataset) -> Sequence[str]:
        """The names of the parts that every example has, such as the columns of a table; their weight for a model is measured."""
        return ()

    def network_in(self, folder: Path, description: dict) -> Any:
        """What gives the ``outputs`` of examples by the network in ``folder`` without torch; None where there is no model.onnx. ``description`` has
        the kind, the target and the encoder as that of a saved model does."""
        return None

    def with_part(self, example: Example, part: int, other: Example) -> Example:
        """``example`` with the part of that number from another one."""
        raise NotImplementedError

    def without_parts(self, example: Example, columns: Sequence[str], most: int) -> tuple[Example, list[Less]]:
        """``example`` as it is compared, and the example without each of at most ``most`` parts of it; none where its parts say nothing of an
        answer."""
        return example, []

    def lacks(self, description: dict, data: Dataset) -> bool:
        """Whether an earlier model reads something that ``data`` no longer has."""
        return False

    def as_read_by(self, description: dict, data: Dataset) -> Sequence[Example]:
        """The test examples in the form that an earlier model reads."""
        return data.splits["test"]

    def inputs(self, description: dict, folder: Path) -> tuple[Column, ...] | None:
        """The inputs of a saved model that answers single rows, from its description and the other files in ``folder``; None where models of
        this kind answer for datasets only."""
        return None

    def contents(self, cells: dict[str, list], columns: tuple[Column, ...], styles: dict[str, Style]) -> list:
        """The contents of the examples in a request. Raises Refused."""
        raise NotImplementedError

    def responder(self, answers: Any, target: Target) -> Any:
        """What gives the tensors for the cells of a request where an example has several answers, or pictures as its answer; None where each
        has one that its target describes. Its tensors may say in their ``parameters`` how people are to see them."""
        return None
