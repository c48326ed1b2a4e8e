"""Kinds whose data are examples: rows, files or sentences that are split, encoded and answered one by one."""

from typing import Any

import numpy

from trainer.core.kind import Kind


class ExampleKind(Kind):
    """A kind that is trained and asked in the way of all examples. It adds how examples are found, encoded and shown."""

    def train(self, run, claim) -> None:
        from trainer.training import carry_out

        carry_out.carry_out(run, self.read(claim, run.settings, run.checks))

    def answer(self, asking, launcher) -> None:
        from trainer import predict

        predict.examples(asking, launcher)

    def predict(self, model: Any, saved, device: Any, on_progress: Any) -> numpy.ndarray:
        from trainer.train import evaluate

        return evaluate.outputs(model, saved.rows, saved.target, device, folded=True, on_progress=on_progress)

    def network_in(self, folder, description: dict) -> Any:
        from trainer.answer.model import Network
        from trainer.models.saved_model import ONNX

        return Network(folder, description) if (folder / ONNX).is_file() else None

    def key(self, example) -> str:
        from trainer.data import keys

        return keys.texts(example)
