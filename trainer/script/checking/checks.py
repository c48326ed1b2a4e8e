"""The static check of a script before anything of it runs: syntax, Bandit, and keys in the code.

The check is advice: code can hide from it what it does. What protects others is the sandbox. The code is read by processes of their own.
"""

import json
import re
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from trainer.errors import UserError, one_line, some
from trainer.script.checking import child, parsing

OFF, REPORT, BLOCK_HIGH = "off", "report", "block_high"
SYNTAX, KEY, UNFINISHED, USUAL = "syntax", "key", "unfinished", "usual"  # ids of findings that are not of Bandit
FINDINGS = 200
_PARSE_SECONDS, _BANDIT_SECONDS = 30.0, 60.0
_CODE_BYTES = 8 << 20  # of all files for Bandit; the largest files beyond are left out
_LEVELS = ("low", "medium", "high")
# What every training script has, and in which words it is counted.
_USUAL = {
    "B101": "assert statements",
    "B311": "random numbers that are not for cryptography",
    "B301": "loads of pickled files",
    "B403": "imports of pickle",
    "B614": "loads of PyTorch files",
    "B615": "downloads of a model without a fixed version",
}
_KEYS = {
    "an AWS access key": r"\b(?:AKIA|ASIA)[0-9A-Z]{16}\b",
    "an AWS secret key": r"(?i)aws_?secret_?(?:access_?)?key[\"']?\s{0,4}[=:]\s{0,4}[\"'][0-9a-z/+]{40}[\"']",
    "a token of GitHub": r"\b(?:gh[pousr]_[0-9A-Za-z]{36}|github_pat_[0-9A-Za-z_]{60,90})\b",
    "a token of Hugging Face": r"\bhf_[0-9A-Za-z]{30,40}\b",
    "a key of OpenAI": r"\bsk-(?:proj-|ant-)?[0-9A-Za-z_-]{32,200}\b",
    "a token of Slack": r"\bxox[abeoprs]-[0-9A-Za-z-]{10,100}",
    "a key of Google": r"\bAIza[0-9A-Za-z_-]{35}\b",
    "a key of Weights & Biases": r"(?i)(?:wandb[\w.]{0,20}(?:key|login)|WANDB_API_KEY)[^\n]{0,20}[\"'][0-9a-f]{40}[\"']",
    "a private key": r"-----BEGIN (?:[A-Z]{2,10} )?PRIVATE KEY-----",
}  # fmt: skip
_KEY_PATTERNS = [(what, re.compile(pattern)) for what, pattern in _KEYS.items()]


@dataclass(frozen=True)
class Finding:
    """One thing that was found. ``severity`` and ``confidence`` are low, medium or high. ``line`` is 0 where it is about no line."""

    id: str
    file: str
    line: int
    severity: str
    confidence: str
    text: str


@dataclass(frozen=True)
class Parsed:
    """What the compiler says about the Python files: errors (line and text) by path, and imports (module, line, certain) by path. None if it
    did not finish."""

    errors: Mapping[str, tuple[int, str]]
    imports: Mapping[str, list[tuple[str, int, bool]]]


def parse(code: Mapping[str, str]) -> Parsed | None:
    """Compile all files of ``code``, which has the texts by their paths; None if the compiler did not finish."""
    try:
        answer = json.loads(child.run([parsing.__file__], json.dumps(code).encode(), _PARSE_SECONDS))
    except (child.Failed, ValueError):
        return None
    errors = {path: (line, text) for path, (line, text) in answer["errors"].items()}
    return Parsed(errors, {path: [(m, line, certain) for m, line, certain in found] for path, found in answer["imports"].items()})


def check(code: Mapping[str, str], entry: str, policy: str) -> tuple[list[Finding], Parsed | None]:
    """Check the Python files ``code`` (texts by their paths) of the script ``entry``.

    ``policy`` is off (syntax only), report, or block_high, which refuses a finding that is severe and sure, and what could not be checked.
    Raises UserError syntax_error if a file that the script needs cannot be compiled, and check_blocked.
    """
    parsed = parse(code)
    findings: list[Finding] = []
    if parsed is None:
        findings.append(Finding(UNFINISHED, "", 0, "medium", "low", "The syntax of the code could not be checked within the limits."))
    else:
        findings += _syntax(parsed, needed(parsed, code, entry))
    if policy == OFF:
        return findings, parsed
    bandit = list(_bandit({path: text for path, text in code.items() if parsed is None or path not in parsed.errors}))
    if policy == BLOCK_HIGH and (blocked := [f for f in bandit if (f.severity, f.confidence) == ("high", "high")]):
        places = some([f"{f.file}, line {f.line}: {f.text}" for f in blocked], 3)
        raise UserError("check_blocked", f"The check of the code found what this service does not run: {places}", "Remove it, and submit again.")
    if policy == BLOCK_HIGH and any(f.id == UNFINISHED for f in (*findings, *bandit)):
        what = "The check of the code did not finish, and this service runs nothing that is not checked."
        raise UserError("check_blocked", what, "Use fewer or smaller files of code, or ask the administrator.")
    findings += [*_keys(code), *_folded(bandit)]
    findings.sort(key=lambda f: (-_LEVELS.index(f.severity), -_LEVELS.index(f.confidence), f.file, f.line))
    return findings[:FINDINGS], parsed


def needed(parsed: Parsed, code: Mapping[str, str], entry: str) -> set[str]:
    """The files that cannot be left out: ``entry``, and what it imports for certain, directly or through others."""
    modules: dict[str, str] = {}
    for path in sorted(code, key=len, reverse=True):  # of two modules with one name the one nearer to the top counts
        parts = path.removesuffix(".py").split("/")
        parts = parts[:-1] if parts[-1] == "__init__" else parts
        modules |= {".".join(parts[i:]): path for i in range(len(parts))}
    found, waiting = {entry}, [entry]
    while waiting:
        for module, _, certain in parsed.imports.get(waiting.pop(), ()):
            if certain and (path := modules.get(module)) is not None and path not in found:
                found.add(path)
                waiting.append(path)
    return found


def _syntax(parsed: Parsed, needed: set[str]) -> Iterator[Finding]:
    for path, (line, text) in sorted(parsed.errors.items()):
        place = f"{path}, line {line}" if line else path
        if path in needed:
            raise UserError("syntax_error", f"{place}: the code cannot be compiled.", "Correct the code and submit again.", f"{text.rstrip('.')}.")
        yield Finding(SYNTAX, path, line, "low", "high", one_line(f"The code cannot be compiled: {text}", 300))


def _bandit(code: Mapping[str, str]) -> Iterator[Finding]:
    """What Bandit finds, with the markers that would silence it ignored. One finding more if it does not finish."""
    names: dict[str, str] = {}
    size = 0
    with tempfile.TemporaryDirectory(prefix="check-") as folder:
        for number, (path, text) in enumerate(sorted(code.items(), key=lambda one: len(one[1]))):
            data = text.encode("utf-8", "replace")
            if (size := size + len(data)) <= _CODE_BYTES:
                names[f"{number}.py"] = path
                (Path(folder) / f"{number}.py").write_bytes(data)
        try:
            arguments = ["-m", "bandit", "-q", "-f", "json", "-n", "1", "--ignore-nosec", "-r", folder]
            report = json.loads(child.run(arguments, b"", _BANDIT_SECONDS)) if names else {}
        except (child.Failed, ValueError):
            yield Finding(UNFINISHED, "", 0, "medium", "low", "Bandit did not finish within the limits, so its findings are missing.")
            return
    for found in report.get("results", ()):
        yield Finding(
            str(found["test_id"]),
            names.get(Path(found["filename"]).name, ""),
            int(found["line_number"]),
            _level(found["issue_severity"]),
            _level(found["issue_confidence"]),
            one_line(str(found["issue_text"]), 300),
        )
    left = len(report.get("errors", ())) + len(code) - len(names)
    if left:
        yield Finding(UNFINISHED, "", 0, "medium", "low", f"Bandit could not read {left} of {len(code)} files.")


def _level(word: str) -> str:
    return word.lower() if word.lower() in _LEVELS else "low"


def _folded(findings: list[Finding]) -> list[Finding]:
    """``findings`` with those that every training script has in one."""
    usual = Counter(f.id for f in findings if f.id in _USUAL)
    rest = [f for f in findings if f.id not in _USUAL]
    if not usual:
        return rest
    counted = some([f"{_USUAL[id]} ({number})" for id, number in sorted(usual.items())])
    return [*rest, Finding(USUAL, "", 0, "low", "high", f"As in most training scripts: {counted}.")]


def _keys(code: Mapping[str, str]) -> Iterator[Finding]:
    for path, text in sorted(code.items()):
        for number, line in enumerate(text.splitlines(), 1):
            for what, pattern in _KEY_PATTERNS:
                if pattern.search(line[:2000]):
                    said = f"This looks like {what}. Everybody who can read the dataset can read it."
                    yield Finding(KEY, path, number, "high", "medium", said)
