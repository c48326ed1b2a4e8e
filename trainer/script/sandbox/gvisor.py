"""The sandbox of gVisor: a kernel of its own in user space, which serves the script instead of the kernel of the machine.

It is started as ``runsc run`` with a bundle of a few mounts. ``runsc do`` would show the whole machine. Files are slower than in
bubblewrap, which shows where Python imports large packages.
"""

import contextlib
import json
import os
import platform
import secrets
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

from trainer.config.jail import HOME, RUN, Jail
from trainer.script.sandbox import cgroup, machine, probe, watch
from trainer.script.sandbox.supervise import Launch, Supervised

PROGRAM = "runsc"
# Waits for a line, so that the limits are set before anything runs; ends with the thread that started it.
_GATE = 'read -r go && exec "$@" </dev/null'
_CALL_SECONDS = 30.0
_NAMESPACES = ("pid", "ipc", "uts", "mount", "network")


class Gvisor:
    name = "gvisor"
    network = False

    def __init__(self) -> None:
        self.version = machine.version(PROGRAM)

    def refused(self) -> str | None:
        if not self.version:
            return "gVisor (runsc) is not installed."
        if not os.path.exists(machine.SETPRIV):
            return "gVisor needs the program setpriv (util-linux)."
        return probe.failure(self)

    def has_places(self) -> bool:
        return True

    def start(self, jail: Jail, argv: Sequence[str], stdout: int, stderr: int) -> Supervised:
        """Start ``argv``. ``stdout`` and ``stderr`` must be pipes: runsc writes to a file at a position of its own. As root, the tree and
        the home are given to a user without an account, who runs the script."""
        return Supervised(_Launch(jail, argv, stdout, stderr), jail)


class _Launch(Launch):
    own_processes = 128  # the kernel of gVisor has a thread for each processor, and some for each thread of the script

    def __init__(self, jail: Jail, argv: Sequence[str], stdout: int, stderr: int):
        self._jail, self._argv, self._output = jail, list(argv), (stdout, stderr)
        self._id = f"clowder-ray-{secrets.token_hex(6)}"
        self._folder: Path | None = None
        self._process: subprocess.Popen | None = None
        self._group: cgroup.Group | None = None

    def start(self, group: cgroup.Group | None) -> subprocess.Popen:
        self._group = group
        self._folder = Path(tempfile.mkdtemp(prefix="clowder-ray-gvisor-"))
        uid = machine.own_uid(self._jail.tree) if os.geteuid() == 0 else 0
        if uid:
            machine.hand_over(self._jail, uid)
        bundle = self._folder / "bundle"
        self._lay_out(bundle / "rootfs", uid)
        (bundle / "config.json").write_text(json.dumps(self._config(uid)))
        command = [machine.SETPRIV, "--pdeathsig", "KILL", *self._runsc(), "run", "--bundle", str(bundle), self._id]
        self._process = process = subprocess.Popen(
            ["/bin/sh", "-c", _GATE, "sh", *command],
            cwd="/",
            env={"PATH": os.defpath},
            stdin=subprocess.PIPE,
            stdout=self._output[0],
            stderr=self._output[1],
            start_new_session=True,
        )
        try:
            if group is not None:
                group.add(process.pid)
            with contextlib.suppress(OSError), open(f"/proc/{process.pid}/oom_score_adj", "w") as score:
                score.write("1000")  # the kernel ends scripts before the services of the machine
            process.stdin.write(b"go\n")
            process.stdin.close()
        except BaseException:
            process.kill()
            process.wait()
            raise
        return process

    def members(self) -> list[int]:
        return watch.descendants(self._process.pid)

    def signal(self, number: int) -> None:
        """The script is process 1 of the container, and gVisor does what the signal says also without a handler."""
        self._call("kill", self._id, str(number))

    def destroy(self) -> None:
        if self._group is not None:
            self._group.kill()
        for pid in self.members():  # the sentry ends with runsc, too
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGKILL)

    def outcome(self, status: int, killed: bool) -> tuple[int | None, int | None, str]:
        if killed:
            return None, signal.SIGKILL, ""
        if status < 0:  # the kernel has ended runsc, for example for want of memory
            return None, -status, ""
        return (None, status - 128, "") if 128 < status <= 128 + signal.NSIG else (status, None, "")

    def close(self) -> None:
        if self._folder is not None:
            self._call("delete", "--force", self._id)
            shutil.rmtree(self._folder, ignore_errors=True)
            self._folder = None

    def _runsc(self) -> list[str]:
        state = ["--root", str(self._folder / "state"), "--network=none", "--ignore-cgroups", "--oci-seccomp"]
        return [shutil.which(PROGRAM) or PROGRAM, *(["--rootless"] if os.geteuid() else []), *state]

    def _call(self, *words: str) -> None:
        with contextlib.suppress(subprocess.TimeoutExpired):
            subprocess.run([*self._runsc(), *words], env={"PATH": os.defpath}, stdin=subprocess.DEVNULL, capture_output=True, timeout=_CALL_SECONDS)

    def _lay_out(self, root: Path, uid: int) -> None:
        """The root of the container: empty folders, links and a few files. The rest are mounts."""
        root.mkdir(parents=True)
        for name in machine.LINKS_OF_ROOT:
            if os.path.islink(f"/{name}"):
                (root / name).symlink_to(os.readlink(f"/{name}"))
        for path, content in machine.etc(uid, uid).items():
            file = root / path.lstrip("/")
            file.parent.mkdir(exist_ok=True)
            file.write_text(content)
        for inside, target in self._jail.links:
            link = root / inside.lstrip("/")
            link.parent.mkdir(parents=True, exist_ok=True)
            link.symlink_to(target)
        for mount in self._mounts():
            place, there = root / mount["destination"].lstrip("/"), mount["source"]
            if os.path.isdir(there) or not os.path.isabs(there):
                place.mkdir(parents=True, exist_ok=True)
            else:
                place.parent.mkdir(parents=True, exist_ok=True)
                place.touch()
        for folder in (self._folder, *root.rglob("*"), root, root.parent):
            if folder.is_dir() and not folder.is_symlink():
                folder.chmod(0o755)  # the script is another user

    def _mounts(self) -> list[dict]:
        jail = self._jail
        kept = [f"/{name}" for name in machine.LINKS_OF_ROOT if not os.path.islink(f"/{name}") and os.path.isdir(f"/{name}")]
        system = ["/usr", *kept, *(p for p in machine.SHARED_OF_ETC if os.path.exists(p)), *machine.python_folders()]
        size = [f"size={max(jail.limits.memory_bytes // 2, 1 << 20)}"] if jail.limits.memory_bytes else []
        mounts = [_bind(path, path) for path in system]
        mounts += [{"destination": "/proc", "type": "proc", "source": "proc"}, {"destination": "/dev", "type": "tmpfs", "source": "tmpfs"}]
        for folder in ("/tmp", "/dev/shm"):
            mounts.append({"destination": folder, "type": "tmpfs", "source": "tmpfs", "options": ["nosuid", "nodev", "mode=1777", *size]})
        mounts += [_bind(str(jail.tree), RUN, "rw"), _bind(str(jail.home), HOME, "rw")]
        return mounts + [_bind(str(there), inside) for there, inside in jail.reads]

    def _config(self, uid: int) -> dict:
        limits = self._jail.limits
        rlimits = [("RLIMIT_CORE", 0), *([("RLIMIT_FSIZE", limits.file_bytes)] if limits.file_bytes else [])]
        process = {
            "user": {"uid": uid, "gid": uid},
            "args": self._argv,
            "env": [f"{name}={value}" for name, value in self._jail.environment.items()],
            "cwd": RUN,
            "capabilities": {},
            "noNewPrivileges": True,
            "rlimits": [{"type": kind, "soft": value, "hard": value} for kind, value in rlimits],
        }
        linux = {"namespaces": [{"type": kind} for kind in _NAMESPACES], "seccomp": _no_setuid_files()}
        return {
            "ociVersion": "1.0.0",
            "process": process,
            "root": {"path": "rootfs", "readonly": True},
            "hostname": machine.HOSTNAME,
            "mounts": self._mounts(),
            "linux": linux,
        }


def _bind(there: str, inside: str, mode: str = "ro") -> dict:
    return {"destination": inside, "type": "bind", "source": there, "options": ["rbind", "nosuid", "nodev", mode]}


def _no_setuid_files() -> dict:
    """Rules for the system calls with the mode of a file: with a setuid bit it would run as the user of the service on this machine."""
    setuid, create = 0o4000, os.O_CREAT
    masks = [(("chmod", "fchmod", "creat", "mknod"), {1: setuid}), (("fchmodat", "mknodat"), {2: setuid})]
    masks += [(("open",), {1: create, 2: setuid}), (("openat",), {2: create, 3: setuid})]
    rules = []
    for names, arguments in masks:
        conditions = [{"index": i, "value": mask, "valueTwo": mask, "op": "SCMP_CMP_MASKED_EQ"} for i, mask in arguments.items()]
        rules.append({"names": list(names), "action": "SCMP_ACT_ERRNO", "args": conditions})
    architecture = {"x86_64": "SCMP_ARCH_X86_64", "aarch64": "SCMP_ARCH_AARCH64"}.get(platform.machine())
    return {"defaultAction": "SCMP_ACT_ALLOW", "architectures": [architecture] if architecture else [], "syscalls": rules}
