"""Graphs: reading them, features of nodes, sampling of neighbours, the network, and simple rivals of it."""
