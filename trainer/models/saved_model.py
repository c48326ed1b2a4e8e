"""Checks of the folder of a saved model, which comes from an untrusted source, before any library reads it."""

from pathlib import Path

from safetensors import SafetensorError, safe_open

from trainer.core import registry
from trainer.data.columns.values import Style
from trainer.errors import one_line
from trainer.run_folder import files

DESCRIPTION = "trainer.json"  # beside the weights: the information that a later run needs to use the model
ONNX, LOGITS = "model.onnx", "logits"  # the network for other programs, and its output
MAX_HEADER_BYTES = 16 << 20  # limit for a file of weights: the names and shapes of a hundred thousand tensors
_SHOWN = 40  # characters of an unknown name
MAX_WORDS_BYTES = 128 << 20  # limit for a vocabulary, which the tokenizers library reads
_WORDS = ("tokenizer.json", "vocab.json", "vocab.txt", "merges.txt")
SCHEMA = 1  # of the description; a version of the program that writes what this one cannot read has a higher one
_REQUIRED = {"task", "base", "target", "encoder", "columns", "types", "label_column", "test"}  # in the description
# Keys of config.json, at any depth, that make transformers load other packages or download code. Models of this trainer lack them.
# (auto_map, which names code beside a model, may come from a base model. It is never followed: see transformer.py.)
_PACKAGES = ("quantization_config", "attn_implementation", "_attn_implementation", "experts_implementation", "_experts_implementation")


class NewerModel(ValueError):
    """A model that a newer version of the program wrote. Its text says how this shows."""


def description(folder: Path) -> dict:
    """The description of the model in ``folder``. Raises NewerModel for one of a newer version of the program, and OSError, ValueError,
    KeyError, TypeError or AttributeError if it is not a model of an earlier run."""
    described = read_description(folder)  # before the weights, which a newer version may have in other files
    check(folder)
    if _REQUIRED - described.keys():
        raise ValueError("its description is incomplete")
    registry.of(described["kind"]).check_description(described)
    if not isinstance(described["types"], dict) or not all(isinstance(c, str) for c in described["columns"]):
        raise ValueError("its columns are not described")
    return described


def read_description(folder: Path) -> dict:
    """The description in ``folder``, of which only the schema and the kind are known to be right. Raises what ``description`` raises."""
    described = files.read_json(folder / DESCRIPTION)
    schema, kind = described["schema"], described["kind"]
    if type(schema) is not int or schema < 1 or not isinstance(kind, str):
        raise ValueError("its description is incomplete")
    if schema > SCHEMA:
        raise NewerModel(f"its description has schema {schema}, and this version knows {SCHEMA}")
    if kind not in registry.kinds():
        raise NewerModel(f"it is for a kind of data that this version does not know, {one_line(kind[:_SHOWN])}")
    return described


def unreadable(e: Exception) -> str:
    """Why a model whose reading ended with ``e`` cannot be used, for the end of a sentence about it."""
    return f"a newer version of this program wrote it: {e}" if isinstance(e, NewerModel) else f"its files cannot be read ({type(e).__name__})"


def styles(described: dict) -> dict[str, Style]:
    """How the numbers of each column were written in the training data; models of version 0.1.0 do not say it."""
    found = described.get("styles")
    return {name: Style.restored(style) for name, style in found.items()} if isinstance(found, dict) else {}


def check(folder: Path) -> None:
    """Raise OSError or ValueError unless the weights are complete and nothing in ``folder`` would fill the memory or run code."""
    weights = list(folder.glob("*.safetensors"))
    if not weights and not (folder / "fusion.json").is_file():  # of a graph that stays elsewhere, the weights of simple models alone
        raise ValueError("there are no weights")
    for file in weights:
        with open(file, "rb") as opened:
            if int.from_bytes(opened.read(8), "little") > MAX_HEADER_BYTES:
                raise ValueError("the header of the weights is too long")
        try:
            with safe_open(file, framework="numpy"):  # refuses a truncated file and a damaged header
                pass
        except SafetensorError as e:
            raise ValueError(f"the weights cannot be read ({e})") from e
    for file in (*folder.glob("*.json"), *folder.glob("*.txt")):
        if file.stat().st_size > (MAX_WORDS_BYTES if file.name in _WORDS else files.JSON_BYTES):
            raise ValueError(f"{file.name} is too large")
    config = folder / "adapter_config.json" if (folder / "adapter_config.json").is_file() and not (folder / "config.json").is_file() else None
    if asked := _package_key(files.read_json(config or folder / "config.json")):
        raise ValueError(f"its config.json has {asked}")


def _package_key(config) -> str:
    """The first key of a configuration that names a package to load; empty if there is none."""
    left = [config]
    while left:
        value = left.pop()
        if isinstance(value, dict):
            if found := next((name for name in _PACKAGES if value.get(name)), ""):
                return found
            left += value.values()
        elif isinstance(value, list):
            left += value
    return ""
