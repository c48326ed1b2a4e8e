"""A kind of data: everything that differs between texts, images, tables and so on, behind one interface.

A kind is a folder ``trainer/kinds/<name>`` with a subclass of ``Kind`` in ``kind.py``, and one entry in ``trainer/kinds/__init__.py``. No other
module asks which kind it has: it calls a method, or reads a fact, of the kind. The methods import what they need when they are called,
because a driver must not import torch, and the process that answers single rows must stay small.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

if TYPE_CHECKING:
    from pathlib import Path

    import numpy

    from trainer.answer.rows import Column
    from trainer.config.options import Option
    from trainer.config.settings import Settings
    from trainer.config.spec import Spec
    from trainer.core.blocks import Section
    from trainer.core.columns import Columns
    from trainer.core.example import Dataset, Example
    from trainer.core.input import Input
    from trainer.core.plan import Features, Plan, Rows, Saved
    from trainer.data.checks import Checks
    from trainer.data.claims import Claim, Files
    from trainer.data.columns.values import Style
    from trainer.data.sources import Sources
    from trainer.export.finished import Answered, Finished
    from trainer.launch import Launcher
    from trainer.measure.tfidf import TfIdf
    from trainer.models.catalogue import Base
    from trainer.predict import Model
    from trainer.run_folder.events import Events
    from trainer.shift.traits import Trait
    from trainer.targets.target import Answers, Report, Target
    from trainer.targets.temperature import Measured
    from trainer.training.candidates import Beside, Candidate
    from trainer.training.carry_out import Run


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


@dataclass(frozen=True)
class Estimator:
    """A model that the driver fits, by the name that the option ``model`` takes. ``module`` has the functions of ``trainer.estimators.Module``,
    or of ``trainer.estimators.Joined`` if it ``joins`` the estimators before it; ``title`` describes it in a sentence. One that ``leans`` may compute
    with an installed model: see ``trainer.estimators.Leaning``."""

    name: str
    module: str
    title: str
    kind: str  # the name of its kind of data
    joins: bool = False
    leans: bool = False


@dataclass(frozen=True)
class LinearFeatures:
    """What a linear model reads: features of every split, the terms behind them if they are terms, and the model's name in a sentence."""

    features: dict[str, Any]
    terms: TfIdf | None
    title: str


@dataclass(frozen=True)
class Less:
    """An example without one part, by its name. ``box`` is where the part of a picture is: left, top, width and height, in shares of the picture."""

    name: str
    example: Example
    box: tuple[float, ...] = ()


class Kind:
    """One kind of data. The facts are of the class, so that a kind can be sent to workers by its name alone."""

    name: ClassVar[str]
    tasks: ClassVar[tuple[str, ...]]
    tasks_of_numbers: ClassVar[tuple[str, ...]] = ()  # those of ``tasks`` whose target is a number
    targets: ClassVar[tuple[type[Target], ...]]
    things: ClassVar[str] = "rows"  # examples, in the plural, in a sentence
    choosing_metrics: ClassVar[tuple[str, ...]] = ()  # metrics of this kind alone that the option metric takes
    options: ClassVar[tuple[Option, ...]] = ()
    takes_options: ClassVar[tuple[str, ...]] = ()  # names of options of other kinds that have an effect here, too
    options_place: ClassVar[int] = 0  # of its options in forms, beside those of other kinds; equal places are in the order of the kinds

    # --- Its models.
    shape: ClassVar[str]  # the built-in model, which starts from random weights
    starts_from: ClassVar[str]  # the kind of installed models that it starts from, as model.json calls it
    also_starts_from: ClassVar[tuple[str, ...]] = ()  # other kinds of installed models that it starts from where a user names one
    library: ClassVar[str] = ""  # imported by the workers while the driver reads the data
    uses_transformers: ClassVar[bool] = True  # whether workers import that library
    epochs: ClassVar[int] = 0  # default of the built-in model, if its epochs are short
    estimators: ClassVar[tuple[Estimator, ...]] = ()
    compares_named: ClassVar[bool] = False  # whether the estimators are also fitted beside a network that the user named
    encodes_always: ClassVar[bool] = True  # whether rows are encoded where no network is trained
    gains_by_base: ClassVar[bool] = True  # whether an installed model knows what one from random weights must learn from the data
    gains_by_installed_models: ClassVar[bool] = True  # whether an installed model would probably be better than one from random weights
    from_random_weights: ClassVar[str] = "A {model} model is trained from random weights."
    advice_for_long: ClassVar[str] = "Increase max_length."  # where the model reads only a part of many examples
    # What is wrong and what to do, where an installed model of this kind is chosen for other data, and another model for data of this kind.
    unfit_elsewhere: ClassVar[tuple[str, str] | None] = None
    unfit_here: ClassVar[tuple[str, str] | None] = None
    why_no_network: ClassVar[str] = "A network with random weights needs more data than this to be better. Set model to {shape} to train it."

    # --- Reading.
    # Formats of annotations of pictures that this kind is trained on, as trainer/data/annotations calls them.
    annotation_formats: ClassVar[tuple[str, ...]] = ()
    extensions: ClassVar[tuple[str, ...]] = ()  # of files that this kind alone reads, in lower case and without the dot
    claims_by_whole_files: ClassVar[bool] = False  # whether a claim reads whole files, so that it is made without files that others are sure of

    def likelihood(self, inputs: Sequence[Input]) -> float:
        """How likely these files are of this kind, from 0 to 1, by a quick look: good enough to choose what the workers import in advance."""
        return 0.0

    def refuse(self, files: Files, settings: Settings) -> None:
        """Raise UserError where the files are of this kind, in a form that nothing can be trained on and that other kinds would misread.

        All kinds are asked before one makes a claim. The look must be quick, and bounded whatever the files are.
        """

    def claim(self, files: Files, settings: Settings) -> Claim | None:
        """The reading of the files as this kind, how sure it is, and why; None where they are not of this kind.

        Raises UserError where they are, but something must be changed before they can be read. Writes no event and changes nothing.
        """
        return None

    def read(self, claim: Claim, settings: Settings, checks: Checks) -> Dataset:
        """The examples of ``claim`` in three splits. Raises UserError."""
        raise NotImplementedError

    def read_rows(self, sources: Sources, columns: Columns, settings: Settings, events: Events) -> tuple[list[Example], list[str], int]:
        """The examples that a saved model is to answer, their files, and how many rows were left out. Raises UserError."""
        raise NotImplementedError

    def train(self, run: Run, claim: Claim) -> None:
        """Read the files of ``claim``, train, and write the results. Raises UserError."""
        raise NotImplementedError

    def key(self, example: Example) -> str:
        """What is equal for copies of an example: the same words, cells or bytes (see trainer/data/keys.py)."""
        raise NotImplementedError

    def target(self, data: Dataset) -> Target:
        """The target of ``data``, learnt from the training targets."""
        raise NotImplementedError

    def labels_of(self, target: str, separator: str) -> list[str]:
        """The labels in the target of one example."""
        return [target]

    # --- Encoding and networks. ``build`` and what follows it run in workers.
    def encoder(self, spec: Spec, settings: Settings, data: Dataset, base: Base, events: Events) -> tuple[Encoder, Settings]:
        """The encoder, fitted on the training examples, and the settings with what it chose."""
        raise NotImplementedError

    def load_encoder(self, spec: Spec | None, folder: Path, description: dict) -> Encoder:
        """The encoder that ``save`` wrote. Without a spec it keeps what it encodes in memory."""
        raise NotImplementedError

    def build(self, plan: Plan) -> Any:
        """The model to train. Random weights come from torch's generator, which the caller seeds."""
        raise NotImplementedError

    def reads_any_size(self, model: Any) -> bool:
        """Whether ``model`` reads pictures of any size, and answers for each of their pixels."""
        return False

    def load(self, folder: Path, like: Any = None, base: Path | None = None) -> Any:
        """The model that ``save`` wrote into ``folder``. ``like`` is a model of the same class, if there is one; ``base`` the folder of the
        model that an adapter belongs to."""
        raise NotImplementedError

    def save(self, model: Any, plan: Plan, folder: Path) -> None:
        """Write weights (safetensors) and config.json. A saved model answers in the unit of the data."""
        raise NotImplementedError

    answers_by_one_worker: ClassVar[bool] = False  # whether one worker computes the answers to everything together
    lists_candidates: ClassVar[bool] = True  # whether the report compares candidates
    token_ids: ClassVar[bool] = False  # whether the inputs of its networks are token ids
    exports_onnx: ClassVar[bool] = False  # whether its networks have the form of model.onnx
    answers_places: ClassVar[bool] = False  # whether its networks answer for each place of a row
    longest_on_cpus: ClassVar[float] = math.inf  # estimated seconds of a training on CPUs from which it is refused
    spreads: ClassVar[bool] = False  # whether several workers pay off for large data
    answered_bytes: ClassVar[float] = math.inf  # of a dataset to be answered, for each of which one more worker pays off

    def has_network(self, task: str) -> bool:
        """Whether a network can be trained for ``task``."""
        return True

    def starts_task(self, base: Base, task: str) -> bool:
        """Whether the installed model ``base`` of a kind that this one starts from can be finetuned for ``task``; empty stands for any."""
        return True

    def bf16_on_cpus(self, base: Base) -> bool:
        """Whether bf16 makes the training of ``base`` faster on CPUs that have it, with a model as good as in fp32."""
        return False

    def device_decisions(self, model: Any, plan: Plan) -> Sequence[tuple[str, Any, str]]:
        """What ``build`` chose for the device of ``model``: a name, the choice, and a sentence."""
        return ()

    def tries_frozen(self, plan: Plan, cut: bool) -> bool:
        """Whether the installed model is also tried as it is, under a linear head. ``cut`` says that the time limit ends its training."""
        return False

    def build_frozen(self, plan: Plan) -> Any:
        """The installed model under a new linear head; None if it cannot have one."""
        return self.build(plan)

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

    # --- The driver's part of a training.
    def choose_epochs(self, settings: Settings, base: Base, rows: Rows, place: Any, digest: Any, events: Events) -> Settings:
        """The settings, with fewer epochs where nobody chose them and they would take too long."""
        return settings

    def advise(self, encoder: Encoder, data: Dataset, base: Base, events: Events) -> None:
        """Warn of data that the model can hardly learn from. Raises UserError where it cannot."""

    def details(self, encoder: Encoder, data: Dataset, settings: Settings) -> Any:
        """What this kind itself needs in the workers: ``Plan.details``."""
        return None

    def rows_are_examples(self, base: Base) -> bool:
        """Whether rows that are fewer than the examples mean that examples were left out."""
        return True

    def combine(self, network: Candidate, others: list[Candidate], plan: Plan) -> list[Candidate]:
        """Further candidates that answer with ``network`` and another one together."""
        return []

    def load_beside(self, folder: Path) -> Beside | None:
        """What answers together with the network in ``folder``; None where there is none. Raises OSError, ValueError, KeyError or TypeError
        for damaged files."""
        return None

    def leaves_out(self, data: Dataset) -> Mapping[str, str]:
        """The estimators that do not suit the data, each with the reason as a sentence."""
        return {}

    def estimator_seconds(self, data: Dataset, outputs: int) -> float:
        """About how many seconds the estimators take on one core. ``outputs`` counts the models that one of them consists of."""
        return 1.0

    def baselines(self, data: Dataset, seed: int) -> list[dict] | None:
        """The entries of metrics.json for simple models, where neither a constant answer nor a linear model is one; None where they are."""
        return None

    def simple_answers(self, data: Dataset, target: Target, truth: dict[str, numpy.ndarray], fitted: dict[str, Any]) -> tuple[Answers, str] | None:
        """The answers of a simple model of this kind on the test examples, and its name in a sentence; None to take a linear model on
        ``linear_features``. ``truth`` has the encoded targets of each split, ``fitted`` the estimators by name."""
        return None

    def linear_features(self, encoder: Encoder, data: Dataset, rows: dict[str, Rows], max_width: int) -> LinearFeatures | None:
        """What a linear model reads, for comparison; None where it cannot answer. Where the number of features can be chosen, it is at most
        ``max_width``."""
        return None

    # --- Predictions.
    text_column_replaces_columns: ClassVar[bool] = False  # whether the option text_column names other columns for a saved model to read

    def check_description(self, description: dict) -> None:
        """Raise ValueError unless the description of a saved model has what this kind needs."""

    def needs_no_worker(self, description: dict) -> bool:
        """Whether the driver answers with a saved model of this description itself."""
        from trainer.core import registry

        return description["base"] in registry.estimators()

    def answer(self, spec: Spec, settings: Settings, model: Model, launcher: Launcher, events: Events, began: float) -> None:
        """Answer what the dataset asks, and write the results. Raises UserError."""
        raise NotImplementedError

    def question(
        self, spec: Spec, settings: Settings, model: Model, encoder: Encoder, target: Target, examples: Sequence[Example], truth: numpy.ndarray
    ) -> Saved:
        """What the workers are asked about ``examples``."""
        from trainer.core.plan import Saved

        return Saved(model.folder, self, target, encoder.encode(examples, truth, "predict"))

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

    def answered(self, encoder: Encoder, outputs: numpy.ndarray, events: Events) -> numpy.ndarray:
        """The outputs of the workers in the form of ``Target.predicted``."""
        return outputs

    # --- Single answers.
    inputs_may_lack: ClassVar[bool] = False  # whether a request may leave inputs out
    unreadable_input: ClassVar[str] = "The input cannot be read."  # where the file in a request is not what the model reads

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

    # --- Results. A person reads them, so they are short texts and small pictures.
    files_are_examples: ClassVar[bool] = False  # whether an example is a file also where a table names it
    enough: ClassVar[int] = 500  # training examples for a reliable training; 0 where their number says nothing
    label_words: ClassVar[str] = ""  # where the labels are if no column has them; empty for the names of folders
    tried: ClassVar[int] = 0  # test rows of a sort that are kept to try the model with

    def content(self, example: Example, columns: Sequence[str]) -> str:
        """What a model reads of an example, as one short line."""
        raise NotImplementedError

    def picture(self, example: Example) -> str | None:
        """A small PNG in base64 of an example; None for none."""
        return None

    def shown_label(self, example: Example) -> str:
        """What is right for an example, as one short line."""
        return example.target

    def inputs_of(self, example: Example, columns: Sequence[str]) -> dict[str, str] | None:
        """The inputs of a single answer that are this example, by their names; None where they are too large."""
        return None

    def by_answers(self, data: Dataset) -> Dataset:
        """``data`` with one test example for each answer."""
        return data

    def add_scores(self, finished: Finished) -> list[dict]:
        """Add metrics that only this kind has to the reports, and return further baselines."""
        return []

    def parts(self, finished: Finished) -> dict:
        """The parts of result.json that only this kind has."""
        return {}

    def described_model(self, folder: Path) -> dict:
        """What ``model`` of result.json says of the delivered model in ``folder``."""
        return {}

    def predictions(self, finished: Finished) -> str | None:
        """predictions.csv of a training; None for one line for each test row with its label and the answer."""
        return None

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

    def answers_sections(self, answered: Answered) -> list[Section]:
        """Further sections of the report of a prediction."""
        return []

    def answers_scores(self, answered: Answered, rows: numpy.ndarray, seed: int) -> Report:
        """The metrics of a prediction on ``rows``, whose labels are known."""
        return answered.target.report(answered.target.answers(answered.outputs[rows], answered.truth[rows]), seed)

    baseline_snippet: ClassVar[str] = ""  # the lines of Python for the linear model beside it; empty for none
    why_no_single_answers: ClassVar[str] = "Models of this kind do not answer single rows. Let this one answer for a dataset."

    def snippet(self, base: str, task: str, folder: Path) -> str:
        """The name of the lines of Python that load the model in ``folder``: a file in ``snippets`` of the folder of a kind."""
        return f"{self.name}/{self.name}"

    def reads(self, model: dict) -> str:
        """What the model reads, in words. ``model`` is that of result.json."""
        return ""

    def answers_in_words(self, labels: Sequence[str], data: Dataset) -> str:
        """What the model answers, in words; empty for one of its labels or a number."""
        return ""

    def lacks(self, description: dict, data: Dataset) -> bool:
        """Whether an earlier model reads something that ``data`` no longer has."""
        return False

    def as_read_by(self, description: dict, data: Dataset) -> Sequence[Example]:
        """The test examples in the form that an earlier model reads."""
        return data.splits["test"]
