"""The folder of a saved model, which anybody may have made: what is looked at before a library reads it."""

from pathlib import Path

from safetensors import SafetensorError, safe_open

from trainer.config.kinds import KINDS
from trainer.run_folder import files

DESCRIPTION = "trainer.json"  # beside the weights: what a later run must know to use the model
MAX_HEADER_BYTES = 16 << 20  # of a file of weights: the names and shapes of a hundred thousand tensors
MAX_WORDS_BYTES = 128 << 20  # of a vocabulary, which the tokenizers library reads
_WORDS = ("tokenizer.json", "vocab.json", "vocab.txt", "merges.txt")
_SAYS = {"task", "base", "target", "encoder", "columns", "types", "label_column", "test"}  # of which the description must tell
# In config.json, at any depth: by these transformers loads other packages, or code that it is to download. No model of ours has them.
# (auto_map, which names code beside a model, may stay from a base model. It is never followed: see tasks/transformer.py.)
_PACKAGES = ("quantization_config", "attn_implementation", "_attn_implementation", "experts_implementation", "_experts_implementation")


def description(folder: Path) -> dict:
    """What the model in ``folder`` says of itself. Raises OSError, ValueError, KeyError, TypeError or AttributeError where it is none of
    an earlier run."""
    check(folder)
    described = files.read_json(folder / DESCRIPTION)
    if described["schema"] != 1 or described["kind"] not in KINDS or _SAYS - described.keys():
        raise ValueError("it is not described as a model of ours is")
    if not isinstance(described["types"], dict) or not all(isinstance(c, str) for c in described["columns"]):
        raise ValueError("its columns are not described")
    return described


def check(folder: Path) -> None:
    """Raise OSError or ValueError unless there are whole weights, and nothing in ``folder`` would fill the memory or run code."""
    weights = list(folder.glob("*.safetensors"))
    if not weights:
        raise ValueError("there are no weights")
    for file in weights:
        with open(file, "rb") as opened:
            if int.from_bytes(opened.read(8), "little") > MAX_HEADER_BYTES:
                raise ValueError("the header of the weights is too long")
        try:
            with safe_open(file, framework="numpy"):  # refuses a file that is cut or damaged at its head
                pass
        except SafetensorError as e:
            raise ValueError(f"the weights cannot be read ({e})") from e
    for file in (*folder.glob("*.json"), *folder.glob("*.txt")):
        if file.stat().st_size > (MAX_WORDS_BYTES if file.name in _WORDS else files.JSON_BYTES):
            raise ValueError(f"{file.name} is too large")
    if asked := _asks_for(files.read_json(folder / "config.json")):
        raise ValueError(f"its config.json has {asked}")


def _asks_for(config) -> str:
    """The first entry of a configuration that names a package to load; empty where there is none."""
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
