"""Signals with the direction that they come from."""

from typing import Any

from trainer.kinds.examples import ExampleKind
from trainer.tests.toy.options import OPTIONS
from trainer.tests.toy.target import TURN, Direction


class Toy(ExampleKind):
    name = "toy"
    tasks = ("signal-direction",)
    targets = (Direction,)
    things = "signals"
    options = OPTIONS
    options_place = 99
    choosing_metrics = (TURN,)
    extensions = ("toy",)
    shape = "toy-net"
    starts_from = "toy"
    uses_transformers = False
    epochs = 20
    from_random_weights = "A small neural network ({model}) is trained on the readings."
    gains_by_base = False
    gains_by_installed_models = False
    exports_onnx = True

    def likelihood(self, inputs) -> float:
        from trainer.data import names

        return float(any(names.extension(i.name) in self.extensions for i in inputs))

    def claim(self, files, settings):
        from trainer.tests.toy import reading

        return reading.claim(self, files, settings)

    def read(self, claim, settings, checks):
        from trainer.tests.toy import reading

        return reading.load(claim, settings, checks)

    def read_rows(self, sources, columns, settings, events):
        from trainer.tests.toy import reading

        return reading.to_predict(sources)

    def target(self, data) -> Direction:
        return Direction()

    def encoder(self, spec, settings, data, base, events):
        from trainer.tests.toy import encoder

        return encoder.Encoder(settings.powers), settings

    def load_encoder(self, spec, folder, description):
        from trainer.tests.toy import encoder

        return encoder.Encoder(description["powers"])

    def build(self, plan) -> Any:
        from trainer.tests.toy import network

        return network.build(plan)

    def load(self, folder, like=None, base=None) -> Any:
        from trainer.tests.toy import network

        return network.load(folder)

    def save(self, model, plan, folder) -> None:
        from trainer.tests.toy import network

        network.save(model, folder)

    def key(self, example) -> str:
        return " ".join(example.content)

    def content(self, example, columns) -> str:
        from trainer.export import display

        return display.short(" ".join(example.content))

    def inputs(self, description: dict, folder):
        from trainer.answer.rows import Column

        return tuple(Column(name, "number") for name in description["columns"])

    def contents(self, cells, columns, styles) -> list:
        from trainer.answer import rows

        return rows.row_cells(cells, columns, styles)

    def parts(self, finished) -> dict:
        from trainer.core import blocks
        from trainer.tests.toy import results

        return {"sections": blocks.described(results.sections(finished)), "examples": results.examples(finished)}

    def reads(self, model: dict) -> str:
        return "the readings of four sensors"

    def answers_in_words(self, labels, data) -> str:
        return "a direction in degrees, clockwise from north"
