"""Every option of a run: its default, its limits, and what it means. Options of one kind of data have a module of their own."""

import functools
from dataclasses import replace

from trainer.config.option import Option
from trainer.core import registry

# fmt: off
_TRAINING = (
    Option("task", "auto", choices=("auto",), help="What to train; auto detects it from the data"),
    Option("model", "auto",
           help="words, trees, linear, perceptron, ensemble, an installed model, or bert-tiny, small-cnn, mlp or sage with random weights; "
           "auto trains what fits and delivers the best"),
    Option("data_file", "", also_in=("predict",), help="Id, name or path of the only file or folder to use; empty uses every suitable file"),
    Option("validation_file", "", since="0.2.0",
           help="File or folder whose rows choose the best model, by its id, name or path; it is never trained on"),
    Option("test_file", "", since="0.2.0", help="File or folder whose rows are the final test, by its id, name or path; it is never trained on"),
    Option("annotation_file", "", since="0.2.0",
           help="Table that names the files of the other fields and has their labels, by its id, name or path"),
    Option("text_column", "", also_in=("predict",),
           help="Column with the text, or several separated by commas, joined in this order; empty detects it"),
    Option("label_column", "", also_in=("predict",), help="Column with the label; empty detects it"),
    Option("epochs", 3, "", 1, 200,
           help="Maximum number of passes over the data; by default 60 for tables, 12 to 150 for images by their number, and 30 for graphs"),
    Option("batch_size", 32, "", 1, 4096, searchable=True, also_in=("predict",), help="Rows per training step, summed over all workers"),
    Option("learning_rate", 0.0, "", 0, 1, searchable=True, help="Peak learning rate; 0 chooses it by the size of the model"),
    Option("max_length", 0, "", 0, 4096, help="Maximum number of tokens read from a text; 0 uses the 95th percentile of the data"),
    Option("num_workers", 0, "", 0, 32, neutral=True, also_in=("predict",), service=True,
           help="Number of workers; 0 uses one, or more where one would train for over ten minutes or has many rows to predict"),
    Option("use_gpu", "auto", choices=("auto", "yes", "no"), neutral=True, also_in=("predict", "script"), service=True,
           help="auto uses GPUs if the cluster has them; yes waits for them; no trains on CPUs"),
    Option("max_minutes", 60, "", 1, 10080, neutral=True, also_in=("predict", "script"), service=True,
           help="Time limit of the training in minutes; the best model so far is kept"),
    Option("seed", 42, "training", 0, 2**31 - 1, also_in=("predict",),
           help="Random seed; the same seed, data and versions give the same model with one worker on CPUs"),
    Option("run_name", "", neutral=True, also_in=("script",), service=True, help="Name of the run, used in the name of the result folder"),
    Option("config_file", "", neutral=True, service=True,
           help="YAML, JSON or Python file of the dataset with options; Python code is never run, only literal values are read"),
    Option("more_options", "", neutral=True, service=True, help="More options, one per line, for example training.seed: 7"),
    Option("dry_run", False, neutral=True, service=True, help="Check the data and estimate the training time without training"),
    Option("columns", "", "data", since="0.3.0",
           help="Columns of tables that may be inputs, separated by commas, with label_column set: others are not read, and of a large Parquet file "
           "not even loaded; empty reads all"),
    Option(
        "id_column", "", "data", also_in=("predict",),
        help="Column with an id for each row, copied into predictions.csv; empty: a prediction takes one whose name says so",
    ),
    Option("text_pair_column", "", "data", help="Column with the second text, for models that compare two texts"),
    Option("label_from", "", "data", since="0.2.0", service=True,
           help="Where Clowder keeps the labels of files: metadata, for example metadata.species, or the tags or sections of files (v1), in place of "
           "folders; several, separated by commas, are columns"),
    Option("datasets", "", "data", since="0.2.0", service=True,
           help="More datasets to train on, separated by commas: ids or addresses of datasets, collection:ID or space:ID (Clowder v1), search:WORDS "
           "or feed:ID (Clowder v2)"),
    Option("split_column", "", "data", help="Column that assigns each row to train, validation or test"),
    Option("group_column", "", "data", help="Column with a group; rows of the same group stay in the same split"),
    Option("split", "auto", "data", choices=("auto", "random", "time", "group", "place"), since="0.2.0",
           help="How rows are held out that the data do not split: time holds out the latest, group keeps rows of group_column together, "
           "or of one dataset, folder or name of several, place those near each other by latitude and longitude "
           "or easting and northing; auto takes time for tables that are a series, "
           "groups for ten datasets or more and for a column such as patient_id whose rows have like labels, else random"),
    Option("time_column", "", "data", since="0.2.0",
           help="Column with the times of rows or of the edges of a graph: the latest become the test rows; empty detects it, none splits at random"),
    Option("validation_fraction", 0.1, "data", 0.01, 0.5,
           help="Share of the rows held out to choose the best model, if the data has no validation rows"),
    Option("test_fraction", 0.1, "data", 0, 0.5, help="Share of the rows held out for the final test; 0 evaluates on the validation rows only"),
    Option("max_examples", 0, "data", 0, 100_000_000, help="Size of a random sample for a quick trial; 0 uses all examples"),
    Option("duplicates", "warn", "data", choices=("warn", "drop", "keep"),
           help="warn removes rows from training that are also in the test rows; drop also removes duplicates within training; keep only warns"),
    Option("missing_labels", "drop", "data", choices=("drop", "fail"), help="What to do with rows without a label: drop them, or fail"),
    Option("encoding", "", "data", also_in=("predict",), help="Encoding of text files, for example latin-1; empty detects it"),
    Option("delimiter", "", "data", also_in=("predict",), help="Delimiter of tables; empty detects it"),
    Option("fill_values", "auto", "data", since="0.2.0", also_in=("predict",),
           help="Numbers that stand for a gap, such as -9999: auto finds them, keep reads them as numbers, or a list separated by commas"),
    Option("sheet", "", "data", since="0.2.0", also_in=("predict",), help="Sheet of a workbook to read; empty chooses it"),
    Option("repairs", True, "data", since="0.2.0", also_in=("predict",),
           help="Read tables as they are meant: without rows of units, totals and notes, with names from two rows and empty cells for the values "
           "of gaps; false reads them as they are written"),
    Option("padding", "longest", "tokenization", choices=("longest", "max_length"),
           help="longest pads each batch to its longest text, which is faster; max_length pads all texts to the same length"),
    Option("truncation_side", "right", "tokenization", choices=("right", "left"), help="Which end of a long text is cut off"),
    Option("long_text", "truncate", "tokenization", choices=("truncate", "sliding_window", "drop"),
           help="truncate cuts long texts; sliding_window reads overlapping pieces and averages the predictions; drop excludes them from training"),
    Option("stride", 64, "tokenization", 0, 2048, help="Tokens by which two pieces of a sliding window overlap"),
    Option("lower_case", "auto", "tokenization", choices=("auto", "yes", "no"),
           help="Convert texts to lower case when learning a vocabulary; auto means yes; installed models use their own setting"),
    Option("min_workers", 0, "training", 0, 32, neutral=True, since="0.2.0",
           help="Smallest number of workers to train with: a run with fewer machines than num_workers begins with these, takes more when they come "
           "and goes on when some leave; 0 waits for all"),
    Option("optimizer", "adamw", "training", choices=("adamw", "sgd", "adafactor"), searchable=True, help="Optimizer"),
    Option("weight_decay", 0.01, "training", 0, 1, searchable=True, help="Strength of the weight decay"),
    Option("warmup_ratio", 0.06, "training", 0, 0.5, searchable=True, help="Share of the steps in which the learning rate increases"),
    Option("scheduler", "linear", "training", choices=("linear", "cosine", "constant"), searchable=True, help="How the learning rate decreases"),
    Option("gradient_accumulation", 1, "training", 1, 1024, help="Number of parts in which a batch is computed, to save memory"),
    Option("max_grad_norm", 1.0, "training", 0, 100, searchable=True, help="Maximum norm of the gradients; 0 turns clipping off"),
    Option("label_smoothing", 0.0, "training", 0, 0.5, searchable=True, help="Label smoothing factor"),
    Option("class_weights", "auto", "training", choices=("auto", "none", "balanced"),
           help="balanced gives all classes the same weight in the loss; auto does so if the largest class is over five times the smallest"),
    Option("freeze_encoder", False, "training", searchable=True, help="Train only the classification head"),
    Option("start_from", "pretrained", "training", choices=("pretrained", "scratch"),
           help="scratch uses the architecture of a model but not its weights"),
    Option("early_stopping_patience", 3, "training", 0, 100,
           help="Evaluations without improvement before the training stops; 0 turns early stopping off"),
    Option("stop_after", 0.0, "training", 0, 200, since="0.2.0",
           help="Epochs after which the training ends although its learning rate falls over all epochs, as in a search; 0 trains all epochs"),
    Option("metric", "auto", "training",
           choices=("auto", "accuracy", "f1_macro", "f1_weighted", "mcc", "roc_auc", "loss", "rmse", "mae", "r2"),
           help="Metric that selects the best model"),
    Option("evals_per_epoch", 1, "training", 1, 50, help="Evaluations per epoch, each with a checkpoint"),
    Option("keep_checkpoints", 2, "training", 1, 20, neutral=True, help="Number of newest checkpoints to keep; the best one is always kept"),
    Option("deterministic", False, "training", help="Use slower algorithms on GPUs that give the same result each time"),
    Option("compile", "auto", "training", choices=("auto", "yes", "no"), neutral=True, help="Compile the model; auto compiles large models on GPUs"),
)
_RESULTS = (
    Option("trials", 0, "search", 0, 200, neutral=True,
           help="Trials of a search for better settings, the default settings among them; 0 trains once"),
    Option("minutes", 0, "search", 0, 10080, neutral=True,
           help="Time of the search in minutes: no trial begins after 60 % of it; 0 means max_minutes"),
    Option("space", "", "search", neutral=True,
           help="Options to search, for example learning_rate: 1e-4..1e-2, batch_size: 16..64; empty searches what is not set"),
    Option("cpus_per_worker", 0, "resources", 0, 64, neutral=True, also_in=("predict",),
           help="CPUs per worker; 0 uses 1 for small models, otherwise up to 8"),
    Option("mixed_precision", "auto", "resources", choices=("auto", "fp32", "bf16", "fp16"), also_in=("predict",),
           help="Numeric precision; auto uses bf16 or fp16 on GPUs that support it, and on CPUs bf16 where it is faster, else fp32"),
    Option("register_as", "", "output", neutral=True, service=True,
           help="Name of the registered model that this run becomes a version of; empty uses the name of the dataset"),
    Option("make_champion", "if_better", "output", choices=("if_better", "no", "yes"), neutral=True,
           help="Whether the new version becomes the champion (name@champion)"),
    Option("coverage", 0.9, "output", 0.5, 0.99, since="0.2.0", neutral=True,
           help="Share of rows whose right number is promised to be in the interval of the answer, or right class among its possible ones"),
    Option("upload", "model_and_report", "output", choices=("model_and_report", "report_only", "everything"), neutral=True,
           help="What to upload to the dataset; everything adds the TensorBoard files"),
)
_PREDICTION = (
    Option("model", "", service=True,
           help="Registered model: name (its newest version), name/3, name@champion or the id of a run; empty uses the newest model"),
    Option("model_file", "", service=True, help="model.zip file of the dataset, used instead of a registered model"),
    Option("top_k", 3, "", 1, 100, help="Number of most likely classes to list with their probabilities; of a graph, of new links of each node"),
    Option("min_confidence", 0.0, "", 0, 1, help="Predictions below this confidence are marked as unsure"),
    Option("probabilities", False, since="0.3.0",
           help="Of a model of pixels, also deliver maps of each scene: of classes their probabilities and which are possible, "
           "of numbers the ends of intervals"),
    Option("threshold", 0.0, "", 0, 1, since="0.3.0",
           help="Probability from which the second of two classes is answered, as in the report's table of thresholds; 0 keeps the model's own"),
    Option("write", "csv_file", choices=("csv_file", "metadata", "both"), service=True,
           help="metadata writes each prediction to the metadata of its image or text file"),
)
_SCRIPT = (
    Option("script", "", help="File to start; empty finds it: train.py, main.py or run.py, else the only file with a main block"),
    Option("arguments", "", help="Arguments of the script as in a shell; {out}, {data} and {checkpoints} become these folders"),
    Option("resume_arguments", "", help="Arguments added when the script starts again and has a checkpoint; {checkpoint} becomes its path"),
    Option("hyperparameters", "", help="Lines like lr: 0.1; each becomes an argument --lr 0.1, or --lr=0.1 where the script reads its arguments so"),
    Option("launcher", "auto", choices=("auto", "python", "torchrun"), help="auto uses torchrun for more than one process"),
    Option("processes", 0, "", 0, 64, help="Processes on each node; 0 starts one for each GPU, else one"),
    Option("nodes", 1, "", 1, 32, service=True, help="Machines that train together; more than one needs a cluster of its own for each run"),
    Option("profile", "", service=True, help="Profile of the administrator with the size of the machines; empty uses the standard profile"),
    Option("requirements_file", "", service=True,
           help="File with packages to install; empty uses requirements.txt beside the script, none ignores it"),
    Option("data_source", "", service=True, help="Data from outside of the dataset, for example s3://bucket/folder"),
    Option("code_source", "", service=True, help="Code from outside of the dataset, for example s3://bucket/folder"),
    Option("output_target", "", service=True, help="Where outputs and checkpoints are copied to, for example s3://bucket/folder"),
    Option("network", "none", choices=("none", "allow"), service=True,
           help="Network access of the script; allow works only where the administrator offers it"),
    Option("analysis", "auto", choices=("auto", "report", "block_high", "off"), service=True,
           help="Check of the code before it runs; auto uses the administrator's choice, which can only be made stricter"),
    Option("outputs", "", help="Patterns of the files to deliver, separated by spaces, for example out/** *.pt; empty delivers all new files"),
    Option("metric", "", help="Number that the report names first, for example val_loss; empty chooses one"),
)
# fmt: on


@functools.cache
def options(kind: str) -> dict[str, Option]:
    """The options of a spec of this kind (train, predict or script) by name, those of single kinds of data among them."""
    tasks = replace(_TRAINING[0], choices=(*_TRAINING[0].choices, *registry.tasks()))
    metrics = {m: None for kind in registry.kinds().values() for m in kind.choosing_metrics}
    training = (replace(o, choices=(*o.choices, *metrics)) if o.name == "metric" else o for o in _TRAINING[1:])
    of_kinds = (option for one in sorted(registry.kinds().values(), key=lambda k: k.options_place) for option in one.options)
    trains = (tasks, *training, *of_kinds, *_RESULTS)
    if kind == "train":
        return {o.name: o for o in trains}
    own = _SCRIPT if kind == "script" else _PREDICTION
    return {o.name: o for o in (*own, *(o for o in trains if kind in o.also_in))}


def searchable() -> tuple[str, ...]:
    """The names of the options that a search may try values of."""
    return tuple(o.name for o in options("train").values() if o.searchable)


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
