"""Which imports of a script the environment lacks, and what to write into requirements.txt for each."""

import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from importlib.machinery import PathFinder
from pathlib import Path, PurePosixPath

from trainer.script.checks import Parsed, needed

# Where the name of the package is not the name of the module.
PACKAGES = {
    "attr": "attrs", "bs4": "beautifulsoup4", "Crypto": "pycryptodome", "cv2": "opencv-python-headless", "dateutil": "python-dateutil",
    "dotenv": "python-dotenv", "faiss": "faiss-cpu", "fitz": "PyMuPDF", "google.protobuf": "protobuf", "hydra": "hydra-core", "jwt": "PyJWT",
    "Levenshtein": "levenshtein", "magic": "python-magic", "mpl_toolkits": "matplotlib", "OpenSSL": "pyOpenSSL", "osgeo": "GDAL",
    "PIL": "pillow", "pkg_resources": "setuptools", "pl_bolts": "lightning-bolts", "pytorch_lightning": "pytorch-lightning",
    "rdkit": "rdkit", "ruamel": "ruamel.yaml", "skimage": "scikit-image", "sklearn": "scikit-learn", "skopt": "scikit-optimize",
    "snappy": "python-snappy", "tensorboardX": "tensorboardX", "torch_geometric": "torch-geometric", "torch_scatter": "torch-scatter",
    "torch_sparse": "torch-sparse", "umap": "umap-learn", "yaml": "PyYAML", "zmq": "pyzmq",
}  # fmt: skip
_OURS = "trainer"  # on the path of this process, never on that of a script


@dataclass(frozen=True)
class Missing:
    """A module that cannot be imported, the package that has it, and where it is imported first. ``certain`` says that the script cannot
    run without it."""

    module: str
    package: str
    file: str
    line: int
    certain: bool


def package_of(module: str) -> str:
    """The package to write into requirements.txt for ``module``. A guess where the names are the same in most cases."""
    top = module.partition(".")[0]
    return PACKAGES.get(".".join(module.split(".")[:2])) or PACKAGES.get(top) or top.replace("_", "-")


def missing(parsed: Parsed, code: Mapping[str, str], names: Iterable[str], entry: str, overlay: Path | None) -> list[Missing]:
    """What ``code`` imports although nobody has it: neither Python, the installed packages, ``overlay``, nor the files ``names`` of the
    dataset, in whichever folder they are, because scripts extend their own path. In order of file and line, each module once."""
    own = {part for name in names for part in PurePosixPath(name).with_suffix("").parts}
    required = needed(parsed, code, entry)
    folders = [*(str(p) for p in [overlay] if p), *(p for p in sys.path if p and Path(p).name in ("site-packages", "dist-packages"))]
    found: dict[str, Missing] = {}
    known: dict[str, bool] = {}
    for path in sorted(parsed.imports, key=lambda p: (p not in required, p)):
        for module, line, certain in parsed.imports[path]:
            top = module.partition(".")[0]
            if top not in known:
                known[top] = top in own or top in sys.stdlib_module_names or (top != _OURS and PathFinder.find_spec(top, folders) is not None)
            one = Missing(top, package_of(module), path, line, certain and path in required)
            if not known[top] and (top not in found or (one.certain and not found[top].certain)):
                found[top] = one
    return sorted(found.values(), key=lambda m: (not m.certain, m.file, m.line))
