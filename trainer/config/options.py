"""Every option of a run: its default, its limits, and what it means."""

from dataclasses import dataclass

from trainer.config.kinds import TASKS


@dataclass(frozen=True)
class Option:
    """One option. ``group`` is where it stands in a settings file; its name is unique without it."""

    name: str
    default: str | int | float | bool
    group: str = ""
    low: float | None = None
    high: float | None = None
    choices: tuple[str, ...] = ()
    help: str = ""

    def parse(self, value):
        """``value`` as the type of this option; ValueError says what it must be, as the end of a sentence."""
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
        if isinstance(value, bool):  # what YAML makes of yes and no
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
            number = float(value)  # YAML reads 1e-5 as a text
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
    Option("task", "auto", choices=("auto", *TASKS), help="What to train; auto sees it in the data"),
    Option("model", "auto",
           help="An installed model, or bert-tiny, small-cnn or mlp from random weights; auto takes the smallest installed one that fits"),
    Option("data_file", "", help="Id or name of the one file to use; empty uses every suitable one"),
    Option("text_column", "", help="Columns of the text, joined in this order; empty finds them"),
    Option("label_column", "", help="Empty finds it"),
    Option("epochs", 3, "", 1, 200, help="Most passes over the data; left alone, tables get 60 and images 12"),
    Option("batch_size", 32, "", 1, 4096, help="Rows per step, over all workers together"),
    Option("learning_rate", 0.0, "", 0, 1, help="Highest learning rate; 0 chooses by the size of the model"),
    Option("max_length", 0, "", 0, 4096, help="Tokens of a text that are read; 0 takes the 95th percentile of the data"),
    Option("num_workers", 0, "", 0, 32, help="0 uses one, and more where one would take over ten minutes"),
    Option("use_gpu", "auto", choices=("auto", "yes", "no"), help="yes waits for one"),
    Option("max_minutes", 60, "", 1, 10080, help="Training stops then and keeps the best model"),
    Option("seed", 42, "training", 0, 2**31 - 1, help="Same seed, data and versions give the same model on CPUs with one worker"),
    Option("run_name", "", help="Part of the name of the result folder"),
    Option("config_file", "", help="A YAML, JSON or Python file of the dataset with options; Python is read as literals and never run"),
    Option("more_options", "", help="One option in each line, for example training.seed: 7"),
    Option("dry_run", False, help="Look at the data, estimate the time, train nothing"),
    Option("id_column", "", "data", help="Copied into predictions.csv"),
    Option("text_pair_column", "", "data", help="The second text, for models that compare two"),
    Option("split_column", "", "data", help="Says of each row whether it is train, validation or test"),
    Option("group_column", "", "data", help="Rows with the same value stay in the same split"),
    Option("validation_fraction", 0.1, "data", 0.01, 0.5, help="Held out to choose the best model, where the data has no such rows"),
    Option("test_fraction", 0.1, "data", 0, 0.5, help="Held out and used once at the end; 0 measures on the validation rows only"),
    Option("max_examples", 0, "data", 0, 100_000_000, help="A smaller sample for a quick trial; 0 uses all"),
    Option("duplicates", "warn", "data", choices=("warn", "drop", "keep"),
           help="warn removes from training what is also tested; drop also removes copies within; keep only warns"),
    Option("missing_labels", "drop", "data", choices=("drop", "fail"), help="What to do with rows without a label"),
    Option("encoding", "", "data", help="Of text files, for example latin-1; empty finds it"),
    Option("delimiter", "", "data", help="Of tables; empty finds it"),
    Option("padding", "longest", "tokenization", choices=("longest", "max_length"),
           help="longest fills a batch up to its longest text, which is faster"),
    Option("truncation_side", "right", "tokenization", choices=("right", "left"), help="Which end of a long text is cut off"),
    Option("long_text", "truncate", "tokenization", choices=("truncate", "sliding_window", "drop"),
           help="sliding_window reads overlapping pieces and averages the answers; drop leaves long texts out of training"),
    Option("stride", 64, "tokenization", 0, 2048, help="Tokens that two pieces of a sliding window share"),
    Option("lower_case", "auto", "tokenization", choices=("auto", "yes", "no"),
           help="Of a vocabulary that is learnt; an installed model decides itself"),
    Option("optimizer", "adamw", "training", choices=("adamw", "sgd", "adafactor")),
    Option("weight_decay", 0.01, "training", 0, 1, help="Pull of the weights towards zero"),
    Option("warmup_ratio", 0.06, "training", 0, 0.5, help="Share of the steps in which the learning rate rises"),
    Option("scheduler", "linear", "training", choices=("linear", "cosine", "constant"), help="How the learning rate falls"),
    Option("gradient_accumulation", 1, "training", 1, 1024, help="Parts in which a batch is computed, where the memory is short"),
    Option("max_grad_norm", 1.0, "training", 0, 100, help="Longest gradient; 0 for any"),
    Option("label_smoothing", 0.0, "training", 0, 0.5, help="Share of doubt in every label"),
    Option("class_weights", "auto", "training", choices=("auto", "none", "balanced"),
           help="balanced lets all classes count the same; auto does so where one is five times another"),
    Option("freeze_encoder", False, "training", help="Train the head only"),
    Option("start_from", "pretrained", "training", choices=("pretrained", "scratch"), help="scratch takes the shape of a model but not its weights"),
    Option("early_stopping_patience", 3, "training", 0, 100, help="Evaluations without a better model before the end; 0 never stops early"),
    Option("metric", "auto", "training", choices=("auto", "accuracy", "f1_macro", "f1_weighted", "mcc", "roc_auc", "loss", "rmse", "mae", "r2"),
           help="What chooses the best model"),
    Option("evals_per_epoch", 1, "training", 1, 50, help="Evaluations, each with a checkpoint, in one pass over the data"),
    Option("keep_checkpoints", 2, "training", 1, 20, help="The newest ones; the best is always kept"),
    Option("deterministic", False, "training", help="Slower algorithms on GPUs that give the same result each time"),
    Option("compile", "auto", "training", choices=("auto", "yes", "no"), help="auto compiles large models on GPUs"),
    Option("augmentation", "auto", "training", choices=("auto", "none", "light", "strong"),
           help="light moves images a little, strong also mirrors and brightens them"),
    Option("image_size", 0, "training", 0, 1024, help="Pixels of a side; 0 takes what the model reads or the data has"),
    Option("cpus_per_worker", 0, "resources", 0, 64, help="0 takes 1 for small models, else what the cluster has, up to 8"),
    Option("mixed_precision", "auto", "resources", choices=("auto", "fp32", "bf16", "fp16"),
           help="auto uses bf16 or fp16 on GPUs that have it, fp32 on CPUs"),
    Option("register_as", "", "output", help="Name of the model of which this run is a version; empty takes that of the dataset"),
    Option("make_champion", "if_better", "output", choices=("if_better", "no", "yes"),
           help="Whether the new version becomes the one that name@champion means"),
    Option("upload", "model_and_report", "output", choices=("model_and_report", "report_only", "everything"),
           help="everything adds TensorBoard files"),
)
_PREDICTION = (
    Option("model", "", help="A registered model: name (its newest version), name/3, name@champion or the id of a run; empty takes the newest"),
    Option("model_file", "", help="A model.zip of the dataset, instead of a registered model"),
    Option("top_k", 3, "", 1, 100, help="Classes that are listed with their probabilities"),
    Option("min_confidence", 0.0, "", 0, 1, help="Answers below are marked as unsure"),
    Option("write", "csv_file", choices=("csv_file", "metadata", "both"), help="metadata writes each answer onto its image or text file"),
)
# fmt: on
_SHARED_WITH_PREDICTION = (
    "data_file text_column label_column batch_size num_workers use_gpu max_minutes encoding delimiter id_column cpus_per_worker mixed_precision seed"
).split()


def options(kind: str) -> dict[str, Option]:
    """The options of a spec of this kind (train or predict) by name."""
    if kind == "train":
        return {o.name: o for o in _TRAINING}
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
