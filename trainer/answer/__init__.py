"""The answer process: single answers from registered models over HTTP, by the Open Inference Protocol v2.

It imports no torch: networks answer from their model.onnx, estimators from their own files. Inputs are encoded by the encoders of the
training and are never logged. docs/adr/0027 has the reasons.
"""
