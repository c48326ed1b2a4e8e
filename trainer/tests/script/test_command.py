"""Which file is started, and how."""

from types import SimpleNamespace

import pytest

from trainer.errors import UserError
from trainer.script import command
from trainer.script.command import Nodes

MAIN = 'if __name__ == "__main__":\n    pass\n'
ARGPARSE = (
    "import argparse\np = argparse.ArgumentParser()\np.add_argument('--output_dir', required=True)\np.add_argument('-e', '--epochs', type=int)\n"
)
CONFIGURATOR = "out_dir = 'out'\nlr = 0.1\nexec(open('configurator.py').read())\n"
HUGGING_FACE = "from transformers import HfArgumentParser, TrainingArguments\nparser = HfArgumentParser((TrainingArguments,))\n"


def settings(**given):
    return SimpleNamespace(**{"arguments": "", "resume_arguments": "", "hyperparameters": "", **given})


@pytest.mark.parametrize(
    ("files", "wanted", "entry"),
    [
        pytest.param({"train.py": "", "model.py": ""}, "", "train.py", id="train.py is started by its name"),
        pytest.param({"code.py": ""}, "", "code.py", id="the only Python file is started"),
        pytest.param({"mnist/main.py": "", "mnist/net.py": ""}, "", "mnist/main.py", id="a folder may hold everything"),
        pytest.param({"run.py": "", "old/train.py": ""}, "", "run.py", id="the upper folder counts first"),
        pytest.param({"a.py": MAIN, "b.py": "x = 1"}, "", "a.py", id="the only file with a main block"),
        pytest.param({"a.py": MAIN + "import b", "b.py": MAIN}, "", "a.py", id="a file that is imported is not started"),
        pytest.param({"train.py": "from main import run", "main.py": MAIN, "x.py": ""}, "x.py", "x.py", id="the form decides"),
        pytest.param({"a/x.py": "", "b.py": ""}, "x.py", "a/x.py", id="a name without its folder is enough"),
        pytest.param({"train.py": MAIN + "import main", "main.py": MAIN}, "", "train.py", id="of two usual names the one that is not imported"),
    ],
)
def test_the_entry(files, wanted, entry):
    found, why = command.entry(files, files, wanted)
    assert found == entry
    assert entry in why


@pytest.mark.parametrize(
    ("files", "wanted", "code", "says"),
    [
        pytest.param(["train.csv"], "", "no_script", "Add a script", id="no Python file"),
        pytest.param(["train.ipynb"], "", "no_script", "Save the notebook as a Python file", id="only a notebook"),
        pytest.param(["a.py", "b.py"], "", "entry_ambiguous", "a.py and b.py", id="two files and no hint"),
        pytest.param(["train.py", "main.py"], "", "entry_ambiguous", "main.py and train.py", id="two usual names"),
        pytest.param(["a/x.py", "b/x.py"], "x.py", "entry_ambiguous", "whole path", id="two files with the wanted name"),
        pytest.param(["train.py"], "tarin.py", "no_script", "train.py", id="a name that is not there"),
        pytest.param(["train.py", "run.sh"], "run.sh", "no_script", "not a Python file", id="another kind of file"),
    ],
)
def test_an_entry_that_is_not_clear_is_refused(files, wanted, code, says):
    with pytest.raises(UserError) as caught:
        command.entry({f: "" for f in files if f.endswith(".py")}, files, wanted)
    assert caught.value.code == code
    assert says in str(caught.value)


@pytest.mark.parametrize(
    ("text", "given", "arguments"),
    [
        pytest.param("", {"arguments": "--name 'two words' -x"}, ["--name", "two words", "-x"], id="quotes as in a shell"),
        pytest.param("", {"arguments": "a; rm -rf $HOME"}, ["a;", "rm", "-rf", "$HOME"], id="no shell reads them"),
        pytest.param("", {"arguments": "{data}/x {out}"}, ["/home/user/run/data/x", "/home/user/run/out"], id="folders"),
        pytest.param(ARGPARSE, {}, ["--output_dir", "/home/user/run/out"], id="the output folder, where the script has the argument"),
        pytest.param(ARGPARSE, {"arguments": "--output-dir=x"}, ["--output-dir=x"], id="not if the user has set it"),
        pytest.param(HUGGING_FACE, {}, ["--output_dir", "/home/user/run/out"], id="TrainingArguments have it"),
        pytest.param(CONFIGURATOR, {"hyperparameters": "lr: 0.5"}, ["--lr=0.5", "--out_dir=/home/user/run/out"], id="key=value"),
        pytest.param("", {"hyperparameters": "lr: 0.5\n# no\nsize = 'x y'\n"}, ["--lr", "0.5", "--size", "x y"], id="hyperparameters"),
        pytest.param("p.add_argument('--learning-rate')", {"hyperparameters": "learning_rate: 1"}, ["--learning-rate", "1"], id="dashes"),
        pytest.param("p.add_argument('--fp16', action='store_true')", {"hyperparameters": "fp16: true"}, ["--fp16"], id="a switch that is on"),
        pytest.param("p.add_argument('--fp16', action='store_true')", {"hyperparameters": "fp16: no"}, [], id="a switch that is off"),
        pytest.param("p.add_argument('-e')", {"hyperparameters": "e: 3"}, ["-e", "3"], id="one letter has one dash"),
        pytest.param("def broken(:", {"arguments": "-x"}, ["-x"], id="a file with a syntax error has no options"),
        pytest.param("", {"resume_arguments": "--resume"}, [], id="the first start does not resume"),
    ],
)
def test_the_arguments(text, given, arguments):
    assert command.arguments(command.read(text), settings(**given))[0] == arguments


def test_a_later_start_resumes_from_its_checkpoint():
    given, decided = command.arguments(command.Source(), settings(resume_arguments="--from {checkpoint}"), "out/ckpt.pt")
    assert given == ["--from", "out/ckpt.pt"]
    assert "out/ckpt.pt" in decided[-1].why


@pytest.mark.parametrize("given", [{"arguments": "'open"}, {"hyperparameters": "no setting"}, {"resume_arguments": '"'}])
def test_text_that_cannot_be_read_is_refused(given):
    with pytest.raises(UserError, match=r"Write|Close"):
        command.arguments(command.Source(), settings(**given), "x")


def test_several_processes_get_torchrun():
    assert command.launcher("auto", Nodes())[0] == "python"
    assert command.launcher("auto", Nodes(processes=2))[0] == "torchrun"
    assert command.launcher("torchrun", Nodes())[0] == "torchrun"
    with pytest.raises(UserError, match="starts one process"):
        command.launcher("python", Nodes(processes=2))


def test_the_rendezvous_of_several_nodes():
    line = command.line("py", "torchrun", "train.py", ["-x"], Nodes(4, 2, 1, "10.0.0.7", 4711))
    text = " ".join(line)
    assert "--nnodes 2 --nproc-per-node 4 --node-rank 1 --master-addr 10.0.0.7 --master-port 4711 -- train.py -x" in text
    assert command.line("py", "python", "train.py", ["-x"], Nodes()) == ["py", "-u", "train.py", "-x"]
