"""One model in memory, and its answers."""

import os
import threading
from pathlib import Path
from typing import Protocol

import numpy

from trainer import estimators, tasks
from trainer.answer.rows import Form, Refused
from trainer.core import saved_model
from trainer.core.plan import Rows
from trainer.core.saved_model import LOGITS, ONNX
from trainer.data import Example
from trainer.errors import UserError
from trainer.estimators import ESTIMATORS
from trainer.kinds.text import averaged
from trainer.kinds.tokens import answers as words
from trainer.run_folder import files
from trainer.targets import target as targets
from trainer.targets.target import Classes, Labels, Number

_KINDS = ("text", "image", "table", words.KIND)
_PIECES = 16  # rows of a network at a time: a long text may be many


class _Answers(Protocol):
    def outputs(self, examples: list[Example]) -> numpy.ndarray: ...


class Model:
    """A registered model. Raises Refused if it cannot answer, and OSError, ValueError, KeyError or TypeError if its files are damaged."""

    def __init__(self, folder: Path):
        described = saved_model.description(folder)
        if described["kind"] not in _KINDS:
            raise Refused("Only models of texts, words, images and tables answer single rows.", 409)
        self.task, self.kind = described["task"], described["kind"]
        self.target = targets.restored(described["target"])
        self.form = Form(described, _categories(folder, described))
        self.bytes = _size(folder, described)
        self._lock = threading.Lock()  # a tokenizer has settings, which each text changes
        self._tagger: words.Tagger | None = None
        if self.kind == words.KIND:
            network = _Network(folder, described)
            self._tagger = words.Tagger(network.encoder, network.pieces, self.labels)
            return
        self._answers: _Answers = estimators.of(described["base"]).load(folder) if described["base"] in ESTIMATORS else _network(folder, described)

    @property
    def labels(self) -> tuple[str, ...]:
        return self.target.labels

    def answer(self, inputs: list) -> list[dict]:
        """The output tensors for the tensors of a request. Raises Refused."""
        if self._tagger is not None:
            texts = self.form.plain(inputs)
            with self._lock:
                return self._tagger.tensors(texts)
        examples = self.form.examples(inputs)
        try:
            with self._lock:
                found = self._answers.outputs(examples)
        except UserError as e:  # an image that cannot be decoded
            raise Refused("The image cannot be decoded. Use a PNG or JPEG that an ordinary viewer can show.") from e
        return self._tensors(found)

    def _tensors(self, found: numpy.ndarray) -> list[dict]:
        rows = len(found)
        if isinstance(self.target, Number):
            return [{"name": "value", "datatype": "FP64", "shape": [rows], "data": [float(v) for v in found]}]
        count = len(self.labels)
        if isinstance(self.target, Labels):
            predicted = [self.target.text(row) for row in found[:, count:] > 0.5]
        else:
            predicted = [self.target.text(place) for place in found.argmax(axis=1)]
        probabilities = numpy.asarray(found[:, :count], numpy.float64)
        return [
            {"name": "label", "datatype": "BYTES", "shape": [rows], "data": predicted},
            {"name": "probability", "datatype": "FP32", "shape": [rows, count], "data": [round(float(p), 7) for p in probabilities.ravel()]},
        ]

    def described(self) -> dict:
        """The inputs, the outputs and the parameters of the protocol's description of a model."""
        count = len(self.labels)
        outputs = [("value", "FP64", [-1])] if isinstance(self.target, Number) else [("label", "BYTES", [-1]), ("probability", "FP32", [-1, count])]
        if self._tagger is not None:
            outputs = words.OUTPUTS
        columns = [{"name": c.name, "type": c.type, **({"categories": list(c.categories)} if c.categories else {})} for c in self.form.columns]
        return {
            "platform": "clowder-ray",
            "inputs": [
                {"name": c.name, "datatype": c.datatype, "shape": [-1], **({"parameters": {"content_type": "base64"}} if c.type == "image" else {})}
                for c in self.form.columns
            ],
            "outputs": [{"name": name, "datatype": datatype, "shape": shape} for name, datatype, shape in outputs],
            "parameters": {"kind": self.kind, "task": self.task, "labels": list(self.labels), "columns": columns},
        }


class _Network:
    """A network, which answers from its model.onnx."""

    def __init__(self, folder: Path, described: dict):
        if not (folder / ONNX).is_file():
            raise Refused("This version has no model.onnx, so it answers for datasets only.", 409)
        os.environ["ORT_DISABLE_TELEMETRY"] = "1"  # it is read by the import
        import onnxruntime

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        options.log_severity_level = 4  # its warnings could name what users sent
        try:
            self._session = onnxruntime.InferenceSession(str(folder / ONNX), options, providers=["CPUExecutionProvider"])
        except Exception as e:  # it has error classes of its own for each fault of a file
            raise ValueError(f"{ONNX} cannot be read ({type(e).__name__})") from e
        self._wanted = [i.name for i in self._session.get_inputs()]
        self._target = targets.restored(described["target"])
        self.encoder = tasks.of(described["kind"]).load_encoder(None, folder, described["encoder"])

    def outputs(self, examples: list[Example]) -> numpy.ndarray:
        """Probabilities (examples x classes), or numbers; of a long text the mean over its pieces."""
        if hasattr(self.encoder, "lengths"):
            self.encoder.lengths.clear()  # statistics of a training
        rows = self.encoder.encode(examples, numpy.zeros(len(examples)), "")
        pieces = [self._logits(rows, numpy.arange(i, min(i + _PIECES, len(rows)))) for i in range(0, len(rows), _PIECES)]
        found = outputs_of(numpy.concatenate(pieces), self._target)
        if rows.owner is None:
            return found
        merged = numpy.zeros((rows.examples, *found.shape[1:]), found.dtype)
        numpy.add.at(merged, rows.owner, found)
        counts = numpy.bincount(rows.owner, minlength=rows.examples).astype(found.dtype)
        return merged / (counts[:, None] if found.ndim > 1 else counts)

    def pieces(self, rows: Rows):
        """The logits of ``rows``, some at a time, with the targets of these."""
        for i in range(0, len(rows), _PIECES):
            some = numpy.arange(i, min(i + _PIECES, len(rows)))
            yield self._logits(rows, some), rows.targets[some]

    def _logits(self, rows: Rows, some: numpy.ndarray) -> numpy.ndarray:
        inputs = rows.features.batch(some)
        first = next(iter(inputs.values()))
        fed = {name: inputs[name] if name in inputs else numpy.zeros_like(first) for name in self._wanted}
        return self._session.run([LOGITS], fed)[0]


class _WithWords:
    """A network, averaged with the estimator words."""

    def __init__(self, network: _Network, beside: averaged.Averaged):
        self._network, self._beside = network, beside

    def outputs(self, examples: list[Example]) -> numpy.ndarray:
        return self._beside.outputs(self._network.outputs(examples), examples)


def _network(folder: Path, described: dict) -> _Answers:
    network, beside = _Network(folder, described), averaged.load(folder)
    return network if beside is None else _WithWords(network, beside)


def outputs_of(logits: numpy.ndarray, target) -> numpy.ndarray:
    """Probabilities of all classes, or the numbers of a saved model, which are in the unit of the data."""
    if isinstance(target, Classes):
        return targets.probabilities(logits)
    return logits[:, 0].astype(numpy.float64)


def _categories(folder: Path, described: dict) -> dict[str, list[str]]:
    """The categories of the columns of a table."""
    if described["kind"] != "table":
        return {}
    encoder = described["encoder"]
    columns = encoder["columns"] if "columns" in encoder else files.read_json(folder / "config.json").get("columns", [])
    return {c["name"]: [str(v) for v in c["categories"]] for c in columns if "categories" in c}


def _size(folder: Path, described: dict) -> int:
    """About how many bytes the model takes in memory."""
    of_network = (ONNX, "tokenizer.json", averaged.WEIGHTS, "terms.json")
    read = of_network if described["base"] not in ESTIMATORS else ("weights.safetensors", "terms.json", "config.json")
    return 2 * sum((folder / name).stat().st_size for name in read if (folder / name).is_file()) + (1 << 20)
