"""The same answers from Ray Serve, for a manifest of a RayService. It needs an image that has ray[serve]."""

from pathlib import Path

from ray import serve

from trainer.answer.rows import Refused
from trainer.answer.server import route
from trainer.answer.store import Loaded, Single

MEMORY = 256 << 20


@serve.deployment(name="Answers")
class Answers:
    """One version of a model."""

    def __init__(self, version: str, sha256: str):
        self.source, self.loaded = Single(Path(version), sha256), Loaded(MEMORY)
        self.loaded.get(self.source.place(self.source.names()[0], ""))  # a damaged model fails here, not at its first question

    async def __call__(self, request):
        from starlette.responses import JSONResponse

        try:
            status, document = route(self.source, self.loaded, request.method, request.url.path, await request.body())
        except Refused as e:
            status, document = e.status, {"error": str(e)}
        return JSONResponse(document, status)


def application(args: dict):
    """The application of serveConfigV2: ``args`` has ``version``, a folder, and ``sha256``."""
    return Answers.bind(args["version"], args["sha256"])  # type: ignore[attr-defined]  # Ray adds it
