"""What each sandbox shows to a script, read from its options: mounts, links, environment and rights. And what the probe makes of a sandbox."""

import json
import os
import stat
from pathlib import Path
from types import SimpleNamespace

import pytest

from trainer.config.jail import HOME, INPUTS, MODELS, RUN, Jail, Limits
from trainer.errors import UserError
from trainer.script.sandbox import bwrap, gvisor, machine, none, probe


@pytest.fixture
def jail(tmp_path):
    for name in ("tree", "home", "inputs"):
        (tmp_path / name).mkdir()
    return Jail(
        tmp_path / "tree",
        tmp_path / "home",
        reads=((tmp_path / "inputs", INPUTS),),
        links=((f"{RUN}/data", INPUTS),),
        environment={"EPOCHS": "3", "DATA": f"{INPUTS}/a b"},
        limits=Limits(memory_bytes=64 << 20, file_bytes=1000),
    )


@pytest.fixture
def as_user(monkeypatch):
    """as_user(uid) runs the test as if this process was of that user. Nothing is given to another user."""
    given = []

    def uid(number: int) -> list:
        monkeypatch.setattr(os, "geteuid", lambda: number)
        monkeypatch.setattr(machine, "hand_over", lambda jail, uid: given.append(uid))
        return given

    return uid


@pytest.fixture
def command(jail):
    """command(network=) is the command of bubblewrap for the jail, with the contents of the files that it gets by number."""
    launches = []

    def of(network: bool = False, **changed) -> tuple[list[str], dict[str, bytes]]:
        launch = bwrap._Launch(Jail(**{**vars(jail), **changed}), ["python", "train.py"], 1, 2, network)
        launches.append(launch)
        words = launch._command(100, 101)
        return words, {str(handle): os.pread(handle, 1 << 20, 0) for handle in launch._files}

    yield of
    for launch in launches:
        for handle in launch._files:
            os.close(handle)


def pairs(words: list[str], option: str) -> dict[str, str]:
    """Place inside -> what is there, of the options that take both."""
    return {words[i + 2]: words[i + 1] for i, word in enumerate(words) if word == option}


def test_bubblewrap_shows_the_tree_and_the_home_to_write_and_the_rest_to_read(command, jail, as_user):
    as_user(1234)
    words, _ = command()
    assert pairs(words, "--bind") == {RUN: str(jail.tree), HOME: str(jail.home)}
    shown = pairs(words, "--ro-bind")
    assert shown[INPUTS] == str(jail.reads[0][0])
    assert shown["/usr"] == "/usr" and set(machine.python_folders()) <= set(shown)
    assert not {"/", "/etc", "/home", "/root", "/var", "/proc", "/tmp"} & {*shown, *shown.values()}
    assert pairs(words, "--symlink")[f"{RUN}/data"] == INPUTS
    assert words[-2:] == ["python", "train.py"]
    assert words[words.index("--chdir") + 1] == RUN


def test_bubblewrap_ends_what_can_be_written_to_memory_after_all_mounts(command, as_user):
    as_user(1234)
    words, _ = command()
    last = max(i for i, word in enumerate(words) if word in ("--bind", "--ro-bind", "--symlink", "--dir", "--tmpfs", "--ro-bind-data"))
    assert words.index("--remount-ro") > last
    assert [words[i + 1] for i, word in enumerate(words) if word == "--remount-ro"] == ["/dev", "/"]
    sizes = [words[i - 1] for i, word in enumerate(words) if word == "--tmpfs"]
    assert sizes == [str(32 << 20)] * 2  # half of the memory each


@pytest.mark.parametrize(("memory", "size"), [(0, None), (1 << 10, 1 << 20), (1 << 30, 1 << 29)], ids=["no limit", "tiny", "large"])
def test_folders_in_memory_hold_at_most_half_of_it(command, as_user, memory, size):
    as_user(1234)
    words, _ = command(limits=Limits(memory_bytes=memory))
    given = [words[i + 1] for i, word in enumerate(words) if word == "--size"]
    assert given == ([str(size)] * 2 if size else [])


@pytest.mark.parametrize("network", [True, False])
def test_bubblewrap_has_a_network_only_where_it_is_asked_for(command, as_user, network):
    as_user(1234)
    words, _ = command(network)
    assert ("--unshare-net" in words) is not network
    assert {"--unshare-pid", "--unshare-ipc", "--die-with-parent", "--new-session", "--clearenv"} <= set(words)


def test_bubblewrap_as_a_user_makes_a_user_namespace_that_makes_no_others(command, as_user):
    given = as_user(1234)
    words, files = command()
    assert {"--unshare-user", "--disable-userns"} <= set(words) and "--cap-add" not in words
    assert [words[words.index(o) + 1] for o in ("--uid", "--gid")] == [str(machine.UID)] * 2
    assert machine.SETPRIV not in words and given == []
    assert f"user:x:{machine.UID}:{machine.UID}::{HOME}:/bin/sh\n".encode() in files.values()


def test_bubblewrap_as_root_becomes_a_user_without_an_account_as_the_last_step(command, jail, as_user):
    given = as_user(0)
    words, _ = command()
    uid = machine.own_uid(jail.tree)
    assert given == [uid] and "--unshare-user" not in words
    assert [words[i + 1] for i, word in enumerate(words) if word == "--cap-add"] == list(bwrap._CAPABILITIES)
    after = words[words.index("--") + 1 :]
    assert after[: after.index("--")] == bwrap._become(uid)[:-1]
    assert after[0] == machine.SETPRIV and {"--no-new-privs", "--bounding-set=-all", "--clear-groups"} <= set(after)
    assert after[after.index("--") + 1 :] == ["python", "train.py"]


def test_bubblewrap_gives_a_script_only_its_own_variables(command, as_user):
    as_user(1234)
    words, _ = command()
    given = {words[i + 1]: words[i + 2] for i, word in enumerate(words) if word == "--setenv"}
    assert given == {"EPOCHS": "3", "DATA": f"{INPUTS}/a b"}


@pytest.mark.parametrize("gpu", [True, False])
def test_bubblewrap_shows_the_gpus_only_to_a_script_that_has_some(command, as_user, monkeypatch, gpu):
    as_user(1234)
    monkeypatch.setattr(machine, "gpu_devices", lambda: ["/dev/nvidia0", "/dev/nvidiactl"])
    words, _ = command(gpu=gpu)
    assert list(pairs(words, "--dev-bind")) == (["/dev/nvidia0", "/dev/nvidiactl"] if gpu else [])


def test_folders_above_a_mount_are_made_once_and_not_inside_another_mount():
    mounts = bwrap._Mounts()
    mounts.read("/there/a", "/clowder/inputs/a")
    mounts.read("/there/b", "/clowder/inputs/b")
    mounts.link("a", "/clowder/inputs/a/deep/link")
    mounts.link("x", "/clowder/models/link")
    mounts.read("/there/c", "/proc/deep/c")
    made = [mounts.words[i + 1] for i, word in enumerate(mounts.words) if word == "--dir"]
    assert made == ["/clowder", "/clowder/inputs", "/clowder/models"]
    assert mounts.words.index("/clowder/inputs") < mounts.words.index("/there/a")
    open_to_all = [mounts.words[i - 1] for i, word in enumerate(mounts.words) if word == "--dir"]
    assert open_to_all == ["0755"] * 3


@pytest.fixture
def bundle(jail, tmp_path):
    """bundle(uid) is the configuration of a container of gVisor and the folder that becomes its root."""

    def of(uid: int, **changed) -> tuple[dict, Path]:
        launch = gvisor._Launch(Jail(**{**vars(jail), **changed}), ["python", "train.py"], 1, 2)
        launch._folder = tmp_path / "gvisor"
        root = launch._folder / "bundle" / "rootfs"
        launch._lay_out(root, uid)
        return json.loads(json.dumps(launch._config(uid))), root

    return of


def test_gvisor_runs_a_script_as_a_user_without_rights_on_a_root_that_cannot_be_written(bundle):
    config, _ = bundle(61234)
    process = config["process"]
    assert (process["user"], process["capabilities"], process["noNewPrivileges"]) == ({"uid": 61234, "gid": 61234}, {}, True)
    assert (process["args"], process["cwd"], process["env"]) == (["python", "train.py"], RUN, ["EPOCHS=3", f"DATA={INPUTS}/a b"])
    assert config["root"] == {"path": "rootfs", "readonly": True}
    assert {n["type"] for n in config["linux"]["namespaces"]} == {"pid", "ipc", "uts", "mount", "network"}


def test_gvisor_shows_the_same_places_as_bubblewrap(bundle, command, jail, as_user):
    as_user(1234)
    config, _ = bundle(0)
    words, _ = command()
    bound = {m["destination"]: (m["source"], m["options"]) for m in config["mounts"] if m["type"] == "bind"}
    writable = {place: there for place, (there, options) in bound.items() if "rw" in options}
    assert writable == pairs(words, "--bind") == {RUN: str(jail.tree), HOME: str(jail.home)}
    read = {place for place, (_, options) in bound.items() if "ro" in options}
    assert read == set(pairs(words, "--ro-bind")) - set(machine.PROCESSORS)
    assert all({"nosuid", "nodev"} <= set(options) for _, options in bound.values())
    assert {m["destination"] for m in config["mounts"] if m["type"] == "tmpfs"} == {"/dev", "/tmp", "/dev/shm"}


@pytest.mark.parametrize(
    ("limits", "rlimits", "sizes"),
    [
        (Limits(memory_bytes=64 << 20, file_bytes=1000), {"RLIMIT_CORE": 0, "RLIMIT_FSIZE": 1000}, {f"size={32 << 20}"}),
        (Limits(memory_bytes=0, file_bytes=0), {"RLIMIT_CORE": 0}, set()),
    ],
)
def test_gvisor_sets_the_limits_that_there_are(bundle, limits, rlimits, sizes):
    config, _ = bundle(0, limits=limits)
    found = config["process"]["rlimits"]
    assert {r["type"]: r["hard"] for r in found} == {r["type"]: r["soft"] for r in found} == rlimits
    assert {o for m in config["mounts"] for o in m.get("options", ()) if o.startswith("size=")} == sizes


def test_the_root_of_gvisor_has_a_place_for_each_mount_and_is_open_to_the_user(bundle):
    config, root = bundle(61234)
    for mount in config["mounts"]:
        place = root / mount["destination"].lstrip("/")
        assert place.exists() or place.is_symlink(), mount
        assert not os.path.isdir(mount["source"]) or place.is_dir()
    assert os.readlink(root / RUN.lstrip("/") / "data") == INPUTS
    assert (root / "etc" / "passwd").read_text() == f"user:x:61234:61234::{HOME}:/bin/sh\n"
    folders = [f for f in (root.parent.parent, root.parent, root, *root.rglob("*")) if f.is_dir() and not f.is_symlink()]
    assert {stat.S_IMODE(f.stat().st_mode) for f in folders} == {0o755}


def test_gvisor_refuses_calls_that_would_make_a_setuid_file():
    rules = gvisor._no_setuid_files()
    assert rules["defaultAction"] == "SCMP_ACT_ALLOW"
    by_name = {name: rule for rule in rules["syscalls"] for name in rule["names"]}
    assert set(by_name) == {"chmod", "fchmod", "fchmodat", "creat", "mknod", "mknodat", "open", "openat"}
    for name, place in {"chmod": 1, "fchmodat": 2, "mknodat": 2, "open": 2, "openat": 3}.items():
        bits = {c["index"]: c["value"] for c in by_name[name]["args"]}
        assert bits[place] == stat.S_ISUID
        assert (os.O_CREAT in bits.values()) is name.startswith("open")
        assert all(c["value"] == c["valueTwo"] and c["op"] == "SCMP_CMP_MASKED_EQ" for c in by_name[name]["args"])


def test_without_a_sandbox_paths_inside_become_those_of_the_machine(jail):
    child = none.Child(jail, ["python", f"{RUN}/train.py", f"--data={INPUTS}/a:{INPUTS}/b", f"{HOME}/x", MODELS], 1, 2)
    inputs = jail.reads[0][0]
    assert child._argv == ["python", f"{jail.tree}/train.py", f"--data={inputs}/a:{inputs}/b", f"{jail.home}/x", MODELS]
    assert child._environment == {"EPOCHS": "3", "DATA": f"{inputs}/a b"}


def test_the_most_exact_place_is_replaced_first(tmp_path):
    jail = Jail(tmp_path / "tree", tmp_path / "home", reads=((tmp_path / "all", "/clowder"), (tmp_path / "models", MODELS)))
    child = none.Child(jail, [f"{MODELS}/bert", "/clowder/other"], 1, 2)
    assert child._argv == [f"{tmp_path}/models/bert", f"{tmp_path}/all/other"]


@pytest.mark.parametrize(
    ("version", "wanted"), [("0.8.0", (0, 8, 0)), ("", ()), ("20240212.0", (20240212, 0)), ("release-1", ()), ("0.10", (0, 10)), ("1.2rc1.3", (1, 3))]
)
def test_versions_are_compared_as_numbers(version, wanted):
    assert machine.numbers(version) == wanted


@pytest.fixture
def program(tmp_path, monkeypatch):
    """program(script) is a program in the path that runs the script, and its name."""
    monkeypatch.setenv("PATH", str(tmp_path))
    machine.version.cache_clear()

    def of(script: str) -> str:
        (tmp_path / "tool").write_text(f"#!/bin/sh\n{script}\n")
        (tmp_path / "tool").chmod(0o755)
        return "tool"

    yield of
    machine.version.cache_clear()


@pytest.mark.parametrize(
    ("script", "version"),
    [("echo tool 1.2.3", "1.2.3"), ("echo runsc version release-2024; echo spec: 1.1", "release-2024"), ("exit 1", ""), ("echo", "")],
)
def test_the_version_is_the_last_word_of_the_first_line(program, script, version):
    assert machine.version(program(script)) == version


def test_a_program_that_is_not_there_or_does_not_run_has_no_version(program, tmp_path):
    assert machine.version("missing") == ""
    (tmp_path / "broken").write_bytes(b"\x7fELF not a program")
    (tmp_path / "broken").chmod(0o755)
    assert machine.version("broken") == ""


def test_each_run_has_a_user_of_its_own_from_the_range_without_accounts():
    found = {machine.own_uid(Path(f"/runs/{i}/tree")) for i in range(50)}
    assert len(found) > 40 and all(61184 <= uid < 65184 for uid in found)
    assert machine.own_uid(Path("/runs/ä\udcff")) == machine.own_uid(Path("/runs/ä\udcff"))


def test_files_with_several_names_are_not_given_to_the_user_of_a_script(jail, monkeypatch, tmp_path):
    (jail.tree / "deep").mkdir()
    for name in ("a", "deep/b"):
        (jail.tree / name).write_text("x")
    (tmp_path / "outside").write_text("x")
    os.link(tmp_path / "outside", jail.tree / "linked")
    (jail.home / "link").symlink_to(tmp_path / "outside")
    given = []
    monkeypatch.setattr(machine.os, "chown", lambda name, *ids, **how: given.append((os.path.basename(name), ids, how["follow_symlinks"])))
    machine.hand_over(jail, 61200)
    assert sorted(name for name, _, _ in given) == ["a", "b", "deep", "home", "link", "tree"]
    assert {(ids, follows) for _, ids, follows in given} == {((61200, 61200), False)}


HOLDS = {"variables": ["PATH", "HOME"], "file": False, "network": False, "inputs": False, "root": False, "work": True}


@pytest.mark.parametrize(
    ("done", "network", "wanted"),
    [
        ({}, False, None),
        ({"file": True}, False, "kind does not hold on this machine: a script could read a file of this machine."),
        ({"network": True}, False, "kind does not hold on this machine: a script could connect to a port of this machine."),
        ({"network": True}, True, None),
        ({"inputs": True}, False, "kind does not hold on this machine: a script could change its input files."),
        ({"root": True}, True, "kind does not hold on this machine: a script could gain rights of root."),
        ({"variables": ["PATH", "RABBITMQ_URI"]}, False, "kind does not hold on this machine: a script could read variables of other processes."),
        ({"work": False}, False, "kind does not work on this machine: a script cannot write its own files."),
        ({"work": False, "file": True}, False, "kind does not hold on this machine: a script could read a file of this machine."),
    ],
)
def test_the_verdict_on_a_sandbox_is_what_a_script_could_do_in_it(monkeypatch, done, network, wanted):
    monkeypatch.setattr(probe, "_try", lambda *_: (json.dumps({**HOLDS, **done}), "a warning"))
    assert probe._failure(SimpleNamespace(name="kind", network=network)) == wanted


@pytest.mark.parametrize(
    ("said", "errors", "wanted"),
    [
        ("", "", "kind does not start on this machine."),
        ("", "first\nbwrap: No permissions\n\n", "kind does not start on this machine: bwrap: No permissions."),
        ("not JSON", "x" * 500, f"kind does not start on this machine: {'x' * 200}."),
    ],
)
def test_a_sandbox_that_does_not_start_says_why(monkeypatch, said, errors, wanted):
    monkeypatch.setattr(probe, "_try", lambda *_: (said, errors))
    assert probe._failure(SimpleNamespace(name="kind", network=False)) == wanted


@pytest.mark.parametrize("error", [OSError("no space"), UserError("no_sandbox", "It could not be started.", "Ask.")])
def test_an_error_at_the_start_of_a_sandbox_is_no_error_of_the_probe(monkeypatch, capsys, error):
    def fails(*_):
        raise error

    monkeypatch.setattr(probe, "_try", fails)
    assert probe._failure(SimpleNamespace(name="kind", network=False)).startswith("kind does not start on this machine: ")
    assert type(error).__name__ in capsys.readouterr().err


def test_a_sandbox_is_probed_once_for_each_user_and_network(monkeypatch):
    looked = []
    monkeypatch.setattr(probe, "_known", {})
    monkeypatch.setattr(probe, "_failure", lambda sandbox: looked.append(sandbox.network))
    for network in (True, False, True):
        assert probe.failure(SimpleNamespace(name="kind", network=network)) is None
    monkeypatch.setattr(os, "geteuid", lambda: 4242)
    probe.failure(SimpleNamespace(name="kind", network=True))
    assert looked == [True, False, True]
