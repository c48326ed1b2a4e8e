"""What a model is a base for, by its type and its architecture and never by its tokenizer.

The service has the same rule (internal/basemodel). Both read schema/model_types.json, which is made from the pinned transformers, so
that neither needs to import it.
"""

import functools
from pathlib import Path

from trainer.run_folder import files

TEXT, IMAGE, LANGUAGE, PIXELS, OBJECTS, SERIES = "text", "image", "language", "pixels", "objects", "series"
_FILE = Path(__file__).parents[1] / "schema" / "model_types.json"
# Heads of models of pictures, beside which a type may have others; and their kinds.
_HEADS = {"ForSemanticSegmentation": PIXELS, "ForObjectDetection": OBJECTS}
_READS_TEXTS = ("Classification", "ForQuestionAnswering", "ForMultipleChoice")  # heads of models that were finetuned on texts


@functools.cache
def types() -> dict[str, dict]:
    """The types that can be a base, with their classes in transformers by kind."""
    return files.read_json(_FILE)["types"]


def kind(model_type: str, architecture: str) -> str:
    """text, image, language, pixels, objects or series; empty if the model can be a base for none of them.

    A model that continues texts is a language model, even where its type has a classifier too: most of such types do.
    """
    known = types().get(model_type, {})
    if SERIES in known:
        return SERIES
    for head, named in _HEADS.items():
        if named in known and (architecture.endswith(head) or not known.keys() - {named, "model"}):
            return named
    if LANGUAGE in known and architecture.endswith("ForCausalLM"):
        return LANGUAGE
    if TEXT in known and "Image" not in architecture and (architecture.endswith(_READS_TEXTS) or not known.get("decoder")):
        return TEXT
    if known.get("decoder"):
        return LANGUAGE
    return IMAGE if IMAGE in known else ""
