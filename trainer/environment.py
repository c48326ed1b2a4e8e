"""Variables of the processes of a run."""

ENVIRONMENT = {
    "HF_HUB_OFFLINE": "1",
    "TRANSFORMERS_OFFLINE": "1",
    "HF_HUB_DISABLE_TELEMETRY": "1",
    "TOKENIZERS_PARALLELISM": "false",
    "RAY_USAGE_STATS_ENABLED": "0",
    "ORT_DISABLE_TELEMETRY": "1",  # ONNX Runtime would write the id of the machine into the home folder and send events
    "PYTHONUNBUFFERED": "1",
    # Threads that spin while they wait make training several times slower on shared cores.
    "OMP_WAIT_POLICY": "PASSIVE",
}
