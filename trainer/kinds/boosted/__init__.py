"""Gradient-boosted trees as arrays of nodes, for the kinds that fit them."""
