"""Starts a sandbox once with a small hostile script, and believes only what that script could not do."""

import json
import os
import secrets
import socket
import subprocess
import sys
import tempfile
import traceback
from pathlib import Path
from typing import BinaryIO

from trainer.config.jail import HOME, INPUTS, MIB, RUN, Jail, Limits
from trainer.errors import UserError
from trainer.script.sandbox import Sandbox

SECONDS = 30.0
# It reports each thing that it could do, and its word, which proves that it ran.
SCRIPT = """
import glob, json, os, socket, sys

def works(attempt):
    try:
        return bool(attempt()) or True
    except Exception:
        return False

def variables(file):
    try:
        return {variable.split("=")[0] for variable in open(file, errors="replace").read().split("\\0") if variable}
    except OSError:
        return set()

secret, port, word, inputs, *own = sys.argv[1:]
done = {"word": word, "variables": sorted(set().union(*map(variables, glob.glob("/proc/[0-9]*/environ"))))}
done["file"] = os.path.exists(secret)
done["network"] = socket.socket().connect_ex(("127.0.0.1", int(port))) == 0
done["inputs"] = works(lambda: open(inputs + "/a", "w"))
done["root"] = (os.getuid() != 0 and works(lambda: os.setuid(0))) or works(lambda: os.chroot("."))
done["work"] = all(works(lambda: open(folder + "/a", "w")) for folder in own)
print(json.dumps(done))
"""
_PATH = "/usr/local/bin:/usr/bin:/bin"
_OWN = {"PATH", "PWD", "SHLVL", "_", "HOME", "LC_CTYPE", "container"}
_LEAKS = {
    "file": "a script could read a file of this machine",
    "network": "a script could connect to a port of this machine",
    "inputs": "a script could change its input files",
    "root": "a script could gain rights of root",
}
_known: dict[tuple[str, bool, int], str | None] = {}


def failure(sandbox: Sandbox) -> str | None:
    """What is wrong with a sandbox on this machine, in one sentence; None if it holds. Looks once in each process."""
    key = (sandbox.name, sandbox.network, os.geteuid())
    if key not in _known:
        _known[key] = _failure(sandbox)
    return _known[key]


def _failure(sandbox: Sandbox) -> str | None:
    said, errors = "", ""
    try:
        with tempfile.TemporaryDirectory(prefix="clowder-ray-sandbox-") as folder, socket.create_server(("127.0.0.1", 0)) as server:
            said, errors = _try(sandbox, Path(folder), server.getsockname()[1])
    except (OSError, UserError, subprocess.SubprocessError) as error:
        traceback.print_exc()  # for the log
        errors = errors or str(error)
    try:
        done = json.loads(said)
    except ValueError:
        why = errors.strip().splitlines()
        return f"{sandbox.name} does not start on this machine{': ' + why[-1][:200] if why else ''}."
    open_doors = [text for name, text in _LEAKS.items() if done.get(name) and not (name == "network" and sandbox.network)]
    if set(done["variables"]) - _OWN:
        open_doors.append("a script could read variables of other processes")
    if open_doors:
        return f"{sandbox.name} does not hold on this machine: {open_doors[0]}."
    return None if done["work"] else f"{sandbox.name} does not work on this machine: a script cannot write its own files."


def _try(sandbox: Sandbox, folder: Path, port: int) -> tuple[str, str]:
    """Run the script. Returns what it printed and what was printed as errors; the first is empty unless it is from the script."""
    for name in ("tree", "home", "inputs"):
        (folder / name).mkdir()
    secret, word = folder / "secret", secrets.token_hex(8)
    secret.write_text("secret")
    (folder / "tree" / "probe.py").write_text(SCRIPT)
    limits = Limits(memory_bytes=512 * MIB, processes=64, disk_bytes=MIB, files=100, file_bytes=MIB, seconds=SECONDS, grace_seconds=1)
    environment = {"PATH": _PATH, "HOME": HOME}
    jail = Jail(folder / "tree", folder / "home", ((folder / "inputs", INPUTS),), (), environment, limits)
    argv = [sys.executable, "-I", "-S", f"{RUN}/probe.py", str(secret), str(port), word, INPUTS, RUN, HOME]
    (said, to_said), (errors, to_errors) = os.pipe(), os.pipe()
    with open(said, "rb") as said_file, open(errors, "rb") as errors_file:
        try:
            running = sandbox.start(jail, argv, to_said, to_errors)
        finally:
            os.close(to_said)
            os.close(to_errors)
        if running.wait(2 * SECONDS) is None:
            running.kill()
        output, complaints = (_content(file) for file in (said_file, errors_file))
    return output if word in output else "", complaints


def _content(pipe: BinaryIO) -> str:
    """What is in a pipe, without waiting for more."""
    os.set_blocking(pipe.fileno(), False)
    return (pipe.read(MIB) or b"").decode(errors="replace")
