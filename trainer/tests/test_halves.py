"""A package that a killed installation has left half there is written again by the next one."""

import base64
import hashlib
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from trainer.launch import halves

UV = Path(sys.prefix) / "bin" / "uv"
FILES = ("half/__init__.py", "half/last.py")
INFO = "half-1.0.dist-info"


@pytest.fixture
def installed(tmp_path):
    """A package that uv has installed into an environment of its own, as its folder of packages."""
    wheel = _wheel(tmp_path)
    subprocess.run([UV, "venv", "--quiet", "--offline", "--python", sys.executable, tmp_path / "environment"], check=True)
    _install(tmp_path)
    (packages,) = (tmp_path / "environment").glob("lib/python3*/site-packages")
    with zipfile.ZipFile(wheel) as z:
        (tmp_path / "RECORD").write_bytes(z.read(f"{INFO}/RECORD"))
    return packages


def _wheel(folder: Path) -> Path:
    contents = {name: f"# {name}\n" for name in FILES} | {
        f"{INFO}/METADATA": "Metadata-Version: 2.1\nName: half\nVersion: 1.0\n",
        f"{INFO}/WHEEL": "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    lines = [f"{name},sha256={_sum(text)},{len(text)}\n" for name, text in contents.items()]
    with zipfile.ZipFile(folder / "half-1.0-py3-none-any.whl", "w") as z:
        for name, text in (contents | {f"{INFO}/RECORD": "".join([*lines, f"{INFO}/RECORD,,\n"])}).items():
            z.writestr(name, text)
    return Path(z.filename)


def _sum(text: str) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).rstrip(b"=").decode()


def _install(folder: Path) -> None:
    command = [UV, "pip", "install", "--quiet", "--offline", "--no-index", "--find-links", folder, "--cache-dir", folder / "cache"]
    subprocess.run([*command, "--python", folder / "environment" / "bin" / "python", "half"], check=True)


def _unlisted(packages: Path) -> None:
    """As uv leaves it that is killed before the end: the list of files is still that of the wheel."""
    (packages / INFO / "RECORD").unlink()
    (packages / INFO / "RECORD").write_bytes((packages.parents[3] / "RECORD").read_bytes())


def _cut(packages: Path) -> None:
    (packages / FILES[1]).unlink()
    (packages / FILES[1]).write_text("#")


@pytest.mark.parametrize(
    "harm",
    [
        lambda packages: (packages / FILES[1]).unlink(),
        _cut,
        _unlisted,
        lambda packages: (packages / INFO / "RECORD").unlink(),
        lambda packages: (packages / INFO / "RECORD").write_bytes(b"\xff\0"),
    ],
    ids=["a file is missing", "a file is cut", "the end was not reached", "no list", "no list of files"],
)
def test_a_half_package_is_written_again(installed, tmp_path, harm):
    harm(installed)
    _install(tmp_path)
    assert not halves._is_whole(installed / INFO), "uv itself takes it for installed"
    assert halves.forget(tmp_path / "environment") == ["half-1.0"]
    _install(tmp_path)
    assert halves._is_whole(installed / INFO)
    assert (installed / FILES[1]).read_text() == f"# {FILES[1]}\n"


def test_a_whole_package_stays(installed, tmp_path):
    assert halves.forget(tmp_path / "environment") == []
    assert (installed / INFO / "METADATA").exists()


def test_the_environment_of_these_tests_is_whole():
    found = sorted(Path(sys.prefix).glob("lib/python3*/site-packages/*.dist-info"))
    assert [folder.name for folder in found if not halves._is_whole(folder)] == []
