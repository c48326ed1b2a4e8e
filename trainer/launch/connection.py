"""The connection of a driver to Ray."""

import json
import os
from pathlib import Path

import ray

from trainer import termination
from trainer.environment import ENVIRONMENT
from trainer.errors import one_line
from trainer.warm import pool

JOB = "RAY_JOB_CONFIG_JSON_ENV_VAR"  # the variable in which Ray gives the driver of a job what it was submitted with


def open() -> None:
    """Connect to Ray (RAY_ADDRESS, otherwise a local or a new one), without an environment for the processes of this run.

    Ray has waiting processes only for actors without one. Workers get theirs when they start, from ``environment``.
    """
    kept = os.environ.get(JOB)
    if kept is not None:
        os.environ[JOB] = json.dumps({**json.loads(kept), "runtime_env": {}})
    try:
        with termination.keeping_the_handler():
            ray.init(logging_level="warning", log_to_driver=False)
    finally:
        if kept is not None:
            os.environ[JOB] = kept


def open_for_scripts() -> None:
    """Connect to Ray, with processes that find this package. A Ray job has an environment, which must not be overridden."""
    there = None
    if JOB not in os.environ:
        here = str(Path(__file__).resolve().parents[2])
        there = {"env_vars": {"PYTHONPATH": os.pathsep.join(filter(None, (here, os.environ.get("PYTHONPATH"))))}}
    with termination.keeping_the_handler():
        ray.init(logging_level="warning", log_to_driver=False, runtime_env=there)


def environment() -> dict[str, str]:
    """What a worker has of the environment of its driver: what the service has set, and what the libraries need."""
    job = json.loads(os.environ.get(JOB, "{}"))
    names = (job.get("runtime_env") or {}).get("env_vars") or {}
    return {name: os.environ[name] for name in names if name in os.environ} | ENVIRONMENT


def close() -> None:
    """Leave Ray, with warm processes for the next run."""
    try:
        pool.renew(environment())
    except Exception as e:  # what the next run would have gained
        print(f"No warm process could be requested: {one_line(str(e), 300)}", flush=True)
    ray.shutdown()
