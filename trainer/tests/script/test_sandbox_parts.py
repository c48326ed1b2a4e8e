"""The parts of the sandboxes that need no script: the filter of system calls, control groups, and the choice of a sandbox."""

import errno
import os
import re
import struct
from pathlib import Path

import pytest

from trainer.config.jail import Limits
from trainer.errors import UserError
from trainer.script import sandbox
from trainer.script.sandbox import bwrap, cgroup, machine, probe, seccomp, watch

ALLOW, KILL = "allow", "kill"
X86, ARM = 0xC000003E, 0xC00000B7


def decide(name: str, arch: int, number: int, *arguments: int):
    """What the filter of a machine says to one system call: an error number, or one of the words above."""
    data = struct.pack("=IIQ6Q", number, arch, 0, *arguments, *[0] * (6 - len(arguments)))
    program = list(struct.iter_unpack("=HBBI", seccomp.program(name)))
    at = value = 0
    while True:
        code, true, false, k = program[at]
        at += 1
        if code == 0x20:
            (value,) = struct.unpack_from("=I", data, k)
        elif code == 0x06:
            return {0x7FFF0000: ALLOW, 0x80000000: KILL}.get(k, k & 0xFFFF if k & 0xFFFF0000 == 0x00050000 else k)
        else:
            holds = {0x15: value == k, 0x35: value >= k, 0x45: bool(value & k)}[code]
            at += true if holds else false


@pytest.mark.parametrize(
    ("call", "said"),
    {
        "write": ((1,), ALLOW),
        "a plain fork": ((56, 17), ALLOW),
        "a fork into a user namespace": ((56, 0x10000000 | 17), errno.EPERM),
        "a thread": ((56, 0x3D0F00), ALLOW),
        "clone3, which hides its flags": ((435,), errno.ENOSYS),
        "openat2, which hides its mode": ((437,), errno.ENOSYS),
        "io_uring": ((425,), errno.ENOSYS),
        "a keyring": ((250,), errno.EPERM),
        "the x32 variant of write": ((0x40000001,), errno.ENOSYS),
        "typing into a terminal": ((16, 0, 0x5412), errno.EPERM),
        "the size of a terminal": ((16, 0, 0x5413), ALLOW),
        "chmod 755": ((90, 0, 0o755), ALLOW),
        "chmod 4755": ((90, 0, 0o4755), errno.EPERM),
        "chmod 2775, which seems to succeed": ((90, 0, 0o2775), 0),
        "fchmodat 4755": ((268, 0, 0, 0o4755), errno.EPERM),
        "open without making a file, with garbage as mode": ((257, 0, 0, 0, 0o4755), ALLOW),
        "open that makes a file": ((257, 0, 0, 0o101, 0o644), ALLOW),
        "open that makes a setuid file": ((257, 0, 0, 0o101, 0o4755), errno.EPERM),
        "open that makes a setgid file": ((2, 0, 0o101, 0o2755), errno.EPERM),
        "mknod of a setuid file": ((259, 0, 0, 0o104755), errno.EPERM),
    }.items(),
)
def test_the_filter_decides_by_number_and_arguments(call, said):
    arguments, expected = said
    assert decide("x86_64", X86, *arguments) == expected, call


def test_the_filter_of_64_bit_arm_has_its_own_numbers():
    assert decide("aarch64", ARM, 219) == errno.EPERM  # keyctl
    assert decide("aarch64", ARM, 220, 0x10000000) == errno.EPERM  # clone
    assert decide("aarch64", ARM, 90) == ALLOW  # capget there, chmod on x86-64
    assert decide("aarch64", ARM, 53, 0, 0, 0o4755) == errno.EPERM  # fchmodat


@pytest.mark.parametrize("name", ["x86_64", "aarch64"])
def test_calls_by_the_numbers_of_another_machine_end_the_script(name):
    assert decide(name, 0x40000003, 1) == KILL  # 32-bit x86


def test_a_machine_without_a_filter_says_so():
    assert not seccomp.supported("riscv64")
    assert seccomp.supported("x86_64") and seccomp.supported("aarch64")


@pytest.mark.parametrize(("column", "header"), [(0, "x86_64-linux-gnu/asm/unistd_64.h"), (1, "asm-generic/unistd.h")])
def test_the_numbers_are_those_of_the_kernel(column, header):
    file = Path("/usr/include", header)
    if not file.exists():
        pytest.skip("the headers of the kernel are not installed")
    known = {name: int(number) for name, number in re.findall(r"#define __NR(?:3264)?_(\w+)\s+(\d+)", file.read_text())}
    rows = seccomp.REFUSED | seccomp.CHANGES | seccomp.CREATES | seccomp.OPENS | {"clone": seccomp.CLONE, "ioctl": seccomp.IOCTL}
    ours = {name: row[column] for name, row in rows.items()} | seccomp.MISSING | (seccomp.REFUSED_ON_X86 if column == 0 else {})
    assert {name: number for name, number in ours.items() if name in known} == {n: known[n] for n in ours if n in known}
    assert len(set(ours) & set(known)) > 40


def test_a_delegated_group_of_version_2_is_the_nearest_with_both_controllers(tmp_path, monkeypatch):
    own = tmp_path / "user.slice" / "app.slice" / "service"
    own.mkdir(parents=True)
    for folder, controllers in {own: "", own.parent: "cpu memory pids", own.parent.parent: "memory pids", tmp_path: "memory"}.items():
        (folder / "cgroup.subtree_control").write_text(controllers)
    (tmp_path / "self").write_text("0::/user.slice/app.slice/service\n")
    monkeypatch.setattr(cgroup, "ROOT", tmp_path)
    monkeypatch.setattr(cgroup, "OWN", tmp_path / "self")
    assert list(cgroup._parents()) == [(own.parent, own.parent), (own.parent.parent, own.parent.parent)]


def test_an_ordinary_folder_is_never_taken_for_a_control_group(tmp_path, monkeypatch):
    monkeypatch.setattr(cgroup, "_parents", lambda: [(tmp_path, tmp_path)])
    assert cgroup.make(Limits(), 0) is None
    assert os.listdir(tmp_path) == []


@pytest.fixture
def nothing_installed(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    machine.version.cache_clear()
    yield tmp_path
    machine.version.cache_clear()


@pytest.mark.parametrize("allowed", ["auto", "bubblewrap", "gvisor"])
def test_a_machine_without_a_sandbox_refuses_and_says_what_to_install(nothing_installed, allowed):
    with pytest.raises(UserError) as refused:
        sandbox.choose(allowed)
    assert refused.value.code == "no_sandbox" and "apt-get install bubblewrap" in refused.value.do
    assert "is not installed." in refused.value.why


def test_an_old_bubblewrap_is_refused(nothing_installed):
    program = nothing_installed / "bwrap"
    program.write_text("#!/bin/sh\necho bubblewrap 0.6.1\n")
    program.chmod(0o755)
    assert bwrap.Bubblewrap().refused() == "bubblewrap 0.6.1 is too old: 0.8 or newer is needed."


def test_none_is_chosen_only_where_it_is_allowed():
    assert sandbox.choose("none").name == "none"
    assert "none" not in [kind.name for kind in sandbox.kinds("auto")]


def test_the_probe_finds_what_a_script_can_reach_without_walls():
    none = sandbox.choose("none")
    assert probe.failure(none) == "none does not hold on this machine: a script could read a file of this machine."


def test_python_in_a_folder_with_other_files_is_refused(monkeypatch):
    monkeypatch.setattr(machine.sys, "prefix", "/")
    with pytest.raises(OSError, match="other files"):
        machine.python_folders()


def test_the_disk_is_measured_without_following_links(tmp_path):
    (tmp_path / "run").mkdir()
    (tmp_path / "large").write_bytes(bytes(1 << 20))
    (tmp_path / "run" / "link").symlink_to(tmp_path)
    (tmp_path / "run" / "file").write_bytes(bytes(4096))
    size, count, seen = watch.disk([tmp_path / "run"], 0)
    assert (count, seen) == (2, True) and size <= 16384
    assert watch.disk([tmp_path / "run"], 1) == (pytest.approx(0, abs=16384), 2, True)
    assert watch.disk([tmp_path / "gone"], 0) == (0, 0, True)


def test_folders_of_the_machine_are_not_files_in_memory():
    # A process has the root folder of the machine until its sandbox is made, which takes long on a busy machine.
    assert watch.in_memory_files(os.getpid(), ("/tmp", "/")) == 0
    assert watch.in_memory_files(2**30, ("/tmp",)) == 0
