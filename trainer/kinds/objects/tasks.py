"""The names of the tasks, and what says which of them an installed model can be trained for."""

BOXES, OUTLINES = "object-detection", "instance-segmentation"
OUTLINERS = ("mask2former", "maskformer")  # types of transformers that answer with masks; other detectors answer with boxes
