"""result.json: the parts that all kinds of runs share, and the check whether it exists already."""

import json
import stat
import time
from pathlib import Path, PurePosixPath

from trainer.config.spec import Spec
from trainer.core.example import Dataset
from trainer.core.example_targets import encoded_targets
from trainer.errors import UserError, one_line
from trainer.run_folder import files
from trainer.run_folder.events import Events
from trainer.run_folder.lease import Lease

SCHEMA = 3
READ = (2, SCHEMA)  # what the service reads, so that a run which an earlier version finished is not trained again
OUT, RESULT = "out", "result.json"
PARTIAL = "partial.json"  # what a failed script left, in the form of result.json
RESULT_BYTES = 30 << 20  # slightly less than the service reads
LIST_BYTES = 6 << 20  # of one list in it
COLUMNS = 10_000
NOT_READ = 1000  # files that are listed
_FOR_THE_REPORT = ("confusion", "mistakes", "unsure")  # parts that may be missing


def finish(spec: Spec, settings, kind: str, task: str, events: Events, began: float, place: str = RESULT, **more) -> None:
    """Publish out/, which was made in the folder of this start, and then result.json (``place``) with the list of all files in it.

    ``about`` among ``more`` says of a file, by its path, what the report and the user are told of it.
    """
    out = spec.work / OUT
    out.mkdir(exist_ok=True)
    about = more.pop("about", {})
    warnings = [*events.warnings, *more.pop("warnings", [])]
    document = {
        "schema": SCHEMA,
        "kind": kind,
        "run": spec.run,
        "attempt": spec.attempt,
        "task": task,
        "settings": settings.listed(),
        "checks": more.pop("checks", []),
        "seconds": round(time.monotonic() - began, 3),
        "warnings": list({(w["code"], w["text"]): w for w in warnings}.values()),
        **{name: value for name, value in more.items() if value is not None},
        "artifacts": [{**a, **about.get(a["path"], {})} for a in files.artifacts(spec.work, out)],
    }
    document = _readable(document)
    lease = Lease(spec.work)
    lease.publish(out, spec.folder / OUT)
    lease.write_json(spec.folder / place, document)


def _readable(document: dict) -> dict:
    """``document``, without parts of the report if it is too large. Raises UserError if that is not enough."""
    for name in (*_FOR_THE_REPORT, ""):
        if len(files.as_json(document).encode("utf-8")) <= RESULT_BYTES:
            return document
        document.pop(name, None)
    raise UserError("large_result", "The results are too large for result.json.", "Use shorter labels and file names.")


def first(entries: list) -> list:
    """As many of ``entries``, texts or plain dicts, as are listed in a result."""
    size = 0
    for i, entry in enumerate(entries):
        size += len(json.dumps(entry))
        if size > LIST_BYTES:
            return entries[:i]
    return entries


def columns(names) -> list[str]:
    """The columns that are listed in a result, with short names."""
    return [one_line(name, 500) for name in list(names)[:COLUMNS]]


def data_of(data: Dataset, described: dict, samples: list[dict], target) -> dict:
    """The ``data`` of result.json."""
    found = {
        "rows": {name: len(examples) for name, examples in data.splits.items()},
        "files": first(data.files),
        "input_columns": columns(data.columns),
        "label_column": data.label_column,
        **({"label_words": data.kind.label_words} if data.kind.label_words else {}),
        "enough": data.kind.enough,
        "split_sha256": data.split_sha256,
        "dropped": [{"reason": reason, "rows": rows} for reason, rows in data.dropped],
        "not_read": [{"name": one_line(name, 500), "reason": one_line(reason)} for name, reason in data.not_read[:NOT_READ]],
        "samples": samples,
        **described["data"],
    }
    if data.labels:
        return {**found, "labels": data.counts()}
    if target.rescaling() is None:
        return found
    values = encoded_targets(data.splits["train"], target.encode)
    figures = {"min": values.min(), "max": values.max(), "mean": values.mean(), "median": sorted(values)[len(values) // 2]}
    return {**found, "target": {name: float(value) for name, value in figures.items()}}


def already_done(spec: Spec) -> bool:
    """Whether an earlier start finished this run: result.json is there and every file that it lists is as it says."""
    try:
        result = files.read_json(spec.folder / RESULT)
        if result["run"] != spec.run or result["schema"] not in READ:
            return False
        return all(_is_whole(spec.folder, a) for a in result["artifacts"])
    except (OSError, ValueError, KeyError, TypeError):
        return False


def _is_whole(folder: Path, artifact: dict) -> bool:
    """Whether a file in the list of result.json is a regular file below out/ with that size and hash."""
    path = PurePosixPath(artifact["path"])
    if path.parts[:1] != (OUT,) or ".." in path.parts or not stat.S_ISREG((folder / path).lstat().st_mode):
        return False
    return (folder / path).stat().st_size == artifact["size"] and files.sha256(folder / path) == artifact["sha256"]
