"""One model in memory, and its answers."""

import os
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import numpy

from trainer import estimators
from trainer.answer import why
from trainer.answer.rows import Form, Refused
from trainer.core import registry
from trainer.core.example import Example
from trainer.core.plan import Rows
from trainer.errors import UserError
from trainer.models import saved_model
from trainer.models.saved_model import LOGITS, ONNX
from trainer.targets import temperature

if TYPE_CHECKING:
    from trainer.training.candidates import Beside

_NOWHERE = Path(os.devnull)  # where no folder of models is known, those of the image alone are at hand
_PIECES = 16  # rows of a network at a time: a long text may be many


class Answers(Protocol):
    def outputs(self, examples: list[Example]) -> numpy.ndarray: ...


class Model:
    """A registered model. Raises Refused if it cannot answer, and OSError, ValueError, KeyError or TypeError if its files are damaged. ``models`` is
    the folder of the installed models, one of which it may need."""

    def __init__(self, folder: Path, models: Path | None = None):
        described = saved_model.description(folder)
        self.kind, self.task = registry.of(described["kind"]), described["task"]
        columns = self.kind.inputs(described, folder)
        if columns is None:
            raise Refused(self.kind.why_no_single_answers, 409)
        self.target = registry.restored(described["target"])
        self.form = Form(self.kind, columns, saved_model.styles(described))
        self.bytes = _size(folder, described)
        self._lock = threading.Lock()  # a tokenizer has settings, which each text changes
        if described["base"] in registry.estimators():
            self._answers: Answers = _estimator(described["base"], folder, models)
            self.bytes += getattr(self._answers, "installed_bytes", 0)
        else:
            network = Network(folder, described)
            beside = self.kind.load_beside(folder)
            self._answers = network if beside is None else _Both(network, beside)
        self._responder = self.kind.responder(self._answers, self.target)

    @property
    def labels(self) -> tuple[str, ...]:
        return self.target.labels

    def answer(self, inputs: list, says_why: bool = False) -> list[dict]:
        """The output tensors for the tensors of a request; with ``says_why`` also what raises the answer (see why.py). Raises Refused."""
        if self._responder is not None:
            if says_why:
                raise Refused("Models of this kind do not say why.")
            cells = self.form.cells(inputs)
            with self._lock:
                return self._responder.tensors(cells)
        examples = self.form.examples(inputs)
        try:
            with self._lock:
                outputs = self._answers.outputs(examples)
                reasons = why.tensors(self.form, self.target, examples, self._answers.outputs) if says_why else []
        except UserError as e:  # a file in the request that cannot be read
            raise Refused(self.kind.unreadable_input) from e
        return [*self.target.tensors(outputs), *reasons]

    def described(self) -> dict:
        """The inputs, the outputs and the parameters of the protocol's description of a model."""
        outputs = self.target.tensor_forms() if self._responder is None else self._responder.forms
        columns = [{"name": c.name, "type": c.type, **({"categories": list(c.categories)} if c.categories else {})} for c in self.form.columns]
        return {
            "platform": "clowder-ray",
            "inputs": [
                {"name": c.name, "datatype": c.datatype, "shape": [-1], **({"parameters": {"content_type": "base64"}} if c.is_file else {})}
                for c in self.form.columns
            ],
            "outputs": [{"name": name, "datatype": datatype, "shape": shape} for name, datatype, shape in outputs],
            "parameters": {"kind": self.kind.name, "task": self.task, "labels": list(self.labels), "columns": columns},
        }


class Network:
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
        self._target = registry.restored(described["target"])
        self.encoder = registry.of(described["kind"]).load_encoder(None, folder, described["encoder"])

    def outputs(self, examples: list[Example]) -> numpy.ndarray:
        """Probabilities (examples x classes), or numbers; of a long text the mean over its pieces."""
        self.encoder.forget()
        rows = self.encoder.encode(examples, numpy.zeros(len(examples)), "")
        pieces = [self._logits(rows, numpy.arange(i, min(i + _PIECES, len(rows)))) for i in range(0, len(rows), _PIECES)]
        found = self._target.of_logits(numpy.concatenate(pieces))
        if rows.owner is None:
            return temperature.applied(self._target, found)
        merged = numpy.zeros((rows.examples, *found.shape[1:]), found.dtype)
        numpy.add.at(merged, rows.owner, found)
        counts = numpy.bincount(rows.owner, minlength=rows.examples).astype(found.dtype)
        return temperature.applied(self._target, merged / (counts[:, None] if found.ndim > 1 else counts))

    def pieces(self, rows: Rows):
        """The logits of ``rows``, some at a time, with the targets of these."""
        for i in range(0, len(rows), _PIECES):
            some = numpy.arange(i, min(i + _PIECES, len(rows)))
            yield self._logits(rows, some), rows.targets[some]

    def _logits(self, rows: Rows, some: numpy.ndarray) -> numpy.ndarray:
        return self.logits(rows.features.batch(some))

    def logits(self, inputs: dict[str, numpy.ndarray]) -> numpy.ndarray:
        """What the network answers to ``inputs`` as it reads them."""
        first = next(iter(inputs.values()))
        fed = {name: inputs[name] if name in inputs else numpy.zeros_like(first) for name in self._wanted}
        return self._session.run([LOGITS], fed)[0]


class _Both:
    """A network that answers together with another model."""

    def __init__(self, network: Network, beside: "Beside"):
        self._network, self._beside = network, beside

    def outputs(self, examples: list[Example]) -> numpy.ndarray:
        return self._beside.outputs(self._network.outputs(examples), examples)


def _estimator(name: str, folder: Path, models: Path | None) -> Answers:
    """The estimator in ``folder``, with the installed model that its single answers need. Raises Refused where that is not there."""
    found = estimators.of(name).load(folder)
    if not getattr(found, "leans_alone", False):
        return found
    try:
        return found.with_installed(models or _NOWHERE)
    except UserError as e:
        raise Refused(f"{e.what} {e.do}", 409) from e


def _size(folder: Path, described: dict) -> int:
    """About how many bytes the model takes in memory."""
    of_network = (ONNX, "tokenizer.json", "words.safetensors", "terms.json")
    read = [folder / name for name in of_network]
    if described["base"] in registry.estimators():
        read = [*folder.glob("*.safetensors"), folder / "terms.json", folder / "config.json"]
    return 2 * sum(file.stat().st_size for file in read if file.is_file()) + (1 << 20)
