"""HTTP: the routes of the Open Inference Protocol v2, a bearer token, and the end after a time without requests."""

import contextlib
import hmac
import json
import logging
import re
import sys
import threading
import time
import traceback
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.metadata import PackageNotFoundError, version

from trainer.answer.rows import Refused
from trainer.answer.store import Loaded, Registry, Single, Unknown

MOST_BYTES = 16 << 20  # of a request: an image of 10 MB in base64
SECONDS = 30.0  # that a client may take to send its request
MOST_AT_ONCE = 32  # connections
_HEALTH: dict[str, dict] = {"/v2/health/live": {"live": True}, "/v2/health/ready": {"ready": True}}
_MODEL = re.compile(r"/v2/models/([^/]+)(?:/versions/([^/]+))?(?:/(ready|infer))?")


class Server(ThreadingHTTPServer):
    """Serves ``source``. ``token`` is asked for in every request but those about health; empty asks for none."""

    daemon_threads = True
    request_queue_size = 64

    def __init__(self, address: tuple[str, int], source: Registry | Single, loaded: Loaded, token: str):
        super().__init__(address, Handler)
        self.source, self.loaded, self.token = source, loaded, token
        self._busy, self._asked, self._counting = 0, time.monotonic(), threading.Lock()
        self._places = threading.BoundedSemaphore(MOST_AT_ONCE)

    def process_request(self, request, client_address) -> None:
        self._places.acquire()
        super().process_request(request, client_address)

    def shutdown_request(self, request) -> None:
        super().shutdown_request(request)
        self._places.release()

    def handle_error(self, request, client_address) -> None:
        """A client that has gone away is nobody's error."""
        if not isinstance(sys.exception(), OSError):
            traceback.print_exc()

    @contextlib.contextmanager
    def counted(self):
        """While a request is answered, the server is not idle."""
        with self._counting:
            self._busy += 1
        try:
            yield
        finally:
            with self._counting:
                self._busy, self._asked = self._busy - 1, time.monotonic()

    def idle(self) -> float:
        """The seconds since the last request other than a question about health."""
        with self._counting:
            return 0.0 if self._busy else time.monotonic() - self._asked


class Handler(BaseHTTPRequestHandler):
    """One connection."""

    server: Server
    protocol_version = "HTTP/1.1"
    server_version, sys_version = "clowder-ray", ""
    disable_nagle_algorithm = True  # the head and the body of an answer are two writes: without this, each answer takes 40 ms more
    timeout = SECONDS

    def do_GET(self) -> None:
        self._answer(self._get)

    def do_POST(self) -> None:
        self._answer(self._post)

    def log_message(self, format: str, *args) -> None:
        """Logs nothing: an address could name what a user has asked."""

    def _answer(self, route) -> None:
        try:
            status, document = route()
        except Refused as e:
            status, document = e.status, {"error": str(e)}
        except Exception:
            traceback.print_exc()  # of our own code, without the request
            status, document = 500, {"error": "The answer process made a mistake. It is in its log."}
        body = json.dumps(document, ensure_ascii=False, allow_nan=False).encode("utf-8", "replace")
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def _get(self) -> tuple[int, dict]:
        if self.path in _HEALTH:
            return 200, _HEALTH[self.path]
        self._admit()
        with self.server.counted():
            return route(self.server.source, self.server.loaded, "GET", self.path, b"")

    def _post(self) -> tuple[int, dict]:
        content = self._body()
        self._admit()
        with self.server.counted():
            return route(self.server.source, self.server.loaded, "POST", self.path, content)

    def _body(self) -> bytes:
        length = self.headers.get("Content-Length", "")
        if not length.isdecimal():
            self.close_connection = True
            raise Refused("The request has no Content-Length.", 411)
        if int(length) > MOST_BYTES:
            self.close_connection = True
            raise Refused(f"The request is larger than {MOST_BYTES >> 20} MB.", 413)
        return self.rfile.read(int(length))

    def _admit(self) -> None:
        given = self.headers.get("Authorization", "").removeprefix("Bearer ")
        if self.server.token and not hmac.compare_digest(given.encode(), self.server.token.encode()):
            raise Refused("The token is missing or wrong.", 401)


def route(source: Registry | Single, loaded: Loaded, method: str, path: str, content: bytes) -> tuple[int, dict]:
    """The status and the document of an answer. Raises Refused."""
    if path in _HEALTH:
        return 200, _HEALTH[path]
    if path in ("/v2", "/v2/"):
        return 200, {"name": "clowder-ray", "version": _version(), "extensions": [], "models": source.names()}
    if not (parts := _MODEL.fullmatch(path)):
        raise Unknown
    name, number, what = parts[1], parts[2] or "", parts[3] or ""
    if (method == "POST") != (what == "infer"):
        raise Refused("An inference is sent as POST, everything else as GET.", 405)
    if what == "infer":
        return 200, _inferred(source, loaded, name, number, content)
    model = loaded.get(source.place(name, number))
    if what == "ready":
        return 200, {"name": name, "ready": True}
    return 200, {"name": name, "versions": source.versions(name), **model.described()}


def _inferred(source: Registry | Single, loaded: Loaded, name: str, number: str, content: bytes) -> dict:
    try:
        request = json.loads(content)
    except (ValueError, RecursionError) as e:
        raise Refused("The request is not JSON.") from e
    if not isinstance(request, dict):
        raise Refused("The request must be an object with inputs.")
    place = source.place(name, number)
    parameters = request.get("parameters")
    says_why = isinstance(parameters, dict) and parameters.get("why") is True
    found = {"model_name": name, "model_version": place.version, "outputs": loaded.get(place).answer(request.get("inputs"), says_why)}
    return {**found, "id": request["id"]} if isinstance(request.get("id"), str) else found


def _version() -> str:
    try:
        return version("clowder-ray")
    except PackageNotFoundError:
        return "1"


def serve(address: tuple[str, int], source: Registry | Single, loaded: Loaded, token: str, sleep: float, with_parent: bool) -> None:
    """Serve until no request has come for ``sleep`` seconds (0: without end), or until the standard input ends, ``with_parent``.

    Prints the port as JSON once requests are answered.
    """
    logging.disable(logging.INFO)
    server = Server(address, source, loaded, token)
    threading.Thread(target=_end, args=(server, sleep), daemon=True).start()
    if with_parent:
        threading.Thread(target=_end_with_parent, args=(server,), daemon=True).start()
    print(json.dumps({"port": server.server_address[1]}), flush=True)
    with server:
        server.serve_forever(poll_interval=0.2)


def _end(server: Server, sleep: float) -> None:
    while sleep:
        time.sleep(max(0.05, min(sleep - server.idle(), 5)))
        if server.idle() >= sleep:
            server.shutdown()
            return


def _end_with_parent(server: Server) -> None:
    sys.stdin.buffer.read()
    server.shutdown()
