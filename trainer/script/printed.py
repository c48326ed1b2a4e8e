"""What one printed line says about a training: position, length and measured values.

Training scripts have no common form of output, but few habits: bars (tqdm, Keras, Lightning), flat dictionaries (Hugging Face), and pairs
of name and number beside the words epoch, step and iter. Each rule takes what it is sure of. All patterns are linear in the line.
"""

import math
import re
from dataclasses import dataclass, field

CHARACTERS = 2000  # of a line that are looked at
VALUES = 40  # of one line
_ABOUT = re.compile(r"\W{0,8}(test|val(?:id(?:ation)?)?|eval(?:uation)?)\b(?!\w)(?:\s\w{1,12})?:", re.I)  # "Test set: Average loss: 0.05"
_NUMBER = r"[-+]?(?:\d{1,30}(?:\.\d{0,30})?|\.\d{1,30})(?:[eE][-+]?\d{1,3})?(?![\w.])|[-+]?(?:nan|inf)\b"
_BAR = re.compile(
    r"(\d{1,3})%\|[^|\r\n]{0,300}\|\s{0,8}([\d.]{1,15})([kMGT]?)/([\d.]{1,15})([kMGT]?)\w{0,8}\s{1,4}"
    r"\[([\d:]{4,12})<([^,\]]{1,20})(?:,\s{0,4}([^\]]{0,600}))?"
)
_KERAS = re.compile(r"^\s{0,8}(\d{1,12})/(\d{1,12})\s{1,4}(?:\[[=>.]{1,200}\]|[━─╺╸╌╍ ]{3,400}|-(?=\s))\s{0,400}(.{0,1000})")
_LIGHTNING = re.compile(
    r"Epoch (\d{1,9})/(\d{1,9})\s{1,4}[━─╺╸ ]{3,400}\s{0,4}(\d{1,12})/(\d{1,12})\s{1,4}(?:([\d:]{4,12}) • ([\d:-]{4,12}))?(.{0,1000})"
)
_EPOCH = re.compile(r"\bepochs?\b[\s:=#\[(]{0,6}(\d{1,9})(?![\d.]{0,40}[eE.]\d)\s{0,3}\]?\s{0,3}(?:(?:/|of)\s{0,3}(\d{1,9}))?", re.I)
_STEP = re.compile(
    r"\b(?:global[_ ]step|steps?|iter(?:ation)?s?|batch(?:es)?|updates?)\b[\s:=#\[(]{0,6}(\d{1,12})(?![\d.]{0,40}[eE.]\d)"
    r"\s{0,3}(?:(?:/|of)\s{0,3}(\d{1,12}))?",
    re.I,
)
_OF = re.compile(r"(?<![\d./])(\d{1,12})\s{0,2}/\s{0,2}(\d{1,12})(?![\d./%])\s{0,3}(batches|steps|iters|\(\s{0,3}\d{1,3}(?:\.\d{1,4})?\s{0,2}%\)|\])")
_ROUND = re.compile(r"^\[(\d{1,9})\][\t ]")  # XGBoost, LightGBM
_PAIR = re.compile(
    r"((?:\b(?:train(?:ing)?|val(?:id(?:ation)?)?|test|eval(?:uation)?|dev|average|avg|mean|best|final|macro|micro|weighted|balanced|top-?\d|running|total)"
    r"(?:\s{1,3}|-)){0,3}[A-Za-z_][\w@/.'-]{0,60}(?:\s{1,2}(?:score|rate|loss|accuracy|error|norm))?)"
    r"(?:\s{0,24}[:=]\s{0,12}|\s{1,40}|\s{1,3}is\s{1,3})[(\[]?(" + _NUMBER.replace(r"(?![\w.])", r"(?![\w])") + r")\s{0,2}(%|/\d{1,12}\b)?",
    re.I,
)  # fmt: skip
_ENTRY = re.compile(
    r"""['"]([\w./@ -]{1,80})['"]\s{0,4}:\s{0,4}(?:np\.float\d\d\(|tensor\()?['"]?("""
    + _NUMBER.replace(r"(?![\w.])", "")
    + r""")['"]?\)?\s{0,4}[,}]"""
)
_NOT_FINITE = re.compile(r"\b(nan|inf)\b", re.IGNORECASE)
_CELL = re.compile(r"[│|]\s{0,60}([A-Za-z][\w/@.-]{0,60})\s{0,60}[│|]\s{0,60}(" + _NUMBER + r")\s{0,60}[│|]")
_MEASURES = frozenset(
    "loss acc accuracy f1 auc auroc auprc ap map ppl perplexity bleu rouge rouge1 rouge2 rougel rougelsum mae mse rmse mape r2 score precision "
    "recall iou miou dice error err wer cer lr nll elbo kl logloss bpc bpb reward return psnr ssim fid mcc kappa ndcg mrr hit hits top1 top5 acc1 "
    "acc5 pearson pearsonr spearman spearmanr exact em sensitivity specificity likelihood entropy ece brier silhouette merror mlogloss l1 l2".split()
)
_PAIRED = ("learning_rate", "grad_norm", "gradient_norm", "weight_decay", "samples_per_second", "tokens_per_second")
_NO_MEASURES = frozenset("epoch epochs step steps iter iters iteration batch".split())
_SCALE = {"": 1, "k": 10**3, "M": 10**6, "G": 10**9, "T": 10**12}
_SPLITS = {"val": "validation", "valid": "validation", "validation": "validation", "dev": "validation", "eval": "validation", "test": "test"}


@dataclass
class Printed:
    """What a line says. ``bar`` names the progress bar it draws, by its text and total. ``epoch`` is as printed, and may count from 0.

    ``values`` are by their names in lower case with underscores; a percentage is a fraction of 1. NaN and infinity are among them.
    """

    bar: str = ""
    step: int | None = None
    steps: int | None = None
    epoch: float | None = None
    epochs: int | None = None
    last_epoch: bool = False  # ``epochs`` is the number of the last epoch, counted from 0, as Lightning prints it
    eta: float | None = None
    values: dict[str, float] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return bool(self.bar or self.values) or self.step is not None or self.epoch is not None


def read(line: str, also: str = "") -> Printed:
    """What ``line`` says. ``also`` is the name of one more value to look for."""
    line = line[:CHARACTERS]
    found = Printed()
    if not (any(c.isdigit() for c in line) or _NOT_FINITE.search(line)):
        return found
    rest = _bars(line, found)
    if "{" in rest and (entries := _ENTRY.findall(rest)):
        _dictionary(entries, found)
        rest = rest[: rest.index("{")]
    _position(rest, found)
    about = _ABOUT.match(line)
    for name, number in _CELL.findall(line):
        _take(found, name, number, "", also)
    for name, number, unit in _PAIR.findall(rest):
        if about and split_of(name.lower()) == "train":
            name = f"{about[1]} {name}"
        _take(found, name, number, unit, also)
    return found


def split_of(name: str) -> str:
    """The split of the data that a value is over, by its name: validation, test, or train."""
    for word in re.split(r"[\W_]+", name):
        if word in _SPLITS:
            return _SPLITS[word]
    return "train"


def _bars(line: str, found: Printed) -> str:
    """Take a progress bar. Gives what else is in the line."""
    if bar := _BAR.search(line):
        found.step, found.steps = (_count(bar[2], bar[3]), _count(bar[4], bar[5]))
        found.eta = _seconds(bar[7])
        before = line[: bar.start()]
        found.bar = f"{re.sub(r'[0-9]+', '', before).strip()[-80:]}/{found.steps}"
        return f"{before} | {(bar[8] or '').partition(',')[2]} | {line[bar.end() :]}"
    if bar := _LIGHTNING.search(line):
        found.epoch, found.epochs, found.last_epoch = int(bar[1]), int(bar[2]), True
        found.step, found.steps, found.bar = int(bar[3]), int(bar[4]), f"epoch/{bar[4]}"
        return bar[7]
    if bar := _KERAS.search(line):
        found.step, found.steps, found.bar = int(bar[1]), int(bar[2]), f"keras/{bar[2]}"
        return bar[3]
    return line


def _position(line: str, found: Printed) -> None:
    """Take the numbers beside the words epoch and step."""
    if found.epoch is None and (epoch := _EPOCH.search(line)):
        found.epoch = float(epoch[1])
        found.epochs = int(epoch[2]) if epoch[2] else None
    if found.step is not None:
        return
    if (step := _STEP.search(line)) or (step := _ROUND.search(line)):
        found.step = int(step[1])
        found.steps = int(step[2]) if step.re is _STEP and step[2] else None
    if found.steps is None and (of := _OF.search(line)) and (found.epoch is not None or (of[3] == "]" and "loss" in line.lower())):
        found.step, found.steps = int(of[1]), int(of[2])
        found.bar = f"of/{of[2]}"
    if found.steps is not None and found.step > found.steps:
        found.step = found.steps = None


def _dictionary(entries: list[tuple[str, str]], found: Printed) -> None:
    """Take the entries of a printed dictionary: all of them, because a script prints a dictionary to show results."""
    for name, number in entries[:VALUES]:
        if name == "epoch":
            found.epoch = float(number) if math.isfinite(float(number)) else None
        elif name in ("step", "global_step") and number.isdigit():
            found.step = int(number)
        else:
            found.values[_plain(name)] = float(number)


def _take(found: Printed, name: str, number: str, unit: str, also: str) -> None:
    """Take a pair of name and number if the name says that something is measured."""
    name, value = _plain(name), float(number)
    words = [w for w in re.split(r"[\W_]+", name) if w]
    if len(found.values) >= VALUES or name in _NO_MEASURES:
        return
    if name != _plain(also) and not any(w in _MEASURES for w in words) and not any(pair in name for pair in _PAIRED):
        return
    if unit.startswith("/"):
        value = value / int(unit[1:]) if int(unit[1:]) else value
    found.values.setdefault(name, round(value / 100, 12) if unit == "%" else value)


def _plain(name: str) -> str:
    return re.sub(r"[\s-]+", "_", name.strip(" -.'_").lower())[:80]


def _count(number: str, scale: str) -> int:
    try:
        return round(float(number) * _SCALE[scale])
    except ValueError:
        return 0


def _seconds(clock: str) -> float | None:
    """The seconds of 00:03, 1:02:03 or 1 day, 2:00:00; None for a question mark."""
    parts = clock.strip().split(":")
    if not 2 <= len(parts) <= 3 or not all(p.isdigit() for p in parts):
        return None
    return float(sum(int(p) * 60**i for i, p in enumerate(reversed(parts))))
