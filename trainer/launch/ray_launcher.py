"""Creates the launcher on Ray: one worker as an actor, several as a group of actors."""

import ray

from trainer.errors import count
from trainer.launch import connection, growth
from trainer.launch.capacity import WorkerRequest, fullest
from trainer.launch.elastic_group import ElasticGroupLauncher
from trainer.launch.ray_actor import SingleWorkerLauncher, WorkerPool
from trainer.launch.worker_group import WorkerGroupLauncher
from trainer.run_folder.events import Events
from trainer.warm import place

DRY_MINUTES = 1  # how long a dry run waits for a worker
# Of the files of a run that uses warm processes: each copy has its own memory for the data, which other workers of a machine share.
MAX_WARM_BYTES = 200_000_000


def create(workers: int, threads: int, settings, kind: str, trains: bool, size: int, events: Events):
    """Connect to Ray (RAY_ADDRESS, otherwise a local or a new one) and choose the size of the workers by its nodes.

    ``size`` is that of the files of the run, in bytes.
    """
    connection.open()
    nodes = growth.nodes()
    if trains and settings.min_workers > workers:
        events.warning("workers", f"training.min_workers is {settings.min_workers}, more than {count(workers, 'worker')}: the run waits for all.")
    fewest = min(settings.min_workers or workers, workers) if trains else workers
    gpu = _use_gpu(settings.use_gpu, nodes, fewest, events)
    cpus = settings.cpus_per_worker or cpus_each(nodes, workers, threads)
    places = sum(int(n.get("CPU", 0)) for n in nodes)
    if workers > places and fewest == workers:
        events.warning("workers", f"{count(max(1, places), 'worker')} instead of {workers}: the cluster has no more CPUs.")
        workers = fewest = max(1, places)
    events.phase("start", f"Requesting {count(workers, 'worker')} from Ray with {_resources(cpus, gpu, workers)}.")
    minutes = DRY_MINUTES if trains and settings.dry_run else settings.max_minutes
    warm = place.is_used() and size <= MAX_WARM_BYTES
    request = WorkerRequest(workers, cpus, gpu, kind, minutes, events, fullest(nodes, workers, cpus, gpu), warm)
    if workers == 1:
        return SingleWorkerLauncher(request)
    if fewest < workers:
        return ElasticGroupLauncher(request, fewest)
    return WorkerGroupLauncher(request) if trains else WorkerPool(request)


def estimating(workers: int, settings, kind: str, size: int, events: Events) -> WorkerPool | None:
    """Connect to Ray and start workers of one CPU for a model without a network, as many as were asked for; else up to ``workers`` on CPUs that are
    free now. None where the driver is as fast alone."""
    connection.open()
    nodes = growth.nodes()
    places = int(sum(n.get("CPU", 0) for n in nodes) if settings.num_workers else ray.available_resources().get("CPU", 0))
    fewer = min(workers, places)
    if fewer < settings.num_workers:
        events.decision("workers", max(1, fewer), f"{count(max(1, fewer), 'worker')} instead of {settings.num_workers}: there is room for no more.")
    if fewer < 2:
        return None
    events.decision("workers", fewer, f"{count(fewer, 'worker')} answer the rows, with {_resources(1, False, fewer)}.")
    warm = place.is_used() and size <= MAX_WARM_BYTES
    request = WorkerRequest(fewer, 1, False, kind, settings.max_minutes, events, fullest(nodes, fewer, 1, False), warm, network=False)
    pool = WorkerPool(request)
    pool.start()
    return pool


def _resources(cpus: int, gpu: bool, workers: int) -> str:
    """What each worker gets, for a sentence: "2 CPUs", "2 CPUs and 1 GPU each"."""
    wanted = f"{count(cpus, 'CPU')} and 1 GPU" if gpu else count(cpus, "CPU")
    return f"{wanted} each" if workers > 1 else wanted


def _use_gpu(wanted: str, nodes: list[dict], workers: int, events: Events) -> bool:
    gpus = int(sum(n.get("GPU", 0) for n in nodes))
    if wanted == "auto":
        gpu = gpus >= workers
        events.decision(
            "device", "cuda" if gpu else "cpu", f"Training on {'GPU' if gpu else 'CPU'}: the cluster has {gpus or 'no'} GPU{'s' * (gpus != 1)}."
        )
        return gpu
    if wanted == "yes" and gpus < workers:
        needed = f"{workers} {'is' if workers == 1 else 'are'} needed"
        events.warning(
            "waiting_for_gpu",
            f"The cluster has {gpus or 'no'} GPUs now, but {needed}. The run waits for them. To train on CPUs, set use_gpu to auto or no.",
        )
    return wanted == "yes"


def cpus_each(nodes: list[dict], workers: int, threads: int) -> int:
    """The largest number of CPUs, up to ``threads``, that every worker can have on the present nodes; 1 if they are too few."""
    for cpus in range(threads, 1, -1):
        if sum(int(n.get("CPU", 0)) // cpus for n in nodes) >= workers:
            return cpus
    return 1
