"""Questions to a model of a graph: whether pairs have an edge, the likeliest links of nodes, and the labels of nodes, new ones too."""
