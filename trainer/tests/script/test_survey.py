"""What ``python -m trainer sandbox`` says, and which sandboxes can hold a script with a network."""

import json

from trainer.__main__ import main
from trainer.script.sandbox import kinds


def test_the_sandboxes_of_this_machine_are_named(capsys):
    assert main(["sandbox"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert [one["name"] for one in said] == ["bubblewrap", "gvisor"]
    assert all(one["refused"] is None or one["refused"].endswith(".") for one in said)
    assert main(["sandbox", "none"]) == 0
    assert json.loads(capsys.readouterr().out) == [{"name": "none", "version": "", "refused": None}]


def test_only_bubblewrap_gives_a_network():
    assert [(one.name, one.network) for one in kinds("auto", network=True)] == [("bubblewrap", True)]
    assert [(one.name, one.network) for one in kinds("auto")] == [("bubblewrap", False), ("gvisor", False)]
    assert [one.network for one in kinds("bubblewrap", network=True)] == [True]
