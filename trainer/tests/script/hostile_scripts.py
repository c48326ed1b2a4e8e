"""Scripts that try to leave their sandbox, as text: tests start them as users' own code."""

# Tries many things and prints one JSON object: attempt -> "done", or the class of the error that stopped it.
# Arguments: a file of the machine, a TCP port, a Unix socket, an abstract socket, a process.
ATTEMPTS = r"""
import ctypes, errno, getpass, io, json, os, socket, subprocess, sys, tarfile
secret, port, path, abstract, process = sys.argv[1:]
libc = ctypes.CDLL(None, use_errno=True)
arm = os.uname().machine == "aarch64"
said = {}

def attempt(name):
    def run(function):
        try:
            function()
            said[name] = "done"
        except Exception as error:
            said[name] = type(error).__name__
    return run

def call(x86, on_arm, *arguments):
    ctypes.set_errno(0)
    if libc.syscall(on_arm if arm else x86, *arguments) < 0:
        raise OSError(ctypes.get_errno(), "refused")

def connect(family, address):
    with socket.socket(family) as client:
        client.settimeout(2)
        client.connect(address)

said["open files"] = sorted(int(name) for name in os.listdir("/proc/self/fd"))

def loopback():
    with socket.create_server(("localhost", 0)) as server:
        connect(socket.AF_INET, server.getsockname())
attempt("reach another rank")(loopback)
attempt("start a process")(lambda: subprocess.run(["/bin/sh", "-c", "true"], check=True))
attempt("write an output")(lambda: open("out.txt", "w").write("result"))
attempt("write a temporary file")(lambda: open("/tmp/file", "w").write("x"))
attempt("use shared memory")(lambda: open("/dev/shm/file", "w").write("x"))
attempt("find its user")(lambda: (getpass.getuser(), os.listdir(os.path.expanduser("~"))))
attempt("find its host")(lambda: socket.getaddrinfo(socket.gethostname(), 1))

attempt("read a file of the machine")(lambda: open(secret).read())
attempt("list the folder of the run")(lambda: os.listdir(os.path.dirname(secret)))
attempt("read the passwords")(lambda: open("/etc/shadow").read())
attempt("write an input")(lambda: open("/clowder/inputs/data.csv", "a"))
attempt("write a model")(lambda: open("/clowder/models/model.bin", "wb"))
attempt("link an input into the outputs")(lambda: os.link("/clowder/inputs/data.csv", "linked.csv"))
attempt("remove an input")(lambda: os.remove("/clowder/inputs/data.csv"))
attempt("write to the root")(lambda: open("/file", "w"))
attempt("write a program")(lambda: open("/usr/bin/python3", "ab"))
attempt("connect to a port of the machine")(lambda: connect(socket.AF_INET, ("127.0.0.1", int(port))))
attempt("connect to a socket of the machine")(lambda: connect(socket.AF_UNIX, path))
attempt("connect to an abstract socket")(lambda: connect(socket.AF_UNIX, "\0" + abstract))
attempt("connect to a metadata address")(lambda: connect(socket.AF_INET, ("169.254.169.254", 80)))
attempt("connect to the internet")(lambda: connect(socket.AF_INET, ("192.0.2.1", 443)))
attempt("resolve a name")(lambda: socket.getaddrinfo("example.org", 443))
attempt("open a raw socket")(lambda: socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP))
attempt("signal a process of the machine")(lambda: os.kill(int(process), 0))
attempt("become root")(lambda: os.setuid(0) if os.getuid() else os.chroot("/tmp"))
attempt("make a setuid program")(lambda: (open("suid", "w").close(), os.chmod("suid", 0o4755)))
attempt("make a device")(lambda: os.mknod("device", 0o20600, os.makedev(1, 1)))
attempt("mount a folder")(lambda: call(165, 40, b"/usr", b"/tmp", None, 4096, None))
attempt("trace a process")(lambda: call(101, 117, 16, 1, 0, 0))
attempt("make a user namespace")(lambda: call(272, 97, 0x10000000))
attempt("use io_uring")(lambda: call(425, 425, 1, ctypes.create_string_buffer(120)))
attempt("use a keyring")(lambda: call(250, 219, 0, -3, 1))
attempt("load a BPF program")(lambda: call(321, 280, 5, ctypes.create_string_buffer(120), 120))
attempt("reboot")(lambda: call(169, 142, 0xFEE1DEAD, 672274793, 0, None))

def extract():
    archive = io.BytesIO()
    with tarfile.open(fileobj=archive, mode="w") as made:
        for name in ("../" * 12 + "tmp/clowder-ray-escaped", "/etc/clowder-ray-escaped"):
            made.addfile(tarfile.TarInfo(name), io.BytesIO())
    archive.seek(0)
    with tarfile.open(fileobj=archive) as read:
        read.extraction_filter = lambda member, _: member  # as old programs do
        read.extractall()
attempt("extract an archive that escapes")(extract)

def variables():
    found = set()
    for process in filter(str.isdigit, os.listdir("/proc")):
        try:
            found |= set(open(f"/proc/{process}/environ", "rb").read().split(b"\0"))
        except OSError:
            pass
    return sorted(each.decode(errors="replace") for each in found if each)
said["variables"] = variables()
said["processes"] = len([name for name in os.listdir("/proc") if name.isdigit()])
print(json.dumps(said))
"""

FORK_BOMB = """
import os, time
started = 0
while started < 2000:
    try:
        if os.fork() == 0:
            time.sleep(60)
            os._exit(0)
    except OSError as error:
        print("stopped after", started, type(error).__name__, flush=True)
        os._exit(7)
    started += 1
print("never stopped", flush=True)
time.sleep(60)
"""

MEMORY_BOMB = """
held = []
while True:
    held.append(bytearray(b"x") * (8 << 20))
"""

# Memory that belongs to no process: a file in memory.
MEMORY_FILES = """
import os
wrote = 0
try:
    for folder in ("/tmp", "/dev/shm"):
        with open(folder + "/file", "wb") as file:
            while True:
                wrote += file.write(bytes(1 << 20))
                file.flush()
except OSError as error:
    print(error.strerror, flush=True)
print(wrote >> 20)
"""

FULL_DISK = """
import time
for number in range(200):
    with open(f"file-{number}", "wb") as file:
        file.write(bytes(1 << 20))
print("wrote all", flush=True)
time.sleep(60)
"""

# The files have no names, so that no walk through the folders finds them.
FULL_DISK_WITHOUT_NAMES = """
import os, tempfile, time
held = []
for _ in range(100):
    held.append(tempfile.TemporaryFile(dir="."))
    held[-1].write(bytes(1 << 20))
    held[-1].flush()
print("wrote all", flush=True)
time.sleep(60)
"""

MANY_FILES = """
import os, time
for number in range(3000):
    open(f"file-{number}", "w").close()
time.sleep(60)
"""

DEEP_FOLDERS = """
import os, time
for _ in range(30):
    os.mkdir("folder" * 40)
    os.chdir("folder" * 40)
time.sleep(60)
"""

HIDDEN_FOLDER = """
import os, time
os.mkdir("hidden")
open("hidden/file", "wb").write(bytes(1 << 20))
os.chmod("hidden", 0)
time.sleep(60)
"""

LARGE_FILE = """
with open("large", "wb") as file:
    try:
        for _ in range(64):
            file.write(bytes(1 << 20))
        file.flush()
    except OSError as error:
        print(error.strerror)
"""

ENDLESS_OUTPUT = """
import sys
while True:
    sys.stdout.write("x" * 65536)
"""

# A process that leaves its session, ignores all signals, and lives on when the script has ended.
DAEMON = """
import os, signal, time
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
            signal.signal(number, signal.SIG_IGN)
        time.sleep(600)
    os._exit(0)
os.wait()
print("the script ends", flush=True)
"""

KILL_ALL = """
import os, signal
for process in (-1, os.getppid()):
    try:
        os.kill(process, signal.SIGKILL)
    except OSError as error:
        print(type(error).__name__, flush=True)
"""

SAVES_ON_TERM = r"""
import os, signal, time
def save(*_):
    os.write(1, b"saved\n")
    os._exit(5)
signal.signal(signal.SIGTERM, save)
print("ready", flush=True)
time.sleep(60)
"""

IGNORES_TERM = """
import signal, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
print("ready", flush=True)
while True:
    time.sleep(60)
"""

HOLDS_ON = """
import time
print("ready", flush=True)
time.sleep(600)
"""
