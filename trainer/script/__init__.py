"""Runs a training script of a user unchanged, in a sandbox. ``driver`` has the order of the steps."""
