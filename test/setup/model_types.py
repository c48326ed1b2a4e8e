"""Prints trainer/schema/model_types.json: the types of models that the pinned transformers knows, and what each can be a base for.

Run it as ``make model-types`` when the version of transformers changes; a test compares the file with this output.
"""

import json
import sys
import textwrap

import transformers
from transformers.models.auto import modeling_auto as auto

# The tables of these heads say that a type reads its whole input at once, even if it can continue a text too.
READERS = (
    auto.MODEL_FOR_MASKED_LM_MAPPING_NAMES,
    auto.MODEL_FOR_SEQ_TO_SEQ_CAUSAL_LM_MAPPING_NAMES,
    auto.MODEL_FOR_SPEECH_SEQ_2_SEQ_MAPPING_NAMES,
)
KINDS = {
    "text": auto.MODEL_FOR_SEQUENCE_CLASSIFICATION_MAPPING_NAMES,
    "image": auto.MODEL_FOR_IMAGE_CLASSIFICATION_MAPPING_NAMES,
    "language": auto.MODEL_FOR_CAUSAL_LM_MAPPING_NAMES,
    "pixels": auto.MODEL_FOR_SEMANTIC_SEGMENTATION_MAPPING_NAMES,
    # Those of PaddlePaddle find lines and parts of documents, with losses of their own.
    "objects": {name: one for name, one in auto.MODEL_FOR_OBJECT_DETECTION_MAPPING_NAMES.items() if not name.startswith("pp_")}
    | {name: auto.MODEL_FOR_UNIVERSAL_SEGMENTATION_MAPPING_NAMES[name] for name in ("mask2former", "maskformer")},
    # Those that forecast any series as they are; others of this table and of the heads beside it are trained on one data set first.
    "series": {name: auto.MODEL_FOR_TIME_SERIES_PREDICTION_MAPPING_NAMES[name] for name in ("timesfm", "timesfm2_5")},
}


def one(classes) -> str:
    """The class of a table's entry, which may list several."""
    return classes if isinstance(classes, str) else classes[0]


def described(name: str) -> dict:
    """Its class without a head, its class for each kind, and whether it only continues texts."""
    found = {"model": one(auto.MODEL_MAPPING_NAMES[name])} if name in auto.MODEL_MAPPING_NAMES else {}
    found |= {kind: one(table[name]) for kind, table in KINDS.items() if name in table}
    if "language" in found and not any(name in table for table in READERS):
        found["decoder"] = True
    return found


def text() -> str:
    usable = sorted(set().union(*KINDS.values()))
    other = sorted(set(auto.CONFIG_MAPPING_NAMES) - set(usable))
    lines = textwrap.wrap(", ".join(json.dumps(n) for n in other), 136, break_on_hyphens=False)
    types = ",\n".join(f"  {json.dumps(n)}: {json.dumps(described(n))}" for n in usable)
    rest = "\n  ".join(lines)
    return f'{{\n "transformers": {json.dumps(transformers.__version__)},\n "types": {{\n{types}\n }},\n "other": [\n  {rest}\n ]\n}}\n'


if __name__ == "__main__":
    sys.stdout.write(text())
