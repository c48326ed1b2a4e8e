"""How good a model is: metrics with their intervals, curves, mistakes, and the simple models to compare it with.

Everything here works on arrays (``predictions.Predictions``) and without torch, so that the driver can measure a baseline while
the workers import it. scikit-learn and scipy are imported inside the functions that need them: the driver's start must not wait
for them. The same predictions and the same seed give the same values to the last bit.
"""
