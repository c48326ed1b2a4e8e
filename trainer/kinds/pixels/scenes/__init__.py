"""Scenes: how a model of pixels answers for files of any size, and how it learns from them."""
