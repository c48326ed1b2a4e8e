"""Graphs: reading them, features of nodes, sampling of neighbours, the network, and simple models to compare it with."""
