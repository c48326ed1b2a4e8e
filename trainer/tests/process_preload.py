"""What each forked process would do first: import what the modules of tests import, and find the patterns of renamed weights of all
models that transformers knows."""

import jsonschema  # noqa: F401
import pytest  # noqa: F401
import referencing  # noqa: F401
from transformers.conversion_mapping import get_checkpoint_conversion_mapping

get_checkpoint_conversion_mapping("bert")
