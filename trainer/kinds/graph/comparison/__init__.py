"""The simple models beside the network of a graph, and what is made of them and the network together."""
