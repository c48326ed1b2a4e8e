"""The configuration of a run: ``spec`` reads spec.json, ``options`` lists every option, ``settings`` resolves their values from all
sources, and ``kinds`` lists the kinds of data that can be trained on.
"""
