"""Warm processes on a standing Ray: copies of a process that has done the slow imports.

On each machine, at most ``WARM_WORKERS`` of them in all, a detached Ray actor without CPUs (``keeper``) keeps one process
(``trainer/standby/server.py``) that has imported torch, transformers and this package, has one thread, and runs nothing of any user. For
each driver and each worker of a run it forks a copy, which ends with the run. So nothing of a run is left for the next one, and nothing has
to be imported again.

A copy takes the place of a process, not of a reservation: each worker still has its Ray actor with CPUs and GPUs
(``trainer/launch/actor.py``), which passes calls on to the copy, and both end together. Where there is no copy to have, for whatever
reason, the run starts its own processes. docs/adr/0025 has the reasons.
"""
