"""Starts a Ray for tests, also on a busy machine."""


def on_a_busy_machine(start, **options):
    """Start a Ray. It gives up its start if its agents need more than 15 s; the next one is faster, because their files are in memory."""
    import ray

    for _ in range(5):
        try:
            return start(**options)
        except Exception as e:
            if "timed out during startup" not in str(e):
                raise
            ray.shutdown()
    return start(**options)
