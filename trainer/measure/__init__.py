"""How good a model is: figures with their intervals, curves, mistakes, and the simple models that it has to beat.

Everything here works on arrays of what a model said (``predictions.Predictions``) and needs nothing but numpy, so that the driver
can measure a baseline without waiting for torch. The same answers and the same seed give the same figures to the last bit.
"""
