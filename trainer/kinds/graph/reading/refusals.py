"""The errors of graphs: what is wrong with the data, and what to do."""

from trainer.errors import UserError, some

MIN_EDGES = {"link-prediction": 50, "node-classification": 10, "node-regression": 10}
MIN_LABELLED = 20
LINKS_OR_TABLE = "Set task to link-prediction to train on them as a graph, or set label_column to train on the table."


def ambiguous_ends(columns: tuple[str, str], file: str) -> UserError:
    return UserError(
        "ambiguous_graph",
        f"The columns {columns[0]} and {columns[1]} of {file} could be the two ends of edges, or ordinary numbers.",
        "Set task to link-prediction if the rows are edges, else to tabular-regression or tabular-classification.",
        "Both have whole numbers, of which many are in both.",
    )


def ambiguous_label(columns: tuple[str, str], file: str, label: str) -> UserError:
    return UserError(
        "ambiguous_graph",
        f"The rows of {file} could be edges between {columns[0]} and {columns[1]}, or examples with the label {label}.",
        LINKS_OR_TABLE,
    )


def ambiguous_files(files: list[str]) -> UserError:
    return UserError(
        "ambiguous_graph",
        f"Several files could have the edges of the graph: {some(files)}.",
        "Set edges_file to the right one, or remove the others.",
    )


def ambiguous_sides(columns: tuple[str, str], file: str, most: tuple[int, int]) -> UserError:
    return UserError(
        "ambiguous_graph",
        f"Do the columns {columns[0]} and {columns[1]} of {file} name the same things, or things of two kinds, such as users and items?",
        "Set bipartite to yes if they name things of two kinds, else to no.",
        f"Both count from 0 or 1, up to {most[0]} and {most[1]}, and equal numbers meet as often as by chance.",
    )


def pickled(files: list[str]) -> UserError:
    return UserError(
        "pickled_graph",
        f"{some(files, 3)} holds pickled Python objects, which are never loaded.",
        "Save a table as CSV or Parquet, with to_csv or to_parquet in pandas. Save a graph as CSV with the columns source and target, and features "
        "and labels of its nodes as CSV with a column id.",
    )


def pickled_array(file: str, array: str) -> UserError:
    return UserError(
        "pickled_graph",
        f"The array {array} of {file} holds pickled Python objects, which are never loaded.",
        "Save it again as numbers or texts of a fixed width, or save edges and nodes as CSV.",
    )


def knowledge(file: str, column: str, relations: list[str]) -> UserError:
    return UserError(
        "knowledge_graph",
        f"The edges in {file} have different relations in {column}: {some(relations, 4)}. Predicting relations is not supported.",
        "Keep the edges of one relation, or remove that column to treat all edges alike.",
    )


def signed(file: str, column: str, share: float) -> UserError:
    return UserError(
        "signed_graph",
        f"{share:.0%} of the weights in {column} of {file} are negative. Signed edges, such as trust and distrust, are not supported.",
        "Keep the edges with positive weights, or set weight_column to none to use all edges without weights.",
    )


def no_edges(files: list[str], why: str) -> UserError:
    return UserError(
        "no_edges",
        f"No file of the dataset has the edges of a graph{': ' + why if why else ''}.",
        "Add a CSV file with the columns source and target, one row for each edge, or set edges_file, source_column and target_column.",
        f"Its files are {some(files)}." if files else "",
    )


def too_few_edges(edges: int, nodes: int, task: str) -> UserError:
    least = MIN_EDGES[task]
    return UserError(
        "too_few_edges",
        f"The graph has {edges} different edges between {nodes} nodes, which is too few for {task}.",
        f"Add edges: at least {least}, better several thousand.",
        "Edges of a node with itself and edges that are there twice count for nothing.",
    )


def no_links_left(edges: int) -> UserError:
    return UserError(
        "no_links_left",
        "No node has more than one edge, so nothing is left to learn from once an edge is held out.",
        "Add edges, or add features of the nodes in a CSV file with a column id.",
        f"The graph has {edges} edges that touch no other edge.",
    )


def complete(nodes: int, edges: int, density: float) -> UserError:
    return UserError(
        "complete_graph",
        f"{density:.0%} of all pairs of the {nodes} nodes are edges, so there are hardly any pairs to tell them from.",
        "Keep only the strongest edges, or set task to node-classification with a label for each node.",
        f"The graph has {edges} different edges.",
    )


def no_times(column: str, file: str) -> UserError:
    return UserError(
        "no_times",
        f"The column {column} of {file} does not have the times of the edges.",
        "Set time_column to a column of dates or numbers beside the two ends, or to none to split the edges at random.",
    )


def unknown_nodes(edges_file: str, nodes_file: str, share: float, example: str, near: str) -> UserError:
    hint = f" ({near} is there)" if near else ""
    return UserError(
        "unknown_nodes",
        f"{share:.0%} of the ids in {edges_file} are not in {nodes_file}, for example {example}{hint}.",
        "Write the ids in the same way in both files, set id_column, or set nodes_file to none to use the edges alone.",
    )


def unknown_file(option: str, wanted: str, files: list[str]) -> UserError:
    return UserError(
        "unknown_file",
        f"The option {option} is {wanted}, but the dataset has no such table.",
        f"Set {option} to one of its files, or leave it empty.",
        f"Its files are {some(files)}.",
    )


def no_id_column(file: str, columns) -> UserError:
    return UserError(
        "unknown_column",
        f"No column of {file} has the ids of the edges, each once.",
        "Set id_column to the column with the ids of the nodes, or set nodes_file to none.",
        f"Its columns are {some(columns, 8)}.",
    )


def no_label(task: str, files: list[str]) -> UserError:
    return UserError(
        "no_label",
        f"The task is {task}, but no column of the nodes looks like a label.",
        "Set label_column to the column with the labels, or add a CSV file with the columns id and label.",
        f"Nodes are read from {some(files, 4)}." if files else "The dataset has no table of nodes.",
    )


def ambiguous_classes(columns: list[str], file: str) -> UserError:
    return UserError(
        "ambiguous_label",
        f"Several columns of {file} could be the label of the nodes: {some(columns)}.",
        "Set label_column to the right one, or set task to link-prediction to predict edges.",
    )


def few_labels(column: str, labelled: int, nodes: int) -> UserError:
    return UserError(
        "label_on_few_nodes",
        f"Only {labelled} of {nodes} nodes have a label in {column}, which is too few to train and to test a model.",
        f"Add labels: at least {MIN_LABELLED}, better some for each class and a hundred in all, or set task to link-prediction.",
    )


def too_large(file: str, edges: int, most: int, kind: str) -> UserError:
    return UserError(
        "graph_too_large",
        f"{file} has about {edges} edges; {kind} is read with up to {most}.",
        "Save the edges as CSV with the columns source and target, which has no such limit.",
    )


def unreadable(file: str, kind: str, why: str) -> UserError:
    return UserError("unreadable_graph", f"The file {file} cannot be read as {kind}: it {why}.", "Correct the file, or save the edges as CSV.")


def unsafe_xml(file: str) -> UserError:
    return UserError(
        "unsafe_xml",
        f"The file {file} defines a document type or entities, which a graph does not need and which can be made to fill the memory.",
        "Remove the DOCTYPE from the file, or save the edges as CSV.",
    )
