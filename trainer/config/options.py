"""Every option of a run: its default, its limits, and what it means."""

import functools
from dataclasses import dataclass, replace

from trainer.core import registry

LINK_METRICS = ("mrr", "hits_at_1", "hits_at_10", "hits_at_100", "auc", "average_precision")  # of the prediction of edges


@dataclass(frozen=True)
class Option:
    """One option. ``group`` is its section in a settings file; the name is unique without it."""

    name: str
    default: str | int | float | bool
    group: str = ""
    low: float | None = None
    high: float | None = None
    choices: tuple[str, ...] = ()
    help: str = ""

    def parse(self, value):
        """``value`` converted to the type of this option. Raises ValueError with the end of a sentence: "must be …"."""
        if isinstance(value, (list, tuple, dict, set)):
            raise ValueError("must be a single value")
        if self.choices:
            return self._choice(value)
        if isinstance(self.default, bool):
            return _truth(value)
        if isinstance(self.default, str):
            return "" if value is None else str(value).strip()
        return self._number(value)

    def _choice(self, value) -> str:
        if isinstance(value, bool):  # YAML reads yes and no as booleans
            value = "yes" if value else "no"
        if found := next((c for c in self.choices if c.lower() == str(value).strip().lower()), None):
            return found
        raise ValueError(f"must be one of {', '.join(self.choices)}")

    def _number(self, value):
        whole = isinstance(self.default, int)
        kind = "a whole number" if whole else "a number"
        limits = f" from {self.low:g} to {self.high:.10g}"
        try:
            if isinstance(value, bool):
                raise ValueError
            number = float(value)  # YAML reads 1e-5 as a string
        except (TypeError, ValueError, OverflowError):
            raise ValueError(f"must be {kind}{limits}") from None
        if not self.low <= number <= self.high or (whole and number != int(number)):
            raise ValueError(f"must be {kind}{limits}")
        return int(number) if whole else number


def _truth(value) -> bool:
    if isinstance(value, bool):
        return value
    word = str(value).strip().lower()
    if word in ("true", "yes", "on", "1"):
        return True
    if word in ("false", "no", "off", "0", ""):
        return False
    raise ValueError("must be true or false")


# fmt: off
_TRAINING = (
    Option("task", "auto", choices=("auto",), help="What to train; auto detects it from the data"),
    Option("model", "auto",
           help="words, trees, linear, perceptron, an installed model, or bert-tiny, small-cnn, mlp or sage with random weights; "
           "auto trains what fits and delivers the best"),
    Option("data_file", "", help="Id or name of the only file to use; empty uses every suitable file"),
    Option("text_column", "", help="Column with the text, or several separated by commas, joined in this order; empty detects it"),
    Option("label_column", "", help="Column with the label; empty detects it"),
    Option("epochs", 3, "", 1, 200, help="Maximum number of passes over the data; by default 60 for tables, 12 for images and 30 for graphs"),
    Option("batch_size", 32, "", 1, 4096, help="Rows per training step, summed over all workers"),
    Option("learning_rate", 0.0, "", 0, 1, help="Peak learning rate; 0 chooses it by the size of the model"),
    Option("max_length", 0, "", 0, 4096, help="Maximum number of tokens read from a text; 0 uses the 95th percentile of the data"),
    Option("num_workers", 0, "", 0, 32, help="Number of workers; 0 uses one, or more if one would take over ten minutes"),
    Option("use_gpu", "auto", choices=("auto", "yes", "no"), help="auto uses GPUs if the cluster has them; yes waits for them; no trains on CPUs"),
    Option("max_minutes", 60, "", 1, 10080, help="Time limit of the training in minutes; the best model so far is kept"),
    Option("seed", 42, "training", 0, 2**31 - 1, help="Random seed; the same seed, data and versions give the same model with one worker on CPUs"),
    Option("run_name", "", help="Name of the run, used in the name of the result folder"),
    Option("config_file", "", help="YAML, JSON or Python file of the dataset with options; Python code is never run, only literal values are read"),
    Option("more_options", "", help="More options, one per line, for example training.seed: 7"),
    Option("dry_run", False, help="Check the data and estimate the training time without training"),
    Option("id_column", "", "data", help="Column with an id for each row, copied into predictions.csv"),
    Option("text_pair_column", "", "data", help="Column with the second text, for models that compare two texts"),
    Option("label_from", "", "data",
           help="Metadata of the files in Clowder that holds their labels, for example metadata.species; for images and texts, in place of folders"),
    Option("split_column", "", "data", help="Column that assigns each row to train, validation or test"),
    Option("group_column", "", "data", help="Column with a group; rows of the same group stay in the same split"),
    Option("validation_fraction", 0.1, "data", 0.01, 0.5,
           help="Share of the rows held out to choose the best model, if the data has no validation rows"),
    Option("test_fraction", 0.1, "data", 0, 0.5, help="Share of the rows held out for the final test; 0 evaluates on the validation rows only"),
    Option("max_examples", 0, "data", 0, 100_000_000, help="Size of a random sample for a quick trial; 0 uses all examples"),
    Option("duplicates", "warn", "data", choices=("warn", "drop", "keep"),
           help="warn removes rows from training that are also in the test rows; drop also removes duplicates within training; keep only warns"),
    Option("missing_labels", "drop", "data", choices=("drop", "fail"), help="What to do with rows without a label: drop them, or fail"),
    Option("encoding", "", "data", help="Encoding of text files, for example latin-1; empty detects it"),
    Option("delimiter", "", "data", help="Delimiter of tables; empty detects it"),
    Option("padding", "longest", "tokenization", choices=("longest", "max_length"),
           help="longest pads each batch to its longest text, which is faster; max_length pads all texts to the same length"),
    Option("truncation_side", "right", "tokenization", choices=("right", "left"), help="Which end of a long text is cut off"),
    Option("long_text", "truncate", "tokenization", choices=("truncate", "sliding_window", "drop"),
           help="truncate cuts long texts; sliding_window reads overlapping pieces and averages the predictions; drop excludes them from training"),
    Option("stride", 64, "tokenization", 0, 2048, help="Tokens by which two pieces of a sliding window overlap"),
    Option("lower_case", "auto", "tokenization", choices=("auto", "yes", "no"),
           help="Convert texts to lower case when learning a vocabulary; auto means yes; installed models use their own setting"),
    Option("optimizer", "adamw", "training", choices=("adamw", "sgd", "adafactor"), help="Optimizer"),
    Option("weight_decay", 0.01, "training", 0, 1, help="Strength of the weight decay"),
    Option("warmup_ratio", 0.06, "training", 0, 0.5, help="Share of the steps in which the learning rate increases"),
    Option("scheduler", "linear", "training", choices=("linear", "cosine", "constant"), help="How the learning rate decreases"),
    Option("gradient_accumulation", 1, "training", 1, 1024, help="Number of parts in which a batch is computed, to save memory"),
    Option("max_grad_norm", 1.0, "training", 0, 100, help="Maximum norm of the gradients; 0 turns clipping off"),
    Option("label_smoothing", 0.0, "training", 0, 0.5, help="Label smoothing factor"),
    Option("class_weights", "auto", "training", choices=("auto", "none", "balanced"),
           help="balanced gives all classes the same weight in the loss; auto does so if the largest class is over five times the smallest"),
    Option("freeze_encoder", False, "training", help="Train only the classification head"),
    Option("start_from", "pretrained", "training", choices=("pretrained", "scratch"),
           help="scratch uses the architecture of a model but not its weights"),
    Option("early_stopping_patience", 3, "training", 0, 100,
           help="Evaluations without improvement before the training stops; 0 turns early stopping off"),
    Option("stop_after", 0.0, "training", 0, 200,
           help="Epochs after which the training ends although its learning rate falls over all epochs, as in a search; 0 trains all epochs"),
    Option("metric", "auto", "training",
           choices=("auto", "accuracy", "f1_macro", "f1_weighted", "mcc", "roc_auc", "loss", "rmse", "mae", "r2", *LINK_METRICS),
           help="Metric that selects the best model"),
    Option("evals_per_epoch", 1, "training", 1, 50, help="Evaluations per epoch, each with a checkpoint"),
    Option("keep_checkpoints", 2, "training", 1, 20, help="Number of newest checkpoints to keep; the best one is always kept"),
    Option("deterministic", False, "training", help="Use slower algorithms on GPUs that give the same result each time"),
    Option("compile", "auto", "training", choices=("auto", "yes", "no"), help="Compile the model; auto compiles large models on GPUs"),
    Option("finetuning", "auto", "language", choices=("auto", "lora", "full"),
           help="How an installed language model is trained: lora trains an adapter, full trains all weights; auto uses full for small models"),
    Option("lora_rank", 16, "language", 1, 512, help="Rank of the LoRA adapter; 64 and more suit over 10,000 rows"),
    Option("lora_alpha", 32, "language", 1, 2048, help="Scale of the LoRA adapter, usually twice the rank"),
    Option("merge", False, "language", help="Deliver the language model with its adapter merged into its weights, beside the adapter"),
    Option("experts", 1, "language", 1, 64,
           help="Experts in each layer of gpt-small, of which a token uses two; 1 trains an ordinary model"),
    Option("router_loss", 0.02, "language", 0, 10, help="Weight of the loss that spreads the tokens evenly over the experts"),
    Option("vocab_size", 0, "language", 0, 1_000_000, help="Number of different tokens in .bin files; 0 reads it from meta.pkl or tokenizer.json"),
    Option("sample_prompts", "", "language", help="Prompts to answer in the report, separated by |; empty uses held-out rows"),
    Option("max_new_tokens", 200, "language", 1, 2048, help="Maximum number of tokens of an answer that the language model writes"),
    Option("augmentation", "auto", "training", choices=("auto", "none", "light", "strong"),
           help="Augmentation of training images: light shifts them, strong also mirrors them and changes their brightness"),
    Option("image_size", 0, "training", 0, 1024, help="Width and height of images in pixels; 0 uses the size of the model or of the data"),
    Option("edges_file", "", "graph", help="File with the edges of a graph; empty finds it"),
    Option("nodes_file", "", "graph", help="File with the nodes of a graph, their features and labels; empty finds it, none uses the edges alone"),
    Option("source_column", "", "graph", help="Column with the node that an edge begins at; empty detects it"),
    Option("target_column", "", "graph", help="Column with the node that an edge ends at; empty detects it"),
    Option("weight_column", "", "graph", help="Column with the weights of the edges; empty detects it, none uses no weights"),
    Option("time_column", "", "graph",
           help="Column with the times of the edges: the latest edges become the test rows; empty detects it, none splits at random"),
    Option("directed", "auto", "graph", choices=("auto", "yes", "no"),
           help="Whether an edge has a direction; auto says no where most edges are there in both"),
    Option("bipartite", "auto", "graph", choices=("auto", "yes", "no"),
           help="Whether the two ends of an edge are things of two kinds, for example users and items"),
    Option("layers", 2, "graph", 1, 8, help="Layers of the graph network: a node sees neighbours at most so many edges away"),
    Option("hidden", 128, "graph", 4, 1024, help="Width of the layers of the graph network and of the embeddings"),
    Option("aggregation", "mean", "graph", choices=("mean", "add", "max"), help="How a node combines its neighbours"),
    Option("fanout", "10", "graph",
           help="Neighbours that are drawn for a node in a step of the training, for each layer, for example 15,10; "
           "the last number counts for further layers"),
    Option("decoder", "fused", "graph", choices=("fused", "cosine", "dot"),
           help="Score of a pair: cosine or dot compare the embeddings of both nodes; "
           "fused adds counts of common neighbours to cosine where that helps"),
    Option("text_encoder", "", "graph",
           help="Installed text model whose vectors of the texts of nodes are features, as it is; empty hashes their words. "
           "A text model in model does the same"),
    Option("negatives", 512, "graph", 1, 65536, help="Random nodes that each edge is compared with in a step of the training"),
    Option("eval_negatives", 1000, "graph", 1, 10000, help="Random nodes that the end of each held-out edge is ranked among"),
    Option("edges_per_epoch", 0, "graph", 0, 1_000_000_000, help="Edges that an epoch trains on; 0 uses all, at most 2 million"),
    Option("predict_top_k", 10, "graph", 0, 1000, help="New edges to predict for each node; 0 predicts none"),
    Option("trials", 0, "search", 0, 200,
           help="Trials of a search for better settings, the default settings among them; 0 trains once"),
    Option("minutes", 0, "search", 0, 10080, help="Time of the search in minutes: no trial begins after 60 % of it; 0 means max_minutes"),
    Option("space", "", "search",
           help="Options to search, for example learning_rate: 1e-4..1e-2, batch_size: 16..64; empty searches what is not set"),
    Option("cpus_per_worker", 0, "resources", 0, 64, help="CPUs per worker; 0 uses 1 for small models, otherwise up to 8"),
    Option("mixed_precision", "auto", "resources", choices=("auto", "fp32", "bf16", "fp16"),
           help="Numeric precision; auto uses bf16 or fp16 on GPUs that support it, and on CPUs bf16 where it is faster, else fp32"),
    Option("register_as", "", "output", help="Name of the registered model that this run becomes a version of; empty uses the name of the dataset"),
    Option("make_champion", "if_better", "output", choices=("if_better", "no", "yes"),
           help="Whether the new version becomes the champion (name@champion)"),
    Option("upload", "model_and_report", "output", choices=("model_and_report", "report_only", "everything"),
           help="What to upload to the dataset; everything adds the TensorBoard files"),
)
_PREDICTION = (
    Option("model", "", help="Registered model: name (its newest version), name/3, name@champion or the id of a run; empty uses the newest model"),
    Option("model_file", "", help="model.zip file of the dataset, used instead of a registered model"),
    Option("top_k", 3, "", 1, 100, help="Number of most likely classes to list with their probabilities; of a graph, of new links of each node"),
    Option("min_confidence", 0.0, "", 0, 1, help="Predictions below this confidence are marked as unsure"),
    Option("write", "csv_file", choices=("csv_file", "metadata", "both"),
           help="metadata writes each prediction to the metadata of its image or text file"),
)
_SCRIPT = (
    Option("script", "", help="File to start; empty finds it: train.py, main.py or run.py, else the only file with a main block"),
    Option("arguments", "", help="Arguments of the script as in a shell; {out}, {data} and {checkpoints} become these folders"),
    Option("resume_arguments", "", help="Arguments added when the script starts again and has a checkpoint; {checkpoint} becomes its path"),
    Option("hyperparameters", "", help="Lines like lr: 0.1; each becomes an argument --lr 0.1, or --lr=0.1 where the script reads its arguments so"),
    Option("launcher", "auto", choices=("auto", "python", "torchrun"), help="auto uses torchrun for more than one process"),
    Option("processes", 0, "", 0, 64, help="Processes on each node; 0 starts one for each GPU, else one"),
    Option("nodes", 1, "", 1, 32, help="Machines that train together; more than one needs a cluster of its own for each run"),
    Option("profile", "", help="Profile of the administrator with the size of the machines; empty uses the standard profile"),
    Option("requirements_file", "", help="File with packages to install; empty uses requirements.txt beside the script, none ignores it"),
    Option("data_source", "", help="Data from outside of the dataset, for example s3://bucket/folder"),
    Option("code_source", "", help="Code from outside of the dataset, for example s3://bucket/folder"),
    Option("output_target", "", help="Where outputs and checkpoints are copied to, for example s3://bucket/folder"),
    Option("network", "none", choices=("none", "allow"), help="Network access of the script; allow works only where the administrator offers it"),
    Option("analysis", "auto", choices=("auto", "report", "block_high", "off"),
           help="Check of the code before it runs; auto uses the administrator's choice, which can only be made stricter"),
    Option("outputs", "", help="Patterns of the files to deliver, separated by spaces, for example out/** *.pt; empty delivers all new files"),
    Option("metric", "", help="Number that the report names first, for example val_loss; empty chooses one"),
)
# fmt: on
_SHARED_WITH_SCRIPTS = "use_gpu max_minutes run_name".split()
_SHARED_WITH_PREDICTION = (
    "data_file text_column label_column batch_size num_workers use_gpu max_minutes encoding delimiter id_column cpus_per_worker mixed_precision seed "
    "max_new_tokens edges_file source_column target_column"
).split()


@functools.cache
def options(kind: str) -> dict[str, Option]:
    """The options of a spec of this kind (train, predict or script) by name."""
    if kind == "train":
        tasks = replace(_TRAINING[0], choices=(*_TRAINING[0].choices, *registry.tasks()))
        of_kinds = (option for one in registry.kinds().values() for option in one.options)
        return {o.name: o for o in (tasks, *_TRAINING[1:], *of_kinds)}
    if kind == "script":
        return {o.name: o for o in (*_SCRIPT, *(o for o in _TRAINING if o.name in _SHARED_WITH_SCRIPTS))}
    return {o.name: o for o in (*_PREDICTION, *(o for o in _TRAINING if o.name in _SHARED_WITH_PREDICTION))}


def table(kind: str) -> str:
    """The options of a kind of spec as a Markdown table, for the documentation."""
    rows = ["| option | default | values | meaning |", "|---|---|---|---|"]
    for o in options(kind).values():
        name = f"{o.group}.{o.name}" if o.group else o.name
        number = not isinstance(o.default, (str, bool))
        values = ", ".join(o.choices) or (f"{o.low:g} to {o.high:.10g}" if number else "true, false" if isinstance(o.default, bool) else "text")
        default = f"`{str(o.default).lower() if isinstance(o.default, bool) else o.default}`" if o.default != "" else ""
        rows.append(f"| `{name}` | {default} | {values} | {o.help} |")
    return "\n".join(rows) + "\n"
