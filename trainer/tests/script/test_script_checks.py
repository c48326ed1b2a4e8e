"""The check of the code before it runs: syntax, Bandit, keys, and imports that nobody has."""

import pytest

from trainer.errors import UserError
from trainer.script.checking import checks, imports, review
from trainer.script.checking.package_names import package_of

TOKEN = "hf_" + "aB3" * 11  # written so that no scanner takes this file for one with a token
KEYS = {
    "Hugging Face": (f"token = '{TOKEN}'", "a token of Hugging Face"),
    "AWS": ("id = '%s'" % ("AKIA" + "A1" * 8), "an AWS access key"),
    "AWS, the secret": ("aws_secret_access_key = '%s'" % ("a/" * 20), "an AWS secret key"),
    "GitHub": ("x = '%s'" % ("ghp_" + "a1" * 18), "a token of GitHub"),
    "OpenAI": ("x = '%s'" % ("sk-" + "a1" * 20), "a key of OpenAI"),
    "Slack": ("x = '%s'" % ("xoxb-" + "1" * 12), "a token of Slack"),
    "Google": ("x = '%s'" % ("AIza" + "a" * 35), "a key of Google"),
    "Weights & Biases": ("wandb.login(key='%s')" % ("a1" * 20), "a key of Weights & Biases"),
    "a private key": ("-----BEGIN RSA PRIVATE " + "KEY-----", "a private key"),
    "a hash is no key": ("x = '%s'" % ("a1" * 20), None),
    "a name is no key": ("sk-learn and hf_hub_download", None),
}


@pytest.mark.parametrize(("line", "what"), KEYS.values(), ids=KEYS)
def test_keys_in_the_code_are_found_and_not_repeated(line, what):
    found = list(checks._keys({"train.py": f"import os\n{line}\n"}))
    assert [(f.file, f.line, what in f.text) for f in found] == ([("train.py", 2, True)] if what else [])
    assert not any(TOKEN in f.text for f in found)


SYNTAX = {
    "the script": ({"train.py": "x = (\n1"}, "train.py, line 1: the code cannot be compiled. '(' was never closed."),
    "what it imports": ({"train.py": "import lib.b", "lib/b.py": "\n\ndef f(:\n"}, "lib/b.py, line 3: the code cannot be compiled."),
    "more brackets than the compiler takes": ({"train.py": "(" * 100_000}, "train.py, line 1: the code cannot be compiled."),
    "deeper than the compiler goes": ({"train.py": "-" * 500_000 + "1"}, "train.py: the code cannot be compiled."),
    "a zero byte": ({"train.py": "a = 1\0"}, "train.py: the code cannot be compiled."),
}


@pytest.mark.parametrize(("code", "says"), SYNTAX.values(), ids=SYNTAX)
def test_code_that_cannot_be_compiled_is_refused_with_its_place(code, says):
    with pytest.raises(UserError) as refused:
        checks.check(code, "train.py", checks.OFF)
    assert refused.value.code == "syntax_error"
    assert str(refused.value).startswith(says)


def test_a_file_that_the_script_does_not_need_may_be_of_python_2():
    found, _ = checks.check({"train.py": "try:\n    import old\nexcept Exception: pass", "old.py": "print 1"}, "train.py", checks.OFF)
    assert [(f.id, f.file, f.line) for f in found] == [("syntax", "old.py", 1)]


HOSTILE = "import os, pickle\nassert pickle\nos.chmod('x', 0o777)  # nosec\nexec('1')\n"


def test_bandit_reports_what_is_unusual_and_counts_the_rest():
    found, _ = checks.check({"lib/train.py": HOSTILE}, "lib/train.py", checks.REPORT)
    assert [(f.id, f.file, f.line, f.severity, f.confidence) for f in found] == [
        ("B103", "lib/train.py", 3, "high", "high"),
        ("B102", "lib/train.py", 4, "medium", "high"),
        ("usual", "", 0, "low", "high"),
    ]
    assert found[2].text == "As in most training scripts: assert statements (1) and imports of pickle (1)."


def test_an_administrator_can_refuse_what_is_severe():
    with pytest.raises(UserError, match=r"lib/train.py, line 3: Chmod"):
        checks.check({"lib/train.py": HOSTILE}, "lib/train.py", checks.BLOCK_HIGH)


def test_a_check_that_does_not_finish_is_a_finding(monkeypatch):
    monkeypatch.setattr(checks, "_BANDIT_SECONDS", 0.001)
    monkeypatch.setattr(checks, "_PARSE_SECONDS", 0.001)
    found, parsed = checks.check({"train.py": HOSTILE}, "train.py", checks.REPORT)
    assert parsed is None
    assert [f.id for f in found] == ["unfinished", "unfinished"]
    with pytest.raises(UserError, match="did not finish"):
        checks.check({"train.py": HOSTILE}, "train.py", checks.BLOCK_HIGH)


@pytest.mark.parametrize(
    ("allowed", "wanted", "policy"),
    [("report", "auto", "report"), ("off", "block_high", "block_high"), ("block_high", "off", "block_high"), ("off", "auto", "off")],
)
def test_the_stricter_policy_counts(allowed, wanted, policy):
    assert review.policy(allowed, wanted) == policy


IMPORTS = {
    "a package under another name": ("import cv9, os, json\nfrom numpy import array", [("cv9", True)]),
    "one that is tried": ("try:\n    import nope\nexcept ImportError:\n    nope = None", [("nope", False)]),
    "one in a function": ("def f():\n    import nope", [("nope", False)]),
    "a file of the dataset, in whichever folder": ("import helpers, config.own", []),
    "a part of the package it belongs to": ("from . import nope\nfrom .x import y", []),
    "what is ours is not there for a script": ("import trainer.run", [("trainer", True)]),
}


@pytest.mark.parametrize(("text", "missing"), IMPORTS.values(), ids=IMPORTS)
def test_imports_that_nobody_has(text, missing, tmp_path):
    code = {"train.py": text}
    found = imports.missing(checks.parse(code), code, ["train.py", "src/helpers.py", "config/a.yaml"], "train.py", tmp_path)
    assert [(m.module, m.certain) for m in found] == missing


def test_what_the_requirements_file_added_is_there(tmp_path):
    (tmp_path / "nope").mkdir()
    (tmp_path / "nope" / "__init__.py").touch()
    code = {"train.py": "import nope"}
    assert imports.missing(checks.parse(code), code, code, "train.py", tmp_path) == []


@pytest.mark.parametrize(
    ("module", "package"),
    [("cv2", "opencv-python-headless"), ("sklearn.svm", "scikit-learn"), ("my_lib.x", "my-lib")],
)
def test_the_package_to_write_into_requirements(module, package):
    assert package_of(module) == package
