"""What of this machine a sandbox shows to a script: system libraries, the Python installation, and a few files that are written for it."""

import os
import shutil
import subprocess
import sys
import zlib
from functools import cache
from pathlib import Path

from trainer.config.jail import HOME, Jail

HOSTNAME = "run"
USER = "user"
SETPRIV = "/usr/bin/setpriv"  # of util-linux; inside a sandbox, too
UID = 1000  # inside, where it is only a name for the user outside
LINKS_OF_ROOT = ("bin", "lib", "lib32", "lib64", "libx32", "sbin")
# Files of /etc without anything about this machine that a script could use. /etc/alternatives has the names of libraries.
SHARED_OF_ETC = ("/etc/ld.so.cache", "/etc/alternatives", "/etc/localtime", "/etc/mime.types", "/etc/fonts")
# Libraries of torch choose their code by the processors they find here.
PROCESSORS = ("/sys/devices/system/cpu", "/sys/devices/system/node")
_OWN_UIDS = (61184, 4000)  # first and count: systemd hands these out to services of the moment, so no account has them


def etc(uid: int, gid: int) -> dict[str, str]:
    """Files of /etc: path -> content. torchrun looks for its host in the first, Python for a home in the second."""
    return {
        "/etc/hosts": f"127.0.0.1 localhost {HOSTNAME}\n::1 localhost\n",
        "/etc/hostname": f"{HOSTNAME}\n",
        "/etc/passwd": f"{USER}:x:{uid}:{gid}::{HOME}:/bin/sh\n",
        "/etc/group": f"{USER}:x:{gid}:\n",
        "/etc/nsswitch.conf": "passwd: files\ngroup: files\nhosts: files dns\n",
    }


def python_folders() -> list[str]:
    """The folders of this Python outside of /usr: its environment and what that is built on.

    Raises OSError if one of them would show the files of a person or of the machine.
    """
    found = {os.path.realpath(folder) for folder in (sys.prefix, sys.exec_prefix, sys.base_prefix, sys.base_exec_prefix)}
    found |= {sys.prefix, os.path.dirname(os.path.dirname(os.path.realpath(sys.executable)))}
    outside = sorted(folder for folder in found if not Path(folder).is_relative_to("/usr"))
    for folder in outside:
        if folder in ("/", os.path.expanduser("~"), "/home", "/root", "/opt", "/etc", "/var", "/tmp"):
            raise OSError("Python is installed in a folder that holds other files too")
    return outside


def own_uid(tree: Path) -> int:
    """The user that runs a script where this process is root: one without an account, by the folder of the run."""
    first, count = _OWN_UIDS
    return first + zlib.crc32(os.fsencode(tree)) % count


def hand_over(jail: Jail, uid: int) -> None:
    """Give the tree and the home to a user, as root. Files with several names stay: another name may be somebody else's file."""
    for top in (jail.tree, jail.home):
        os.chown(top, uid, uid, follow_symlinks=False)
        for _, folders, files, here in os.fwalk(top):
            for name in folders:
                os.chown(name, uid, uid, dir_fd=here, follow_symlinks=False)
            for name in files:
                if os.stat(name, dir_fd=here, follow_symlinks=False).st_nlink == 1:
                    os.chown(name, uid, uid, dir_fd=here, follow_symlinks=False)


def gpu_devices() -> list[str]:
    """The device files of the NVIDIA GPUs of this machine. Their driver is then open to the script."""
    return sorted(str(device) for device in Path("/dev").glob("nvidia*"))


@cache
def version(program: str) -> str:
    """The version that a program says; empty if it is not installed."""
    path = shutil.which(program)
    if path is None:
        return ""
    try:
        said = subprocess.run([path, "--version"], capture_output=True, text=True, timeout=10, env={}, stdin=subprocess.DEVNULL)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    first = (said.stdout.splitlines() or [""])[0].split()
    return first[-1] if first else ""


def numbers(version: str) -> tuple[int, ...]:
    """A version for comparing: 0.8.0 -> (0, 8, 0)."""
    return tuple(int(part) for part in version.split(".") if part.isdigit())
