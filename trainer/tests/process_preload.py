"""What each forked run of a text model would do first: the patterns of renamed weights of all models that transformers knows."""

from transformers.conversion_mapping import get_checkpoint_conversion_mapping

get_checkpoint_conversion_mapping("bert")
