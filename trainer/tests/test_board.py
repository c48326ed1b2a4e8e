"""TensorBoard with curves that are sent to it, where the package is installed."""

import http.client
import json
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("tensorboard", reason="this Python environment lacks the package tensorboard")

from trainer.board.curves import Boards, Unreadable

TOKEN = "a token"
BOARD = {"ft-1": {"loss": [[1, 1000.5, 0.5], [2, 1001.5, 0.25]], "lr": [[1, 1000.5, 1e-3]]}, "ft-2": {}}


@pytest.fixture(scope="module")
def port():
    root = str(Path(__file__).parents[2])
    command = [sys.executable, "-m", "trainer", "board", "--with-parent"]
    with subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd=root,
        env={"PYTHONPATH": ":".join([root, *sys.path]), "BOARD_TOKEN": TOKEN},
    ) as process:
        yield json.loads(process.stdout.readline())["port"]
        process.stdin.close()
        assert process.wait(300) == 0


def asked(port: int, method: str, path: str, document=None, token: str = TOKEN) -> tuple[int, bytes]:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    connection.request(method, path, None if document is None else json.dumps(document), {"Authorization": f"Bearer {token}"})
    reply = connection.getresponse()
    return reply.status, reply.read()


def test_the_pages_show_what_was_sent(port):
    assert asked(port, "PUT", "/boards/a-1", BOARD)[0] == 200
    status, page = asked(port, "GET", "/experiment/a-1/")
    assert status == 200 and b"<title>TensorBoard</title>" in page and b"url(/" not in page
    assert json.loads(asked(port, "GET", "/experiment/a-1/data/runs")[1]) == ["ft-1", "ft-2"]
    assert json.loads(asked(port, "GET", "/experiment/a-1/data/plugin/timeseries/tags")[1])["scalars"]["runTagInfo"] == {"ft-1": ["loss", "lr"]}
    values = asked(port, "GET", "/experiment/a-1/data/plugin/scalars/scalars?run=ft-1&tag=loss")[1]
    assert json.loads(values) == [[1000.5, 1, 0.5], [1001.5, 2, 0.25]]
    listed = json.loads(asked(port, "GET", "/experiment/a-1/data/plugins_listing")[1])
    assert {name for name, plugin in listed.items() if plugin["enabled"]} == {"scalars", "timeseries"}
    assert json.loads(asked(port, "GET", "/experiment/a-1/data/environment")[1])["data_location"] == ""


@pytest.mark.parametrize(
    ("method", "path", "token", "status"),
    [
        ("GET", "/health", "", 200),
        ("GET", "/experiment/a-1/", "another", 401),
        ("PUT", "/boards/a-1", "another", 401),
        ("GET", "/experiment/unknown/data/runs", TOKEN, 404),
        ("POST", "/boards/a-1", TOKEN, 400),
        ("PUT", "/boards/..", TOKEN, 404),
    ],
)
def test_what_is_refused(port, method, path, token, status):
    assert asked(port, method, path, {} if method != "GET" else None, token)[0] == status


@pytest.mark.parametrize(
    "document",
    [
        [],
        {"a": []},
        {"a": {"loss": []}},
        {"a": {"loss": [[1, 2]]}},
        {"a": {"loss": [[1, 2, float("nan")]]}},
        {"a": {"loss": [["x", 2, 3]]}},
        {"a": {"loss": [7]}},
    ],
)
def test_a_document_that_is_no_board(document):
    with pytest.raises(Unreadable):
        Boards().put("a", document)


def test_the_board_that_nobody_looks_at_leaves():
    boards = Boards()
    for i in range(17):
        boards.put(f"b{i}", BOARD)
        boards.get("b0")
    assert boards.get("b0") and boards.get("b1") is None and boards.get("b16")
