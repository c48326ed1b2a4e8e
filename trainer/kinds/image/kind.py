"""Pictures with a class each."""

import math
from typing import Any

import numpy

from trainer.core.kind import LinearFeatures
from trainer.kinds.examples import ExampleKind
from trainer.kinds.image.options import OPTIONS
from trainer.targets.classes import Classes

CLASSES = "image-classification"


class Images(ExampleKind):
    name = "image"
    tasks = (CLASSES,)
    options = OPTIONS
    targets = (Classes,)
    things = "images"
    shape = "small-cnn"
    starts_from = "image"
    claims_by_whole_files = True
    library = "transformers.models.resnet.modeling_resnet"
    epochs = 12
    exports_onnx = True
    files_are_examples = True
    tried = 1
    unreadable_input = "The image cannot be decoded. Use a PNG or JPEG that an ordinary viewer can show."

    def likelihood(self, inputs) -> float:
        from trainer.data import names

        return sum(names.extension(i.name) in names.IMAGES for i in inputs) / max(1, len(inputs))

    def claim(self, files, settings):
        from trainer.kinds.rows import reading

        return reading.claim(self, files, settings)

    def read(self, claim, settings, checks):
        from trainer.kinds.rows import reading

        return reading.load(claim, settings, checks)

    def read_rows(self, sources, columns, settings, events):
        from trainer.kinds.rows import prediction

        return prediction.READERS[self.name](self, sources, columns, settings, events)

    def target(self, data) -> Classes:
        return Classes(data.labels)

    def encoder(self, spec, settings, data, base, events):
        from trainer.kinds.image import encoder

        return encoder.encoder(spec, settings, data, base, events)

    def load_encoder(self, spec, folder, description):
        from trainer.kinds.image import encoder

        return encoder.load_encoder(spec, folder, description)

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
        """It costs little and often wins."""
        return not cut

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

    def picture(self, example) -> str | None:
        from trainer.kinds.image import results

        return results.thumbnail(example)

    def inputs_of(self, example, columns):
        from trainer.kinds.image import results

        return results.inputs(example)

    def inputs(self, description: dict, folder):
        from trainer.answer.rows import IMAGE, Column

        return (Column(IMAGE, IMAGE, is_file=True),)

    def contents(self, cells, columns, styles) -> list:
        from trainer.answer import rows

        return [rows.image(cell) for cell in cells[rows.IMAGE]]

    def linear_features(self, encoder, data, rows, max_width: int) -> LinearFeatures:
        from trainer.kinds.image import encoder as images

        return images.linear_features(rows)
