"""The least extractor that pyclowder can make of a dataset: it takes its files and adds their digests as a file and as metadata.

POLL is the pause of pyclowder's main loop in seconds; without it the loop is as it comes, which pauses for one second.
"""

import hashlib
import json
import os
import pathlib
import tempfile

import pika
from pyclowder import datasets, files
from pyclowder.extractors import Extractor
from pyclowder.utils import CheckMessage


class Digest(Extractor):
    def __init__(self):
        super().__init__()
        self.setup()

    def check_message(self, connector, host, secret_key, resource, parameters):
        return CheckMessage.bypass  # the dataset as one zip costs Clowder more than its one file

    def process_message(self, connector, host, secret_key, resource, parameters):
        digests = {}
        for file in resource["files"]:
            path = pathlib.Path(files.download(connector, host, secret_key, file["id"]))
            digests[file["name"]] = hashlib.sha256(path.read_bytes()).hexdigest()
            path.unlink()
        with tempfile.NamedTemporaryFile("w", suffix=".json") as result:
            json.dump(digests, result)
            result.flush()
            files.upload_to_dataset(connector, host, secret_key, resource["id"], result.name)
        metadata = self.get_metadata(digests, "dataset", resource["id"], host, contexts=[])
        datasets.upload_metadata(connector, host, secret_key, resource["id"], metadata)


def poll_every(seconds):
    """Lets every connection return to the main loop after that time."""
    loop = pika.BlockingConnection.process_data_events
    pika.BlockingConnection.process_data_events = lambda self, time_limit=0: loop(self, min(time_limit, seconds))


if __name__ == "__main__":
    if "POLL" in os.environ:
        poll_every(float(os.environ["POLL"]))
    Digest().start()
