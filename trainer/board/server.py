"""HTTP: TensorBoard's pages for boards that the service puts here, a bearer token, and the end after a time without requests."""

import functools
import hmac
import json
import logging
import re
import sys
import threading
import time
from argparse import Namespace
from wsgiref.types import StartResponse, WSGIEnvironment

from tensorboard import assets
from tensorboard.backend.application import TensorBoardWSGIApp
from tensorboard.plugins.base_plugin import TBLoader
from tensorboard.plugins.core.core_plugin import CorePlugin
from tensorboard.plugins.metrics.metrics_plugin import MetricsPlugin
from tensorboard.plugins.scalar.scalars_plugin import ScalarsPlugin
from werkzeug.serving import WSGIRequestHandler, make_server

from trainer.board.curves import Boards, Curves, Unreadable

MOST_BYTES = 32 << 20  # of a board
_HEALTH = "/health"
_BOARD = re.compile(r"/boards/([A-Za-z0-9-]{1,100})")
_JSON = [("Content-Type", "application/json"), ("X-Content-Type-Options", "nosniff")]


class _Core(TBLoader):
    """TensorBoard's page, with all its addresses relative to itself: it is shown below a path."""

    def load(self, context):
        core = CorePlugin(context)
        apps = core.get_resource_apps()
        page = apps["/"].args[0].replace(b"url(/font-roboto/", b"url(font-roboto/")
        core.get_resource_apps = lambda: {**apps, "/": functools.partial(core._serve_index, page)}
        return core


class Application:
    """``PUT /boards/NAME`` replaces a board, and below ``/experiment/NAME/`` TensorBoard shows it.

    ``token`` is asked for in every request but those about health; empty asks for none.
    """

    def __init__(self, token: str):
        self._token, self._boards = token, Boards()
        self._busy, self._asked, self._counting = 0, time.monotonic(), threading.Lock()
        flags = Namespace(logdir="", logdir_spec="", path_prefix="", samples_per_plugin={}, window_title="TensorBoard", generic_data="true")
        plugins = [_Core, ScalarsPlugin, MetricsPlugin]  # the others show what is not here
        self._pages = TensorBoardWSGIApp(flags, plugins, Curves(self._boards), assets.get_default_assets_zip_provider())

    def __call__(self, environ: WSGIEnvironment, start: StartResponse):
        path = environ["PATH_INFO"]
        if path == _HEALTH:
            return _said(start, "200 OK", {"ready": True})
        given = environ.get("HTTP_AUTHORIZATION", "").removeprefix("Bearer ")
        if self._token and not hmac.compare_digest(given.encode(), self._token.encode()):
            return _said(start, "401 Unauthorized", {"error": "The token is missing or wrong."})
        with self._counting:
            self._asked = time.monotonic()
        if found := _BOARD.fullmatch(path):
            return self._put(found[1], environ, start)
        return self._pages(environ, start)

    def _put(self, name: str, environ: WSGIEnvironment, start: StartResponse):
        length = environ.get("CONTENT_LENGTH") or ""
        if environ["REQUEST_METHOD"] != "PUT" or not length.isdecimal() or int(length) > MOST_BYTES:
            return _said(start, "400 Bad Request", {"error": f"A board is sent as PUT, with its length, and has at most {MOST_BYTES >> 20} MB."})
        try:
            self._boards.put(name, json.loads(environ["wsgi.input"].read(int(length))))
        except (Unreadable, ValueError, RecursionError) as e:
            return _said(start, "400 Bad Request", {"error": str(e)})
        return _said(start, "200 OK", {})

    def idle(self) -> float:
        """The seconds since the last request."""
        with self._counting:
            return time.monotonic() - self._asked


def _said(start: StartResponse, status: str, document: dict) -> list[bytes]:
    body = json.dumps(document).encode()
    start(status, [*_JSON, ("Content-Length", str(len(body)))])
    return [body]


class _Quiet(WSGIRequestHandler):
    timeout = 30  # seconds that a client may take to send its request

    def log(self, type: str, message: str, *args) -> None:
        """Say nothing: an address names a run."""


def serve(address: tuple[str, int], token: str, sleep: float, with_parent: bool) -> None:
    """Serve until no request has come for ``sleep`` seconds (0: without end), or until the standard input ends, ``with_parent``.

    Prints the port as JSON once requests are answered.
    """
    logging.disable(logging.WARNING)
    application = Application(token)
    server = make_server(*address, application, threaded=True, request_handler=_Quiet)
    server.daemon_threads = True
    threading.Thread(target=_end, args=(server, application, sleep), daemon=True).start()
    if with_parent:
        threading.Thread(target=_end_with_parent, args=(server,), daemon=True).start()
    print(json.dumps({"port": server.server_port}), flush=True)
    server.serve_forever(poll_interval=0.2)


def _end(server, application: Application, sleep: float) -> None:
    while sleep:
        time.sleep(max(0.05, min(sleep - application.idle(), 5)))
        if application.idle() >= sleep:
            server.shutdown()
            return


def _end_with_parent(server) -> None:
    sys.stdin.buffer.read()
    server.shutdown()
