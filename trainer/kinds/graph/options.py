"""Options of graphs."""

from trainer.config.option import Option, of_kind

# fmt: off
OPTIONS = of_kind("graph", (
    Option("edges_file", "", "graph", since="0.2.0", also_in=("predict",), help="File with the edges of a graph; empty finds it"),
    Option("nodes_file", "", "graph", since="0.2.0",
           help="File with the nodes of a graph, their features and labels; empty finds it, none uses the edges alone"),
    Option("source_column", "", "graph", since="0.2.0", also_in=("predict",), help="Column with the node that an edge begins at; empty detects it"),
    Option("target_column", "", "graph", since="0.2.0", also_in=("predict",), help="Column with the node that an edge ends at; empty detects it"),
    Option("weight_column", "", "graph", since="0.2.0", help="Column with the weights of the edges; empty detects it, none uses no weights"),
    Option("directed", "auto", "graph", choices=("auto", "yes", "no"), since="0.2.0",
           help="Whether an edge has a direction; auto says no where most edges are there in both"),
    Option("bipartite", "auto", "graph", choices=("auto", "yes", "no"), since="0.2.0",
           help="Whether the two ends of an edge are things of two kinds, for example users and items"),
    Option("layers", 2, "graph", 1, 8, since="0.2.0", help="Layers of the graph network: a node sees neighbours at most so many edges away"),
    Option("hidden", 128, "graph", 4, 1024, since="0.2.0", help="Width of the layers of the graph network and of the embeddings"),
    Option("aggregation", "mean", "graph", choices=("mean", "add", "max"), since="0.2.0", help="How a node combines its neighbours"),
    Option("fanout", "10", "graph", since="0.2.0",
           help="Neighbours that are drawn for a node in a step of the training, for each layer, for example 15,10; "
           "the last number counts for further layers"),
    Option("decoder", "fused", "graph", choices=("fused", "cosine", "dot"), since="0.2.0",
           help="Score of a pair: cosine or dot compare the embeddings of both nodes; "
           "fused adds counts of common neighbours to cosine where that helps"),
    Option("text_encoder", "", "graph", since="0.2.0",
           help="Installed text model whose vectors of the texts of nodes are features, as it is; empty hashes their words. "
           "A text model in model does the same"),
    Option("negatives", 512, "graph", 1, 65536, since="0.2.0", help="Random nodes that each edge is compared with in a step of the training"),
    Option("eval_negatives", 1000, "graph", 1, 10000, since="0.2.0", help="Random nodes that the end of each held-out edge is ranked among"),
    Option("edges_per_epoch", 0, "graph", 0, 1_000_000_000, since="0.2.0", help="Edges that an epoch trains on; 0 uses all, at most 2 million"),
    Option("predict_top_k", 10, "graph", 0, 1000, neutral=True, help="New edges to predict for each node; 0 predicts none"),
))
# fmt: on
