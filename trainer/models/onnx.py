"""model.onnx: a network in the form that other programs run, and that single answers come from (trainer/answer).

Imports torch in ``convert`` only, which runs in a worker.
"""

from pathlib import Path

import numpy

from trainer.core.kind import Kind
from trainer.models.saved_model import LOGITS, ONNX

COMPARED = 32  # test rows on which it is compared with the delivered model
CLOSE = 1e-4  # the largest difference of probabilities; of numbers, in standard deviations of the target
MOST_BYTES = 1_800_000_000  # of weights: the format ends at 2 GB
_OPSET = 17


def sample(rows) -> dict[str, numpy.ndarray]:
    """The inputs of the model for the first few of ``rows``, encoded test rows."""
    return rows.features.batch(numpy.arange(min(COMPARED, len(rows))))


def convert(folder: Path, kind: Kind, target, inputs: dict[str, numpy.ndarray]) -> str:
    """Write model.onnx beside the weights in ``folder``. Returns why it was left out, as the end of a sentence; empty where it was not.

    It is compared with the model on ``inputs``, and on the first row of them alone.
    """
    if not len(next(iter(inputs.values()))):
        return "there is no test row to compare it on"
    if sum(f.stat().st_size for f in folder.glob("*.safetensors")) > MOST_BYTES:
        return "the model is larger than the format allows"
    file, why = folder / ONNX, ""
    try:
        difference = _difference(folder, file, kind, target, inputs)
        if not difference <= CLOSE:
            why = f"its answers differ from those of the model by up to {difference:.2g}"
    except ModuleNotFoundError as e:
        why = f"the Python environment of the Ray cluster lacks the package {e.name}"
    except Exception as e:  # of torch or of the other library: the architecture has no such form
        why = f"its architecture cannot be converted ({type(e).__name__})"
    if why:
        file.unlink(missing_ok=True)
    return why


def _difference(folder: Path, file: Path, kind: Kind, target, inputs: dict[str, numpy.ndarray]) -> float:
    """Write the file, and return the largest difference of its answers from those of the model."""
    import onnxruntime
    import torch

    model = kind.load(folder).eval()
    _write(model, file, inputs, kind)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 4
    session = onnxruntime.InferenceSession(str(file), options, providers=["CPUExecutionProvider"])
    found = 0.0
    for rows in (inputs, {name: values[:1] for name, values in inputs.items()}):
        with torch.inference_mode():
            theirs = model(**{name: torch.from_numpy(values) for name, values in rows.items()}).logits.float().numpy()
        ours = session.run([LOGITS], rows)[0]
        if ours.shape != theirs.shape:
            return float("inf")
        found = max(found, float(abs(_answers(ours, target) - _answers(theirs, target)).max()))
    return found


def _write(model, file: Path, inputs: dict[str, numpy.ndarray], kind: Kind) -> None:
    """Trace ``model`` on two rows, with any number of rows, any length of texts, and pictures of any size where it reads such."""
    import warnings

    import torch

    names, any_size = list(inputs), kind.reads_any_size(model)
    first = tuple(torch.from_numpy(numpy.repeat(inputs[name], 2, axis=0)[:2].copy()) for name in names)
    lengths, sides = {0: "rows", 1: "length"}, {0: "rows", 2: "height", 3: "width"}
    free = {name: lengths if inputs[name].dtype == numpy.int64 else sides if any_size else {0: "rows"} for name in names}
    answered = lengths if kind.answers_places else {0: "rows", 1: "height", 2: "width"} if any_size else {0: "rows"}
    with warnings.catch_warnings(), torch.no_grad():
        warnings.simplefilter("ignore")  # the tracer warns of every condition in a model
        torch.onnx.export(
            _plain(model, names).eval(), first, str(file), input_names=names, output_names=[LOGITS],
            dynamic_axes={**free, LOGITS: answered}, opset_version=_OPSET, dynamo=False,
        )  # fmt: skip


def _plain(model, names: list[str]):
    """``model`` with positional arguments and the logits alone as its answer."""
    import torch

    class Plain(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.model = model

        def forward(self, *values):
            return self.model(**dict(zip(names, values, strict=True))).logits

    return Plain()


def _answers(logits: numpy.ndarray, target) -> numpy.ndarray:
    if logits.ndim > 2:
        logits = logits.reshape(-1, logits.shape[-1])
    return target.comparable(logits)
