"""The HTTP paths of the page: for showing the job, and for pausing, resuming and stopping queries."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from urllib.parse import quote

from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import Route

from gluepot.core.logging import get_logger
from gluepot.ops.access import Access
from gluepot.ops.page.guard import Guard, login_fields
from gluepot.ops.page.view import Observed, View, view
from gluepot.web.render import HEADERS, static_answer, templates
from gluepot.web.requests import Refused

_PACKAGE = "gluepot.ops.page"
LATEST_BATCH = None

log = get_logger(__name__)

Endpoint = Callable[[Request], Awaitable[Response]]


def routes(job: Observed, access: Access) -> list[Route]:
    """Return the routes of a job's page.

    Args:
        job: the job to show and to change.
        access: decides who may do that.
    """
    guard = Guard(access)
    pages = templates(_PACKAGE, "/static/")

    def rendered(name: str, shown: View) -> Response:
        return HTMLResponse(pages.get_template(name).render(view=shown, csrf=guard.secret), headers=HEADERS)

    def wanted(request: Request) -> View:
        batch = request.query_params.get("batch", "")
        return view(job, request.query_params.get("query"), int(batch) if batch.isdecimal() else LATEST_BATCH)

    async def index(request: Request) -> Response:
        guard.check_host(request)
        return rendered("page.html", wanted(request))

    async def live(request: Request) -> Response:
        guard.check_host(request)
        return rendered("live.html", wanted(request))

    def changed(request: Request, query: str) -> Response:
        if "hx-request" in request.headers:
            return rendered("live.html", view(job, query))
        return RedirectResponse(f"/?query={quote(query, safe='')}", 303)

    def about_query(act: Callable[[str], None], event: str) -> Endpoint:
        async def endpoint(request: Request) -> Response:
            query = (await guard.form(request)).get("query", "")
            if query not in {one.query for one in job.streams.status.queries() if not one.ended}:
                raise Refused("No query of that name runs.", 404)
            act(query)
            log.info(event, query=query)
            return changed(request, query)

        return endpoint

    async def stop(request: Request) -> Response:
        query = (await guard.form(request)).get("query", "")
        log.info("stop_asked", after="the running batch")
        job.streams.stop.set()
        return changed(request, query)

    async def login_page(_: Request) -> Response:
        return HTMLResponse(pages.get_template("login.html").render(job=job, wrong=False), headers=HEADERS)

    async def login(request: Request) -> Response:
        cookie = access.cookie_for((await login_fields(request)).get("token", ""))
        if cookie is None:
            body = pages.get_template("login.html").render(job=job, wrong=True)
            return HTMLResponse(body, 401, headers=HEADERS)
        answer = RedirectResponse("/", 303)
        secure = request.url.scheme == "https"
        answer.set_cookie(access.cookie_name, cookie, httponly=True, samesite="strict", secure=secure)
        return answer

    async def static_file(request: Request) -> Response:
        return static_answer(_PACKAGE, request.path_params["name"])

    return [
        Route("/", index),
        Route("/live", live),
        Route("/pause", about_query(job.streams.pauses.ask, "pause_asked"), methods=["POST"]),
        Route("/resume", about_query(job.streams.pauses.resume, "resume_asked"), methods=["POST"]),
        Route("/stop", stop, methods=["POST"]),
        Route("/login", login_page),
        Route("/login", login, methods=["POST"]),
        Route("/static/{name}", static_file),
    ]
