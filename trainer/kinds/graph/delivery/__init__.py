"""What a training on a graph hands over beside its model: the figures of the report, vectors, likely links, and the graph for predictions."""
