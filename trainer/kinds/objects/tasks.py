"""The names of the tasks."""

BOXES, OUTLINES = "object-detection", "instance-segmentation"
