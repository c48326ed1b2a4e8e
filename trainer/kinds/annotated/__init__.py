"""Annotated pictures, for the kinds of data that are trained on them: one module for each format, all with the same result.

``reading.read`` gives the pictures with their shapes. It is built on ``trainer.data.annotations``, which recognises the formats by quick looks.
"""
