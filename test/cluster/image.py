#!/usr/bin/env python3
"""Puts images into the node's containerd without a registry and without Docker.

image.py root NAME FOLDER CONFIG        one layer, FOLDER; CONFIG is the JSON of the image's "config"
image.py layer NAME BASE FOLDER PATH    the image BASE, which the node has, with FOLDER laid over PATH

The second imports nothing but the new layer, so that a change of the code costs a second and not a pass over the whole image.
"""

import hashlib
import io
import json
import pathlib
import subprocess
import sys
import tarfile
import tempfile

CTR = str(pathlib.Path(__file__).with_name("ctr.sh"))


def ctr(*arguments: str) -> bytes:
    return subprocess.run([CTR, *arguments], check=True, stdout=subprocess.PIPE).stdout


def digest(file) -> str:
    file.seek(0)
    return hashlib.file_digest(file, "sha256").hexdigest()


def pack(folder: str, path: str, layer) -> None:
    """Writes the folder to a file as an uncompressed layer, owned by root."""

    def owned_by_root(entry: tarfile.TarInfo) -> tarfile.TarInfo:
        entry.uid = entry.gid = 0
        entry.uname = entry.gname = ""
        return entry

    with tarfile.open(fileobj=layer, mode="w") as tar:
        tar.add(folder, arcname=path.strip("/") or ".", filter=owned_by_root)


def load(files: list) -> None:
    """Imports an archive of (name, file) pairs."""
    process = subprocess.Popen([CTR, "images", "import", "-"], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL)
    with process.stdin, tarfile.open(fileobj=process.stdin, mode="w|") as tar:
        for name, file in files:
            entry = tarfile.TarInfo(name)
            entry.size = file.seek(0, io.SEEK_END)
            file.seek(0)
            tar.addfile(entry, file)
    if process.wait():
        sys.exit(f"containerd does not take the image: ctr ended with {process.returncode}")


def document(value) -> io.BytesIO:
    return io.BytesIO(json.dumps(value).encode())


def root(name: str, folder: str, config: str) -> None:
    """An archive as `docker save` writes it: containerd completes short names only in these."""
    with tempfile.TemporaryFile() as new:
        pack(folder, "/", new)
        layers = {"type": "layers", "diff_ids": ["sha256:" + digest(new)]}
        image = {"architecture": "amd64", "os": "linux", "config": json.loads(config), "rootfs": layers}
        manifest = [{"Config": "config.json", "RepoTags": [name], "Layers": ["layer.tar"]}]
        load([("config.json", document(image)), ("layer.tar", new), ("manifest.json", document(manifest))])


def images() -> list[tuple[str, str]]:
    """The complete name of each image and the digest of its manifest."""
    table = ctr("images", "ls").decode().splitlines()[1:]
    return [(name, manifest) for name, _, manifest, *_ in map(str.split, table)]


def find(name: str) -> tuple[str, str]:
    for full, manifest in images():
        if ("/" + full).endswith("/" + name):
            return full, manifest
    sys.exit(f"the node has no image {name}")


def layer(name: str, base: str, folder: str, path: str) -> None:
    """An OCI archive that holds only what is new."""
    full, manifest_digest = find(base)
    manifest = json.loads(ctr("content", "get", manifest_digest))
    config = json.loads(ctr("content", "get", manifest["config"]["digest"]))
    blobs = {}

    def store(file) -> dict:
        key = digest(file)
        blobs[key] = file
        return {"digest": "sha256:" + key, "size": file.seek(0, io.SEEK_END)}

    with tempfile.TemporaryFile() as file:
        pack(folder, path, file)
        new = store(file)
        config["rootfs"]["diff_ids"].append(new["digest"])
        manifest["config"].update(store(document(config)))
        media_type = manifest["layers"][0]["mediaType"].removesuffix("+gzip").removesuffix(".gzip")
        manifest["layers"].append({"mediaType": media_type, **new})
        names = {"io.containerd.image.name": full.removesuffix(base) + name}
        entry = {"mediaType": manifest["mediaType"], **store(document(manifest)), "annotations": names}
        load(
            [
                ("oci-layout", document({"imageLayoutVersion": "1.0.0"})),
                *((f"blobs/sha256/{key}", blob) for key, blob in blobs.items()),
                ("index.json", document({"schemaVersion": 2, "manifests": [entry]})),
            ]
        )


def prune() -> None:
    """Forgets what nothing is called any more: containerd keeps a record by digest beside each name, and with it the layers."""
    named = {manifest for name, manifest in images() if not name.startswith("sha256:")}
    if old := [name for name, manifest in images() if manifest not in named]:
        ctr("images", "rm", *old)


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["root", name, folder, config]:
            root(name, folder, config)
        case ["layer", name, base, folder, path]:
            layer(name, base, folder, path)
        case _:
            sys.exit(__doc__)
    prune()
