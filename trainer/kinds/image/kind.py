"""Pictures with a class, a number or several labels each."""

import math
from typing import Any

import numpy

from trainer.core.contract.training import LinearFeatures
from trainer.kinds.image.options import OPTIONS
from trainer.kinds.label_sets.examples import WithLabelSets
from trainer.kinds.label_sets.target import Labels
from trainer.kinds.rows.label_sets import IMAGE_TASK as LABEL_SETS
from trainer.targets.classes import Classes
from trainer.targets.number import Number

STEPS = 540  # of a network from random weights, where nobody chose the epochs: few pictures are read many times
FEWEST, MOST = 12, 150  # epochs
CLASSES, NUMBERS = "image-classification", "image-regression"


class Images(WithLabelSets):
    name = "image"
    tasks = (CLASSES, NUMBERS, LABEL_SETS)
    tasks_of_numbers = (NUMBERS,)
    options = OPTIONS
    targets = (Classes, Number, Labels)
    things = "images"
    baseline_snippet = "image/baseline_image"
    shape = "small-cnn"
    starts_from = "image"
    claims_by_whole_files = True
    library = "transformers.models.resnet.modeling_resnet"
    exports_onnx = True
    files_are_examples = True
    tried = 1
    unreadable_input = "The image cannot be decoded. Use a PNG or JPEG that an ordinary viewer can show."

    def likelihood(self, inputs) -> float:
        from trainer.data import names

        return sum(names.extension(i.name) in names.IMAGES for i in inputs) / max(1, len(inputs))

    def refuse(self, files, settings) -> None:
        from trainer.kinds.image import annotated

        annotated.refuse(files, settings)

    def claim(self, files, settings):
        from trainer.kinds.image import annotated
        from trainer.kinds.rows import reading

        claim = reading.claim(self, files, settings)
        return annotated.asked_back(claim, settings) if claim is not None and claim.fault is None else claim

    def read(self, claim, settings, checks):
        from trainer.kinds.image import forms
        from trainer.kinds.rows import reading

        data = reading.load(claim, settings, checks)
        if data.task == CLASSES:
            forms.check(data.splits["train"], checks)
        return data

    def read_rows(self, sources, columns, settings, events):
        from trainer.kinds.rows import prediction

        return prediction.READERS[self.name](self, sources, columns, settings, events)

    def target(self, data):
        if data.task == LABEL_SETS:
            return Labels(data.labels, data.separator)
        return Classes(data.labels) if data.task == CLASSES else Number.learnt([e.target for e in data.splits["train"]])

    def encoder(self, spec, settings, data, base, events):
        from trainer.kinds.image import encoder

        return encoder.encoder(spec, settings, data, base, events)

    def load_encoder(self, spec, folder, description):
        from trainer.kinds.image import encoder

        return encoder.load_encoder(spec, folder, description)

    def choose_epochs(self, settings, base, rows, place, digest, events):
        """So many that a network from random weights takes ``STEPS`` steps."""
        if not base.fresh:
            return settings
        from trainer.models import training_length

        epochs = min(MOST, max(FEWEST, math.ceil(STEPS / math.ceil(max(1, len(rows)) / settings.batch_size))))
        why = f"The training goes through the images up to {epochs} times, and ends earlier where the model no longer improves."
        return training_length.choose(settings, epochs, why, 3, events)

    def build(self, plan) -> Any:
        from trainer.kinds.image import network

        return network.build(plan)

    def load(self, folder, like=None, base=None) -> Any:
        from trainer.kinds.image import network

        return network.load(folder, like)

    def save(self, model, plan, folder) -> None:
        from trainer.models import transformer

        transformer.save(model, plan, folder)

    def bf16_on_cpus(self, base) -> bool:
        """The built-in network takes two thirds of the time. Installed models were not compared."""
        return base.fresh

    def tries_frozen(self, plan, cut: bool) -> bool:
        """It costs little and often wins, with one answer for each picture."""
        return not cut and plan.task != LABEL_SETS

    def step_width(self, features) -> int:
        """All images are of the same size."""
        return math.prod(features.batch(numpy.zeros(1, numpy.int64))["pixel_values"].shape[-2:])

    def key(self, example) -> str:
        from trainer.data import keys
        from trainer.run_folder import files

        return keys.Sum(files.sha256(example.content))

    def content(self, example, columns) -> str:
        """A row of a table names its image."""
        return example.id if example.row else example.file

    def parts(self, finished) -> dict:
        from trainer.core import blocks
        from trainer.kinds.image import looking, results

        labels = super().parts(finished).get("sections", [])
        return {"sections": [*labels, *blocks.described([*results.sections(finished), *looking.sections(finished)])]}

    def traits(self, examples, columns, types):
        from trainer.data.pictures import traits

        return traits.of([e.content for e in examples])

    def points(self, examples, columns, types):
        from trainer.kinds.image import points

        return points.of(examples)

    def without_parts(self, example, columns, most: int):
        from trainer.kinds.image import without

        return without.squares(example, most)

    def picture(self, example) -> str | None:
        from trainer.data.pictures import thumbnails

        return thumbnails.of(example.content)

    def inputs_of(self, example, columns):
        from trainer.kinds.image import results

        return results.inputs(example)

    def snippet(self, base: str, task: str, folder) -> str:
        from trainer.kinds.image.looked import CLEAR
        from trainer.run_folder import files

        described = files.read_json(folder / "preprocessor_config.json")
        if "bands" in described or CLEAR in described:
            return "image/image_bands"
        if task == LABEL_SETS:
            return "image/image_labels"
        return "image/image_regression" if task in self.tasks_of_numbers else "image/image"

    def reads(self, model: dict) -> str:
        size, form = model.get("image_size"), model.get("image_form")
        return "images" + (f", resized to {size} by {size} pixels" if size else "") + (f"; {form}" if form else "")

    def inputs(self, description: dict, folder):
        from trainer.answer.rows import IMAGE, Column

        return (Column(IMAGE, IMAGE, is_file=True),)

    def contents(self, cells, columns, styles) -> list:
        from trainer.answer import rows

        return [rows.image(cell) for cell in cells[rows.IMAGE]]

    def looks(self, examples):
        from trainer.kinds.image import alike

        return alike.of(examples)

    def linear_features(self, encoder, data, rows, max_width: int) -> LinearFeatures:
        from trainer.kinds.image import encoder as images

        return images.linear_features(rows)
