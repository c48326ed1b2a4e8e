"""The words of a start: hyperparameters, the argument for outputs, launchers, and each refusal as a whole sentence."""

from types import SimpleNamespace

import pytest
from hypothesis import given, settings as examples, strategies as st

from trainer.errors import UserError
from trainer.script import command
from trainer.script.command import Nodes, Source


def settings(**given_settings):
    return SimpleNamespace(**{"arguments": "", "resume_arguments": "", "hyperparameters": "", **given_settings})


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("lr: 0.1", {"lr": "0.1"}),
        ("lr = 0.1\nepochs=3", {"lr": "0.1", "epochs": "3"}),
        ("--lr: 0.1", {"lr": "0.1"}),
        ("# a comment\n\n  lr: 1  # why", {"lr": "1"}),
        ("name: 'a b'", {"name": "a b"}),
        ('name: "a b"', {"name": "a b"}),
        ("color: #fff", {"color": ""}),  # " #" begins a comment
        ("lr:", {"lr": ""}),
        ("model.layers: 2", {"model.layers": "2"}),
        ("a-b: 2", {"a-b": "2"}),
        ("lr: 1\nlr: 2", {"lr": "2"}),
        ("url: http://x=y", {"url": "http://x=y"}),
        ("", {}),
    ],
)
def test_hyperparameters_are_lines(text, found):
    assert command.hyperparameters(settings(hyperparameters=text)) == found


@pytest.mark.parametrize("line", ["lr", "1x: 5", ": 5", "- lr: 1", "lr 0.1", "é: 1"])
def test_a_line_that_is_no_setting_is_refused_with_its_number(line):
    with pytest.raises(UserError) as refused:
        command.hyperparameters(settings(hyperparameters=f"a: 1\n{line}"))
    assert str(refused.value) == f"Line 2 of hyperparameters is not a setting: {line}. Write one setting in each line, for example lr: 0.1."


@pytest.mark.parametrize(
    ("source", "text", "arguments"),
    [
        pytest.param(Source(), "lr: 1", ["--lr", "1"], id="a name that the script does not define"),
        pytest.param(Source(options={"e": ""}), "e: 3", ["-e", "3"], id="one letter"),
        pytest.param(Source(options={"batch-size": ""}), "batch_size: 3", ["--batch-size", "3"], id="dashes for underscores"),
        pytest.param(Source(options={"amp": "store_true"}), "amp: yes", ["--amp"], id="a switch that is on"),
        pytest.param(Source(options={"amp": "store_true"}), "amp: True", ["--amp"], id="a switch that is on in Python"),
        pytest.param(Source(options={"amp": "store_false"}), "amp: 1", ["--amp"], id="a switch that turns off"),
        pytest.param(Source(options={"amp": "store_true"}), "amp: no", [], id="a switch that is off"),
        pytest.param(Source(configurator=True), "lr: 1", ["--lr=1"], id="a configurator"),
    ],
)
def test_hyperparameters_become_arguments(source, text, arguments):
    assert command.arguments(source, settings(hyperparameters=text))[0] == arguments


@pytest.mark.parametrize(
    ("source", "given_arguments", "more"),
    [
        pytest.param(Source(options={"output_dir": ""}), "", ["--output_dir", command.OUT], id="the script has it"),
        pytest.param(Source(options={"out-dir": ""}), "", ["--out-dir", command.OUT], id="with a dash"),
        pytest.param(Source(options={"output_dir": ""}), "--output_dir x", [], id="the user has set it"),
        pytest.param(Source(options={"output-dir": ""}), "--output_dir=x", [], id="the user has set it with another sign"),
        pytest.param(Source(configurator=True, assigned=frozenset({"out_dir"})), "", [f"--out_dir={command.OUT}"], id="a configurator"),
        pytest.param(Source(configurator=True), "", [], id="a configurator without such a name"),
        pytest.param(Source(transformers=True), "", ["--output_dir", command.OUT], id="TrainingArguments"),
        pytest.param(Source(options={"save_dir": ""}), "", ["--save_dir", command.OUT], id="another name"),
        pytest.param(Source(options={"output": ""}), "", [], id="a name that may mean anything"),
        pytest.param(Source(), "", [], id="no such argument"),
    ],
)
def test_the_folder_for_outputs(source, given_arguments, more):
    found, decided = command.arguments(source, settings(arguments=given_arguments))
    assert found == [*given_arguments.split(), *more]
    name = more[0].partition("=")[0] if more else ""
    assert [d.why for d in decided] == ([f"{name} is set to the folder out: the script has this argument."] if more else [])


def test_places_in_arguments_become_paths_and_resuming_adds_its_own():
    wanted = settings(arguments="--d {data} --o {out}/x --c {checkpoints} --r '{checkpoint}'", resume_arguments="--resume {checkpoint}")
    first, _ = command.arguments(Source(), wanted)
    assert first == ["--d", command.DATA, "--o", f"{command.OUT}/x", "--c", command.CHECKPOINTS, "--r", ""]
    later, decided = command.arguments(Source(), wanted, "/c/5")
    assert later[-2:] == ["--resume", "/c/5"] and later[7] == "/c/5"
    assert decided[0].why == "The script starts again and gets --resume /c/5 to go on from /c/5."


@pytest.mark.parametrize(
    ("wanted", "nodes", "name", "why"),
    [
        ("auto", Nodes(), "python", "The script is started as one process."),
        ("auto", Nodes(2), "torchrun", "The script is started by torchrun: it has 2 processes."),
        ("auto", Nodes(1, 3), "torchrun", "The script is started by torchrun: it has 3 processes."),
        ("python", Nodes(), "python", "The script is started by python, as requested."),
        ("torchrun", Nodes(), "torchrun", "The script is started by torchrun, as requested."),
    ],
)
def test_the_launcher(wanted, nodes, name, why):
    assert command.launcher(wanted, nodes) == (name, why)


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        pytest.param(
            lambda: command.launcher("python", Nodes(2, 2)),
            "The launcher python starts one process, but 4 are set. Set launcher to torchrun or auto, or processes to 1.", id="a launcher",
        ),
        pytest.param(
            lambda: command.arguments(Source(), settings(arguments="'open")),
            "The text in arguments cannot be split into arguments: No closing quotation. Close every quotation mark.", id="arguments",
        ),
        pytest.param(
            lambda: command.arguments(Source(), settings(resume_arguments='"'), "c"),
            "The text in resume_arguments cannot be split into arguments: No closing quotation. Close every quotation mark.", id="more arguments",
        ),
        pytest.param(
            lambda: command.entry({}, [], ""),
            "The dataset has no Python script. Files: none. Add a script called train.py, or name another one in script.", id="nothing",
        ),
        pytest.param(
            lambda: command.entry({}, ["a.ipynb", "b.ipynb"], ""),
            "The dataset has a notebook (a.ipynb and b.ipynb) and no Python script. "
            "Save the notebook as a Python file (.py), add it to the dataset and submit again.", id="notebooks",
        ),
        pytest.param(
            lambda: command.entry({"a.py": "", "b.py": ""}, ["a.py", "b.py"], "c.py"),
            "The dataset has no file c.py. Python files: a.py and b.py. Name one of its Python files in script.", id="a missing name",
        ),
        pytest.param(
            lambda: command.entry({}, ["data.csv"], "c.py"),
            "The dataset has no file c.py. Files: data.csv. Name one of its Python files in script.", id="a missing name among data",
        ),
        pytest.param(
            lambda: command.entry({}, ["run.sh"], "run.sh"), "run.sh is not a Python file. Name a file that ends with .py in script.", id="a shell",
        ),
    ],
)  # fmt: skip
def test_a_refusal_is_one_sentence_with_a_remedy(call, sentence):
    with pytest.raises(UserError) as refused:
        call()
    assert str(refused.value) == sentence


@pytest.mark.parametrize(
    ("text", "field", "value"),
    [
        ("if __name__ == '__main__':\n  pass", "is_main", True),
        ("if '__main__' == __name__:\n  pass", "is_main", True),
        ("def f():\n  if __name__ == '__main__':\n    pass", "is_main", False),
        ("import a.b\nfrom c.d import e\nfrom . import f", "imports", frozenset({"a", "a.b", "c", "c.d", "c.d.e", "", "f"})),
        ("p.add_argument('-x', '--long-name', action='store_true')", "options", {"x": "store_true", "long-name": "store_true"}),
        ("@click.option('--lr')\ndef f(): pass", "options", {"lr": ""}),
        ("p.add_argument('data')", "options", {}),
        ("add_argument('--x')", "options", {}),
        ("a = b = 1\nc: int = 2\nd.e = 3", "assigned", frozenset({"a", "b"})),
        ("exec(open('configurator.py').read())", "configurator", True),
        ("exec('x')", "configurator", False),
        ("HfArgumentParser((Seq2SeqTrainingArguments,))", "transformers", True),
        ("HfArgumentParser(())", "transformers", False),
        ("def f(:", "is_main", False),
        ("\0", "options", {}),
        ("(" * 3000, "options", {}),
    ],
)
def test_what_a_script_tells_about_itself(text, field, value):
    assert getattr(command.read(text), field) == value


@examples(max_examples=100, deadline=None)
@given(st.text(max_size=80), st.text(max_size=80))
def test_any_text_gives_arguments_or_a_refusal(arguments, hyperparameters):
    try:
        found, _ = command.arguments(Source(), settings(arguments=arguments, hyperparameters=hyperparameters))
    except UserError as e:
        assert e.code == "wrong_setting"
    else:
        assert all(isinstance(word, str) for word in found)
