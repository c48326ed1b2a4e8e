"""The names of packages, by the modules that are in them."""

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


def package_of(module: str) -> str:
    """The package to write into requirements.txt for ``module``. A guess where the names are the same in most cases."""
    top = module.partition(".")[0]
    return PACKAGES.get(".".join(module.split(".")[:2])) or PACKAGES.get(top) or top.replace("_", "-")
