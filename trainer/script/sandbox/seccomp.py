"""The filter of system calls for sandboxes that share the kernel of the machine: a program in classic BPF, written as bytes.

Namespaces hide files, processes and networks. The filter takes away what namespaces leave open: interfaces of the kernel that no training
needs and that had many flaws (io_uring, keyrings, BPF), new user namespaces, and files with setuid or setgid bits on the disk of the host.
Everything that is not named here is allowed.
"""

import errno
import platform
import struct

# System call -> its number on x86-64 and on 64-bit ARM; None where it does not exist.
REFUSED: dict[str, tuple[int | None, int]] = {
    "acct": (163, 89), "add_key": (248, 217), "bpf": (321, 280), "chroot": (161, 51), "delete_module": (176, 106),
    "fanotify_init": (300, 262), "finit_module": (313, 273), "fsconfig": (431, 431), "fsmount": (432, 432), "fsopen": (430, 430),
    "fspick": (433, 433), "init_module": (175, 105), "kcmp": (312, 272), "kexec_file_load": (320, 294), "kexec_load": (246, 104),
    "keyctl": (250, 219), "lookup_dcookie": (212, 18), "mount": (165, 40), "mount_setattr": (442, 442), "move_mount": (429, 429),
    "name_to_handle_at": (303, 264), "open_by_handle_at": (304, 265), "open_tree": (428, 428), "perf_event_open": (298, 241),
    "pivot_root": (155, 41), "ptrace": (101, 117), "quotactl": (179, 60), "quotactl_fd": (443, 443), "reboot": (169, 142),
    "request_key": (249, 218), "setns": (308, 268), "swapoff": (168, 225), "swapon": (167, 224), "syslog": (103, 116),
    "umount2": (166, 39), "unshare": (272, 97), "userfaultfd": (323, 282), "vhangup": (153, 58),
}  # fmt: skip
REFUSED_ON_X86 = {"ioperm": 173, "iopl": 172, "modify_ldt": 154}
# Programs fall back to older calls where these do not exist. The arguments of clone3 and openat2 are in memory, where no filter sees them.
MISSING = {"io_uring_setup": 425, "io_uring_enter": 426, "io_uring_register": 427, "clone3": 435, "openat2": 437}
CLONE = (56, 220)
IOCTL = (16, 29)
# Calls with the mode of a file -> their number, and which argument is the mode.
CHANGES: dict[str, tuple[int | None, int | None, int]] = {
    "chmod": (90, None, 1), "fchmod": (91, 52, 1), "fchmodat": (268, 53, 2), "fchmodat2": (452, 452, 2),
}  # fmt: skip
CREATES: dict[str, tuple[int | None, int | None, int]] = {"creat": (85, None, 1), "mknod": (133, None, 1), "mknodat": (259, 33, 2)}
OPENS: dict[str, tuple[int | None, int | None, int]] = {"open": (2, None, 1), "openat": (257, 56, 2)}  # the flags; the mode follows them

_MACHINES = {"x86_64": (0, 0xC000003E), "aarch64": (1, 0xC00000B7)}  # column above, AUDIT_ARCH_*
_NEW_NAMESPACE = 0x7E020080  # CLONE_NEW* of clone
_MAKES = 0o100 | 0o20000000  # O_CREAT, __O_TMPFILE
_SETUID, _SETGID = 0o4000, 0o2000
_TIOCSTI, _TIOCLINUX = 0x5412, 0x541C  # typing into a terminal

_LOAD, _EQUAL, _ABOVE, _ANY_BIT, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_ALLOW, _KILL, _ERRNO = 0x7FFF0000, 0x80000000, 0x00050000
_NUMBER, _ARCH, _ARGUMENTS = 0, 4, 16  # offsets in struct seccomp_data


def supported(machine: str = "") -> bool:
    """Whether there is a filter for this machine. Without one, namespaces alone protect the machine."""
    return (machine or platform.machine()) in _MACHINES


def program(machine: str = "") -> bytes:
    """The filter as an array of struct sock_filter in the byte order of the machine. Raises KeyError for a machine without one."""
    column, arch = _MACHINES[machine or platform.machine()]
    refuse, missing = _error(errno.EPERM), _error(errno.ENOSYS)
    code = [_load(_ARCH), _skip_unless(_EQUAL, arch, 1, otherwise=True), _return(_KILL), _load(_NUMBER)]
    if machine == "x86_64" or (not machine and platform.machine() == "x86_64"):
        code += [_skip_unless(_ABOVE, 0x40000000, 1), missing]  # the x32 variants of all calls
    numbers = [row[column] for row in REFUSED.values()] + (list(REFUSED_ON_X86.values()) if column == 0 else [])
    for number in numbers:
        code += _when(number, [refuse])
    for number in MISSING.values():
        code += _when(number, [missing])
    code += _when(CLONE[column], [_argument(0), _skip_unless(_ANY_BIT, _NEW_NAMESPACE, 1), refuse, _return(_ALLOW)])
    typing = [_skip_unless(_EQUAL, request, 1) + refuse for request in (_TIOCSTI, _TIOCLINUX)]
    code += _when(IOCTL[column], [_argument(1), *typing, _return(_ALLOW)])
    for row in CHANGES.values():
        code += _when(row[column], [_argument(row[2]), *_CHANGED_MODE])
    for row in CREATES.values():
        code += _when(row[column], [_argument(row[2]), *_CREATED_MODE])
    for row in OPENS.values():
        flags = [_argument(row[2]), _skip_unless(_ANY_BIT, _MAKES, 1, otherwise=True), _return(_ALLOW)]
        code += _when(row[column], [*flags, _argument(row[2] + 1), *_CREATED_MODE])
    return b"".join([*code, _return(_ALLOW)])


def _instruction(code: int, value: int, true: int = 0, false: int = 0) -> bytes:
    return struct.pack("=HBBI", code, true, false, value)


def _load(offset: int) -> bytes:
    return _instruction(_LOAD, offset)


def _argument(index: int) -> bytes:
    """The low half of an argument: both machines are little-endian, and the kernel uses no other half of these arguments."""
    return _load(_ARGUMENTS + 8 * index)


def _return(value: int) -> bytes:
    return _instruction(_RETURN, value)


def _error(number: int) -> bytes:
    """The call does nothing and fails with this error number; 0 lets it seem to succeed."""
    return _return(_ERRNO | number)


def _skip_unless(test: int, value: int, count: int, otherwise: bool = False) -> bytes:
    """Skip ``count`` instructions unless the test holds; with ``otherwise`` if it holds."""
    return _instruction(test, value, count if otherwise else 0, 0 if otherwise else count)


def _when(number: int | None, then: list[bytes]) -> list[bytes]:
    """``then`` for one system call, which ends the program; nothing for a call that this machine lacks."""
    then = [b"".join(then)]
    return [] if number is None else [_skip_unless(_EQUAL, number, len(then[0]) // 8), *then]


# A file with one of these bits would run as the user of the service. Folders of volumes carry the setgid bit, and copying them sets it
# again: a change to that bit seems to succeed, so that copying goes on.
_CREATED_MODE = [_skip_unless(_ANY_BIT, _SETUID | _SETGID, 1), _error(errno.EPERM), _return(_ALLOW)]
_CHANGED_MODE = [_skip_unless(_ANY_BIT, _SETUID, 1), _error(errno.EPERM), _skip_unless(_ANY_BIT, _SETGID, 1), _error(0), _return(_ALLOW)]
