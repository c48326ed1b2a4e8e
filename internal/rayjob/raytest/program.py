"""Stands in for the training program in tests of backends. It needs nothing but Python."""

import json
import os
import pathlib
import signal
import sys
import time

path = pathlib.Path(sys.argv[2])
spec = json.loads(path.read_text())


def stop(*_):
    (path.parent / "stopped").touch()
    sys.exit(0)


signal.signal(signal.SIGTERM, stop)
(path.parent / "env.json").write_text(json.dumps(dict(os.environ)))
sys.stdout.write(spec["print"])
sys.stdout.flush()
with (path.parent / "starts").open("a") as starts:
    starts.write("started\n")
while spec["wait"]:
    time.sleep(0.1)
sys.exit(spec["exit"])
