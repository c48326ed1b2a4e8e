"""How a script is started: which file, with which arguments, by which launcher. Nothing here runs or changes anything.

Each choice comes with its reason, in a sentence for the user.
"""

import ast
import re
import shlex
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import PurePosixPath

from trainer.config.jail import RUN, SUPPORT
from trainer.errors import UserError, some

USUAL = ("train.py", "main.py", "run.py")
OUT = f"{RUN}/out"
DATA = f"{RUN}/data"
CHECKPOINTS = f"{OUT}/checkpoints"
MASTER_PORT = 29500
_OUTPUT_NAMES = ("output_dir", "output-dir", "out_dir", "out-dir", "outdir", "output_path", "save_dir", "save-dir")


@dataclass(frozen=True)
class Decision:
    """A choice with its reason, as events show it."""

    what: str
    choice: object
    why: str


@dataclass(frozen=True)
class Source:
    """What the syntax tree of a script tells about it."""

    is_main: bool = False  # has a block if __name__ == "__main__"
    imports: frozenset[str] = frozenset()  # first parts and full names of imported modules
    options: Mapping[str, str] = field(default_factory=dict)  # command line options: name without dashes, and its action
    assigned: frozenset[str] = frozenset()  # names that the module assigns
    configurator: bool = False  # reads arguments like --key=value by executing another file
    transformers: bool = False  # reads TrainingArguments from its arguments


def read(text: str) -> Source:
    """What a Python file tells. A file with a syntax error tells nothing."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return Source()
    imports: set[str] = set()
    options: dict[str, str] = {}
    names: set[str] = set()
    configurator = False
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            imports |= {part for alias in node.names for part in (alias.name, alias.name.partition(".")[0])}
        elif isinstance(node, ast.ImportFrom):
            module = node.module or ""
            imports |= {module, module.partition(".")[0], *(f"{module}.{a.name}".strip(".") for a in node.names)}
        elif isinstance(node, ast.Call):
            options |= _option(node)
            configurator = configurator or _runs_a_file(node)
        elif isinstance(node, ast.Name):
            names.add(node.id)
    assigned = {t.id for s in tree.body if isinstance(s, ast.Assign) for t in s.targets if isinstance(t, ast.Name)}
    arguments = {"HfArgumentParser"} <= names and bool({"TrainingArguments", "Seq2SeqTrainingArguments"} & names)
    return Source(_has_main(tree), frozenset(imports), options, frozenset(assigned), configurator, arguments)


def entry(code: Mapping[str, str], names: Iterable[str], wanted: str) -> tuple[str, str]:
    """The file to start and why. ``code`` has the Python files by path, ``names`` all files. Raises UserError if it is not clear."""
    names = sorted(names)
    if wanted:
        return _named(names, wanted)
    scripts = sorted(code)
    if not scripts:
        notebooks = [n for n in names if n.endswith(".ipynb")]
        if notebooks:
            raise UserError(
                "no_script",
                f"The dataset has a notebook ({some(notebooks, 3)}) and no Python script.",
                "Save the notebook as a Python file (.py), add it to the dataset and submit again.",
            )
        raise UserError(
            "no_script", "The dataset has no Python script.", "Add a script called train.py, or name another one in script.", _files(names)
        )
    if len(scripts) == 1:
        return scripts[0], f"{scripts[0]} is started: it is the only Python file."
    depth = min(s.count("/") for s in scripts)
    usual = [s for s in scripts if s.count("/") == depth and PurePosixPath(s).name in USUAL]
    usual = usual or [s for s in scripts if PurePosixPath(s).name in USUAL]
    if len(usual) == 1:
        return usual[0], f"{usual[0]} is started because of its name."
    read_all = {path: read(text) for path, text in code.items()}
    imported = set().union(*(source.imports for source in read_all.values()))
    main = [p for p in usual or scripts if read_all[p].is_main and not _modules(p) & imported]
    if len(main) == 1:
        return main[0], f"{main[0]} is started: only it has a main block and is not imported by another file."
    several = main or usual or scripts
    raise UserError(
        "entry_ambiguous",
        f"The dataset has several scripts that could be started: {some(several, 6)}.",
        "Write the name of one of them into script.",
    )


def arguments(source: Source, settings, checkpoint: str = "") -> tuple[list[str], list[Decision]]:
    """The arguments of the script. ``checkpoint`` is what a new start goes on from; empty at the first start.

    Raises UserError if the text in the settings cannot be split.
    """
    decided: list[Decision] = []
    places = {"{out}": OUT, "{data}": DATA, "{checkpoints}": CHECKPOINTS, "{checkpoint}": checkpoint}
    given = _split(settings.arguments, "arguments", places)
    given += _hyperparameters(source, settings)
    if output := _output(source, given):
        given += output
        decided.append(
            Decision("output_dir", "out", f"{' '.join(output[:1]).partition('=')[0]} is set to the folder out: the script has this argument.")
        )
    if checkpoint and settings.resume_arguments:
        more = _split(settings.resume_arguments, "resume_arguments", places)
        given += more
        decided.append(Decision("resume_arguments", more, f"The script starts again and gets {shlex.join(more)} to go on from {checkpoint}."))
    return given, decided


@dataclass(frozen=True)
class Nodes:
    """The place of this sandbox among those of the run."""

    processes: int = 1  # on each node
    nodes: int = 1
    rank: int = 0
    address: str = "127.0.0.1"  # of node 0
    port: int = MASTER_PORT

    @property
    def world(self) -> int:
        return self.processes * self.nodes


def launcher(wanted: str, nodes: Nodes) -> tuple[str, str]:
    """python or torchrun, and why."""
    if wanted == "python" and nodes.world > 1:
        raise UserError(
            "wrong_setting",
            f"The launcher python starts one process, but {nodes.world} are set.",
            "Set launcher to torchrun or auto, or processes to 1.",
        )
    if wanted != "auto":
        return wanted, f"The script is started by {wanted}, as requested."
    if nodes.world > 1:
        return "torchrun", f"The script is started by torchrun: it has {nodes.world} processes."
    return "python", "The script is started as one process."


def line(python: str, name: str, script: str, given: list[str], nodes: Nodes) -> list[str]:
    """The command line in the sandbox for the launcher ``name``."""
    if name == "python":
        return [python, "-u", script, *given]
    where = ["--nnodes", str(nodes.nodes), "--nproc-per-node", str(nodes.processes), "--node-rank", str(nodes.rank)]
    where += ["--master-addr", nodes.address, "--master-port", str(nodes.port)]
    torchrun = [python, "-u", "-m", "torch.distributed.run", *where]
    return [python, "-u", f"{SUPPORT}/clowder_ranks.py", *torchrun, "--", script, *given]


def hyperparameters(settings) -> dict[str, str]:
    """The settings in ``hyperparameters``, one in each line: name: value, or name = value."""
    found: dict[str, str] = {}
    for number, text in enumerate(settings.hyperparameters.splitlines(), 1):
        text = text.partition(" #")[0].strip()
        if not text or text.startswith("#"):
            continue
        match = re.fullmatch(r"(?:--)?([A-Za-z_][\w.-]*)\s*[:=]\s*(.*)", text)
        if match is None:
            what = f"Line {number} of hyperparameters is not a setting: {text[:60]}."
            raise UserError("wrong_setting", what, "Write one setting in each line, for example lr: 0.1.")
        found[match[1]] = match[2].strip("\"'")
    return found


def _split(text: str, where: str, places: Mapping[str, str]) -> list[str]:
    try:
        words = shlex.split(text)
    except ValueError as e:
        raise UserError("wrong_setting", f"The text in {where} cannot be split into arguments: {e}.", "Close every quotation mark.") from e
    for name, value in places.items():
        words = [word.replace(name, value) for word in words]
    return words


def _hyperparameters(source: Source, settings) -> list[str]:
    given: list[str] = []
    for name, value in hyperparameters(settings).items():
        known = next((o for o in source.options if o.replace("-", "_") == name.replace("-", "_")), name)
        action = source.options.get(known, "")
        dashes = "-" if len(known) == 1 else "--"
        if source.configurator:
            given.append(f"--{name}={value}")
        elif action in ("store_true", "store_false"):
            given += [f"{dashes}{known}"] if value.lower() in ("true", "yes", "1", "on") else []
        else:
            given += [f"{dashes}{known}", value]
    return given


def _output(source: Source, given: list[str]) -> list[str]:
    """The argument for the output folder, if the script has one and the user has not set it."""
    plain = {word.lstrip("-").partition("=")[0].replace("-", "_") for word in given if word.startswith("--")}
    for name in _OUTPUT_NAMES:
        if name.replace("-", "_") in plain:
            return []
        if name in source.options:
            return [f"--{name}", OUT]
        if source.configurator and name in source.assigned:
            return [f"--{name}={OUT}"]
        if name == "output_dir" and source.transformers:
            return ["--output_dir", OUT]
    return []


def _named(names: list[str], wanted: str) -> tuple[str, str]:
    wanted = wanted.strip().removeprefix("./")
    found = [n for n in names if n == wanted] or [n for n in names if PurePosixPath(n).name == wanted]
    if len(found) == 1 and found[0].endswith(".py"):
        return found[0], f"{found[0]} is started, as requested."
    if len(found) > 1:
        raise UserError("entry_ambiguous", f"The dataset has several files called {wanted}: {some(found, 6)}.", "Write the whole path into script.")
    if found:
        raise UserError("no_script", f"{found[0]} is not a Python file.", "Name a file that ends with .py in script.")
    raise UserError("no_script", f"The dataset has no file {wanted}.", "Name one of its Python files in script.", _files(names))


def _files(names: list[str]) -> str:
    scripts = [n for n in names if n.endswith(".py")]
    return f"Python files: {some(scripts, 8)}." if scripts else f"Files: {some(names, 8)}."


def _modules(path: str) -> set[str]:
    """The names by which other files import the file ``path``."""
    parts = PurePosixPath(path).with_suffix("").parts
    return {".".join(parts), parts[-1]}


def _has_main(tree: ast.Module) -> bool:
    return any(
        isinstance(s, ast.If)
        and any(isinstance(n, ast.Name) and n.id == "__name__" for n in ast.walk(s.test))
        and any(isinstance(n, ast.Constant) and n.value == "__main__" for n in ast.walk(s.test))
        for s in tree.body
    )


def _option(call: ast.Call) -> dict[str, str]:
    """The command line options that ``call`` defines: add_argument of argparse, option of click."""
    name = call.func.attr if isinstance(call.func, ast.Attribute) else ""
    if name not in ("add_argument", "option"):
        return {}
    action = next((k.value.value for k in call.keywords if k.arg == "action" and isinstance(k.value, ast.Constant)), "")
    flags = [a.value for a in call.args if isinstance(a, ast.Constant) and isinstance(a.value, str) and a.value.startswith("-")]
    return {flag.lstrip("-"): str(action) for flag in flags}


def _runs_a_file(call: ast.Call) -> bool:
    """Whether ``call`` is like exec(open("configurator.py").read())."""
    if not (isinstance(call.func, ast.Name) and call.func.id == "exec" and call.args):
        return False
    return any(isinstance(n, ast.Constant) and isinstance(n.value, str) and "configurat" in n.value for n in ast.walk(call.args[0]))
