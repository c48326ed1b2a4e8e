"""Where a process of HTTP listens, and the token that it asks for."""

import socket
from pathlib import Path


def address_of(listen: str) -> tuple[str, int]:
    """The host and port of ``listen``. Raises ValueError."""
    host, _, port = listen.rpartition(":")
    return socket.gethostbyname(host or "0.0.0.0"), int(port)


def token_of(file: str, variable: str) -> str:
    """The token in ``file``, else that of the environment."""
    return Path(file).read_text(encoding="utf-8").strip() if file else variable
