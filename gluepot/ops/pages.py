"""The paths for programs. The server's one thread answers them from memory and never waits for a batch."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from prometheus_client import CollectorRegistry
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from gluepot.core.clock import Clock
from gluepot.ops.access import Access, TokenRequired
from gluepot.ops.exposition import Exposition
from gluepot.ops.health import Check, liveness, readiness
from gluepot.ops.page.routes import routes
from gluepot.ops.page.view import Observed
from gluepot.streaming.observe.status import QueryStatus
from gluepot.web.requests import Refused, refused


@dataclass(frozen=True, slots=True)
class Job:
    """The parts of a job that the paths show.

    Args:
        registry: the metrics.
        queries: returns the newest status of the queries.
        stopping: returns whether the job has been asked to end.
        version: names and versions of the software.
        config: effective configuration, without secrets.
        clock: the clock for ages.
        page: the parts of the job that the page for people shows.
    """

    registry: CollectorRegistry
    queries: Callable[[], Sequence[QueryStatus]]
    stopping: Callable[[], bool]
    version: Mapping[str, str]
    config: Mapping[str, Any]
    clock: Clock
    page: Observed


def application(job: Job, token: str | None = None) -> Starlette:
    """Return the application.

    Args:
        job: the job to show.
        token: the token that readers must send; None if none is needed.
    """
    access = Access(token)
    exposition = Exposition(job.registry, job.clock)

    def live() -> list[Check]:
        return liveness(job.queries(), job.clock.epoch())

    def ready() -> list[Check]:
        return readiness(job.queries(), stopping=job.stopping())

    async def metrics(request: Request) -> Response:
        text = await exposition.text(request.headers.get("accept", ""))
        return Response(text.body, headers={"Content-Type": text.content_type})

    async def livez(request: Request) -> Response:
        return _answer(request, live())

    async def readyz(request: Request) -> Response:
        return _answer(request, ready())

    async def healthz(request: Request) -> Response:
        return _answer(request, [*live(), *ready()])

    async def version(_: Request) -> Response:
        return JSONResponse(job.version)

    async def config(_: Request) -> Response:
        return JSONResponse(job.config)

    pages = (metrics, livez, readyz, healthz, version, config)
    return Starlette(
        routes=[*(Route(f"/{page.__name__}", page) for page in pages), *routes(job.page, access)],
        middleware=[] if token is None else [Middleware(TokenRequired, access=access)],
        exception_handlers={Refused: refused},
    )


def _answer(request: Request, checks: Sequence[Check]) -> Response:
    """Answer as the Kubernetes API server does: `ok` or not, and each check with `?verbose`."""
    good = all(check.ok for check in checks)
    text = "ok\n" if good else "failed\n"
    if "verbose" in request.query_params:
        text = "".join(f"[{'+' if one.ok else '-'}] {one.name}: {one.says}\n" for one in checks) + text
    return PlainTextResponse(text, 200 if good else 503)
