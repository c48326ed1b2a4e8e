"""The quality of a model: metrics with their intervals, curves, mistakes, and simple models to compare it with.

Everything here works on arrays (``predictions.Predictions``) and without torch, so that the driver can measure a baseline while
the workers import it. scikit-learn and scipy are imported in the functions that need them, so that the driver starts without
waiting for them. The same predictions and the same seed give the same values to the last bit.
"""
