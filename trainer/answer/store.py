"""Which models there are, and those of them that are in memory."""

import collections
import hashlib
import re
import threading
from dataclasses import dataclass
from pathlib import Path

from trainer.answer.model import Model
from trainer.answer.rows import Refused
from trainer.models.saved_model import NewerModel
from trainer.run_folder import files

MODEL, VERSION, CHAMPION = "model", "version.json", "champion.json"
_VERSION_BYTES = 4 << 20
_NAME = re.compile(r"([A-Za-z0-9][A-Za-z0-9_-]{0,99})\.([a-z0-9](?:[a-z0-9-]{0,58}[a-z0-9])?)")  # folder of the dataset, name of the model
_NUMBER = re.compile(r"[1-9][0-9]{0,8}")


class Unknown(Refused):
    """There is no such model or version."""

    def __init__(self):
        super().__init__("There is no such model or version.", 404)


@dataclass(frozen=True)
class Place:
    """Where a version is: the folder with version.json and model/."""

    name: str
    version: str
    folder: Path


class Registry:
    """All models of the registry. A model is called FOLDER.NAME, after its dataset's folder and its own."""

    def __init__(self, root: Path):
        self._root = root.resolve()

    def names(self) -> list[str]:
        """No list: a caller knows what it may ask for."""
        return []

    def versions(self, name: str) -> list[str]:
        folder = self._folder(name)
        found = [p.name for p in folder.iterdir() if _NUMBER.fullmatch(p.name)] if folder.is_dir() else []
        if not found:
            raise Unknown
        return sorted(found, key=int)

    def place(self, name: str, version: str) -> Place:
        """The version of that number; without one the champion, or the newest where there is none. Raises Unknown."""
        folder = self._folder(name)
        version = version or self._champion(folder) or self.versions(name)[-1]
        if not _NUMBER.fullmatch(version) or not (folder / version / MODEL).is_dir():
            raise Unknown
        return Place(name, version, folder / version)

    def _champion(self, folder: Path) -> str:
        try:
            number = files.read_json(folder / CHAMPION, 1 << 16)["version"]
        except (OSError, ValueError, KeyError, TypeError):
            return ""
        return str(number) if isinstance(number, int) and number > 0 else ""

    def _folder(self, name: str) -> Path:
        if not (parts := _NAME.fullmatch(name)):
            raise Unknown
        folder = self._root / parts[1] / parts[2]
        if folder.resolve() != folder:  # a link leads elsewhere
            raise Unknown
        return folder


class Single:
    """One version only, for a server of its own. ``sha256`` is that of its version.json, which lists the hashes of all files."""

    def __init__(self, folder: Path, sha256: str = ""):
        content = files.read_bytes(folder / VERSION, _VERSION_BYTES)
        if sha256 and hashlib.sha256(content).hexdigest() != sha256:
            raise ValueError(f"{VERSION} is not the one with the sha256 {sha256}")
        described = files.read_json(folder / VERSION, _VERSION_BYTES)
        self._place = Place(str(described["name"]), str(described["version"]), folder)

    def names(self) -> list[str]:
        return [self._place.name]

    def versions(self, name: str) -> list[str]:
        return [self.place(name, "").version]

    def place(self, name: str, version: str) -> Place:
        if name != self._place.name or version not in ("", self._place.version):
            raise Unknown
        return self._place


class Loaded:
    """The models in memory: as many as fit ``limit`` bytes, and always one. The least recently used go first. ``models`` is the folder of the
    installed models, which some of them need."""

    def __init__(self, limit: int, models: Path | None = None):
        self._limit, self._installed, self._lock = limit, models, threading.Lock()
        self._models: collections.OrderedDict[Path, Model] = collections.OrderedDict()

    def get(self, place: Place) -> Model:
        """The model, from disk if it is not in memory. Its files must be those that version.json lists. Raises Refused."""
        with self._lock:  # one model is read at a time: the memory is limited
            if found := self._models.get(place.folder):
                self._models.move_to_end(place.folder)
                return found
            model = _read(place, self._installed)
            while self._models and sum(m.bytes for m in self._models.values()) + model.bytes > self._limit:
                self._models.popitem(last=False)
            self._models[place.folder] = model
            return model

    def __len__(self) -> int:
        return len(self._models)


def _read(place: Place, models: Path | None) -> Model:
    try:
        _check(place.folder)
        return Model(place.folder / MODEL, models)
    except NewerModel as e:
        raise Refused("A newer version of this program wrote this model. Update the program, or let another version answer.", 409) from e
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as e:
        raise Refused("The files of this version cannot be read: they are damaged. Let another version answer.", 500) from e


def _check(folder: Path) -> None:
    """Raise ValueError unless the files of the model are those of version.json, byte for byte. Links are not followed."""
    listed = {f["path"]: f["sha256"] for f in files.read_json(folder / VERSION, _VERSION_BYTES)["files"]}
    for file in (folder / MODEL).iterdir():
        if file.is_symlink() or (file.is_file() and (file.name not in listed or files.sha256(file) != listed[file.name])):
            raise ValueError(f"{file.name} is not the file that was registered")
